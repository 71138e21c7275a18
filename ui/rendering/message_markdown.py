"""An answer as the text of a chat message for other programs: Markdown with numbered marks and footnotes.

Text of documents, glossary and file names is data: no link in it can be followed, and no image is loaded. Invisible
word joiners break links up instead of backslashes, which would show in a program that displays plain text. Footnotes
stand below a rule, so that they can be removed again when the message comes back as history.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import quote

from argot.locations import place
from argot.results import WEAK_MATCH, AnswerContext, AskResult, FoundPassage, Jargon, Sentence
from argot.ui.rendering.cell_marks import mark_cells
from argot.ui.rendering.safe_markdown import break_addresses, clean_text, fill_layout
from argot.ui.rendering.surrounding_text import quote_lines

UNSUPPORTED = "[?]"
CHOICE_HINT = "Answer with a number or in words, or ask something else."
TAKEN_BACK = "\n\n*What stands above is taken back.*\n\n"
PASSAGES = "/argot/passages"

_CAUTION = f"*{WEAK_MATCH}*\n\n"
# One of our titles follows our rule (`_FOOT`), which tells it from a rule in a document's text.
_RULE = "\n\n---\n\n"
_TITLES = r"In context \(\d{1,4}\)|Sources|Nearest passages|Understood as|Notes"
_FOOT = re.compile(rf"{_RULE}\*\*(?:{_TITLES})\*\*.*\Z", re.DOTALL)
_MARK = re.compile(r"(?<![ \t])[ \t]*\[(?:\d{1,3}|\?)\]")
"""A mark with the space before it. The lookbehind keeps a long run of spaces from being tried at each of them."""
_JOINER = "\u2060"
# Where Markdown would see a link, image or tag: between "](" , "][" and "]:", and behind "<" in "<a", "</a", "<!--",
# "<?".
_LINKS = re.compile(r"(?<=\])(?=[(\[:])|(?<=<)(?=[A-Za-z/!?])")
# Control and bidirectional characters, but for tab and line feed.
_HIDDEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069]")
# Lookalikes, because an escaped "\[" would show its backslash; "[1]" in a file name must not look like a mark.
_ACTIVE = str.maketrans({"[": "(", "]": ")", "<": "‹", "`": "'", "*": "∗"})


def format_message(result: AskResult, site: str = "") -> str:
    """Format the whole message. `site`: the address where people open Argot, for links; empty for no links."""
    body = format_body(result)
    foot = format_footnotes(result, site)
    return f"{body}{_RULE}{foot}" if foot else body


def format_body(result: AskResult) -> str:
    """Format the message's text without footnotes."""
    if result.status == "answered":
        return f"{_CAUTION}{_format_answer(result)}" if result.is_weak else _format_answer(result)
    lines = result.answer.strip().split("\n")
    if result.status == "abstained":
        # The other lines list the nearest passages, which the footnotes name.
        return _escape_name(lines[0])
    body = "\n".join(map(_escape_name, lines))
    # Where nothing like the unknown term is known, the text lists no numbers, and says itself how to go on.
    return f"{body}\n\n{CHOICE_HINT}" if result.choices and result.status == "needs_choice" else body


def format_footnotes(result: AskResult, site: str = "", *, by_number: bool = False) -> str:
    """Format the sources, how terms were understood, and notes; empty where there is nothing to say.

    `by_number`: the text has no marks, and each source names the sentences that rest on it, counted from 1.
    """
    shown = _list_sources(result)
    title = "Sources" if result.status == "answered" else "Nearest passages"
    understood = dict.fromkeys(_format_term(term) for term in result.jargon)
    notes = [_escape_name(note) for note in result.notes]
    unsupported = [number for number, one in enumerate(result.sentences, 1) if one.lacks_support]
    if unsupported and by_number:
        notes.append(f"No passage supports {_format_sentences(unsupported)}.")
    elif unsupported:
        notes.append(f"{UNSUPPORTED} No passage supports this sentence.")
    ends = {one.n: f": {_format_sentences(_list_sentences(one.n, result))}" if by_number else "" for one in shown}
    parts = [
        _format_list(title, [_format_source(passage, site) + ends[passage.n] for passage in shown]),
        _format_list("Understood as", list(understood)),
        _format_list("Notes", notes),
        # Last, because it matters least.
        *map(_format_context, result.answer_context),
    ]
    return "\n\n".join(filter(None, parts))


