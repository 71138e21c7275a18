"""How long conversations are kept, and what goes with them when their time is over.

The setting `keep_questions_days` says how long after its last use a conversation is erased: its turns, checkpoints,
feedback and files, and the wording of its questions in the managers' queue. The counts of that queue stay.
"""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime, timedelta
from typing import Any

from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.threads import thread_delete
from argot.types import Principal

logger = logging.getLogger(__name__)

FIRST_SECONDS = 5.0
"""After a start: whoever comes first is not to wait for it."""
EVERY_SECONDS = 3600.0
PAUSE_SECONDS = 0.02
"""Between two conversations, for questions to go ahead."""
SCRUB_TRIES = 20


async def keep_clean(kb: KnowledgeBase) -> None:
    """Erase what is too old, soon after the start and every hour, for ever."""
    await asyncio.sleep(FIRST_SECONDS)
    while True:
        try:
            await erase_old(kb)
        except Exception:
            logger.exception("old conversations could not be erased; it is tried again in an hour")
        await asyncio.sleep(EVERY_SECONDS)


async def erase_old(kb: KnowledgeBase, now: datetime | None = None) -> dict[str, int]:
    """Erase what was not used for as long as the setting says; how much there was."""
    days = kb.settings.keep_questions_days
    erased = {"threads": 0, "questions": 0}
    if not days:
        return erased
    before = ((now or datetime.now(UTC)) - timedelta(days=days)).isoformat(timespec="milliseconds")
    threads = await kb.threads()
    for thread in await threads.unused_since(before):
        await thread_delete.function(kb, Principal(thread.owner), thread=thread.id)
        erased["threads"] += 1
        await asyncio.sleep(PAUSE_SECONDS)
    erased["questions"] = await kb.blocking(kb.glossary.privacy.erase_questions, before)
    if any(erased.values()):
        await scrubbed(kb)
        logger.info("old conversations erased", extra={"fields": erased})
    return erased


async def scrubbed(kb: KnowledgeBase) -> bool:
    """Let nothing of what was deleted stay in a store's file or its write-ahead log; whether that could be done.

    A log is kept as long as somebody reads an earlier state in it, so it is tried for a while.
    """
    left: list[Any] = [kb.people.scrub, kb.glossary.privacy.scrub, (await kb.threads()).scrub, (await kb.load()).scrub]
    for _ in range(SCRUB_TRIES):
        left = [one for one in left if not await _done(kb, one)]
        if not left:
            return True
        await asyncio.sleep(0.1)
    logger.warning("a write-ahead log could not be emptied, for it is being read; it is by the next backup or stop")
    return False


async def _done(kb: KnowledgeBase, scrub: Any) -> bool:
    return bool(await scrub()) if asyncio.iscoroutinefunction(scrub) else bool(await kb.blocking(scrub))
