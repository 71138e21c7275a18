"""The numbers of a text: with their unit, currency or scale, as dates and hours, and as rates."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from argot.corpus.keyword.stop_words import STOP_WORDS
from argot.days import MONTH_NAMES
from argot.languages.language_data import LISTED_LANGUAGES, read_language_file
from argot.tools.text.units import CURRENCIES, IN_SMALLER, UNITS, find_unit
from argot.tools.text.words import NUMBER_WORDS, fold, fold_words, stem

Quantity = tuple[str, str]
"""(number, unit); the unit is empty where none follows directly. Months and weekdays are numbers of that name."""

_SCALES = {
    spelling: 10**power
    for power, spellings in {3: "thousand thousands k", 6: "million millions mn", 9: "billion billions bn"}.items()
    for spelling in spellings.split()
}
_MONTHS = {
    spelling: name for name in MONTH_NAMES for spelling in (name, name[:3], name[:4] if name == "september" else name)
}
_FOREIGN_MONTHS = {
    spelling: name
    for code in LISTED_LANGUAGES
    for spelling, name in zip(read_language_file(code)["months"].split(), MONTH_NAMES, strict=True)
    if spelling not in MONTH_NAMES
}
"""Names of months that English lacks: "März", "mars", "marzo"."""
_MONTH_NUMBERS = dict(enumerate(MONTH_NAMES, start=1))
WEEKDAY_NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WEEKDAYS = {
    spelling: name
    for name in WEEKDAY_NAMES
    for spelling in ((name, name + "s") if name.startswith("s") else (name, name + "s", name[:3]))
}
"""Without "Sun" and "Sat", which are words."""

_CODES = "EUR|USD|GBP|CHF|JPY|CNY|INR"
CURRENCY_CODES = frozenset(_CODES.casefold().split("|"))
_NUMBER = re.compile(
    # Before a number without a currency no letter, dot or hyphenated letter: "v1.2" and "NX-4410" contain no quantity.
    rf"(?P<currency>(?:US)?\$|[€£¥₹]|\b(?:{_CODES})\b)?(?(currency)[ \u00a0]?|(?<![\w.])(?<![A-Za-z]-))"
    r"(?P<sign>[-−–](?=\d)|\bminus (?=\d))?"
    r"(?P<number>\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?:,\d{1,2})?(?![\d.,]\d)(?!\d)|\d+(?:[.,]\d+)*)"
    # "5ms", "20°C", "30€"; after three letters it is a name rather than a unit.
    r"(?P<glued>[%°][CF]?|[€$£¥]|(?:[a-zA-Zµμ]{1,3}|mins|secs)(?![\w-]))?"
    r"(?:[ \u00a0-]?(?P<scale>(?:thousand|million|billion|mn|bn)s?\b))?(?: US(?= dollars?\b))?"
    r"(?P<gap>[ \u00a0-]?(?P<unit>[%°][CF]?|[€$£¥₹]|(?<=[ \u00a0-])(?:US\$|[A-Za-zµμΩω]+)))?(?=(?P<slash>/[A-Za-z])?)"
)
_NUMBERS_BY_WORD = NUMBER_WORDS | {
    word: str(value)
    for code in LISTED_LANGUAGES
    for value, word in enumerate(read_language_file(code)["numbers"].split(), start=2)
    if word != "-"
}
_COUNTS_ONLY_UNITS = frozenset({"neuf", "acht"})
"""Number words that are other words, too: "un appareil neuf" is new, "außer Acht lassen" is to disregard."""
_NUMBER_WORD = re.compile(
    # "one" is usually a pronoun ("the one that ...").
    rf"\b(?P<number>{'|'.join(word for word in _NUMBERS_BY_WORD if word not in ('one', 'zero'))})\b"
    r"(?:[ \u00a0-](?P<unit>[^\W\d_]+))?",
    re.IGNORECASE,
)
_ISO_DATE = re.compile(r"(?<![\w.-])(?P<year>\d{4})-(?P<month>0[1-9]|1[0-2])-(?P<day>\d{2})(?![\w-])")
_DOTTED_DATE = re.compile(r"(?<![\w.])(?P<day>\d{1,2})\.\s?(?P<month>0?[1-9]|1[0-2])\.\s?(?P<year>\d{4})(?!\w)")
_HOUR = re.compile(
    r"(?<![\w.,:])(?P<hour>[01]?\d|2[0-4])(?:(?P<colon>:(?P<minute>[0-5]\d))(?!:?\d)(?: ?(?P<half>[ap])\.?m\b\.?)?"
    r"| ?(?P<bare>[ap])\.?m\b\.?)",
    re.IGNORECASE,
)
_MONTH = re.compile(
    rf"(?:\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\.?(?: of)? (?P<after>{'|'.join(_MONTHS)})\b"
    rf"|\b(?P<before>{'|'.join(_MONTHS)})\.? (?=\d)"
    # Alone only after such a word, or in a cell: "May I ..." is no month.
    rf"|(?:\b(?:in|since|until|by|from|to|of|and)|\|) (?P<alone>{'|'.join(_MONTHS)})\b)",
    re.IGNORECASE,
)
_FOREIGN_MONTH = re.compile(
    # Only beside a day or a year: "mars" and "mai" are words of other languages, too.
    rf"\b(?P<day>\d{{1,2}})(?:er|º)?\.? (?:de )?(?P<month>{'|'.join(_FOREIGN_MONTHS)})\b"
    rf"|\b(?P<alone>{'|'.join(_FOREIGN_MONTHS)})\b(?= (?:de )?(?:19|20)\d\d\b)",
    re.IGNORECASE,
)
_WEEKDAY = re.compile(
    # Without a capital, "mon" and "fri" are other words.
    rf"\b(?:{'|'.join(name.capitalize() for name in _WEEKDAYS)}|(?i:{'|'.join(WEEKDAY_NAMES)})(?i:s?))\b"
)

_ARTICLE = re.compile(
    r"(?<!half )\b(?:an?|one|single) (?:(?:working|calendar|business) )?"
    # "a night reach of 3 h" counts no nights
    r"(?P<unit>minute|hour|day|night|week|month|year)\b(?! [a-z]+ of\b)",
    re.IGNORECASE,
)
_TIME = r"second|minute|hour|day|night|week|month|quarter|year"
_ADVERBS = {
    "hourly": "h", "daily": "day", "nightly": "night", "weekly": "week", "monthly": "month", "quarterly": "quarter",
    "yearly": "year", "annually": "year", "annual": "year", "diem": "day", "annum": "year", "capita": "person",
}  # fmt: skip
_TENS = "thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand"
_RATE = re.compile(
    # "per day", "per working day"; "per cent", "per se" and "as per the policy" count nothing.
    rf"(?<!\bas )\bper (?P<per>(?!cent|se\b)(?:(?:working|calendar|business) )?\w+)"
    rf"|\b(?:each|every) (?:(?:working|calendar|business) )?(?P<each>{_TIME})\b"
    # "twice a week", "41 euros a day", "3 calls an hour"; but "2 days a week ago" says when.
    rf"|(?:\d|[€$£%]|\b(?:once|twice|times|{_TENS}|{'|'.join(NUMBER_WORDS)})\b)[ \u00a0](?:[^\W\d]+ ){{0,3}}?an? "
    rf"(?P<a>{_TIME})\b(?! (?:ahead|ago|later|earlier|before|after|in advance))"
    rf"|(?P<adverb>\b(?:{'|'.join(_ADVERBS)})\b)"
    # "30 Mbit/s", and "(Mbit/s)" in the head of a table
    r"|(?:\d[ \u00a0]?|(?P<bracket>[(\[]))(?P<counted>[^\W\d_]{0,12}[€$£%]?)/(?P<slash>[A-Za-z]+)",
    re.IGNORECASE,
)
_MIN_COUNTED_LETTERS = 3  # of a word that is no unit, in brackets before a slash: "(doses/day)", but not "(i/m)"


class _NumberReading(NamedTuple):
    """A number as written and, if a scale follows ("2 million"), its value."""

    bare: str
    number: str
    unit: str
    scale: str


@lru_cache(maxsize=4_000)
def find_quantities(text: str) -> frozenset[Quantity]:
    """Return the numbers of the text, each with its unit. "2 million" is 2000000, "2 pm" is 14, "3 May" is 3
    and May.
    """
    return frozenset((one.number, one.unit) for one in _read_numbers(text))


def find_missing_quantity(said: str, source: str) -> str:
    """Return a number of `said` that `source` does not contain, or has in another unit; empty if there is none. An
    amount that lacks only its currency comes last (`is_bare_amount`).
    """
    wanted = _read_numbers(said) | _find_articles(said)
    if not wanted:
        return ""
    there = _read_numbers(source) | _find_articles(source)
    numbers = {one.number for one in there}
    measures = {measure for one in there if (measure := _measure(one))}
    bare = ""
    for one in sorted(wanted):
        if (measure := _measure(one)) and measure in measures:
            continue
        if one.number not in numbers and not _has_number_apart(one, there, source):
            return f"{one.number} {one.unit}".strip()
        theirs = {other.unit for other in there if one.number in (other.number, f"-{other.number}")}
        theirs |= {other.unit for other in there if one.bare == other.number} if one.scale else set()
        # In a table the number is alone and the header names the unit: "| latency (ms) | 40 |".
        if one.unit and one.unit not in theirs and _has_unknown_unit(one, source):
            continue
        if one.unit and one.unit not in theirs and (theirs != {""} or one.unit not in find_units(source)):
            missing = f"{one.number} {one.unit}"
            if not is_bare_amount(missing, source):
                return missing
            bare = bare or missing
    return bare


def is_bare_amount(missing: str, source: str) -> bool:
    """Return whether `source` has the number of a missing amount of money without any unit, and names no currency: it
    may be said elsewhere.
    """
    number, _, unit = missing.partition(" ")
    return unit in CURRENCIES and (number, "") in find_quantities(source) and not CURRENCIES & find_units(source)


def _measure(one: _NumberReading) -> tuple[Decimal, str] | None:
    """Return the quantity in the smallest unit of its kind; None if it has no unit."""
    if not one.unit or not re.fullmatch(r"-?\d+(?:\.\d+)?", one.number):
        return None
    smaller, times = IN_SMALLER.get(one.unit, (one.unit, Decimal(1)))
    return Decimal(one.number) * times, smaller


def find_other_noun(said: str, source: str) -> str:
    """Return a number of `said` with its noun if `source` has another noun for it: "300 robots" for "300 people"."""
    theirs = {number for number, _ in _find_counted(source)}
    mine = [(number, words) for number, words in _find_counted(said) if number in theirs]
    if not mine:  # as in most sentences: the words of the source are not examined
        return ""
    known = {stem(word) for word in fold_words(source)}
    return next((f"{number} {words[0]}" for number, words in mine if not any(stem(one) in known for one in words)), "")


@lru_cache(maxsize=4_000)
def _find_counted(text: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return each number and the one or two words after it, without stop words and units."""
    found = []
    for match in _COUNTED.finditer(text):
        words = tuple(word.casefold() for word in match["words"].split() if word.casefold() not in STOP_WORDS)
        if words and not any(map(find_unit, words)) and not _YEAR.fullmatch(match["number"]):
            found.append((normalize_number(match["number"]), words))
    return tuple(found)


