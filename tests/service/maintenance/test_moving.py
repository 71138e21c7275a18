"""Tests of moving a knowledge base to PostgreSQL and back: nothing is lost or changed, even after a kill."""

import asyncio
import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import ormsgpack
import pytest
from chroma_server import ChromaRun
from killing import killed, stepping
from serving import run

from argot.corpus.store.blobs import FolderBlobs
from argot.corpus.store.database_blobs import DatabaseBlobs
from argot.errors import ArgotError, Conflict, InvalidInput, KnowledgeBaseBusy, NotFound, StoreUnavailable
from argot.learn.store.pair_store import PairStore
from argot.postgresql.stores import PostgresqlStores
from argot.ratings.store.rating_store import RatingStore
from argot.service.identity.people import make_local_principal
from argot.service.knowledge_base import KnowledgeBase
from argot.service.moving import base_moving, store_copying
from argot.service.moving.base_moving import MoveOutcome, move_base
from argot.service.moving.checkpoint_rows import CheckpointRows, WaitingRows
from argot.service.moving.moved_rows import RowsOfTable
from argot.service.moving.moved_stores import STORES, list_moved_tables
from argot.service.moving.sides import FolderSide, SchemaSide
from argot.service.usecases import catalogue
from argot.settings import Settings
from argot.types import Principal

KILLS = 6
MOST_STEPS = 12
LOCAL = make_local_principal()
INSIDER = Principal("ivy", frozenset({"vault"}))
QUESTIONS = (
    "What does a late tariff filing cost?",
    "What is a PUC?",
    "How long does trimming a drive take?",
    "How often is the vault combination rotated?",
)


async def do(kb: KnowledgeBase, who: Principal, name: str, /, **parameters: Any) -> Any:
    return await catalogue.get_result(kb, who, name, **parameters)


@pytest.fixture
async def home(tiny_home: Path, tmp_path: Path) -> Path:
    """Provide documents, a glossary, people, conversations (one with an open choice), a profile and wing stores."""
    folder = await asyncio.to_thread(shutil.copytree, tiny_home, tmp_path / "kb")
    async with KnowledgeBase.open(folder, Settings(home=folder)) as kb:
        await do(kb, LOCAL, "user_add", name="ann", groups=["hr"], password="wide llama 91 x")
        ann = kb.people.principal("ann")
        asked = await do(kb, ann, "ask", question="What does a late tariff filing cost?")
        await do(kb, ann, "ask", question="Who has to file it?", thread=asked["thread"])
        await do(kb, ann, "feedback", thread=asked["thread"], turn=0, value=-1, comment="No \U0001f600")
        await do(kb, ann, "ask", question="What is a PUC?")
        assert kb.open_store(RatingStore) and kb.open_store(PairStore)
        kb.glossary.senses.add("NUL", "Tools", "a text with \0 in it and \ufdd0")
        old = kb.glossary.senses.find(LOCAL, query="TFL")[0]
        kb.glossary.senses.retire(LOCAL, old.id, old.version)
        kb.profiles.save("lab-notes", kb.profiles.find("strict"))
        await kb.chores.finish()
    return folder


def on(url: str, home: Path, **more: Any) -> tuple[Path, Settings]:
    return home, Settings(home=home, store=url, **more)


def folder(home: Path) -> tuple[Path, Settings]:
    return home, Settings(home=home)


def moved(source: tuple[Path, Settings], target: tuple[Path, Settings]) -> MoveOutcome:
    told: list[tuple[int, int, str]] = []
    result = move_base(source, target, progress=lambda *said: told.append(said))
    assert told[-1][0] == told[-1][1]
    return result


async def answers(place: tuple[Path, Settings]) -> Any:
    async with KnowledgeBase.open(*place) as kb:
        found = []
        for who in (LOCAL, INSIDER, Principal("bob")):
            for question in QUESTIONS:
                said = await do(kb, who, "ask", question=question)
                found.append({name: said[name] for name in ("status", "answer", "sources", "senses") if name in said})
        found.append([one.title for one in await (await kb.threads()).of("ann")])
        ann = kb.people.principal("ann")
        found += [await do(kb, ann, "thread_read", thread=one.id) for one in await (await kb.threads()).of("ann")]
        found.append(sorted(kb.profiles.names()))
        found.append(kb.glossary.senses.find(LOCAL))
        return found


