"""The tolerance of a measurement for failures of its model server: a single failure counts as no answer, and a server
that is down ends the measurement.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterator, Sequence
from typing import TypeVar

from argot.errors import ModelUnavailable

_T = TypeVar("_T")
# Twice the number of parallel calls: one short failure of the server makes all running calls fail.
FAILURES_IN_A_ROW = 8


class Patience:
    """A counter of failures in one run of calls."""

    def __init__(self) -> None:
        self.failed = 0
        self.reason = ""
        """That of the last failure."""
        self._in_a_row = 0

    async def wait(self, answer: Awaitable[_T]) -> _T | None:
        """Return the answer, or None if the model gave none.

        Raises:
            ModelUnavailable: the model gave none for several calls in a row, so the server would be measured.
        """
        try:
            result = await answer
        except ModelUnavailable as error:
            self.failed, self.reason = self.failed + 1, str(error)
            self._in_a_row += 1
            if self._in_a_row >= FAILURES_IN_A_ROW:
                raise ModelUnavailable(f"{error} See what is wrong with: argot doctor") from error
            return None
        self._in_a_row = 0
        return result


def group_items(items: Sequence[_T], size: int) -> Iterator[Sequence[_T]]:
    """Yield the items in groups of `size`, the last one smaller."""
    for start in range(0, len(items), size):
        yield items[start : start + size]
