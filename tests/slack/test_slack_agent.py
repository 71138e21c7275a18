"""Tests of Slack's view for agents: suggested questions, title, status, and the context of the channel in view."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from slack_service import VOLTAGE, Service, words, workspace

from argot.service.identity.people import make_local_principal
from argot.service.usecases import catalogue

pytestmark = pytest.mark.asyncio(loop_scope="module")

LEGAL = "What is a PUC?"
PROMPTS = "assistant.threads.setSuggestedPrompts"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(tiny_home: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    async with workspace(tiny_home, tmp_path_factory.mktemp("slack")) as service:
        yield service


@pytest_asyncio.fixture(loop_scope="module")
async def slack(shared: Service) -> AsyncIterator[Service]:
    shared.fake.heal()
    shared.fake.log.clear()
    yield shared
    shared.fake.heal()


async def legal_channel(slack: Service) -> str:
    channel = slack.channel()
    await catalogue.get_result(slack.kb, make_local_principal(), "slack_channel_set", channel=channel, context="Legal")
    return channel


def in_view(channel: str) -> dict[str, Any]:
    return {
        "entities": [
            {"type": "slack#/types/list_id", "value": "F1"},
            {"type": "slack#/types/channel_id", "value": channel},
        ]
    }


async def test_opening_the_conversation_offers_questions_and_posts_nothing(slack: Service) -> None:
    channel = slack.channel("D")
    opened = {"type": "app_home_opened", "user": "U1", "channel": channel, "tab": "messages"}
    for _ in range(2):
        await slack.act(slack.fake.event(opened))
    prompts = slack.fake.calls(PROMPTS)[-1]
    assert prompts["channel_id"] == channel and "thread_ts" not in prompts
    assert 1 <= len(prompts["prompts"]) <= 4 and all(one["title"] and one["message"] for one in prompts["prompts"])
    assert slack.fake.said(channel) == []
    before = len(slack.fake.log)
    await slack.act(slack.fake.event({**opened, "tab": "home"}))
    assert len(slack.fake.log) == before


async def test_a_question_gets_a_title_and_a_status_in_its_own_thread(slack: Service) -> None:
    channel = slack.channel("D")
    body = slack.fake.message(VOLTAGE, channel=channel)
    await slack.act(body)
    (answer,) = slack.fake.said(channel)
    top = body["event"]["ts"]
    assert answer["thread_ts"] == top and "4.5 V" in words(answer)
    (title,) = slack.fake.calls("assistant.threads.setTitle")
    assert (title["channel_id"], title["thread_ts"], title["title"]) == (channel, top, VOLTAGE)
    status = [(one["thread_ts"], one["status"]) for one in slack.fake.calls("assistant.threads.setStatus")]
    assert status[0] == (top, "is working …") and status[-1] == (top, "")
    assert slack.fake.calls("reactions.add") == []


async def test_a_reaction_shows_progress_where_the_plan_has_no_agents(slack: Service) -> None:
    slack.fake.refuse("assistant.threads.setStatus", "missing_scope")
    (answer,) = await slack.asked(VOLTAGE, channel=slack.channel("D"))
    assert "4.5 V" in words(answer)
    assert len(slack.fake.calls("reactions.add")) == len(slack.fake.calls("reactions.remove")) == 1
    assert slack.fake.calls("assistant.threads.setTitle") == []
    assert len(slack.fake.calls("assistant.threads.setStatus")) == 1


async def test_a_rate_limited_status_does_not_delay_the_answer(slack: Service) -> None:
    slack.fake.limit("assistant.threads.setStatus", seconds=100)
    slack.fake.limit("reactions.add", seconds=100)
    (answer,) = await slack.asked(VOLTAGE, channel=slack.channel("D"))
    assert "4.5 V" in words(answer)


async def test_the_channel_in_view_provides_the_context(slack: Service) -> None:
    legal = await legal_channel(slack)
    channel = slack.channel("D")
    changed = {"type": "app_context_changed", "user": "U1", "channel": channel, "context": in_view(legal)}
    await slack.act(slack.fake.event(changed))
    (answer,) = await slack.asked(LEGAL, channel=channel)
    assert "*PUC*: Public Utilities Commission" in words(answer)
    await slack.act(slack.fake.event({**changed, "context": {}}))
    (asked_back,) = await slack.asked(LEGAL, channel=channel)
    assert "argot_choose" in json.dumps(asked_back)
    (with_message,) = await slack.asked(LEGAL, channel=channel, app_context=in_view(legal))
    assert "*PUC*: Public Utilities Commission" in words(with_message)


@pytest.mark.parametrize("context", [None, [], {"entities": None}, {"entities": ["x", {"type": 1}]}, "C1"])
async def test_an_unreadable_view_is_ignored(slack: Service, context: Any) -> None:
    (answer,) = await slack.asked(VOLTAGE, channel=slack.channel("D"), app_context=context)
    assert "4.5 V" in words(answer)
    event = {"type": "app_context_changed", "user": "U1", "channel": slack.channel("D"), "context": context}
    await slack.act(slack.fake.event(event))
