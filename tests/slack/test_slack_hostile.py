"""Tests of attacks in Slack: users of another company, forged mail addresses, and text with active markup."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from fake_slack import BOT
from slack_service import VOLTAGE, Service, words, workspace

from argot.service.identity.people import make_local_principal
from argot.service.usecases import catalogue

pytestmark = pytest.mark.asyncio(loop_scope="module")

VAULT = "How often is the vault combination rotated?"
OTHER_COMPANY = "T9OTHER"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def slack(tiny_home: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    async with workspace(tiny_home, tmp_path_factory.mktemp("slack")) as service:
        service.kb.people.add("vera@example.com", ("vault",))
        service.fake.person("UVERA", "vera@example.com")
        yield service


async def test_a_foreign_companys_user_with_a_known_address_gets_no_rights(slack: Service) -> None:
    """Check that the workspace Slack names for a button press, which is the presser's own, gives no rights."""
    spy = slack.fake.person("USPY", "vera@example.com", team_id=OTHER_COMPANY)
    channel = slack.channel()
    (public,) = await slack.asked(VAULT, channel=channel, is_ext_shared_channel=True)
    press = slack.fake.press(public, "argot_alone", user=spy)
    press["user"]["team_id"] = OTHER_COMPANY
    await slack.act(press)
    (alone,) = slack.fake.alone(channel, spy)
    assert "14 days" not in json.dumps(alone)
    assert "No passage" in json.dumps(alone)  # answered with the rights of everybody in that channel
    direct = slack.fake.message(VAULT, channel=slack.channel("D"), user=spy)
    await slack.act({**direct, "team_id": OTHER_COMPANY})
    (told,) = slack.fake.said(direct["event"]["channel"])
    assert "14 days" not in json.dumps(told)


async def test_another_companys_user_may_press_buttons_open_to_all(slack: Service) -> None:
    guest = slack.fake.person("UGUEST", "guest@elsewhere.example", team_id=OTHER_COMPANY)
    channel = slack.channel()
    (back,) = await slack.asked("What is a PUC?", channel=channel, is_ext_shared_channel=True)
    press = slack.fake.press(back, "argot_choose_2", user=guest)
    press["user"]["team_id"] = OTHER_COMPANY
    await slack.act(press)
    assert "Public Utilities Commission" in json.dumps(slack.fake.said(channel)[-1])
    assert slack.fake.alone(channel) == []


async def test_an_event_for_another_workspace_is_ignored(slack: Service) -> None:
    body = slack.fake.message(VAULT, channel=slack.channel())
    foreign = [{"team_id": OTHER_COMPANY, "user_id": BOT, "is_bot": True}]
    await slack.act({**body, "team_id": OTHER_COMPANY, "authorizations": foreign})
    assert slack.fake.said(body["event"]["channel"]) == []


# -- forms of a message -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("What is the Word Line voltage <@U0BOT> during a read?", {}),
        ("<@U0BOT> What is the Word Line voltage during a read? cc <@U7>", {}),
        ("<@U7> asked: what is the Word Line voltage during a read?", {}),
        ("```\nWhat is the Word Line voltage during a read?\n```", {}),
        (VOLTAGE, {"subtype": "file_share", "files": [{"id": "F1", "name": "a.pdf", "url_private": "https://x"}]}),
        (VOLTAGE, {"subtype": "thread_broadcast", "thread": "1700000000.000001", "root": {"text": "<!channel>"}}),
        (VOLTAGE, {"edited": {"user": "U1", "ts": "1700000000.000002"}}),
        (f"{VOLTAGE} <!channel> <!subteam^S1|@team> <https://evil.example|click>", {}),
        (f":wave: {VOLTAGE} :+1:", {}),
    ],
)
async def test_a_mention_is_answered_wherever_it_stands_in_the_text(
    slack: Service, text: str, more: dict[str, Any]
) -> None:
    (answer,) = await slack.asked(text, channel=slack.channel(), **more)
    assert "4.5 V" in words(answer)
    assert "<!" not in json.dumps(answer) and "evil" not in json.dumps(answer["blocks"])


async def test_glossary_texts_mention_nobody_and_contain_no_links(slack: Service) -> None:
    bad = "Loud <!channel> <@U7> <https://evil.example|click> @here *x*"
    for context in ("NAND", "Legal"):
        given = {"term": "ZQX", "context": context, "expansion": f"{bad} {context}", "description": bad}
        await catalogue.get_result(slack.kb, make_local_principal(), "glossary_add", **given)
    channel = slack.channel()
    (back,) = await slack.asked("What is a ZQX?", channel=channel)
    await slack.act(slack.fake.press(back, "argot_choose_1"))
    await slack.act(slack.fake.press(slack.fake.said(channel)[-1], "argot_meant"))
    shown = json.dumps([slack.fake.said(channel), slack.fake.alone(channel)])
    assert "Loud" in shown
    for active in ("<!", "<@U7", "<https://evil", "@here"):
        assert active not in shown.replace("@\\u2060here", ""), active
