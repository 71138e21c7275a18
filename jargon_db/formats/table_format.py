"""Glossaries as tables: the rows of a CSV file, or of the sheets of a workbook, as any organisation has them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

from argot.jargon_db.formats.column_guess import (
    MAX_HEADER_ROW,
    SAMPLE_ROWS,
    RecognisedTable,
    list_unknown_columns,
    recognise_table,
)
from argot.jargon_db.formats.combined_terms import MAX_COMBINED_TERMS, list_combined_terms, split_terms
from argot.jargon_db.formats.duplicates import Place
from argot.jargon_db.formats.everyday_words import list_everyday_names
from argot.jargon_db.formats.glossary_file import GlossaryFile, GlossaryFileBuilder, ReadOptions, make_problem, refuse
from argot.jargon_db.formats.names import filter_language
from argot.jargon_db.formats.reason_columns import drop_columns, find_reason_columns
from argot.jargon_db.formats.table_rows import RowReader, merge_labels, split_meanings
from argot.jargon_db.store.inputs import SenseInput

COLUMNS = ("term", "context", "expansion", "description", "notes", "aliases", "owner", "status")
"""The columns of every table that Argot writes."""
MORE_COLUMNS = (
    "audience", "review_by", "labels", "relations", "source", "example", "concept", "context_description",
    "context_contact", "context_audience",
)  # fmt: skip
"""The columns that follow where a glossary needs them."""
DEFAULT_CONTEXT = "general"
MAX_COLUMNS = 300
MAX_DESCRIPTION_CHARS = 100_000
"""Maximum characters of a cell; a longer one is a document."""
_PLAIN_SHEETS = (
    "sheet",
    "tabelle",
    "feuil",
    "hoja",
    "foglio",
    "blad",
    "terms",
    "glossary",
    "glossar",
    "data",
    "a-z",
    "list",
)
_MAX_NAMED_COLUMNS = 10
_MAX_SHOWN_CHARS = 80
_MAIN_FIELDS = ("term", "abbreviation", "expansion", "description", "context")
_MAX_PROBLEMS = 10_000
"""A file with more wrong rows is wrong as a whole."""

_LETTERS = re.compile(r"\W*\w(?:\s*[-–]\s*\w)?\W*$")
"""A letter of the alphabet between the terms: "A", "(B)", "C-F"."""

Row = tuple[int, list[str]]


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a file or of one sheet, with their numbers; `notes` are (row number, message)."""

    name: str
    rows: Iterable[Row]
    notes: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class _KnownTable:
    table: Table
    found: RecognisedTable
    rows: Iterator[Row]
    strict: bool
    header_row: int
    is_rest: bool = False


def read_tables(
    tables: Sequence[Table], name: str, options: ReadOptions, unguard: Callable[[str], str] | None = None
) -> GlossaryFile:
    """Read the senses and contexts of tables, whose columns are recognised.

    Raises:
        InvalidGlossary: names every wrong row with its column; or the file contains too many senses.
    """
    gathering = GlossaryFileBuilder(name, options)
    many = len(tables) > 1
    known = [_recognise(one, name, options) for one in tables]
    _refuse_unknown_columns(known, name, options)
    faults = [_find_fault(one) for one in known]
    useful = [one for one, (column, _) in zip(known, faults, strict=True) if not column]
    for one, (column, message) in zip(known, faults, strict=True):
        if one in useful or not useful:
            gathering.columns += [replace(use, sheet=one.table.name if many else "") for use in one.found.columns]
        if column and not useful and (one.found.columns or not many):
            gathering.problem(f"sheet {one.table.name!r}" if many else one.header_row, message, column)
    others = [one.table.name for one in known if one not in useful and one.found.columns]
    if useful and others:
        more = f" and {len(others) - _MAX_NAMED_COLUMNS} more" if len(others) > _MAX_NAMED_COLUMNS else ""
        named_sheets = ", ".join(map(repr, others[:_MAX_NAMED_COLUMNS])) + more
        gathering.notice("", f"sheets without terms are left out: {named_sheets}")
    if not useful and not gathering.problems:
        gathering.problem("", "it holds no table: give a list with a row for each term")
    if any(one.is_rest for one in useful):
        gathering.notice("", "the places and reasons of an earlier import are left out: --map reason=FIELD keeps them")
    named = sum(one.found.has_terms for one in useful) > 1
    for one in useful:
        _TableReader(
            one, gathering, options, sheet=one.table.name if many else "", named=named, unguard=unguard
        ).read_rows()
    return gathering.finish()