async def test_moving_to_postgresql_and_back_changes_nothing(home: Path, tmp_path: Path, postgresql_url: str) -> None:
    before = await asyncio.to_thread(shutil.copytree, home, tmp_path / "before")
    asked = await answers(folder(before))

    there = await asyncio.to_thread(moved, folder(home), on(postgresql_url, home))
    back = await asyncio.to_thread(moved, on(postgresql_url, home), folder(tmp_path / "back"))

    assert there.rows > 100 and (there.originals, there.files, there.vectors) == (4, 1, 5)
    assert compared(there) == compared(back)
    assert dumps(home) == dumps(tmp_path / "back")
    assert files_of(home) == files_of(tmp_path / "back")
    assert await answers(on(postgresql_url, home)) == asked
    assert not await asyncio.to_thread(left_behind, postgresql_url)
    assert await answers(folder(tmp_path / "back")) == asked


def left_behind(url: str) -> set[str]:
    """Return tables in use that are neither carried over nor known to hold no knowledge."""
    stores = PostgresqlStores(url)
    with stores.connection() as connection:
        rows = connection.execute("SELECT CAST(tablename AS text) FROM pg_tables WHERE schemaname = 'argot'").fetchall()
    stores.close()
    carried = {
        store.on_postgresql.get(table.name, table.name) for store in STORES for table in list_moved_tables(store)
    }
    carried |= {"checkpoints", "checkpoint_blobs", "checkpoint_writes", "blobs", "blob_pieces", "kept_files"}
    # Derived from the rows; records of the schema; and the sharing of work at the moment.
    derived = {"keyword_totals", "sense_search", "store_migrations", "checkpoint_migrations", "unfinished_move"}
    ends = ("vocabulary", "postings", "sequences", "blocks", "readers")
    derived |= {f"{kind}_{end}" for kind in ("passage", "derived", "triple") for end in ends}
    of_work = ("service_", "job_", "procrastinate_")
    return {name for (name,) in rows if name not in carried | derived and not name.startswith(of_work)}


def compared(one: MoveOutcome) -> list[tuple[str, str, int, str]]:
    """Remove the names of index generations, which differ between the sides."""
    named = ("generations", "vectors", "quantised_vectors", "vector_deletions")
    return [(t.store, t.name, t.rows, "" if t.name in named else t.digest) for t in one.tables]


def dumps(home: Path) -> dict[str, list[Any]]:
    """Dump all rows of all tables as SQL; checkpoints as LangGraph reads them."""
    found: dict[str, list[Any]] = {}
    for path in sorted(home.glob("*.db")):
        with closing(sqlite3.connect(path)) as connection:
            sql = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"
            for (table,) in connection.execute(sql).fetchall():
                # Blocks of postings are rebuilt, like FTS5's index: words may have received other numbers.
                if not table.startswith("sqlite_schema") and table != "_sqlite_migrations" and "_blocks" not in table:
                    rows = CheckpointRows().read(connection) if table == "checkpoints" else None
                    columns = "token, rows" if table.endswith("_vocabulary") else "*"
                    every = rows or connection.execute(f'SELECT {columns} FROM "{table}"').fetchall()
                    found[f"{path.name} {table}"] = sorted(every, key=repr)
    return found


def files_of(home: Path) -> dict[str, bytes]:
    kept = [path for name in ("blobs", "profiles") for path in (home / name).rglob("*") if path.is_file()]
    return {path.relative_to(home).as_posix(): path.read_bytes() for path in kept}


# -- killed -----------------------------------------------------------------------------------------------------------


def move_in_steps(home: str, url: str, back: str) -> None:
    """Move a base in a process that may be killed (killing.py): to PostgreSQL, or with `back` to that folder."""
    for owner in (RowsOfTable, CheckpointRows, WaitingRows):
        stepping(owner, "insert")
    for owner in (FolderSide, SchemaSide):
        stepping(owner, "derive")
    for owner in (FolderBlobs, DatabaseBlobs):
        stepping(owner, "put")
    for name in ("note_move", "end_move", "put_kept", "copy_counters"):
        stepping(base_moving if hasattr(base_moving, name) else store_copying, name)
    there, source = on(url, Path(home)), folder(Path(home))
    moved(there, folder(Path(back))) if back else moved(source, there)


