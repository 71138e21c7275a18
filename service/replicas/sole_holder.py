"""Work that is done once for a knowledge base, by one of its services; another one takes over when that ends."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from argot.errors import ArgotError, StoreUnavailable

if TYPE_CHECKING:
    from argot.service.replicas.shared_service import SharedService

logger = logging.getLogger(__name__)

PAUSE_SECONDS = 2.0
"""Interval between checks whether the active process has ended; and before a restart if PostgreSQL was lost."""
GONE = "PostgreSQL was lost, and with it who does this."


async def run_by_one_process(
    shared: SharedService | None, name: str, work: Callable[[], Coroutine[Any, Any, None]]
) -> None:
    """Do endless work as long as no other process does it; take over when that one ends.

    Args:
        shared: this process's state shared with others; None: there are none.
        name: that of the work, the same in every process.
        work: started each time this process becomes the active one. It is cancelled when that is lost, and awaited.
    """
    if shared is None:
        await work()
        return
    while True:
        try:
            async with shared.hold_lock(f"sole/{name}", StoreUnavailable(GONE), pause=PAUSE_SECONDS) as hold:
                logger.info("this service does '%s'", name)
                await hold.run(work())
                return
        except ArgotError as error:
            # The next active process may be another one: this one tries again like the others.
            logger.warning("'%s' is left to another service: %s", name, error)
            await asyncio.sleep(PAUSE_SECONDS)
