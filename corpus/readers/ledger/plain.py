"""All text of text files: plain, Markdown, reStructuredText, tables, records and notebooks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from argot.corpus.readers.ledger import source_text as rules
from argot.corpus.readers.ledger.budget import Budget
from argot.corpus.readers.ledger.decoding import decode_text
from argot.corpus.readers.ledger.page import read_html_texts
from argot.corpus.readers.ledger.source_text import SourceText

_PIECE_CHARS = 200_000
_VALUES_PER_CHECK = 5_000
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n((?:[^\n]*\n){0,60}?)(?:---|\.\.\.)[ \t]*(?:\n|\Z)")
_PICTURE_DATA = re.compile(
    r"(?:^ {0,3}\[[^\]\n]{1,200}\]:\s{0,9}<?)?"
    r"data:image/[\w.+-]{1,40};base64,[A-Za-z0-9+/=]*(?:>?\s{1,9}\"[^\"\n]{0,300}\")?",
    re.IGNORECASE | re.MULTILINE,
)
_PICTURE_NAME = re.compile(r"(!\[[^\]\n]{0,300}\])\[[^\]\n]{0,200}\]")
_TEMPLATE_TAG = re.compile(
    r"\{%(?:[^%\n]|\n(?!\s*\n)){1,500}%\}|\{\{(?:<[^{}]{0,500}>|%[^{}]{0,500}%|(?<=\]\(\{\{)[^{}]{0,200})\}\}"
    r"|\{:[^{}\n]{1,200}\}"
)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_UNSEEN_EDGE = re.compile(r"<(/?)(script|style|nav|template|noscript|select|button|svg)\b[^<>]{0,2000}>", re.IGNORECASE)
_TAG = re.compile(r"</?([A-Za-z][\w-]*)(?:\s[^<>]*)?/?>")
_INLINE_TAGS = frozenset("a b big code del em font i ins kbd mark s small span strong tt u var".split())  # noqa: SIM905
_MAX_OUTPUT_CHARS = 4_000
_RST_MARKUP = re.compile(
    r"^[ \t]*\.\.(?:[ \t]+[^\n]*)?$|^[ \t]+:[\w-]+:[^\n]*$|:[\w:.+-]{1,60}:(?=`)|(?<=\S) ?<[^<>`\n]+>(?=`)",
    re.MULTILINE,
)
_OLD_PICTURES = ("png", "jpeg", "svg")
"""Names of pictures in notebooks of format 3."""
_COLOUR_CODE = re.compile(r"\x1b\[[0-9;]*m")


def read_plain_texts(data: bytes, place: str) -> Iterator[SourceText]:
    """Yield the text unchanged, in pieces that end with a line."""
    yield from _split_pieces(decode_text(data), place)


def _split_pieces(text: str, place: str, rule: str = "") -> Iterator[SourceText]:
    start = 0
    while start < len(text):
        end = text.find("\n", start + _PIECE_CHARS)
        end = len(text) if end < 0 else end
        yield SourceText(place, "text", text[start:end], rule)
        start = end


def read_markdown_texts(data: bytes, place: str, budget: Budget | None = None) -> Iterator[SourceText]:
    """Give the text of Markdown apart from its front matter, its comments, its tags and those of site generators.

    Args:
        budget: for the drawings in it, of which the words count; None: these are markup.
    """
    text = decode_text(data).replace("\r\n", "\n").replace("\r", "\n")
    if "{%" in text or "{{" in text or "{:" in text:
        yield from (SourceText(place, "text", found[0], rules.MARKUP) for found in _TEMPLATE_TAG.finditer(text))
        text = _TEMPLATE_TAG.sub("", text)
    if front := _FRONT_MATTER.match(text):
        yield SourceText(place, "property", front[1], rules.PROPERTIES)
        text = text[front.end() :]
    if "data:image/" in text:
        # Pictures written out as base64 are no words.
        yield from (SourceText(place, "text", found[0], rules.TECHNICAL) for found in _PICTURE_DATA.finditer(text))
        text = _PICTURE_NAME.sub(r"\1", _PICTURE_DATA.sub("", text))
    if "<" in text:
        for found in _COMMENT.finditer(text):
            yield SourceText(place, "text", found[0], rules.MARKUP)
        shown, unseen = _split_unseen(_COMMENT.sub(" ", text))
        drawn = "".join(one for one in unseen if one[:4].lower() == "<svg")
        if budget is not None and drawn:
            yield from read_html_texts(drawn, place, budget)
            unseen = [one for one in unseen if one[:4].lower() != "<svg"]
        for one in (*unseen, *(found[0] for found in _TAG.finditer(shown))):
            yield SourceText(place, "text", one, rules.MARKUP)
        text = _TAG.sub(lambda tag: "" if tag[1].lower() in _INLINE_TAGS else " ", shown)
    yield from _split_pieces(text, place)


def _split_unseen(text: str) -> tuple[str, list[str]]:
    """Return the text without elements that no page shows, and these; one walk, however many are left open."""
    shown: list[str] = []
    unseen: list[str] = []
    end, opened = 0, None
    for edge in _UNSEEN_EDGE.finditer(text):
        name = edge[2].lower()
        if opened is None and not edge[1]:
            shown.append(text[end : edge.start()])
            opened, end = name, edge.start()
        elif opened == name and edge[1]:
            unseen.append(text[end : edge.end()])
            opened, end = None, edge.end()
    # An unclosed one does not certainly hide anything.
    shown.append(text[end:])
    return " ".join(shown), unseen


def read_rst_texts(data: bytes, place: str) -> Iterator[SourceText]:
    """Give the text of reStructuredText apart from directives, options, roles and targets of links."""
    text = decode_text(data).replace("\r\n", "\n")
    for found in _RST_MARKUP.finditer(text):
        yield SourceText(place, "text", found[0], rules.MARKUP)
    yield from _split_pieces(_RST_MARKUP.sub(" ", text), place)


def read_csv_texts(data: bytes, place: str) -> Iterator[SourceText]:
    """Give the text of a table, its cells apart."""
    text = decode_text(data)
    if separator := re.match(r"\ufeff?sep=[^\r\n]\r?\n", text):
        yield SourceText(place, "cell", separator[0], rules.TECHNICAL)
        text = text[separator.end() :]
    yield from _split_pieces(text, place)


def read_json_texts(data: bytes, place: str, budget: Budget) -> Iterator[SourceText]:
    """Give the values of records, and each name of a field once."""
    text = decode_text(data)
    names: dict[str, None] = {}
    try:
        values = [json.loads(text)]
    except ValueError:
        values = [_parse_line(line) for line in text.splitlines() if line.strip()]
    for number, value in enumerate(_iter_leaves(values, names)):
        if number % _VALUES_PER_CHECK == 0:
            budget.check()
        yield SourceText(place, "text", value)
    yield SourceText(place, "field name", " ".join(names))


def _parse_line(line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return line


def _iter_leaves(values: list[Any], names: dict[str, None]) -> Iterator[str]:
    waiting = list(reversed(values))
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            names.update(dict.fromkeys(str(name) for name, held in value.items() if _is_filled(held)))
            waiting.extend(reversed(value.values()))
        elif isinstance(value, list):
            waiting.extend(reversed(value))
        elif isinstance(value, str):
            yield value


def _is_filled(held: Any) -> bool:
    """Return False if a field has no value: its name alone carries no information."""
    return any(map(_is_filled, held)) if isinstance(held, list) else held not in (None, "", {})


def read_notebook_texts(data: bytes, place: str, budget: Budget) -> Iterator[SourceText]:
    """Give the cells of a notebook and their output."""
    notebook = json.loads(decode_text(data))
    sheets = notebook.get("worksheets")
    cells = sheets[0].get("cells") if isinstance(sheets, list) and sheets else notebook.get("cells")
    for number, cell in enumerate(cells or (), start=1):
        budget.check()
        source = _join_lines(cell.get("source") or cell.get("input"))
        where = f"cell {number}"
        is_markdown = cell.get("cell_type") == "markdown"
        yield from read_markdown_texts(source.encode(), where) if is_markdown else _split_pieces(source, where)
        for output in cell.get("outputs") or ():
            yield from _read_output_texts(output, where, budget)


def _read_output_texts(output: dict[str, Any], place: str, budget: Budget) -> Iterator[SourceText]:
    if output.get("output_type") in ("error", "pyerr"):
        yield SourceText(place, "output", f"{output.get('ename', '')}: {output.get('evalue', '')}")
        yield SourceText(place, "output", _join_lines(output.get("traceback")), rules.TECHNICAL)
        return
    shown = output.get("data") or output
    page, text = (
        _join_lines(shown.get("text/html") or shown.get("html")),
        _join_lines(shown.get("text/plain") or shown.get("text")),
    )
    is_picture = any(name.startswith("image/") or name in _OLD_PICTURES for name in shown)
    if is_picture or "<table" in page or "<svg" in page:
        yield from () if is_picture else read_html_texts(page, place, budget)
        yield SourceText(place, "output", text, rules.OTHER_FORM)
        return
    text = _COLOUR_CODE.sub("", text)
    yield SourceText(place, "output", text[:_MAX_OUTPUT_CHARS])
    yield SourceText(place, "output", text[_MAX_OUTPUT_CHARS:], "what a cell printed beyond 4,000 characters")


def _join_lines(held: Any) -> str:
    return "\n".join(line.rstrip("\n") for line in map(str, held)) if isinstance(held, list) else str(held or "")
