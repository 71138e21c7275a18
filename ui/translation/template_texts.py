"""The translations for templates: the functions and filters that they use."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

from argot.languages.catalogues import (
    LANGUAGE_NAMES,
    format_local_day,
    format_local_decimal,
    format_local_moment,
    format_local_number,
    format_local_percent,
    format_local_size,
    load_translations,
    page_language,
    translate,
)

if TYPE_CHECKING:
    from jinja2 import Environment

UNDERLINE_TEXTS = (
    "What %(term)s means",
    "It has several meanings; the text does not say which one is meant here.",
    "Looked after by %(name)s",
    "In the glossary",
    "It means something else here",
    "Not what it means here",
    "What does it mean here? (optional; managers of the glossary read it)",
    "Send",
    "Thank you. It is in the queue of those who look after the glossary.",
    "Only some people may read this meaning, so it is not in the queue. Tell %(name)s.",
    "who looks after it",
    "It could not be sent.",
)
"""The texts of underline.js, in the window and on pages."""


def install_translations(environment: Environment) -> None:
    """Give templates `_()` and `{% trans %}`: the values put into a translation are escaped."""
    environment.add_extension("jinja2.ext.i18n")
    environment.install_gettext_callables(_find, _find_number, newstyle=True)  # type: ignore[attr-defined]
    # `translate` takes texts made elsewhere, in which "%" is no placeholder.
    environment.globals.update(
        underline_texts=_format_underline_texts,
        get_language=page_language.get,
        translate=translate,
        LANGUAGE_NAMES=LANGUAGE_NAMES,
    )
    environment.filters.update(
        local_day=format_local_day,
        local_moment=format_local_moment,
        local_number=format_local_number,
        local_decimal=format_local_decimal,
        local_gain=partial(format_local_decimal, signed=True),
        local_percent=format_local_percent,
        filesizeformat=format_local_size,
    )


def _format_underline_texts() -> str:
    return json.dumps({text: translate(text) for text in UNDERLINE_TEXTS})


def _find(text: str) -> str:
    return translate(text)


def _find_number(one: str, many: str, number: int) -> str:
    return load_translations(page_language.get()).ngettext(one, many, number)