_YEAR = re.compile(r"(?:1[89]|20)\d\d")
_COUNTED = re.compile(r"(?<![\w.,-])(?P<number>\d[\d.,]*)(?P<words>(?: [a-z]{3,}(?![\w-])){1,2})")


def _has_number_apart(one: _NumberReading, there: frozenset[_NumberReading], source: str) -> bool:
    """Return whether the source has the number without its scale, if a table's header names that, without its sign, or
    with an unknown unit.
    """
    if one.scale and one.scale in fold_words(source):
        return any(one.bare == other.number for other in there)
    if _has_unknown_unit(one, source):
        return True
    # The minus may be a dash: "– 5 °C" in a list.
    return not one.number.startswith("-") and any(one.number == other.number.lstrip("-") for other in there)


def _has_unknown_unit(one: _NumberReading, source: str) -> bool:
    """Return whether the source has the number with letters right behind it that are no known unit ("192b", "1600px")
    and, if the sentence names a unit, begin like it.
    """
    letters = re.findall(rf"(?<![\w.,-]){re.escape(one.number)}([A-Za-z]{{1,4}})\b", source)
    initial = one.unit[:1].casefold()
    return any(not find_unit(found) and initial in ("", found[0].casefold()) for found in letters)


@lru_cache(maxsize=4_000)
def _read_numbers(text: str) -> frozenset[_NumberReading]:
    if not _MAY_COUNT.search(text):  # most sentences: saves the seven searches below
        return frozenset()
    found, rest = _find_dates(text)
    return frozenset([*found, *_find_figures(rest), *_find_number_words(rest)])


