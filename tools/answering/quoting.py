"""How a passage is quoted so that it makes sense alone and is still found in its source, character by character.

A unit alone may not make sense: a table row needs its header, a list item the line that introduces the list, "It is
300 ns" the sentence before. A quotation is a unit with what it needs. Link syntax and emphasis are cleaned, nothing
else is changed: `citations.locate` finds every quoted unit again.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile

from argot.tools.answering.embedded_instructions import orders
from argot.tools.text.markdown_prose import plain_prose
from argot.tools.text.quantities import quantities
from argot.tools.text.sentences import UnitKind, split_units

# "It is 300 ns", "However, ...", "The latter ...": the sentence before says what is meant.
_LEANS = re.compile(
    r"^\W*(?:it|its|this|that|these|those|they|their|them|he|she|his|her|both|such|the (?:latter|former|same)|otherwise"
    r"|however|therefore|thus|hence|then|so|also|here|there|instead|but|and|or|in this|in that|for this|the others?"
    r"|a second|another|the second|each of them|neither|either|if not|if so)\b",
    re.IGNORECASE,
)
_MARKER = re.compile(r"(?:[-*+•‣]|\(?(?:\d{1,3}|[a-zA-Z])[.)])\s+")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_NUMBERED = re.compile(r"\(?\d{1,3}[.)]\s")
_LONGEST_HEADING = 60
_MOST_HEADING_WORDS = 8
MOST_STEPS = 12  # units of a list that are quoted together
SPARE = 300  # characters
_RUNS = ("item", "row")


@dataclass(frozen=True, slots=True)
class Unit:
    """One unit of a passage. `number` is its place among the passage's units, `text` as in the source.

    `indent`: columns before it on its line. `apart`: whether an empty line stands before it.
    """

    number: int
    start: int
    end: int
    kind: UnitKind
    text: str
    indent: int = 0
    apart: bool = False

    @property
    def plain(self) -> str:
        return plain_prose(self.text).text


@lru_cache(maxsize=1_000)
def units_of(text: str) -> tuple[Unit, ...]:
    spans = split_units(text)
    ends = [0, *(end for _, end, _ in spans)]
    return tuple(
        Unit(number, start, end, kind, text[start:end], _indent(text, start), _is_apart(text[ends[number] : start]))
        for number, (start, end, kind) in enumerate(spans)
    )


def _is_apart(gap: str) -> bool:
    return re.search(r"\n[ \t]*\n", gap) is not None


def _indent(text: str, start: int) -> int:
    return len(text[text.rfind("\n", 0, start) + 1 : start].expandtabs(4))


@lru_cache(maxsize=1_000)
def ordering(text: str) -> frozenset[int]:
    """The numbers of a passage's units that give orders to the answerer, or follow from them."""
    spans = list(orders(text))
    return frozenset(unit.number for unit in units_of(text) if any(a < unit.end and unit.start < b for a, b in spans))


def is_header(unit: Unit, units: Sequence[Unit]) -> bool:
    """Whether it is the first row of a table; a row that stands alone in its passage is content."""
    following = unit.number + 1
    more = following < len(units) and units[following].kind == "row"
    return unit.kind == "row" and more and _first_of_run(unit, units) == unit.number


def runs_of(units: Sequence[Unit]) -> Iterator[list[Unit]]:
    """The rows of each table, without its header, and the items of each list."""
    run: list[Unit] = []
    for unit in units:
        if run and unit.kind != run[-1].kind:
            yield run
            run = []
        if unit.kind in ("row", "item") and not is_header(unit, units):
            run.append(unit)
    if run:
        yield run


def header_of(unit: Unit, units: Sequence[Unit]) -> Unit | None:
    """The header of the table that a row stands in; None for a header, and for a row that stands alone."""
    first = units[_first_of_run(unit, units)]
    return first if unit.kind == "row" and first is not unit else None


