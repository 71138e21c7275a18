"""Markdown read as prose, with the way back: which character of the source each plain character came from."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

_TARGET = r"(?:\([^()\s]{0,2000}(?:\s\"[^\"\n]{0,300}\")?\)|\[[A-Za-z_][^\]\n]{0,100}\])"
_MARKUP = re.compile(
    rf"(?P<open>!?\[(?=[^\]\n]{{0,300}}\]{_TARGET}))"
    rf"|(?P<close>\]{_TARGET})"
    r"|(?P<auto><(?P<url>https?://[^>\s]{1,2000})>)"
    r"|(?P<code>(?<!`)(?P<tick>`{1,3})(?P<inner>[^`\n]{1,500})(?P=tick)(?!`))"
    r"|(?P<strong>\*\*|__(?=\w)|(?<=\w)__(?!\w))"
    r"|(?P<emphasis>(?<![\w*])[*_](?=[^\s*_])|(?<=[^\s*_])[*_](?![\w*]))"
    r"|(?P<heading>^[ \t]{0,3}#{1,6}[ \t]+)"
    r"|(?P<closing>[ \t]#+[ \t]*$)"
    r"|(?P<escape>\\(?P<escaped>[\\`*_{}\[\]()#+\-.!|<>~]))"
    r"|(?P<space>\s+)",
    re.MULTILINE,
)
_KEPT = {"auto": "url", "code": "inner", "escape": "escaped"}


@dataclass(frozen=True, slots=True)
class Plain:
    """`text` without mark-up, runs of white space as one blank; `offsets[i]` is where text[i] stands in the source."""

    text: str
    offsets: tuple[int, ...]

    def source_span(self, start: int, end: int) -> tuple[int, int]:
        """The [start, end) of the source that holds text[start:end]."""
        return self.offsets[start], self.offsets[end - 1] + 1


@lru_cache(maxsize=2_000)
def plain(source: str) -> Plain:
    """The prose of `source`: link and image syntax, emphasis, code ticks, heading marks and escapes gone."""
    characters: list[str] = []
    offsets: list[int] = []

    def keep(start: int, end: int) -> None:
        characters.extend(source[start:end])
        offsets.extend(range(start, end))

    position = 0
    for match in _MARKUP.finditer(source):
        keep(position, match.start())
        position = match.end()
        kind = _kind(match)
        if kind in _KEPT:
            keep(*match.span(_KEPT[kind]))
        elif kind == "space" and characters and characters[-1] != " ":
            characters.append(" ")
            offsets.append(match.start())
    keep(position, len(source))
    if characters and characters[-1] == " ":
        characters.pop()
        offsets.pop()
    return Plain("".join(characters), tuple(offsets))


def _kind(match: re.Match[str]) -> str:
    return next((kind for kind in (*_KEPT, "space") if match.group(kind) is not None), "mark")