_MAY_COUNT = re.compile(rf"\d|\b(?:{'|'.join(_NUMBERS_BY_WORD)})\b|{_WEEKDAY.pattern}|{_MONTH.pattern}", re.IGNORECASE)


def _make_reading(number: str, unit: str = "") -> _NumberReading:
    return _NumberReading(number, number, unit, "")


def _find_dates(text: str) -> tuple[list[_NumberReading], str]:
    """Return the dates and hours of a text, and the text without them."""
    found = [_make_reading(_WEEKDAYS[match.group().lower()], "weekday") for match in _WEEKDAY.finditer(text)]

    def take_date(match: re.Match[str]) -> str:
        month = _MONTH_NUMBERS[int(match["month"])]  # "2024-05-03" is the same as "3 May 2024"
        found.extend(
            [_make_reading(month, "date"), _make_reading(normalize_number(match["day"])), _make_reading(match["year"])]
        )
        return " "

    def take_month(match: re.Match[str]) -> str:
        name = match["after"] or match["before"] or match["alone"]
        if not name[0].isupper():  # "may" and "march" are verbs
            return match[0]
        found.append(_make_reading(_MONTHS[name.lower()], "date"))
        return f"{match['day']} , " if match["day"] else " "  # the comma: the next word is not the day's unit

    def take_foreign_month(match: re.Match[str]) -> str:
        found.append(_make_reading(_FOREIGN_MONTHS[(match["month"] or match["alone"]).lower()], "date"))
        return f"{match['day'] or ''} , "

    def take_hour(match: re.Match[str]) -> str:
        half = (match["half"] or match["bare"] or "").lower()
        hour = int(match["hour"]) % 12 + (12 if half == "p" else 0) if half else int(match["hour"])
        minute = int(match["minute"] or 0)
        found.append(_make_reading(f"{hour}:{minute:02}" if minute else str(hour)))  # "14:00" is "2 pm"
        return " "

    # Text that one pattern matches is removed, so that no later one, and no quantity, reads it again.
    for pattern, take in (
        (_ISO_DATE, take_date),
        (_DOTTED_DATE, take_date),
        (_MONTH, take_month),
        (_FOREIGN_MONTH, take_foreign_month),
        (_HOUR, take_hour),
    ):
        text = pattern.sub(take, text)
    return found, text