@pytest.mark.retried("PostgreSQL notices late that a killed process is gone, on a busy machine")
@pytest.mark.parametrize("back", [False, True])
async def test_a_repeatedly_killed_move_is_continued(
    back: bool, home: Path, tmp_path: Path, postgresql_url: str
) -> None:
    untouched, target = dumps(home), ""
    if back:
        await asyncio.to_thread(moved, folder(home), on(postgresql_url, home))
        target = str(tmp_path / "back")
    work = (move_in_steps, str(home), postgresql_url, target)
    place = folder(Path(target)) if back else on(postgresql_url, home)
    chance = random.Random(15)
    for _ in range(KILLS):
        await asyncio.to_thread(killed, *work, share=chance.random(), steps=MOST_STEPS)
        with pytest.raises(StoreUnavailable, match="Continue with: argot move --to"):
            KnowledgeBase.open(*place)
    last = (
        await asyncio.to_thread(moved, on(postgresql_url, home), place)
        if back
        else await asyncio.to_thread(moved, folder(home), place)
    )
    assert last.vectors == 5 and dumps(home) == untouched
    if back:
        assert dumps(Path(target)) == untouched
    async with KnowledgeBase.open(*place) as kb:
        said = await do(kb, LOCAL, "ask", question=QUESTIONS[0])
        assert said["status"] == "answered" and not await do(kb, LOCAL, "check")


# -- refused ----------------------------------------------------------------------------------------------------------


async def test_an_impossible_move_is_refused_without_changes(home: Path, tmp_path: Path, postgresql_url: str) -> None:
    untouched = dumps(home)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").touch()
    (tmp_path / "file").touch()
    refusals: tuple[tuple[type[ArgotError], str, tuple[Path, Settings], tuple[Path, Settings]], ...] = (
        (InvalidInput, "'notes.txt'", folder(home), folder(tmp_path / "full")),
        (InvalidInput, "is a file", folder(home), folder(tmp_path / "file")),
        (InvalidInput, "the knowledge base itself", folder(home), folder(home)),
        (NotFound, "no knowledge base in", folder(tmp_path / "none"), on(postgresql_url, tmp_path / "none")),
        (NotFound, "no knowledge base in", on(postgresql_url, home), folder(tmp_path / "back")),
    )
    for kind, words, source, target in refusals:
        with pytest.raises(kind, match=words):
            await asyncio.to_thread(moved, source, target)
    # The base is open in a service, or another move runs.
    async with KnowledgeBase.open(*folder(home)):
        with pytest.raises(KnowledgeBaseBusy, match="in use by process"):
            await asyncio.to_thread(moved, folder(home), on(postgresql_url, home))
    other = PostgresqlStores(postgresql_url, alone="argot move")
    with pytest.raises(KnowledgeBaseBusy, match="in use by 'argot move' on"):
        await asyncio.to_thread(moved, folder(home), on(postgresql_url, home))
    other.close()
    assert dumps(home) == untouched

    await asyncio.to_thread(moved, folder(home), on(postgresql_url, home))
    with pytest.raises(Conflict, match="Name another schema with --schema"):
        await asyncio.to_thread(moved, folder(home), on(postgresql_url, home))
    async with KnowledgeBase.open(*on(postgresql_url, home)):
        with pytest.raises(KnowledgeBaseBusy, match="in use by"):
            await asyncio.to_thread(moved, on(postgresql_url, home), folder(tmp_path / "back"))


async def test_rows_changed_since_a_killed_move_are_copied_again(
    home: Path, tmp_path: Path, postgresql_url: str
) -> None:
    work = (move_in_steps, str(home), postgresql_url, "")
    await asyncio.to_thread(killed, *work, share=0.9, steps=60)
    async with KnowledgeBase.open(*folder(home)) as kb:
        await do(kb, LOCAL, "user_add", name="aaron")
        await do(kb, LOCAL, "remove", document="drive-tool.md")
        kb.glossary.senses.add("AAA", "Tools", "first of all")
    result = await asyncio.to_thread(moved, folder(home), on(postgresql_url, home))
    assert result.vectors == 3  # two fewer than before, those of the removed document
    async with KnowledgeBase.open(*on(postgresql_url, home)) as kb:
        assert [user.name for user in kb.people.users()] == ["aaron", "ann"]
        assert not await do(kb, LOCAL, "check")
        # New numbers continue after the highest.
        added = kb.glossary.senses.add("AAB", "Tools", "second of all")
        assert added.id == max(sense.id for sense in kb.glossary.senses.find(LOCAL))


