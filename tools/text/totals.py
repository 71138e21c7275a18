"""Numbers that a text computes itself: totals ("1,500 at filing and 2,500 at grant (4,000 in total)"), counts of what
it lists ("in three ways: by mail, by phone and in person"), hours ("at 06:10, 110 minutes before 08:00"), and
comparisons ("20 mm is below the 22 mm").
"""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal
from itertools import combinations

from argot.days import Day, find_days
from argot.tools.text.quantities import WEEKDAY_NAMES, normalize_number
from argot.tools.text.sentences import split_units
from argot.tools.text.words import NUMBER_WORDS

_TOTAL = re.compile(
    r"(?<![\w.])(?P<before>\d[\d.,]*\d|\d)(?: [^\W\d]+)? (?:in total|in all|altogether|all in all|together)\b"
    r"|\b(?:a total of|in total|altogether|all in all|totalling|the sum of)[ :,]{1,2}(?P<behind>\d[\d.,]*\d|\d)",
    re.IGNORECASE,
)
_DECIMAL = re.compile(r"\d+(?:\.\d+)?")
_NUMBER = re.compile(r"(?<![\w.])\d[\d.,]*\d|(?<![\w.])\d")
_HOUR = re.compile(r"(?<![\w.,:])(?P<hour>[01]?\d|2[0-4]):(?P<minute>[0-5]\d)(?!:?\d)")
_SPAN = re.compile(r"(?<![\w.,:])(?P<number>\d+(?:\.\d+)?)[ -]?(?P<unit>min(?:ute)?s?|h(?:ou)?rs?|h)\b", re.IGNORECASE)
_DAY_MINUTES = 24 * 60
_COMPARISON = re.compile(
    r"(?P<first>[-−]?\d[\d.,]*) ?(?P<unit>[^\W\d]+|%|°C?)? (?:is|are|was|were) (?:still |already |well )?"
    r"(?:(?P<less>below|under|less than|lower than|fewer than|shorter than|younger than)"
    r"|(?P<more>above|over|more than|higher than|longer than|older than|beyond)) (?:the |a )?(?:(?:limit|age) of )?"
    r"(?=(?P<second>[-−]?\d[\d.,]*) ?(?P<other>[^\W\d]+|%|°C?)?)",
    re.IGNORECASE,
)
_WEEKDAY_AND_DAY = re.compile(
    rf"\b(?P<weekday>{'|'.join(WEEKDAY_NAMES)}),? (?P<day>(?:the )?\d{{1,2}}[^,;:.()\d]{{1,14}}(?:\d{{4}})?"
    r"|[A-Z][a-z]{2,8} \d{1,2}(?:st|nd|rd|th)?(?:,? \d{4})?)",
    re.IGNORECASE,
)
_MAX_ADDENDS = 6
_COUNT = re.compile(
    rf"(?<![\w.,-])(?P<number>{'|'.join(word for word, value in NUMBER_WORDS.items() if int(value) > 1)}|[2-9])"
    r" (?:[a-z]+ ){0,2}?[a-z]+s\b",
    re.IGNORECASE,
)
_SEPARATOR = re.compile(r", (?:and |or )?|; (?:and |or )?| (?:and|or) ")


def strip_counts(said: str, passage: str) -> str:
    """Return the text without a number that counts what it lists after a colon, or the entries of the passage's list.

    Args:
        passage: Markdown, whose list items are counted.
    """
    found = _COUNT.search(said)
    if found is None:
        return said
    count = int(NUMBER_WORDS.get(found["number"].casefold(), found["number"]))
    listed = said[found.end() :].partition(":")[2]
    entries = len(_SEPARATOR.findall(listed)) + 1 if listed.strip() else 0
    if count not in (entries, *_count_items(passage)):
        return said
    return said[: found.start("number")] + said[found.end("number") :]


def _count_items(passage: str) -> set[int]:
    """Return the number of entries of each list of the passage."""
    counts, run = set(), 0
    for _, _, kind in (*split_units(passage), (0, 0, "")):
        if kind == "item":
            run += 1
        elif run:
            counts.add(run)
            run = 0
    return counts


