"""The units of quantities: their spellings, and which are multiples of a smaller one."""

from __future__ import annotations

from decimal import Decimal

from argot.languages.language_data import LISTED_LANGUAGES, read_language_file

UNITS = {
    spelling: name
    for name, spellings in {
        "%": "% percent percentage per-cent pct",
        "ppm": "ppm",
        "ns": "ns nanosecond nanoseconds nsec",
        "us": "us µs μs microsecond microseconds usec",
        "ms": "ms millisecond milliseconds msec",
        "s": "s sec secs second seconds",
        "min": "min mins minute minutes",
        "h": "h hr hrs hour hours",
        "day": "day days",
        "night": "night nights",
        "week": "week weeks",
        "month": "month months",
        "quarter": "quarter quarters",
        "year": "year years yr yrs",
        "kV": "kv kilovolt kilovolts",
        "V": "v volt volts",
        "mV": "mv millivolt millivolts",
        "kW": "kw kilowatt kilowatts",
        "W": "w watt watts",
        "mW": "mw milliwatt milliwatts",
        "A": "a amp amps ampere amperes",
        "mA": "ma milliampere milliamperes",
        "uA": "ua µa μa microampere microamperes",
        "mohm": "mohm milliohm milliohms",
        "ohm": "ohm ohms ω",
        "kohm": "kohm kiloohm kiloohms kilohm kilohms kω",
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
        "mile": "mile miles",
        "inch": "inch inches",
        "foot": "foot feet ft",
        "yard": "yard yards",
        "mg": "mg milligram milligrams",
        "g": "g gram grams",
        "kg": "kg kilo kilos kilogram kilograms",
        "tonne": "tonne tonnes",
        "ton": "ton tons",
        "pound": "lb lbs",
        "ounce": "oz ounce ounces",
        "bar": "bar bars",
        "psi": "psi",
        "gallon": "gallon gallons gal",
        "pint": "pint pints",
        "ml": "ml millilitre millilitres milliliter milliliters",
        "l": "l litre litres liter liters",
        "degree": "degree degrees ° °c celsius c",
        "fahrenheit": "°f fahrenheit",
        "EUR": "€ eur euro euros",
        "USD": "$ usd us$ dollar dollars",
        "GBP": "£ gbp pound pounds sterling",
        "CHF": "chf franc francs",
        "JPY": "¥ jpy yen",
        "CNY": "cny rmb yuan",
        "INR": "₹ inr rupee rupees",
        "cent": "¢ cent cents",
        "SEK": "sek krona kronor",
        "NOK": "nok",
        "DKK": "dkk",
        "krone": "krone kroner",
        "PLN": "pln zloty zlotys złoty",
        "CZK": "czk koruna korunas",
    }.items()
    for spelling in spellings.split()
}
"""The name of each unit by its spellings, in lower case."""
CURRENCIES = frozenset(
    ["EUR", "USD", "GBP", "CHF", "JPY", "CNY", "INR", "cent", "SEK", "NOK", "DKK", "krone", "PLN", "CZK"]
)
UNITS |= {
    spelling: name
    for code in LISTED_LANGUAGES
    for name, spellings in read_language_file(code)["units"].items()
    for spelling in spellings.split()
    if spelling not in UNITS
}
IN_SMALLER: dict[str, tuple[str, Decimal]] = {
    "min": ("s", Decimal(60)),
    "h": ("s", Decimal(3600)),
    "day": ("s", Decimal(86_400)),
    "week": ("s", Decimal(604_800)),
    "quarter": ("month", Decimal(3)),
    "year": ("month", Decimal(12)),
    "kg": ("g", Decimal(1000)),
    "tonne": ("g", Decimal(1_000_000)),
    "km": ("m", Decimal(1000)),
    "cm": ("m", Decimal("0.01")),
    "mm": ("m", Decimal("0.001")),
    "us": ("ns", Decimal(1000)),
    "ms": ("ns", Decimal(1_000_000)),
    "kHz": ("Hz", Decimal(1000)),
    "MHz": ("Hz", Decimal(1_000_000)),
    "GHz": ("Hz", Decimal(1_000_000_000)),
}
"""Units in terms of a smaller one: 60 minutes are an hour, 24 months two years; months have no fixed days."""


def find_unit(spelling: str) -> str:
    """Return the unit of a spelling; empty if it is none."""
    if spelling == "a":
        return ""  # the article: "40 requests a day"
    return UNITS.get(spelling.rstrip(".").casefold(), "")


def is_unit(name: str) -> bool:
    """Return whether a word is a unit: "kB", "mA"."""
    return bool(find_unit(name))
