"""Limits of a call: time, repeated text, body size."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable
from dataclasses import dataclass, field
from typing import TypeVar

from argot.settings import Settings

T = TypeVar("T")

MAX_BODY_BYTES = 8_000_000
"""The longest answer, 8192 tokens at some 300 bytes of JSON each, takes 2.5 MB."""
MAX_EVENT_BYTES = 256_000
"""Bound on one server-sent event, which may hold a whole answer."""
TAIL_CHARS = 1200  # characters of a text that are watched for repetition
LOOP_CHARS = 240  # characters that have to repeat: a shorter repetition may be intended
LOOP_TIMES = 4
BLANK_CHARS = 200  # characters of white space after which nothing more is expected


class TooLate(Exception):
    """A time limit was reached. `first`: before anything arrived."""

    def __init__(self, first: bool) -> None:
        self.first = first
        super().__init__("first token" if first else "whole call")


class BodyTooLarge(Exception):
    """More arrived than the limit of a body, an event or a reply."""


@dataclass
class Clock:
    """The time limits of one call, including all its attempts.

    Each wait is limited by itself, never the caller's own work between two pieces: a limit that ran on while the caller
    works would cancel the caller.
    """

    first_seconds: float
    all_seconds: float
    started: float = field(default_factory=time.monotonic)
    attempt: float = field(default_factory=time.monotonic)
    first_token: float | None = None

    @classmethod
    def of(cls, settings: Settings) -> Clock:
        return cls(settings.model_server.first_token_seconds, settings.model_server.call_seconds)

    def again(self) -> None:
        """Begin a new attempt, which waits again for its first token; the whole call's limit stays."""
        self.attempt, self.first_token = time.monotonic(), None

    async def next(self, stream: AsyncIterator[T]) -> T:
        """Return the stream's next item.

        Raises:
            TooLate: it does not arrive in time.
            StopAsyncIteration: there is none.
        """
        return await self.wait(anext(stream))

    async def wait(self, coming: Awaitable[T]) -> T:
        """Return the result of `coming`, within the time limits.

        Raises:
            TooLate: it does not arrive in time.
        """
        whole = self.started + self.all_seconds
        bound = min(whole, self.attempt + self.first_seconds) if self.first_token is None else whole
        try:
            async with asyncio.timeout(bound - time.monotonic()):
                return await coming
        except TimeoutError:
            raise TooLate(first=bound < whole) from None

    def mark_token(self) -> None:
        """Record that the first token, or another one, has arrived."""
        if self.first_token is None:
            self.first_token = time.monotonic() - self.attempt


class LoopWatch:
    """Detects a text that repeats the same words over and over, as small models do."""

    def __init__(self) -> None:
        self._tail = ""
        self._unseen = 0

    def loops(self, piece: str) -> bool:
        self._tail = (self._tail + piece)[-TAIL_CHARS:]
        self._unseen += len(piece)
        # Checked once in a number of characters, not with every token.
        if self._unseen < LOOP_CHARS:
            return False
        self._unseen = 0
        return is_repeating(self._tail)


def is_repeating(text: str) -> bool:
    """Return whether the text ends in at least LOOP_CHARS characters that repeat one unit LOOP_TIMES or more times.

    The reversed text's prefix function (Knuth, Morris, Pratt) gives the smallest period of each ending.
    """
    turned = text[::-1]
    borders = [0] * len(turned)
    for place in range(1, len(turned)):
        border = borders[place - 1]
        while border and turned[place] != turned[border]:
            border = borders[border - 1]
        borders[place] = border + (turned[place] == turned[border])
        length = place + 1
        # length - border is the smallest period of this ending.
        if length >= LOOP_CHARS and length >= LOOP_TIMES * (length - borders[place]):
            return True
    return False


def has_blank_tail(text: str) -> bool:
    """Return whether so much white space has arrived that nothing else will: JSON may end in it for ever."""
    return len(text) >= BLANK_CHARS and text[-BLANK_CHARS:].isspace()
