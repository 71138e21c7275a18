"""The rows of an index as positions in arrays, and which of them a search may find."""

# ruff: noqa: S608  only our own names and numbers are put into SQL
from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from argot.corpus.keyword.posting_blocks import AUDIENCE, BLOCK_BITS, BLOCK_ROWS, RowIndex
from argot.corpus.keyword.word_scores import Numbers
from argot.databases import Connection, read_binary

FEW_DOCUMENTS = 1_000


@dataclass(frozen=True, slots=True)
class RankedScope:
    """`audiences` and `documents` as `KeywordIndex.search_keywords` has them."""

    audiences: Sequence[int] | None
    documents: Collection[str] | None = None

    @property
    def is_of_many(self) -> bool:
        """Number of documents for which reading the numbers of all their rows costs more than checking the best
        rows.
        """
        return self.documents is not None and len(self.documents) > FEW_DOCUMENTS


@dataclass(frozen=True, slots=True)
class BlockRows:
    """The existing blocks, in order: each row has a position in an array of `size`."""

    blocks: Numbers

    @classmethod
    def of(cls, connection: Connection, index: RowIndex) -> BlockRows:
        found = connection.execute(f"SELECT block FROM {index.name}_readers ORDER BY block")
        return cls(np.array([block for (block,) in found], np.int64))

    @property
    def size(self) -> int:
        return self.blocks.size * BLOCK_ROWS

    def places(self, numbers: Numbers) -> Numbers:
        # Usually none is missing, and then a row's number is its position.
        if self._is_whole():
            return numbers
        blocks = numbers >> BLOCK_BITS
        found: Numbers = (np.searchsorted(self.blocks, blocks) << BLOCK_BITS) + (numbers & BLOCK_ROWS - 1)
        return found

    def numbers(self, places: NDArray[np.intp]) -> Numbers:
        found: Numbers = (self.blocks[places >> BLOCK_BITS] << BLOCK_BITS) + (places & BLOCK_ROWS - 1)
        return found

    def within(self, connection: Connection, index: RowIndex, scope: RankedScope) -> NDArray[np.bool_] | None:
        """Return whether each row is eligible; None: all are."""
        allowed = None
        if scope.audiences is not None:
            allowed = self._readable(connection, index, scope.audiences)
        if scope.documents is not None and not scope.is_of_many:
            some = self._of_documents(connection, index, scope.documents)
            allowed = some if allowed is None else allowed & some
        return allowed

    def _readable(self, connection: Connection, index: RowIndex, audiences: Sequence[int]) -> NDArray[np.bool_]:
        found = read_binary(connection, f"SELECT audiences FROM {index.name}_readers ORDER BY block")
        numbers = np.frombuffer(b"".join(row for (row,) in found), AUDIENCE)
        known = np.zeros(max([*audiences, int(numbers.max(initial=0))]) + 1, np.bool_)
        known[list(audiences)] = True
        allowed: NDArray[np.bool_] = known[numbers]
        return allowed

    def _of_documents(self, connection: Connection, index: RowIndex, documents: Collection[str]) -> NDArray[np.bool_]:
        allowed = np.zeros(self.size, np.bool_)
        found = connection.execute(
            f"SELECT r.n FROM {index.rows} AS r WHERE r.document IN (SELECT value FROM json_each(?))",
            (json.dumps(list(documents)),),
        )
        allowed[self.places(np.array([n for (n,) in found], np.int64))] = True
        return allowed

    def _is_whole(self) -> bool:
        return not self.blocks.size or int(self.blocks[-1]) == self.blocks.size - 1
