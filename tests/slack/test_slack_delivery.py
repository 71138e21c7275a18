"""Tests of delivery: Slack repeats, reorders, limits and refuses; each message still gets one answer."""

import asyncio
import json
import logging
import random
import time
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from fake_slack import APP_TOKEN, BOT_TOKEN, SECRET, TEAM, FakeSlack
from scripted_server import ScriptedServer
from serving import Served
from slack_service import VOLTAGE, Service, copied, served, words

from argot.service.identity.people import People
from argot.slack.app import inbox as inbox_module
from argot.slack.store.slack_store import SlackStore
from argot.sqlite_database import SqliteStores

pytest_plugins = ("slack_fixtures",)
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module")
def shared(workspace_with_model: Service) -> Service:
    workspace_with_model.kb.people.add("vera", ("vault",))
    workspace_with_model.store.link(TEAM, "UVERA", "vera")
    return workspace_with_model


@pytest_asyncio.fixture(loop_scope="module")
async def fake() -> AsyncIterator[FakeSlack]:
    """Provide a fake Slack for services that the test starts and ends itself."""
    started = await FakeSlack().start()
    yield started
    await started.close()


@pytest.fixture
def home(tiny_home: Path, tmp_path: Path) -> Path:
    return copied(tiny_home, tmp_path)


async def stopped(slack: Service) -> None:
    """Handle no event from now on, as after a `kill -9`; new events are still stored."""
    await slack.running.inbox.stop()
    slack.running.inbox._thread = ThreadPoolExecutor(1)


# -- answered once ---------------------------------------------------------------------------------------------------


async def test_one_event_sent_four_times_out_of_order_is_answered_once(slack: Service, model: ScriptedServer) -> None:
    """Check scorecard 10: an event is acknowledged long before a slow model is done, and answered once."""
    model.fault("pause", tokens=0)
    channel = slack.channel()
    body = slack.fake.message(VOLTAGE, channel=channel)
    for retry in (2, 0, 3, 1):
        await slack.send(body, retry=retry)
    assert slack.fake.said(channel) == []  # acknowledged, but not answered yet
    model.heal()
    await slack.quiet()
    await slack.send(body, retry=3)
    await slack.quiet()
    (answer,) = slack.fake.said(channel)
    assert "4.5 V" in words(answer)
    assert len(model.asked("cited_answer")) == 1


async def test_one_message_delivered_as_several_events_is_answered_once(slack: Service) -> None:
    channel = slack.channel()
    body = slack.fake.message(VOLTAGE, channel=channel)
    twin = {**body["event"], "type": "message", "channel_type": "channel"}
    await asyncio.gather(
        slack.send(slack.fake.event(twin)),
        slack.send(body),
        slack.send({**body, "event_id": "EvOTHER"}),
        slack.send(slack.fake.event(twin)),
    )
    await slack.quiet()
    assert len(slack.fake.said(channel)) == 1


async def test_many_messages_sent_three_times_each_are_answered_once_each(
    slack: Service, model: ScriptedServer
) -> None:
    channels = [slack.channel() for _ in range(12)]
    bodies = [slack.fake.message(VOLTAGE, channel=channel) for channel in channels] * 3
    random.Random(7).shuffle(bodies)
    await asyncio.gather(*(slack.send(body) for body in bodies))
    await slack.quiet()
    assert [len(slack.fake.said(channel)) for channel in channels] == [1] * 12
    assert len(model.asked("cited_answer")) == 12
    assert slack.fake.reactions == set()


async def test_a_retry_of_an_unseen_event_is_answered(slack: Service) -> None:
    channel = slack.channel()
    await slack.send(slack.fake.message(VOLTAGE, channel=channel), retry=3)
    await slack.quiet()
    assert len(slack.fake.said(channel)) == 1


async def test_a_replayed_request_is_ignored(slack: Service, model: ScriptedServer) -> None:
    """Check scorecard 9: a repeated event or button press has no effect and does not reach the model."""
    channel = slack.channel()
    body = slack.fake.message("What is a PUC?", channel=channel)
    await slack.act(body)
    press = slack.fake.press(slack.fake.said(channel)[0], "argot_choose_1")
    await slack.act(press)
    said, asked = len(slack.fake.said(channel)), len(model.asked())
    assert said == 2
    for again in (body, press, body, press):
        await slack.act(again)
    assert (len(slack.fake.said(channel)), len(model.asked())) == (said, asked)
    assert slack.fake.alone(channel) == []


