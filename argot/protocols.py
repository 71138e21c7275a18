"""The interfaces with interchangeable implementations: reading and writing text, scoring and embedding it.

The three that need an understanding of language (`QuestionReader`, `AnswerWriter`, `Deriver`) are asynchronous, since
one implementation of each waits for a model server; the other is extractive and works without one. Each raises
`ModelUnavailable` when it cannot answer within its bounds.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from argot.types import Context, ContextScore, DerivedText, Hit, Mention, Passage, ReadTerm, Triple, Turn

Vectors = NDArray[np.float32]
"""Shape (texts, dimensions), every row of length 1."""


@runtime_checkable
class QuestionReader(Protocol):
    """Understands a question before anything is retrieved."""

    async def stand_alone(self, question: str, history: Sequence[Turn]) -> str:
        """Return the question, readable without its history. Without history it is the question itself."""
        ...

    async def identify_jargon(self, question: str) -> list[Mention]:
        """Return every term and abbreviation, in order of appearance, without overlaps (Golden-Retriever 3.2)."""
        ...

    async def identify_context(self, question: str, contexts: Sequence[Context]) -> list[ContextScore]:
        """Return the given contexts that fit, best first; empty without evidence (Golden-Retriever 3.3)."""
        ...

    async def relevant_triples(self, question: str, triples: Sequence[Triple]) -> list[Triple]:
        """Return the retrieved triples that are relevant to the question (KaPQA 5, step 3)."""
        ...

    async def enhance_query(self, question: str, triples: Sequence[Triple]) -> str:
        """Return the question as one search query in the documents' own words (KaPQA 5, step 4)."""
        ...

    async def reformulate(self, question: str, triples: Sequence[Triple]) -> tuple[list[Triple], str]:
        """Return the results of both steps at once: the relevant triples, and the question enhanced by them."""
        ...


@dataclass(frozen=True, slots=True)
class AnswerRequest:
    """The material of an answer. `question` is the asker's, `augmented` has its jargon explained.

    `left_out`: those of the message's questions without relevant passages, by index. `numbered_parts`: the parts that
    the question names by a printed number ("clause 2.2"), as passage (id), start and end in its text. `cut_lists`: for
    each passage (id) that cuts a list or table, whether it has entries before the passage and after it. `parts`: the
    sub-questions that a thorough answer covers; `compared`: the things that it compares. `wordings`: the question in
    other terms of the documents, such as with the short forms of names. `find_related` finds further passages of any
    document that have the words of a text, best first.
    """

    question: str
    augmented: str
    terms: Sequence[ReadTerm]
    hits: Sequence[Hit]
    left_out: Set[int] = frozenset()
    numbered_parts: Sequence[tuple[str, int, int]] = ()
    cut_lists: Mapping[str, tuple[bool, bool]] = field(default_factory=dict)
    parts: Sequence[str] = ()
    compared: Sequence[str] = ()
    wordings: Sequence[str] = ()
    find_related: Callable[[str], Sequence[Hit]] = lambda _: ()


# A `str`, so that code that only joins pieces may ignore it.
class Retraction(str):
    """A piece without text: the pieces before it are no part of the answer, such as a model's thoughts."""


RETRACTION = Retraction()


@runtime_checkable
class AnswerWriter(Protocol):
    """Writes the answer in a stream of pieces."""

    def write(self, request: AnswerRequest) -> AsyncIterator[str]:
        """Yield pieces of the answer, to be joined without separators. No piece at all means that nothing supports an
        answer.

        `RETRACTION` among them takes back all pieces before it.
        """
        ...


@runtime_checkable
class Deriver(Protocol):
    """Derives other texts from passages at ingest. `name` (prompt and model) is stored with them."""

    name: str

    async def triples(self, passages: Sequence[Passage]) -> list[Triple]:
        """Return (source, action, target) triples, each occurring word for word in its passage (KaPQA 5, step 1)."""
        ...

    async def derived_texts(self, passages: Sequence[Passage]) -> list[DerivedText]:
        """Return summaries and questions that represent the passages in search (RAIDD 2.1)."""
        ...


@runtime_checkable
class Scorer(Protocol):
    """Scores how well each text supports or answers a query, in [0, 1]."""

    def score(self, query: str, texts: Sequence[str]) -> list[float]: ...


@dataclass(frozen=True, slots=True)
class PassageReading:
    """The reading of a passage for a question.

    `relevance`: the chance, in [0, 1], that the passage answers. `units`: for each unit of
    `read_units(passage.with_columns)`, by its number, the chance that it is part of the answer; 0 for a heading, which
    is quoted with the text below it.
    """

    relevance: float
    units: tuple[float, ...]


@runtime_checkable
class PassageReader(Protocol):
    """Judges for a question which passages answer, and which of their units."""

    def read_passages(self, question: str, passages: Sequence[Passage]) -> list[PassageReading]:
        """Return the reading of each passage, in their order: a quick one, for many passages."""
        ...

    def read_closely(self, question: str, passages: Sequence[Passage]) -> list[PassageReading]:
        """Return a better reading, which takes some ten times as long, of each passage that can compete with the best;
        a quick one of the others. In their order.
        """
        ...


@runtime_checkable
class Embedder(Protocol):
    """Turns text into vectors of length 1."""

    @property
    def fingerprint(self) -> str:
        """Identifier that changes whenever the vectors would: weights, pooling, window or prefix."""
        ...

    @property
    def dimensions(self) -> int: ...

    @property
    def cosine_gain(self) -> float:
        """Factor that brings distances between its vectors to the scale of the default model's; 1 for that one."""
        ...

    def windows(self, text: str) -> list[str]:
        """Return the text in overlapping pieces short enough to be embedded without truncation; at least one."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> Vectors: ...

    def embed_queries(self, texts: Sequence[str]) -> Vectors: ...

    def embed_searches(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors with which passages are searched: those of queries, or nearer to the passages that answer
        if Argot has an adapter for the model.
        """
        ...
