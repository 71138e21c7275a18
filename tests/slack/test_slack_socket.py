"""Tests of Socket Mode: events, buttons, forms and shortcuts over Argot's own connection, and its loss."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from fake_slack import APP_TOKEN, TEAM
from slack_service import VOLTAGE, Service, words, workspace

from argot.service.identity.people import make_local_principal
from argot.service.usecases import catalogue
from argot.slack.store.slack_store import SlackStore

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def slack(tiny_home: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    over_socket = {"slack_app_token": APP_TOKEN, "slack_signing_secret": ""}
    async with workspace(tiny_home, tmp_path_factory.mktemp("slack"), **over_socket) as service:
        service.kb.people.add("mia")
        service.kb.people.set_role("mia", "manager")
        SlackStore(service.kb.people.database).link(TEAM, "UMIA", "mia")
        yield service


async def answered(slack: Service, channel: str, count: int = 1) -> list[dict[str, object]]:
    await slack.fake.until(lambda: len(slack.fake.said(channel)) >= count)
    await slack.quiet()
    return slack.fake.said(channel)


async def test_a_mention_and_a_button_press_are_acknowledged_and_answered(slack: Service) -> None:
    channel = slack.channel()
    asked = await slack.fake.push(slack.fake.message("What is a PUC?", channel=channel))
    assert await slack.fake.acknowledged(asked) == {}
    (back,) = await answered(slack, channel)
    pressed = await slack.fake.push(slack.fake.press(back, "argot_choose_2", user="U4"))
    assert await slack.fake.acknowledged(pressed) == {}
    said = await answered(slack, channel, 2)
    assert "*PUC*: Public Utilities Commission" in words(said[-1])


async def test_a_repeated_envelope_is_acknowledged_again_and_answered_once(slack: Service) -> None:
    channel = slack.channel()
    body = slack.fake.message(VOLTAGE, channel=channel)
    envelope = await slack.fake.push(body)
    await slack.fake.push(body, envelope)
    await slack.fake.until(lambda: [one["envelope_id"] for one in slack.fake.socket].count(envelope) == 2)
    assert len(await answered(slack, channel)) == 1


async def test_a_shortcut_opens_the_form_whose_errors_come_in_the_acknowledgement(slack: Service) -> None:
    await slack.fake.push(slack.fake.shortcut("the new BLSB needs room", channel=slack.channel(), user="UMIA"))
    (opened,) = await slack.fake.until(lambda: slack.fake.calls("views.open"))
    values = {"expansion": "Bit Line Sense Buffer", "context": "NAND"}
    sent = await slack.fake.push(slack.fake.submit(opened["view"], values, user="UMIA"))
    told = await slack.fake.acknowledged(sent)
    assert told["response_action"] == "update" and "Bit Line Sense Buffer" in str(told["view"])
    (sense,) = await catalogue.get_result(slack.kb, make_local_principal(), "glossary_list", query="BLSB")
    assert (sense["context"], sense["owner"]) == ("NAND", "mia")
    wrong = await slack.fake.push(slack.fake.submit(opened["view"], {"expansion": "x" * 30_000}, user="UMIA"))
    assert (await slack.fake.acknowledged(wrong))["response_action"] == "errors"


@pytest.mark.parametrize("reason", ["refresh_requested", "warning"])
async def test_no_message_is_lost_when_slack_renews_the_connection(slack: Service, reason: str) -> None:
    opened = len(slack.fake.calls("apps.connections.open"))
    await slack.fake.hang_up(reason)
    channel = slack.channel()
    envelope = await slack.fake.push(slack.fake.message(VOLTAGE, channel=channel))
    await slack.fake.acknowledged(envelope)
    assert len(await answered(slack, channel)) == 1
    assert len(slack.fake.calls("apps.connections.open")) == opened + 1


async def test_a_broken_connection_is_opened_again(slack: Service) -> None:
    await slack.fake.hang_up("")
    channel = slack.channel()
    await slack.fake.acknowledged(await slack.fake.push(slack.fake.message(VOLTAGE, channel=channel)))
    assert len(await answered(slack, channel)) == 1


async def test_socket_mode_closes_the_http_address(slack: Service) -> None:
    answer = await slack.fake.send(slack.client, slack.fake.message(VOLTAGE, channel=slack.channel()))
    assert answer.status_code == 404
