"""Tests of background derivation: once per document, within the budget, while nobody asks, with a status."""

import asyncio
import json
import re
import shutil
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from serving import PATIENCE, Served, run

from argot.corpus.corpus import Source
from argot.corpus.ingestion.derivation_states import MAX_TRIES, DerivationStates
from argot.errors import ModelUnavailable, NotAllowed, NotFound
from argot.service.knowledge_base import KnowledgeBase
from argot.service.operations import background_derivation
from argot.service.operations.background_derivation import derive_due
from argot.service.usecases import catalogue
from argot.service.usecases.documents import automatic_derivation
from argot.service.usecases.documents.automatic_derivation import describe_wanted_texts, doing_now, list_wanted_kinds
from argot.settings import Settings
from argot.types import THREAD, Principal

ROOT = Principal("root", sees_all=True)
MANAGER = Principal("mona", frozenset({"managers"}))
DOCUMENTS = 4


def about(request: Any) -> dict[str, Any]:
    (text,) = re.findall(r"<passage>\n(.*)\n</passage>", request.user, re.DOTALL)
    return {"questions": [f"Is it so that {' '.join(text.split()[-8:]).strip('.')}?"]}


@pytest.fixture
def model(scripted_model: Any) -> Any:
    scripted_model.reply("questions", about)
    return scripted_model


async def opened(tiny_home: Path, tmp_path: Path, model: Any, **more: Any) -> KnowledgeBase:
    home = tmp_path / "kb"
    if not home.exists():
        shutil.copytree(tiny_home, home)
    settings = {"derive_kinds": "question", "model_seconds": 20, "threads": 1, **more}
    return KnowledgeBase.open(home, model.settings(home=home, **settings))


@pytest.fixture
async def kb(tiny_home: Path, tmp_path: Path, model: Any) -> AsyncIterator[KnowledgeBase]:
    async with await opened(tiny_home, tmp_path, model) as base:
        yield base


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[datetime]:
    """Provide a clock that a test may set."""
    now = [datetime(2026, 3, 4, 12, tzinfo=UTC)]
    monkeypatch.setattr(background_derivation, "utc_now", lambda: now[0])
    return now


async def states(kb: KnowledgeBase) -> dict[str, tuple[str, int, str]]:
    """Return the recorded states of derivation, by document name."""
    store = (await kb.load()).store
    noted = DerivationStates(store.database).read_states()
    names = {one.id: one.name for one in store.documents(ROOT)}
    return {names[id_]: (one.state, one.tries, one.detail) for id_, one in noted.items()}


async def rows(kb: KnowledgeBase, sql: str) -> list[Any]:
    return list((await kb.load()).store.database.connection().execute(sql))


async def count(kb: KnowledgeBase) -> int:
    return int((await rows(kb, "SELECT count(*) FROM derived"))[0][0])


async def put(kb: KnowledgeBase, name: str, text: str, **more: Any) -> None:
    list((await kb.load()).add([Source(f"test:///{name}", name, text.encode)], **more))


async def test_derived_texts_are_made_once(kb: KnowledgeBase, model: Any, clock: list[datetime]) -> None:
    await derive_due(kb)
    total = (await kb.load()).store.count_passages(ROOT)
    assert set((await states(kb)).values()) == {("derived", 0, "")} and len(await states(kb)) == DOCUMENTS
    assert len(model.asked()) == total == await count(kb)
    ((day, calls, tokens),) = await rows(kb, "SELECT * FROM derivation_spending")
    assert (day, calls) == ("2026-03-04", total) and tokens > total
    await derive_due(kb)
    assert len(model.asked()) == total
    assert (await kb.load()).check() == []


