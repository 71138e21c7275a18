"""Does a passage say what a sentence says? A score for how much, and a strict check of what must not differ.

The strict check exists because similarity forgives exactly what must not be forgiven: "5 ns" is very similar to
"50 ns", and "is allowed" to "is not allowed". Numbers with their units, identifiers and negation have to agree.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from argot.corpus.index.stop_words import STOP_WORDS
from argot.tools.text.markdown_prose import plain
from argot.tools.text.sentences import split_units
from argot.tools.text.words import NUMBER_WORDS, fold, folded, identifiers, stem

_UNITS = {
    spelling: name
    for name, spellings in {
        "%": "% percent percentage per-cent pct",
        "ns": "ns nanosecond nanoseconds nsec",
        "us": "us µs μs microsecond microseconds usec",
        "ms": "ms millisecond milliseconds msec",
        "s": "s sec secs second seconds",
        "min": "min mins minute minutes",
        "h": "h hr hrs hour hours",
        "day": "day days",
        "week": "week weeks",
        "month": "month months",
        "year": "year years yr yrs",
        "V": "v volt volts",
        "mV": "mv millivolt millivolts",
        "W": "w watt watts",
        "mW": "mw milliwatt milliwatts",
        "A": "a amp amps ampere amperes",
        "mA": "ma milliampere milliamperes",
        "ohm": "ohm ohms ω",
        "kB": "kb kilobyte kilobytes kib",
        "MB": "mb megabyte megabytes mib",
        "GB": "gb gigabyte gigabytes gib",
        "TB": "tb terabyte terabytes tib",
        "bit": "bit bits",
        "byte": "byte bytes",
        "Hz": "hz hertz",
        "kHz": "khz kilohertz",
        "MHz": "mhz megahertz",
        "GHz": "ghz gigahertz",
        "nm": "nm nanometre nanometres nanometer nanometers",
        "um": "um µm μm micron microns micrometre micrometres micrometer micrometers",
        "mm": "mm millimetre millimetres millimeter millimeters",
        "cm": "cm centimetre centimetres centimeter centimeters",
        "m": "m metre metres meter meters",
        "km": "km kilometre kilometres kilometer kilometers",
        "g": "g gram grams",
        "kg": "kg kilogram kilograms",
        "degree": "degree degrees ° °c celsius c",
        "million": "million millions",
        "billion": "billion billions",
        "thousand": "thousand thousands",
    }.items()
    for spelling in spellings.split()
}
_NUMBER = re.compile(
    r"(?<![\w.])(?<![A-Za-z]-)(?P<sign>[-−–](?=\d))?(?P<number>\d+(?:[.,]\d+)*)(?P<glued>[%°][CF]?|[a-zA-Zµμ]{1,3}(?![\w-]))?"
    r"(?P<gap>[ \u00a0-](?P<unit>[%°]C?|[A-Za-zµμΩ]+(?:/[A-Za-z]+)?))?"
)
_NUMBER_WORD = re.compile(
    r"\b(" + "|".join(word for word in NUMBER_WORDS if word not in ("one", "zero")) + r")\b", re.I
)
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+"
)
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nothing|nobody|neither|nor|cannot|without|unable|hardly|\w+n['’]t)\b", re.IGNORECASE
)
_OPPOSITES = [
    re.compile(rf"\b(?:{words})\b", re.IGNORECASE)
    for pair in (
        "at least|minimum|no less than / at most|maximum|no more than|up to",
        "above|over|exceeds?|more than / below|under|less than|fewer than",
        "before / after",
        "enabled?|enables / disabled?|disables",
        "on / off",
        "high|higher / low|lower",
        "increased?|increases|rises? / decreased?|decreases|falls?",
        "allowed|permitted / forbidden|prohibited",
        "always / never",
        "all|every / none|no",
        "first / last",
        "fast|faster / slow|slower",
        "opened?|opens / closed?|closes",
        "success|succeeds? / failure|fails?",
    )
    for words in pair.split(" / ")
]
"""A pattern at an even place and the one after it are opposites."""


def objection(sentence: str, passage: str) -> str:
    """Why the passage cannot support the sentence, whatever their similarity; empty when nothing speaks against it.

    Both are Markdown. The sentence's numbers (with units), identifiers and number words must all occur in the
    passage; its negation and its words of direction ("at least", "before", "off") must be those of the passage's
    most similar sentence. An abbreviation also counts as present when the passage spells it out.
    """
    said, source = plain(_unlisted(sentence)).text, plain(passage).text
    if said and said in source:
        return ""
    if missing := _missing_numbers(said, source):
        return f"number {missing}"
    if missing := _missing_identifier(said, source):
        return f"identifier {missing}"
    nearest = _nearest_units(said, passage)
    return _turned_round(said, nearest) if nearest else ""


def _unlisted(sentence: str) -> str:
    """A sentence without its list marker: the number of a step is no statement."""
    return re.sub(r"^\s*(?:[-*+•]|\(?(?:\d{1,3}|[a-zA-Z])[.)])\s+", "", sentence)


# -- numbers ----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=4_000)
def quantities(text: str) -> frozenset[tuple[str, str]]:
    """(number, unit) pairs of the text; the unit is empty where none follows directly."""
    found = set()
    for match in _NUMBER.finditer(text):
        glued = match.group("glued") or ""
        unit = _unit(glued) or ("" if glued else _unit(match.group("unit") or ""))
        if glued and not unit:
            continue  # "4th", "3D": no quantity; identifiers are checked apart
        sign = "-" if match.group("sign") and not text[: match.start()].rstrip()[-1:].isdigit() else ""
        found.add((sign + _canonical(match.group("number")), unit))
    for match in _NUMBER_WORD.finditer(text):
        following = re.match(r"[ \u00a0-]([A-Za-z]+)", text[match.end() :])
        found.add((NUMBER_WORDS[match.group().lower()], _unit(following.group(1)) if following else ""))
    return frozenset(found)


def _unit(spelling: str) -> str:
    if "/" in spelling:
        return spelling.casefold()
    return _UNITS.get(spelling.rstrip(".").casefold(), "")


def _canonical(number: str) -> str:
    number = fold(number.rstrip(".,"))
    return number.rstrip("0").rstrip(".") if "." in number else number.lstrip("0") or "0"


def _missing_numbers(said: str, source: str) -> str:
    wanted = quantities(said)
    if not wanted:
        return ""
    there = quantities(source)
    numbers = {number for number, _ in there}
    for number, unit in wanted:
        alone = number.lstrip("-")
        if number not in numbers and (number.startswith("-") or alone not in {n.lstrip("-") for n in numbers}):
            return f"{number} {unit}".strip()
        if not unit:
            continue
        theirs = {other for value, other in there if value == number}
        if unit not in theirs and ("" not in theirs or unit not in _units_named(source)):
            return f"{number} {unit}"
    return ""


@lru_cache(maxsize=2_000)
def _units_named(source: str) -> frozenset[str]:
    return frozenset({unit for _, unit in quantities(source)} | {_unit(word) for word in folded(source)})


# -- identifiers ------------------------------------------------------------------------------------------------------


def _missing_identifier(said: str, source: str) -> str:
    there = identifiers(source)
    for name in sorted(identifiers(said) - there):
        bare = name.removesuffix("s")
        if bare in there or f"{name}s" in there:
            continue
        if _stands_in(bare, source) or _spelt_out(bare, source):
            continue
        if re.fullmatch(r"\d+[a-z%µ]{1,3}", name):
            continue  # a quantity, judged as one
        return name
    return ""


def _stands_in(name: str, source: str) -> bool:
    """As a word of its own, in any capitals. Looked for plainly first: most often it does not stand there at all."""
    if name not in _lower(source):
        return False
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", source, re.IGNORECASE) is not None


@lru_cache(maxsize=2_000)
def _lower(source: str) -> str:
    return source.casefold()


def _spelt_out(abbreviation: str, source: str) -> bool:
    """Whether consecutive words of the source begin with the abbreviation's letters ("ODT": on-die termination)."""
    if not abbreviation.isalpha() or len(abbreviation) < 2:
        return False
    return any(abbreviation in initials for initials in _initials(source))