async def test_forged_and_outdated_requests_do_not_reach_the_model(slack: Service, model: ScriptedServer) -> None:
    """Check scorecard 9."""
    channel = slack.channel()
    for signing in ({"secret": "forged"}, {"at": time.time() - 301}):
        answer = await slack.fake.send(slack.client, slack.fake.message(VOLTAGE, channel=channel), **signing)
        assert answer.status_code == 401
    await slack.quiet()
    assert model.asked() == [] and slack.fake.said(channel) == []


async def test_waiting_messages_of_a_channel_are_answered_in_the_order_written(slack: Service) -> None:
    lane = slack.channel()
    for number, ts in enumerate(("1700000003.000000", "1700000001.000000", "1700000002.000000")):
        slack.store.note(f"{lane}{number}", f"{lane}{ts}", lane, ts, {"due": "never"})
        slack.store.postpone(slack.rows("SELECT max(id) FROM slack_events")[0][0], 10_000)
    at = slack.store.clock() + 20_000
    slack.store.clock = lambda: at
    try:
        order = []
        while (noted := slack.store.find_next([])) is not None:
            order.append(slack.rows("SELECT at FROM slack_events WHERE id = ?", noted.id)[0][0][9:10])
            assert slack.store.find_next([lane]) is None
            slack.store.finish(noted.id)
    finally:
        slack.store.clock = time.time
    assert order == ["1", "2", "3"]


async def test_the_text_of_an_answered_message_is_not_stored(slack: Service) -> None:
    await slack.act(slack.fake.message("What is canarytext, and the Word Line?", channel=slack.channel()))
    rows = slack.rows("SELECT * FROM slack_events")
    assert rows and "canarytext" not in json.dumps(rows)


# -- no message is lost ----------------------------------------------------------------------------------------------


