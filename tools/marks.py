"""The citation marks a model writes: "[2]", "[1, 3]", "[1-3]", "【1】", "(passage 2)", "According to [1]".

They are never believed: `match_references` finds the passages itself. What points at no passage is dropped as it is
written, and all others are taken out once the citations are known.
"""

from __future__ import annotations

import re
from collections.abc import Callable

CUT_SHORT = " …"
"""What an answer ends in whose writer was stopped in the middle."""

_AND = r"\s*(?:,|;|&|and|-|–|—)\s*"
_NUMBERS = rf"\d{{1,3}}(?:{_AND}\d{{1,3}})*"
_NAMED = r"(?:passages?|sources?|documents?|references?|refs?\.?)\s*"
_MARK = re.compile(
    rf"(?P<gap>[ \t]*)(?:\[\s*\^?(?:{_NAMED})?(?P<square>{_NUMBERS})\s*\](?!\()"
    rf"|【\s*(?:{_NAMED})?(?P<thick>{_NUMBERS})[^】\n]{{0,20}}】"
    rf"|\(\s*(?:{_NAMED})(?P<round>{_NUMBERS})\s*\))",
    re.IGNORECASE,
)
_BEGUN = re.compile(
    r"[ \t]*(?:\[[\w\s.,;&^–—-]{0,40}\]?|【[^】\n]{0,40}|\(\s*[a-z.]{0,10}[\s\d,;&–—-]{0,20})?$", re.IGNORECASE
)
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_AS_PROSE = re.compile(
    rf"\b(?P<word>to|in|by|from)\s+(?:the\s+)?(?:\[\s*(?P<square>{_NUMBERS})\s*\]|passages?\s+(?P<round>{_NUMBERS})\b)",
    re.IGNORECASE,
)
_BEHIND_A_STOP = re.compile(r"(?<=[.!?])[ \t]*\((?P<round>\d{1,2})\)[ \t]*$", re.MULTILINE)
_AT_LINE_START = re.compile(rf"^[ \t]*\[\s*(?P<square>{_NUMBERS})\s*\]:?[ \t]+(?=\S)", re.MULTILINE)
_WIDEST_RANGE = 20


class MarkFilter:
    """Drops marks that point at no passage while the text streams; the others come out as "[1][3]".

    A mark may come in pieces: what may yet become one is held back, and white space with it.
    """

    def __init__(self, passages: int) -> None:
        self._passages = passages
        self._held = ""
        self._sent = ""

    def feed(self, piece: str) -> str:
        """What of the text so far can go out now."""
        text = self._held + piece
        begun = _BEGUN.search(text)
        cut = begun.start() if begun else len(text)
        self._held = text[cut:]
        return self._out(text[:cut])

    def rest(self) -> str:
        """What was still held back when the text ended."""
        held, self._held = self._held, ""
        return self._out(held)

    def _out(self, text: str) -> str:
        before = self._sent

        def checked(match: re.Match[str]) -> str:
            so_far = before + text[: match.start()]
            return match[0] if in_code(so_far) else self._checked(match, so_far)

        out = _MARK.sub(checked, text)
        self._sent += out
        return out

    def _checked(self, match: re.Match[str], so_far: str) -> str:
        there = [number for number in _numbers(match) if 1 <= number <= self._passages]
        if there:
            return match["gap"] + "".join(f"[{number}]" for number in there)
        is_index = not match["gap"] and so_far[-1:].isalnum()  # "cell[12]" is no mark
        return match[0] if is_index else ""


def without_marks(text: str, passages: int) -> str:
    """The text without marks of its `passages` passages (numbered from 1); other brackets and code stay."""

    def all_there(match: re.Match[str]) -> bool:
        return all(1 <= number <= passages for number in _numbers(match))

    def gone(match: re.Match[str]) -> str:
        return "" if all_there(match) else match[0]

    def named(match: re.Match[str]) -> str:
        return f"{match['word']} the documents" if all_there(match) else match[0]

    def clean(part: str) -> str:
        part = _AT_LINE_START.sub(gone, _AS_PROSE.sub(named, part))
        return _BEHIND_A_STOP.sub(gone, _MARK.sub(gone, part))

    return _outside_code(text, clean)


def _outside_code(text: str, change: Callable[[str], str]) -> str:
    parts, end = [], 0
    for code in _CODE.finditer(text):
        parts += [change(text[end : code.start()]), code[0]]
        end = code.end()
    return "".join([*parts, change(text[end:])])


def in_code(text: str) -> bool:
    """Whether a text breaks off within code."""
    if text.count("```") % 2:
        return True
    return text.rpartition("\n")[2].replace("```", "").count("`") % 2 == 1


def _numbers(match: re.Match[str]) -> list[int]:
    """The numbers of a mark in order, ranges counted out."""
    listed = next(numbers for numbers in match.groupdict().items() if numbers[0] in _GROUPS and numbers[1])[1]
    found: list[int] = []
    for part in re.split(r"\s*(?:,|;|&|and)\s*", listed):
        first, _, last = (end.strip() for end in re.sub(r"[–—]", "-", part).partition("-"))
        end = int(last) if last else int(first)
        found += range(int(first), min(end, int(first) + _WIDEST_RANGE) + 1)
    return list(dict.fromkeys(found))


_GROUPS = ("square", "thick", "round")
