"""An answer in the chat window: Markdown with marks that open passages, and which buttons (`chat_buttons.py`).

Pure functions of an `AskResult`, so that a live answer and one read from history look the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import PurePosixPath
from urllib.parse import quote

from argot.languages.catalogues import quote_name, speak_as_asked, translate
from argot.locations import place
from argot.results import (
    NO_ANSWER,
    AskResult,
    Choice,
    FoundPassage,
    FoundPicture,
    Jargon,
    MissedTerm,
    Sentence,
    shorten_description,
)
from argot.service.usecases.glossary.term_corrections import OtherSenses
from argot.service.usecases.questions.shared_conversations import NewSharedLink
from argot.ui.rendering.cell_marks import mark_cells
from argot.ui.rendering.chat_buttons import (
    ASK_INSTEAD,
    COPY_LINK,
    REPORT,
    WITHDRAW,
    Button,
    label_choice,
    make_choice_button,
    make_next_buttons,
    make_sense_button,
    shorten_label,
)
from argot.ui.rendering.safe_markdown import (
    clean_text,
    escape_markdown,
    fill_layout,
    format_list,
    quote_markdown,
)
from argot.ui.rendering.source_addresses import PASSAGES, TERMS, THREADS
from argot.ui.rendering.suggestion_links import link_suggestions
from argot.ui.rendering.surrounding_text import format_context

NOT_MEANT = "Not what I meant"

UNSUPPORTED = "⚠ *(no passage supports this)*"
"""Words and a sign, because not everybody can see a colour."""
MAX_SHOWN_PICTURES = 3
"""Pictures below an answer; the panel of each source shows all of its own."""
LIST_ITEM_MARK = "- "
"""The beginning of a list item in the text of an answer."""
ANYWAY = "answer anyway"
"""The reply that an answer about an unknown term may offer (`argot.graph.presentation.wording`)."""

# Keyed by the names of the graph's nodes. A node without a label is shown by its own name.
STAGE_LABELS = {
    "stand_alone": "Reading the question",
    "identify_jargon": "Looking for jargon",
    "identify_context": "Recognising the context",
    "look_up_jargon": "Looking terms up in the glossary",
    "find_verified": "Looking for a verified answer",
    "choose_sense": "Settling what a term means",
    "choose_document": "Settling which document is meant",
    "query_miss": "Dealing with unknown terms",
    "augment_question": "Spelling the terms out",
    "reformulate_query": "Wording the search",
    "retrieve": "Searching the documents",
    "rerank": "Ranking the passages",
    "research": "Researching",
    "search_again": "Searching again",
    "abstain": "Weighing the evidence",
    "small_talk": "Answering without the documents",
    "generate_answer": "Writing the answer",
    "match_references": "Checking every sentence",
}


@dataclass(frozen=True, slots=True)
class AnswerView:
    content: str
    buttons: tuple[Button, ...] = ()


def view_result(result: AskResult) -> AnswerView:
    """Build the message that shows a result, in the language of its question."""
    with speak_as_asked(result.question):
        match result.status:
            case "answered":
                return _view_answer(result)
            case "needs_choice":
                return _view_choice(result)
            case "query_miss":
                return _view_miss(result)
            case "abstained":
                return _view_abstention(result)
            case "small_talk":
                return AnswerView(_format_talk(result), make_next_buttons(result.examples))


def label_stage(name: str) -> str:
    """Return the words for a stage of the journey."""
    return translate(STAGE_LABELS.get(name, name.replace("_", " ").capitalize()))


def format_other_meanings(offer: OtherSenses, turn: int) -> AnswerView:
    """Offer, as buttons, the meanings of a term besides the sense it was read in (see `other_senses`)."""
    read, term = offer.read, offer.term
    meaning = escape_markdown(read.expansion or read.description or read.term)
    context = f" ({escape_markdown(read.context)})" if read.context else ""
    head = translate("“%(term)s” was read as **%(meaning)s**.", term=escape_markdown(term), meaning=meaning + context)
    ask = "What did you mean?" if offer.senses else "The glossary knows no other meaning that you may read."
    payload = {"turn": turn, "term": term, "question": offer.question}
    buttons = [make_sense_button(number, sense, payload) for number, sense in enumerate(offer.senses, 1)]
    tell = translate("Something else: tell the glossary's managers")
    hint = translate("They can then read this question, and you are notified when the term has a meaning.")
    return AnswerView(f"{head} {translate(ask)}", (*buttons, Button(REPORT, tell, payload, hint)))


def view_link(link: NewSharedLink) -> AnswerView:
    """Tell the address of a new link to a conversation, with buttons that copy and withdraw it."""
    text = translate(
        "[Open the shared conversation](%(address)s) and copy its address. Whoever has it and signs in reads your"
        " questions up to here, and of the answers what they may read. [Your links](/shared)",
        address=link.address,
    )
    copy = Button(COPY_LINK, translate("Copy the link"), {}, icon="clipboard")
    return AnswerView(text, (copy, Button(WITHDRAW, translate("Withdraw this link"), {"link": link.id})))


def export_text(thread: str) -> str:
    address = f"{THREADS}/{quote(thread, safe='')}/export"
    return translate(
        "This conversation as a file: [Markdown with sources](%(address)s.md) or"
        " [everything as JSON](%(address)s.json).",
        address=address,
    )


# -- the outcomes -------------------------------------------------------------------------------------------------


def _view_answer(result: AskResult) -> AnswerView:
    caution = f"*{translate(result.caution)}*" if result.caution else ""
    addresses = {one.n: _make_marked_address(one, result.sentences) for one in result.cited_passages}
    around = [format_context(one, addresses[one.n]) for one in result.answer_context if one.n in addresses]
    answer = [caution, _format_answer(result), *around]
    sources = _format_sources(result, result.cited_passages, translate("Sources"))
    pictures = format_pictures([one for passage in result.cited_passages for one in passage.pictures])
    below = [pictures, _format_understood(result), sources, _format_notes(result), _name_writer(result)]
    return AnswerView(_join_parts([*answer, *below]))


def _format_talk(result: AskResult) -> str:
    """Format a reply to which no document contributed. Names that it lists are list items."""
    blocks = [
        format_list([escape_markdown(line.removeprefix(LIST_ITEM_MARK)) for line in lines])
        if items
        else "\n\n".join(map(escape_markdown, lines))
        for items, lines in groupby(list_talk_lines(result), lambda line: line.startswith(LIST_ITEM_MARK))
    ]
    return _join_parts(blocks)


def _view_abstention(result: AskResult) -> AnswerView:
    head = escape_markdown(translate(get_first_line(result.answer) or NO_ANSWER))
    nearest = _format_sources(result, result.nearest_passages)
    return AnswerView(_join_parts([head, nearest, _format_understood(result), _format_notes(result)]))


def _view_choice(result: AskResult) -> AnswerView:
    lines = [f"{number}. {_format_choice(choice)}" for number, choice in enumerate(result.choices, 1)]
    hint = translate("Press a button, type its number, or just ask something else.") if lines else ""
    parts = [
        escape_markdown(get_first_line(result.answer)),
        "\n".join(lines),
        _format_understood(result),
        _format_notes(result),
        hint,
    ]
    buttons = tuple(make_choice_button(number, choice) for number, choice in enumerate(result.choices, 1))
    return AnswerView(_join_parts(parts), buttons=buttons)


def _view_miss(result: AskResult) -> AnswerView:
    buttons = tuple(
        Button(
            ASK_INSTEAD,
            shorten_label(translate("Ask with “%(term)s”", term=clean_text(other))),
            {"question": replace_spelling(result, miss, other)},
        )
        for miss in result.misses
        for other in miss.suggestions
    )
    # Only where the answer's text offers it: the graph decides whether it is possible.
    anyway = translate(ANYWAY)
    if anyway in result.answer:
        buttons = (*buttons, Button(ASK_INSTEAD, anyway[:1].upper() + anyway[1:], {"question": anyway}))
    terms = [miss.term for miss in result.misses]
    offer = f"{translate('Do you know it?')} {link_suggestions(terms)}" if terms else ""
    return AnswerView(
        _join_parts([escape_markdown(result.answer), offer, _format_understood(result), _format_notes(result)]),
        buttons=buttons,
    )


def replace_spelling(result: AskResult, miss: MissedTerm, other: str) -> str:
    return result.question.replace(miss.term, other)


# -- their parts --------------------------------------------------------------------------------------------------


def _format_answer(result: AskResult) -> str:
    """Format each sentence with its marks, in the answer's own layout."""
    links = {passage.n: _make_mark(passage, result.sentences) for passage in result.passages}
    shown = zip(result.sentences, result.list_marks(), strict=True)
    marked = [(sentence.text, add_marks(sentence, numbers, links)) for sentence, numbers in shown]
    # Without sentences, the answer was never split and is shown as it is.
    return fill_layout(result.answer, marked) or quote_markdown(result.answer)


