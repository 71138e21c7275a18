"""Tests of what services on one PostgreSQL share: locks, messages, limits and a secret; and of its loss."""

import asyncio
import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest
from postgresql_server import PostgresqlServer, end_connections

from argot.errors import AnswerLost, AnswerStopped, StoreUnavailable, TooManyQuestions
from argot.postgresql.stores import PostgresqlStores
from argot.service.admission_control import Gate, Limits
from argot.service.identity.people import Ended, People
from argot.service.identity.sign_in_attempts import LIMITS
from argot.service.replicas import shared_limits, shared_service
from argot.service.replicas.shared_service import SharedService
from argot.service.replicas.sharing import share
from argot.service.replicas.turns import Turns
from argot.settings import Settings
from argot.slack.app.event_filter import SlackJob
from argot.slack.app.inbox import Inbox
from argot.slack.store.slack_store import NotedEvent, SlackStore
from argot.types import Principal
from argot.work.schedule import run_by_one_process

ANN, BOB = Principal("ann"), Principal("bob")


class Replica:
    """What one process has open."""

    def __init__(self, url: str, schema: str) -> None:
        self.stores = PostgresqlStores(url, schema)
        self.people = People(self.stores)
        self.turns = Turns()
        self.gate = Gate(Limits.limit_questions(Settings(questions_at_once=2, questions_per_minute=4)))
        self.shared: SharedService

    async def begin(self) -> None:
        self.gate.for_all = self.shared = await share(self.stores, self.people, self.turns)
        assert await asyncio.to_thread(self.shared.listener._listening.wait, 60)

    async def close(self) -> None:
        await self.shared.close()
        await asyncio.to_thread(self.stores.close)


@pytest.fixture
async def replicas(postgresql_server: PostgresqlServer) -> AsyncIterator[Callable[..., Any]]:
    schema, url = f"t{secrets.token_hex(8)}", postgresql_server.url("postgres")
    async with AsyncExitStack() as stack:

        async def made(address: str = url) -> Replica:
            replica = await asyncio.to_thread(Replica, address, schema)
            await replica.begin()
            stack.push_async_callback(replica.close)
            return replica

        yield made


