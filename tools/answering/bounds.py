"""Check of the bounds in a sentence, such as "at least 12 months", against those in the passage.

Each number is compared at every place where the passage has it: another sentence there may have its own "at least".
English only.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from argot.tools.text.quantities import normalize_number
from argot.tools.text.words import NUMBER_WORDS

_NUMBER = rf"\d+(?:[.,]\d+)*|\b(?:{'|'.join(NUMBER_WORDS)}|once|twice)\b"
_AHEAD = r" (?:(?:an?|the|another|around|about|some) )?(?:[A-Z]{3} ?|[$€£¥])?"
_WORDED = re.compile(
    r"(?:\b(?:(?P<least>at least|a minimum of|more than|over|above|upwards of|exceeds|exceeding|no less than)"
    r"|(?P<most>at most|up to|a maximum of|less than|fewer than|under|below|no more than))\b"
    rf"|(?P<sign>[<>≤≥]=?)){_AHEAD}(?P<number>{_NUMBER})",
    re.IGNORECASE,
)
_BEARING = {
    "at least": (
        r"[>≥+]|\b(?:least|more|over|above|minimum|min|exceed\w*|greater|larger|longer|higher|beyond|starting|upwards"
        r"|reach\w*|threshold|past|older|wider|thicker|heavier|taller|deeper|warmer|hotter|colder|not within)\b(?!-)",
        "from after once",
    ),
    "at most": (
        r"[<≤]|\b(?:most|less|under|below|maximum|max|(?<!\bgoes )(?<!\bwent )up to|fewer|shorter|lower|smaller"
        r"|limit\w*|caps?|capped|ceiling"
        r"|within|exceed\w*|slower|faster|highest|longest|largest|greatest|thinner|lighter|narrower|younger|colder"
        r"|(?-i:may)|can|no (?:more|longer|higher|later))\b(?!-)",
        "until by before to",
    ),
}
"""Marks of a bound: words anywhere around a number, and words directly before it."""
_OTHER = {"at least": "at most", "at most": "at least"}
_CONDITION = re.compile(r"\b(?:if|when|where|once|whenever|as soon as|from|otherwise)\b", re.IGNORECASE)
_BEFORE, _BEHIND = 8, 4  # words around a number that may say what it bounds
_BREAK = re.compile(r"[;|:]|\n\s*(?:\n|[-*•])|[.!?](?=\s)")


class _Bound(NamedTuple):
    """`name` as in the objection, `number` as it is compared, `conditional`: whether a condition precedes it."""

    name: str
    number: str
    conditional: bool


class _Place(NamedTuple):
    """The words around a number, and the one right before it."""

    around: str
    before: str


def find_bound_objection(said: str, nearest: str, source: str) -> str:
    """Return a bound of the sentence that the source puts on none of the places where it gives that number.

    All arguments are plain prose; `nearest` is the source's most similar sentence, for numbers that it has in other
    units.
    """
    for bound in _find_bounds(said):
        places = _find_places(bound.number, source)
        # A row's column may give the bound: "Give out up to ...", "6 months".
        if places and "|" in nearest and _find_places(bound.number, nearest):
            places = (*places, _Place(nearest, ""))
        if not any(_is_bound_at(bound.name, place) for place in places or (_Place(nearest, ""),)):
            # "If it is off by more than 1 mm" for "must stay within 1 mm": the other side of the same limit.
            turned = bound.conditional and any(_is_bound_at(_OTHER[bound.name], place) for place in places)
            # "At least once every 5 weeks" only stresses "once every 5 weeks".
            frequent = bound.name == "at least" and bound.number in ("once", "twice")
            named = "" if turned or frequent or not places else f" of {bound.number}"
            return f"scope '{bound.name}'{named}"
    return ""


def has_other_side(said: str, source: str) -> bool:
    """Return whether the source bounds a number of the sentence from both sides: "up to 10 cm carry on, more than 10 cm
    stop".
    """
    return any(
        all(any(_is_bound_at(name, place) for place in _find_places(bound.number, source)) for name in _OTHER)
        for bound in _find_bounds(said)
    )


@lru_cache(maxsize=8_000)
def _find_bounds(said: str) -> tuple[_Bound, ...]:
    return tuple(_read_bound(found, said) for found in _WORDED.finditer(said))


def _read_bound(found: re.Match[str], said: str) -> _Bound:
    name = "at least" if found["least"] or (found["sign"] or "")[:1] in {">", "≥"} else "at most"
    return _Bound(name, _normalize_number(found["number"]), _CONDITION.search(said[: found.start()]) is not None)


@lru_cache(maxsize=8_000)
def _is_bound_at(name: str, place: _Place) -> bool:
    anywhere, before = _BEARING[name]
    # "From 15 December to 6 January" is a span, no bound.
    near = place.before in before.split() and not (
        place.before == "from" and re.search(r"\b(?:to|until)\b", place.around)
    )
    return near or re.search(anywhere, place.around, re.IGNORECASE) is not None


def _normalize_number(number: str) -> str:
    word = number.casefold()
    return NUMBER_WORDS.get(word) or (normalize_number(word) if word[0].isdigit() else word)


@lru_cache(maxsize=8_000)
def _find_places(number: str, source: str) -> tuple[_Place, ...]:
    """Return the places where the source has the number. "One" has none: it may be an article ("within a second")."""
    if number == "1":
        return ()
    found = (match for match in re.finditer(_NUMBER, source, re.IGNORECASE) if _normalize_number(match[0]) == number)
    return tuple(_read_place(source, match) for match in found)


def _read_place(source: str, match: re.Match[str]) -> _Place:
    before = _BREAK.split(source[: match.start()])[-1].split()[-_BEFORE:]
    behind = _BREAK.split(source[match.end() :])[0].split()[:_BEHIND]
    return _Place(" ".join([*before, *behind]), before[-1].casefold() if before else "")
