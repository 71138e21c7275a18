"""An answer as messages in Slack: blocks, with numbered sources and the buttons to press.

Pure functions of an `AskResult`. Every text is mrkdwn that came through `mrkdwn.py`, and `verbatim`: Slack makes no
links or mentions of its content.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, TypeAlias
from urllib.parse import quote

from argot.languages.catalogues import quote_name, speak_as_asked, translate
from argot.locations import place
from argot.results import NO_ANSWER, AskResult, Choice, FoundPassage, FoundPicture, Sentence, shorten_description
from argot.slack.app.job_contents import NewsToTell
from argot.slack.app.mrkdwn import link, plain, quote_markdown, split_text
from argot.ui.rendering.cell_marks import mark_cells
from argot.ui.rendering.chat_buttons import label_choice
from argot.ui.rendering.chat_markdown import (
    LIST_ITEM_MARK,
    MAX_SHOWN_PICTURES,
    get_first_line,
    list_talk_lines,
    replace_spelling,
)
from argot.ui.rendering.safe_markdown import clean_text, fill_layout
from argot.ui.rendering.source_addresses import PASSAGES

Block: TypeAlias = dict[str, Any]
Message: TypeAlias = dict[str, Any]

SOURCES = "/slack/sources"
"""The address that a citation links to: a page of its own, because there is no conversation beside which to show it."""
# Slack's limits: blocks of a message, characters of a button's label and of its value. It refuses longer ones.
MAX_BLOCKS = 50
MAX_MESSAGE_CHARS = 12_000
"""Characters of one message's blocks; Slack takes a little more."""
MAX_LABEL_CHARS = 75
MAX_VALUE_CHARS = 2000
MAX_TERM_CHARS = 200
MAX_BUTTONS = 20
MAX_FALLBACK_CHARS = 3000

CHOOSE, AGAIN, PERSON, ALONE, WEB, FEEDBACK, SHARE, MEANT, SUGGEST = (
    f"argot_{name}" for name in ("choose", "again", "person", "alone", "web", "feedback", "share", "meant", "suggest")
)
"""The `action_id` of each button. It must be unique in a message, so where there may be several a number follows."""
UNSUPPORTED = ":warning: _no passage supports this_"


@dataclass(frozen=True, slots=True)
class MessageContext:
    """The surroundings of a message beside its result.

    Args:
        web: where people open Argot; empty: it cannot be reached by a link.
        public: a whole channel sees the message; `outsiders`: so do people of other companies.
        native: this workspace takes Slack's own feedback buttons.
        known: the asker is a user of Argot, who can sign in at `web`.
    """

    web: str = ""
    public: bool = False
    outsiders: bool = False
    native: bool = True
    known: bool = True


def render_messages(result: AskResult, context: MessageContext) -> list[Message]:
    """Return the messages that show a result, within Slack's limits and in the language of its question. The last one
    has the buttons.
    """
    with speak_as_asked(result.question):
        blocks = [*_render_body(result, context), *_choose_buttons(result, context), *_render_feedback(result, context)]
        return [{"text": _compose_fallback(result), "blocks": part} for part in _split_blocks(blocks)]


def render_notice(text: str) -> Message:
    """Return a sentence of Argot's own; its quotations are escaped already."""
    return {"text": text, "blocks": [_render_section(part) for part in split_text(text)]}


def render_news(news: NewsToTell, thread: str) -> Message:
    """Render the news that a term somebody asked for now has a meaning, with a button that asks again."""
    meanings = "; ".join(f"*{plain(one.expansion)}* ({plain(one.context)})" for one in news.senses)
    with speak_as_asked(news.question):
        wording = "You asked about “%(term)s”. It has a meaning now: %(meanings)s."
        notice = render_notice(translate(wording, term=plain(news.term), meanings=meanings))
        value = {"t": thread, "q": news.question}
        again = _render_button(f"{AGAIN}_1", translate("Ask again"), value) if news.question else None
    return {**notice, "blocks": [*notice["blocks"], *_render_rows([again])]}


def replace_native_feedback(message: Message) -> Message:
    """Return the message with plain buttons instead of Slack's own feedback buttons."""
    return {**message, "blocks": [_replace_feedback(block) for block in message["blocks"]]}


