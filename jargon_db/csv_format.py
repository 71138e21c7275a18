r"""The glossary as a CSV file.

Header: `term,context,expansion,description,notes,aliases,owner`, in any order. `term` and `expansion` are needed; an
unknown column is an error, because it is most likely a misspelt one. An empty or missing context means "general".
Aliases are separated by `|`; an alias that holds one is written `\|`, and a backslash `\\`. Comma, semicolon and tab
separate columns. Values are kept exactly as typed, also those a spreadsheet would take for a formula (`=...`): what is
exported imports again as the same glossary.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator

from argot.errors import InvalidGlossary, RowProblem
from argot.jargon_db.changes import SenseInput, checked, problems_of
from argot.types import Sense

COLUMNS = ("term", "context", "expansion", "description", "notes", "aliases", "owner")
REQUIRED = ("term", "expansion")
DEFAULT_CONTEXT = "general"
_DELIMITERS = (",", ";", "\t")
_FIELD_LIMIT = 10_000_000
_ALIAS_PART = re.compile(r"(?:\\.|[^|\\]|\\$)+", re.DOTALL)


def decode(data: bytes) -> str:
    """The text of a CSV file saved by whatever program: UTF-8 with or without mark, UTF-16, else Windows-1252."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", errors="replace")
    for encoding in ("utf-8-sig", *_utf_16_without_mark(data), "cp1252"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1")


def _utf_16_without_mark(data: bytes) -> tuple[str, ...]:
    head = data[:200]
    if len(head) >= 4 and head[1::2].count(0) > len(head) // 3:
        return ("utf-16-le",)
    return ("utf-16-be",) if len(head) >= 4 and head[0::2].count(0) > len(head) // 3 else ()


def read_senses(text: str, name: str) -> list[SenseInput]:
    """The senses of a file, in its order; rows with the same term, context and expansion appear as often as in it.

    Raises:
        InvalidGlossary: names every bad row with its column.
    """
    rows = _rows(text, name)
    header_line, header = next(rows, (1, []))
    columns = _columns(header, header_line, name)
    senses: list[SenseInput] = []
    problems: list[RowProblem] = []
    for line, cells in rows:
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) > len(columns) and any(cell.strip() for cell in cells[len(columns) :]):
            message = f"{len(cells)} values for {len(columns)} columns; put a value that holds the separator in quotes"
            problems.append(RowProblem(line, "", message))
            continue
        given = _sense(dict(zip(columns, cells, strict=False)))
        found = [RowProblem(line, column, message) for column, message in problems_of(given)]
        problems += found
        if not found:
            senses.append(checked(given))
    if problems:
        raise InvalidGlossary(name, problems)
    return senses


def write_senses(senses: Iterable[Sense]) -> str:
    """The CSV file of these senses, with comma and line feed."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for sense in senses:
        aliases = join_aliases(sense.aliases)
        writer.writerow(
            [sense.term, sense.context, sense.expansion, sense.description, sense.notes, aliases, sense.owner]
        )
    return out.getvalue()


def join_aliases(aliases: Iterable[str]) -> str:
    return "|".join(alias.replace("\\", "\\\\").replace("|", "\\|") for alias in aliases)


def split_aliases(cell: str) -> tuple[str, ...]:
    return tuple(re.sub(r"\\([|\\])", r"\1", part) for part in _ALIAS_PART.findall(cell))


def _rows(text: str, name: str) -> Iterator[tuple[int, list[str]]]:
    """(number of the row, cells); rows count from 1, the header being row 1, whatever line breaks values hold."""
    text = text.removeprefix("\ufeff")
    csv.field_size_limit(_FIELD_LIMIT)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    number = 0
    while True:
        number += 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise InvalidGlossary(name, [RowProblem(number, "", f"this is no CSV: {error}")]) from error
        if cells is None:
            return
        yield number, cells


def _delimiter(text: str) -> str:
    """The separator that occurs most in the header."""
    header = text.lstrip("\r\n").split("\n", 1)[0]
    return max(_DELIMITERS, key=header.count)


def _columns(header: list[str], line: int, name: str) -> list[str]:
    columns = [cell.strip().casefold() for cell in header]
    while columns and not columns[-1]:
        columns.pop()
    allowed = ", ".join(COLUMNS)
    problems = [
        RowProblem(line, column, f"'{column}' is no column of a glossary. Columns: {allowed}")
        for column in columns
        if column not in COLUMNS
    ]
    problems += [
        RowProblem(line, column, "the column appears twice") for column in COLUMNS if columns.count(column) > 1
    ]
    problems += [
        RowProblem(line, column, f"the column '{column}' is missing. Columns: {allowed}")
        for column in REQUIRED
        if column not in columns
    ]
    if problems:
        raise InvalidGlossary(name, problems)
    return columns


def _sense(cells: dict[str, str]) -> SenseInput:
    """A column the file lacks says nothing (an existing value stays); an empty cell says "empty"."""
    aliases = split_aliases(cells["aliases"]) if "aliases" in cells else None
    return SenseInput(
        term=cells.get("term", ""),
        context=cells.get("context", "").strip() or DEFAULT_CONTEXT,
        expansion=cells.get("expansion", ""),
        description=cells.get("description"),
        notes=cells.get("notes"),
        aliases=aliases,
        owner=cells.get("owner"),
    )
