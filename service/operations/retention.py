"""Retention of conversations: its length, and the other things that go when it is over.

The setting `keep_questions_days` says how long after its last use a conversation is erased: its turns, checkpoints,
feedback and files, and the wording of its questions in the managers' queue. The counts of that queue stay.
`keep_removed_days` says for how long removed documents stay in the dustbin. Files that no conversation has go at once.
"""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime, timedelta

from argot.clock import format_utc, utc_now
from argot.errors import MissingWing
from argot.service.knowledge_base import KnowledgeBase
from argot.service.maintenance.erasing import erase_documents
from argot.service.maintenance.scrubbing import scrub_stores
from argot.service.usecases.questions.attachments import forget_files
from argot.service.usecases.questions.threads import delete_thread
from argot.work.schedule import schedule_work

logger = logging.getLogger(__name__)

MAX_ANSWER_HOURS = 1
"""The files of a question that is being answered outside any conversation are younger."""
PAUSE_SECONDS = 0.02
"""Between two conversations, for questions to go ahead."""


@schedule_work("keep clean", first=5.0, every=3600.0)
async def keep_clean(kb: KnowledgeBase) -> None:
    """Erase expired data."""
    await erase_old(kb)
    await erase_old_removed(kb)
    await erase_lost_files(kb)


async def erase_old(kb: KnowledgeBase, now: datetime | None = None) -> dict[str, int]:
    """Erase data that was not used for as long as the setting says; how much there was."""
    days = kb.settings.retention.questions_days
    erased = {"threads": 0, "questions": 0}
    if not days:
        return erased
    before = format_utc((now or utc_now()) - timedelta(days=days))
    threads = await kb.threads()
    # One by one, each with its files, checkpoints and notices, as if its owner had deleted it.
    for thread in await threads.list_unused(before):
        try:
            await delete_thread(kb, thread.owner, thread.id)
            erased["threads"] += 1
        # The others are erased all the same.
        except MissingWing as error:
            logger.error("a conversation that is too old stays: %s", error)
        await asyncio.sleep(PAUSE_SECONDS)
    # For all in one statement: `delete_thread` leaves them to its callers.
    erased["questions"] = await kb.blocking(kb.glossary.privacy.erase_questions, before)
    if any(erased.values()):
        await scrub_stores(kb)
        logger.info("old conversations erased", extra={"fields": erased})
    return erased


async def erase_old_removed(kb: KnowledgeBase, now: datetime | None = None) -> int:
    """Erase the documents that were removed longer ago than the setting says, and those whose erasure was cut off; how
    many there were.
    """
    from argot.corpus.store.dustbin import list_removed_before

    before = format_utc((now or utc_now()) - timedelta(days=kb.settings.retention.removed_days), "seconds")
    found = await kb.blocking(list_removed_before, kb.document_store, before)
    if found:
        await erase_documents(kb, found)
        logger.info("removed documents erased", extra={"fields": {"documents": len(found)}})
    return len(found)


async def erase_lost_files(kb: KnowledgeBase, now: datetime | None = None) -> int:
    """Erase the files of conversations that do not exist, which a service that was killed during an answer has left;
    how many conversations there were.
    """
    before = format_utc((now or utc_now()) - timedelta(hours=MAX_ANSWER_HOURS), "seconds")
    found = await kb.blocking(kb.document_store.list_conversations)
    lost = found - set(await (await kb.threads()).ids()) if found else set()
    erased = [thread for thread in sorted(lost) if await forget_files(kb, thread, added_before=before)]
    if erased:
        await scrub_stores(kb)
        logger.info("files of lost conversations erased", extra={"fields": {"threads": len(erased)}})
    return len(erased)
