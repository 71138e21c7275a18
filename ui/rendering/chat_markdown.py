"""How an answer looks in the window: Markdown with marks that open passages, and the buttons to press.

Pure functions of an `AskResult`: a live answer and one read from history look the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from argot.locations import place
from argot.results import (
    MAX_NEAREST_TERMS,
    STOPPED_MESSAGE,
    AskResult,
    Choice,
    FoundPassage,
    Jargon,
    MissedTerm,
    Sentence,
)
from argot.service.usecases.documents import PassageShown
from argot.service.usecases.term_corrections import OtherSenses
from argot.types import Sense
from argot.ui.rendering.safe_markdown import highlighted, laid_out, listed, literal, plain, quoted

CHOOSE = "choose"
LEAVE_DOCUMENT = "leave_document"
ASK_INSTEAD = "ask_instead"
AGAIN = "again"
EXPORT = "export"
SENSE = "sense"
SHARE = "share"
REPORT = "report"
PASSAGES = "/argot/passages"
TERMS = "/argot/terms"
THREADS = "/argot/threads"
NOT_MEANT = "Not what I meant"

UNSUPPORTED = "⚠ *(no passage supports this)*"
"""Words and a sign, because colour alone is not seen by everybody."""
LONGEST_LABEL = 80
ITEM = "- "
"""How an item of a list begins in the words of an answer."""
ANYWAY = "answer anyway"
"""The reply that an answer about an unknown term offers, where it may (`argot.graph.presentation.wording`)."""

# By the names of the graph's nodes. One that is missing is shown by its own name, so a new node breaks nothing.
STAGES = {
    "stand_alone": "Reading the question",
    "identify_jargon": "Looking for jargon",
    "identify_context": "Recognising the context",
    "look_up_jargon": "Looking terms up in the glossary",
    "choose_sense": "Settling what a term means",
    "choose_document": "Settling which document is meant",
    "query_miss": "Dealing with unknown terms",
    "augment_question": "Spelling the terms out",
    "reformulate_query": "Wording the search",
    "retrieve": "Searching the documents",
    "rerank": "Ranking the passages",
    "abstain": "Weighing the evidence",
    "small_talk": "Answering without the documents",
    "generate_answer": "Writing the answer",
    "match_references": "Checking every sentence",
}


@dataclass(frozen=True, slots=True)
class Button:
    action: str
    label: str
    payload: dict[str, Any]
    tooltip: str = ""
    icon: str = ""


@dataclass(frozen=True, slots=True)
class AnswerView:
    content: str
    buttons: tuple[Button, ...] = ()


def view(result: AskResult) -> AnswerView:
    """The message that shows a result."""
    match result.status:
        case "answered":
            return _answered(result)
        case "needs_choice":
            return _asking_back(result)
        case "query_miss":
            return _missed(result)
        case "abstained":
            return _abstained(result)
        case "small_talk":
            return AnswerView(_talk(result), next_buttons(result.examples))


def stage_line(name: str, found: str, seconds: float | None, model_seconds: float = 0.0) -> str:
    """What a stage did, as literal text; and how much of its time went into waiting for the language model."""
    line = STAGES.get(name, name.replace("_", " ").capitalize())
    line += f": {literal(found)}" if found else ""
    if seconds is None:
        return line
    of_model = f", language model {duration(model_seconds)}" if model_seconds else ""
    return f"{line} ({duration(seconds)}{of_model})"


def duration(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def passage_panel(passage: PassageShown, spans: Iterable[tuple[int, int]], *, manages: bool = False) -> str:
    """What the side panel shows of a passage.

    Args:
        spans: the cited sentences, [start, end) in characters of the revision's Markdown.
        manages: whether the reader may see what was read of the whole document.
    """
    start = passage.start
    # Spans count from the start of the document, and the text from the start of the passage.
    text, elsewhere = highlighted(passage.text, [(first - start, last - start) for first, last in spans])
    heading = [f"###### {plain(passage.heading)}"] if passage.heading else []
    parts = [*heading, *(f"> {words}".replace("\n", "\n> ") for words in elsewhere), text]
    if is_pdf(passage):
        address = f"{PASSAGES}/{quote(passage.id, safe='')}/original#page={passage.page}"
        parts.append(f"[Open the document at page {passage.page}]({address})")
    if manages:
        document, place = quote(passage.document_id, safe=""), quote(passage.id, safe="")
        parts.append(f"[See it in the document as it was read](/documents/{document}?passage={place}#{place})")
    return "\n\n".join(parts)


def is_pdf(passage: PassageShown) -> bool:
    """Whether its page can be shown as a picture."""
    return bool(passage.page) and PurePosixPath(passage.document).suffix.casefold() == ".pdf"


def panel_title(passage: PassageShown) -> str:
    """The title of the side panel: the document, and the page in it."""
    page = f", {passage.page_kind or 'page'} {passage.page}" if passage.page else ""
    fresh = f", {literal(passage.freshness)}" if passage.freshness else ""
    return f"{literal(passage.document)}{page}{fresh}"


def other_meanings(offer: OtherSenses, turn: int) -> AnswerView:
    """What a term may mean besides the sense it was read in (as `other_senses` gives them), as buttons."""
    read, term = offer.read, offer.term
    meaning = plain(read.expansion or read.description or read.term)
    context = f" ({plain(read.context)})" if read.context else ""
    head = f"“{plain(term)}” was read as **{meaning}**{context}."
    ask = "What did you mean?" if offer.senses else "The glossary knows no other meaning that you may read."
    given = {"turn": turn, "term": term, "question": offer.question}
    buttons = [_sense_button(number, sense, given) for number, sense in enumerate(offer.senses, 1)]
    tell = "Something else: tell the glossary's managers"
    report = Button(
        REPORT, tell, given, "They can then read this question, and you are notified when there is a meaning."
    )
    return AnswerView(f"{head} {ask}", (*buttons, report))


def _sense_button(number: int, sense: Sense, given: dict[str, Any]) -> Button:
    label = f"{literal(sense.expansion or sense.term)} ({literal(sense.context)})"
    payload = {**given, "sense": sense.id, "label": label}
    return Button(SENSE, _short(f"{number}. {label}"), payload, literal(sense.description))


def next_buttons(questions: Sequence[str]) -> tuple[Button, ...]:
    """Buttons that ask these questions."""
    return tuple(Button(ASK_INSTEAD, literal(one), {"question": one}, icon="corner-down-right") for one in questions)


def answer_buttons() -> tuple[Button, ...]:
    """What can be done with the last answer of a conversation, as pictures beside the thumbs."""
    return (
        Button(AGAIN, "", {}, "Answer again", "refresh-cw"),
        Button(EXPORT, "", {}, "Save this conversation", "download"),
    )


def share_button(thread: str) -> Button:
    return Button(SHARE, "Let the glossary's managers read this question", {"thread": thread})


def leave_button() -> Button:
    return Button(LEAVE_DOCUMENT, "Ask all documents", {})


def export_text(thread: str) -> str:
    address = f"{THREADS}/{quote(thread, safe='')}/export"
    return (
        f"This conversation as a file: [Markdown with sources]({address}.md) or [everything as JSON]({address}.json)."
    )


# -- the outcomes -------------------------------------------------------------------------------------------------


def _answered(result: AskResult) -> AnswerView:
    sources = _sources(result, result.cited_passages, "Sources")
    return AnswerView(_joined([_answer_text(result), _understood(result), sources, _notes(result), _writer(result)]))


def _talk(result: AskResult) -> str:
    """What is said where nothing was asked of the documents. Names that it lists are items of a list."""
    blocks = [
        listed([plain(line.removeprefix(ITEM)) for line in lines]) if items else "\n\n".join(map(plain, lines))
        for items, lines in groupby(talk_lines(result), lambda line: line.startswith(ITEM))
    ]
    return _joined(blocks)


def _abstained(result: AskResult) -> AnswerView:
    # A stopped question has no outcome: passages below it would look like one.
    nearest = () if result.answer == STOPPED_MESSAGE else result.passages[:MAX_NEAREST_TERMS]
    head = plain(first_line(result.answer) or "The documents do not seem to answer this.")
    return AnswerView(_joined([head, _sources(result, nearest), _understood(result), _notes(result)]))


def _asking_back(result: AskResult) -> AnswerView:
    lines = [f"{number}. {_choice_line(choice)}" for number, choice in enumerate(result.choices, 1)]
    hint = "Press a button, type its number, or just ask something else." if lines else ""
    parts = [plain(first_line(result.answer)), "\n".join(lines), _understood(result), _notes(result), hint]
    buttons = tuple(_choice_button(number, choice) for number, choice in enumerate(result.choices, 1))
    return AnswerView(_joined(parts), buttons=buttons)


def _missed(result: AskResult) -> AnswerView:
    buttons = tuple(
        Button(ASK_INSTEAD, _short(f"Ask with “{literal(other)}”"), {"question": respelt(result, miss, other)})
        for miss in result.misses
        for other in miss.suggestions
    )
    # Only where the answer's own words offer it: whether it is possible is the graph's to decide.
    if f"“{ANYWAY}”" in result.answer:
        buttons = (*buttons, Button(ASK_INSTEAD, ANYWAY.capitalize(), {"question": ANYWAY}))
    return AnswerView(_joined([plain(result.answer), _understood(result), _notes(result)]), buttons=buttons)


def respelt(result: AskResult, miss: MissedTerm, other: str) -> str:
    return result.question.replace(miss.term, other)


# -- their parts --------------------------------------------------------------------------------------------------


def _answer_text(result: AskResult) -> str:
    """Every sentence with its marks, in the answer's own layout."""
    links = {passage.n: _link(passage, result.sentences) for passage in result.passages}
    marked = [(sentence.text, _marked(sentence, links)) for sentence in result.sentences]
    # No sentences: an answer that was never split is shown as it is.
    return laid_out(result.answer, marked) or quoted(result.answer)


