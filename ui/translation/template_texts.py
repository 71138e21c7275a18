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
    translate_language_name,
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
UPLOAD_TEXTS = (
    "Added",
    "Replaced the former version",
    "Unchanged, it is there already",
    "Not added: the same content is there already",
    "failed",
    "Skipped",
    "Leave out",
    "Leave out %(name)s",
    "waiting",
    "Larger than %(most)s MB",
    "Sending %(name)s",
    "sending",
    "being fetched",
    "being read",
    "The connection was lost. Choose it again.",
    "It could not be sent. Reload the page.",
    "More than %(most)s files: add the rest afterwards, or add the folder as a source.",
    "It could not be read.",
    "%(done)s of %(all)s",
    "Choose files, drop them above, or give a web address.",
    "Select all",
)
UPLOAD_NUMBERS = (
    ("%(number)s file sent", "%(number)s files sent"),
    ("%(number)s added", "%(number)s added"),
    ("%(number)s in already", "%(number)s in already"),
    ("%(number)s not added", "%(number)s not added"),
    ("%(number)s selected", "%(number)s selected"),
    ("Remove %(number)s document", "Remove %(number)s documents"),
)
"""The texts of uploads.js, and those with a number as pairs."""


def install_translations(environment: Environment) -> None:
    """Give templates `_()` and `{% trans %}`: the values put into a translation are escaped."""
    environment.add_extension("jinja2.ext.i18n")
    environment.install_gettext_callables(_find, _find_number, newstyle=True)  # type: ignore[attr-defined]
    # `translate` takes texts made elsewhere, in which "%" is no placeholder.
    environment.globals.update(
        underline_texts=_format_underline_texts,
        upload_texts=_format_upload_texts,
        get_language=page_language.get,
        translate=translate,
        translate_language=translate_language_name,
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


def _format_upload_texts() -> str:
    """Format the texts of uploads.js, those with a number as the forms for 0, 1 and 2."""
    numbered = {many: [_find_number(one, many, number) for number in range(3)] for one, many in UPLOAD_NUMBERS}
    return json.dumps({text: translate(text) for text in UPLOAD_TEXTS} | numbered)


def _find(text: str) -> str:
    return translate(text)


def _find_number(one: str, many: str, number: int) -> str:
    return load_translations(page_language.get()).ngettext(one, many, number)
