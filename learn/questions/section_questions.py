"""Questions made from documentation: the text of a section answers its heading, worded as people ask."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from argot.learn.questions.heading_wording import word_heading

MIN_WORDS, MAX_WORDS = 25, 150

_MARKDOWN_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*\s*$")
_RST_UNDERLINE = re.compile(r"^([=\-~^\"'+*#`.:_])\1{2,}\s*$")
_FENCE = re.compile(r"^\s*(?:```|~~~)")
_ANCHOR = re.compile(r"<a\s+name=\"[^\"]*\"></a>")
_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
_ESCAPE = re.compile(r"\\([^\w\s])")


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a document under one heading; `text` is prose without that heading, of 25 to 150 words."""

    title: str
    heading: str
    text: str

    @property
    def passage(self) -> str:
        """The text as search returns it, without the heading itself, which would give the answer away."""
        return f"{self.title}\n{self.text}" if self.title != self.heading else self.text


def split_sections(markup: str, least: int = MIN_WORDS) -> list[Section]:
    """Split a Markdown or reStructuredText document into its sections of at least so many words."""
    title, heading, lines, found = "", "", list[str](), list[Section]()
    for kind, line in _parse_lines(markup):
        if kind == "heading":
            found.extend(_make_section(title, heading, lines, least))
            title, heading, lines = title or line, line, []
        else:
            lines.append(line)
    return [*found, *_make_section(title, heading, lines, least)]


def make_section_below(title: str, markup: str, least: int = MIN_WORDS) -> list[Section]:
    """Make a section of a text without headings, below its document's title; empty where it has fewer words."""
    return list(_make_section(title, title, [line for _, line in _parse_lines(markup)], least))


def _parse_lines(markup: str) -> Iterator[tuple[str, str]]:
    lines = markup.splitlines()
    fenced = False
    for place, line in enumerate(lines):
        following = lines[place + 1] if place + 1 < len(lines) else ""
        if _FENCE.match(line):
            fenced = not fenced
        elif fenced or _RST_UNDERLINE.match(line) or line.lstrip().startswith(".. "):
            continue
        elif found := _MARKDOWN_HEADING.match(line):
            yield "heading", _clean(found[1])
        elif line.strip() and not line.startswith(" ") and _is_underline(following, line):
            yield "heading", _clean(line)
        else:
            yield "text", line


def _is_underline(line: str, above: str) -> bool:
    return bool(_RST_UNDERLINE.match(line)) and len(line.rstrip()) >= len(above.rstrip())


def _make_section(title: str, heading: str, lines: list[str], least: int) -> Iterator[Section]:
    words = _clean(" ".join(line.strip() for line in lines)).split()
    if heading and len(words) >= least:
        yield Section(title, heading, " ".join(words[:MAX_WORDS]))


def _clean(text: str) -> str:
    plain = _LINK.sub(r"\1", _ANCHOR.sub("", text))
    return re.sub(r"\s+", " ", _ESCAPE.sub(r"\1", plain).replace("**", "").replace("``", "`")).strip()


# -- questions --------------------------------------------------------------------------------------------------------


def make_heading_question(section: Section, place: int) -> str | None:
    """Make the question that this section answers; None if its heading has no content.

    `place` chooses among the wordings.
    """
    return word_heading(section.heading, section.title, section.text, place)