def _marked(sentence: Sentence, links: Mapping[int, str]) -> str:
    """A sentence and its marks: behind it, in the last cell of a table's row, or below a block of several lines."""
    text = quoted(sentence.text)
    marks = UNSUPPORTED if sentence.lacks_support else " ".join(links[n] for n in sentence.cited if n in links)
    bare = text.rstrip()
    if not marks:
        return bare
    # A mark behind a closing fence of code would undo the fence.
    if "\n" in bare:
        return f"{bare}\n\n{marks}\n\n"
    # A mark behind the last bar of a row would be a cell too many.
    if bare.startswith("|") and bare.endswith("|") and len(bare) > 1:
        return f"{bare[:-1]} {marks} |"
    return f"{bare} {marks}"


def _understood(result: AskResult) -> str:
    """One line a term: how it was read."""
    lines = []
    for term in result.jargon:
        other = f" · [{NOT_MEANT}]({_term_address(result, term)})" if term.sense_id else ""
        context = f" · {plain(term.context)}" if term.context else ""
        lines.append(f"**{plain(term.label)}**: {plain(term.meaning)}{context}{other}")
    # The same term twice in a question is one line.
    return f"###### Understood as\n{listed(list(dict.fromkeys(lines)))}" if lines else ""


def _sources(result: AskResult, passages: Sequence[FoundPassage], title: str = "") -> str:
    lines = [f"{_link(passage, result.sentences)} {_source(passage)}" for passage in passages]
    head = f"###### {title}\n" if title else ""
    return head + listed(lines) if lines else ""


