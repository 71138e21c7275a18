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
        values = _match(template, text)
        if values is not None:
            return template, values
    return "", {}


def translate_written(text: str, templates: Iterable[str]) -> str:
    """Translate a text that was written from one of these templates; one from no template stays as it is."""
    template, values = find_template(text, templates)
    return translate(template, **values) if template else translate(text)


def count_fixed_characters(template: str) -> int:
    """Count the characters of a template outside its places."""
    return len(_PLACE.sub("", template))


def _match(template: str, text: str) -> dict[str, str] | None:
    """Return the values of a text that was written from a template; None if it was not.

    From the right, each value as short as its neighbours allow. Not by a regular expression, whose time would grow with
    a power of the length: a text may have names of any length that people chose.
    """
    first, *parts = _split_template(template)
    if not parts:
        return {} if text == first else None
    end = len(text) - len(parts[-1])
    if not text.startswith(first) or not text.endswith(parts[-1]) or end <= len(first):
        return None
    values: dict[str, str] = {}
    for place in range(len(parts) - 2, -1, -2):
        before = parts[place - 1] if place else first
        # Each value has at least one character.
        at = text.rfind(before, len(first) + 1, end - 1) if place else 0
        value = text[at + len(before) : end]
        # A text that names a value twice has the same one in both places.
        if at < 0 or values.setdefault(parts[place], value) != value:
            return None
        end = at
    return values


@cache
def _split_template(template: str) -> tuple[str, ...]:
    return tuple(_PLACE.split(template))