def _find_figures(text: str) -> Iterator[_NumberReading]:
    for match in _NUMBER.finditer(text):
        glued, currency = match["glued"] or "", UNITS.get((match["currency"] or "").casefold(), "")
        scale = (match["scale"] or "").casefold()
        # "40k" and "$3m"; "3m" without a currency is three metres.
        if glued.casefold() == "k" or (currency and glued.casefold() == "m"):
            scale, glued = {"k": "thousand", "m": "million"}[glued.casefold()], ""
        unit = currency or find_unit(glued) or ("" if glued else find_unit(match["unit"] or ""))
        if glued and not unit and not match["slash"]:
            continue  # "4th", "3D": no quantity; identifiers are checked apart
        sign = "-" if match["sign"] and not text[: match.start()].rstrip()[-1:].isdigit() else ""
        bare = normalize_number(match["number"])
        yield _NumberReading(sign + bare, sign + _apply_scale(bare, scale), unit, scale)


def _find_number_words(text: str) -> Iterator[_NumberReading]:
    for match in _NUMBER_WORD.finditer(text):
        word, unit = match["number"].lower(), find_unit(match["unit"] or "")
        number, scale = _NUMBERS_BY_WORD[word], (match["unit"] or "").casefold()
        if scale in _SCALES:
            yield _NumberReading(number, _apply_scale(number, scale), "", scale)
        elif unit or word not in _COUNTS_ONLY_UNITS:
            yield _make_reading(number, unit)


