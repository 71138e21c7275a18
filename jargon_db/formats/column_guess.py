"""The recognition of a list's columns: by their names, else by their content; a person may correct it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from argot.jargon_db.formats.column_names import MANY, UNUSED, WITH_LANGUAGE, find_field, split_language
from argot.jargon_db.formats.column_use import ColumnUse
from argot.jargon_db.formats.names import is_abbreviation

MAX_HEADER_ROW = 40
"""Titles and notes may precede the header, up to this row."""
SAMPLE_ROWS = 200
_MAX_SAMPLES = 3
_MAX_SAMPLE_CHARS = 60
_MAX_HEADER_CHARS = 80
_LONG_TEXT_WORDS = 7
"""Mean words of a cell from which a column is taken for descriptions."""
_MIN_SPELT_SHARE = 0.3
"""Share of cells that spell out the abbreviation beside them, from which a column is taken for expansions."""
_MIN_FILLED = 0.3
"""Share of rows that must reach a column beyond the header, for the table to have it."""
_MAX_NAME_WORDS = 3
"""Maximum words of a column's name, where the column holds descriptions."""
_TERM_FIELDS = ("term", "abbreviation")
_WEAK_NAMES = ("name", "title", "item", "label", "titel", "nom", "nombre")
_CONTEXT_LIST_WORDS = ("context", "contexts", "kontext", "kontexte", "departments", "teams", "domains")
_CONTEXT_LIST_FIELDS = {
    "term": "context", "description": "context_description", "owner": "context_contact", "audience": "context_audience"
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class RecognisedTable:
    """The columns of a table, in their order; `header` is the place of its header among the rows, -1 if it has none."""

    header: int
    columns: tuple[ColumnUse, ...]

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset(one.kind for one in self.columns)

    @property
    def has_terms(self) -> bool:
        return bool(self.kinds & {"term", "abbreviation"})

    @property
    def is_context_list(self) -> bool:
        return not self.has_terms and "context" in self.kinds and len(self.kinds - {UNUSED}) > 1


def recognise_table(rows: Sequence[Sequence[str]], assigned: Mapping[str, str], name: str = "") -> RecognisedTable:
    """Recognise the columns of a table by its first rows.

    Args:
        assigned: fields by the name of their column, which take precedence; a name is compared without case and spaces.
        name: that of the file or sheet, which tells a list of contexts from one of terms.
    """
    wanted = {_fold(header): field for header, field in assigned.items()}
    header = _find_header(rows, wanted)
    found = _recognise_below(rows, header, wanted, name)
    first = next((at for at, row in enumerate(rows) if any(map(str.strip, row))), -1)
    # A first row unlike the others is a header whose names are unknown; and if no column is known, its cells are what a
    # person calls them.
    if header < 0 and first >= 0 and not (found.has_terms and _is_like_body(rows[first], found)):
        found = _recognise_below(rows, first, wanted, name)
    return found


def list_unknown_columns(found: Sequence[RecognisedTable], assigned: Mapping[str, str]) -> list[str]:
    """Return the names in a person's mapping that no column of the tables has."""
    widest = max((len(one.columns) for one in found), default=0)
    known = {_fold(column.header) for one in found for column in one.columns}
    known |= {_fold(name_column(at)) for at in range(widest)}
    return [name for name in assigned if _fold(name[:_MAX_HEADER_CHARS]) not in known]


def _is_like_body(row: Sequence[str], found: RecognisedTable) -> bool:
    at = {one.kind: row[place].strip() for place, one in enumerate(found.columns) if place < len(row)}
    if "expansion" in at:
        return is_abbreviation(at.get("term", ""), at["expansion"])
    return len(at.get("description", "").split()) > _MAX_NAME_WORDS


def _recognise_below(
    rows: Sequence[Sequence[str]], header: int, wanted: Mapping[str, str], name: str
) -> RecognisedTable:
    width = _find_width(rows, header)
    names = [str(cell).strip() for cell in rows[header]] if header >= 0 else []
    names = [names[at][:_MAX_HEADER_CHARS] if at < len(names) and names[at] else "" for at in range(width)]
    body = [row for row in rows[header + 1 :] if any(map(str.strip, row))][:SAMPLE_ROWS]
    cells = [[row[at].strip() for row in body if at < len(row) and row[at].strip()] for at in range(width)]
    shown = [one or name_column(at) for at, one in enumerate(names)]
    fields = [wanted.get(_fold(shown[at]), "") or wanted.get(_fold(name_column(at)), "") for at in range(width)]
    columns = [
        ColumnUse(shown[at], fields[at], "given" if fields[at] else "", tuple(map(_shorten, cells[at][:_MAX_SAMPLES])))
        for at in range(width)
    ]
    columns = _name_fields(columns, names)
    if _names_contexts(columns, names, name):
        columns = [
            replace(one, field=_CONTEXT_LIST_FIELDS.get(one.kind, one.field)) if one.how == "name" else one
            for one in columns
        ]
    else:
        columns = _guess_fields(columns, cells, body, has_header=header >= 0)
    used = [replace(one, field=one.field or UNUSED) for one in columns]
    while used and used[-1].field == UNUSED and not cells[len(used) - 1] and not names[len(used) - 1]:
        used.pop()
    return RecognisedTable(header, tuple(used))


def _find_width(rows: Sequence[Sequence[str]], header: int) -> int:
    """Return the number of columns: those of the header, and further ones that many rows fill."""
    body = [row for row in rows[header + 1 :] if any(map(str.strip, row))]
    ends = [max((at + 1 for at, cell in enumerate(row) if cell.strip()), default=0) for row in body]
    named = max((at + 1 for at, cell in enumerate(rows[header]) if cell.strip()), default=0) if header >= 0 else 0
    # A few longer rows are torn apart by a separator within a value.
    usual = max((end for end in set(ends) if sum(one >= end for one in ends) >= _MIN_FILLED * len(ends)), default=0)
    return max(named, usual)


def _find_header(rows: Sequence[Sequence[str]], wanted: Mapping[str, str]) -> int:
    """Return the place of the row that names the most columns; -1 if none does."""
    best, place = 0.0, -1
    for number, row in enumerate(rows[:MAX_HEADER_ROW]):
        cells = [cell.strip() for cell in row if cell.strip()]
        known = [field for cell in cells if (field := _find_header_field(cell, wanted))]
        bare = {code for cell in cells if (code := split_language(cell)[1]) and not split_language(cell)[0]}
        known += [f"term:{code}" for code in bare if len(bare) > 1]
        # Each field once: a row of data may hold the word "term" in several cells. A lone word may be a title.
        score = len(set(known)) - 0.2 * sum(len(cell) > _MAX_HEADER_CHARS for cell in cells)
        if len(set(known)) == 1 and len(cells) > 1 and number > 0:
            score -= 0.5
        if score > best and (len(cells) > 1 or len(row) == 1 or number + 1 == len(rows)):
            best, place = score, number
    return place


def _find_header_field(cell: str, wanted: Mapping[str, str]) -> str:
    if len(cell) > _MAX_HEADER_CHARS:
        return ""
    if field := wanted.get(_fold(cell)) or find_field(cell):
        return field
    rest, language, sure = split_language(cell)
    if not language or not (find_field(rest) if rest else sure):
        return ""
    return f"{find_field(rest) if rest else 'term'}:{language}"


def _name_fields(columns: list[ColumnUse], names: list[str]) -> list[ColumnUse]:
    """Set the fields that follow from the columns' names."""
    split = [split_language(name) if name else ("", "", False) for name in names]
    # "EN" and "IT" mean languages only beside each other: a lone "IT" may be a department.
    bare = [code for rest, code, sure in split if code and not sure and not find_field(rest)]
    found: list[ColumnUse] = []
    for at, one in enumerate(columns):
        rest, code, sure = split[at]
        field = find_field(names[at]) if names[at] else ""
        if code and (sure or len(bare) > 1 or find_field(rest)):
            inner = find_field(rest) if rest else "term"
            field = f"{inner}:{code}" if inner in WITH_LANGUAGE else inner or field
        found.append(one if one.field or not field else replace(one, field=field, how="name"))
    return _settle_repeated(found, names)


def _settle_repeated(columns: list[ColumnUse], names: list[str]) -> list[ColumnUse]:
    """Leave a second column of a field with one value to the content; "name" and "title" are the weakest names."""
    # Stable: among equally strong names the first column has the field.
    order = sorted(range(len(columns)), key=lambda at: (columns[at].how != "given", _fold(names[at]) in _WEAK_NAMES))
    seen: set[str] = set()
    settled = list(columns)
    for at in order:
        one = columns[at]
        if one.field in seen and one.how == "name" and one.kind not in MANY:
            settled[at] = replace(one, field="", how="")
        seen.add(one.field)
    return settled


def _names_contexts(columns: list[ColumnUse], names: list[str], name: str) -> bool:
    """Return whether the table is a list of contexts: it is called so, or has names and contacts."""
    kinds = {one.kind for one in columns if one.field}
    if kinds & {"abbreviation", "expansion", "aliases", "meaning"} or not kinds & {"term", "context"}:
        return False
    called = any(word in _CONTEXT_LIST_WORDS for word in _fold(name).replace("_", " ").replace(".", " ").split())
    folded = {_fold(one) for one in names}
    return (called and "context" not in kinds & {"term"} and not {"term", "context"} <= kinds) or (
        "name" in folded and "contact" in folded and not {"term", "context"} <= kinds
    )


def _guess_fields(
    columns: list[ColumnUse], cells: list[list[str]], body: Sequence[Sequence[str]], *, has_header: bool
) -> list[ColumnUse]:
    """Set the fields that follow from the content of the columns."""
    guess = _ContentGuess(columns, cells, body)
    guess.set_term()
    guess.settle_named_meanings()
    guess.set_meanings()
    if not has_header:
        guess.set_context()
    return guess.columns


class _ContentGuess:
    """The columns of a table while their fields are set from their content, step by step.

    `_free`: the places of the columns that still have no field, though they have cells.
    """

    def __init__(self, columns: Sequence[ColumnUse], cells: list[list[str]], body: Sequence[Sequence[str]]) -> None:
        self.columns = list(columns)
        self._cells = cells
        self._body = body
        self._free = [at for at, one in enumerate(columns) if not one.field and cells[at]]

    @property
    def _terms(self) -> int | None:
        """The place of the column of the terms; None if there is none."""
        return next((at for at, one in enumerate(self.columns) if one.kind in ("abbreviation", "term")), None)

    def set_term(self) -> None:
        """Set the column of the terms, unless one has the name of such a column."""
        if self._has(*_TERM_FIELDS):
            return
        # Identifiers may be the terms themselves: "Code, Description".
        candidates = self._free or [
            at for at, one in enumerate(self.columns) if one.kind == "concept" and self._cells[at]
        ]
        if not candidates or not (self._has_meaning() or len(self._free) > 1):
            return
        scores = {at: _score_as_term(self._cells[at], at, self._body, self.columns) for at in candidates}
        at = max(candidates, key=lambda one: scores[one])
        if self._is_explained(at) and scores[at] > 0:
            self._set(at, "term")

    def settle_named_meanings(self) -> None:
        """Decide whether columns with the name of a meaning or description spell the terms out or describe them."""
        terms = self._terms
        for at, one in enumerate(self.columns):
            if one.kind == "meaning":
                short = not self._has("expansion") and self._is_short(at)
                language = f":{one.language}" if one.language else ""
                field = "expansion" if short or self._spells_out(at, terms) else "description"
                self.columns[at] = replace(one, field=f"{field}{language}")
            # A "definition" of few words that spells out its abbreviation is its expansion.
            elif (
                one.kind == "description"
                and one.how == "name"
                and not self._has("expansion")
                and self._spells_out(at, terms)
                and self._is_short(at)
            ):
                self.columns[at] = replace(one, field="expansion", how="content")

    def set_meanings(self) -> None:
        """Set the columns that spell the terms out or describe them, among those without a known name."""
        terms = self._terms
        if terms is None or self._has("expansion"):
            return
        if not self._has("description"):
            for at, field in _find_meanings(self._free, self._cells, self._body, terms).items():
                self._set(at, field)
        elif (spelling := _find_spelling(self._free, self._body, terms)) is not None:
            self._set(spelling, "expansion")

    def set_context(self) -> None:
        """Set the column of the contexts: the one with the fewest different cells, if they are few."""
        if self._has("context") or not self._free or self._terms is None:
            return
        at = min(self._free, key=lambda one: len(set(self._cells[one])))
        if len(set(self._cells[at])) <= max(1, len(self._cells[at]) // 2):
            self._set(at, "context")

    def _set(self, at: int, field: str) -> None:
        self.columns[at] = replace(self.columns[at], field=field, how="content")
        self._free = [one for one in self._free if one != at]

    def _has(self, *kinds: str) -> bool:
        return any(one.kind in kinds for one in self.columns)

    def _has_meaning(self) -> bool:
        return self._has("expansion", "meaning", "description")

    def _is_explained(self, at: int) -> bool:
        """Return whether another column explains this one: any short texts look like terms."""
        others = [other for other in range(len(self.columns)) if other != at]
        return self._has_meaning() or any(not self._is_short(one) or self._spells_out(one, at) for one in others)

    def _is_short(self, at: int) -> bool:
        return _mean_words(self._cells[at]) < _LONG_TEXT_WORDS

    def _spells_out(self, at: int, terms: int | None) -> bool:
        return terms is not None and _share_spelt(self._body, terms, at) >= _MIN_SPELT_SHARE


def _find_meanings(
    free: Sequence[int], cells: list[list[str]], body: Sequence[Sequence[str]], terms: int
) -> dict[int, str]:
    """Return the fields of columns without a known name that spell out the terms, or describe them at length."""
    spelling = _find_spelling(free, body, terms)
    found = {} if spelling is None else {spelling: "expansion"}
    longest = max((at for at in free if at not in found), key=lambda at: _mean_words(cells[at]), default=None)
    if longest is not None and (_mean_words(cells[longest]) >= _LONG_TEXT_WORDS or not found):
        found[longest] = "description" if _mean_words(cells[longest]) >= _LONG_TEXT_WORDS else "expansion"
    return found


def _find_spelling(free: Sequence[int], body: Sequence[Sequence[str]], terms: int) -> int | None:
    """Return the column that spells out the most terms; None if none spells out enough of them."""
    spelt = {at: _share_spelt(body, terms, at) for at in free}
    best = max(spelt, key=lambda at: spelt[at], default=None)
    return best if best is not None and spelt[best] >= _MIN_SPELT_SHARE else None


def _score_as_term(cells: list[str], at: int, body: Sequence[Sequence[str]], columns: Sequence[ColumnUse]) -> float:
    """Return how much a column looks like terms: short, mostly different, and spelt out by another column."""
    if not cells or _mean_words(cells) > 5:
        return 0.0
    different = len(set(cells)) / len(cells)
    letters = sum(any(char.isalpha() for char in cell) for cell in cells) / len(cells)
    others = [other for other in range(len(columns)) if other != at]
    spelt = max((_share_spelt(body, at, other) for other in others), default=0.0)
    # The earlier of two alike columns.
    return letters * (different + 2 * spelt) - 0.01 * at if different > 0.2 else 0.0


def _share_spelt(body: Sequence[Sequence[str]], short: int, long: int) -> float:
    pairs = [(row[short].strip(), row[long].strip()) for row in body if max(short, long) < len(row)]
    pairs = [(one, other) for one, other in pairs if one and other]
    return sum(is_abbreviation(one, other) for one, other in pairs) / len(pairs) if pairs else 0.0


def _mean_words(cells: Sequence[str]) -> float:
    return sum(len(cell.split()) for cell in cells) / len(cells) if cells else 0.0


def _fold(text: str) -> str:
    return "".join(text.casefold().split())


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MAX_SAMPLE_CHARS else line[:_MAX_SAMPLE_CHARS] + "..."


def name_column(at: int) -> str:
    """Return the name of a column whose header is empty, as spreadsheets count: "column A"."""
    return f"column {_letter(at)}"


def _letter(at: int) -> str:
    """Return the name that spreadsheets give a column: A, Z, AA."""
    name = ""
    at += 1
    while at:
        at, rest = divmod(at - 1, 26)
        name = chr(ord("A") + rest) + name
    return name