async def test_characters_that_postgresql_cannot_store_are_replaced(home: Path, postgresql_url: str) -> None:
    with closing(sqlite3.connect(home / "threads.db")) as threads, threads:
        assert threads.execute("UPDATE threads SET title = 'a' || char(0) || 'b' WHERE owner = 'ann'").rowcount
    await asyncio.to_thread(moved, folder(home), on(postgresql_url, home))
    async with KnowledgeBase.open(*on(postgresql_url, home)) as kb:
        assert {one.title for one in await (await kb.threads()).of("ann")} == {"a\ufffdb"}
        # The glossary replaces them too, and they do not disturb a question.
        kb.glossary.senses.add("VGN", "Tools", "voltage \0 gizmo", description="a\0b")
        assert (await do(kb, LOCAL, "ask", question="What is a VGN?"))["status"] == "answered"


def test_a_set_in_a_checkpoint_compares_equal_in_any_order() -> None:
    from langgraph.checkpoint.serde import jsonplus

    rows, names = CheckpointRows(), ["one", "two", "three"]
    in_order, turned = (
        ("msgpack", jsonplus._msgpack_enc(ormsgpack.Ext(jsonplus.EXT_CONSTRUCTOR_SINGLE_ARG, jsonplus._msgpack_enc(
            ("builtins", "set", tuple(given))))))
        for given in (names, names[::-1])
    )  # fmt: skip
    assert in_order != turned
    head = ("thread", "", "id", None, "{}", "{}")
    assert rows.normalize_row((*head, "join:a+b:c", *in_order)) == rows.normalize_row((*head, "join:a+b:c", *turned))
    other = ("msgpack", jsonplus._msgpack_enc(names))
    assert rows.normalize_row((*head, "hits", *other)) == (*head, "hits", *other)


async def test_the_move_command_reports_its_work_and_the_settings_to_change(
    home: Path, postgresql_url: str, tmp_path: Path
) -> None:
    def move(*arguments: object) -> str:
        done = run("move", "--home", home, *arguments)
        return done.stdout + done.stderr

    there = await asyncio.to_thread(move, "--to", postgresql_url, "--schema", "desk")
    assert "5 vectors from" in there and "ARGOT_STORE_SCHEMA=desk" in there and "secret-of-tests" not in there
    for slip in ("mysql://x", "postgresql:/keeper:geheim7@db/argot", "host=db password=geheim7", "password = geheim7"):
        said = await asyncio.to_thread(move, "--to", slip)
        assert "is not a place to move to" in said and "geheim7" not in said
    assert "leave out --schema x" in await asyncio.to_thread(move, "--to", tmp_path / "b", "--schema", "x")


async def test_vectors_move_to_a_server_and_back(home: Path, tmp_path: Path, postgresql_url: str) -> None:
    (tmp_path / "chroma").mkdir()
    with ChromaRun(tmp_path / "chroma") as server:
        kept = {"chroma_url": server.url}
        there = await asyncio.to_thread(moved, folder(home), on(postgresql_url, home, **kept))
        assert there.vectors == 5
        async with KnowledgeBase.open(*on(postgresql_url, tmp_path / "own", **kept)) as kb:
            assert not await do(kb, LOCAL, "check")
            assert (await do(kb, LOCAL, "ask", question=QUESTIONS[2]))["status"] == "answered"
        # From one schema to another on the same servers, and from there into a folder.
        other = on(postgresql_url, home, store_schema="other", **kept)
        await asyncio.to_thread(moved, on(postgresql_url, home, **kept), other)
        await asyncio.to_thread(moved, other, folder(tmp_path / "back"))
    async with KnowledgeBase.open(*folder(tmp_path / "back")) as kb:
        assert not await do(kb, LOCAL, "check")