@lru_cache(maxsize=2_000)
def _initials(source: str) -> tuple[str, str]:
    """The first letters of all words, and of those that are no stop words."""
    every = folded(source)
    return "".join(word[0] for word in every), "".join(word[0] for word in every if word not in STOP_WORDS)


# -- negation and direction -------------------------------------------------------------------------------------------


def _turned_round(said: str, nearest: str) -> str:
    if bool(_NEGATION.search(said)) != bool(_NEGATION.search(nearest)):
        return "negation"
    mine, theirs = _directions(said), _directions(nearest)
    for place, word in mine.items():
        if place ^ 1 in theirs and place not in theirs and place ^ 1 not in mine:
            return f"'{word}' against its opposite"
    return ""


@lru_cache(maxsize=8_000)
def _directions(text: str) -> dict[int, str]:
    """The words of direction in the text, by their place in `_OPPOSITES`, where each stands beside its opposite."""
    return {place: found.group() for place, mine in enumerate(_OPPOSITES) if (found := mine.search(text))}


def _nearest_units(said: str, passage: str) -> str:
    """The passage's unit that shares most with the sentence."""
    wanted, units = statement_stems(said), _units_of(passage)
    if not units or not wanted:
        return ""
    return max(units, key=lambda unit: (len(wanted & unit[1]), -len(unit[0])))[0]


