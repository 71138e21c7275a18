"""Texts that were written in English before anybody knew in which language they are read.

A layer below the surfaces names a problem in English, for logs, traces and stored turns. Where people read it, the text
is recognised by the template that it was written from, and written again in their language with the same values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from argot.languages.catalogues import translate

_PLACE = re.compile(r"%\((\w+)\)s")


def find_template(text: str, templates: Iterable[str]) -> tuple[str, dict[str, str]]:
    """Return the first template that the text was written from, and its values; empty ones if there is none."""
    for template in templates:
        if found := _compile(template).fullmatch(text):
            return template, found.groupdict()
    return "", {}


def translate_written(text: str, templates: Iterable[str]) -> str:
    """Translate a text that was written from one of these templates; one from no template stays as it is."""
    template, values = find_template(text, templates)
    return translate(template, **values) if template else translate(text)


def count_fixed_characters(template: str) -> int:
    """Count the characters of a template outside its places."""
    return len(_PLACE.sub("", template))


@cache
def _compile(template: str) -> re.Pattern[str]:
    parts = _PLACE.split(template)
    pattern, named = "", set[str]()
    for at, part in enumerate(parts):
        if at % 2 == 0:
            pattern += re.escape(part)
        else:
            # A text that names a value twice has the same one in both places.
            pattern += f"(?P={part})" if part in named else f"(?P<{part}>.+)"
            named.add(part)
    return re.compile(pattern, re.DOTALL)
