"""Ranges of numbers as a table's rows and questions name them: "up to 10,000", "below 45 %", "5 to 10 years".

Whether a row contains a number is decided strictly or not at all: one number, the same unit, no "after" or "about". A
number may have a scale ("180k euro", "2 million"). English.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from argot.corpus.keyword.stop_words import STOP_WORDS
from argot.days import remove_days
from argot.tools.text.quantities import find_quantities, find_units, normalize_number
from argot.tools.text.words import NUMBER_WORDS, content_stems, fold_words, stem

_AMOUNT = (
    r"(?P<{0}currency>[A-Z]{{3}} ?|[€$£¥])?"
    r"(?P<{0}number>\d{{1,3}}(?:[ \u00a0\u202f]\d{{3}})+(?!\d)|\d+(?:[.,]\d+)*)"
    # A capital "K" may be kelvin, and "m" metres, unless there is a currency.
    r"(?P<{0}scale>(?({0}currency)[kKmM]|(?:k|[mM](?=[ \u00a0]?(?:[€$£¥]|[A-Z]{{3}}\b|euros?\b|dollars?\b))))(?!\w)"
    r"|[ \u00a0]?(?:thousand|million|billion|mn|bn)\b)?"
    r"(?:[ \u00a0]?(?P<{0}unit>[%€$£¥]|°[CF]|(?!(?:and|to|up|or)\b)[A-Za-zµ]+))?"
)
_RANGE = re.compile(
    r"(?:\b(?P<below>(?i:below|under|less than|fewer than))|\b(?P<upto>(?i:up to|at most|no more than))"
    r"|\b(?P<above>(?i:above|over|more than|greater than))|\b(?P<least>(?i:at least|no less than|from|between))"
    r"|(?P<sign>[≤≥]|[<>]=?))?\s*(?<![\w.,-])"
    + _AMOUNT.format("")
    + r"(?:\s*(?:(?i:\b(?:up to|to|and)\b)|[-–—])\s*"
    + _AMOUNT.format("last_")
    + r")?(?P<open>\s*(?:\+|\b(?i:(?:or|and) (?:more|above|over|higher|longer|older))\b))?"
)
_UNSURE = frozenset(
    ("after", "before", "until", "since", "about", "around", "almost", "nearly", "roughly", "within", "by", "past")
)
"""Words before a number that say neither that it is this number, nor on which side of it."""
_SCALES: dict[str, int] = {
    spelling: 10**power
    for power, spellings in {3: ("k", "thousand"), 6: ("m", "mn", "million"), 9: ("bn", "billion")}.items()
    for spelling in spellings
}
_UNIT_GROUPS = ("currency", "unit", "last_currency", "last_unit")
_UPPER = ("<", "<=", "≤")
_AMBIGUOUS = re.compile(r"\d{1,3}\.\d{3}")  # in some countries a thousand times as much


@dataclass(frozen=True, slots=True)
class ValueRange:
    """Open if an end is None; `has_low`, `has_high`: whether the range includes the end."""

    low: Decimal | None
    high: Decimal | None
    has_low: bool
    has_high: bool
    unit: str

    def meets(self, other: ValueRange) -> bool:
        return not (self._is_below(other) or other._is_below(self))

    def _is_below(self, other: ValueRange) -> bool:
        if self.high is None or other.low is None:
            return False
        return self.high < other.low or (self.high == other.low and not (self.has_high and other.has_low))

    def adjoins(self, other: ValueRange) -> bool:
        """Return whether one begins where the other ends; whole numbers may be counted on: "to 300", "from 301"."""
        return self._is_followed_by(other) or other._is_followed_by(self)

    def _is_followed_by(self, other: ValueRange) -> bool:
        if self.high is None or other.low is None or self.unit != other.unit:
            return False
        return other.low - self.high in {Decimal(0), Decimal(1)}

    @property
    def is_bound(self) -> bool:
        return self.low != self.high


def find_asked_range(question: str) -> ValueRange | None:
    """Return the number or range that a question names, if it is the only one and unambiguous; a day is none."""
    question = remove_days(question)
    found = list(_RANGE.finditer(question))
    if len(found) != 1 or any(word in NUMBER_WORDS for word in fold_words(question)):
        return None
    before = fold_words(question[: found[0].start()])
    return None if before and before[-1] in _UNSURE else _read_range(found[0])


def excludes_range(asked: ValueRange | None, text: str) -> bool:
    """Return whether a sentence or item is about the other side of the bound that is asked for: "less than $2,500" does
    not answer what holds above it. Bounds of other numbers may be of other things.
    """
    said = find_asked_range(text) if asked is not None and asked.is_bound else None
    if asked is None or said is None or (asked.unit and said.unit and asked.unit != said.unit):
        return False
    return {asked.low, asked.high} == {said.high, said.low} and not said.meets(asked)


def find_other_bands(asked: ValueRange | None, items: Sequence[str]) -> set[int]:
    """Return the places of a list's items that are about another band than the one with the number asked for: "up to
    300: the teller", "above 300: the manager". Empty unless each item has a band, in the unit asked for, and one of
    them that number.
    """
    bands = [_find_band(item) for item in items] if asked and len(items) > 1 else []
    known = [band for band in bands if band is not None]
    if asked is None or len(known) < len(items) or {band.unit for band in known} - {asked.unit or known[0].unit}:
        return set()
    others = {place for place, band in enumerate(known) if not band.meets(asked)}
    is_ladder = all(any(band.adjoins(other) for other in known) for band in known)
    return others if is_ladder and len(others) < len(known) else set()


def names_band(text: str) -> bool:
    """Return whether a text names exactly one range with an open or another end."""
    return _find_band(text) is not None


def _find_band(text: str) -> ValueRange | None:
    """Return the only range with an open or another end that a text names; it may name single numbers besides."""
    ranges = [one for found in _RANGE.finditer(text) if (one := _read_range(found)) and one.is_bound]
    return ranges[0] if len(ranges) == 1 else None


def has_number(question: str) -> bool:
    return _RANGE.search(remove_days(question)) is not None


def has_bounds(cells: Sequence[str]) -> bool:
    """Return whether a cell of a column names a range of numbers, and not a single one."""
    return any((found := _read_cell(cell)) is not None and found.is_bound for cell in cells)


def find_places_in_range(asked: ValueRange, column: str, cells: Sequence[str]) -> list[int] | None:
    """Return the indexes of a column's cells whose range contains the number or range asked for; None if undecidable.

    Args:
        column: its name, which may contain the unit.
    """
    ranges = [_read_cell(cell) for cell in cells]
    if not all(one is not None and _is_same_unit(asked.unit, one.unit, column) for one in ranges):
        return None
    known = [one for one in ranges if one is not None]
    met = [place for place, one in enumerate(known) if one.meets(asked)]
    return _select_nearest(met, known) if _is_ladder(known) and not asked.is_bound else met


def _is_ladder(ranges: Sequence[ValueRange]) -> bool:
    """Return whether bounds of one direction and one beyond the last of them divide all numbers: "up to 10", "up to
    100", "above 100".

    Without the last one each bound holds by itself: below 45 % is below 65 % too.
    """
    highs = [one.high for one in ranges if one.low is None and one.high is not None]
    lows = [one.low for one in ranges if one.high is None and one.low is not None]
    if len(highs) + len(lows) < max(3, len(ranges)) or len(set(highs)) < len(highs) or len(set(lows)) < len(lows):
        return False
    return (len(lows) == 1 and lows[0] >= max(highs)) or (len(highs) == 1 and highs[0] <= min(lows))


def _select_nearest(places: Sequence[int], ranges: Sequence[ValueRange]) -> list[int]:
    """Return the place of the tightest of several bounds of one direction."""
    lows = [(low, place) for place in places if (low := ranges[place].low) is not None]
    highs = [(high, place) for place in places if (high := ranges[place].high) is not None]
    if lows and highs:
        return list(places)
    return [max(lows)[1]] if lows else [min(highs)[1]] if highs else list(places)


def _read_cell(cell: str) -> ValueRange | None:
    found = _RANGE.fullmatch(cell.strip())
    return _read_range(found) if found else None


def _is_same_unit(asked: str, said: str, column: str) -> bool:
    # A number without a unit may be of anything: "vessel 3", "form 12".
    if said or not asked:
        return bool(asked) and asked == said
    return asked in find_units(column) or asked in content_stems(column)


def _read_range(found: re.Match[str]) -> ValueRange | None:
    low, high = _parse_number(found["number"], found["scale"]), _parse_number(found["last_number"], found["last_scale"])
    named = {unit for group in _UNIT_GROUPS if (unit := _find_unit(found[group]))}
    is_span, sign = found["last_number"] is not None, found["sign"] or ""
    is_upper = bool(found["below"] or found["upto"] or sign in _UPPER)
    # "5 to 10 million": a scale at the end may count for both.
    is_vague = found["last_scale"] and not found["scale"]
    if low is None or (is_span and high is None) or len(named) > 1 or is_vague:
        return None
    if is_upper and (is_span or found["open"]):
        return None
    unit, beyond = next(iter(named), ""), bool(found["above"] or sign == ">")
    if is_upper:
        return ValueRange(None, low, False, not (found["below"] or sign == "<"), unit)
    if is_span:
        return ValueRange(low, high, not beyond, True, unit)
    if beyond or found["least"] or sign or found["open"]:
        return ValueRange(low, None, not beyond, False, unit)
    return ValueRange(low, low, True, True, unit)


def _parse_number(text: str | None, scale: str | None) -> Decimal | None:
    # "2.500 million" has a point, "2.500" may have a separator of thousands.
    if not text or (_AMBIGUOUS.fullmatch(text) and not scale):
        return None
    try:
        return Decimal(normalize_number(text)) * _SCALES.get((scale or "").strip().casefold(), 1)
    except InvalidOperation:
        return None


def _find_unit(word: str | None) -> str:
    """Return its name if it is a unit, else its stem; empty for none, and for a word without meaning."""
    plain = (word or "").strip()
    known = next((unit for _, unit in find_quantities(f"2 {plain}") if unit), "") if plain else ""
    return known or ("" if plain.casefold() in STOP_WORDS else stem(plain.casefold()) if plain else "")
