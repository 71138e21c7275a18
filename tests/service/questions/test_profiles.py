"""Tests of the use cases of profiles: listed, shown, saved by managers, used for questions, and part of a backup."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from argot.errors import Conflict, InvalidInput, InvalidSettings, NotAllowed
from argot.profile import PROFILES, Profile
from argot.service.knowledge_base import KnowledgeBase
from argot.service.maintenance.backup import restore_backup, write_backup
from argot.service.usecases.questions.profiles import profile_list, profile_save, profile_show
from argot.service.usecases.questions.questions import ask
from argot.service.usecases.questions.threads import thread_settings
from argot.service.usecases.usecase_registry import get_answer
from argot.settings import Settings
from argot.types import Principal

ANN, MANAGER = Principal("ann"), Principal("mia", frozenset({"managers"}))
TRIM = "How do I trim a drive?"


@pytest.fixture
async def kb(tiny_home: Path, tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    home = Path(shutil.copytree(tiny_home, tmp_path / "kb"))
    async with KnowledgeBase.open(home, Settings(home=home)) as opened:
        yield opened


async def test_a_saved_profile_is_listed_shown_and_used(kb: KnowledgeBase) -> None:
    saved = await profile_save(
        kb, MANAGER, name="lab", base="lenient", switches={"match_references": False}, about="Lab"
    )
    lenient = {"choose_sense": False, "choose_document": False, "misses": "lenient"}
    assert saved.changed == {**lenient, "match_references": False}
    found = await profile_list(kb, ANN)
    assert [one.name for one in found] == [*PROFILES, "lab"]
    assert (found[0].changed, found[-1].about, found[-1].origin) == ({}, "Lab", "saved")
    shown = await profile_show(kb, ANN, name="lab")
    assert shown == saved and shown.switches["match_references"] is False
    result = await get_answer(ask(kb, ANN, question=TRIM, profile="lab"))
    assert (result.profile, result.status) == ("lab", "answered")
    assert not any(sentence.citations for sentence in result.sentences)
    again = await profile_save(kb, MANAGER, name="lab", toml=shown.toml, switches={"passages": 3}, force=True)
    assert again.changed == {**saved.changed, "passages": 3} and again.about == "Lab"


async def test_switches_apply_to_one_question(kb: KnowledgeBase) -> None:
    result = await get_answer(ask(kb, ANN, question=TRIM, switches={"passages": 1, "rerank": False}))
    assert (len(result.passages), result.profile) == (1, "default passages=1 rerank=off")
    later = await get_answer(ask(kb, ANN, question=TRIM, thread=result.thread))
    assert (len(later.passages) > 1, later.profile) == (True, "default")


async def test_errors_of_profiles_name_the_invalid_switch_or_profile(kb: KnowledgeBase) -> None:
    with pytest.raises(InvalidSettings, match=r"'rerak'.*rerank"):
        await get_answer(ask(kb, ANN, question=TRIM, switches={"rerak": False}))
    with pytest.raises(InvalidSettings, match="'lab'"):
        await get_answer(ask(kb, ANN, question=TRIM, profile="lab"))
    with pytest.raises(InvalidSettings, match=r"'\.\./lab'"):
        await profile_show(kb, ANN, name="../lab")
    with pytest.raises(NotAllowed):
        await profile_save(kb, ANN, name="lab")
    with pytest.raises(NotAllowed, match="all contexts"):
        await profile_save(kb, Principal("leo", manages=frozenset({"Legal"})), name="lab")
    with pytest.raises(InvalidInput, match="not both"):
        await profile_save(kb, MANAGER, name="lab", base="strict", toml="")
    await profile_save(kb, MANAGER, name="lab")
    with pytest.raises(Conflict, match="lab"):
        await profile_save(kb, MANAGER, name="lab")


async def test_an_invalid_profile_file_is_reported_and_hides_no_other(kb: KnowledgeBase) -> None:
    await profile_save(kb, MANAGER, name="lab")
    (kb.home / "profiles" / "broken.toml").write_text("rerank = 'perhaps'")
    found = {one.name: one for one in await profile_list(kb, ANN)}
    assert "rerank cannot be 'perhaps'" in found["broken"].problem and not found["lab"].problem


async def test_a_thread_works_on_after_its_profile_is_removed(kb: KnowledgeBase) -> None:
    await profile_save(kb, MANAGER, name="lab", switches={"passages": 1})
    thread = (await get_answer(ask(kb, ANN, question=TRIM))).thread
    await thread_settings(kb, ANN, thread=thread, profile="lab")
    assert len((await get_answer(ask(kb, ANN, question=TRIM, thread=thread))).passages) == 1
    (kb.home / "profiles" / "lab.toml").unlink()
    assert (await get_answer(ask(kb, ANN, question=TRIM, thread=thread))).profile == "default"


async def test_the_services_default_profile_may_be_a_saved_one(tiny_home: Path, tmp_path: Path) -> None:
    home = Path(shutil.copytree(tiny_home, tmp_path / "kb"))
    async with KnowledgeBase.open(home, Settings(home=home, profile="lab")) as kb:
        kb.profiles.save("lab", Profile(passages=1))
        assert (await get_answer(ask(kb, ANN, question=TRIM))).profile == "lab"


async def test_a_backup_contains_the_profiles(kb: KnowledgeBase, tmp_path: Path) -> None:
    await profile_save(kb, MANAGER, name="lab", switches={"passages": 3})
    (kb.home / "profiles" / "notes.txt").write_text("no profile")
    write_backup(kb.home, tmp_path / "b.tar")
    restore_backup(tmp_path / "new", tmp_path / "b.tar")
    assert [path.name for path in (tmp_path / "new" / "profiles").iterdir()] == ["lab.toml"]
    # Profiles that the backup lacks are gone after the restore.
    (kb.home / "profiles" / "lab.toml").unlink()
    (kb.home / "profiles" / "notes.txt").unlink()
    write_backup(kb.home, tmp_path / "c.tar")
    restore_backup(tmp_path / "new", tmp_path / "c.tar", force=True)
    assert not (tmp_path / "new" / "profiles").exists()
