"""Tables as cells on a grid, and the measure of the ICDAR 2013 table competition.

An adjacency relation is a pair of neighbouring cells with text, and the direction in which they are neighbours; blank
cells in between are skipped. Texts are compared as in the competition: without blanks, in capitals, and with an
underscore for every character that is neither letter nor digit. (Goebel, Hassan, Oro, Orsi: A methodology for
evaluating algorithms for table understanding in PDF documents, 2012; ICDAR 2013 table competition, 2013.)
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError

from defusedxml.ElementTree import parse  # type: ignore[import-untyped]

from argot.corpus.readers.table_grid import GridCell
from argot.errors import InvalidInput

Relation = tuple[str, str, str]
"""The texts of two neighbours, the left or upper one first, and `across` or `down`."""
Relations = Mapping[int, Counter[Relation]]
"""The relations of each page."""

_SPECIAL = re.compile(r"[\W_]")


@dataclass(frozen=True, slots=True)
class RelationScore:
    """The numbers of relations that people marked, of relations that were found, and of relations that are both."""

    gold: int
    found: int
    right: int

    @property
    def precision(self) -> float:
        return self.right / self.found if self.found else float(not self.gold)

    @property
    def recall(self) -> float:
        return self.right / self.gold if self.gold else float(not self.found)

    @property
    def f1(self) -> float:
        return 2 * self.right / (self.gold + self.found) if self.gold + self.found else 1.0


def find_relations(cells: Iterable[GridCell]) -> Counter[Relation]:
    """Return the adjacency relations of one table. Two cells that are neighbours in several rows have one relation."""
    filled = [(cell, text) for cell in cells if (text := normalize_text(cell.text))]
    at = {
        (row, column): number
        for number, (cell, _) in enumerate(filled)
        for row in range(cell.row, cell.last_row + 1)
        for column in range(cell.column, cell.last_column + 1)
    }
    last_row = max((row for row, _ in at), default=0)
    last_column = max((column for _, column in at), default=0)
    pairs: set[tuple[int, int, str]] = set()
    for number, (cell, _) in enumerate(filled):
        for row in range(cell.row, cell.last_row + 1):
            places = ((row, column) for column in range(cell.last_column + 1, last_column + 1))
            pairs.update((number, at[place], "across") for place in _find_first(places, at))
        for column in range(cell.column, cell.last_column + 1):
            places = ((row, column) for row in range(cell.last_row + 1, last_row + 1))
            pairs.update((number, at[place], "down") for place in _find_first(places, at))
    return Counter((filled[one][1], filled[other][1], way) for one, other, way in pairs)


def _find_first(places: Iterable[tuple[int, int]], at: Mapping[tuple[int, int], int]) -> Sequence[tuple[int, int]]:
    return next(([place] for place in places if place in at), [])


def normalize_text(text: str) -> str:
    # Ligatures and superscript digits are compared as the characters that they represent.
    return _SPECIAL.sub("_", "".join(unicodedata.normalize("NFKC", text).split())).upper()


def group_by_page(tables: Iterable[tuple[int, Sequence[GridCell]]]) -> dict[int, Counter[Relation]]:
    """Return the relations by page, from tables with their page, counted from 1."""
    pages: dict[int, Counter[Relation]] = {}
    for page, cells in tables:
        pages.setdefault(page, Counter()).update(find_relations(cells))
    return pages


def score_relations(gold: Relations, found: Relations) -> RelationScore:
    """Score relations. One is right if the page has it too, at most as often as the page has it."""
    empty: Counter[Relation] = Counter()
    right = sum((counts & found.get(page, empty)).total() for page, counts in gold.items())
    return RelationScore(
        sum(counts.total() for counts in gold.values()), sum(counts.total() for counts in found.values()), right
    )


def pool_scores(scores: Iterable[RelationScore]) -> RelationScore:
    """Add up all relations as if they were in one document."""
    listed = list(scores)
    return RelationScore(*(sum(values) for values in zip(*((s.gold, s.found, s.right) for s in listed), strict=True)))


# -- gold -----------------------------------------------------------------------------------------------------------


def load_structure(path: Path) -> list[tuple[int, list[GridCell]]]:
    """Load the tables of a `*-str.xml` of the competition, each with its page. A table on several pages becomes
    several.

    Raises:
        InvalidInput: the file is not in the competition's form.
    """
    try:
        regions = list(parse(path).getroot().iter("region"))
        return [(int(region.attrib["page"]), [_read_cell(cell) for cell in region.iter("cell")]) for region in regions]
    except (ParseError, KeyError, ValueError) as error:
        raise InvalidInput(f"{path} is no table structure of ICDAR 2013 (*-str.xml): {error}") from error


def _read_cell(cell: Element) -> GridCell:
    row, column = int(cell.attrib["start-row"]), int(cell.attrib["start-col"])
    return GridCell(
        row,
        column,
        cell.findtext("content") or "",
        int(cell.attrib.get("end-row", row)),
        int(cell.attrib.get("end-col", column)),
    )