def format_pictures(pictures: Sequence[FoundPicture]) -> str:
    """Format the first pictures of the cited passages, each with its label, page and caption below it."""
    shown = []
    for one in {picture.address: picture for picture in pictures}.values():
        label = escape_markdown(one.label)
        # The caption begins with the label.
        text = one.caption.removeprefix(one.label.rpartition(", ")[0] or one.label).lstrip(" :.–—-") or one.alternative
        words = f": {escape_markdown(text)}" if text else ""
        shown.append(f"[![{label}]({one.address})]({one.address})\\\n*{label}*{words}")
    return "\n\n".join(shown[:MAX_SHOWN_PICTURES])


def add_marks(sentence: Sentence, numbers: Sequence[int], links: Mapping[int, str]) -> str:
    """Add marks to a sentence: behind it, in the last cell of a table row, or below a block of several lines."""
    text = quote_markdown(sentence.text)
    unsupported = translate(UNSUPPORTED)
    marks = unsupported if sentence.lacks_support else " ".join(links[n] for n in numbers if n in links)
    bare = text.rstrip()
    if not marks:
        return bare
    # A mark behind a code block's closing fence would undo the fence.
    if "\n" in bare:
        return f"{bare}\n\n{marks}\n\n"
    if row := mark_cells(bare, sentence, lambda cited: " ".join(links[n] for n in cited if n in links), unsupported):
        return row
    # A mark behind the last bar of a row would add a cell.
    if bare.startswith("|") and bare.endswith("|") and len(bare) > 1:
        return f"{bare[:-1]} {marks} |"
    return f"{bare} {marks}"


