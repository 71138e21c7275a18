"""Kind of value that a question asks for ("how much does it cost": money), and a check for it in a text.

A passage without an amount of money does not answer a question about a price, however many words they share. The words
are data of each language (`argot/languages`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from argot.languages.value_words import find_value_words
from argot.tools.reading.answer_types import find_answer_type, has_shape
from argot.tools.text.quantities import find_quantities, find_units
from argot.tools.text.words import fold_words

_UNITS = {
    "money": "EUR USD GBP CHF JPY CNY INR cent SEK NOK DKK krone PLN CZK",
    "time": "ns us ms s min h day night week month quarter year",
    "length": "nm um mm cm m km mile inch foot yard",
    "mass": "mg g kg tonne ton pound ounce",
    "power": "kW W mW",
    "voltage": "kV V mV",
    "current": "A mA uA",
    "resistance": "mohm ohm kohm",
    "frequency": "Hz kHz MHz GHz",
    "temperature": "degree fahrenheit",
    "data": "kB MB GB TB bit byte",
    "volume": "gallon pint ml l",
}
_KIND_OF_UNIT = {unit: kind for kind, units in _UNITS.items() for unit in units.split()}

_NAMED = {
    "area": re.compile(
        r"\bsquare\b|\b[a-z]?m(?:2\b|²)|\bquadrat\w*meter|\bmètres? carrés?\b|\bmetros? cuadrados?\b", re.IGNORECASE
    ),
    "capacitance": re.compile(r"\b[pnuµ]F\b|\bfarads?\b", re.IGNORECASE),
}
_FREE = re.compile(
    r"\bfree\b(?! (?:to|up|time|of (?!charge)))|\b(?:no|without) (?:extra )?(?:charge|cost)\b|\bcosts? nothing\b"
    r"|\bkostenlos|\bkostenfrei|\bgratis\b|\bgratuit|\bsans frais\b|\bsin cargo\b",
    re.IGNORECASE,
)
"""A price of nothing."""
_PRICE = re.compile(
    r"\b(?:prices?|costs?|fees?|charges?|fares?|rates?|rent|salary|wages?|deposit|\w*preise?|kosten|\w*gebühr(?:en)?|miete"
    r"|gehalt|lohn|prix|coûts?|tarifs?|frais|loyer|salaires?|precios?|costes?|costos?|tarifas?|cuotas?|alquiler|salarios?)\b",
    re.IGNORECASE,
)
_NUMBERING = re.compile(r"^\s*\(?\d{1,3}[.)]\s", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class AskedValue:
    """`kind`: of `_UNITS`, or "area" or "capacitance"."""

    kind: str

    def is_in(self, text: str) -> bool:
        """Return whether a text (a sentence, or a table with its header) names such a value, or the unit of one."""
        if self.kind in _NAMED:
            return _NAMED[self.kind].search(text) is not None
        if self.kind == "money" and (_FREE.search(text) or _has_bare_price(text)):
            return True
        return any(_KIND_OF_UNIT.get(unit) == self.kind for unit in find_units(text))


def _has_bare_price(text: str) -> bool:
    """Return whether a text has a number without a unit beside a word for a price, as below the header "Price"."""
    return _PRICE.search(text) is not None and any(not measure for _, measure in find_quantities(text))


def find_asked_value(question: str) -> AskedValue | None:
    """Return the kind of value that the question names; None if it names no known kind.

    Counted things ("how many holidays") are no kind: the documents may use another word.
    """
    words = find_value_words(question)
    for kind, pattern in words.asked:
        if pattern.search(question):
            return AskedValue(kind)
    match = words.how_many.search(question)
    units = (
        [unit for word in fold_words(match[1]) for unit in find_units(word) if unit in _KIND_OF_UNIT] if match else []
    )
    return AskedValue(_KIND_OF_UNIT[units[0]]) if units else None


def may_hold_value(question: str, text: str) -> bool:
    """Return whether a text may contain the number or time that the question asks for.

    Always True if the question asks for anything else. A number in words, "each" or a condition ("if the alarm rings")
    is enough, in the language of the question or of the text.
    """
    plain, words = _NUMBERING.sub("", text), find_value_words(question)
    if words.how_many.search(question):
        return bool(
            find_quantities(plain) or words.counted.search(plain) or find_value_words(plain).counted.search(plain)
        )
    if find_answer_type(question) == "time":
        named = find_quantities(plain) or has_shape("time", plain)
        return bool(named or words.condition.search(plain) or find_value_words(plain).condition.search(plain))
    return True
