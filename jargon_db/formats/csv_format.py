"""The glossary as a CSV file: comma, semicolon, tab or bar separate the columns (`table_format` says what they hold).

A line like `sep=;` before the header sets the separator. Argot writes the columns of `table_writer`.

A spreadsheet executes cells that look like formulas (`=...`, `@...`), and a glossary's words come from many people.
Such a cell is therefore written with an apostrophe before it, as OWASP advises ("CSV Injection"), and read without it
if the header is the one that Argot writes: an exported file imports as the same glossary.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator

from argot.errors import InvalidGlossary, RowProblem
from argot.jargon_db.formats.glossary_file import MAX_SENSES, GlossaryFile, ReadOptions, refuse
from argot.jargon_db.formats.table_format import COLUMNS, DEFAULT_CONTEXT, Table, read_tables
from argot.jargon_db.formats.table_writer import make_rows
from argot.jargon_db.store.inputs import SenseInput
from argot.types import Context, Sense

__all__ = ["COLUMNS", "DEFAULT_CONTEXT", "decode_csv", "read_csv", "read_senses", "write"]

NUL = "\0"
"""Readers of CSV ignore a file with it; Argot never writes it."""
_DELIMITERS = (",", ";", "\t", "|")
_GUESS_CHARS, _GUESS_LINES = 20_000, 30
_NAMED_DELIMITER = re.compile(r'"?sep=([,;\t|])"?[ ,;\t]*(?:\r\n?|\n)', re.IGNORECASE)
"""A line with which spreadsheets declare the column separator; they do not count it as a row."""
# Far above Python's 131,072 characters: the checks of a sense report in plain words that a text is too long.
_FIELD_LIMIT = 10_000_000
_FORMULA = r"(?:^(?={0}'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20])|(?<=[;\t\r\n])(?={0}'*[=+\-@\uff1d\uff0b\uff0d\uff20]))"
"""Matches before text that looks like a formula, in wide characters too, or like a guarded one: at the beginning of a
cell, and after a semicolon or tab that separates cells.
"""
_BARE, _GUARDED = re.compile(_FORMULA.format("")), re.compile(f"{_FORMULA.format(chr(39))}'")


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


def read_senses(text: str, name: str, context: str = "", most: int = MAX_SENSES) -> list[SenseInput]:
    """Return the senses of a file, each once, in its order. `context` applies to rows that name none.

    Raises:
        InvalidGlossary: names every bad row with its column; or the file contains more than `most` senses.
    """
    return read_csv(text, name, ReadOptions(context=context, most_senses=most)).senses


def read_csv(text: str, name: str, options: ReadOptions) -> GlossaryFile:
    """Return the content of a file, whose columns are recognised.

    Raises:
        InvalidGlossary: as for `read_senses`.
    """
    if NUL in text:
        where = f"line {text.count(chr(10), 0, text.index(NUL)) + 1}"
        raise refuse(name, "it holds NUL characters, as no text does; save it again as CSV in UTF-8", where)
    return read_tables([Table("", _read_rows(text, name))], name, options, unguard_formula)


def write(senses: Iterable[Sense], contexts: Iterable[Context] = (), *, delimiter: str = ",") -> str:
    """Return the CSV file of these senses and of the details of their contexts, with line feeds."""
    out = io.StringIO()
    plain = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    quoted = csv.writer(out, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
    header, rows = make_rows(senses, contexts)
    plain.writerow(header)
    for row in rows:
        cells = [guard_formula(cell.replace(NUL, "")) for cell in row]
        # Readers treat a carriage return as the end of a row; the writer only quotes its own line end.
        (quoted if any("\r" in cell for cell in cells) else plain).writerow(cells)
    return out.getvalue()


def guard_formula(cell: str) -> str:
    """Return the cell in a form that no spreadsheet executes as a formula."""
    return _BARE.sub("'", cell)


def unguard_formula(cell: str) -> str:
    """Return the cell without the guard of `guard_formula`."""
    return _GUARDED.sub("", cell)


def _read_rows(text: str, name: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (number, cells) of each row, the header being row 1."""
    text = text.removeprefix("\ufeff")
    delimiter = _guess_delimiter(text)
    # A declaration in the file takes precedence over counting.
    if named := _NAMED_DELIMITER.match(text):
        delimiter, text = named[1], text[named.end() :]
    csv.field_size_limit(_FIELD_LIMIT)
    # Rows, not lines: a value may contain line ends, and spreadsheets count the same way.
    yield from enumerate(_parse(text, delimiter, name), 1)


def _parse(text: str, delimiter: str, name: str) -> Iterator[list[str]]:
    rows = 0
    try:
        for cells in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True):
            rows += 1
            yield cells
    except csv.Error as error:
        if "expected after" not in str(error):
            raise InvalidGlossary(name, [RowProblem(rows + 1, "", f"this is no CSV: {error}")]) from error
    else:
        return
    # A quotation mark inside a value, which many programs write: the rest is read as it stands.
    for number, cells in enumerate(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)):
        if number >= rows:
            yield cells


def _guess_delimiter(text: str) -> str:
    """Return the separator that divides the most of the first rows evenly."""
    # Titles may precede the header, and descriptions are full of commas: the rows decide together.
    lines = [line for line in text[:_GUESS_CHARS].splitlines() if line.strip()][:_GUESS_LINES]

    def score(delimiter: str) -> tuple[int, int]:
        header = text.lstrip("\r\n\t ,;|").split("\n", 1)[0].count(delimiter)
        counts = Counter(len(row) for row in csv.reader(lines, delimiter=delimiter) if len(row) > 1)
        alike = max(counts.values(), default=0)
        return (alike if header == 0 else alike + len(lines), header)

    # A tie, including no separator at all, gives the comma.
    return max(_DELIMITERS, key=score)