@lru_cache(maxsize=1_000)
def _units_of(passage: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """Each unit of the passage, plain, with its stems."""
    units = (plain(passage[start:end]).text for start, end, _ in split_units(passage))
    return tuple((unit, statement_stems(unit)) for unit in units)


@lru_cache(maxsize=8_000)
def statement_stems(text: str) -> frozenset[str]:
    """What a text is about: stems of its content words, its numbers and its identifiers.

    Where a script has no spaces, a whole clause would be one word; its pairs of characters stand for its words.
    """
    stems = {stem(word) for word in folded(text) if word not in STOP_WORDS}
    if not text.isascii():
        stems = {part for one in stems for part in _parted(one)}
    return frozenset(stems | {number for number, _ in quantities(text)} | identifiers(text))


def _parted(word: str) -> list[str]:
    """The word itself, or what it is made of: its spaced part, and each pair of characters of its unspaced ones."""
    runs = _UNSPACED.findall(word)
    if not runs:
        return [word]
    rest = _UNSPACED.sub("", word)
    return [*filter(None, [rest]), *(run[at : at + 2] for run in runs for at in range(max(1, len(run) - 1)))]


# -- how much ---------------------------------------------------------------------------------------------------------


class SupportScorer:
    """A `Scorer` of support, without any model: what share of a statement stands close together in each text.

    1.0 for a quotation. Else the weighted share of the statement's stems (numbers and identifiers count double) within
    the best run of as many units as the statement has, plus one; a small part rewards the same words in the same order.
    """

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        return [support(query, text) for text in texts]


_ORDER_SHARE = 0.15


@lru_cache(maxsize=20_000)
def support(statement: str, text: str) -> float:
    """The share, in [0, 1], of what `statement` says that `text` says; both Markdown. Blind to negation and units."""
    said, source = plain(_unlisted(statement)).text, plain(text).text
    if not said or not source:
        return 0.0
    if said.casefold().rstrip(".!? ") in _lower(source):
        return 1.0
    wanted = statement_stems(said)
    if not wanted:
        return 0.0
    twice = _with_digits(wanted)
    best = max(len(run & wanted) + len(run & twice) for run in _runs(text, len(split_units(statement)) + 1))
    pairs, there = _pairs(said), _pairs(source)
    share = best / (len(wanted) + len(twice))
    order = len(pairs & there) / len(pairs) if pairs else share
    return (1 - _ORDER_SHARE) * share + _ORDER_SHARE * order


@lru_cache(maxsize=8_000)
def _with_digits(items: frozenset[str]) -> frozenset[str]:
    return frozenset(item for item in items if any(map(str.isdigit, item)))


@lru_cache(maxsize=2_000)
def _runs(text: str, length: int) -> tuple[frozenset[str], ...]:
    units = [stems for _, stems in _units_of(text)]
    starts = range(max(1, len(units) - length + 1))
    return tuple(frozenset().union(*units[start : start + length]) for start in starts)


@lru_cache(maxsize=2_000)  # some 5 to 15 kB each
def _pairs(text: str) -> frozenset[tuple[str, str]]:
    stems = [stem(word) for word in folded(text) if word not in STOP_WORDS]
    return frozenset(pairwise(stems))
