"""Embeddings: vectors of texts, by the model that the documents were embedded with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from pydantic import Field

from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.usecase_registry import Text, usecase
from argot.types import Principal

if TYPE_CHECKING:
    from argot.protocols import Embedder, Vectors

MAX_TEXTS = 256
MAX_TEXT_CHARS = 50_000
TextKind: TypeAlias = Literal["passage", "question"]
EmbeddedText = Annotated[Text, Field(min_length=1, max_length=MAX_TEXT_CHARS)]


@dataclass(frozen=True, slots=True)
class EmbeddedTexts:
    """Vectors of length 1, in the order of the texts. `fingerprint` changes whenever the vectors would."""

    fingerprint: str
    dimensions: int
    vectors: list[list[float]]


@usecase("asker")
async def embed(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    texts: Annotated[list[EmbeddedText], Field(min_length=1, max_length=MAX_TEXTS)],
    kind: TextKind = "passage",
) -> EmbeddedTexts:
    """Embed texts as the passages of documents are, or as questions are.

    A text that is too long for the model is embedded piece by piece; its vector is the mean of theirs. Subject to the
    limits of questions.
    """
    async with kb.gates.questions.place(principal):
        embedder = kb.corpus.embedder
        vectors = await kb.blocking(_embed_texts, embedder, texts, kind)
    return EmbeddedTexts(embedder.fingerprint, embedder.dimensions, vectors)


def _embed_texts(embedder: Embedder, texts: Sequence[str], kind: TextKind) -> list[list[float]]:
    windows = [embedder.windows(text) for text in texts]
    pieces = [piece for several in windows for piece in several]
    found = embedder.embed_queries(pieces) if kind == "question" else embedder.embed_passages(pieces)
    vectors, end = [], 0
    for several in windows:
        start, end = end, end + len(several)
        vectors.append(_join_vectors(found[start:end]))
    return vectors


def _join_vectors(vectors: Vectors) -> list[float]:
    """Return the mean of the vectors of a text's windows, of length 1."""
    import numpy as np

    mean = np.asarray(vectors, dtype=np.float32).mean(axis=0)
    length = float(np.linalg.norm(mean))
    return [float(number) for number in (mean / length if length else mean)]