def strip_footnotes(text: str) -> str:
    """Remove marks and footnotes from a message of ours that comes back as history."""
    # Of a streamed message that was withdrawn and begun again only the last part counts.
    kept_text = text.rpartition(TAKEN_BACK)[2]
    kept_text = kept_text.replace(f"\n\n{CHOICE_HINT}", "").removeprefix(_CAUTION)
    return _MARK.sub("", _FOOT.sub("", kept_text)).replace(_JOINER, "").strip()


def strip_marks(text: str) -> str:
    """Remove the marks. Marks that a language model writes are provisional, and are checked afterwards."""
    return _MARK.sub("", text)


def disarm(text: str) -> str:
    """Disarm somebody else's Markdown: it keeps its structure, but no link, image or HTML in it works."""
    return _LINKS.sub(_JOINER, _HIDDEN.sub("", text))


def _format_answer(result: AskResult) -> str:
    """Format each sentence with its marks, in the answer's own layout."""
    answer = result.answer
    shown = zip(result.sentences, result.list_marks(), strict=True)
    return fill_layout(answer, [(one.text, _add_marks(one, numbers)) for one, numbers in shown]) or disarm(answer)


def _add_marks(sentence: Sentence, numbers: Sequence[int]) -> str:
    """Add marks to a sentence: behind it, in the last cell of a table row, or below a block of several lines."""
    marks = UNSUPPORTED if sentence.lacks_support else "".join(f"[{n}]" for n in numbers)
    text = disarm(sentence.text).rstrip()
    if not marks:
        return text
    if "\n" in text:
        return f"{text}\n\n{marks}"
    if row := mark_cells(text, sentence, lambda cited: "".join(f"[{n}]" for n in cited), UNSUPPORTED):
        return row
    if text.startswith("|") and text.endswith("|") and len(text) > 1:
        return f"{text[:-1].rstrip()} {marks} |"
    return f"{text} {marks}"


def _format_context(context: AnswerContext) -> str:
    """Format the text around the answer as a quotation."""
    return f"**In context ({context.n})**\n\n{quote_lines(disarm(context.text))}"


def _list_sources(result: AskResult) -> Sequence[FoundPassage]:
    if result.status == "abstained":
        return result.nearest_passages
    return result.cited_passages


def _format_source(passage: FoundPassage, site: str) -> str:
    name = _escape_name(passage.name) + place(passage.document, passage.page, passage.page_kind)
    if site:
        name = f"[{name}]({site}{PASSAGES}/{quote(passage.passage_id, safe='')})"
    heading = f" · {_escape_name(passage.heading)}" if passage.heading else ""
    excerpt = f"\n  “{break_addresses(_escape_name(passage.excerpt))}”" if passage.excerpt else ""
    fresh = f", {_escape_name(passage.freshness)}" if passage.freshness else ""
    return f"[{passage.n}] {name}{fresh}{heading}{excerpt}"


def _format_term(term: Jargon) -> str:
    context = f" ({_escape_name(term.context)})" if term.context else ""
    return f"{_escape_name(term.surface)}: {_escape_name(term.meaning)}{context}"


def _list_sentences(n: int, result: AskResult) -> list[int]:
    return [
        number
        for number, sentence in enumerate(result.sentences, 1)
        if any(citation.n == n for citation in sentence.citations)
    ]


def _format_sentences(numbers: Sequence[int]) -> str:
    return f"sentence{'s' * (len(numbers) > 1)} {', '.join(map(str, numbers))}"


def _format_list(title: str, lines: Sequence[str]) -> str:
    return f"**{title}**\n\n" + "\n".join(f"- {line}" for line in lines) if lines else ""


def _escape_name(text: object) -> str:
    """Escape one line of somebody else's text, so that nothing in it is a link, an image, HTML or a mark of ours."""
    return clean_text(str(text)).translate(_ACTIVE)
