"""Tests of insight into questions: what is counted, what managers may read of it, and what erasing leaves."""

import json
import shutil
from collections.abc import AsyncIterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from argot.clock import utc_now
from argot.errors import InvalidInput, NotAllowed
from argot.service.identity.people import make_local_principal
from argot.service.insight.unanswered_groups import MIN_ASKERS, OpenQuestion, group_by_subject
from argot.service.json_values import convert_to_json
from argot.service.knowledge_base import KnowledgeBase
from argot.service.operations.retention import erase_old
from argot.service.threads.question_log import AskedQuestion, note_question
from argot.service.threads.thread_store import MIGRATIONS, Threads
from argot.service.usecases import catalogue
from argot.service.usecases.glossary.impact import thread_share
from argot.service.usecases.people.personal_data import my_data, user_erase
from argot.service.usecases.questions.conversations import Message, converse
from argot.service.usecases.questions.insight import insight
from argot.service.usecases.questions.questions import answer, ask
from argot.service.usecases.questions.threads import feedback, thread_delete
from argot.service.usecases.usecase_registry import get_answer
from argot.settings import Settings
from argot.sqlite import open_connection, open_database
from argot.sqlite_database import SqliteStores
from argot.types import Principal

ADA = Principal("ada", sees_all=True)
OF_ALL = Principal("leo", manages=frozenset({"*"}))
OF_NAND = Principal("nina", manages=frozenset({"NAND"}))
ANN, BEN, CEM = Principal("ann"), Principal("ben"), Principal("cem")
WORLD_CUP = "Who won the football world cup?"


