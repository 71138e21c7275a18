r"""The glossary as a CSV file.

Header: `term,context,expansion,description,notes,aliases,owner,status`, in any order. `term` and `expansion` are
needed; an unknown column is an error, because it is most likely a misspelt one. An empty or missing context means
"general". An empty or missing status is ignored: a new sense is approved, and an existing one keeps its own. Aliases
are separated by `|`; within an alias a bar is written `\|`, and a backslash `\\`. Comma, semicolon and tab separate
columns; a line like `sep=;` before the header sets the separator.

A spreadsheet executes cells that look like formulas (`=...`, `@...`), and a glossary's words come from many people.
Such a cell is therefore written with an apostrophe before it, as OWASP advises ("CSV Injection"), and read without it
if the header is the one that Argot writes: an exported file imports as the same glossary.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from typing import cast

from argot.errors import InvalidGlossary, RowProblem
from argot.jargon_db.formats.duplicates import find_contradictions
from argot.jargon_db.formats.glossary_file import MAX_SENSES, refuse, refuse_many
from argot.jargon_db.store.inputs import SenseInput, find_problems, trim
from argot.types import Sense, SenseStatus

COLUMNS = ("term", "context", "expansion", "description", "notes", "aliases", "owner", "status")
REQUIRED_COLUMNS = ("term", "expansion")
DEFAULT_CONTEXT = "general"
NUL = "\0"
"""Readers of CSV ignore a file with it; Argot never writes it."""
_DELIMITERS = (",", ";", "\t")
_NAMED_DELIMITER = re.compile(r'"?sep=([,;\t])"?[ ,;\t]*(?:\r\n?|\n)', re.IGNORECASE)
"""A line with which spreadsheets declare the column separator; they do not count it as a row."""
# Far above Python's 131,072 characters: the checks of a sense report in plain words that a text is too long.
_FIELD_LIMIT = 10_000_000
_MAX_NAMED_PROBLEMS = 5
_MAX_SHOWN_CHARS = 80
_UNSEEN = " \t\r\n\u00a0\u200b\ufeff"
"""Invisible characters that may surround a column's name."""
_FORMULA = r"(?:^(?={0}'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20])|(?<=[;\t\r\n])(?={0}'*[=+\-@\uff1d\uff0b\uff0d\uff20]))"
"""Matches before text that looks like a formula, in wide characters too, or like a guarded one: at the beginning of a
cell, and after a semicolon or tab that separates cells.
"""
_BARE, _GUARDED = re.compile(_FORMULA.format("")), re.compile(f"{_FORMULA.format(chr(39))}'")
# The text between bars; `\|` and `\\` do not end it. A lone backslash at the end is kept.
_ALIAS_PART = re.compile(r"(?:\\.|[^|\\]|\\$)+", re.DOTALL)


def decode_csv(data: bytes) -> str:
    """Return the text of a CSV file saved by any program: UTF-8 with or without mark, UTF-16 or UTF-32, else
    Windows-1252.
    """
    # Before UTF-16, whose mark it begins with.
    if data.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")):
        return data.decode("utf-32", errors="replace")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", errors="replace")
    for encoding in ("utf-8-sig", *_guess_utf_16(data), "cp1252"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    # Five bytes are no character of Windows-1252; Latin-1 accepts any.
    return data.decode("latin-1")


def _guess_utf_16(data: bytes) -> tuple[str, ...]:
    head = data[:200]
    # In UTF-16 every second byte of Western text is zero.
    if len(head) >= 4 and head[1::2].count(0) > len(head) // 3:
        return ("utf-16-le",)
    return ("utf-16-be",) if len(head) >= 4 and head[0::2].count(0) > len(head) // 3 else ()


def read_senses(text: str, name: str, context: str = DEFAULT_CONTEXT, most: int = MAX_SENSES) -> list[SenseInput]:
    """Return the senses of a file, in its order; rows with the same term, context and expansion appear as often as in
    the file, and must not contradict each other.

    `context` applies to rows that name none.

    Raises:
        InvalidGlossary: names every bad row with its column; or the file contains more than `most` senses.
    """
    if NUL in text:
        where = f"line {text.count(chr(10), 0, text.index(NUL)) + 1}"
        raise refuse(name, "it holds NUL characters, as no text does; save it again as CSV in UTF-8", where)
    rows = _read_rows(text, name)
    # Empty rows may precede the header.
    header_line, header = next((row for row in rows if any(map(str.strip, row[1]))), (1, []))
    columns = _parse_header(header, header_line, name)
    ours = tuple(columns) == COLUMNS
    senses: list[SenseInput] = []
    lines: list[int] = []
    problems: list[RowProblem] = []
    for line, cells in rows:
        if not any(cell.strip() for cell in cells):
            continue
        # Spreadsheets leave empty cells after the last column.
        if len(cells) > len(columns) and any(cell.strip() for cell in cells[len(columns) :]):
            message = f"{len(cells)} values for {len(columns)} columns; put a value that holds the separator in quotes"
            problems.append(RowProblem(line, "", message))
            continue
        given = _build_sense(dict(zip(columns, map(unguard_formula, cells) if ours else cells, strict=False)), context)
        found = [RowProblem(line, column, message) for column, message in find_problems(given)]
        problems += found
        if not found:
            senses.append(trim(given))
            lines.append(line)
            refuse_many(senses, name, most)
    problems += find_contradictions(senses, lines)
    if problems:
        raise InvalidGlossary(name, problems)
    return senses


def write_senses(senses: Iterable[Sense]) -> str:
    """Return the CSV file of these senses, with comma and line feed."""
    out = io.StringIO()
    plain = csv.writer(out, lineterminator="\n")
    quoted = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL)
    plain.writerow(COLUMNS)
    for sense in senses:
        aliases = join_aliases(sense.aliases)
        texts = (sense.term, sense.context, sense.expansion, sense.description, sense.notes)
        cells = [guard_formula(cell.replace(NUL, "")) for cell in (*texts, aliases, sense.owner, sense.status)]
        # Readers treat a carriage return as the end of a row; the writer only quotes its own line end.
        (quoted if any("\r" in cell for cell in cells) else plain).writerow(cells)
    return out.getvalue()


