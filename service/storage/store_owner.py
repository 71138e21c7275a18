"""Ownership of a knowledge base on PostgreSQL: the processes that may have it open.

Any number if a Chroma server stores its vectors; else one, whose folder contains them.
"""

from __future__ import annotations

import time

from argot.errors import KnowledgeBaseBusy
from argot.postgresql.session_lock import SessionLock
from argot.postgresql.stores import PostgresqlStores

PAUSE_SECONDS = 0.05


class StoreOwner:
    """
    Args:
        alone: the vectors are in this process's folder.

    Raises:
        StoreUnavailable: from every method except `close`.
    """

    def __init__(self, stores: PostgresqlStores, *, alone: bool) -> None:
        self._name = stores.name
        self._alone = alone
        self._lock = SessionLock(stores, "owner", together=not alone)

    def take(self, patience: float) -> None:
        """Take the lock of the owner.

        Args:
            patience: seconds to wait for a process that is about to end.

        Raises:
            KnowledgeBaseBusy
        """
        deadline = time.monotonic() + patience
        while not self._lock.acquire(wait=False):
            if time.monotonic() > deadline:
                raise KnowledgeBaseBusy(self._busy())
            time.sleep(PAUSE_SECONDS)

    def keep(self) -> None:
        """Take it again if its connection was lost, for example by a restart of PostgreSQL.

        Raises:
            KnowledgeBaseBusy: another process was faster.
        """
        if not self._lock.answers():
            self.take(0)

    def close(self) -> None:
        self._lock.close()

    def _busy(self) -> str:
        if self._alone:
            return (
                f"The knowledge base in {self._name} is in use by another process. To share it between several, keep "
                "its vectors on a Chroma server: set ARGOT_CHROMA_URL for all of them. Or stop the other one, and try "
                "again."
            )
        return (
            f"The knowledge base in {self._name} is in use by a process that keeps the vectors in its own folder. Set "
            "ARGOT_CHROMA_URL for that one, too, or stop it, and try again."
        )
