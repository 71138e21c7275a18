"""Two documents that state different numbers for the same thing: shown side by side, so that neither is relied on.

Conservative: the two sentences have the same words except for at most three numbers, in the same units, under the same
headings, in documents whose titles name the same thing. Rows of two tables with the same header qualify as well if they
differ only in the number of one cell. A different year or revision in a title does not make it a different thing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from argot.tools.answering.quoting import find_header, read_units, split_cells
from argot.tools.answering.succession import is_preferred
from argot.tools.text.document_subject import PassageInDocument, has_same_subject
from argot.tools.text.quantities import find_quantities
from argot.tools.text.words import NUMBER_WORDS, content_stems, fold, read_number, stem

MIN_STEMS = 3
"""Minimum words of both sentences: "Weight: 30 kg" applies to many things."""
MAX_NUMBERS = 3
"""Maximum numbers that differ between two sentences: with more, they describe two things."""
_ITEM = re.compile(r"^(?:[-*+•]|\d{1,3}[.)]) +")
_NUMBER = re.compile(
    # No part of a name: "NX-4410", "r7".
    rf"(?<![\w.])(?<![^\W\d_]-)(?:\d+(?:[.,:]\d+)*|(?:{'|'.join(NUMBER_WORDS)})\b)",
    re.IGNORECASE,
)
_PLACE = "\0"
"""Placeholder for a number."""
_WORD = re.compile(r"\0|[^\W_]+(?:['’][^\W_]+)?|[%°€$£¥₹]")
_YEAR = re.compile(r"(?:19|20)\d\d")


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A sentence or row of the answer and its rival from another passage, each with its position.

    The one with more authority, by status, successors and dates, comes first.
    """

    said: str
    held: PassageInDocument
    other: str
    other_held: PassageInDocument

    @property
    def pair(self) -> frozenset[tuple[str, str]]:
        """The same whichever of the two the answer cites."""
        return frozenset({(self.said, self.held[1].id), (self.other, self.other_held[1].id)})


@dataclass(frozen=True, slots=True)
class _Row:
    header: tuple[str, ...]
    cells: tuple[str, ...]

    def describe(self, place: int) -> str:
        """Return its first cell, which names it, and the cell at this index, each with its column's name."""
        return ", ".join(f"{self.header[at]}: {self.cells[at]}" for at in (0, place))


def find_disagreements(
    cited: Sequence[tuple[str, PassageInDocument]], held: Sequence[PassageInDocument]
) -> Iterator[Disagreement]:
    """Yield each pair of disagreeing texts once.

    Args:
        cited: texts of the answer, each with the passage it rests on.
        held: the passages to compare with; those of the same document are no contradiction.
    """
    told = set()
    for text, one in cited:
        for other in held:
            if other[1].id == one[1].id or not has_same_subject(one, other):
                continue
            for said, rival in (*_compare_sentences(text, one, other), *_compare_rows(text, one, other)):
                found = Disagreement(said, one, rival, other)
                if found.pair not in told:
                    told.add(found.pair)
                    yield _put_preferred_first(found)


def _put_preferred_first(found: Disagreement) -> Disagreement:
    if not is_preferred(found.other_held[1], found.held[1]):
        return found
    return replace(found, said=found.other, held=found.other_held, other=found.said, other_held=found.held)


# -- sentences --------------------------------------------------------------------------------------------------------


def _compare_sentences(text: str, one: PassageInDocument, other: PassageInDocument) -> Iterator[tuple[str, str]]:
    own, rivals = _list_sentences(one[0].text), _list_sentences(other[0].text)
    for said in _list_sentences(text):
        # A statement in both is no rival: the number may be that of several things.
        if said not in rivals:
            yield from ((said, rival) for rival in rivals if rival not in own and _has_other_numbers(said, rival))


def _list_sentences(text: str) -> list[str]:
    plain = (" ".join(unit.plain.split()) for unit in read_units(text) if unit.kind in ("prose", "item"))
    return [_ITEM.sub("", one) for one in plain]


def _has_other_numbers(said: str, other: str) -> bool:
    # The words must be identical: an added one may be the condition under which the other number holds.
    if len(set(content_stems(_NUMBER.sub(" ", said)))) < MIN_STEMS or _list_words(said) != _list_words(other):
        return False
    # "8:00" equals "08:00"; a number that is no quantity, such as that of a form, names another thing.
    if not (find_quantities(said) - find_quantities(other) and find_quantities(other) - find_quantities(said)):
        return False
    pairs = _find_unlike_numbers(said, other)
    # "In 2023 there were 3 accidents" and "In 2024 there were 5" are both true.
    dated = len(pairs) > 1 and any(_YEAR.fullmatch(number) for pair in pairs for number in pair)
    return 1 <= len(pairs) <= MAX_NUMBERS and not dated


def _list_words(text: str) -> list[str]:
    """Return its words and units without the numbers; singular and plural, "1 week" and "two weeks", are the same."""
    return [stem(fold(word)) for word in _WORD.findall(_NUMBER.sub(f" {_PLACE} ", text.casefold()))]


def _find_unlike_numbers(said: str, other: str) -> list[tuple[str, str]]:
    mine, theirs = (list(map(read_number, _NUMBER.findall(one))) for one in (said, other))
    return [pair for pair in zip(mine, theirs, strict=True) if pair[0] != pair[1]]


# -- rows of tables ---------------------------------------------------------------------------------------------------


def _compare_rows(text: str, one: PassageInDocument, other: PassageInDocument) -> Iterator[tuple[str, str]]:
    """Yield rows of the first passage that the text quotes, with rows of the other that differ in the number of one
    cell.
    """
    quoted = {tuple(split_cells(line)) for line in text.splitlines() if line.lstrip().startswith("|")}
    mine = [row for row in _list_rows(one) if row.cells in quoted] if quoted else []
    theirs = _list_rows(other) if mine else []
    own = {row.cells for row in _list_rows(one)} if theirs else set()
    for row in mine:
        if row in theirs:
            continue
        unlike = [
            (rival, place) for rival in theirs if rival.cells not in own and (place := _find_unlike_cell(row, rival))
        ]
        # With several rows, none is certain to be the same one.
        if len(unlike) == 1:
            ((rival, place),) = unlike
            yield row.describe(place), rival.describe(place)


def _list_rows(held: PassageInDocument) -> list[_Row]:
    units = read_units(held[0].with_columns)
    heads = ((unit, find_header(unit, units)) for unit in units if unit.kind == "row")
    return [
        _Row(tuple(split_cells(head.text)), tuple(split_cells(unit.text))) for unit, head in heads if head is not None
    ]


def _find_unlike_cell(row: _Row, rival: _Row) -> int:
    """Return the index of the one cell with another number; 0 if there is none. The first cell names the row."""
    if row.header != rival.header or not len(row.header) == len(row.cells) == len(rival.cells):
        return 0
    places = [at for at, (mine, theirs) in enumerate(zip(row.cells, rival.cells, strict=True)) if mine != theirs]
    if len(places) != 1 or places[0] == 0 or not any(map(str.isalpha, row.cells[0])):
        return 0
    mine, theirs = row.cells[places[0]], rival.cells[places[0]]
    return places[0] if _list_words(mine) == _list_words(theirs) and len(_find_unlike_numbers(mine, theirs)) == 1 else 0
