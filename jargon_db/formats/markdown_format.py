"""The tables of a Markdown page, as a wiki exports its list of terms; `table_format` says what their columns hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from argot.jargon_db.formats.glossary_file import GlossaryFile, ReadOptions, refuse
from argot.jargon_db.formats.table_format import Row, Table, read_tables

if TYPE_CHECKING:
    from markdown_it.token import Token

STATUS_HEADER = "term status"
"""The column that is added for terms that are struck through."""
_TEXTS = ("text", "code_inline", "html_inline")


def read_markdown(text: str, name: str, options: ReadOptions) -> GlossaryFile:
    """Return the content of a page's tables. A term that is struck through is deprecated.

    Raises:
        InvalidGlossary: the page has no table; or as for `read_tables`.
    """
    tables = list(_read_tables(text))
    if not tables:
        raise refuse(name, "it holds no table; give the terms as a Markdown table, or as CSV")
    return read_tables(tables, name, options)


def _read_tables(text: str) -> Iterator[Table]:
    from markdown_it import MarkdownIt

    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
    rows: list[tuple[int, list[str], bool]] = []
    for at, token in enumerate(tokens):
        if token.type == "tr_open":
            rows.append(((token.map or [0])[0] + 1, [], False))
        elif token.type in ("th_open", "td_open"):
            line, cells, is_struck = rows[-1]
            children = tokens[at + 1].children or []
            struck = not cells and any(child.type == "s_open" for child in children)
            rows[-1] = (line, [*cells, _join_text(children)], is_struck or struck)
        elif token.type == "table_close":
            yield Table(f"table in line {rows[0][0]}", _mark_struck(rows))
            rows = []


def _join_text(children: Sequence[Token]) -> str:
    texts = [" " if child.type in ("softbreak", "hardbreak") else child.content for child in children
             if child.type in (*_TEXTS, "softbreak", "hardbreak")]  # fmt: skip
    return "".join(texts).replace("<br>", "; ").replace("<br/>", "; ").strip()


def _mark_struck(rows: list[tuple[int, list[str], bool]]) -> list[Row]:
    if not any(is_struck for _, _, is_struck in rows):
        return [(line, cells) for line, cells, _ in rows]
    (first, header, _), *others = rows
    marked = [(line, [*cells, "deprecated" if is_struck else ""]) for line, cells, is_struck in others]
    return [(first, [*header, STATUS_HEADER]), *marked]
