"""Reading before anybody asks: of the passages of a knowledge base that is small enough for the reader's cache, and of
the meanings of its glossary.

The first reading of a passage takes some ten milliseconds of processor time, and a question may need thirty unread
ones: with a fast model, that is most of the wait for the first word. The first lay word is compared with every meaning.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import partial

from argot.corpus.store.document_store import CorpusStore
from argot.errors import ArgotError
from argot.protocols import Scorer
from argot.service.identity.people import make_local_principal
from argot.service.knowledge_base import KnowledgeBase
from argot.tools.reading.lay_words import MAX_SENSES, list_meanings
from argot.tools.retrieval.reader_scorer import ReaderScorer
from argot.tools.retrieval.scorer_choice import load_scorer
from argot.tools.retrieval.token_vectors import MAX_REMEMBERED_TEXTS

logger = logging.getLogger(__name__)

FIRST_SECONDS = 3.0
"""Delay after a start, so that the first asker does not wait for it."""
PAUSE_SECONDS = 0.03
"""Pause between two readings, about twice as long as one takes: the processor is left to others."""
MEANINGS_PER_STEP = 4
"""Number of meanings embedded between two pauses."""
FOLLOW_SECONDS = 1.0
"""Interval between checks whether documents have changed, or whether questions are still being answered."""


async def read_ahead(kb: KnowledgeBase, busy: Callable[[], bool]) -> None:
    """Read all passages, and later ones, one at a time and never beside a question, as long as the reader can cache all
    of them; then embed the meanings of all terms, and later ones.

    Args:
        busy: whether questions are being answered in this process.
    """
    await asyncio.sleep(FIRST_SECONDS)
    ahead = _Ahead(kb)
    while True:
        try:
            waits = busy() or await ahead.step()
        except ArgotError as error:  # a question that needs the store or the model reports the error
            logger.info("passages are not read ahead: %s", error)
            waits = True
        await asyncio.sleep(FOLLOW_SECONDS if waits else PAUSE_SECONDS)


class _Ahead:
    """Passages and meanings that have been read so far."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self._kb = kb
        self._scorer: Scorer | None = None
        self._version = -1
        self._left: list[str] = []
        self._read: set[str] = set()
        self._glossary_version = -1
        self._meanings: list[str] = []

    async def step(self) -> bool:
        """Read the next passage, or the next meanings; return True if all are read."""
        return await self._read_passage() and await self._embed_meanings()

    async def _read_passage(self) -> bool:
        scorer = await self._kb.blocking(load_scorer, self._kb.settings)
        if not isinstance(scorer, ReaderScorer):
            return True
        if scorer is not self._scorer:  # another one was adopted, and has read nothing
            self._scorer, self._version, self._read = scorer, -1, set()
        store = (await self._kb.load()).store
        await self._find_remaining(store)
        if not self._left:
            return True
        id_ = self._left.pop()
        found = await self._kb.blocking(store.passages, make_local_principal(), [id_])
        self._read.add(id_)
        for passage, _ in found.values():
            await self._kb.blocking(scorer.read_texts, [passage.with_header])
        return False

    async def _embed_meanings(self) -> bool:
        glossary = self._kb.glossary
        version = await self._kb.blocking(glossary.version)
        if version != self._glossary_version:
            self._glossary_version = version
            senses = partial(glossary.senses.find, make_local_principal(), status="approved", limit=MAX_SENSES + 1)
            self._meanings = list_meanings(await self._kb.blocking(senses))
        texts, self._meanings = self._meanings[:MEANINGS_PER_STEP], self._meanings[MEANINGS_PER_STEP:]
        if texts:
            # The embedder caches queries, whoever asks; those of terms that an asker may not read are not compared.
            await self._kb.blocking((await self._kb.load()).embedder.embed_queries, texts)
        return not texts

    async def _find_remaining(self, store: CorpusStore) -> None:
        """Determine the remaining passages, if documents have changed."""
        version = await self._kb.blocking(lambda: store.version)
        if version == self._version:
            return
        self._version = version
        ids = await self._kb.blocking(store.passage_ids, MAX_REMEMBERED_TEXTS + 1)
        self._read.intersection_update(ids)
        self._left = [id_ for id_ in ids if id_ not in self._read] if len(ids) <= MAX_REMEMBERED_TEXTS else []
