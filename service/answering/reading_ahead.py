"""Passages of a small knowledge base, read by the reader before anybody asks, where it can remember them all.

The first reading of a passage takes some ten milliseconds of the processor's time, and a question may come upon thirty
that nobody has asked for before: where the model is fast, that is most of the wait for the first word.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from argot.errors import ArgotError
from argot.service.identity.people import local_principal
from argot.service.knowledge_base import KnowledgeBase
from argot.tools.retrieval.reader_scorer import ReaderScorer
from argot.tools.retrieval.scorer_choice import load_scorer
from argot.tools.retrieval.token_vectors import REMEMBERED

logger = logging.getLogger(__name__)

FIRST_SECONDS = 3.0
"""After a start: whoever comes first is not to wait for it."""
PAUSE_SECONDS = 0.03
"""Between two readings, about twice as long as one takes: the processor is left to others."""
BUSY_SECONDS = 0.5


async def read_ahead(kb: KnowledgeBase, busy: Callable[[], bool]) -> None:
    """Read all passages, one at a time and never beside a question, if there are no more than the reader remembers.

    Args:
        busy: whether questions are being answered in this process.
    """
    await asyncio.sleep(FIRST_SECONDS)
    try:
        await _read_all(kb, busy)
    except ArgotError as error:  # a question that needs the store or the model says what is wrong
        logger.info("passages are not read ahead: %s", error)


async def _read_all(kb: KnowledgeBase, busy: Callable[[], bool]) -> None:
    scorer = await kb.blocking(load_scorer, kb.settings)
    if not isinstance(scorer, ReaderScorer):
        return
    store = (await kb.load()).store
    ids = await kb.blocking(store.passage_ids, REMEMBERED + 1)
    if len(ids) > REMEMBERED:
        return
    found = await kb.blocking(store.passages, local_principal(), ids)
    texts = [passage.with_header for passage, _ in found.values()]
    while texts:
        if busy():
            await asyncio.sleep(BUSY_SECONDS)
            continue
        await kb.blocking(scorer.read, [texts.pop()])
        await asyncio.sleep(PAUSE_SECONDS)
    logger.info("%d passages were read ahead", len(found))
