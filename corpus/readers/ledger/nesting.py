"""Files inside files: the depth of a census, and the census of the inner files."""

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
        """Return the nesting of the inner files."""
        return replace(self, depth=self.depth + 1)

    def read_inner_texts(self, data: bytes, name: str) -> Iterator[SourceText]:
        """Yield the text of an inner file."""
        return self.census(data, name, self.descend())
