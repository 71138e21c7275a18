"""Quoting of a passage so that it makes sense alone and can still be found in its source, character by character.

A unit alone may not make sense: a table row needs its header, a list item the line that introduces the list, "It is
300 ns" the sentence before. A quotation is a unit with the units that it needs. Emphasis and links within the page are
removed, nothing else is changed: `citations.locate` finds every quoted unit again.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from textwrap import dedent

from argot.corpus.chunking.blocks import is_unfinished
from argot.languages.detection import identify_listed_language
from argot.languages.question_words import begins_with_verdict
from argot.languages.quoted_words import leans_back, points_below
from argot.markdown_rows import cut_cells
from argot.tools.answering.embedded_instructions import find_orders
from argot.tools.text.markdown_prose import extract_prose
from argot.tools.text.quantities import find_quantities
from argot.tools.text.sentences import UnitKind, split_units

_MARKER = re.compile(r"(?:[-*+•‣]|\(?(?:\d{1,3}|[a-zA-Z])[.)])\s+")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_NUMBERED = re.compile(r"\(?\d{1,3}[.)]\s")
_MAX_HEADING_CHARS = 60
_MAX_HEADING_WORDS = 8
MAX_STEPS = 12  # units of a list that are quoted together
SPARE_CHARS = 300  # characters
_RUNS = ("item", "row")
_CAPTION = re.compile(r"\([a-z][^()]{1,200}\)")
"""What a line says of the heading above it: "(days, counted from the last dose)"."""
# "[Next to Booking travel >](/book)", "[← Back](/)": a link and no other text, with an arrow at one of its ends.
_PAGE_TURN = re.compile(
    r"\[(?:[<←«‹⟵][^\]\n]{1,200}"
    r"|(?:next|continue|weiter|nächste|suivant|suite|siguiente|continuar)\b[^\]\n]{0,200}?[>→»›⟶]\s?)"
    r"\]\([^\s)]{1,2000}\)(?:<br ?/?>)?",
    re.IGNORECASE,
)
_MAX_SENTENCES_BETWEEN = 2  # from one that points to a list to the list
_BELOW = ("item", "row", "code")  # what a sentence may introduce


@dataclass(frozen=True, slots=True)
class Unit:
    """One unit of a passage. `number` is its index among the passage's units, `text` as in the source.

    `indent`: columns before it on its line. `apart`: whether an empty line precedes it.
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
        return extract_prose(self.text).text


@lru_cache(maxsize=1_000)
def read_units(text: str) -> tuple[Unit, ...]:
    spans = split_units(text)
    ends = [0, *(end for _, end, _ in spans)]
    return tuple(
        Unit(
            number,
            start,
            end,
            kind,
            text[start:end],
            _measure_indent(text, start),
            _is_apart(text[ends[number] : start]),
        )
        for number, (start, end, kind) in enumerate(spans)
    )


def _is_apart(gap: str) -> bool:
    return re.search(r"\n[ \t]*\n", gap) is not None


def _measure_indent(text: str, start: int) -> int:
    return len(text[text.rfind("\n", 0, start) + 1 : start].expandtabs(4))


@lru_cache(maxsize=1_000)
def find_ordering_units(text: str) -> frozenset[int]:
    """Return the numbers of a passage's units that give orders to the answerer, or follow from them.

    The item of a list that tells a reader what to say is a step, which its list must not lose.
    """
    to_answerer, to_anybody = ([*find_orders(text, passed_on)] for passed_on in (text, ""))
    return frozenset(
        unit.number
        for unit in read_units(text)
        if any(a < unit.end and unit.start < b for a, b in (to_answerer if unit.kind == "item" else to_anybody))
    )


def is_header(unit: Unit, units: Sequence[Unit]) -> bool:
    """Return whether a unit is the first row of a table; a single row in its passage is content."""
    following = unit.number + 1
    more = following < len(units) and units[following].kind == "row"
    return unit.kind == "row" and more and _begins_run(unit, units)