def _format_understood(result: AskResult) -> str:
    """Format how each term was read, one line a term."""
    lines = []
    for term in result.jargon:
        other = f" · [{translate(NOT_MEANT)}]({_make_term_address(result, term)})" if term.sense_id else ""
        context = f" · {escape_markdown(term.context)}" if term.context else ""
        lines.append(f"**{escape_markdown(term.label)}**: {escape_markdown(term.meaning)}{context}{other}")
    # A term that occurs twice in a question gets one line.
    head = translate("Understood as")
    return f"###### {head}\n{format_list(list(dict.fromkeys(lines)))}" if lines else ""


def _format_sources(result: AskResult, passages: Sequence[FoundPassage], title: str = "") -> str:
    lines = [f"{_make_mark(passage, result.sentences)} {_format_source(passage)}" for passage in passages]
    head = f"###### {title}\n" if title else ""
    return head + format_list(lines) if lines else ""


def _format_source(passage: FoundPassage) -> str:
    """Format the place of a passage. The page of a PDF links to the original at that page."""
    where = place(passage.document, passage.page, passage.page_kind)
    if where and PurePosixPath(passage.document).suffix.casefold() == ".pdf":
        where = f", [{translate('page')} {passage.page}]({_make_address(passage)}/original#page={passage.page})"
    heading = f" · {escape_markdown(passage.heading)}" if passage.heading else ""
    # On a line of its own, within the list item.
    excerpt = f"\\\n  {quote_name(escape_markdown(passage.excerpt))}" if passage.excerpt else ""
    fresh = f", {escape_markdown(passage.freshness)}" if passage.freshness else ""
    return f"**{escape_markdown(passage.name)}**{where}{fresh}{heading}{excerpt}"


def _make_mark(passage: FoundPassage, sentences: Sequence[Sentence]) -> str:
    """Make the mark of a passage, "[1]"."""
    # The escaped inner brackets are the ones that show: "[1]".
    return f"[\\[{passage.n}\\]]({_make_marked_address(passage, sentences)})"


def _make_marked_address(passage: FoundPassage, sentences: Sequence[Sentence]) -> str:
    """Make the address that opens a passage with the sentences that rest on it highlighted."""
    citations = [one for sentence in sentences for one in sentence.citations if one.passage_id == passage.passage_id]
    # Several sentences may rest on the same words, so each span is kept once.
    spans = "&".join(f"span={start}-{end}" for start, end in dict.fromkeys(one.span for one in citations))
    return f"{_make_address(passage)}{'?' if spans else ''}{spans}"


def _make_address(passage: FoundPassage) -> str:
    return f"{PASSAGES}/{quote(passage.passage_id, safe='')}"


def _make_term_address(result: AskResult, term: Jargon) -> str:
    return f"{TERMS}/{result.turn}?term={quote(term.surface, safe='')}"


def _format_notes(result: AskResult) -> str:
    # An empty quoted line keeps the notes in one block, each as a paragraph.
    return "\n>\n".join(f"> {escape_markdown(note)}" for note in result.notes)


def _name_writer(result: AskResult) -> str:
    if result.answered_by != "model":
        return ""
    text = "Written by the language model %(model)s; each mark was found in the documents."
    return f"*{translate(text, model=escape_markdown(result.model))}*"


def _format_choice(choice: Choice) -> str:
    if not (choice.expansion or choice.context):
        return escape_markdown(label_choice(choice))
    description = f": {escape_markdown(shorten_description(choice.description))}" if choice.description else ""
    context = f" · {escape_markdown(choice.context)}" if choice.context else ""
    return f"**{escape_markdown(choice.expansion or choice.term)}**{context}{description}"


def list_talk_lines(result: AskResult) -> list[str]:
    """List the lines of small talk that a message shows; a list item begins with `LIST_ITEM_MARK`."""
    lines = result.answer.strip().split("\n")
    # The lines after the first list the examples as text; here the examples are buttons.
    return lines[:1] if result.examples else lines


def get_first_line(text: str) -> str:
    return text.strip().split("\n", 1)[0]


def _join_parts(parts: Iterable[str]) -> str:
    return "\n\n".join(part for part in parts if part)