async def test_a_message_acknowledged_before_a_crash_is_answered_afterwards(
    home: Path, fake: FakeSlack, model: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check also that a message posted just before the crash, but not recorded, is not posted again."""
    async with served(home, fake, model_url=model.url) as slack:
        with monkeypatch.context() as patched:
            for lost in ("keep_sent", "finish"):
                patched.setattr(type(slack.store), lost, lambda *_: None)
            await slack.send(fake.message(VOLTAGE, channel="C1"))
            await fake.until(lambda: fake.said("C1"))
            await stopped(slack)
        await slack.send(fake.message(VOLTAGE, channel="C2"))
        assert await slack.running.inbox.open() == 2
    assert fake.said("C2") == []
    async with served(home, fake, model_url=model.url) as slack:
        await slack.quiet()
    assert len(fake.said("C1")) == 1
    (answer,) = fake.said("C2")
    assert "4.5 V" in words(answer)
    assert len(model.asked("cited_answer")) == 2
    assert fake.reactions == set()


async def test_a_message_still_open_in_an_older_backup_is_not_answered_twice(
    home: Path, fake: FakeSlack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Restore people.db as it was when the question had just arrived."""
    async with served(home, fake) as slack:
        with monkeypatch.context() as patched:
            for later in ("begin", "keep_answer", "keep_stream", "keep_sent", "finish"):
                patched.setattr(type(slack.store), later, lambda *_: None)
            await slack.send(fake.message(VOLTAGE, channel="C1"))
            await fake.until(lambda: fake.said("C1"))
            await stopped(slack)
        assert slack.rows("SELECT state, tries, answer FROM slack_events WHERE job IS NOT NULL") == [("open", 0, None)]
    async with served(home, fake) as slack:
        await slack.quiet()
    assert len(fake.said("C1")) == 1


async def test_a_changed_clock_delays_no_event_and_events_expire_after_a_week(tmp_path: Path) -> None:
    people, now = People(SqliteStores(tmp_path)), [1_000_000.0]
    store = SlackStore(people.database)
    store.clock = lambda: now[0]
    assert store.note("e1", "p1", "lane", "1.0", {"text": "one"})
    first = store.find_next(())
    assert first is not None
    store.postpone(first.id, 600.0)
    assert store.find_next(()) is None
    now[0] -= 86_400.0  # the clock had been a day ahead
    assert store.find_next(()) is not None
    now[0] += 86_400.0
    assert store.note("e2", "p2", "other", "2.0", {"text": "two"})
    now[0] += 6 * 86_400.0
    store.take_over()
    assert store.count_waiting() == 2
    now[0] += 2 * 86_400.0
    store.take_over()
    assert store.count_waiting() == 0
    assert not store.note("e2", "p2", "other", "2.0", {"text": "two"})  # the event is still known
    people.close()


# -- limits and failures of Slack ------------------------------------------------------------------------------------


async def test_slacks_rate_limit_is_respected(slack: Service) -> None:
    channel = slack.channel()
    slack.fake.limit("chat.postMessage", seconds=0.3)
    slack.fake.limit("chat.postMessage", seconds=0.2)
    await slack.act(slack.fake.message(VOLTAGE, channel=channel))
    times = slack.fake.times("chat.postMessage")
    assert len(times) == 3
    assert times[1] - times[0] >= 0.3 and times[2] - times[1] >= 0.2
    assert len(slack.fake.said(channel)) == 1


async def test_an_answer_waits_until_slack_is_back_and_is_posted_once(
    slack: Service, model: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox_module, "PAUSES", (0.1,) * 1000)
    channel = slack.channel()
    slack.fake.down = True
    await slack.send(slack.fake.message(VOLTAGE, channel=channel))
    await slack.fake.until(lambda: model.asked("cited_answer"))
    await slack.fake.until(lambda: slack.fake.refused > 4)
    assert slack.fake.said(channel) == []
    slack.fake.heal()
    await slack.quiet()
    assert len(slack.fake.said(channel)) == 1
    assert len(model.asked("cited_answer")) == 1


@pytest.mark.parametrize("code", ["invalid_blocks", "invalid_blocks_format"])
async def test_a_workspace_without_feedback_buttons_gets_ordinary_buttons(
    slack: Service, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def post(given: dict[str, Any]) -> Any:
        native = any(block["type"] == "context_actions" for block in given.get("blocks") or ())
        return code if native else FakeSlack._chat_postMessage(slack.fake, given)

    monkeypatch.setattr(slack.fake, "_chat_postMessage", post)
    channel = slack.channel()
    (answer,) = await slack.asked(VOLTAGE, channel=channel)
    await slack.act(slack.fake.press(answer, "argot_feedback_1"))
    found = slack.store.find_thread_by_id(json.loads(answer["blocks"][-1]["elements"][0]["value"])["t"])
    assert (await (await slack.kb.threads()).feedback(found.owner, found.thread))[0].value == 1
    await slack.asked(VOLTAGE, channel=slack.channel())
    assert len(slack.fake.calls("chat.postMessage")) == 3


async def test_an_answer_to_an_archived_channel_is_tried_once(slack: Service) -> None:
    slack.fake.refuse("chat.postMessage", "is_archived")
    slack.fake.refuse("reactions.add", "missing_scope")
    assert await slack.asked(VOLTAGE) == []
    assert len(slack.fake.calls("chat.postMessage")) == 1


# -- streaming -------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("at_once")
async def test_an_answer_is_streamed_and_then_completed_with_its_sources(
    slack: Service, model: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "argot.tools.llm.model_client.MAX_UNGATHERED_READS", 1000
    )  # without this, all tokens of so fast a server arrive as one piece
    monkeypatch.setattr("argot.graph.node_frame.GATHER_SECONDS", 0)
    hostile = "The Word Line voltage during a read is 4.5 V [1]. See <!channel> [x](http://evil.example) @here now."
    model.reply("cited_answer", hostile)
    model.speed = 0.02  # seconds per token: if sent faster, all may arrive as one piece
    channel = slack.channel()
    body = slack.fake.message(VOLTAGE, channel=channel, user="U7")
    await slack.act(body)
    (start,) = slack.fake.calls("chat.startStream")
    assert (start["recipient_user_id"], start["recipient_team_id"]) == ("U7", TEAM)
    assert start["thread_ts"] == body["event"]["ts"]
    pieces = [*slack.fake.calls("chat.startStream"), *slack.fake.calls("chat.appendStream")]
    sent = "".join(chunk["text"] for one in pieces for chunk in one["chunks"])
    assert "Word Line voltage" in sent and len(pieces) > 1
    for active in ("<!", "](http", "@here", "http://e"):
        assert active not in sent
    (answer,) = slack.fake.said(channel)
    assert "|[1]>" in words(answer) and "4.5 V" in words(answer)
    assert slack.fake.streams == {} and slack.fake.calls("chat.postMessage") == []


@pytest.mark.usefixtures("at_once")
async def test_answers_are_posted_where_the_plan_has_no_streams(slack: Service) -> None:
    slack.fake.refuse("chat.startStream", "method_not_supported_for_channel_type")
    for channel in (slack.channel(), slack.channel()):
        (answer,) = await slack.asked(VOLTAGE, channel=channel)
        assert "4.5 V" in words(answer)
    assert len(slack.fake.calls("chat.startStream")) == 1


@pytest.mark.usefixtures("at_once")
async def test_an_answer_for_one_reader_is_never_streamed_to_a_channel(slack: Service, model: ScriptedServer) -> None:
    model.reply("cited_answer", "The vault combination is rotated every 14 days [1].")
    channel = slack.channel()
    await slack.act(slack.fake.message("How often is the vault combination rotated?", channel=channel))
    before = len(slack.fake.calls("chat.startStream"))
    await slack.act(slack.fake.press(slack.fake.said(channel)[0], "argot_alone", user="UVERA"))
    assert len(slack.fake.calls("chat.startStream")) == before
    assert "14 days" in words(slack.fake.alone(channel, "UVERA")[-1])
    assert "Vault Liaison" not in json.dumps(slack.fake.said(channel))


@pytest.mark.usefixtures("at_once")
async def test_an_answer_is_complete_although_its_stream_breaks_off(slack: Service) -> None:
    slack.fake.refuse("chat.appendStream", "message_not_in_streaming_state")
    slack.fake.refuse("chat.update", "cant_update_message")
    (answer,) = await slack.asked(VOLTAGE)
    assert "|[1]>" in words(answer)


# -- Socket Mode, restarts and logs ----------------------------------------------------------------------------------


async def test_socket_mode_acknowledges_and_answers_messages(home: Path, fake: FakeSlack) -> None:
    """Check it also when Slack cannot be reached at the start."""
    fake.down = True
    async with served(home, fake, slack_app_token=APP_TOKEN, slack_signing_secret="") as slack:
        await fake.until(lambda: fake.refused)
        fake.heal()
        body = fake.message(VOLTAGE, channel="C1")
        envelopes = [await fake.push(body), await fake.push(body)]
        await fake.until(lambda: len(fake.socket) == 2)
        assert sorted(one["envelope_id"] for one in fake.socket) == sorted(envelopes)
        await fake.until(lambda: fake.said("C1"))
        await slack.quiet()
        assert len(fake.said("C1")) == 1
        answer = await fake.send(slack.client, fake.message(VOLTAGE, channel="C2"))
        assert answer.status_code == 404


async def test_a_killed_service_answers_after_its_restart(home: Path, fake: FakeSlack, model: ScriptedServer) -> None:
    """End `argot serve`, which runs over HTTP, by `kill -9` while the model writes."""
    model.fault("hang", prompt="cited_answer")
    given = {"bot_token": BOT_TOKEN, "signing_secret": SECRET, "api_url": fake.url}
    variables = {f"ARGOT_SLACK_{name.upper()}": value for name, value in given.items()}
    # On a busy machine a connection may take longer than the default two seconds, after which the answer has no model.
    variables["ARGOT_MODEL_CONNECT_SECONDS"] = "60"
    server = await asyncio.to_thread(Served, home, ARGOT_MODEL_URL=model.url, **variables)
    try:
        async with httpx.AsyncClient(base_url=server.url) as client:
            sent = await fake.send(client, fake.message(VOLTAGE, channel="C1"))
            assert sent.status_code == 200
        await fake.until(lambda: model.asked("cited_answer"))
        server.process.kill()
        server.process.wait()
        assert fake.said("C1") == []
        model.heal()
        await asyncio.to_thread(server.start)
        # A message still being streamed has no text yet.
        await fake.until(lambda: any("4.5 V" in words(one) for one in fake.said("C1")))
        await fake.until(lambda: fake.reactions == set())
    finally:
        await asyncio.to_thread(server.stop)
    assert len(fake.said("C1")) == 1


async def test_slack_leaves_the_log_level_of_the_service_unchanged(slack: Service) -> None:
    await slack.asked(VOLTAGE)
    assert logging.getLogger("argot").level == logging.NOTSET
    assert logging.getLogger("argot.slack_bolt").level == logging.ERROR


async def test_no_token_and_no_question_appears_in_the_log(slack: Service, caplog: pytest.LogCaptureFixture) -> None:
    """Check scorecard 23 for Slack."""
    caplog.set_level(logging.DEBUG)
    fake, channel = slack.fake, slack.channel()
    fake.refuse("chat.update", "canary")
    await slack.act(fake.message("What is canaryquestion?", channel=channel))
    await slack.send(fake.event({"type": "pin_added", "item": "canaryquestion"}))
    await fake.send(slack.client, fake.message("canaryquestion", channel=channel), secret="wrong")
    fake.refuse("chat.postMessage", "invalid_auth")
    await slack.act(fake.message("What is canaryquestion?", channel=channel))
    text = "\n".join(record.getMessage() for record in caplog.records if record.name.startswith(("argot", "slack")))
    for secret in (BOT_TOKEN, APP_TOKEN, SECRET, "canaryquestion"):
        assert secret not in text
