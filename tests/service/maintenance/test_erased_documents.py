"""Tests of an erased document: none of its text remains anywhere, including everything derived from it."""

import asyncio
import base64
import fnmatch
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from base_engines import ENGINES, Places, places_on
from stored_words import files_with_word, tables_of, tables_with_word

from argot.corpus.corpus import Source
from argot.corpus.store.dustbin import ErasedDocuments
from argot.learn.run_folder import RunFolder, RunRequest, list_every_run
from argot.learn.usecases.learning_data_making import DataRecipe
from argot.learn.usecases.set_inputs import load_training_inputs
from argot.service.identity.people import make_local_principal
from argot.service.knowledge_base import KnowledgeBase
from argot.service.maintenance import text_keepers
from argot.service.maintenance.text_keepers import Erasure, list_keepers
from argot.service.operations.retention import erase_old_removed
from argot.service.storage import home_folder
from argot.service.usecases import catalogue
from argot.types import DerivedText, Principal
from argot.work.job_types import JobRequest

KEEPERS = list_keepers()
LOCAL = make_local_principal()
MIA = Principal("mia", frozenset({"managers"}))
WORD = "quastenflosser"
"""Stands in each sentence of the documents that are erased, and in nothing that anybody asks."""
PUMPS = f"""# Cooling of the works

## Maintenance of the cooling pump

The cooling pump of the works is opened by the {WORD} crew each spring. The {WORD} crew cleans the cooling pump and
writes the result into the {WORD} book, which lies in the office of the works all the year.

## Zeta quotient ledger

The Zeta quotient ledger (ZQL) is what the {WORD} crew calls its list of cooling pumps. A cooling pump is a {WORD}
machine that moves water through the works. ZQL stands for Zeta quotient ledger of the {WORD} crew.
"""
VALVES = f"""# Valves of the works

## Testing of a sentinel valve

The sentinel valve of the boiler is raised by the {WORD} team twice a year. The {WORD} team exchanges a sentinel valve
that opens later than the {WORD} table says.
"""
ROOFS = """# Roofs of the works

## Repair of a flat roof

A flat roof of the works is repaired by the roofers of the town in the summer. The roofers bring their own ladders.
"""
QUESTIONS = ("Who opens the cooling pump of the works?", "Who raises the sentinel valve of the boiler?")


class QuestionDeriver:
    """A deriver that makes, for each passage, a question that repeats it."""

    name = "repeats"

    async def triples(self, passages: Any) -> Any:
        return []

    async def derived_texts(self, passages: Any) -> list[DerivedText]:
        return [DerivedText("", "question", f"Is it so? {one.text}", (one.id,)) for one in passages]


@pytest.fixture(params=ENGINES)
def places(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Places]:
    (tmp_path / "stores").mkdir()
    with places_on(request.param, tmp_path / "stores", request) as opened:
        yield opened


@pytest.fixture
async def kb(places: Places) -> AsyncIterator[KnowledgeBase]:
    settings = places("kept", questions_per_minute=0)
    async with KnowledgeBase.open(settings.home, settings, create=True) as opened:
        opened.people.add("mia", ("managers",))
        yield opened


async def do(kb: KnowledgeBase, who: Principal, name: str, /, **given: Any) -> Any:
    return await catalogue.get_result(kb, who, name, **given)


def places_with_word(kb: KnowledgeBase) -> list[str]:
    """Return every file in and beside the folder (a Chroma server's too) and every table that contains the word."""
    found = files_with_word(kb.home.parent, WORD)
    if kb.settings.storage.database:
        found += tables_with_word(kb.settings.storage.database, kb.settings.storage.schema_name, WORD)
    return found


# -- every feature that a document's text can reach -------------------------------------------------------------------


def write_sources(folder: Path) -> None:
    folder.mkdir()
    (folder / "pumps.md").write_text(PUMPS)
    (folder / "roofs.md").write_text(ROOFS)


async def fill(kb: KnowledgeBase, folder: Path) -> None:
    await asyncio.to_thread(write_sources, folder)
    await do(kb, LOCAL, "source_add", address=str(folder), name="works")
    await do(kb, LOCAL, "source_sync", name="works")
    source = Source("test:///valves.md", "valves.md", VALVES.encode)
    list((await kb.load()).add([source], deriver=QuestionDeriver()))
    await do(kb, LOCAL, "document_replace", document="valves.md", data=_base64(f"{VALVES}\nIt is {WORD} work.\n"),
             name="valves.md")  # fmt: skip
    await fill_learning(kb)
    await fill_conversations(kb)
    await fill_studies(kb)
    await do(kb, LOCAL, "glossary_mine")
    if kb.jobs.is_shared:  # no worker runs, so nobody takes the job
        given = {"name": "pumps.md", "audience": None, "tags": None}
        await kb.jobs.submit(JobRequest("upload", LOCAL, given, label="pumps.md", data=PUMPS.encode()))


