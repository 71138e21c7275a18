"""Tests of a whole knowledge base on PostgreSQL: its folder holds only what belongs to the process."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from chroma_server import ChromaRun
from postgresql_server import end_connections
from serving import Served, run
from shared_corpus import as_ordinary_user
from tiny_base import TINY_DOCUMENTS

from argot.errors import Conflict, InvalidSettings, KnowledgeBaseBusy, NotFound
from argot.profile import Profile
from argot.service.identity.people import make_local_principal
from argot.service.json_values import convert_to_json
from argot.service.knowledge_base import KnowledgeBase
from argot.service.storage import home_folder
from argot.service.usecases import catalogue
from argot.service.usecases.documents.documents import add
from argot.service.usecases.questions.questions import ask
from argot.settings import Settings, load_settings

LOCAL = make_local_principal()
QUESTIONS = (
    "What does a late tariff filing cost?",
    "How much of the die area does PUC save?",
    "How do I trim a drive?",
)
GLOSSARY = """term,context,expansion,description
PUC,NAND,Peripheral Under Cell,circuits under the memory array
WL,NAND,Word Line,connects the control gates of one page
"""


@pytest.fixture
def store(postgresql_server: Any, postgresql_url: str) -> str:
    return as_ordinary_user(postgresql_server, postgresql_url)


@pytest.fixture(scope="module")
def chroma(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with ChromaRun(tmp_path_factory.mktemp("chroma")) as running:
        yield running.url


async def finished(events: AsyncIterator[Any]) -> Any:
    found = [event async for event in events]
    return found[-1].data


# -- real processes ---------------------------------------------------------------------------------------------------


def test_commands_and_a_service_on_postgresql_answer_as_on_sqlite(tmp_path: Path, store: str, chroma: str) -> None:
    documents, glossary = tmp_path / "documents", tmp_path / "glossary.csv"
    documents.mkdir()
    for name, text in TINY_DOCUMENTS.items():
        (documents / name).write_text(text, "utf-8")
    glossary.write_text(GLOSSARY, "utf-8")
    expected = asyncio.run(answers_in_a_folder(tmp_path / "sqlite", documents))
    assert all(answer["status"] == "answered" and answer["passages"] for answer in expected)
    on_server = {"ARGOT_STORE": store, "ARGOT_CHROMA_URL": chroma}
    for command in (("init",), ("add", documents), ("glossary", "import", glossary)):
        done = run(*command, "--home", tmp_path / "own", **on_server)
        assert done.returncode == 0, done.stderr
    asked = run("ask", "--json", "--home", tmp_path / "own", QUESTIONS[1], **on_server)
    assert asked.returncode == 0, asked.stderr
    assert plain(json.loads(asked.stdout)) == expected[1]
    # A new folder, as on another machine, is created on first use.
    with Served(tmp_path / "other", "--workers", "1", **on_server) as service:
        # The command uses the service's socket, and so its worker.
        asked = run("ask", "--json", "--home", tmp_path / "other", QUESTIONS[2], **on_server)
        assert asked.returncode == 0 and plain(json.loads(asked.stdout)) == expected[2], asked.stderr
        assert httpx.get(f"{service.url}/ready", timeout=60).status_code == 200
    left = {path.name for path in (tmp_path / "other").iterdir()}
    assert left <= {"knowledge_base.json", "chat", "lock", "learning"}


async def answers_in_a_folder(home: Path, documents: Path) -> list[dict[str, Any]]:
    async with KnowledgeBase.open(home, Settings(home=home), create=True) as kb:
        await finished(add(kb, LOCAL, paths=[str(documents)]))
        await catalogue.get_result(kb, LOCAL, "glossary_import", text=GLOSSARY)
        return [plain(convert_to_json(await finished(ask(kb, LOCAL, question=question)))) for question in QUESTIONS]


def plain(told: Any) -> Any:
    """Return the parts of an answer that do not depend on the place of storage.

    Ids, citations, texts and scores stay; times, threads and places are left out.
    """
    if isinstance(told, dict):
        apart = {"thread", "timings", "uri"}
        return {name: plain(value) for name, value in told.items() if name not in apart}
    return [plain(one) for one in told] if isinstance(told, list | tuple) else told


# -- one process ------------------------------------------------------------------------------------------------------


async def test_a_base_with_local_vectors_has_one_owner_process(tmp_path: Path, store: str, chroma: str) -> None:
    text = tmp_path / "rules.md"
    text.write_text("# Tariffs\n\nA late tariff filing costs 40 euros a day.\n")
    first, second = (Settings(home=tmp_path / name, store=store, workers=0) for name in ("first", "second"))
    async with KnowledgeBase.open(first.home, first, create=True) as kb:
        await finished(add(kb, LOCAL, paths=[str(text)]))
        answer = await finished(ask(kb, LOCAL, question="What does a late tariff filing cost?"))
        assert "40 euros" in answer.answer
        kb.profiles.save("lab-notes", Profile(passages=1))
        for settings in (second, second.replace(chroma_url=chroma)):
            with pytest.raises(KnowledgeBaseBusy, match="ARGOT_CHROMA_URL"):
                KnowledgeBase.open(settings.home, settings, patience=0)
        end_connections(store.replace("librarian@", "argot@"))  # as a restart of PostgreSQL does
        await finished(add(kb, LOCAL, paths=[str(text)], tags=["again"]))
        with pytest.raises(KnowledgeBaseBusy):
            KnowledgeBase.open(second.home, second, patience=0)
    assert not list(first.home.glob("*.db")) and not (first.home / "blobs").exists()
    assert not (first.home / "profiles").exists()
    shutil.rmtree(first.home / "store_vectors")
    async with KnowledgeBase.open(second.home, second) as kb:
        assert kb.profiles.names() == ["lab-notes"] and kb.profiles.find("lab-notes").passages == 1
        assert [one.tags for one in kb.document_store.documents(LOCAL)] == [("again",)]


# -- no empty base in place of an existing one ------------------------------------------------------------------------


def test_a_folder_with_databases_is_not_opened_with_an_empty_schema(
    tiny_home: Path, tmp_path: Path, store: str
) -> None:
    home = Path(shutil.copytree(tiny_home, tmp_path / "kb"))
    settings = Settings(home=home, store=store)
    for create in (False, True):
        with pytest.raises(InvalidSettings, match=r"argot move --to .*") as refused:
            KnowledgeBase.open(home, settings, create=create)
        assert str(home) in str(refused.value) and "schema argot" in str(refused.value)


def test_a_folder_of_a_base_on_postgresql_is_not_taken_for_a_new_one(tmp_path: Path, store: str) -> None:
    home = tmp_path / "kb"
    on_server = Settings(home=home, store=store)
    with pytest.raises(NotFound, match="argot init"):
        KnowledgeBase.open(home, on_server)
    assert not home.exists()
    done = run("init", "--home", home, ARGOT_STORE=store)
    assert done.returncode == 0 and home_folder.read_noted_place(home).startswith("PostgreSQL on 127.0.0.1")
    for create in (False, True):
        with pytest.raises(InvalidSettings, match="ARGOT_STORE"):
            KnowledgeBase.open(home, Settings(home=home), create=create)


# -- wrong settings ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"ARGOT_STORE": "mysql://ann:hidden-word@db/argot"}, "no address of PostgreSQL"),
        ({"ARGOT_STORE": "postgresql://ann:hidden-word/with@slash@db/argot"}, "cannot be read"),
        ({"ARGOT_STORE": "postgresql://ann:hidden-word@127.0.0.1:9/argot"}, "Start PostgreSQL"),
        ({"ARGOT_STORE": "postgresql://ann:hidden-word@db/argot", "ARGOT_STORE_SCHEMA": "A;B"}, "small letters"),
        ({"ARGOT_BLOB_URL": "s3://ann:hidden-word@bucket/kb"}, "needs 'store'"),
    ],
)
def test_an_invalid_address_is_refused_without_showing_its_password(
    given: dict[str, str], said: str, tmp_path: Path
) -> None:
    done = run("list", "--home", tmp_path / "kb", **given)
    assert done.returncode != 0 and said in done.stderr, done.stderr
    assert "hidden-word" not in done.stdout + done.stderr


def test_doctor_shows_no_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from argot.service.maintenance.process_checks import check_process

    monkeypatch.setenv("ARGOT_STORE", "postgresql://ann:hidden-word@127.0.0.1:9/argot?password=hidden-word")
    monkeypatch.setenv("ARGOT_BLOB_URL", "s3://ann:hidden/word-hidden-word@bucket/kb")
    shown = str(list(check_process(load_settings(home=tmp_path))))
    assert "setting store" in shown and "127.0.0.1:9/argot" in shown and "hidden-word" not in shown


async def test_models_cannot_be_adopted_on_postgresql(tmp_path: Path, store: str) -> None:
    from argot.service.storage.adopted_models import require_adoptable

    with pytest.raises(Conflict, match="ARGOT_EMBEDDER"):
        require_adoptable(Settings(home=tmp_path, store=store))