async def test_new_and_changed_documents_are_derived(kb: KnowledgeBase, model: Any) -> None:
    await derive_due(kb)
    before = len(model.asked())
    await put(kb, "pump.md", "# Pump\n\nThe blue valve opens at 7 bar.\n")
    assert "pump.md" not in await states(kb)
    await derive_due(kb)
    assert (await states(kb))["pump.md"][0] == "derived" and len(model.asked()) == before + 1
    await put(kb, "pump.md", "# Pump\n\nThe blue valve opens at 8 bar.\n")
    assert "pump.md" not in await states(kb)
    await derive_due(kb)
    await catalogue.get_result(kb, ROOT, "document_reread", document="pump.md")
    assert "pump.md" not in await states(kb)
    await derive_due(kb)
    assert len(model.asked()) == before + 3
    await catalogue.get_result(kb, ROOT, "remove", document="pump.md")
    assert "pump.md" not in await states(kb)
    await catalogue.get_result(kb, ROOT, "document_restore", document="pump.md")
    await derive_due(kb)
    assert (await states(kb))["pump.md"][0] == "derived" and len(model.asked()) == before + 4
    assert (await kb.load()).check() == []


async def test_the_newest_document_is_derived_first_and_attachments_never(kb: KnowledgeBase, model: Any) -> None:
    corpus = await kb.load()
    with corpus.store.database.writing() as connection:
        connection.execute("UPDATE revisions SET added_at = '2020-01-01T00:00:00+00:00'")
    await put(kb, "note.md", "# Note\n\nThe note is of one talk.\n", audience=frozenset({f"{THREAD}t1"}))
    await put(kb, "pump.md", "# Pump\n\nThe blue valve opens at 7 bar.\n")
    await derive_due(kb)
    assert "7 bar" in model.asked()[0].user
    assert not any("of one talk" in one.user for one in model.asked())
    assert "note.md" not in await states(kb)


async def test_derivation_stops_when_the_daily_budget_is_spent(
    tiny_home: Path, tmp_path: Path, model: Any, clock: list[datetime]
) -> None:
    async with await opened(tiny_home, tmp_path, model, derive_calls_per_day=2) as kb:
        await derive_due(kb)
        assert len(model.asked()) == 2
        await derive_due(kb)
    # The budget also holds after a restart.
    async with await opened(tiny_home, tmp_path, model, derive_calls_per_day=2) as kb:
        await derive_due(kb)
        assert len(model.asked()) == 2 == await count(kb)
        clock[0] += timedelta(days=1)
        await derive_due(kb)
        assert len(model.asked()) == 4 == await count(kb)


async def test_derivation_waits_while_questions_are_answered(kb: KnowledgeBase, model: Any) -> None:
    async with kb.gates.questions.place(ROOT):
        running = asyncio.create_task(derive_due(kb))
        assert await asyncio.to_thread(model.wait_until, lambda: bool(doing_now(kb).document))
        # Long enough to ask about the first passage, if derivation did not wait.
        await asyncio.sleep(0.3)
        assert not model.asked() and not running.done()
    await running
    assert model.asked() and not doing_now(kb).document


async def test_background_derivation_waits_for_a_requested_one(kb: KnowledgeBase, model: Any) -> None:
    """Check that it does not derive again what was derived meanwhile."""
    events = catalogue.dispatch(kb, ROOT, "derive", {"kinds": ["question"]})
    assert (await anext(events))["kind"] == "progress"
    running = asyncio.create_task(derive_due(kb))
    async for _ in events:
        pass
    await running
    assert len(model.asked()) == (await kb.load()).store.count_passages(ROOT)
    assert len(await states(kb)) == DOCUMENTS