async def fill_learning(kb: KnowledgeBase) -> None:
    await do(kb, LOCAL, "data_make", name="ours", recipe=DataRecipe())
    exported = await do(kb, LOCAL, "data_export", name="ours")
    await do(kb, LOCAL, "data_import", name="again", text=exported["text"])
    row = {"question": "who cleans it", "passage_id": "from-elsewhere", "document": "elsewhere.md", "kind": "written",
           "passage": PUMPS.split("\n\n")[2], "part": "train"}  # fmt: skip
    await do(kb, LOCAL, "data_import", name="brought", text=json.dumps(row))
    inputs = await load_training_inputs(kb, LOCAL, "ours")
    request = RunRequest(kind="embedder", name="tuned", base="", data="ours")
    RunFolder.create(kb.home / home_folder.RUNS, request, inputs.pairs, inputs.passages)


async def fill_conversations(kb: KnowledgeBase) -> None:
    asked = await do(kb, LOCAL, "ask", question=QUESTIONS[0])
    assert WORD in asked["answer"], asked["answer"]
    await do(kb, LOCAL, "feedback", thread=asked["thread"], turn=0, value=1, share=True)
    await do(kb, LOCAL, "ask", question=QUESTIONS[1], thread=asked["thread"])
    await do(kb, LOCAL, "ask", question="Who repairs a flat roof of the works?", thread=asked["thread"])
    assert WORD in (await do(kb, LOCAL, "ask", question=QUESTIONS[1]))["answer"]
    await do(kb, LOCAL, "ask", question="What is ZQL?")
    await kb.chores.finish()


async def fill_studies(kb: KnowledgeBase) -> None:
    answers = {"one": f"The {WORD} crew.", "two": "Nobody."}
    rows = [{"question": QUESTIONS[0], "answers": answers, "documents": ["pumps.md"]}]
    rows += [{"question": "Roof?", "answers": {"one": "The roofers.", "two": "Ann."}, "documents": ["roofs.md"]}]
    form = {"name": "Answers"}
    await do(kb, LOCAL, "rating_create", form=_form(**form), data="\n".join(map(json.dumps, rows)))
    passages = [{"text": PUMPS.split("\n\n")[2], "document": "pumps.md"}, {"text": "Nothing.", "document": "roofs.md"}]
    await do(kb, LOCAL, "rating_create", form=_form(name="Passages", kind="passages"),
             data=json.dumps({"question": QUESTIONS[0], "passages": passages}))  # fmt: skip
    await do(kb, LOCAL, "rating_create_from_thumbs", form=_form(name="Thumbs"))


def _form(**given: Any) -> Any:
    from argot.ratings.usecases.studies import StudyForm

    return StudyForm(**given)


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode("ascii")


# -- tests ------------------------------------------------------------------------------------------------------------


async def test_an_erased_document_leaves_no_byte_in_any_store(kb: KnowledgeBase, tmp_path: Path) -> None:
    await fill(kb, tmp_path / "sources")
    before = places_with_word(kb)
    held = " ".join(before)
    for place in (
        ("learning", "ratings", "threads") if not kb.settings.storage.database else ("pairs", "answers", "checkpoint")
    ):
        assert place in held, before
    assert "runs/r0001/pairs.jsonl" in held and "runs/r0001/passages.jsonl" in held
    (tmp_path / "sources" / "pumps.md").unlink()
    await do(kb, LOCAL, "remove", document="pumps.md", forever=True)
    await do(kb, LOCAL, "remove", document="valves.md")
    await do(kb, LOCAL, "removed_erase", document="valves.md")
    assert places_with_word(kb) == []
    # Results of other documents stay.
    assert [one["name"] for one in await do(kb, LOCAL, "list_documents")] == ["roofs.md"]
    shown = await do(kb, LOCAL, "data_show", name="ours")
    assert {pair["document"] for pair in shown["pairs"]} == {"roofs.md"}
    assert [one["questions"] for one in await do(kb, LOCAL, "rating_list")] == [0, 0, 1]
    (thread,) = [one for one in await do(kb, LOCAL, "thread_list") if one["title"].startswith("Who opens")]
    turns = (await do(kb, LOCAL, "thread_read", thread=thread["id"]))["turns"]
    assert len(turns) == 3 and "roofers" in turns[2]["answer"]
    assert await do(kb, LOCAL, "check") == []