def _recognise(table: Table, name: str, options: ReadOptions) -> _KnownTable:
    rows = iter(table.rows)
    head = list(islice(rows, MAX_HEADER_ROW + SAMPLE_ROWS))
    reasons = find_reason_columns([cells for _, cells in head], options.columns)
    if reasons:
        head, rows = list(drop_columns(iter(head), reasons)), drop_columns(rows, reasons)
    # Each column is compared with each other one. Rows with values in further columns are reported as torn.
    found = recognise_table([cells[:MAX_COLUMNS] for _, cells in head], options.columns, table.name or name)
    if reasons and found.header >= 0:
        # Its columns have names. Values beyond them are those of torn rows, and stay wrong until they are mended.
        named = max((at + 1 for at, cell in enumerate(head[found.header][1]) if cell.strip()), default=0)
        found = replace(found, columns=found.columns[:named])
    header = [one.header for one in found.columns]
    strict = tuple(header[: len(COLUMNS)]) == COLUMNS and set(header[len(COLUMNS) :]) <= set(MORE_COLUMNS)
    rest = chain(head[found.header + 1 :], rows)
    header_row = head[found.header][0] if found.header >= 0 else head[0][0] if head else 1
    if strict:
        # By their own names: elsewhere "concept" may be a column of terms.
        columns = [one if one.how == "given" else replace(one, field=one.header) for one in found.columns]
        found = replace(found, columns=tuple(columns))
    corrected = any(one.how == "given" for one in found.columns)
    return _KnownTable(table, found, rest, strict and not corrected, header_row, bool(reasons))


def _find_fault(one: _KnownTable) -> tuple[str, str]:
    """Return the field that no column of a table holds, and the message; empty if it can be read."""
    if one.found.is_context_list:
        return "", ""
    among = f"Columns: {_name_columns(one)}"
    if not one.found.columns:
        return "term", "it holds no table: give a list with a row for each term"
    if not one.found.has_terms:
        return "term", f"no column is known to hold the terms. {among}. {_suggest(one)}"
    meanings = one.found.kinds & {"expansion", "description", "aliases", "labels"}
    names_many = sum(column.kind in ("term", "abbreviation") for column in one.found.columns) > 1
    if not meanings and not names_many:
        return (
            "expansion",
            f"no column is known to say what the terms mean. {among}. {_suggest(one)}",
        )
    return "", ""


def _refuse_unknown_columns(known: Sequence[_KnownTable], name: str, options: ReadOptions) -> None:
    """Refuse names of columns, given by a person, that no table has.

    Raises:
        InvalidGlossary: a person says what columns hold that no table has.
    """
    if options.remembered or not (unknown := list_unknown_columns([one.found for one in known], options.columns)):
        return
    named = ", ".join(repr(one[:_MAX_SHOWN_CHARS]) for one in unknown[:_MAX_NAMED_COLUMNS])
    first = max(known, key=lambda one: len(one.found.columns))
    raise refuse(name, f"it has no column {named}. Columns: {_name_columns(first)}. {_suggest(first)}")


def _name_columns(one: _KnownTable) -> str:
    names = ", ".join(repr(column.header) for column in one.found.columns[:_MAX_NAMED_COLUMNS])
    more = len(one.found.columns) - _MAX_NAMED_COLUMNS
    return f"{names} and {more} more" if more > 0 else names


