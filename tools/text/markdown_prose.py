"""Markdown read as prose, with the way back: which character of the source each plain character came from."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache

_TARGET = r"(?:\((?:[^()\s]|\([^()\s]{0,200}\)){0,2000}(?:\s\"[^\"\n]{0,300}\")?\)|\[[A-Za-z_][^\]\n]{0,100}\])"
_MARKUP = re.compile(
    r"(?=[^\w .,;:'\"()-]|_| [\s#])(?:"  # no mark-up begins otherwise: six times as fast
    rf"(?P<open>!?\[(?=[^\]\n]{{0,300}}\]{_TARGET}))"
    rf"|(?P<close>\]{_TARGET})"
    r"|(?P<auto><(?P<url>https?://[^>\s]{1,2000})>)"
    r"|(?P<code>(?<!`)(?P<tick>`{1,3})(?P<inner>[^`\n]{1,500})(?P=tick)(?!`))"
    r"|(?P<strong>\*\*|__(?=\w)|(?<=\w)__(?!\w))"
    r"|(?P<emphasis>(?<![\w*])[*_](?=[^\s*_])|(?<=[^\s*_])[*_](?![\w*]))"
    r"|(?P<heading>(?:\A[ \t]{0,3}|^)#{1,6}[ \t]+)"
    r"|(?P<closing>(?<!\s)[ \t]#+[ \t]*$)"
    r"|(?P<escape>\\(?P<escaped>[\\`*_{}\[\]()#+\-.!|<>~]))"
    r"|(?P<space>\s{2,}|[^\S ]))",
    re.MULTILINE,
)
_KEPT = {"auto": "url", "code": "inner", "escape": "escaped"}


@dataclass(frozen=True, slots=True)
class Plain:
    """`text` without mark-up, runs of white space as one blank. Of what stands together in text and source, `places`
    are where it begins in the text, `origins` where in the source.
    """

    text: str
    places: tuple[int, ...]
    origins: tuple[int, ...]

    def source_span(self, start: int, end: int) -> tuple[int, int]:
        """The [start, end) of the source that holds text[start:end]."""
        return self._origin(start), self._origin(end - 1) + 1

    def _origin(self, place: int) -> int:
        piece = bisect_right(self.places, place) - 1
        return self.origins[piece] + place - self.places[piece]


@lru_cache(maxsize=8_000)
def plain_prose(source: str) -> Plain:
    """The prose of `source`: link and image syntax, emphasis, code ticks, heading marks and escapes gone."""
    building = _Building(source)
    position = 0
    for match in _MARKUP.finditer(source):
        building.prose(position, match.start())
        position = match.end()
        if match["space"] is not None:
            building.blank(match.start())
        else:
            for kind, part in _KEPT.items():
                if match[kind] is not None:
                    building.keep(*match.span(part))
    building.prose(position, len(source))
    return building.done()


class _Building:
    """A `Plain` in the making. Single blanks are part of the prose around them: one match a word would be slow."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._parts: list[str] = []
        self._places: list[int] = []
        self._origins: list[int] = []
        self._length = 0

    def keep(self, start: int, end: int) -> None:
        if start < end:
            self._add(self._source[start:end], start)

    def prose(self, start: int, end: int) -> None:
        if start < end and self._source[start] == " " and self._ends_blank():
            start += 1
        self.keep(start, end)

    def blank(self, start: int) -> None:
        if not self._ends_blank():
            self._add(" ", start)

    def done(self) -> Plain:
        text = "".join(self._parts)
        return Plain(text[:-1] if text.endswith(" ") else text, tuple(self._places), tuple(self._origins))

    def _ends_blank(self) -> bool:
        return not self._parts or self._parts[-1].endswith(" ")

    def _add(self, text: str, origin: int) -> None:
        self._parts.append(text)
        self._places.append(self._length)
        self._origins.append(origin)
        self._length += len(text)