_DECIMAL_COMMA = re.compile(r"\d{1,3}(?:\.\d{3})+,\d+|\d+,\d{1,2}")


def normalize_number(number: str) -> str:
    """Return one spelling of a number: without separators of thousands and needless zeros. "1.234,50" and "0,5" have a
    decimal comma; "1.234" alone may be either, and stays.
    """
    number = re.sub(r"[ \u00a0\u202f]", "", number.rstrip(".,"))
    if _DECIMAL_COMMA.fullmatch(number):
        number = number.replace(".", "").replace(",", ".")
    number = fold(number)
    return number.rstrip("0").rstrip(".") if "." in number else number.lstrip("0") or "0"


@lru_cache(maxsize=4_000)
def _find_articles(text: str) -> frozenset[_NumberReading]:
    """Return the number 1 for a unit of time with an article: "within a week", but not "twice a week"."""
    if not _ARTICLE.search(text):
        return frozenset()
    return frozenset(_make_reading("1", find_unit(match["unit"])) for match in _ARTICLE.finditer(_RATE.sub(" ", text)))


def _apply_scale(number: str, scale: str) -> str:
    if not scale or not re.fullmatch(r"\d+(?:\.\d+)?", number):
        return number
    return normalize_number(f"{Decimal(number) * _SCALES[scale]:f}")


@lru_cache(maxsize=2_000)
def find_units(source: str) -> frozenset[str]:
    """Return the units that a text names, with or without a number, as in the head of a table."""
    named = {unit for _, unit in find_quantities(source)} | {find_unit(word) for word in fold_words(source)}
    return frozenset(named | {UNITS[sign] for sign in re.findall(r"[%°€$£¥₹]", source)})


# -- per what ---------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=8_000)
def find_rates(text: str) -> frozenset[str]:
    """Return the units that the text counts by: "41 euros a day", "41 €/day", "daily" and "per diem" all give "day"."""
    found = set()
    for match in _RATE.finditer(text):
        counted = match["counted"] or ""
        if match["bracket"] and 0 < len(counted) < _MIN_COUNTED_LETTERS and not find_unit(counted):
            continue
        word = (match["per"] or match["each"] or match["a"] or match["slash"] or match["adverb"]).split()[-1].casefold()
        found.add(_ADVERBS.get(word) or UNITS.get(word) or stem(word))
    return frozenset(found)


def is_rate(name: str) -> bool:
    """Return whether a word with a slash is a rate: "MB/s", "/h"."""
    unit, stroke, per = name.partition("/")
    return bool(stroke and find_unit(per) and (not unit or find_unit(unit)))


def find_other_rate(said: str, nearest: str, source: str) -> str:
    """Return the rate of `said` that neither `source` nor its unit `nearest` has; empty if nothing contradicts it."""
    mine = find_rates(said)
    if not mine:
        return ""
    theirs = find_rates(nearest)
    if theirs and not mine & theirs:
        return min(mine)
    spoken = {stem(word) for word in fold_words(nearest)}
    named = {UNITS.get(word, word) for word in fold_words(nearest)}
    return min(mine - find_rates(source) - spoken - named, default="")
