"""How a passage is quoted so that it makes sense alone and is still found in its source, character by character.

A unit alone may not make sense: a table row needs its header, a list item the line that introduces the list, "It is
300 ns" the sentence before. A quotation is a unit with what it needs. Link syntax and emphasis are cleaned, nothing
else is changed: `citations.locate` finds every quoted unit again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from argot.tools.answering.embedded_instructions import gives_order
from argot.tools.text.markdown_prose import plain_prose
from argot.tools.text.sentences import UnitKind, split_units

# "It is 300 ns", "However, ...", "The latter ...": the sentence before says what is meant.
_LEANS = re.compile(
    r"^\W*(?:it|its|this|that|these|those|they|their|them|he|she|his|her|both|such|the (?:latter|former|same)|otherwise"
    r"|however|therefore|thus|hence|then|so|also|here|there|instead|but|and|or|in this|in that|for this|the others?"
    r"|a second|another|the second|each of them|neither|either|if not|if so)\b",
    re.IGNORECASE,
)
_MARKER = re.compile(r"(?:[-*+•‣]|\(?(?:\d{1,3}|[a-zA-Z])[.)])\s+")
_LONGEST_HEADING = 60
MOST_STEPS = 12  # units of a list that are quoted together


@dataclass(frozen=True, slots=True)
class Unit:
    """One unit of a passage. `number` is its place among the passage's units, `text` as in the source, `indent` the
    blanks before it on its line.
    """

    number: int
    start: int
    end: int
    kind: UnitKind
    text: str
    indent: int = 0

    @property
    def plain(self) -> str:
        return plain_prose(self.text).text


@lru_cache(maxsize=1_000)
def units_of(text: str) -> tuple[Unit, ...]:
    return tuple(
        Unit(number, start, end, kind, text[start:end], _indent(text, start))
        for number, (start, end, kind) in enumerate(split_units(text))
    )


def _indent(text: str, start: int) -> int:
    before = text[text.rfind("\n", 0, start) + 1 : start].expandtabs(4)
    return len(before) if before.isspace() else 0


def is_header(unit: Unit, units: Sequence[Unit]) -> bool:
    """Whether it is the first row of a table; a row that stands alone in its passage is content."""
    following = unit.number + 1
    more = following < len(units) and units[following].kind == "row"
    return unit.kind == "row" and more and _first_of_run(unit, units) == unit.number


def heads_of(unit: Unit, units: Sequence[Unit]) -> list[int]:
    """What introduces the unit: a table's header, or the line above a list."""
    if unit.kind not in ("row", "item"):
        return []
    return [number for number in needed_with(unit, units) if number != unit.number]


def headings_above(unit: Unit, units: Sequence[Unit]) -> list[int]:
    """The heading that the unit stands under, if it is in the passage: of several that follow each other, all."""
    last = unit.number - 1
    while last >= 0 and units[last].kind != "heading":
        last -= 1
    first = last
    while first > 0 and units[first - 1].kind == "heading":
        first -= 1
    return list(range(first, last + 1)) if last >= 0 else []


def needed_with(unit: Unit, units: Sequence[Unit], *, whole_list: bool = False) -> list[int]:
    """The numbers of the units that have to be quoted for this one to make sense, itself among them, in order.

    Args:
        whole_list: the question asks for all there are, or how to do something: one item or step alone is no answer.
    """
    match unit.kind:
        case "row":
            return _with_table(unit, units, whole_list)
        case "item":
            return _with_list(unit, units, whole_list)
        case "prose":
            return _with_neighbours(unit, units)
        case _:
            return [unit.number]


def _first_of_run(unit: Unit, units: Sequence[Unit]) -> int:
    first = unit.number
    while first > 0 and units[first - 1].kind == unit.kind:
        first -= 1
    return first


def _with_list(unit: Unit, units: Sequence[Unit], whole_list: bool) -> list[int]:
    first = _first_of_run(unit, units)
    # Only a line that ends in a colon introduces the list; other prose above it is a paragraph of its own.
    lead = [first - 1] if first > 0 and units[first - 1].kind == "prose" and _introduces(units[first - 1]) else []
    if not whole_list:
        return [*lead, unit.number]
    last = first
    while last + 1 < len(units) and units[last + 1].kind == "item":
        last += 1
    return [*lead, *range(first, min(last, first + MOST_STEPS - 1) + 1)]


