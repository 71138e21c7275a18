"""Headings of plain text: numbered lines in capitals ("3. MISSED SLOTS (section 4)"), as Markdown headings.

As an item of a list, which Markdown makes of such a line, it would be one sentence with the text below it.
"""

from __future__ import annotations

import re
from itertools import pairwise

_HEADING = re.compile(
    r"(?<![^\n]\n)^(?P<number>\d{1,2})(?:\.\d{1,2})*[.)]? +(?P<capitals>[^a-z\n]*[A-Z]{3}[^a-z\n]*)"
    r"(?P<aside>(?<=\()[^()\n]*\))?:?[ ]*$",
    re.MULTILINE,
)
_MAX_CHARS = 100
_MIN_HEADINGS = 2


def mark_numbered_headings(text: str) -> str:
    """Return the text with its numbered lines in capitals as headings, if it has several, in order."""
    found = [match for match in _HEADING.finditer(text) if len(match[0]) <= _MAX_CHARS and match[0][-1] not in ".;,"]
    numbers = [int(match["number"]) for match in found]
    if len(found) < _MIN_HEADINGS or any(one > other for one, other in pairwise(numbers)):
        return text
    starts = [match.start() for match in found]
    sections = [text[start:end] for start, end in pairwise([*starts, len(text)])]
    marked = [_mark_section(section, match[0]) for section, match in zip(sections, found, strict=True)]
    return "".join([text[: starts[0]], *marked])


def _mark_section(section: str, heading: str) -> str:
    """Return a section with its first line as a heading. The indented text below it moves to the margin: behind a
    heading four spaces would make code of it.
    """
    lines = section[len(heading) :].split("\n")
    indent = next((len(line) - len(line.lstrip()) for line in lines if line.strip() and not line.startswith("|")), 0)
    is_indented = [not line.strip() or line.startswith("|") or line[:indent].isspace() for line in lines]
    end = is_indented.index(False) if False in is_indented else len(lines)
    moved = [line[indent:] if line[:indent].isspace() else line for line in lines[:end]]
    return "\n".join([f"## {heading}\n{moved[0]}", *moved[1:], *lines[end:]])