LAST_PLACE = len(KEEPERS)
ERASING_PLACES = [place for place, keeper in enumerate(KEEPERS) if keeper.erase is not None]
"""Places among the keepers before which an erasure can be cut off, apart from the first and the last."""
INTERRUPTIONS = [
    *(("sqlite", place) for place in sorted({0, *ERASING_PLACES, LAST_PLACE})),
    *(("postgresql", place) for place in (0, LAST_PLACE)),
]


@pytest.mark.parametrize(("places", "place"), INTERRUPTIONS, indirect=["places"])
async def test_an_interrupted_erasure_is_continued(
    kb: KnowledgeBase, tmp_path: Path, place: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check a kill before each of the keepers that erase; on PostgreSQL before the first and after the last."""
    await fill(kb, tmp_path / "sources")

    class Killed(BaseException):
        pass

    async def killed(*_: Any) -> None:
        raise Killed

    if place == LAST_PLACE:
        monkeypatch.setattr(kb.corpus, "erase_removed", lambda _: (_ for _ in ()).throw(Killed()))
    else:
        cut = [*KEEPERS[:place], text_keepers.TextKeeper("cut", "", erase=killed), *KEEPERS[place:]]
        monkeypatch.setattr(text_keepers, "list_keepers", lambda: cut)
    with pytest.raises(Killed):
        await do(kb, LOCAL, "remove", document="pumps.md", forever=True)
    monkeypatch.undo()
    # It is erased for everybody and cannot be restored.
    assert await do(kb, LOCAL, "removed_list") == []
    await do(kb, LOCAL, "remove", document="valves.md", forever=True)
    (tmp_path / "sources" / "pumps.md").unlink()
    assert await erase_old_removed(kb) == 1
    assert places_with_word(kb) == []
    assert await erase_old_removed(kb) == 0


async def test_removing_a_document_keeps_what_was_derived_from_it(kb: KnowledgeBase, tmp_path: Path) -> None:
    """Check that restoring the document restores everything."""
    await fill(kb, tmp_path / "sources")
    before = await do(kb, LOCAL, "data_show", name="ours")
    await do(kb, LOCAL, "remove", document="valves.md")
    await do(kb, LOCAL, "document_restore", document="valves.md")
    assert await do(kb, LOCAL, "data_show", name="ours") == before
    asked = await do(kb, LOCAL, "ask", question=QUESTIONS[1])
    assert WORD in asked["answer"]


async def test_a_document_added_again_keeps_what_was_made_from_it(kb: KnowledgeBase, tmp_path: Path) -> None:
    await fill(kb, tmp_path / "sources")
    before = await do(kb, LOCAL, "data_show", name="ours")
    await do(kb, LOCAL, "remove", document="pumps.md")
    await do(kb, LOCAL, "add", paths=[str(tmp_path / "sources" / "pumps.md")])
    await do(kb, LOCAL, "removed_erase")
    found = {pair["question"] for pair in (await do(kb, LOCAL, "data_show", name="ours"))["pairs"]}
    assert {pair["question"] for pair in before["pairs"] if pair["document"] == "pumps.md"} <= found


async def test_every_table_and_folder_has_a_keeper(kb: KnowledgeBase, tmp_path: Path) -> None:
    """Check that `text_keepers.py` says, for every table and folder, who erases texts of documents in it."""
    await fill(kb, tmp_path / "sources")
    folders = {name for keeper in KEEPERS for name in keeper.folders}
    there = {path.name.removesuffix("-wal").removesuffix("-shm") for path in kb.home.iterdir()}
    assert there - folders == set()
    claimed = [pattern for keeper in KEEPERS for pattern in keeper.tables]
    tables = await asyncio.to_thread(_tables, kb)
    assert [one for one in tables if not any(fnmatch.fnmatch(one, pattern) for pattern in claimed)] == []


def _tables(kb: KnowledgeBase) -> list[str]:
    if kb.settings.storage.database:
        with psycopg.connect(kb.settings.storage.database) as connection:
            return tables_of(connection, kb.settings.storage.schema_name)
    import sqlite3

    names: set[str] = set()
    for store in home_folder.DATABASES:
        with sqlite3.connect(kb.home / store) as connection:
            rows = connection.execute("SELECT name FROM pragma_table_list WHERE schema = 'main'").fetchall()
        names |= {name for (name,) in rows if not name.startswith(("sqlite_", "_sqlite_"))}
    return sorted(names)


SHARED = "The teal line of the works is dosed with fourteen grams of citrate for each batch."
DOSING = f"# Dosing of the teal line\n\n{SHARED}\n\nIt runs on Mondays, and is cleaned by the night shift.\n"
MINUTES = f"# Minutes of 3 May\n\nPresent: Bo, Li.\n\n{SHARED}\n\nNext meeting in June, in the yellow room.\n"
DOSE = "How many grams of citrate does the teal line get for each batch?"
SUE = Principal("sue", frozenset({"managers", "secret"}))


async def fill_from_dosing(kb: KnowledgeBase) -> str:
    """Make something of each kind from the one document, and return the conversation's id."""
    kb.people.add("sue", ("managers", "secret"))
    source = Source("test:///dosing.md", "dosing.md", DOSING.encode)
    list((await kb.load()).add([source], audience=frozenset({"secret"})))
    asked = await do(kb, SUE, "ask", question=DOSE)
    thread: str = asked["thread"]
    assert "fourteen" in asked["answer"]
    await do(kb, SUE, "verified_add", thread=thread, turn=0)
    await do(kb, SUE, "feedback", thread=thread, turn=0, value=1, share=True)
    passage = asked["sentences"][0]["citations"][0]["passage_id"]
    row = {"question": "how much", "passage_id": passage, "document": "dosing.md", "kind": "written",
           "passage": SHARED, "part": "train"}  # fmt: skip
    await do(kb, SUE, "data_import", name="brought", text=json.dumps(row))
    inputs = await load_training_inputs(kb, SUE, "brought")
    request = RunRequest(kind="embedder", name="tuned", base="", data="brought")
    RunFolder.create(kb.home / home_folder.RUNS, request, inputs.pairs, inputs.passages)
    answers = {"one": SHARED, "two": "Nobody."}
    rows = json.dumps({"question": DOSE, "answers": answers, "reference": SHARED, "documents": ["dosing.md"]})
    await do(kb, SUE, "rating_create", form=_form(name="Doses"), data=rows)
    await kb.chores.finish()
    return thread


async def list_from_dosing(kb: KnowledgeBase, thread: str) -> dict[str, Any]:
    judged = await (await kb.threads()).list_judged()
    (run,) = list_every_run(kb.home / home_folder.RUNS)
    return {
        "verified": [one["answer"] for one in await do(kb, SUE, "verified_list")],
        "turns": [one["answer"] for one in (await do(kb, SUE, "thread_read", thread=thread))["turns"]],
        "judged": [one["text"] for found in judged for one in found.turn["sentences"]],
        "pairs": [one["question"] for one in (await do(kb, SUE, "data_show", name="brought"))["pairs"]],
        "studies": [one["questions"] for one in await do(kb, SUE, "rating_list")],
        "run": [one.passage for one in run.pairs()] + [one.text for one in run.passages()],
    }


@pytest.mark.parametrize("is_removed", [False, True])
async def test_erasing_a_document_keeps_what_was_made_from_another_that_says_the_same(
    kb: KnowledgeBase, is_removed: bool
) -> None:
    """Check that nobody can delete what was made from documents that they may not read, by erasing a copy."""
    thread = await fill_from_dosing(kb)
    before = await list_from_dosing(kb, thread)
    assert all("fourteen" in " ".join(before[name]) for name in ("verified", "turns", "judged", "run"))
    if is_removed:  # it may be restored
        await do(kb, SUE, "remove", document="dosing.md")
    list((await kb.load()).add([Source("test:///minutes.md", "minutes.md", MINUTES.encode)]))
    await do(kb, MIA, "remove", document="minutes.md", forever=True)
    if is_removed:
        await do(kb, SUE, "document_restore", document="dosing.md")
    assert await list_from_dosing(kb, thread) == before
    # The words go with their own document.
    await do(kb, SUE, "remove", document="dosing.md", forever=True)
    after = await list_from_dosing(kb, thread)
    assert "fourteen" not in json.dumps(after) and after["studies"] == [0] and after["pairs"] == []


async def test_a_document_is_gone_with_its_passages(kb: KnowledgeBase) -> None:
    documents = ErasedDocuments(frozenset({"d"}), frozenset(), frozenset({"p"}), (), frozenset())
    erasure = Erasure.of(documents, (await kb.load()).store)
    assert [erasure.is_gone(one) for one in ("d", "p", "another")] == [True, True, False]