# -- the outcomes ------------------------------------------------------------------------------------------------------


def _render_body(result: AskResult, context: MessageContext) -> list[Block]:
    match result.status:
        case "answered":
            caution = _render_context(f"_{translate(result.caution)}_") if result.caution else []
            parts = [*caution, *_render_sections(_answer(result, context.web)), *_list_meanings(result)]
            parts += _list_sources(result, result.cited_passages, context.web, f"*{translate('Sources')}*")
            # Slack folds a long message: what surrounds the answer comes last.
            return [*parts, *_render_notes(result), *_name_writer(result), *_render_surroundings(result)]
        case "abstained":
            head = plain(translate(get_first_line(result.answer) or NO_ANSWER))
            nearest = _list_sources(result, result.nearest_passages, context.web)
            return [*_render_sections(head), *nearest, *_list_meanings(result), *_render_notes(result)]
        case "needs_choice":
            lines = [f"{number}. {_describe_choice(choice)}" for number, choice in enumerate(result.choices, 1)]
            text = "\n".join([plain(get_first_line(result.answer)), *lines])
            return [*_render_sections(text), *_list_meanings(result), *_render_notes(result)]
        case "query_miss":
            return [*_render_sections(plain(result.answer)), *_list_meanings(result), *_render_notes(result)]
        case "small_talk":
            return _render_sections("\n".join(map(_render_talk_line, list_talk_lines(result))))


def _render_talk_line(line: str) -> str:
    return f"• {plain(line.removeprefix(LIST_ITEM_MARK))}" if line.startswith(LIST_ITEM_MARK) else plain(line)


def _answer(result: AskResult, web: str) -> str:
    """Render every sentence with its marks, in the answer's own layout."""
    passages = {passage.n: passage for passage in result.passages}

    def link(numbers: Sequence[int]) -> str:
        return " ".join(_mark(passages[n], result.sentences, web) for n in numbers if n in passages)

    marked = [
        (sentence.text, _mark_sentence(sentence, numbers, link))
        for sentence, numbers in zip(result.sentences, result.list_marks(), strict=True)
    ]
    return fill_layout(result.answer, marked) or quote_markdown(result.answer)


def _mark_sentence(sentence: Sentence, numbers: Sequence[int], link: Callable[[Sequence[int]], str]) -> str:
    text = quote_markdown(sentence.text).rstrip()
    marks = UNSUPPORTED if sentence.lacks_support else link(numbers)
    if row := mark_cells(text, sentence, link, UNSUPPORTED):
        return row
    # Behind a closing fence on the same line the marks would be code.
    return (f"{text}\n{marks}" if text.endswith("```") else f"{text} {marks}").rstrip()


def _render_surroundings(result: AskResult) -> list[Block]:
    """Render the text around the answer in its passages as small print."""
    return [
        block
        for one in result.answer_context
        for block in _render_context(f"{translate('In context')} [{one.n}]\n{quote_markdown(one.text)}")
    ]


def _list_meanings(result: AskResult) -> list[Block]:
    lines = []
    for term in result.jargon:
        context = f" · {plain(term.context)}" if term.context else ""
        lines.append(f"• *{plain(term.label)}*: {plain(term.meaning)}{context}")
    return _render_context("\n".join([translate("Understood as"), *dict.fromkeys(lines)])) if lines else []


def _list_sources(result: AskResult, passages: Iterable[FoundPassage], web: str, title: str = "") -> list[Block]:
    lines = [_render_source(passage, result.sentences, web) for passage in passages]
    return _render_context("\n".join(filter(None, [title, *lines]))) if lines else []


def _render_source(passage: FoundPassage, sentences: Sequence[Sentence], web: str) -> str:
    where = place(passage.document, passage.page, passage.page_kind)
    if web and where and PurePosixPath(passage.document).suffix.casefold() == ".pdf":
        original = f"{web}{PASSAGES}/{quote(passage.passage_id, safe='')}/original#page={passage.page}"
        where = f", {link(original, where.removeprefix(', '))}"
    fresh = f", {plain(passage.freshness)}" if passage.freshness else ""
    heading = f" · {plain(passage.heading)}" if passage.heading else ""
    excerpt = f"\n{quote_name(plain(passage.excerpt))}" if passage.excerpt else ""
    pictures = "".join(f" · {_link_picture(one, web)}" for one in passage.pictures[:MAX_SHOWN_PICTURES])
    return f"{_mark(passage, sentences, web)} *{plain(passage.name)}*{where}{fresh}{heading}{pictures}{excerpt}"