def find_runs(units: Sequence[Unit]) -> Iterator[list[Unit]]:
    """Yield the rows of each table, without its header, and the items of each list."""
    run: list[Unit] = []
    for unit in units:
        if run and unit.kind != run[-1].kind:
            yield run
            run = []
        if unit.kind in ("row", "item") and not is_header(unit, units):
            run.append(unit)
    if run:
        yield run


def find_run(unit: Unit, units: Sequence[Unit]) -> list[Unit]:
    """Return the run of `find_runs` that has this row or item; empty for any other unit."""
    return next((run for run in find_runs(units) if unit in run), [])


def find_header(unit: Unit, units: Sequence[Unit]) -> Unit | None:
    """Return the header of a row's table; None for a header, and for a single row."""
    first = units[_find_first_of_run(unit, units)]
    return first if unit.kind == "row" and first is not unit else None


def split_cells(row: str) -> list[str]:
    """Return the cells of a row, as plain text."""
    # Cut before escapes are undone.
    return [extract_prose(cell).text for cell in cut_cells(row)]


def is_head(unit: Unit, units: Sequence[Unit]) -> bool:
    """Return whether a unit is a heading, a title or the header of a table: it is quoted with the text below it, never
    as an answer by itself.
    """
    return is_heading(unit, units) or is_header(unit, units) or is_title(unit, units)


def may_answer(unit: Unit, units: Sequence[Unit]) -> bool:
    """Return whether a unit may be an answer by itself: it is no head, no caption, and no link that only turns the
    page.
    """
    text = unit.text.strip()
    return not is_head(unit, units) and not _PAGE_TURN.fullmatch(text) and not _CAPTION.fullmatch(text)


def find_heads(unit: Unit, units: Sequence[Unit]) -> list[int]:
    """Return the units that introduce this one: a table's header, or the line above a list."""
    if unit.kind not in ("row", "item"):
        return []
    return [number for number in find_needed(unit, units) if number < unit.number]


def find_headings_above(unit: Unit, units: Sequence[Unit]) -> list[int]:
    """Return the heading above the unit, if it is in the passage; of several consecutive headings, all."""
    last = unit.number - 1
    while last >= 0 and units[last].kind != "heading":
        last -= 1
    first = last
    while first > 0 and units[first - 1].kind == "heading":
        first -= 1
    return list(range(first, last + 1)) if last >= 0 else []


def find_needed(unit: Unit, units: Sequence[Unit], *, whole_list: bool = False) -> list[int]:
    """Return the numbers of the units that have to be quoted for this one to make sense, including itself, in order.

    Args:
        whole_list: the question asks for all entries, or for a procedure: one item or step alone is no answer.
    """
    match unit.kind:
        case "row":
            return _add_table(unit, units, whole_list)
        case "item":
            return _add_list(unit, units, whole_list)
        case "prose":
            return _add_neighbours(unit, units)
        case _:
            return [unit.number]


def _begins_run(unit: Unit, units: Sequence[Unit]) -> bool:
    return unit.number == 0 or units[unit.number - 1].kind != unit.kind


def _ends_run(unit: Unit, units: Sequence[Unit]) -> bool:
    return unit.number + 1 == len(units) or units[unit.number + 1].kind != unit.kind


def _find_first_of_run(unit: Unit, units: Sequence[Unit]) -> int:
    first = unit.number
    while first > 0 and units[first - 1].kind == unit.kind:
        first -= 1
    return first


def _find_last_of_run(unit: Unit, units: Sequence[Unit]) -> int:
    last = unit.number
    while last + 1 < len(units) and units[last + 1].kind == unit.kind:
        last += 1
    return last


