"""Test of a knowledge base with people and threads on PostgreSQL: questions, feedback, export and erasure."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from postgresql_server import end_connections

from argot.errors import NotFound
from argot.postgresql.stores import PostgresqlStores
from argot.service.identity.people import make_local_principal
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases import catalogue
from argot.settings import Settings
from argot.types import Principal

LOCAL = make_local_principal()
CANARY = "zweiundvierzigfach"


@pytest.fixture
async def kb(tiny_home: Path, tmp_path: Path, postgresql_url: str) -> AsyncIterator[KnowledgeBase]:
    folder = await asyncio.to_thread(shutil.copytree, tiny_home, tmp_path / "kb")
    for name in ("people", "threads", "ratings", "learning"):
        (folder / f"{name}.db").unlink(missing_ok=True)
    stores = await asyncio.to_thread(PostgresqlStores, postgresql_url)
    async with KnowledgeBase.open(folder, Settings(home=folder), stores=stores) as opened:
        yield opened


async def do(kb: KnowledgeBase, who: Principal, name: str, /, **parameters: Any) -> Any:
    return await catalogue.get_result(kb, who, name, **parameters)


def kept_on(url: str) -> str:
    """Return the contents of all tables as one text."""
    with psycopg.connect(url) as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'argot'").fetchall()
        rows = [connection.execute(f'SELECT * FROM argot."{name}"').fetchall() for (name,) in tables]  # type: ignore[arg-type]
    return repr(
        [[bytes(one) if isinstance(one, memoryview) else one for one in row] for found in rows for row in found]
    )


async def test_a_persons_data_is_stored_and_erased_on_postgresql(kb: KnowledgeBase, postgresql_url: str) -> None:
    await do(kb, LOCAL, "user_add", name="ann", groups=["hr"], password="wide llama 91 x")
    await do(kb, LOCAL, "user_roles", name="ann", role="manager")
    ann = kb.people.principal("ann")
    token = kb.people.sessions.begin("ann", "192.0.2.7", f"Browser {CANARY}")
    asked = await do(kb, ann, "ask", question=f"What does a late tariff filing cost, {CANARY}?")
    again = await do(kb, ann, "ask", question="Who has to file it?", thread=asked["thread"])
    assert asked["question"] and again["turn"] == 1
    await do(kb, ann, "feedback", thread=asked["thread"], turn=0, value=-1, comment=f"No {CANARY}", share=True)
    await kb.chores.finish()
    end_connections(postgresql_url)
    read = await do(kb, ann, "thread_read", thread=asked["thread"])
    assert [turn["question"] for turn in read["turns"]][1] == "Who has to file it?" and len(read["turns"]) == 2
    found = await do(kb, LOCAL, "insight")
    assert found["counts"]["questions"] == 2 and found["thumbs"]["down"] == 1
    state = await do(kb, LOCAL, "administration")
    assert state["storage"]["stores"][0]["name"] == "PostgreSQL" and state["storage"]["stores"][0]["bytes"] > 100_000
    assert len(state["health"]["processes"]) == 1 and "connection(s) since" in state["health"]["processes"][0]
    exported = await do(kb, ann, "my_data")
    assert len(exported["asked"]) == 2 and CANARY in json.dumps(exported) and "argon2" not in json.dumps(exported)
    assert CANARY in kept_on(postgresql_url) and kb.people.sessions.find(token)
    erased = await do(kb, LOCAL, "user_erase", name="ann")
    assert erased["conversations"] == 1 and kb.people.sessions.find(token) is None
    assert CANARY not in kept_on(postgresql_url)
    with pytest.raises(NotFound):
        kb.people.principal("ann")
    assert not [path.name for path in kb.home.glob("*.db") if path.stem not in {"corpus", "glossary"}]
