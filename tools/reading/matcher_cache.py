"""Cache of values made for a matcher of the glossary, which makes a new one whenever its senses change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class MatcherCache(Generic[Value]):
    """The latest values, by the objects they were made for. Any thread may ask."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._latest: list[tuple[tuple[object, ...], Value]] = []

    def get(self, made_for: tuple[object, ...], make: Callable[[], Value]) -> Value:
        # A copy, because other threads append meanwhile. By identity, since a matcher of the same terms may have other
        # senses.
        for known, made in list(self._latest):
            if all(one is other for one, other in zip(known, made_for, strict=True)):
                return made
        made = make()
        self._latest.append((made_for, made))
        del self._latest[: -self._most]
        return made