async def until(there: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not there():  # noqa: ASYNC110  what is waited for may be a row
            await asyncio.sleep(0.01)


# -- limits ------------------------------------------------------------------------------------------------------------


async def test_a_persons_limits_apply_to_all_replicas_together(replicas: Callable[..., Any]) -> None:
    one, other = await replicas(), await replicas()
    async with one.gate.place(ANN), other.gate.place(ANN):
        with pytest.raises(TooManyQuestions, match="2 of your questions"):
            async with one.gate.place(ANN):
                pass
        async with one.gate.place(BOB):
            pass
    # The refused question did not count.
    for gate in (one.gate, other.gate):
        async with gate.place(ANN):
            pass
    with pytest.raises(TooManyQuestions, match="4 questions within a minute") as refused:
        async with other.gate.place(ANN):
            pass
    assert 0 < refused.value.wait <= 15
    assert not one.gate.running and not other.gate.running


async def test_places_of_a_killed_replica_expire(replicas: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    killed, other = await replicas(), await replicas()
    monkeypatch.setattr(shared_limits, "LEASE_SECONDS", 0.5)
    taken = [await killed.shared.take("question", "ann", at_once=1, per_minute=0)]
    assert isinstance(taken[0], str) and await other.shared.take("question", "ann", at_once=1, per_minute=0) == -1
    # Nobody renews the killed service's place.
    held = "SELECT 1 FROM service_places WHERE until > service_seconds()"
    await until(lambda: not other.shared.database.rows(held))
    monkeypatch.setattr(shared_limits, "LEASE_SECONDS", 30.0)
    mine = await other.shared.take("question", "ann", at_once=1, per_minute=0)
    # A crash of the server empties the table; services that still answer take their places again.
    other.shared.database.write("DELETE FROM service_places")
    await other.shared.run(other.shared.places.renew)
    assert await killed.shared.take("question", "ann", at_once=1, per_minute=0) == -1
    await other.shared.give_back(mine)
    assert isinstance(await killed.shared.take("question", "ann", at_once=1, per_minute=0), str)


async def test_a_request_cancelled_while_taking_a_place_holds_none(replicas: Callable[..., Any]) -> None:
    one = await replicas()
    for _ in range(5):
        asking = asyncio.create_task(one.shared.take("question", "ann", at_once=1, per_minute=0))
        await asyncio.sleep(0)
        asking.cancel()
    await until(lambda: not one.shared.database.rows("SELECT 1 FROM service_places"))


async def test_sign_in_attempts_are_counted_across_replicas(replicas: Callable[..., Any]) -> None:
    one, other = (await replicas()).shared.attempts, (await replicas()).shared.attempts
    begun = [(one, other)[n % 2].begin("ann", "192.0.2.7") for n in range(LIMITS["both"])]
    assert begun == [0] * LIMITS["both"] and 0 < other.begin("ann", "192.0.2.7") <= 180
    # Other addresses and other names may still try, and a known address of the name has a looser limit.
    assert other.begin("bob", "192.0.2.7") == 0 == one.begin("ann", "198.51.100.1")
    one.note_success("ann", "198.51.100.1")
    for number in range(LIMITS["name"]):
        one.begin("ann", f"203.0.113.{number}")
    assert one.begin("ann", "203.0.113.200") > 0 == other.begin("ann", "198.51.100.1")


# -- turns -------------------------------------------------------------------------------------------------------------


async def endless(begun: asyncio.Event) -> AsyncGenerator[int]:
    yield 0
    begun.set()
    await asyncio.Event().wait()


async def answered(replica: Replica, begun: asyncio.Event) -> None:
    async with replica.turns.of("t1") as turn:
        items = endless(begun)
        while await turn.take_next(items) is not None:
            pass


async def test_one_replica_at_a_time_answers_a_thread_and_any_can_stop_it(replicas: Callable[..., Any]) -> None:
    one, other = await replicas(), await replicas()
    begun, waiting, over = asyncio.Event(), asyncio.Event(), []
    other.turns.over.append(over.append)
    answering = asyncio.create_task(answered(one, begun))
    await begun.wait()
    next_turn = asyncio.create_task(answered(other, waiting))
    assert await other.turns.elsewhere("t1") and not await one.turns.elsewhere("t1")
    assert not await other.turns.elsewhere("t2") and not waiting.is_set()
    stopping = asyncio.create_task(other.turns.end_elsewhere("t1", stop=True))
    with pytest.raises(AnswerStopped):
        await answering
    await waiting.wait()
    await stopping
    await until(lambda: over == ["t1"])
    next_turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await next_turn
    assert not await one.turns.elsewhere("t1")


async def test_a_turn_ends_when_its_lock_is_lost(replicas: Callable[..., Any], postgresql_url: str) -> None:
    one, other = await replicas(postgresql_url), await replicas(postgresql_url)
    begun, again = asyncio.Event(), asyncio.Event()
    answering = asyncio.create_task(answered(one, begun))
    await begun.wait()
    async with one.turns.of("t2") as turn:
        await asyncio.to_thread(end_connections, postgresql_url)
        # Before telling the result, the service checks that it still holds the turn.
        with pytest.raises(AnswerLost):
            await turn.confirm(AnswerLost("lost"))
    with pytest.raises(AnswerLost, match="Ask again"):
        await answering
    following = asyncio.create_task(answered(other, again))
    await again.wait()
    following.cancel()


# -- tasks that run once -------------------------------------------------------------------------------------------


async def test_a_task_that_runs_once_is_taken_over_by_another_replica(
    replicas: Callable[..., Any], postgresql_url: str
) -> None:
    one, other = await replicas(postgresql_url), await replicas(postgresql_url)
    doing: list[str] = []

    async def work(name: str) -> None:
        doing.append(name)
        try:
            await asyncio.Event().wait()
        finally:
            doing.remove(name)

    tasks = {
        name: asyncio.create_task(run_by_one_process(replica.shared, "work", lambda name=name: work(name)))
        for name, replica in {"one": one, "other": other}.items()
    }
    await until(lambda: doing)
    first = doing[0]
    tasks[first].cancel()
    await until(lambda: doing and doing != [first])
    assert len(doing) == 1
    # After PostgreSQL was gone, the first service to reconnect takes the task.
    await asyncio.to_thread(end_connections, postgresql_url)
    await until(lambda: not doing)
    await until(lambda: doing)
    for task in tasks.values():
        task.cancel()
    await asyncio.gather(*tasks.values(), return_exceptions=True)
    assert not doing


# -- messages ------------------------------------------------------------------------------------------------------


async def test_signing_out_at_one_replica_ends_the_session_at_all(
    replicas: Callable[..., Any], postgresql_url: str
) -> None:
    one, other = await replicas(postgresql_url), await replicas(postgresql_url)
    told: list[Ended] = []
    missed: list[int] = []

    async def check_again() -> None:
        missed.append(1)

    other.people.watchers.append(told.append)
    other.shared.on_gap(check_again)
    await asyncio.to_thread(one.people.add, "ann")
    await asyncio.to_thread(one.people.sessions.begin, "ann")
    session = one.people.sessions.of("ann")[0]
    await asyncio.to_thread(one.people.sessions.end, "ann")
    await until(lambda: told == [Ended("ann", frozenset({session.id}))])
    await asyncio.to_thread(end_connections, postgresql_url)
    await until(lambda: missed)
    await asyncio.to_thread(one.people.suspend, "ann")
    await until(lambda: told[-1] == Ended("ann"))
    # Invalid messages on the channel are ignored.
    for text in ("[1]", "x", '{"topic": "sessions/ended", "text": "7"}'):
        one.shared.database.rows("SELECT CAST(pg_notify(?, ?) AS text)", f"argot_{one.stores.schema}", text)
    assert one.shared.secret("window") == other.shared.secret("window") != other.shared.secret("another")


async def test_an_unresponsive_postgresql_is_reported_after_a_short_wait(
    replicas: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_service, "LOOK_UP_SECONDS", 0.05)
    one = await replicas()

    def asleep() -> object:
        return one.shared.database.rows("SELECT CAST(pg_sleep(1) AS text)")

    with pytest.raises(StoreUnavailable, match=r"does not answer\. Start PostgreSQL"):
        await one.shared.look_up(asleep)


async def test_a_slack_event_sent_to_any_replica_is_handled_once(replicas: Callable[..., Any]) -> None:
    replicas_open = {name: await replicas() for name in ("one", "other")}
    dealt: list[tuple[str, int]] = []
    inboxes: dict[str, Inbox] = {}

    def inbox(name: str) -> Inbox:
        async def handle(noted: NotedEvent) -> None:
            dealt.append((name, noted.id))

        opened = replicas_open[name]
        return Inbox(SlackStore(opened.people.database), handle, 2, opened.shared)

    for name in replicas_open:
        inboxes[name] = inbox(name)
        inboxes[name].start()
    # Each event is sent to both services, as Slack does if it gets no response in time.
    for number in range(6):
        job = SlackJob("message", "T1", "C1", "U1", f"{number}.0", f"{number}.0", "Hello!")
        for one in inboxes.values():
            await one.note(f"E{number}", job)
    await until(lambda: len(dealt) >= 6)
    assert len({number for _, number in dealt}) == len(dealt) == 6
    first = dealt[0][0]
    assert {name for name, _ in dealt} == {first}
    other = inboxes[next(name for name in inboxes if name != first)]
    await inboxes[first].stop()
    await other.note("E7", SlackJob("message", "T1", "C1", "U1", "7.0", "7.0", "Hello!"))
    await until(lambda: len(dealt) == 7)
    assert dealt[-1][0] != first
    await other.stop()
