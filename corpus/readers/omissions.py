"""Counts the parts of a file that a reader found and did not read, for the warning on a document's page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

_PLURALS = {
    "text box": "text boxes",
    "check box": "check boxes",
    "end of a long printout": "ends of long printouts",
    "page of a frame": "pages of frames",
    "piece of Perl code": "pieces of Perl code",
}

_MAX_NAMES_CHARS = 300


class Omissions:
    """The parts of one file that its reader found and did not read, counted by kind.

    A kind is a singular noun that a person knows: "picture", "equation", "comment", "attached file".
    """

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._of_parts: list[str] = []

    def add(self, kind: str, number: int = 1) -> None:
        self._counts[kind] += number

    def warn(self, warnings: Iterable[str]) -> None:
        """Add warnings of files within this one, which follow its own."""
        self._of_parts += warnings

    def warnings(self) -> tuple[str, ...]:
        """Return one warning such as "2 pictures and 1 equation were not read"; none if nothing was left unread."""
        named = [f"{number:,} {_format_noun(kind, number)}" for kind, number in self._counts.items() if number > 0]
        if not named:
            return tuple(self._of_parts)
        *others, last = named
        listed = f"{', '.join(others)} and {last}" if others else last
        only_one = sum(self._counts.values()) == 1
        return (f"{listed} {'was' if only_one else 'were'} not read", *self._of_parts)


def join_names(names: Iterable[str]) -> str:
    """Return the names of what was not read, each once, cut to the length of a warning."""
    return ", ".join(dict.fromkeys(names))[:_MAX_NAMES_CHARS]


def _format_noun(kind: str, number: int) -> str:
    return kind if number == 1 else _PLURALS.get(kind, f"{kind}s")
