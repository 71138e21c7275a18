"""Sources that are synced without being asked, while the service runs: by their `every`.

Here one at a time; where jobs go through a queue, they are put into it, and as many at a time as there are workers.

Documents are embedded by a process of low priority then (`KnowledgeBase.warm`). What fails is tried again after two
minutes, then four, and so on, up to a day; also what the end of the process interrupted.
"""

from __future__ import annotations

import logging
from datetime import datetime

from argot.clock import utc_now
from argot.corpus.connectors.source_store import FIRST_RETRY_SECONDS, SourceStore
from argot.errors import Conflict, NotFound
from argot.service.identity.people import make_local_principal
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.documents.sources import SYNC, is_sync_due, source_sync, sync_put
from argot.service.usecases.usecase_registry import get_outcome
from argot.work.schedule import schedule_work

logger = logging.getLogger(__name__)


@schedule_work("keep in step with sources", first=10.0, every=20.0, rest=FIRST_RETRY_SECONDS)
async def sync_due(kb: KnowledgeBase, now: datetime | None = None) -> list[str]:
    """Sync the sources that are due, one after the other, or have others do it; their names."""
    records = await kb.blocking(SourceStore(kb.document_store.database).list_sources)
    names = [one.name for one in records if is_sync_due(one, now or utc_now())]
    for name in names:
        try:
            if await kb.jobs.has_workers(SYNC):
                await sync_put(kb.jobs, name)
                continue
            report = await get_outcome(source_sync(kb, make_local_principal(), name=name, patient=True))
        except (Conflict, NotFound):  # somebody syncs it just now, or has removed it
            continue
        except Exception:
            # It counts as a failure of the source, which waits for its next turn: the others have theirs.
            logger.exception("the source %s could not be synced", name)
            continue
        log = logger.info if report.state == "synced" else logger.warning
        log("source %s: %s", name, report.detail or report.state)
    return names