def _source(passage: FoundPassage) -> str:
    """Where a passage stands. The page of a PDF is a link: it opens the original there."""
    where = place(passage.document, passage.page, passage.page_kind)
    if where and PurePosixPath(passage.document).suffix.casefold() == ".pdf":
        where = f", [page {passage.page}]({_address(passage)}/original#page={passage.page})"
    heading = f" · {plain(passage.heading)}" if passage.heading else ""
    # On a line of its own, within the item of the list.
    excerpt = f"\\\n  “{plain(passage.excerpt)}”" if passage.excerpt else ""
    fresh = f", {plain(passage.freshness)}" if passage.freshness else ""
    return f"**{plain(passage.document)}**{where}{fresh}{heading}{excerpt}"


def _link(passage: FoundPassage, sentences: Sequence[Sentence]) -> str:
    """The mark of a passage, "[1]", which opens it with the sentences that rest on it."""
    citations = [one for sentence in sentences for one in sentence.citations if one.passage_id == passage.passage_id]
    # Several sentences may rest on the same words: each span once.
    spans = "&".join(f"span={start}-{end}" for start, end in dict.fromkeys(one.span for one in citations))
    # Brackets within brackets: the escaped ones are what is read, "[1]".
    return f"[\\[{passage.n}\\]]({_address(passage)}{'?' if spans else ''}{spans})"


def _address(passage: FoundPassage) -> str:
    return f"{PASSAGES}/{quote(passage.passage_id, safe='')}"


def _term_address(result: AskResult, term: Jargon) -> str:
    return f"{TERMS}/{result.turn}?term={quote(term.surface, safe='')}"


def _notes(result: AskResult) -> str:
    # An empty quoted line keeps the notes in one block, each in its own paragraph.
    return "\n>\n".join(f"> {plain(note)}" for note in result.notes)


def _writer(result: AskResult) -> str:
    if result.answered_by != "model":
        return ""
    return f"*Written by the language model {plain(result.model)}; each mark was found in the documents.*"


def _choice_line(choice: Choice) -> str:
    if not (choice.expansion or choice.context):
        return plain(choice_label(choice))
    description = f": {plain(choice.description)}" if choice.description else ""
    context = f" · {plain(choice.context)}" if choice.context else ""
    return f"**{plain(choice.expansion or choice.term)}**{context}{description}"


def _choice_button(number: int, choice: Choice) -> Button:
    label = choice_label(choice)
    payload = {"choice": choice.answer, "label": label}
    return Button(CHOOSE, _short(f"{number}. {label}"), payload, literal(choice.description))


def choice_label(choice: Choice) -> str:
    match choice.answer:
        case "none":
            return "None of these"
        case "anyway":
            return f"Go on with “{literal(choice.term)}” as it stands" if choice.term else "Answer anyway"
    if not (choice.expansion or choice.context):
        return f"Did you mean “{literal(choice.term)}”?"
    context = f" ({literal(choice.context)})" if choice.context else ""
    return f"{literal(choice.expansion or choice.term)}{context}"


def _short(label: str) -> str:
    return label if len(label) <= LONGEST_LABEL else f"{label[: LONGEST_LABEL - 1]}…"


def talk_lines(result: AskResult) -> list[str]:
    """The lines of small talk that a message shows; one that begins with `ITEM` is an item of a list."""
    lines = result.answer.strip().split("\n")
    # What follows the first line lists the examples in words, and here they are buttons.
    return lines[:1] if result.examples else lines


def first_line(text: str) -> str:
    return text.strip().split("\n", 1)[0]


def _joined(parts: Iterable[str]) -> str:
    return "\n\n".join(part for part in parts if part)
