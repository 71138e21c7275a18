"""Numbers that a text computes itself: totals ("1,500 at filing and 2,500 at grant (4,000 in total)"), and counts of
what it lists ("in three ways: by mail, by phone and in person").
"""

from __future__ import annotations

import re
from decimal import Decimal
from itertools import combinations

from argot.tools.text.quantities import normalize_number
from argot.tools.text.sentences import split_units
from argot.tools.text.words import NUMBER_WORDS

_TOTAL = re.compile(
    r"(?<![\w.])(?P<before>\d[\d.,]*\d|\d)(?: [^\W\d]+)? (?:in total|in all|altogether|all in all|together)\b"
    r"|\b(?:a total of|in total|altogether|all in all|totalling|the sum of)[ :,]{1,2}(?P<behind>\d[\d.,]*\d|\d)",
    re.IGNORECASE,
)
_DECIMAL = re.compile(r"\d+(?:\.\d+)?")
_NUMBER = re.compile(r"(?<![\w.])\d[\d.,]*\d|(?<![\w.])\d")
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
