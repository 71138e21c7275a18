"""A record of the characters of a text that belong to matches in it."""

from __future__ import annotations


class SpanMask:
    """The characters of a text, each free or taken.

    A query examines only its range, however much is taken: a question may contain a thousand terms.
    """

    def __init__(self, length: int) -> None:
        self._taken = bytearray(length)

    def take(self, start: int, end: int) -> None:
        """Take the characters [start, end)."""
        self._taken[start:end] = b"\x01" * (end - start)

    def are_free(self, start: int, end: int) -> bool:
        """Return whether none of the characters [start, end) is taken."""
        return self._taken.find(1, start, end) < 0