def _add_list(unit: Unit, units: Sequence[Unit], whole_list: bool) -> list[int]:
    first = _find_first_of_run(unit, units)
    # A whole sentence above the list is a separate paragraph.
    lead = [first - 1] if first > 0 and units[first - 1].kind == "prose" and _introduces_list(first - 1, units) else []
    if not whole_list:
        return [*lead, *_find_items_above(unit, units), unit.number, *_find_items_below(unit, units)]
    last = _find_last_of_run(unit, units)
    # From a list that is too long, the part with the item.
    first = max(first, min(unit.number - MAX_STEPS // 2, last - MAX_STEPS + 1))
    return [*lead, *range(first, min(last, first + MAX_STEPS - 1) + 1)]


def _find_items_above(unit: Unit, units: Sequence[Unit]) -> list[int]:
    """Return the items above a sub-item, outermost first."""
    found: list[int] = []
    indent, first = unit.indent, _find_first_of_run(unit, units)
    if not _is_marked(unit):
        return found
    for one in reversed(units[first : unit.number]):
        if _is_marked(one) and one.indent < indent:
            found.insert(0, one.number)
            indent = one.indent
    return found


def _find_items_below(unit: Unit, units: Sequence[Unit]) -> list[int]:
    """Return the sub-items that an item introduces with a colon."""
    if not _is_introduction(unit):
        return []
    below = units[unit.number + 1 : _find_last_of_run(unit, units) + 1]
    return [one.number for one in takewhile(lambda one: one.indent > unit.indent, below)]


def _is_marked(unit: Unit) -> bool:
    """Return whether an item begins here; the later sentences of a long one have no marker."""
    return _MARKER.match(unit.text) is not None


def is_step(unit: Unit) -> bool:
    """Return whether a unit is a numbered item, so that order matters."""
    return unit.kind == "item" and _NUMBERED.match(unit.text) is not None


def _add_table(unit: Unit, units: Sequence[Unit], whole: bool) -> list[int]:
    header, last = _find_first_of_run(unit, units), _find_last_of_run(unit, units)
    # A long table is no answer: only the matching row is quoted.
    if whole and last - header <= MAX_STEPS:
        return list(range(header, last + 1))
    return sorted({header, unit.number})


def _is_introduction(unit: Unit) -> bool:
    return unit.plain.endswith(":")


def _introduces_list(number: int, units: Sequence[Unit]) -> bool:
    """Return whether a sentence introduces, or points to, what comes next."""
    return _find_list_below(units[number], units) == number + 1


def _find_list_below(unit: Unit, units: Sequence[Unit]) -> int | None:
    """Return the number of the first unit below a sentence that ends with a colon, is left for the items below it to
    finish ("You may not enter if you"), or points to a list or code below the rest of its paragraph ("Take these
    steps.").
    """
    following = unit.number + 1
    if _is_introduction(unit):
        return following
    rest = list(takewhile(lambda one: one.kind == "prose" and not one.apart, units[following:]))
    below = following + len(rest)
    if len(rest) > _MAX_SENTENCES_BETWEEN or below == len(units) or units[below].kind not in _BELOW:
        return None
    unfinished = not rest and units[below].kind == "item" and is_unfinished(unit.plain)
    return below if unfinished or points_below(unit.plain, _identify_language(units)) else None


def _identify_language(units: Sequence[Unit]) -> str:
    """Identify the language of a passage, which more than one sentence shows."""
    return identify_listed_language(" ".join(unit.text for unit in units))


def _add_neighbours(unit: Unit, units: Sequence[Unit]) -> list[int]:
    numbers = [unit.number]
    before = unit.number - 1
    if before >= 0 and units[before].kind == "prose":
        # "No, never" is about the question before it.
        is_verdict = _is_answered_behind(before, units) and begins_with_verdict(unit.plain)
        if is_verdict or leans_back(unit.plain, _identify_language(units)):
            numbers.insert(0, before)
    if _is_answered_behind(unit.number, units):
        numbers.append(unit.number + 1)
    following = _find_list_below(unit, units)
    if following is not None:
        numbers.extend(range(unit.number + 1, following))
        while following < len(units) and units[following].kind in _BELOW and len(numbers) < MAX_STEPS:
            numbers.append(following)
            following += 1
    return numbers


def _is_answered_behind(number: int, units: Sequence[Unit]) -> bool:
    """Return whether a unit is a question that the next sentence answers: "*Parking?* North yard, free from 18."."""
    if not units[number].plain.endswith("?") or number + 1 == len(units):
        return False
    return units[number + 1].kind == "prose" and not units[number + 1].apart


def find_block_around(unit: Unit, text: str, most_chars: int) -> list[int]:
    """Return the numbers of the unit and its neighbours in the passage, up to `most_chars`; a short section is returned
    whole.

    Lists and tables are included whole or not at all, except that a long one around the unit is included as
    `find_needed` selects it. Following units take precedence over preceding ones.
    """
    units, forbidden = read_units(text), find_ordering_units(text)
    needed = find_needed(unit, units, whole_list=True)
    # Orders to the answerer are quoted only if the question asks for them.
    taken = {number for number in needed if number == unit.number or number not in forbidden}
    left = most_chars - _measure_size(taken, units)
    while left > 0:
        before = len(taken)
        for number in (max(taken) + 1, min(taken) - 1):
            more = set(_find_whole_at(number, units)) - taken
            if more and not more & forbidden and _measure_size(more, units) <= left + _get_spare_chars(more, units):
                left -= _measure_size(more, units)
                taken |= more
        if len(taken) == before:
            break
    whole = _trim_loose_ends(sorted(taken), units)
    return [number for number in whole if number == unit.number or number not in forbidden]


def _find_whole_at(number: int, units: Sequence[Unit]) -> Iterable[int]:
    """Return the unit of this number with the units it needs: a sentence alone, a list or table whole with the line
    that introduces it. Empty if there is none, or for a heading or a long list.
    """
    if not 0 <= number < len(units) or is_heading(units[number], units):
        return ()
    unit = units[number]
    introduces = unit.kind == "prose" and _introduces_list(number, units)
    if introduces and number + 1 < len(units) and units[number + 1].kind in _RUNS:
        unit = units[number + 1]
    if unit.kind not in _RUNS:
        return (number,)
    first, last = _find_first_of_run(unit, units), _find_last_of_run(unit, units)
    if last - first > MAX_STEPS:
        return ()
    return range(min(first, *_add_list(unit, units, False)) if unit.kind == "item" else first, last + 1)


def _get_spare_chars(numbers: Collection[int], units: Sequence[Unit]) -> int:
    """Return by how many characters a whole list or table may exceed the limit."""
    return SPARE_CHARS if any(units[number].kind in _RUNS for number in numbers) else 0


def _measure_size(numbers: Iterable[int], units: Sequence[Unit]) -> int:
    return sum(len(units[number].text) for number in numbers)


def is_heading(unit: Unit, units: Sequence[Unit]) -> bool:
    """Return whether a unit is marked as a heading, or looks like one without marks: "WORKING TIME", "8. WORKING
    TIME".
    """
    if unit.kind == "heading":
        return True
    # Warnings and list items may be in capitals too; a number before a heading makes it look like an item.
    alone = unit.kind == "item" and is_step(unit) and _begins_run(unit, units) and _ends_run(unit, units)
    if unit.kind != "prose" and not alone:
        return False
    says = not unit.text.isupper() or unit.text.endswith((".", "!", "?", ":"))
    return not says and len(unit.text) <= _MAX_HEADING_CHARS and len(unit.text.split()) <= _MAX_HEADING_WORDS


def is_title(unit: Unit, units: Sequence[Unit]) -> bool:
    """Return whether a unit begins a passage like a title without marks: a few words alone that state nothing."""
    following = units[unit.number + 1] if unit.number + 1 < len(units) else None
    if unit.number or unit.kind != "prose" or not (following is None or following.apart or following.kind != "prose"):
        return False
    states = unit.text.endswith((".", "!", "?", ":", ";", ",")) or ":" in unit.text or bool(find_quantities(unit.plain))
    return not states and len(unit.text) <= _MAX_HEADING_CHARS and len(unit.text.split()) <= _MAX_HEADING_WORDS


def _trim_loose_ends(numbers: list[int], units: Sequence[Unit]) -> list[int]:
    """Drop a last line that introduces text that is not quoted, and add the text that the first sentence refers to."""
    while len(numbers) > 1 and units[numbers[-1]].kind == "prose" and _is_introduction(units[numbers[-1]]):
        numbers = numbers[:-1]
    first = units[numbers[0]]
    return sorted({*numbers, *_add_neighbours(first, units)}) if first.kind == "prose" else numbers


def render_quotation(numbers: Collection[int], units: Sequence[Unit]) -> str:
    """Return the units as Markdown, in document order: consecutive sentences in one paragraph, others separate."""
    return "".join(gap + text + below for gap, text, below in _render_parts(sorted(set(numbers)), units))


def render_first(first: Collection[int], chosen: Collection[int], units: Sequence[Unit]) -> str:
    """Return the chosen units as Markdown in document order, except that those of `first` come first if others precede
    them. A question that they answer is left out.
    """
    rest = [one for one in chosen if one not in first and not (one + 1 in first and _is_answered_behind(one, units))]
    if not first or not rest or min(rest) > min(first):
        return render_quotation({*first, *rest}, units)
    return f"{render_quotation(first, units)}\n\n{render_quotation(rest, units)}"


def render_with_places(
    numbers: Sequence[int], marked: Collection[int], units: Sequence[Unit]
) -> tuple[str, list[tuple[int, int]]]:
    """Return the units as Markdown, with [start, end) of the marked ones in it."""
    chosen, spans, text = sorted(set(numbers)), list[tuple[int, int]](), ""
    for number, (gap, said, below) in zip(chosen, _render_parts(chosen, units), strict=True):
        start = len(text) + len(gap)
        if number in marked:
            spans.append((start, start + len(said)))
        text += gap + said + below
    return text, spans


def _render_parts(chosen: Sequence[int], units: Sequence[Unit]) -> Iterator[tuple[str, str, str]]:
    """Yield for each unit the white space before it, its text, and the line that belongs below it."""
    for place, number in enumerate(chosen):
        unit = units[number]
        gap = _choose_separator(units[chosen[place - 1]], unit) if place else ""
        gap += "    " * len(set(chosen).intersection(_find_items_above(unit, units)))
        # Without the line below its header Markdown shows no table.
        begins_table = unit.kind == "row" and _begins_run(unit, units)
        yield gap, _render_unit(unit), "\n" + _draw_divider(unit.text) if begins_table else ""


def _choose_separator(before: Unit, unit: Unit) -> str:
    # A text without a blank in a thousand characters is cut in the middle of a word.
    if unit.start == before.end:
        return ""
    close = unit.kind == before.kind and unit.number == before.number + 1 and not unit.apart
    if close and (unit.kind == "prose" or (unit.kind == "item" and not _is_marked(unit))):
        return " "
    return "\n" if unit.kind == before.kind and unit.kind in _RUNS else "\n\n"


def _render_unit(unit: Unit) -> str:
    match unit.kind:
        case "code":
            return _close_fence(unit)
        case "row":
            return unit.text.strip()
        case "item":
            # The marker stays unchanged: the number of a step may be referred to.
            marker = _MARKER.match(unit.text)
            if marker:
                return f"{marker.group()}{extract_prose(unit.text[marker.end() :], as_markdown=True).text}"
    return extract_prose(unit.text, as_markdown=True).text


def _close_fence(unit: Unit) -> str:
    """Return the code with the fence that is missing: if its passage begins or ends within a long block, or if it is
    only indented, whose columns would slip in a proportional font.
    """
    code = unit.text
    lines = code.split("\n")
    first, last = _FENCE.match(lines[0]), _FENCE.match(lines[-1])
    if last and not first:
        return f"{last[1]}\n{code}"
    if not first and len(lines) > 1:
        return f"```\n{dedent(' ' * unit.indent + code.expandtabs(4))}\n```"
    return f"{code}\n{first[1]}" if first and (not last or len(lines) == 1) else code


def _draw_divider(header: str) -> str:
    return "|" + " --- |" * len(split_cells(header))
