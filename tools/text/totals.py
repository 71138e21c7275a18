"""Totals that a text itself computes: "1,500 at filing and 2,500 at grant (4,000 in total)"."""

from __future__ import annotations

import re
from decimal import Decimal
from itertools import combinations

from argot.tools.text.quantities import normalize_number

_TOTAL = re.compile(
    r"(?<![\w.])(?P<before>\d[\d.,]*\d|\d)(?: [^\W\d]+)? (?:in total|in all|altogether|all in all|together)\b"
    r"|\b(?:a total of|in total|altogether|all in all|totalling|the sum of)[ :,]{1,2}(?P<behind>\d[\d.,]*\d|\d)",
    re.IGNORECASE,
)
_DECIMAL = re.compile(r"\d+(?:\.\d+)?")
_NUMBER = re.compile(r"(?<![\w.])\d[\d.,]*\d|(?<![\w.])\d")
_MAX_ADDENDS = 6


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
