"""The model's reader with the extractive one as its fallback, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from argot.corpus.store.document_store import CorpusStore
from argot.errors import ModelUnavailable
from argot.jargon_db.glossary import Glossary
from argot.protocols import QuestionReader
from argot.tools.llm.gated_reader import CachingReader, GatedReader
from argot.tools.llm.reader import ModelReader
from argot.types import Context, ContextScore, Mention, Principal, Triple, Turn

if TYPE_CHECKING:
    from argot.tools.llm.session import Model


def build_reader(
    model: Model,
    extractive: QuestionReader,
    glossary: Glossary,
    store: CorpusStore | None,
    principal: Principal,
    *,
    spare: bool,
    forbidden_words: str = "",
) -> QuestionReader:
    """Return one turn's reader. `spare`: the model is asked only where the extractive reading is in doubt."""
    # One for both readers: each of them asks for the extractive reading of the same question.
    once = CachingReader(extractive)
    asking = ModelReader(model, once, glossary.lookup.matcher(principal), forbidden_words)
    reader: QuestionReader = GatedReader(asking, once, glossary, store, principal) if spare else asking
    return FallingBackReader(reader, once)


class FallingBackReader:
    """Takes each step with `reader`, or with `extractive` if that raises `ModelUnavailable` (`QuestionReader`).

    A model that has failed refuses later steps at once, so that only one of them waits.
    """

    def __init__(self, reader: QuestionReader, extractive: QuestionReader) -> None:
        self._reader = reader
        self._extractive = extractive

    async def stand_alone(self, question: str, history: Sequence[Turn]) -> str:
        try:
            return await self._reader.stand_alone(question, history)
        except ModelUnavailable:
            return await self._extractive.stand_alone(question, history)

    async def identify_jargon(self, question: str) -> list[Mention]:
        try:
            return await self._reader.identify_jargon(question)
        except ModelUnavailable:
            return await self._extractive.identify_jargon(question)

    async def identify_context(self, question: str, contexts: Sequence[Context]) -> list[ContextScore]:
        try:
            return await self._reader.identify_context(question, contexts)
        except ModelUnavailable:
            return await self._extractive.identify_context(question, contexts)

    async def relevant_triples(self, question: str, triples: Sequence[Triple]) -> list[Triple]:
        try:
            return await self._reader.relevant_triples(question, triples)
        except ModelUnavailable:
            return await self._extractive.relevant_triples(question, triples)

    async def enhance_query(self, question: str, triples: Sequence[Triple]) -> str:
        try:
            return await self._reader.enhance_query(question, triples)
        except ModelUnavailable:
            return await self._extractive.enhance_query(question, triples)

    async def reformulate(self, question: str, triples: Sequence[Triple]) -> tuple[list[Triple], str]:
        try:
            return await self._reader.reformulate(question, triples)
        except ModelUnavailable:
            return await self._extractive.reformulate(question, triples)
