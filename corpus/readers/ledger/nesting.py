"""Files inside files: how deep a census is, and how it counts what lies inside."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from argot.corpus.readers.ledger.budget import Budget
from argot.corpus.readers.ledger.source_text import SourceText


@dataclass(frozen=True, slots=True)
class Nesting:
    """The depth of a file among the files around it, and the time that is left for all of them."""

    census: Callable[[bytes, str, Nesting], Iterator[SourceText]]
    budget: Budget
    depth: int = 0

    def descend(self) -> Nesting:
        """Return the nesting of what lies inside."""
        return replace(self, depth=self.depth + 1)

    def read_inner_texts(self, data: bytes, name: str) -> Iterator[SourceText]:
        """Give the text of a file that lies inside."""
        return self.census(data, name, self.descend())