async def test_a_failed_derivation_is_reported_and_retried_a_limited_number_of_times(
    kb: KnowledgeBase, model: Any, clock: list[datetime]
) -> None:
    model.reply("questions", lambda request: "Well." if "late tariff" in request.user else about(request))
    await derive_due(kb)
    state, tries, detail = (await states(kb))["tariff-filing.md"]
    assert (state, tries) == ("failed", 1) and detail.startswith("question: ") and "JSON" in detail
    assert [one[0] for one in (await states(kb)).values()].count("derived") == DOCUMENTS - 1
    before = len(model.asked())
    await derive_due(kb)
    assert len(model.asked()) == before
    for tries in range(2, MAX_TRIES + 1):
        clock[0] += timedelta(hours=2 ** (tries - 2))
        await derive_due(kb)
        assert (await states(kb))["tariff-filing.md"][:2] == ("failed", tries)
    # Only the failed passage is asked about again.
    asked = model.asked()[before:]
    assert asked and all("late tariff" in one.user for one in asked)
    before = len(model.asked())
    clock[0] += timedelta(days=99)
    await derive_due(kb)
    assert len(model.asked()) == before
    # A requested derivation resets the failed state.
    model.reply("questions", about)
    await catalogue.get_result(kb, ROOT, "derive", kinds=["question"], documents=["tariff-filing.md"])
    await derive_due(kb)
    assert (await states(kb))["tariff-filing.md"] == ("derived", 0, "")


async def test_an_unreachable_model_server_does_not_count_as_a_documents_failure(kb: KnowledgeBase, model: Any) -> None:
    model.fault("refuse")
    with pytest.raises(ModelUnavailable):
        await derive_due(kb)
    assert await states(kb) == {}
    model.heal()
    model.fault("status", code=500)
    with pytest.raises(ModelUnavailable):
        await derive_due(kb)
    # Another document is derived next.
    assert len(doing_now(kb).put_off) >= 1
    model.heal()
    await derive_due(kb)
    assert {state for state, *_ in (await states(kb)).values()} <= {"derived", "failed"}
    assert not doing_now(kb).put_off


async def test_without_a_model_only_rules_derive_texts_and_only_if_set(
    tiny_home: Path, tmp_path: Path, model: Any
) -> None:
    home = shutil.copytree(tiny_home, tmp_path / "kb")
    assert list_wanted_kinds(Settings(home=home)) == list_wanted_kinds(model.settings(derive_in_background="off")) == []
    text = "# Pump\n\nTo open the valve, click on the Valve panel.\n"
    async with KnowledgeBase.open(home, Settings(home=home, derive_in_background="always", threads=1)) as kb:
        await put(kb, "pump.md", text)
        await derive_due(kb)
        assert await rows(kb, "SELECT text, model FROM triples WHERE model != ''") == [
            ("Valve panel open valve", "rules")
        ]
        assert (await rows(kb, "SELECT count(*), min(model), max(model) FROM derivations"))[0][1:] == ("rules", "rules")
        assert await rows(kb, "SELECT * FROM derivation_spending") == []
        listed = await catalogue.get_result(kb, ROOT, "derived_list")
        assert [(one["model"], one["outdated"]) for one in listed["rows"]] == [("", False), ("rules", False)]
        assert (await kb.load()).check() == []
    # A model that becomes available derives the triples again.
    said = {"triples": [{"source": "Valve panel", "action": "open", "target": "Pump"}]}
    model.reply("triples", lambda request: said if "Valve" in request.user else {"triples": []})
    async with await opened(tiny_home, tmp_path, model, derive_kinds="triple") as kb:
        await derive_due(kb)
        assert await rows(kb, "SELECT text, model FROM triples WHERE model != ''") == [
            ("Valve panel open Pump", "scripted")
        ]
        assert (await kb.load()).check() == []


def test_other_kinds_of_derived_texts_count_as_other_texts(model: Any) -> None:
    settings = [model.settings(derive_kinds=kinds) for kinds in ("question", "summary, question", "question,summary")]
    assert [list_wanted_kinds(one) for one in settings] == [
        ["question"],
        ["summary", "question"],
        ["summary", "question"],
    ]
    assert len({describe_wanted_texts(one) for one in settings}) == 2


# -- the reported status ----------------------------------------------------------------------------------------------


