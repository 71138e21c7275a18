"""The message catalogues: translations of the pages' texts, read from `locale/LANGUAGE/LC_MESSAGES/argot.po`."""

from __future__ import annotations

from functools import cache
from gettext import NullTranslations
from importlib.resources import files
from io import BytesIO
from typing import TYPE_CHECKING

from argot.ui.translation.page_language import LANGUAGE_NAMES, page_language

if TYPE_CHECKING:
    from datetime import datetime

    from babel.messages.catalog import Catalog
    from jinja2 import Environment

ENGLISH = "en"


def read_catalogue(language: str) -> Catalog:
    """Read the catalogue of a language from its file."""
    from babel.messages.pofile import read_po

    path = files("argot.ui.translation") / "locale" / language / "LC_MESSAGES" / "argot.po"
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


def translate(text: str) -> str:
    """Translate a text into the language of the request; one without a translation stays English."""
    # The catalogue has its own header under the empty text.
    return load_translations(page_language.get()).gettext(text) if text else ""


def translate_number(one: str, many: str, number: int) -> str:
    """Translate a text that has a number, in the plural form that the language has for it."""
    return load_translations(page_language.get()).ngettext(one, many, number)


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


def install_translations(environment: Environment) -> None:
    """Give templates `_()` and `{% trans %}`: the values put into a translation are escaped."""
    environment.add_extension("jinja2.ext.i18n")
    environment.install_gettext_callables(translate, translate_number, newstyle=True)  # type: ignore[attr-defined]
    # `translate` takes texts made elsewhere, in which "%" is no placeholder.
    environment.globals.update(get_language=page_language.get, translate=translate, LANGUAGE_NAMES=LANGUAGE_NAMES)
    environment.filters.update(
        local_day=format_local_day, local_moment=format_local_moment, local_number=format_local_number
    )
