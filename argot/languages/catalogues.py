"""The message catalogues: translations of all texts of Argot's that people read, in answers and on pages.

They are read from `locale/LANGUAGE/LC_MESSAGES/argot.po`. A page is in the language that its reader chose or whose
browser asks for (`page_language`). What belongs to an answer is in the language of the question (`speak_as_asked`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from gettext import NullTranslations
from importlib.resources import files
from io import BytesIO
from typing import TYPE_CHECKING
from unicodedata import bidirectional

from argot.languages.detection import find_question_language
from argot.languages.language_data import ENGLISH

if TYPE_CHECKING:
    from datetime import datetime

    from babel.messages.catalog import Catalog

ISOLATE, END_ISOLATE = "\u2068", "\u2069"
"""Around a text whose direction is its own, whatever stands beside it (Unicode Standard Annex 9)."""
LANGUAGE_NAMES = {"en": "English", "de": "Deutsch", "fr": "Français", "es": "Español"}
"""The languages that have a catalogue, and English, each by its own name."""

_INNER_MARKS = {
    "de": str.maketrans("„“”", "‚‘’"),
    "fr": str.maketrans("«»", "“”"),
    "es": str.maketrans("«»", "“”"),
}
"""The marks of a quotation within a quotation, where the outer ones would be repeated."""
page_language: ContextVar[str] = ContextVar("page_language", default=ENGLISH)
"""The language in which texts are written now: the guard of the service sets it for a request."""


@contextmanager
def speak_as_asked(question: str) -> Iterator[None]:
    """Write texts in the language of a question, as long as this lasts; one in no language of a catalogue changes
    nothing.
    """
    found = find_question_language(question)
    token = page_language.set(found if found in LANGUAGE_NAMES else page_language.get())
    try:
        yield
    finally:
        page_language.reset(token)


@contextmanager
def speak(language: str) -> Iterator[None]:
    """Write texts in this language, as long as this lasts; one without a catalogue changes nothing."""
    token = page_language.set(language if language in LANGUAGE_NAMES else page_language.get())
    try:
        yield
    finally:
        page_language.reset(token)


def read_catalogue(language: str) -> Catalog:
    """Read the catalogue of a language from its file."""
    from babel.messages.pofile import read_po

    path = files("argot.languages") / "locale" / language / "LC_MESSAGES" / "argot.po"
    return read_po(BytesIO(path.read_bytes()), locale=language, abort_invalid=True)


@cache
def load_translations(language: str) -> NullTranslations:
    """Load the translations of a language. The keys are the English texts, so English needs none."""
    if language == ENGLISH:
        return NullTranslations()
    from babel.messages.mofile import write_mo
    from babel.support import Translations

    compiled = BytesIO()
    write_mo(compiled, read_catalogue(language))
    compiled.seek(0)
    return Translations(compiled)


def translate(text: str, /, **values: object) -> str:
    """Translate a text into the language of `page_language`; one without a translation stays English.

    Args:
        values: put into the text's places ("%(name)s"). Without any, "%" is no place.
    """
    # The catalogue has its own header under the empty text.
    found = load_translations(page_language.get()).gettext(text) if text else ""
    return found % values if values else found


def translate_number(one: str, many: str, number: int, /, **values: object) -> str:
    """Translate a text into the plural form that the language has for a number, and put it into "%(number)s"."""
    return load_translations(page_language.get()).ngettext(one, many, number) % {"number": number, **values}


def translate_to_all(text: str) -> set[str]:
    """Return a text in every language, for replies that repeat it."""
    return {load_translations(language).gettext(text) for language in LANGUAGE_NAMES}


def join_with_and(names: list[str] | tuple[str, ...]) -> str:
    """Join names as a list in a sentence: "a, b and c"."""
    return _join_names(names, translate("%(some)s and %(last)s"))


def join_with_or(names: list[str] | tuple[str, ...]) -> str:
    """Join names as alternatives in a sentence: "a, b or c"."""
    return _join_names(names, translate("%(some)s or %(last)s"))


def quote_name(name: object) -> str:
    """Put a name or a quotation into the language's quotation marks. One that begins from right to left is isolated, so
    that its signs and the marks stay where they belong.
    """
    text = str(name).translate(_INNER_MARKS.get(page_language.get(), {}))
    first = next((kind for kind in map(bidirectional, text) if kind in ("L", "R", "AL")), "L")
    return translate("“%(name)s”", name=text if first == "L" else f"{ISOLATE}{text}{END_ISOLATE}")


def _join_names(names: list[str] | tuple[str, ...], form: str) -> str:
    return names[0] if len(names) == 1 else form % {"some": ", ".join(names[:-1]), "last": names[-1]}


def translate_language_name(name: str) -> str:
    """Translate the English name of a language; a name that is unknown stays as it is."""
    from babel import Locale

    codes = {known: code for code, known in Locale("en").languages.items()}
    return str(Locale(page_language.get()).languages.get(codes.get(name, ""), name))


def format_local_day(text: str | None) -> str:
    """Format the day of an ISO time as the language writes it; in English as stored: 2027-01-31."""
    day = (text or "")[:10]
    return day if page_language.get() == ENGLISH or not (read := _parse_moment(day)) else _format_date(read)


def format_local_moment(text: str | None) -> str:
    """Format an ISO time as the language writes it; in English as stored: 2027-01-31 12:00."""
    moment = (text or "")[:16]
    if page_language.get() == ENGLISH or not (read := _parse_moment(moment)):
        return moment.replace("T", " ")
    return f"{_format_date(read)} {read:%H:%M}"


def format_local_number(number: int) -> str:
    """Format a whole number with the language's separators of thousands."""
    from babel.numbers import format_decimal

    return format_decimal(number, locale=page_language.get())


def format_local_decimal(number: float, digits: int, *, signed: bool = False) -> str:
    """Format a number with so many digits after the language's decimal sign; `signed`: with a plus before a gain."""
    from babel.numbers import format_decimal

    shown = "0" + "." * bool(digits) + "0" * digits
    return format_decimal(number, f"+{shown};-{shown}" if signed else f"#,##{shown}", locale=page_language.get())


def format_local_percent(share: float) -> str:
    """Format a share between 0 and 1 as a whole percentage that no line break parts: 45 %."""
    return f"{format_local_decimal(100 * share, 0)} %"


def format_local_size(size: float) -> str:
    """Format a number of bytes, in units of 1,000, with the language's own name for bytes."""
    units, unit = ("B", "kB", "MB", "GB", "TB"), 0
    while size >= 1000 and unit < len(units) - 1:
        size, unit = size / 1000, unit + 1
    name = units[unit].replace("B", "o") if page_language.get() == "fr" else units[unit]
    return f"{format_local_decimal(size, 1 if unit else 0)} {name}"


def _parse_moment(text: str) -> datetime | None:
    from datetime import datetime

    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _format_date(moment: datetime) -> str:
    from babel.dates import format_date

    # Four digits of the year: the languages' own short forms have two.
    form = "dd.MM.yyyy" if page_language.get() == "de" else "dd/MM/yyyy"
    return format_date(moment.date(), form, page_language.get())
