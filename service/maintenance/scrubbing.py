"""The last step of every deletion: until then its words are in keyword indexes and write-ahead logs."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from argot.service.knowledge_base import KnowledgeBase

logger = logging.getLogger(__name__)

# Two seconds with the pauses in between, longer than nearly any read takes.
SCRUB_TRIES = 20


async def scrub_stores(kb: KnowledgeBase) -> bool:
    """Remove deleted data from each store's file and its write-ahead log; return whether that was done.

    A log is kept as long as a reader uses an earlier state in it, so this is retried for a while.
    """
    left = kb.scrubs()
    for _ in range(SCRUB_TRIES):
        left = [one for one in left if not await _run_scrub(kb, one)]
        if not left:
            return True
        await asyncio.sleep(0.1)
    logger.warning("a write-ahead log could not be emptied, for it is being read; it is by the next backup or stop")
    return False


async def _run_scrub(kb: KnowledgeBase, scrub: Any) -> bool:
    return bool(await scrub()) if asyncio.iscoroutinefunction(scrub) else bool(await kb.blocking(scrub))
