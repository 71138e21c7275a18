"""Tests of data of a wing that is not installed: it blocks erasure and moves, is in backups, and is named by doctor."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from argot import wings
from argot.errors import MissingWing
from argot.learn.store.pair_store import PairStore
from argot.ratings.store.rating_store import RatingStore
from argot.service.identity.people import make_local_principal
from argot.service.knowledge_base import KnowledgeBase
from argot.service.maintenance.backup import restore_backup, write_backup
from argot.service.maintenance.findings import Finding
from argot.service.maintenance.shared_backup import restore_shared_backup
from argot.service.moving.base_moving import move_base
from argot.service.operations.doctor import diagnose
from argot.service.operations.retention import erase_old, erase_old_removed
from argot.service.storage.home_folder import RUNS
from argot.service.storage.missing_wings import WING_DATA
from argot.service.usecases import catalogue
from argot.settings import Settings
from argot.types import Principal

LOCAL = make_local_principal()
STORES = {"learn": PairStore, "ratings": RatingStore}
Leave = Callable[[str], None]


@pytest.fixture
def home(tiny_home: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_home, tmp_path / "kb"))


@pytest.fixture
async def kb(home: Path) -> AsyncIterator[KnowledgeBase]:
    async with KnowledgeBase.open(home, Settings(home=home)) as opened:
        await do(opened, "user_add", name="ann", groups=["hr"])
        yield opened


async def fill(home: Path, wing: str) -> None:
    """Store data of a wing, and of Slack, in a knowledge base, and close it."""
    async with KnowledgeBase.open(home, Settings(home=home)) as kb:
        kb.open_store(STORES[wing])
        await do(kb, "user_add", name="ann")
        await do(kb, "slack_people_link", team="T123", slack_user="U123", user="ann")


@pytest.fixture
def leave_out(monkeypatch: pytest.MonkeyPatch) -> Leave:
    """Treat a wing as not installed."""
    installed = wings.wings()

    def leave(name: str) -> None:
        monkeypatch.setattr(wings, "wings", lambda: tuple(one for one in installed if one.name != name))

    return leave


async def do(kb: KnowledgeBase, name: str, /, who: Principal = LOCAL, **parameters: Any) -> Any:
    return await catalogue.get_result(kb, who, name, **parameters)


def remedy(wing: str) -> str:
    return f"git checkout -- {wing} && make setup"


def test_the_stores_of_every_wing_are_listed() -> None:
    brought = {(wing.name, store) for wing in wings.wings() for store in wing.migrations}
    assert {(one.wing, one.store) for one in WING_DATA} == brought


@pytest.mark.parametrize("wing", STORES)
async def test_a_person_is_not_erased_while_a_wing_with_their_data_is_missing(
    kb: KnowledgeBase, wing: str, leave_out: Leave
) -> None:
    kb.open_store(STORES[wing])
    leave_out(wing)
    with pytest.raises(MissingWing, match=remedy(wing)):
        await do(kb, "user_erase", name="ann")
    ann = kb.people.user("ann")
    assert not ann.suspended_at and ann.groups == ("hr",)


async def test_a_person_is_not_erased_while_trainings_need_a_missing_wing(kb: KnowledgeBase, leave_out: Leave) -> None:
    (kb.home / RUNS).mkdir(parents=True)
    leave_out("learn")
    with pytest.raises(MissingWing, match=f"{RUNS} of the wing 'learn'"):
        await do(kb, "user_erase", name="ann")


async def test_a_person_linked_to_slack_is_not_erased_without_the_slack_wing(
    kb: KnowledgeBase, leave_out: Leave
) -> None:
    await do(kb, "user_add", name="bob")
    await do(kb, "slack_people_link", team="T123", slack_user="U123", user="ann")
    leave_out("slack")
    with pytest.raises(MissingWing, match=remedy("slack")):
        await do(kb, "user_erase", name="ann")
    assert kb.people.find("ann")
    assert (await do(kb, "user_erase", name="bob"))["rows"]


async def test_a_person_is_erased_if_the_missing_wing_has_no_data(kb: KnowledgeBase, leave_out: Leave) -> None:
    leave_out("learn")
    assert (await do(kb, "user_erase", name="ann"))["rows"] and not kb.people.find("ann")


@pytest.mark.parametrize("wing", STORES)
async def test_a_document_is_not_erased_while_a_wing_with_its_data_is_missing(
    kb: KnowledgeBase, wing: str, leave_out: Leave
) -> None:
    kb.open_store(STORES[wing])
    first, second, *_ = [one.name for one in kb.document_store.documents(LOCAL)]
    await do(kb, "remove", document=first)
    leave_out(wing)
    with pytest.raises(MissingWing, match=remedy(wing)):
        await do(kb, "remove", document=second, forever=True)
    assert second in [one.name for one in kb.document_store.documents(LOCAL)]
    with pytest.raises(MissingWing, match=remedy(wing)):
        await do(kb, "removed_erase")
    with pytest.raises(MissingWing, match=remedy(wing)):
        await erase_old_removed(kb, datetime.now(UTC) + timedelta(days=400))
    # The document can still be restored.
    assert (await do(kb, "document_restore", document=first))["kind"] == "added"
    await do(kb, "remove", document=second)


async def test_a_shared_answer_is_kept_while_a_missing_wing_may_hold_its_copy(
    kb: KnowledgeBase, leave_out: Leave, caplog: pytest.LogCaptureFixture
) -> None:
    ann = kb.people.user("ann").principal
    kb.open_store(RatingStore)
    question = "What does a late tariff filing cost?"
    kept, other = [(await do(kb, "ask", ann, question=question))["thread"] for _ in range(2)]
    for thread, share in ((kept, True), (other, False)):
        await do(kb, "feedback", ann, thread=thread, turn=0, value=1, share=share)
    leave_out("ratings")
    refused = (
        ("thread_delete", {}),
        ("feedback", {"turn": 0, "value": 1}),
        ("feedback", {"turn": 0, "value": 0}),
        ("ask_again", {}),
    )
    for name, more in refused:
        with pytest.raises(MissingWing, match=remedy("ratings")):
            await do(kb, name, ann, thread=kept, **more)
    kb.settings = kb.settings.replace(keep_questions_days=1)
    assert (await erase_old(kb, datetime.now(UTC) + timedelta(days=9)))["threads"] == 1
    assert [one.id for one in await (await kb.threads()).of("ann")] == [kept]
    assert remedy("ratings") in caplog.text
    (said,) = await (await kb.threads()).feedback("ann", kept)
    assert said.shared and said.value == 1


@pytest.mark.parametrize("wing", STORES)
async def test_a_move_is_refused_while_the_wing_of_a_store_is_missing(
    home: Path, wing: str, leave_out: Leave, tmp_path: Path
) -> None:
    await fill(home, wing)
    leave_out(wing)
    target = tmp_path / "target"
    with pytest.raises(MissingWing, match=remedy(wing)):
        move_base(
            (home, Settings(home=home)), (target, Settings(home=target)), progress=lambda *_: pytest.fail("moved")
        )
    assert not measure_files(target, "*.db")


@pytest.mark.parametrize("wing", STORES)
async def test_a_backup_includes_the_store_of_a_missing_wing(
    home: Path, wing: str, leave_out: Leave, tmp_path: Path
) -> None:
    await fill(home, wing)
    leave_out(wing)
    write_backup(home, tmp_path / "backup.tar")
    restore_backup(tmp_path / "restored", tmp_path / "backup.tar")
    (kept,) = [one.store for one in WING_DATA if one.wing == wing]
    before, after = (measure_files(folder, f"{kept}.db") for folder in (home, tmp_path / "restored"))
    assert before == after != {}


@pytest.mark.parametrize("wing", STORES)
async def test_doctor_names_a_missing_wing(home: Path, wing: str, leave_out: Leave) -> None:
    await fill(home, wing)
    assert not await asyncio.to_thread(find_faults, Settings(home=home))
    for missing in (wing, "slack"):
        leave_out(missing)
        (found,) = await asyncio.to_thread(find_faults, Settings(home=home))
        assert found["name"] == f"wing {missing}" and not found["ok"] and remedy(missing) in found["remedy"]


def measure_files(folder: Path, pattern: str) -> dict[str, int]:
    return {path.name: path.stat().st_size for path in folder.glob(pattern)}


def find_faults(settings: Settings) -> list[Finding]:
    return [one for one in diagnose(settings.home, settings) if one["name"].startswith("wing ")]


async def test_a_postgresql_store_is_not_saved_or_restored_without_its_wing(
    home: Path, leave_out: Leave, tmp_path: Path, postgresql_url: str
) -> None:
    await fill(home, "learn")
    shared, file = Settings(home=home, store=postgresql_url), tmp_path / "backup.tar"
    await asyncio.to_thread(move_base, (home, Settings(home=home)), (home, shared), progress=lambda *_: None)
    async with KnowledgeBase.open(home, shared) as there:
        await do(there, "backup", path=str(file))
        leave_out("learn")
        with pytest.raises(MissingWing, match=remedy("learn")):
            await do(there, "backup", path=str(tmp_path / "other.tar"))
        with pytest.raises(MissingWing, match=remedy("learn")):
            await do(there, "user_erase", name="ann")
    with pytest.raises(MissingWing, match=remedy("learn")):
        await asyncio.to_thread(restore_shared_backup, home, shared, file, force=True)
    assert not measure_files(tmp_path, "other.tar")
    for missing in ("learn", "slack"):
        leave_out(missing)
        assert [one["name"] for one in await asyncio.to_thread(find_faults, shared)] == [f"wing {missing}"]
