"""Tests of the limits on questions: per person, at once, in all; the order of waiting questions; and a stop."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from argot.errors import InvalidInput, RetryLater, ServiceStopping, TooManyQuestions
from argot.service.admission_control import Gate, Limits
from argot.service.identity.people import make_local_principal
from argot.service.knowledge_base import KnowledgeBase
from argot.service.transport.wire_format import decode, encode, make_error_event, restore_error
from argot.service.usecases import catalogue
from argot.settings import Settings
from argot.types import Principal

ANN, BOB = Principal("ann"), Principal("bob")
LOCAL = make_local_principal()


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def gate(clock: Clock | None = None, **limits: int) -> Gate:
    nothing = {"questions_per_minute": 0, "questions_at_once": 0, "running_questions": 0, "waiting_questions": 0}
    return Gate(Limits.limit_questions(Settings(**{**nothing, **limits})), clock or Clock())


async def ask(at: Gate, who: Principal = ANN) -> None:
    async with at.place(who):
        await asyncio.sleep(0)


async def hold(at: Gate, who: Principal, until: asyncio.Event, order: list[str] | None = None) -> None:
    async with at.place(who):
        if order is not None:
            order.append(who.name)
        await until.wait()


async def test_questions_per_minute_are_limited_and_the_error_says_how_long_to_wait() -> None:
    clock = Clock()
    at = gate(clock, questions_per_minute=3)
    for _ in range(3):
        await ask(at)
    with pytest.raises(TooManyQuestions, match=r"3 questions within a minute.*in 20 seconds") as refused:
        await ask(at)
    assert refused.value.wait == 20
    await ask(at, BOB)
    clock.now += 19
    with pytest.raises(TooManyQuestions, match=r"in 1 second\.$"):
        await ask(at)
    clock.now += 1
    await ask(at)
    with pytest.raises(TooManyQuestions):
        await ask(at)


async def test_a_refused_question_does_not_count() -> None:
    """Check that repeated tries do not prolong the wait."""
    clock = Clock()
    at = gate(clock, questions_per_minute=1)
    await ask(at)
    for _ in range(50):
        with pytest.raises(TooManyQuestions):
            await ask(at)
    clock.now += 60
    await ask(at)


async def test_the_number_of_simultaneous_questions_per_person_is_limited() -> None:
    at, done = gate(questions_at_once=2), asyncio.Event()
    running = [asyncio.create_task(hold(at, ANN, done)) for _ in range(2)]
    await asyncio.sleep(0)
    with pytest.raises(TooManyQuestions, match="2 of your questions"):
        await ask(at)
    await ask(at, BOB)
    done.set()
    await asyncio.gather(*running)
    await ask(at)


async def test_the_local_user_has_no_personal_limit() -> None:
    at, done = gate(questions_per_minute=1, questions_at_once=1), asyncio.Event()
    running = [asyncio.create_task(hold(at, LOCAL, done)) for _ in range(5)]
    await asyncio.sleep(0)
    assert at.running == 5
    done.set()
    await asyncio.gather(*running)
    # A user who merely has the name of the local user has no privilege.
    await ask(at, Principal("local"))
    with pytest.raises(TooManyQuestions):
        await ask(at, Principal("local"))


async def test_a_frequent_asker_does_not_hold_up_a_rare_one() -> None:
    at, order = gate(running_questions=1), []

    async def one(who: Principal) -> None:
        async with at.place(who):
            order.append(who.name)
            await asyncio.sleep(0)

    await asyncio.gather(*(one(who) for who in (ANN, ANN, ANN, ANN, BOB, Principal("cia"))))
    assert order == ["ann", "bob", "cia", "ann", "ann", "ann"]
    assert (at.running, at.waiting) == (0, 0)


async def test_running_questions_and_the_queue_are_limited() -> None:
    at, done = gate(running_questions=2, waiting_questions=3), asyncio.Event()
    running = [asyncio.create_task(hold(at, Principal(f"p{n}"), done)) for n in range(5)]
    await asyncio.sleep(0)
    assert (at.running, at.waiting) == (2, 3)
    for who in (BOB, LOCAL):
        with pytest.raises(TooManyQuestions, match="3 questions wait"):
            await ask(at, who)
    done.set()
    await asyncio.gather(*running)
    await ask(at)


async def test_a_question_cancelled_at_any_moment_frees_its_place() -> None:
    """Check that a question cancelled while waiting, at its turn, or while running frees its place."""
    at = gate(running_questions=1)
    for moment in range(6):
        done = asyncio.Event()
        first = asyncio.create_task(hold(at, ANN, done))
        await asyncio.sleep(0)
        second = asyncio.create_task(hold(at, BOB, asyncio.Event()))
        third = asyncio.create_task(ask(at, Principal("cia")))
        for _ in range(moment):
            await asyncio.sleep(0)
            done.set()
        second.cancel()
        done.set()
        await asyncio.gather(first, second, third, return_exceptions=True)
        assert third.exception() is None
        assert (at.running, at.waiting) == (0, 0)


async def test_a_stopping_service_finishes_running_questions_and_starts_none() -> None:
    at, done = gate(running_questions=1), asyncio.Event()
    running = asyncio.create_task(hold(at, ANN, done))
    waiting = asyncio.create_task(ask(at, BOB))
    await asyncio.sleep(0)
    at.stop()
    with pytest.raises(ServiceStopping):
        await waiting
    with pytest.raises(ServiceStopping, match="restarted"):
        await ask(at, LOCAL)
    with pytest.raises(ServiceStopping):
        at.require_open()
    assert not await at.wait_until_quiet(0.01)
    done.set()
    assert await at.wait_until_quiet(10)
    await running


async def test_people_who_asked_long_ago_are_removed_from_the_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("argot.service.leaky_buckets.MOST_COUNTED", 10)
    at = gate(questions_per_minute=1)
    for number in range(50):
        await ask(at, Principal(f"p{number}"))
    assert len(at._asked) == 10


def test_the_time_to_wait_is_kept_in_errors_sent_to_a_command() -> None:
    error = restore_error(decode(encode(make_error_event(TooManyQuestions("Later.", 17)))))
    assert isinstance(error, TooManyQuestions)
    assert (str(error), error.wait) == ("Later.", 17)


# -- through the use cases ------------------------------------------------------------------------------------------


@pytest.fixture
async def kb(tiny_home: Path, tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    home = await asyncio.to_thread(shutil.copytree, tiny_home, tmp_path / "kb")
    settings = Settings(home=home, questions_per_minute=2, max_question_chars=500)
    async with KnowledgeBase.open(home, settings) as opened:
        yield opened


QUESTION = "What does a late tariff filing cost?"


async def test_every_use_case_that_answers_is_limited(kb: KnowledgeBase) -> None:
    asking = {case.name for case in catalogue.CASES.values() if case.asks}
    assert {"ask", "answer", "ask_again", "ask_in_sense", "converse", "search"} <= asking
    for _ in range(2):
        assert "500 dollars" in (await catalogue.get_result(kb, ANN, "ask", question=QUESTION))["answer"]
    given = {"thread": "t1", "choice": "1", "question": QUESTION, "query": QUESTION, "turn": 0, "sense": 1}
    given |= {"term": "PUC", "messages": [{"role": "user", "content": QUESTION}]}
    for name in asking:
        fields = catalogue.CASES[name].parameters.model_fields
        wanted = {key: value for key, value in given.items() if key in fields and fields[key].is_required()}
        with pytest.raises(TooManyQuestions):
            await catalogue.get_result(kb, ANN, name, **wanted)
    assert await catalogue.get_result(kb, ANN, "list_documents")
    assert "500 dollars" in (await catalogue.get_result(kb, LOCAL, "ask", question=QUESTION))["answer"]


async def test_an_answer_whose_reader_leaves_frees_its_place(kb: KnowledgeBase) -> None:
    events = catalogue.dispatch(kb, LOCAL, "ask", {"question": QUESTION})
    await anext(events)
    assert kb.gates.questions.running == 1
    await events.aclose()
    assert kb.gates.questions.running == 0
    with pytest.raises(InvalidInput, match="characters"):
        await catalogue.get_result(kb, LOCAL, "ask", question="x" * 1_000_000)
    assert kb.gates.questions.running == 0


BLOW_UPS = ("a" * 4000, "(" * 4000, "[" * 2000 + "]" * 2000, "1." * 2000, "A" * 3999 + "!", " \t" * 2000, "“" * 4000,
            "Aa" * 2000, "-" * 3999 + "x", "a-" * 2000, "a b " * 1000, "SLA (" * 800, "x=" * 2000, "What is " * 500,
            "\u0301" * 3999 + "a", "A.B." * 1000, "0,0" * 1300, "_*" * 2000, "https://" * 500,
            "'s " * 1300)  # fmt: skip


async def test_no_question_causes_exponential_pattern_matching(kb: KnowledgeBase) -> None:
    """Check scorecard 25: exponential matching would never end; none of these takes a second of processor time."""
    kb.settings = Settings(home=kb.home)
    for question in BLOW_UPS:
        try:
            result = await catalogue.get_result(kb, LOCAL, "ask", question=question[:4000])
        except InvalidInput as error:
            assert "word" in str(error) or "empty" in str(error), question[:20]
        else:
            assert result["status"] in {"answered", "abstained", "query_miss", "needs_choice"}, question[:20]


def http_errors() -> Any:
    from fastapi import FastAPI
    from starlette.testclient import TestClient

    from argot.ui.web.error_pages import explain_errors

    app = FastAPI()
    explain_errors(app)

    @app.get("/too-many")
    async def too_many() -> None:
        raise TooManyQuestions("Too many.", 20)

    @app.get("/stopping")
    async def stopping() -> None:
        raise ServiceStopping("Stopping.", 30)

    return TestClient(app)


def test_limits_become_status_429_or_503_with_the_time_to_wait() -> None:
    client = http_errors()
    for path, status, wait in (("/too-many", 429, "20"), ("/stopping", 503, "30")):
        answer = client.get(path)
        assert (answer.status_code, answer.headers["retry-after"]) == (status, wait)
    assert issubclass(TooManyQuestions, RetryLater)