def cells_of(row: str) -> list[str]:
    """The cells of a row, as plain text."""
    # Cut before escapes are undone: a stroke behind a backslash is text of a cell.
    cells = re.split(r"(?<!\\)\|", row.strip().removeprefix("|").removesuffix("|"))
    return [plain_prose(cell.strip()).text for cell in cells]


def heads_of(unit: Unit, units: Sequence[Unit]) -> list[int]:
    """What introduces the unit: a table's header, or the line above a list."""
    if unit.kind not in ("row", "item"):
        return []
    return [number for number in needed_with(unit, units) if number < unit.number]


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


def _last_of_run(unit: Unit, units: Sequence[Unit]) -> int:
    last = unit.number
    while last + 1 < len(units) and units[last + 1].kind == unit.kind:
        last += 1
    return last


def _with_list(unit: Unit, units: Sequence[Unit], whole_list: bool) -> list[int]:
    first = _first_of_run(unit, units)
    # Only a line that ends in a colon introduces the list; other prose above it is a paragraph of its own.
    lead = [first - 1] if first > 0 and units[first - 1].kind == "prose" and _introduces(units[first - 1]) else []
    if not whole_list:
        return [*lead, *_items_above(unit, units), unit.number, *_items_below(unit, units)]
    last = _last_of_run(unit, units)
    # Of a list that is too long the part that holds the item.
    first = max(first, min(unit.number - MOST_STEPS // 2, last - MOST_STEPS + 1))
    return [*lead, *range(first, min(last, first + MOST_STEPS - 1) + 1)]


def _items_above(unit: Unit, units: Sequence[Unit]) -> list[int]:
    """The items that a sub-item stands under, outermost first."""
    found: list[int] = []
    indent, first = unit.indent, _first_of_run(unit, units)
    if not _is_marked(unit):
        return found
    for one in reversed(units[first : unit.number]):
        if _is_marked(one) and one.indent < indent:
            found.insert(0, one.number)
            indent = one.indent
    return found


def _items_below(unit: Unit, units: Sequence[Unit]) -> list[int]:
    """The sub-items that an item leads to with a colon."""
    if not _introduces(unit):
        return []
    below = units[unit.number + 1 : _last_of_run(unit, units) + 1]
    return [one.number for one in takewhile(lambda one: one.indent > unit.indent, below)]


def _is_marked(unit: Unit) -> bool:
    """Whether an item begins here; the later sentences of a long one have no mark."""
    return _MARKER.match(unit.text) is not None


def is_step(unit: Unit) -> bool:
    """Whether it is an item with a number, which says that order matters."""
    return unit.kind == "item" and _NUMBERED.match(unit.text) is not None


def _with_table(unit: Unit, units: Sequence[Unit], whole: bool) -> list[int]:
    header, last = _first_of_run(unit, units), _last_of_run(unit, units)
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


def block_around(unit: Unit, text: str, most_chars: int) -> list[int]:
    """The numbers of the unit with what stands around it in its passage, up to `most_chars`: of a short section all.

    Lists and tables come whole or not at all, except that a long one around the unit comes as far as `needed_with`
    takes it. What follows goes before what precedes.
    """
    units, forbidden = units_of(text), ordering(text)
    needed = needed_with(unit, units, whole_list=True)
    # What gives orders to the answerer is quoted to those only who ask for it.
    taken = {number for number in needed if number == unit.number or number not in forbidden}
    left = most_chars - _size(taken, units)
    while left > 0:
        before = len(taken)
        for number in (max(taken) + 1, min(taken) - 1):
            more = set(_whole_at(number, units)) - taken
            if more and not more & forbidden and _size(more, units) <= left + _spare(more, units):
                left -= _size(more, units)
                taken |= more
        if len(taken) == before:
            break
    whole = _without_loose_ends(sorted(taken), units)
    return [number for number in whole if number == unit.number or number not in forbidden]


def _whole_at(number: int, units: Sequence[Unit]) -> Iterable[int]:
    """The unit of this number with what it is no part without: a sentence alone, a list or table whole with the line
    that introduces it. Empty where there is none, a heading, or a long list.
    """
    if not 0 <= number < len(units) or is_heading(units[number], units):
        return ()
    unit = units[number]
    if unit.kind == "prose" and _introduces(unit) and number + 1 < len(units) and units[number + 1].kind in _RUNS:
        unit = units[number + 1]
    if unit.kind not in _RUNS:
        return (number,)
    first, last = _first_of_run(unit, units), _last_of_run(unit, units)
    if last - first > MOST_STEPS:
        return ()
    return range(min(first, *_with_list(unit, units, False)) if unit.kind == "item" else first, last + 1)


def _spare(numbers: Collection[int], units: Sequence[Unit]) -> int:
    """By how many characters a list or table may go over, so that it comes whole."""
    return SPARE if any(units[number].kind in _RUNS for number in numbers) else 0


def _size(numbers: Iterable[int], units: Sequence[Unit]) -> int:
    return sum(len(units[number].text) for number in numbers)


def is_heading(unit: Unit, units: Sequence[Unit]) -> bool:
    """Whether it is marked as one, or written like one where there are no marks: "WORKING TIME", "8. WORKING TIME"."""
    if unit.kind == "heading":
        return True
    # A warning may be in capitals, and so may an item of a list; a number before a heading makes it look like one.
    alone = unit.kind == "item" and is_step(unit) and _first_of_run(unit, units) == _last_of_run(unit, units)
    if unit.kind != "prose" and not alone:
        return False
    says = not unit.text.isupper() or unit.text.endswith((".", "!", "?", ":"))
    return not says and len(unit.text) <= _LONGEST_HEADING and len(unit.text.split()) <= _MOST_HEADING_WORDS


def is_title(unit: Unit, units: Sequence[Unit]) -> bool:
    """Whether it begins a passage as a title does where there are no marks: a few words alone that state nothing."""
    following = units[unit.number + 1] if unit.number + 1 < len(units) else None
    if unit.number or unit.kind != "prose" or not (following is None or following.apart or following.kind != "prose"):
        return False
    states = unit.text.endswith((".", "!", "?", ":", ";", ",")) or ":" in unit.text or bool(quantities(unit.plain))
    return not states and len(unit.text) <= _LONGEST_HEADING and len(unit.text.split()) <= _MOST_HEADING_WORDS


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
    for place, number in enumerate(chosen):
        unit = units[number]
        if place:
            parts.append(_between(units[chosen[place - 1]], unit))
        parts.append("    " * len(set(chosen).intersection(_items_above(unit, units))) + _as_markdown(unit))
        # Without the line below its header Markdown shows no table.
        if unit.kind == "row" and number == _first_of_run(unit, units):
            parts.append("\n" + _divider(unit.text))
    return "".join(parts)


def _between(before: Unit, unit: Unit) -> str:
    # A text without a blank in a thousand characters is cut in the middle of a word.
    if unit.start == before.end:
        return ""
    close = unit.kind == before.kind and unit.number == before.number + 1 and not unit.apart
    if close and (unit.kind == "prose" or (unit.kind == "item" and not _is_marked(unit))):
        return " "
    return "\n" if unit.kind == before.kind and unit.kind in _RUNS else "\n\n"


def _as_markdown(unit: Unit) -> str:
    match unit.kind:
        case "code":
            return _whole_block(unit.text)
        case "row":
            return unit.text.strip()
        case "item":
            # The marker stays as it is: the number of a step may be referred to.
            marker = _MARKER.match(unit.text)
            return f"{marker.group()}{plain_prose(unit.text[marker.end() :]).text}" if marker else unit.plain
        case _:
            return unit.plain


def _whole_block(code: str) -> str:
    """With the fence that a passage lacks which begins or ends within a long block of code."""
    lines = code.split("\n")
    first, last = _FENCE.match(lines[0]), _FENCE.match(lines[-1])
    if last and not first:
        return f"{last[1]}\n{code}"
    return f"{code}\n{first[1]}" if first and (not last or len(lines) == 1) else code


def _divider(header: str) -> str:
    return "|" + " --- |" * len(cells_of(header))
