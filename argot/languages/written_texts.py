"""Texts that were written in English before anybody knew in which language they are read.

A layer below the surfaces names a problem in English, for logs, traces and stored turns. Where people read it, the text
is recognised by the template that it was written from, and written again in their language with the same values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from argot.languages.catalogues import translate


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


@cache
def _compile(template: str) -> re.Pattern[str]:
    parts = re.split(r"%\((\w+)\)s", template)
    pattern = "".join(f"(?P<{one}>.+)" if at % 2 else re.escape(one) for at, one in enumerate(parts))
    return re.compile(pattern, re.DOTALL)