def _link_picture(picture: FoundPicture, web: str) -> str:
    """Render the label of a picture; with a web window, as a link to it for those who may read its document."""
    return link(f"{web}{picture.address}", plain(picture.label)) if web else plain(picture.label)


def _mark(passage: FoundPassage, sentences: Sequence[Sentence], web: str) -> str:
    """Render the number of a passage; with a web window, as a link that opens it with the sentences that rest on it."""
    if not web:
        return f"[{passage.n}]"
    citations = [one for sentence in sentences for one in sentence.citations if one.passage_id == passage.passage_id]
    # In mrkdwn. At most eight spans: a link cannot be cut where a text is split.
    spans = "&amp;".join(f"span={start}-{end}" for start, end in dict.fromkeys(one.span for one in citations[:8]))
    address = f"{web}{SOURCES}/{quote(passage.passage_id, safe='')}{'?' if spans else ''}{spans}"
    return link(address, f"[{passage.n}]")


def _render_notes(result: AskResult) -> list[Block]:
    return _render_context("\n".join(plain(note) for note in result.notes)) if result.notes else []


def _name_writer(result: AskResult) -> list[Block]:
    if result.answered_by != "model":
        return []
    wording = "Written by the language model %(model)s; each mark was found in the documents."
    return _render_context(f"_{translate(wording, model=plain(result.model))}_")


# -- buttons -----------------------------------------------------------------------------------------------------------


def _choose_buttons(result: AskResult, context: MessageContext) -> list[Block]:
    thread: dict[str, Any] = {"t": result.thread, "n": result.turn} | ({"o": 1} if context.outsiders else {})
    rows: list[Block | None] = []
    for number, choice in enumerate(result.choices, 1):
        label = f"{number}. {label_choice(choice)}"
        rows.append(_render_button(f"{CHOOSE}_{number}", label, {**thread, "c": choice.answer}))
    if result.status == "query_miss" and not result.choices:
        others = [(miss, other) for miss in result.misses for other in miss.suggestions]
        for number, (miss, other) in enumerate(others, 1):
            again = {**thread, "q": replace_spelling(result, miss, other)}
            rows.append(
                _render_button(f"{AGAIN}_{number}", translate("Ask with “%(term)s”", term=clean_text(other)), again)
            )
    for number, example in enumerate(result.examples, 1):
        rows.append(_render_button(f"{AGAIN}_{number}", clean_text(example), {**thread, "q": example}))
    blocks = _render_rows(rows)
    below: list[Block | None] = []
    # While a choice is open it comes first: a person is offered with the answer.
    if not result.choices and result.status != "small_talk":
        below.append(_render_button(PERSON, translate("Ask a person"), {**thread, "x": result.context or ""}))
    if any(term.sense_id for term in result.jargon):
        below.append(
            _render_button(MEANT, translate("Not what I meant"), thread, translate("Choose another meaning of a term"))
        )
    if result.misses:
        named = {**thread, "m": result.misses[0].term[:MAX_TERM_CHARS]}
        below.append(_render_button(SUGGEST, translate("Suggest a meaning"), named))
        below.append(_render_button(SHARE, translate("Let the glossary's managers read this"), thread))
    if context.public:
        spoken = translate("Answered for you alone, from all that you may read")
        below.append(_render_button(ALONE, translate("Only for me"), thread, spoken))
    # A private thread opens only for its owner, who must be able to sign in; a public one is copied for each visitor.
    if context.web and (context.public or context.known):
        path = "slack/threads" if context.public else "thread"
        url = f"{context.web}/{path}/{quote(result.thread, safe='')}"
        below.append({**_render_plain_button(WEB, translate("Go on in the web window")), "url": url})
    return [*blocks, *_render_rows(below)]