async def told(kb: KnowledgeBase, as_: Principal = ROOT, **more: Any) -> Any:
    return await catalogue.get_result(kb, as_, "derivation_status", **more)


def by_name(status: Any) -> dict[str, str]:
    return {one["name"]: one["state"] for one in status["documents"]}


async def test_the_status_shows_each_document_and_the_budget(
    tiny_home: Path, tmp_path: Path, model: Any, clock: list[datetime], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(automatic_derivation, "utc_now", lambda: clock[0])
    model.reply("questions", lambda request: "Well." if "late tariff" in request.user else about(request))
    async with await opened(tiny_home, tmp_path, model, derive_calls_per_day=10) as kb:
        await put(kb, "note.md", "# Note\n\nThe note is of one talk.\n", audience=frozenset({f"{THREAD}t1"}))
        assert (await told(kb))["counts"] == {"waiting": DOCUMENTS}
        async with kb.gates.questions.place(ROOT):
            running = asyncio.create_task(derive_due(kb))
            assert await asyncio.to_thread(model.wait_until, lambda: bool(doing_now(kb).document))
            assert (await told(kb))["counts"] == {"being derived": 1, "waiting": DOCUMENTS - 1}
        await running
        status = await told(kb)
        assert status["counts"] == {"derived": DOCUMENTS - 1, "failed": 1}
        assert (status["kinds"], status["calls_per_day"]) == (["question"], 10)
        assert status["calls_today"] == len(model.asked()) and status["tokens_today"] > 0 and not status["running"]
        (failed,) = (await told(kb, documents=["tariff-filing.md"]))["documents"]
        assert (failed["state"], failed["tries"]) == ("failed", 1) and "JSON" in failed["detail"]
        # A manager is not told of documents closed to them.
        assert "vault-handbook.md" not in by_name(await told(kb, MANAGER)) and "vault-handbook.md" in by_name(status)
        with pytest.raises(NotFound):
            await told(kb, MANAGER, documents=["vault-handbook.md"])
        with pytest.raises(NotAllowed):
            await told(kb, Principal("olga"))
    async with await opened(tiny_home, tmp_path, model, derive_calls_per_day=2) as kb:
        await put(kb, "pump.md", "# Pump\n\nThe blue valve opens at 7 bar.\n")
        assert by_name(await told(kb))["pump.md"] == "over budget"
    async with await opened(tiny_home, tmp_path, model, derive_in_background="off") as kb:
        assert set(by_name(await told(kb)).values()) == {"not wanted"}


@pytest.mark.slow
def test_the_service_derives_new_documents_while_it_runs(tiny_home: Path, tmp_path: Path, model: Any) -> None:
    home = Path(shutil.copytree(tiny_home, tmp_path / "kb"))
    (tmp_path / "pump.md").write_text("# Pump\n\nThe blue valve opens at 7 bar.\n")
    settings = {
        "ARGOT_MODEL_URL": model.url, "ARGOT_DERIVE_KINDS": "question", "ARGOT_DERIVE_IN_BACKGROUND": "model"
    }  # fmt: skip
    with Served(home, **settings):
        assert run("add", str(tmp_path / "pump.md"), ARGOT_HOME=str(home)).returncode == 0

        def states_told() -> dict[str, str]:
            said = run("derive", "--status", "--json", ARGOT_HOME=str(home))
            return by_name(json.loads(said.stdout))

        end = time.monotonic() + PATIENCE
        while set(states_told().values()) != {"derived"} and time.monotonic() < end:
            time.sleep(1)
        assert states_told() == dict.fromkeys([*states_told(), "pump.md"], "derived")
        assert len(model.asked()) == DOCUMENTS + 1
        said = run("derive", "--status", "pump.md", ARGOT_HOME=str(home))
        assert "pump.md" in said.stdout and "1 derived" in said.stderr and "of 5000 calls today" in said.stderr