def _with_table(unit: Unit, units: Sequence[Unit], whole: bool) -> list[int]:
    header, last = _first_of_run(unit, units), unit.number
    while whole and last + 1 < len(units) and units[last + 1].kind == "row":
        last += 1
    # A long table is no answer: of one, the row that fits stands for itself.
    if whole and last - header <= MOST_STEPS:
        return list(range(header, last + 1))
    return sorted({header, unit.number})


def _introduces(unit: Unit) -> bool:
    return unit.plain.endswith(":")


def _with_neighbours(unit: Unit, units: Sequence[Unit]) -> list[int]:
    numbers = [unit.number]
    before = unit.number - 1
    if _LEANS.match(unit.plain) and before >= 0 and units[before].kind == "prose":
        numbers.insert(0, before)
    if _introduces(unit):
        following = unit.number + 1
        while following < len(units) and units[following].kind in ("item", "row", "code") and len(numbers) < MOST_STEPS:
            numbers.append(following)
            following += 1
    return numbers


def block_around(unit: Unit, units: Sequence[Unit], most_chars: int) -> list[int]:
    """The numbers of the unit with what stands around it, up to `most_chars`: of a short section all of it.

    A list comes whole, a table as far as `needed_with` takes it. What follows goes before what precedes.
    """
    needed = needed_with(unit, units, whole_list=True)
    taken = {number for number in needed if number == unit.number or not gives_order(units[number].text)}
    left = most_chars - sum(len(units[number].text) for number in taken)
    first, last = min(taken), max(taken)
    while left > 0:
        fitting = [number for number in (last + 1, first - 1) if _fits(number, units, left)]
        if not fitting:
            break
        for number in fitting:
            left -= len(units[number].text)
            if left >= 0:
                taken.add(number)
        first, last = min(taken), max(taken)
    return _without_loose_ends(sorted(taken), units)


def _fits(number: int, units: Sequence[Unit], chars: int) -> bool:
    if not 0 <= number < len(units):
        return False
    unit = units[number]
    # What gives orders to the answerer is quoted to those only who ask for it.
    return not _is_heading(unit) and len(unit.text) <= chars and not gives_order(unit.text)


def _is_heading(unit: Unit) -> bool:
    """Whether it is marked as one, or written like one where there are no marks: "8. WORKING TIME"."""
    return unit.kind == "heading" or (unit.text.isupper() and len(unit.text) <= _LONGEST_HEADING)


def _without_loose_ends(numbers: list[int], units: Sequence[Unit]) -> list[int]:
    """Without a line at the end that leads to what is not quoted; and with what its first sentence leans on."""
    while len(numbers) > 1 and units[numbers[-1]].kind == "prose" and _introduces(units[numbers[-1]]):
        numbers = numbers[:-1]
    first = units[numbers[0]]
    return sorted({*numbers, *_with_neighbours(first, units)}) if first.kind == "prose" else numbers


def quotation_markdown(numbers: Sequence[int], units: Sequence[Unit]) -> str:
    """The units as Markdown, in document order: sentences that follow each other in one paragraph, others apart."""
    chosen = sorted(set(numbers))
    parts: list[str] = []
    margin = 0
    for place, number in enumerate(chosen):
        unit = units[number]
        if place:
            parts.append(_between(units[chosen[place - 1]], unit))
        if unit.kind == "item":
            # As deep below the first of its list as in the source; that one at the margin, wherever it stood.
            margin = margin if place and units[chosen[place - 1]].kind == "item" else unit.indent
            parts.append(" " * (unit.indent - margin))
        parts.append(_as_markdown(unit))
        # Without the line below its header Markdown shows no table.
        if unit.kind == "row" and number == _first_of_run(unit, units):
            parts.append("\n" + _divider(unit.text))
    return "".join(parts)


def _between(before: Unit, unit: Unit) -> str:
    if unit.kind == before.kind and unit.kind in ("item", "row"):
        return "\n"
    if unit.kind == before.kind == "prose" and unit.number == before.number + 1 and unit.start - before.end <= 2:
        return " "
    return "\n\n"


def _as_markdown(unit: Unit) -> str:
    match unit.kind:
        case "code":
            return unit.text
        case "row":
            return unit.text.strip()
        case "item":
            # The marker stays as it is: the number of a step may be referred to.
            marker = _MARKER.match(unit.text)
            return f"{marker.group()}{plain_prose(unit.text[marker.end() :]).text}" if marker else unit.plain
        case _:
            return unit.plain


def _divider(header: str) -> str:
    # A stroke behind a backslash is text of a cell.
    columns = len(re.findall(r"(?<!\\)\|", header.strip().strip("|"))) + 1
    return "|" + " --- |" * columns