def strip_totals(said: str) -> str:
    """Return the text without numbers that it calls a total, if they are the sum of others in it, which anyone can
    compute.
    """
    found = _TOTAL.search(said)
    if found is None:
        return said
    rest = said[: found.start()] + said[found.end() :]
    total, parts = (
        normalize_number(found["before"] or found["behind"]),
        [normalize_number(one) for one in _NUMBER.findall(rest)],
    )
    if not all(_DECIMAL.fullmatch(one) for one in (total, *parts)) or len(parts) > _MAX_ADDENDS:
        return said
    amounts = [Decimal(one) for one in parts]
    sums = (sum(some) for size in range(2, len(amounts) + 1) for some in combinations(amounts, size))
    return rest if Decimal(total) in sums else said


def strip_reckoned_hours(said: str) -> str:
    """Return the text without hours of the day that lie a span of the text before or behind another hour of it."""
    hours = {found[0]: 60 * int(found["hour"]) + int(found["minute"]) for found in _HOUR.finditer(said)}
    spans = {round(float(found["number"]) * (1 if found["unit"][:1] in "mM" else 60)) for found in _SPAN.finditer(said)}
    if len(hours) < 2 or not spans:
        return said
    first, *_ = hours
    reckoned = any(
        (hours[first] - other) % _DAY_MINUTES in (span, -span % _DAY_MINUTES)
        for name, other in hours.items()
        for span in spans
        if name != first
    )
    return said.replace(first, " ", 1) if reckoned else said


def is_reckoned(number: str, said: str) -> bool:
    """Return whether a number of a text is the sum, difference or product of two others in it, or of three the
    product.
    """
    result = normalize_number(number.lstrip("£€$"))
    others = [normalize_number(one) for one in _NUMBER.findall(said)]
    others = [one for one in others if one != result]
    if not _are_decimals(result, *others) or len(others) > _MAX_ADDENDS:
        return False
    amounts = list(map(Decimal, others))
    pairs = combinations(amounts, 2)
    triples = combinations(amounts, 3)
    return any(Decimal(result) in (one + other, abs(one - other), one * other) for one, other in pairs) or any(
        Decimal(result) == one * two * three for one, two, three in triples
    )


def strip_true_weekdays(said: str, source: str) -> str:
    """Return the text without the weekday before a day that falls on it, in the year that the text or the source gives:
    "Saturday 14 June 2025".
    """

    def strip(found: re.Match[str]) -> str:
        days = [day for text in (found["day"], source) for day in find_days(text) if day.year]
        mine = next(iter(find_days(found["day"])), None)
        same = [day for day in days if mine is not None and mine.is_same(day)]
        return found["day"] if any(_name_weekday(day) == found["weekday"].casefold() for day in same) else found[0]

    return _WEEKDAY_AND_DAY.sub(strip, said)


def _name_weekday(day: Day) -> str:
    try:
        return WEEKDAY_NAMES[date(int(day.year), day.month, day.day).weekday()]
    except ValueError:  # 31 June
        return ""


def strip_true_comparisons(said: str, asked: str) -> str:
    """Return the text without the comparison of a number of the question with another that it names, if it is true: "20
    mm is below the 22 mm at which it is ordered" becomes "22 mm at which it is ordered".
    """
    known = set(map(normalize_number, _NUMBER.findall(asked)))

    def strip(found: re.Match[str]) -> str:
        first, second = (normalize_number(found[name].rstrip(".,").replace("−", "-")) for name in ("first", "second"))
        units = {(found["unit"] or "").casefold(), (found["other"] or "").casefold()} - {""}
        if first.lstrip("-") not in known or len(units) > 1 or not _are_decimals(first, second):
            return found[0]
        holds = Decimal(first) < Decimal(second) if found["less"] else Decimal(first) > Decimal(second)
        return "" if holds else found[0]

    return _COMPARISON.sub(strip, said)


def _are_decimals(*numbers: str) -> bool:
    return all(_DECIMAL.fullmatch(one.lstrip("-")) for one in numbers)