def guard_formula(cell: str) -> str:
    """Return the cell in a form that no spreadsheet executes as a formula."""
    return _BARE.sub("'", cell)


def unguard_formula(cell: str) -> str:
    """Return the cell without the guard of `guard_formula`."""
    return _GUARDED.sub("", cell)


def join_aliases(aliases: Iterable[str]) -> str:
    return "|".join(alias.replace("\\", "\\\\").replace("|", "\\|") for alias in aliases)


def split_aliases(cell: str) -> tuple[str, ...]:
    return tuple(re.sub(r"\\([|\\])", r"\1", part) for part in _ALIAS_PART.findall(cell))


def _read_rows(text: str, name: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (number, cells) of each row, the header being row 1."""
    text = text.removeprefix("\ufeff")
    delimiter = _guess_delimiter(text)
    # A declaration in the file takes precedence over counting.
    if named := _NAMED_DELIMITER.match(text):
        delimiter, text = named[1], text[named.end() :]
    csv.field_size_limit(_FIELD_LIMIT)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    number = 0
    while True:
        # Rows, not lines: a value may contain line ends, and spreadsheets count the same way.
        number += 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise InvalidGlossary(name, [RowProblem(number, "", f"this is no CSV: {error}")]) from error
        if cells is None:
            return
        yield number, cells


def _guess_delimiter(text: str) -> str:
    """Return the separator that occurs most often in the header."""
    # Only the header counts, since descriptions are full of commas; rows of separators may precede it.
    header = text.lstrip("\r\n\t ,;").split("\n", 1)[0]
    # A tie, including no separator at all, gives the comma.
    return max(_DELIMITERS, key=header.count)


def _parse_header(header: list[str], line: int, name: str) -> list[str]:
    columns = [cell.strip(_UNSEEN).casefold() for cell in header]
    # Trailing separators, as spreadsheets write them.
    while columns and not columns[-1]:
        columns.pop()
    allowed = ", ".join(COLUMNS)
    unknown = [column for column in columns if column not in COLUMNS]
    problems = [_describe_unknown_column(line, column, allowed) for column in unknown[:_MAX_NAMED_PROBLEMS]]
    if len(unknown) > _MAX_NAMED_PROBLEMS:
        more = f"{len(unknown) - _MAX_NAMED_PROBLEMS} more columns are none of a glossary either; take them out"
        problems.append(RowProblem(line, "", more))
    problems += [
        RowProblem(line, column, "the column appears twice") for column in COLUMNS if columns.count(column) > 1
    ]
    problems += [
        RowProblem(line, column, f"the column '{column}' is missing. Columns: {allowed}")
        for column in REQUIRED_COLUMNS
        if column not in columns
    ]
    if problems:
        raise InvalidGlossary(name, problems)
    return columns


def _describe_unknown_column(line: int, column: str, allowed: str) -> RowProblem:
    if not column:
        return RowProblem(line, "", f"a column has no name; name it, or take it out. Columns: {allowed}")
    shown = column if len(column) <= _MAX_SHOWN_CHARS else column[:_MAX_SHOWN_CHARS] + "..."
    return RowProblem(line, shown, f"unknown column '{shown}'. Columns: {allowed}")


def _build_sense(cells: dict[str, str], context: str) -> SenseInput:
    """Build the sense of a row: a missing column leaves existing values, an empty cell clears them."""
    aliases = split_aliases(cells["aliases"]) if "aliases" in cells else None
    return SenseInput(
        term=cells.get("term", ""),
        context=cells.get("context", "").strip() or context,
        expansion=cells.get("expansion", ""),
        description=cells.get("description"),
        notes=cells.get("notes"),
        aliases=aliases,
        owner=cells.get("owner"),
        status=_parse_status(cells.get("status", "")),
    )


def _parse_status(cell: str) -> SenseStatus | None:
    # Not checked here: an invalid status is reported as a problem with the other fields of the sense.
    return cast(SenseStatus, cell.strip(_UNSEEN).casefold()) or None