@pytest.fixture
async def kb(tiny_home: Path, tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    home = shutil.copytree(tiny_home, tmp_path / "kb")
    async with KnowledgeBase.open(home, Settings(home=home)) as opened:
        yield opened


@pytest.fixture
def today(monkeypatch: pytest.MonkeyPatch) -> date:
    """Return a day that does not end during a test."""
    noon = datetime(2028, 2, 29, 12, tzinfo=UTC)
    monkeypatch.setattr("argot.clock.utc_now", lambda: noon)
    monkeypatch.setattr("argot.service.usecases.questions.insight.utc_now", lambda: noon)
    return noon.date()


async def asked(kb: KnowledgeBase, who: Principal, question: str) -> str:
    """Ask a question and return its thread."""
    result = await get_answer(ask(kb, who, question=question))
    await kb.chores.finish()
    return result.thread


async def test_questions_are_counted_by_day_surface_and_outcome(kb: KnowledgeBase, today: date) -> None:
    thread = await asked(kb, ANN, "What is a PUC?")
    for question in (WORLD_CUP, "How much does a late tariff filing cost?", "hello"):
        await asked(kb, BEN, question)
    found = (await insight(kb, ADA)).counts
    by_outcome = {one.name: one.questions for one in found.outcomes}
    assert sum(by_outcome.values()) == 4
    known = {name: by_outcome[name] for name in ("asked back", "small talk", "unanswered", "failed", "judged wrong")}
    assert known == {"asked back": 1, "small talk": 1, "unanswered": 1, "failed": 0, "judged wrong": 0}
    assert by_outcome["answered"] + by_outcome["unsure"] == 1
    assert sum(one.share for one in found.outcomes) == pytest.approx(1)
    assert (found.questions, found.asked_back, found.surfaces) == (4, 1, {"command": 4})
    assert [(one.day, one.questions, one.unanswered) for one in found.days] == [(today.isoformat(), 4, 1)]
    assert found.whole_answer.p95 and found.whole_answer.p50 and found.whole_answer.p95 >= found.whole_answer.p50 > 0
    assert found.model.calls == 0

    # Answering a choice continues the same question.
    await get_answer(answer(kb, ANN, thread=thread, choice="1"))
    await kb.chores.finish()
    found = (await insight(kb, ADA)).counts
    assert (found.questions, found.asked_back) == (4, 1)
    assert next(one.questions for one in found.outcomes if one.name == "answered") == 2


async def test_only_questions_with_an_outcome_are_recorded(kb: KnowledgeBase) -> None:
    with pytest.raises(InvalidInput):
        await get_answer(ask(kb, ANN, question="?" * 5000))
    await kb.chores.finish()
    assert (await insight(kb, ADA)).counts.questions == 0
    # A conversation that is not stored leaves neither words nor a thread.
    await get_answer(converse(kb, ANN, messages=[Message("user", WORLD_CUP)]))
    await kb.chores.finish()
    rows = await (await kb.threads()).read("SELECT thread, question, vector, terms FROM asked", ())
    assert rows == [(None, "", None, "[]")]
    assert (await insight(kb, ADA)).counts.questions == 1


async def test_counts_can_be_limited_to_a_period(kb: KnowledgeBase, today: date) -> None:
    await asked(kb, ANN, WORLD_CUP)
    before = (today - timedelta(days=1)).isoformat()
    assert (await insight(kb, ADA, since=today.isoformat(), until=today.isoformat())).counts.questions == 1
    past = await insight(kb, ADA, until=before)
    assert past.counts.questions == past.unanswered.looked_at == 0
    assert past.counted_from == today.isoformat()
    assert past.since == (today - timedelta(days=30)).isoformat()
    for wrong in ("yesterday", "2027-02-30", "2027"):
        with pytest.raises(InvalidInput):
            await insight(kb, ADA, since=wrong)
    with pytest.raises(InvalidInput, match="other way round"):
        await insight(kb, ADA, since=today.isoformat(), until=before)


async def test_questions_are_shown_as_far_as_managers_may_read_them_elsewhere(kb: KnowledgeBase) -> None:
    judged = await asked(kb, ANN, WORLD_CUP)
    missed = await asked(kb, BEN, "How much does a late QTFX cost?")
    secret = await asked(kb, CEM, "Where does the moon festival take place?")
    assert secret

    async def told(who: Principal) -> str:
        return json.dumps(convert_to_json(await insight(kb, who)))

    for manager in (ADA, OF_ALL, OF_NAND):
        assert "football" not in await told(manager) and "late QTFX" not in await told(manager)
    found = await insight(kb, OF_NAND)
    assert (found.unanswered.looked_at, found.unanswered.unnamed, found.unanswered.groups) == (3, 3, [])
    assert [one.term for one in found.missed] == ["QTFX"]

    await feedback(kb, ANN, thread=judged, turn=0, value=-1, comment="no football", share=True)
    await feedback(kb, CEM, thread=secret, turn=0, value=-1, comment="no moon", share=False)
    await thread_share(kb, BEN, thread=missed)
    everything, some = await told(OF_ALL), await told(OF_NAND)
    assert "football world cup" in everything and "no football" in everything
    assert "football" not in some  # comments shared with a thumb are for managers of all contexts
    for words in (everything, some):
        assert "late QTFX" in words
        assert "moon" not in words and "ann" not in words.split('"') and "cem" not in words.split('"')
    assert (await insight(kb, OF_NAND)).thumbs.down == 2
    with pytest.raises(NotAllowed):
        await insight(kb, ANN)

    # A withdrawn share is no longer shown.
    await feedback(kb, ANN, thread=judged, turn=0, value=0)
    await thread_share(kb, BEN, thread=missed, share=False)
    assert "football" not in await told(OF_ALL) and "late QTFX" not in await told(OF_ALL)


async def test_a_persons_own_questions_are_shown_to_them(kb: KnowledgeBase) -> None:
    me = make_local_principal()
    await asked(kb, me, WORLD_CUP)
    assert [one.typical for one in (await insight(kb, me)).unanswered.groups] == [WORLD_CUP]


def _open(text: str, owner: str, vector: tuple[float, ...], *terms: str, readable: bool = False) -> OpenQuestion:
    import numpy

    return OpenQuestion("2027-01-01", text, terms, "e", numpy.array(vector, numpy.float16).tobytes(), owner, readable)


def test_questions_of_one_subject_form_a_group_named_by_readable_ones() -> None:
    questions = [
        _open("What does the gym cost?", "a", (1, 0, 0), readable=True),
        _open("Is the gym free?", "b", (0.95, 0.1, 0), readable=True),
        _open("When does the gym open on the day I was dismissed?", "c", (0.96, 0, 0.1)),
        _open("How do I reset my password?", "d", (0, 1, 0)),
    ]
    found = group_by_subject(questions, set)
    (group,) = found.groups
    assert (group.questions, group.readable) == (3, 2)
    assert {group.typical, *group.examples} == {"What does the gym cost?", "Is the gym free?"}
    assert group.terms == ["gym"]
    assert (found.looked_at, found.unnamed) == (4, 1)


def test_a_term_of_unreadable_questions_is_shown_only_if_frequent_and_known() -> None:
    def of(owners: str) -> list[OpenQuestion]:
        return [_open(f"about layoffs {n}", owner, (1, 0), "RIF", "HUSH") for n, owner in enumerate(owners)]

    def told(owners: str) -> list[list[str]]:
        return [one.terms for one in group_by_subject(of(owners), lambda terms: {"RIF"} & set(terms)).groups]

    assert MIN_ASKERS == 3
    assert told("ab") == told("aaaaab") == []
    assert told("abc") == [["RIF"]]


def test_questions_without_comparable_vectors_are_not_grouped() -> None:
    assert group_by_subject([], set).groups == []
    one = _open("only one", "a", (1, 0), readable=True)
    other = OpenQuestion("2026-01-01", "old", (), "former", b"12345", "b", readable=True)
    assert [group.typical for group in group_by_subject([one, other], set).groups] == ["only one"]
    assert group_by_subject([OpenQuestion("2026-01-01", "none", (), "", b"", "b", readable=True)], set).unnamed == 1


async def test_cited_and_uncited_documents_are_listed_as_far_as_readable(kb: KnowledgeBase) -> None:
    before = (await insight(kb, ADA)).documents
    assert before.cited == [] and before.never == len(before.never_cited) > 2
    few = (await insight(kb, OF_NAND)).documents
    assert 0 < few.never < before.never  # she does not see documents for the group legal
    await asked(kb, ADA, "How much does a late tariff filing cost?")
    after = (await insight(kb, ADA)).documents
    assert after.cited and after.cited_in_all == len(after.cited)
    assert after.never == before.never - len(after.cited)
    assert {one.document for one in after.cited}.isdisjoint(one.document for one in after.never_cited)
    assert (await insight(kb, ADA, start=1)).documents.never_cited == after.never_cited[1:]


async def test_an_erased_conversation_leaves_only_a_count(kb: KnowledgeBase) -> None:
    first = await asked(kb, ANN, WORLD_CUP)
    await asked(kb, BEN, "Where does the moon festival take place?")
    await asked(kb, CEM, "Which river is the longest of all?")
    kept = await my_data(kb, ANN)
    assert [(one.thread, one.question, one.status) for one in kept.asked] == [(first, WORLD_CUP, "abstained")]
    await thread_delete(kb, ANN, thread=first)
    await user_erase(kb, ADA, name="ben")
    long_ago = kb.settings.replace(keep_questions_days=1.0)
    object.__setattr__(kb, "settings", long_ago)
    await erase_old(kb, utc_now() + timedelta(days=3))
    rows = await (await kb.threads()).read(
        "SELECT thread, turn, at = day, question, terms, embedder, vector FROM asked", ()
    )
    assert rows == [(None, None, 1, "", "[]", "", None)] * 3
    for word in (b"football", b"moon festival", b"longest of all"):
        assert not any(word in path.read_bytes() for path in kb.home.glob("threads.db*"))
    assert (await insight(kb, ADA)).counts.questions == 3


async def test_words_of_a_thread_deleted_meanwhile_are_not_stored_late(kb: KnowledgeBase) -> None:
    threads = await kb.threads()
    await note_question(threads, AskedQuestion("tgone", 3, "2027-01-01T10:11:12+00:00", "chat", "abstained", 1.0,
                                            question="secret", terms=["X"], embedder="e", vector=b"v"))  # fmt: skip
    rows = await threads.read("SELECT thread, turn, at, question, terms, embedder, vector, status FROM asked", ())
    assert rows == [(None, None, "2027-01-01", "", "[]", "", None, "abstained")]


async def test_a_store_of_the_former_version_is_migrated(tmp_path: Path) -> None:
    path = tmp_path / "threads.db"
    open_database(path, MIGRATIONS[:3]).close()
    with open_connection(path) as old:
        old.execute("INSERT INTO threads (id, owner, title, created_at, updated_at) VALUES ('t1', 'ann', '', '', '')")
    threads = await Threads.open(SqliteStores(tmp_path))
    await note_question(threads, AskedQuestion("t1", 0, "2027-01-01T10:11:12+00:00", "chat", "answered", 1.0))
    assert await threads.read("SELECT thread, day FROM asked", ()) == [("t1", "2027-01-01")]
    await threads.close()


async def test_insight_is_unchanged_after_encoding_and_decoding(kb: KnowledgeBase) -> None:
    thread = await asked(kb, ANN, WORLD_CUP)
    await feedback(kb, ANN, thread=thread, turn=0, value=-1, comment="no football", share=True)
    found = await insight(kb, ADA)
    sent = json.loads(json.dumps(await catalogue.get_result(kb, ADA, "insight", since=found.since)))
    assert insight.result_of(sent) == found


async def test_an_answer_that_somebody_judged_wrong_does_not_count_as_answered(kb: KnowledgeBase, today: date) -> None:
    thread = await asked(kb, BEN, "How much does a late tariff filing cost?")
    before = {one.name: one.questions for one in (await insight(kb, ADA)).counts.outcomes}
    assert before["answered"] + before["unsure"] == 1
    await feedback(kb, BEN, thread=thread, turn=0, value=-1)
    after = {one.name: one.questions for one in (await insight(kb, ADA)).counts.outcomes}
    assert (after["answered"], after["unsure"], after["judged wrong"]) == (0, 0, 1)