def _render_feedback(result: AskResult, context: MessageContext) -> list[Block]:
    if result.status not in ("answered", "abstained"):
        return []
    good, bad = (json.dumps({"t": result.thread, "n": result.turn, "v": value}) for value in (1, -1))
    buttons = {
        "type": "feedback_buttons",
        "action_id": FEEDBACK,
        "positive_button": _render_feedback_button(translate("Good answer"), good),
        "negative_button": _render_feedback_button(translate("Bad answer"), bad),
    }
    block: Block = {"type": "context_actions", "elements": [buttons]}
    return [block if context.native else _replace_feedback(block)]


def _render_feedback_button(label: str, value: str) -> Block:
    text = {"type": "plain_text", "text": label}
    return {"text": text, "accessibility_label": label, "value": value}


def _replace_feedback(block: Block) -> Block:
    if block["type"] != "context_actions":
        return block
    native = block["elements"][0]
    sides = ((":thumbsup:", "positive_button"), (":thumbsdown:", "negative_button"))
    buttons = [
        {
            **_render_plain_button(f"{FEEDBACK}_{number}", sign),
            "value": native[side]["value"],
            "accessibility_label": native[side]["accessibility_label"],
        }
        for number, (sign, side) in enumerate(sides, 1)
    ]
    return {"type": "actions", "elements": buttons}


def _render_button(action: str, label: str, value: dict[str, Any], spoken: str = "") -> Block | None:
    """Return the button, or None where the value is longer than Slack takes: its meaning can be typed as well."""
    # Slack counts characters: escapes would make one into six.
    text = json.dumps(value, ensure_ascii=False)
    if len(text) > MAX_VALUE_CHARS:
        return None
    return {**_render_plain_button(action, label), "value": text, **({"accessibility_label": spoken} if spoken else {})}


def _render_plain_button(action: str, label: str) -> Block:
    short = label if len(label) <= MAX_LABEL_CHARS else f"{label[: MAX_LABEL_CHARS - 1]}…"
    return {"type": "button", "action_id": action, "text": {"type": "plain_text", "text": short, "emoji": True}}


def _render_rows(buttons: Iterable[Block | None]) -> list[Block]:
    kept = [button for button in buttons if button is not None][:MAX_BUTTONS]
    return [{"type": "actions", "elements": kept}] if kept else []


def _describe_choice(choice: Choice) -> str:
    if not (choice.expansion or choice.context):
        return plain(label_choice(choice))
    description = f": {plain(shorten_description(choice.description))}" if choice.description else ""
    context = f" · {plain(choice.context)}" if choice.context else ""
    return f"*{plain(choice.expansion or choice.term)}*{context}{description}"


# -- blocks within Slack's limits --------------------------------------------------------------------------------------


def _render_section(text: str) -> Block:
    # `verbatim`: Slack makes no links, channels or mentions of text that looks like one.
    return {"type": "section", "text": {"type": "mrkdwn", "text": text, "verbatim": True}}


def _render_sections(text: str) -> list[Block]:
    return [_render_section(part) for part in split_text(text)]


def _render_context(text: str) -> list[Block]:
    return [
        {"type": "context", "elements": [{"type": "mrkdwn", "text": part, "verbatim": True}]}
        for part in split_text(text)
    ]


def _split_blocks(blocks: Sequence[Block]) -> list[list[Block]]:
    """Split the blocks into as many messages as they take; buttons stay together, in the last."""
    packed: list[list[Block]] = [[]]
    chars = 0
    for block in blocks:
        size = _count_chars(block)
        if packed[-1] and (chars + size > MAX_MESSAGE_CHARS or len(packed[-1]) >= MAX_BLOCKS - 4):
            packed.append([])
            chars = 0
        packed[-1].append(block)
        chars += size
    return packed


def _count_chars(block: Block) -> int:
    texts = [block.get("text"), *block.get("elements", ())]
    return sum(len(one["text"]) for one in texts if isinstance(one, dict) and isinstance(one.get("text"), str))


def _compose_fallback(result: AskResult) -> str:
    """Return the text for notifications and screen readers: the answer without mark-up."""
    text = " ".join(quote_markdown(result.answer).split())
    return split_text(text, MAX_FALLBACK_CHARS)[0] if text else translate("Argot has an answer.")
