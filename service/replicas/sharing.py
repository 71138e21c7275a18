"""Connects the resources of a process to the others on the same PostgreSQL."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

from argot.service.identity.people import Ended, People
from argot.service.replicas.shared_service import SharedService
from argot.service.replicas.turns import Turns

if TYPE_CHECKING:
    from argot.postgresql.stores import PostgresqlStores

ENDED = "sessions/ended"
MAX_NAMED = 100


async def share(stores: PostgresqlStores, people: People, turns: Turns) -> SharedService:
    """Coordinate from now on with the other processes that have these stores open. Call it in the event loop.

    Raises:
        StoreUnavailable, DamagedStore
    """
    shared = await asyncio.to_thread(SharedService, stores)
    people.tell_others = lambda ended: shared.notify(ENDED, _encode_ended(ended))
    shared.listener.listen(ENDED, lambda text: people.apply_ended(_decode_ended(text)))
    turns.share(shared)
    shared.start()
    return shared


def _encode_ended(ended: Ended) -> str:
    # Beyond this number the ids are not sent: receivers end all of this person's.
    few = ended.sessions if ended.sessions is not None and len(ended.sessions) <= MAX_NAMED else None
    return json.dumps([ended.user, None if few is None else sorted(few)])


def _decode_ended(text: str) -> Ended:
    user, sessions = json.loads(text)
    return Ended(str(user), None if sessions is None else frozenset(map(str, sessions)))