def _suggest(one: _KnownTable) -> str:
    """Return the advice how to name the columns, with an example from this table."""
    names = [column.header for column in one.found.columns][:2]
    fields = ("term", "expansion") if len(names) > 1 else ("term",)
    pairs = [f"{name}={field}" for name, field in zip(names, fields, strict=False)]
    # A name that holds a comma stands in quotes.
    shown = ",".join(f'"{pair}"' if "," in pair else pair for pair in pairs)
    fields_shown = ", ".join(_MAIN_FIELDS)
    return f"Say which column holds what as COLUMN=FIELD, as in --map '{shown}'; fields: {fields_shown} and others"


class _TableReader:
    """Reads the rows of one table into a builder."""

    def __init__(
        self,
        one: _KnownTable,
        gathering: GlossaryFileBuilder,
        options: ReadOptions,
        *,
        sheet: str,
        named: bool,
        unguard: Callable[[str], str] | None,
    ) -> None:
        self._table = one
        self._gathering = gathering
        self._sheet = sheet
        # Argot wrote a table of rows left out, though not its columns.
        self._unguard = unguard if one.strict or one.is_rest else None
        context = options.context or choose_sheet_context(sheet, named=named) or DEFAULT_CONTEXT
        self._reader = RowReader(one.found.columns, context, options.language, one.strict)
        self._grouped: dict[str, list[tuple[Place, SenseInput]]] = defaultdict(list)
        self._groups = self._reader.has("concept") and self._reader.has("language") and not one.strict
        self._language = options.language

    def read_rows(self) -> None:
        for number, message in self._table.table.notes:
            self._gathering.notice(self._place(number), message)
        has_terms = self._table.found.has_terms
        for number, written in self._table.rows:
            if len(self._gathering.problems) > _MAX_PROBLEMS:
                self._gathering.problem("", f"more than {_MAX_PROBLEMS:,} rows are wrong; the rest was not read")
                break
            if not any(map(str.strip, written)):
                continue
            cells = written if self._unguard is None else list(map(self._unguard, written))
            place = self._place(number)
            if self._is_torn(place, cells):
                continue
            if self._reader.has("context_description", "context_contact", "context_audience"):
                context = self._reader.read_context(cells)
                if context is not None:
                    self._gathering.add_context(place, context)
            if has_terms:
                self._read_term(place, cells)
        for entries in self._grouped.values():
            self._add_concept(entries)

    def _read_term(self, place: Place, cells: list[str]) -> None:
        sense_input = self._reader.read_sense(cells)
        if not self._table.strict:
            sense_input = _interpret_foreign(sense_input)
        if not sense_input.term and self._reader.has("context_description", "context_contact", "context_audience"):
            # A row about a context alone.
            return
        if self._is_heading(sense_input, cells) or self._is_header(cells):
            return
        if self._groups and sense_input.term and sense_input.concept:
            self._grouped[sense_input.concept].append((place, sense_input))
            return
        if not self._is_meaningful(place, sense_input, cells):
            return
        if not (sense_input.expansion or sense_input.description):
            # Names in several languages: the term is its own expansion.
            sense_input = replace(sense_input, expansion=sense_input.term)
        for column, message in self._reader.notes:
            self._gathering.notice(place, message, column)
        for one in [sense_input] if self._table.strict else split_meanings(sense_input):
            for single in self._split_terms(place, one):
                self._gathering.add_sense(place, single, cells)

    def _split_terms(self, place: Place, sense_input: SenseInput) -> list[SenseInput]:
        """Return the senses of the terms that a row combines, and tell the person who imports it."""
        split = split_terms(sense_input)
        shown = sense_input.term[:80]
        if len(split) > 1:
            message = f"{shown!r} is read as {len(split)} terms: {', '.join(one.term for one in split)}"
            self._gathering.notice(place, message, "term")
        elif len(list_combined_terms(sense_input.term)) > MAX_COMBINED_TERMS:
            reason = f"since it names more than {MAX_COMBINED_TERMS}; write a row for each"
            message = f"{shown!r} is kept as one term, {reason}"
            self._gathering.notice(place, message, "term")
        return split

    def _is_meaningful(self, place: Place, sense_input: SenseInput, cells: list[str]) -> bool:
        """Return whether a row says something of a term; others are not wrong, and must not keep the right ones out."""
        if not sense_input.term and not self._table.strict:
            found = make_problem(place, "it names no term: it is left out")
        elif sense_input.term and not (
            sense_input.expansion or sense_input.description or len(sense_input.labels or ()) > 1
        ):
            message = f"{sense_input.term[:80]!r} has neither an expansion nor a description: it is left out"
            found = make_problem(place, message)
        else:
            return True
        self._gathering.notices.append(found)
        self._gathering.reject(found, cells)
        return False

    def _add_concept(self, entries: list[tuple[Place, SenseInput]]) -> None:
        """Add the rows of one concept, which give its names in several languages, as one sense."""
        labels = [
            (label, at) for at, (_, one) in enumerate(entries) for label in one.labels or () if label.text == one.term
        ]
        own = filter_language([label for label, _ in labels], self._language) if labels else []
        ranked = sorted(own, key=lambda label: label.status != "preferred")
        first = next((at for label, at in labels if ranked and label is ranked[0]), 0)
        place, sense_input = entries[first]
        others = [one for at, (_, one) in enumerate(entries) if at != first]
        contexts = {one.context for one in others if one.context != sense_input.context}
        for other in others:
            if other.context == sense_input.context:
                sense_input = merge_labels(sense_input, other)
        if not (sense_input.expansion or sense_input.description):
            sense_input = replace(sense_input, expansion=sense_input.term)
        self._gathering.add_sense(place, sense_input)
        for at, (where, one) in enumerate(entries):
            if at != first and one.context in contexts:
                self._gathering.add_sense(where, one)

    def _is_torn(self, place: Place, cells: list[str]) -> bool:
        """Return whether a row has more values than the table has columns; it is reported."""
        known = len(self._table.found.columns)
        too_long = next((cell for cell in cells if len(cell) > MAX_DESCRIPTION_CHARS), None)
        if too_long is not None:
            message = f"a cell has {len(too_long):,} characters; shorten it to {MAX_DESCRIPTION_CHARS:,}"
            self._gathering.problem(place, message, cells=cells)
        # Spreadsheets leave empty cells after the last column.
        elif len(cells) > known and any(cell.strip() for cell in cells[known:]):
            message = f"{len(cells)} values for {known} columns; put a value that holds the separator in quotes"
            self._gathering.problem(place, message, cells=cells)
        else:
            return False
        return True

    def _is_heading(self, sense_input: SenseInput, cells: list[str]) -> bool:
        # Lists from A to Z have the letters between the terms.
        texts = [cell for cell in map(str.strip, cells) if cell]
        return (
            len(texts) == 1
            and bool(_LETTERS.match(texts[0]))
            and not sense_input.expansion
            and not sense_input.description
        )

    def _is_header(self, cells: list[str]) -> bool:
        """Return whether a row repeats the header, as printed lists do on each page."""
        names = [one.header for one in self._table.found.columns]
        return [cell.strip() for cell in cells[: len(names)]] == names

    def _place(self, number: int) -> Place:
        return f"{self._sheet}, row {number}" if self._sheet else number


def _interpret_foreign(sense_input: SenseInput) -> SenseInput:
    """Return a sense of another organisation's list as Argot means its fields."""
    if not (sense_input.expansion or sense_input.description):
        # The list describes the term only in its notes.
        sense_input = replace(sense_input, description=sense_input.notes, notes=None)
    if sense_input.status == "approved" and list_everyday_names(sense_input):
        # Approved elsewhere is not yet approved as a word by which questions are read.
        sense_input = replace(sense_input, status=None)
    return sense_input


def choose_sheet_context(sheet: str, *, named: bool) -> str:
    """Return the context of a sheet's terms that name none: its own name if several sheets have terms; else empty."""
    return sheet if named and _is_telling(sheet) else ""


def _is_telling(sheet: str) -> bool:
    """Return whether the name of a sheet names a context: "Sheet1", "A" and "A-F" do not."""
    folded = sheet.casefold().strip()
    return len(folded.replace("-", "").replace(" ", "")) > 2 and not folded.startswith(_PLAIN_SHEETS)
