"""Tests of personal data: a person can export all of it, and after erasure no file contains any; retention erases
conversations that were not used for a long time.
"""

import asyncio
import base64
import json
import shutil
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from argot.databases import SQLITE
from argot.errors import NotAllowed, NotFound
from argot.jargon_db.store.privacy import ERASED
from argot.learn.run_folder import RunFolder, RunRequest
from argot.learn.store.pair_store import PairStore
from argot.learn.training_pairs import make_pair_id
from argot.learn.usecases.learning_data_making import DataRecipe
from argot.learn.usecases.set_inputs import load_training_inputs
from argot.service.identity import personal_rows
from argot.service.identity.people import MIGRATIONS, make_local_principal
from argot.service.knowledge_base import KnowledgeBase
from argot.service.operations.retention import erase_old
from argot.service.storage import home_folder
from argot.service.usecases import catalogue
from argot.settings import Settings
from argot.sqlite import open_database
from argot.types import Principal

LOCAL = make_local_principal()
CANARY = "zweiundvierzigfach"
"""A word that is part of everything ann says. One word, so that word indexes are searched through too."""
SENTENCE = f"the {CANARY} ZQXJ of the harbour"


@pytest.fixture
async def kb(tiny_home: Path, tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    folder = await asyncio.to_thread(shutil.copytree, tiny_home, tmp_path / "kb")
    async with KnowledgeBase.open(folder, Settings(home=folder)) as opened:
        yield opened


async def do(kb: KnowledgeBase, who: Principal, name: str, /, **parameters: Any) -> Any:
    return await catalogue.get_result(kb, who, name, **parameters)


async def lived(kb: KnowledgeBase) -> Principal:
    """Let Ann leave traces in every place a person can."""
    await do(kb, LOCAL, "user_add", name="ann", groups=["hr"], display_name=f"Ann {CANARY}", password="wide llama 91 x")
    await do(kb, LOCAL, "user_roles", name="ann", role="manager")
    ann = kb.people.user("ann").principal
    kb.people.sessions.begin("ann", "192.0.2.7", f"Browser {CANARY}")
    await do(kb, ann, "key_add", name=f"robot {CANARY}")
    await do(kb, LOCAL, "slack_people_link", team="T123", slack_user="U123", user="ann")
    asked = await do(kb, ann, "ask", question=f"What is ZQXJ, {SENTENCE}?")
    thread = asked["thread"]
    await do(kb, ann, "ask", question="What does a late tariff filing cost?", thread=thread)
    await do(kb, ann, "feedback", thread=thread, turn=0, value=-1, comment=f"No word on {SENTENCE}")
    text = f"# Harbour\n\n{CANARY} is the number of cranes in our harbour.\n"
    await do(kb, ann, "thread_attach", thread=thread, name="harbour.md", content=_base64(text))
    await do(kb, ann, "glossary_add", term="CRN", context="Tools", expansion="crane")
    slack = Principal("slack:T123:U123")
    await do(kb, slack, "ask", question=f"And in Slack: {SENTENCE}?")
    await kb.chores.finish()
    return ann


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode("ascii")


def files_with(folder: Path, word: str) -> list[str]:
    """Return the files that contain the word in any encoding in which stores write text."""
    forms = [word.encode("utf-8"), word.encode("utf-16-le"), word.encode("utf-16-be")]
    found = []
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            found += [str(path.relative_to(folder)) for form in forms if form in data]
    return found


async def test_the_canary_appears_in_every_store_beforehand(kb: KnowledgeBase) -> None:
    """Check that the tests below can find anything at all."""
    await lived(kb)
    found = {name.removesuffix("-wal") for name in files_with(kb.home, CANARY)}
    assert {"corpus.db", "glossary.db", "people.db", "threads.db"} <= found


async def test_an_export_contains_all_personal_data_and_no_secret(kb: KnowledgeBase) -> None:
    ann = await lived(kb)
    exported = await do(kb, LOCAL, "user_export", name="ann")
    assert exported.keys() == {"name", "at", "people", "conversations", "links", "glossary", "ratings", "asked"}
    assert {"users", "memberships", "managed", "sessions", "keys", "slack_people"} <= exported["people"].keys()
    questions = [turn["question"] for one in exported["conversations"] for turn in one["turns"]]
    assert len(questions) == 3 and sum(SENTENCE in question for question in questions) == 2
    (named,) = [one for one in exported["conversations"] if one["files"]]
    assert named["feedback"][0]["comment"].endswith(SENTENCE)
    assert named["files"][0]["name"] == "harbour.md"
    assert SENTENCE in exported["glossary"]["ann"]["questions"][0]["question"]
    assert exported["glossary"]["ann"]["changes"]
    text = json.dumps(exported)
    assert "argon2" not in text and '"hash"' not in text
    own = await do(kb, ann, "my_data")
    assert {**own, "at": ""} == {**exported, "at": ""}


async def test_nobody_exports_or_erases_another_person(kb: KnowledgeBase) -> None:
    await lived(kb)
    mia = Principal("mia", frozenset({"managers"}))
    for name in ("user_export", "user_erase"):
        with pytest.raises(NotAllowed):
            await do(kb, mia, name, name="ann")
    assert CANARY not in json.dumps(await do(kb, mia, "my_data"))
    for name in ("user_export", "user_erase"):
        with pytest.raises(NotFound, match="nobody at all"):
            await do(kb, LOCAL, name, name="nobody at all")


async def test_after_an_erasure_no_file_contains_data_of_the_person(kb: KnowledgeBase) -> None:
    ann = await lived(kb)
    token = kb.people.sessions.begin("ann")
    kept = await do(kb, LOCAL, "ask", question="What does a late tariff filing cost?")
    erased = await do(kb, LOCAL, "user_erase", name="ann")
    assert erased["conversations"] == 2 and erased["files"] == 1 and erased["questions"] >= 1
    assert erased["files_clean"]
    assert files_with(kb.home, CANARY) == []
    with pytest.raises(NotFound):
        await do(kb, LOCAL, "user_export", name="ann")
    assert kb.people.sessions.find(token) is None
    with pytest.raises(NotFound):
        kb.principal("ann")
    assert await do(kb, ann, "thread_list") == []
    # The data of others are unchanged, and every store is sound.
    assert (await do(kb, LOCAL, "thread_read", thread=kept["thread"]))["turns"]
    assert await do(kb, LOCAL, "check") == []


async def test_the_glossarys_history_is_kept_without_the_erased_persons_name(kb: KnowledgeBase) -> None:
    await lived(kb)
    before = await do(kb, LOCAL, "glossary_term", term="CRN")
    await do(kb, LOCAL, "user_erase", name="ann")
    assert [one["expansion"] for one in await do(kb, LOCAL, "glossary_list", query="CRN")] == ["crane"]
    with closing(sqlite3.connect(kb.home / home_folder.GLOSSARY)) as db:
        assert db.execute("SELECT count(*) FROM changes WHERE who = ?", (ERASED,)).fetchone()[0]
        assert not db.execute("SELECT count(*) FROM changes WHERE who = 'ann'").fetchone()[0]
        assert "ann" not in {json.loads(row[0])["owner"] for row in db.execute(
            "SELECT after FROM history WHERE subject = 'sense' AND after IS NOT NULL")}  # fmt: skip
        for table in ("changes", "history"):
            with pytest.raises(sqlite3.DatabaseError, match="append-only"):
                db.execute(f"UPDATE {table} SET id = id")
    assert before


async def test_an_erasure_reports_audiences_that_still_name_the_person(kb: KnowledgeBase) -> None:
    await lived(kb)
    await do(kb, LOCAL, "glossary_add", term="SEC", context="Tools", expansion="secret", audience=["@ann"])
    assert (await do(kb, LOCAL, "user_erase", name="ann"))["still_named"] == {"documents": 0, "senses": 1}


async def test_an_erasure_waits_for_the_answer_in_progress(kb: KnowledgeBase) -> None:
    """Check it because the end of the answer would otherwise be written into a thread without an owner."""
    ann = await lived(kb)
    events = catalogue.dispatch(kb, ann, "ask", {"question": f"What about {SENTENCE}?"})
    await anext(events)
    erasing = asyncio.create_task(do(kb, LOCAL, "user_erase", name="ann"))
    async for _ in events:
        await asyncio.sleep(0)
    await erasing
    assert files_with(kb.home, CANARY) == []
    with closing(sqlite3.connect(kb.home / home_folder.THREADS)) as db:
        owned = {row[0] for row in db.execute("SELECT id FROM threads")}
        assert {row[0] for row in db.execute("SELECT DISTINCT thread_id FROM checkpoints")} <= owned


async def test_every_table_of_people_is_classified_as_personal_or_not(tmp_path: Path) -> None:
    """Check that `service/identity/personal_rows.py` calls each table personal (and names its column) or impersonal."""
    with closing(open_database(tmp_path / "people.db", MIGRATIONS)) as db:
        found = personal_rows.list_tables(db, SQLITE)
        assert found - personal_rows.IMPERSONAL == personal_rows.PERSONAL.keys()
        for table, column in personal_rows.PERSONAL.items():
            assert column in {row[1] for row in db.execute(f"PRAGMA table_info({table})")}


async def test_old_conversations_are_erased_and_the_queue_still_counts(kb: KnowledgeBase) -> None:
    ann = await lived(kb)
    kb.settings = Settings(home=kb.home, keep_questions_days=30)
    assert await erase_old(kb) == {"threads": 0, "questions": 0}
    (miss,) = [one for one in await do(kb, LOCAL, "glossary_misses") if one["term"] == "ZQXJ"]
    later = datetime.now(UTC) + timedelta(days=31)
    erased = await erase_old(kb, later)
    assert erased["threads"] == 2 and erased["questions"] >= 1
    assert await do(kb, ann, "thread_list") == []
    assert {name.removesuffix("-wal") for name in files_with(kb.home, SENTENCE)} == set()
    (after,) = [one for one in await do(kb, LOCAL, "glossary_misses") if one["term"] == "ZQXJ"]
    assert (after["count"], after["questions"]) == (miss["count"], [])
    assert await erase_old(kb, later) == {"threads": 0, "questions": 0}


async def test_without_the_setting_nothing_is_erased(kb: KnowledgeBase) -> None:
    ann = await lived(kb)
    assert await erase_old(kb, datetime.now(UTC) + timedelta(days=36_000)) == {"threads": 0, "questions": 0}
    assert await do(kb, ann, "thread_list")


async def test_erasing_a_person_removes_their_questions_from_sets_and_trainings(kb: KnowledgeBase) -> None:
    """Check also a set that was removed, and one that was exported and imported again and names nobody any more."""
    await do(kb, LOCAL, "user_add", name="ann")
    for name in ("ours", "given-up"):
        await do(kb, LOCAL, "data_make", name=name, recipe=DataRecipe())
        first = kb.open_store(PairStore).pairs(name)[0]
        question = f"What does it cost in the {CANARY} harbour?"
        its = replace(
            first, id=make_pair_id(question, first.passage_id), question=question, kind="asked", asked_by="ann"
        )
        kb.open_store(PairStore).add(name, [its])
        inputs = await load_training_inputs(kb, LOCAL, name)
        assert inputs.askers == {"ann": (its.id,)}
        request = RunRequest(kind="embedder", name=name, base="", data=name, askers=inputs.askers, asked_by="ann")
        RunFolder.create(kb.home / home_folder.RUNS, request, inputs.pairs, inputs.passages)
    await do(kb, LOCAL, "data_import", name="again", text=(await do(kb, LOCAL, "data_export", name="ours"))["text"])
    await do(kb, LOCAL, "data_remove", name="given-up")
    assert {"learning.db", "learning/runs/r0001/pairs.jsonl", "learning/runs/r0002/pairs.jsonl"} <= {
        name.removesuffix("-wal") for name in files_with(kb.home, CANARY)
    }
    await do(kb, LOCAL, "user_erase", name="ann")
    assert files_with(kb.home, CANARY) == []
    assert files_with(kb.home / home_folder.RUNS, '"ann"') == []
    runs = await do(kb, LOCAL, "training_list")
    assert [one["asked_by"] for one in runs] == [ERASED, ERASED]
    assert (await do(kb, LOCAL, "data_show", name="again"))["pairs"]
