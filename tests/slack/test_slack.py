"""Tests of Argot in Slack against a fake Web API: who is answered, where, from which documents, and in what form."""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from fake_slack import BOT, SECRET, TEAM
from slack_service import VOLTAGE, WEB, Service, labels, words, workspace

from argot.service.identity.people import make_local_principal
from argot.service.usecases import catalogue
from argot.slack.store.slack_store import SlackStore
from argot.types import Principal

pytestmark = pytest.mark.asyncio(loop_scope="module")

VAULT = "How often is the vault combination rotated?"
LOCAL = make_local_principal()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def slack(tiny_home: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    async with workspace(tiny_home, tmp_path_factory.mktemp("slack")) as service:
        people = service.kb.people
        people.add("vera@example.com", ("vault",))
        people.add("mia")
        people.set_role("mia", "manager")
        people.add("sue")
        service.fake.person("UVERA", "Vera@example.com")
        service.fake.person("UNINA", "nina@example.com")
        SlackStore(people.database).link(TEAM, "UMIA", "mia")
        SlackStore(people.database).link(TEAM, "USUE", "sue")
        people.suspend("sue")
        yield service


async def set_channel(slack: Service, channel: str, **how: Any) -> None:
    await catalogue.get_result(slack.kb, LOCAL, "slack_channel_set", channel=channel, **how)


# -- who is answered -------------------------------------------------------------------------------------------------


async def test_a_mention_is_answered_in_its_thread_with_numbered_sources(slack: Service) -> None:
    channel = slack.channel()
    body = slack.fake.message(VOLTAGE, channel=channel)
    await slack.act(body)
    (answer,) = slack.fake.said(channel)
    assert answer["thread_ts"] == body["event"]["ts"]
    assert "4.5 V" in words(answer)
    assert f"<{WEB}/slack/sources/" in words(answer) and "|[1]>" in words(answer)
    assert "*nand-layout.md*" in words(answer)
    assert (answer["unfurl_links"], answer["unfurl_media"]) == (False, False)


async def test_a_reaction_marks_a_question_in_progress_and_is_removed_afterwards(slack: Service) -> None:
    channel = slack.channel()
    body = slack.fake.message(VOLTAGE, channel=channel)
    before = len(slack.fake.log)
    await slack.act(body)
    calls = [name for name, given in slack.fake.log[before:] if given.get("channel") == channel]
    assert calls == ["reactions.add", "chat.postMessage", "reactions.remove"]
    assert slack.fake.reactions == set()


async def test_a_direct_message_needs_no_mention(slack: Service) -> None:
    (answer,) = await slack.asked(VOLTAGE, channel=slack.channel("D"))
    assert "4.5 V" in words(answer)


@pytest.mark.parametrize(
    "more",
    [
        {"user": BOT},
        {"bot_id": "B9"},
        {"subtype": "bot_message", "bot_id": "B9", "user": ""},
        {"subtype": "channel_join"},
        {"subtype": "message_changed", "message": {"text": VOLTAGE}},
        {"subtype": "message_deleted", "previous_message": {"text": VOLTAGE}},
        {"user": "USLACKBOT"},
        {"hidden": True},
    ],
    ids=lambda more: str(next(iter(more.items()))),
)
@pytest.mark.parametrize("kind", ["C", "D"])
async def test_messages_of_bots_joins_and_edits_are_ignored(slack: Service, more: dict[str, Any], kind: str) -> None:
    channel = slack.channel(kind)
    await set_channel(slack, channel, mode="all")
    assert await slack.asked(VOLTAGE, channel=channel, mention=False, **more) == []
    assert slack.fake.reactions == set()


async def test_a_message_without_a_mention_is_ignored(slack: Service) -> None:
    channel = slack.channel()
    assert await slack.asked(VOLTAGE, channel=channel, mention=False) == []
    (first,) = await slack.asked(VOLTAGE, channel=channel)
    assert await slack.asked("And thank you?", channel=channel, mention=False, thread=first["thread_ts"]) == []


async def test_a_channels_mode_says_which_messages_are_answered(slack: Service) -> None:
    channel = slack.channel()
    remark = "The Word Line voltage during a read has changed"
    await set_channel(slack, channel, mode="questions")
    assert await slack.asked(remark, channel=channel, mention=False) == []
    assert await slack.asked(f"<@U7> {VOLTAGE}", channel=channel, mention=False) == []
    assert len(await slack.asked(VOLTAGE, channel=channel, mention=False)) == 1
    assert len(await slack.asked("what voltage does the Word Line have", channel=channel, mention=False)) == 1
    await set_channel(slack, channel, mode="all")
    assert len(await slack.asked(remark, channel=channel, mention=False)) == 1
    await set_channel(slack, channel, mode="off")
    assert await slack.asked(VOLTAGE, channel=channel) == []


async def test_an_empty_mention_gets_help_or_answers_the_message_before_it(slack: Service) -> None:
    channel = slack.channel()
    (told,) = await slack.asked("", channel=channel)
    assert "mention me with your question" in words(told)
    first = slack.fake.message(VOLTAGE, channel=channel, mention=False)
    (answer,) = await slack.asked("", channel=channel, thread=first["event"]["ts"], user="U2")
    assert "4.5 V" in words(answer)


# -- from which documents --------------------------------------------------------------------------------------------


async def test_answers_in_a_channel_use_public_documents_only(slack: Service) -> None:
    (answer,) = await slack.asked(VAULT, user="UVERA")
    assert "14 days" not in json.dumps(answer)
    assert "vault-handbook" not in json.dumps(answer)
    (group,) = await slack.asked(VAULT, user="UVERA", channel=slack.channel("G"), channel_type="mpim")
    assert "14 days" not in json.dumps(group)


async def test_a_direct_message_uses_the_documents_its_author_may_read(slack: Service) -> None:
    (vera,) = await slack.asked(VAULT, user="UVERA", channel=slack.channel("D"))
    assert "14 days" in words(vera)
    for user in ("U1", "UMIA", slack.fake.person("USTRANGER", "vera@example.com", is_stranger=True)):
        (other,) = await slack.asked(VAULT, user=user, channel=slack.channel("D"))
        assert "14 days" not in json.dumps(other)
    elsewhere = slack.fake.person("UELSE", "vera@example.com", team_id="T9")
    unconfirmed = slack.fake.person("UNEW", "vera@example.com", is_email_confirmed=False)
    left = slack.fake.person("ULEFT", "vera@example.com", deleted=True)
    for user in (elsewhere, unconfirmed, left):
        (other,) = await slack.asked(VAULT, user=user, channel=slack.channel("D"))
        assert "14 days" not in json.dumps(other)


async def test_a_suspended_user_is_told_privately_and_gets_no_answer(slack: Service) -> None:
    direct, channel = slack.channel("D"), slack.channel()
    (answer,) = await slack.asked(VOLTAGE, user="USUE", channel=direct)
    assert await slack.asked(VOLTAGE, user="USUE", channel=channel) == []
    (alone,) = slack.fake.alone(channel, "USUE")
    for told in (answer, alone):
        assert "suspended" in words(told) and "4.5 V" not in words(told)


async def test_a_channels_groups_do_not_hold_where_other_companies_take_part(slack: Service) -> None:
    channel = slack.channel()
    await set_channel(slack, channel, groups=["vault"])
    (inside,) = await slack.asked(VAULT, channel=channel)
    assert "14 days" in words(inside)
    (shared,) = await slack.asked(VAULT, channel=channel, is_ext_shared_channel=True)
    assert "14 days" not in json.dumps(shared)


async def test_a_channel_may_show_answers_to_the_asker_only(slack: Service) -> None:
    channel = slack.channel()
    await set_channel(slack, channel, replies="ephemeral")
    assert await slack.asked(VAULT, channel=channel, user="UVERA") == []
    (answer,) = slack.fake.alone(channel)
    assert answer["user"] == "UVERA" and "14 days" in words(answer)
    assert "Only for me" not in labels(answer)


async def test_the_only_for_me_button_shows_the_answer_to_its_presser_only(slack: Service) -> None:
    channel = slack.channel()
    (public,) = await slack.asked(VAULT, channel=channel, user="U1")
    assert "14 days" not in json.dumps(public)
    await slack.act(slack.fake.press(public, "argot_alone", user="UVERA"))
    (alone,) = slack.fake.alone(channel)
    assert alone["user"] == "UVERA" and alone["thread_ts"] == public["thread_ts"]
    assert "14 days" in words(alone)
    assert "14 days" not in json.dumps(slack.fake.said(channel))


async def test_a_channels_context_and_profile_apply_to_its_questions(slack: Service) -> None:
    channel = slack.channel()
    await set_channel(slack, channel, context="Legal", profile="lenient")
    (answer,) = await slack.asked("What is a PUC?", channel=channel)
    assert "Public Utilities Commission" in words(answer)
    found = slack.store.find_thread(TEAM, channel, answer["thread_ts"], "public")
    read = await catalogue.get_result(slack.kb, Principal(found.owner), "thread_read", thread=found.thread)
    assert read["turns"][0]["profile"] == "lenient"


async def test_a_citation_links_to_a_page_that_marks_the_cited_sentence(slack: Service) -> None:
    (answer,) = await slack.asked(VOLTAGE)
    found = re.search(rf"<{WEB}(/slack/sources/\S+?)\|\[1\]>", words(answer))
    assert found
    address = found[1].replace("&amp;", "&")
    cookie = {"Cookie": f"__Host-argot_8000={slack.kb.people.sessions.begin('mia')}"}
    page = await slack.client.get(address, headers=cookie)
    assert page.status_code == 200 and page.headers["content-type"].startswith("text/html")
    assert "<mark>The Word Line voltage during a read is 4.5 V.</mark>" in page.text
    assert "nand-layout.md" in page.text
    for query in ("?span=9-1&span=x-y&span=0-99999999999&span=-1-5", "?span=" + "9" * 400):
        assert (await slack.client.get(address.partition("?")[0] + query, headers=cookie)).status_code == 200
    assert (await slack.client.get(address)).status_code == 401
    (vault,) = await slack.asked(VAULT, user="UVERA", channel=slack.channel("D"))
    hidden = re.search(rf"<{WEB}(/slack/sources/\w+)", words(vault))
    assert hidden
    refused = await slack.client.get(hidden[1], headers=cookie)
    assert refused.status_code == 404 and "14 days" not in refused.text


# -- conversations ---------------------------------------------------------------------------------------------------


async def test_a_thread_is_one_conversation(slack: Service) -> None:
    channel = slack.channel()
    (first,) = await slack.asked("What is the penalty for a late tariff filing?", channel=channel)
    top = first["thread_ts"]
    await slack.asked("And when must it be filed?", channel=channel, thread=top, user="U2")
    found = slack.store.find_thread(TEAM, channel, top, "public")
    read = await catalogue.get_result(slack.kb, Principal(found.owner), "thread_read", thread=found.thread)
    assert [turn["question"] for turn in read["turns"]][1:] == ["And when must it be filed?"]
    assert "tariff filing" in read["turns"][1]["stand_alone_question"]


async def test_earlier_messages_of_the_thread_complete_the_question(slack: Service) -> None:
    channel = slack.channel()
    top = slack.fake.message("What is the Word Line voltage?", channel=channel, mention=False, user="U5")["event"]["ts"]
    slack.fake.message("No idea", channel=channel, mention=False, user="U6", thread=top, bot_id="B7")
    (answer,) = await slack.asked("and during a read?", channel=channel, thread=top)
    found = slack.store.find_thread(TEAM, channel, top, "public")
    read = await catalogue.get_result(slack.kb, Principal(found.owner), "thread_read", thread=found.thread)
    assert "Word Line" in read["turns"][0]["stand_alone_question"]
    assert "4.5 V" in words(answer)


async def test_a_choice_is_a_button_that_disappears_when_pressed(slack: Service) -> None:
    channel = slack.channel()
    (back,) = await slack.asked("What is a PUC?", channel=channel)
    assert labels(back)[:3] == [
        "1. Peripheral Under Cell (NAND)",
        "2. Public Utilities Commission (Legal)",
        "3. None of these",
    ]
    press = slack.fake.press(back, "argot_choose_2", user="U4")
    await slack.act(press)
    asked, answer = slack.fake.said(channel)
    assert "→ 2. Public Utilities Commission" in words(asked) and "argot_choose" not in json.dumps(asked)
    assert answer["thread_ts"] == back["thread_ts"]
    assert "*PUC*: Public Utilities Commission" in words(answer)


async def read_efforts(slack: Service, channel: str, thread: str, owner: str = "public") -> list[str]:
    found = slack.store.find_thread(TEAM, channel, thread, owner)
    read = await catalogue.get_result(slack.kb, Principal(found.owner), "thread_read", thread=found.thread)
    return [turn["effort"] for turn in read["turns"]]


async def test_a_choice_goes_on_with_the_effort_of_its_question(slack: Service) -> None:
    channel = slack.channel()
    (back,) = await slack.asked("quick: What is a PUC?", channel=channel)
    await slack.act(slack.fake.press(back, "argot_choose_2"))
    assert await read_efforts(slack, channel, back["thread_ts"]) == ["quick"]


async def test_the_message_before_an_empty_mention_chooses_its_effort(slack: Service) -> None:
    channel = slack.channel()
    first = slack.fake.message(f"thorough: {VOLTAGE}", channel=channel, mention=False)
    (answer,) = await slack.asked("?", channel=channel, thread=first["event"]["ts"], user="U2")
    assert "4.5 V" in words(answer)
    assert await read_efforts(slack, channel, first["event"]["ts"]) == ["thorough"]


async def test_the_answer_for_one_person_has_the_effort_of_the_public_one(slack: Service) -> None:
    channel = slack.channel()
    (public,) = await slack.asked(f"quick: {VAULT}", channel=channel, user="U1")
    await slack.act(slack.fake.press(public, "argot_alone", user="UVERA"))
    assert await read_efforts(slack, channel, public["thread_ts"], "UVERA") == ["quick"]


async def test_the_presser_of_an_expired_button_is_told_so(slack: Service) -> None:
    channel = slack.channel()
    (back,) = await slack.asked("What is a PUC?", channel=channel)
    first, second = (slack.fake.press(back, f"argot_choose_{n}", user=f"U{n}") for n in (1, 2))
    await slack.act(first)
    await slack.act(second)
    assert len(slack.fake.said(channel)) == 2
    assert [one["user"] for one in slack.fake.alone(channel)] == ["U2"]


async def test_the_not_what_i_meant_button_asks_again_in_another_sense(slack: Service) -> None:
    for channel in (slack.channel(), slack.channel("D")):
        (back,) = await slack.asked("What is a PUC?", channel=channel)
        await slack.act(slack.fake.press(back, "argot_choose_2"))
        answer = slack.fake.said(channel)[-1]
        await slack.act(slack.fake.press(answer, "argot_meant"))
        view = slack.fake.calls("views.open")[-1]["view"]
        options = view["blocks"][0]["element"]["options"]
        assert [one["text"]["text"] for one in options] == ["PUC: Peripheral Under Cell (NAND)", "PUC: something else"]
        sent = slack.fake.submit(view, {"sense": options[0]["value"]})
        await slack.act(sent)
        await slack.act(sent)
        assert "*PUC*: Peripheral Under Cell" in words(slack.fake.said(channel)[-1])
        assert len(slack.fake.said(channel)) == 3
        await slack.act(slack.fake.submit(view, {"sense": options[1]["value"]}))
    (missed,) = await catalogue.get_result(slack.kb, LOCAL, "glossary_misses", term="PUC")
    assert "What is a PUC?" in json.dumps(missed)


async def test_a_choice_may_be_typed_as_a_message(slack: Service) -> None:
    channel = slack.channel("D")
    (back,) = await slack.asked("What is a PUC?", channel=channel)
    (answer,) = await slack.asked("the legal one", channel=channel, thread=back["thread_ts"])
    assert "*PUC*: Public Utilities Commission" in words(answer)


async def test_a_user_cannot_continue_another_users_conversation(slack: Service) -> None:
    channel = slack.channel()
    await set_channel(slack, channel, replies="ephemeral")
    await slack.asked("What is a PUC?", channel=channel, user="UVERA")
    (back,) = slack.fake.alone(channel)
    await slack.act(slack.fake.press(back, "argot_choose_1", user="U1"))
    told = slack.fake.alone(channel, "U1")
    assert "somebody else's conversation" in words(told[0])
    assert len(slack.fake.alone(channel)) == 2 and slack.fake.said(channel) == []
    await slack.act(slack.fake.press(back, "argot_choose_1", user="UVERA"))
    assert len(slack.fake.alone(channel, "UVERA")) == 2 and slack.fake.said(channel) == []


async def test_a_direct_conversation_continues_in_the_web_window(slack: Service) -> None:
    (answer,) = await slack.asked(VAULT, user="UVERA", channel=slack.channel("D"))
    url = next(one["url"] for block in answer["blocks"] for one in block.get("elements", ()) if "url" in one)
    thread = url.removeprefix(f"{WEB}/thread/")
    vera = slack.kb.principal("vera@example.com")
    read = await catalogue.get_result(slack.kb, vera, "thread_read", thread=thread)
    assert read["turns"][0]["question"] == VAULT


async def test_a_channels_conversation_continues_in_the_web_as_a_private_copy(slack: Service) -> None:
    (answer,) = await slack.asked(VOLTAGE)
    url = next(one["url"] for block in answer["blocks"] for one in block.get("elements", ()) if "url" in one)
    thread = url.removeprefix(f"{WEB}/slack/threads/")
    token = slack.kb.people.sessions.begin("mia")
    cookie = {"Cookie": f"__Host-argot_8000={token}"}
    moved = await slack.client.get(f"/slack/threads/{thread}", headers=cookie)
    assert moved.status_code == 303
    mine = moved.headers["location"].removeprefix("/thread/")
    assert (await slack.client.get(f"/slack/threads/{thread}", headers=cookie)).headers["location"].endswith(mine)
    read = await catalogue.get_result(slack.kb, slack.kb.principal("mia"), "thread_read", thread=mine)
    assert "4.5 V" in read["turns"][0]["answer"]
    async for event in catalogue.dispatch(
        slack.kb, slack.kb.principal("mia"), "ask", {"question": VOLTAGE, "thread": mine}
    ):
        last = event
    assert last["data"]["turn"] == 1
    anonymous = await slack.client.get(f"/slack/threads/{thread}")
    assert anonymous.status_code == 401
    (own,) = await slack.asked(VAULT, user="UVERA", channel=slack.channel("D"))
    foreign = json.loads(next(one["value"] for b in own["blocks"] for one in b.get("elements", ()) if "value" in one))
    assert (await slack.client.get(f"/slack/threads/{foreign['t']}", headers=cookie)).status_code == 404


# -- actions beside the answer ---------------------------------------------------------------------------------------


async def said_of(slack: Service, channel: str, answer: dict[str, Any]) -> list[dict[str, Any]]:
    found = slack.store.find_thread(TEAM, channel, answer["thread_ts"], "public")
    read = await catalogue.get_result(slack.kb, Principal(found.owner), "thread_read", thread=found.thread)
    feedback: list[dict[str, Any]] = read["feedback"]
    return feedback


async def test_thumbs_are_stored_and_a_thumb_down_asks_for_the_reason(slack: Service) -> None:
    channel = slack.channel()
    (answer,) = await slack.asked(VOLTAGE, channel=channel)
    await slack.act(slack.fake.thumb(answer, up=True))
    assert [one["value"] for one in await said_of(slack, channel, answer)] == [1]
    await slack.act(slack.fake.thumb(answer, up=False))
    assert [one["value"] for one in await said_of(slack, channel, answer)] == [-1]
    view = slack.fake.calls("views.open")[-1]["view"]
    await slack.act(slack.fake.submit(view, {"why": "1", "comment": "no <unit> & so on"}))
    (kept,) = await said_of(slack, channel, answer)
    assert (kept["value"], kept["comment"]) == (-1, "Something is missing. no <unit> & so on")


async def test_forms_and_thanks_are_in_the_language_that_a_person_has_in_slack(slack: Service) -> None:
    channel, heike = slack.channel(), slack.fake.person("UHEIKE", locale="de-DE")
    (answer,) = await slack.asked(VOLTAGE, channel=channel, user=heike)
    await slack.act(slack.fake.thumb(answer, up=False, user=heike))
    view = slack.fake.calls("views.open")[-1]["view"]
    assert (view["title"]["text"], view["submit"]["text"]) == ("Was war es?", "Senden")
    await slack.act(slack.fake.submit(view, {"why": "1", "comment": "so"}, user=heike))
    assert slack.fake.calls("chat.postEphemeral")[-1]["text"].startswith("Danke. Diejenigen")
    typed = await slack.fake.send(slack.client, slack.fake.command("", channel=channel, user=heike))
    assert (
        typed.json()["text"]
        == "Schreiben Sie einen Begriff oder eine Abkürzung hinter den Befehl, zum Beispiel `/term PUC`."
    )


async def test_the_contact_of_the_answers_context_is_called(slack: Service) -> None:
    channel = slack.channel()
    (answer,) = await slack.asked(VOLTAGE, channel=channel, user="U1")
    press = slack.fake.press(answer, "argot_person", user="U3")
    await slack.act(press)
    await slack.act(press)
    called = slack.fake.said(channel)[1:]
    assert [words(one) for one in called] == ["<@U3> would like a person to look at this: <@UNINA> (NAND)"]
    direct = slack.channel("D")
    (answer,) = await slack.asked("What does a late tariff filing cost?", channel=direct)
    await slack.act(slack.fake.press(answer, "argot_person"))
    assert words(slack.fake.said(direct)[-1]) == "Ask leo@\u2060example.com (Legal)."  # no link


async def test_the_assistants_pane_has_prompts_a_title_and_a_status(slack: Service) -> None:
    channel, top = slack.channel("D"), slack.fake.ts()
    viewed = slack.channel()
    await set_channel(slack, viewed, context="Legal")
    thread = {"user_id": "U1", "channel_id": channel, "thread_ts": top, "context": {"channel_id": viewed}}
    await slack.act(slack.fake.event({"type": "assistant_thread_started", "assistant_thread": thread}))
    prompts = slack.fake.calls("assistant.threads.setSuggestedPrompts")[-1]
    assert (prompts["channel_id"], prompts["thread_ts"]) == (channel, top)
    assert 1 <= len(prompts["prompts"]) <= 4 and "VLT" not in json.dumps(prompts)
    (*_, answer) = await slack.asked("What is a PUC?", channel=channel, thread=top)
    assert "*PUC*: Public Utilities Commission" in words(answer)
    assert slack.fake.calls("assistant.threads.setTitle")[-1]["title"] == "What is a PUC?"
    status = [one["status"] for one in slack.fake.calls("assistant.threads.setStatus") if one["channel_id"] == channel]
    assert status[0].startswith("is ") and status[-1] == ""
    assert not [one for one in slack.fake.calls("reactions.add") if one["channel"] == channel]
    thread["context"] = {"channel_id": slack.channel()}
    await slack.act(slack.fake.event({"type": "assistant_thread_context_changed", "assistant_thread": thread}))
    assert slack.store.view(channel, top) == thread["context"]["channel_id"]


async def test_a_manager_adds_a_term_from_a_message(slack: Service) -> None:
    channel = slack.channel()
    await set_channel(slack, channel, context="NAND")
    await slack.act(slack.fake.shortcut("the new BLSA needs more room", channel=channel, user="UMIA"))
    view = slack.fake.calls("views.open")[-1]["view"]
    assert view["blocks"][0]["element"]["initial_value"] == "BLSA"
    sent = await slack.fake.send(
        slack.client, slack.fake.submit(view, {"expansion": "Bit Line Sense Amplifier <x>"}, user="UMIA")
    )
    assert sent.json()["response_action"] == "update" and "Amplifier &lt;x&gt;" in json.dumps(sent.json())
    (sense,) = await catalogue.get_result(slack.kb, LOCAL, "glossary_list", query="BLSA")
    assert (sense["context"], sense["status"], sense["owner"]) == ("NAND", "approved", "mia")
    sent = await slack.fake.send(
        slack.client, slack.fake.submit(view, {"term": "QQX", "expansion": "Q", "state": "draft"}, user="UMIA")
    )
    (sense,) = await catalogue.get_result(slack.kb, LOCAL, "glossary_list", query="QQX")
    assert sense["status"] == "draft"
    wrong = await slack.fake.send(slack.client, slack.fake.submit(view, {"expansion": "x" * 30_000}, user="UMIA"))
    assert wrong.json()["response_action"] == "errors"


async def test_the_command_term_shows_a_term_to_one_person_from_what_they_may_read(slack: Service) -> None:
    async def typed(text: str, user: str = "U1") -> Any:
        answer = await slack.fake.send(slack.client, slack.fake.command(text, channel=slack.channel(), user=user))
        assert answer.status_code == 200 and answer.json()["response_type"] == "ephemeral"
        return answer.json()["text"]

    shown = await typed("wl")
    assert "Word Line (NAND)" in shown and "Looked after by nina@\u2060example.com" in shown
    assert f"<{WEB}/terms/term?t=WL|In the glossary>" in shown
    assert "Vault Liaison Team" in await typed("VLT", "UVERA")
    assert "Liaison" not in await typed("VLT") and "Liaison" not in await typed("VLTT")
    assert "<!channel>" not in await typed("<!channel> @here <b>")
    assert "Type a term" in await typed(" ")


async def test_the_asker_of_a_missing_term_hears_of_its_meaning_in_the_same_thread(slack: Service) -> None:
    channel, direct = slack.channel(), slack.channel("D")
    for where in (channel, direct):
        (missed,) = await slack.asked("What is a QVLX?", channel=where)
        assert "QVLX" in words(missed) and "Let the glossary's managers read this" in labels(missed)
    await slack.act(slack.fake.press(missed, "argot_share"))
    (waiting,) = await catalogue.get_result(slack.kb, LOCAL, "glossary_misses", term="QVLX")
    assert "What is a QVLX?" in json.dumps(waiting)
    given = {"term": "QVLX", "context": "NAND", "expansion": "Quick <Voltage> Latch"}
    await catalogue.get_result(slack.kb, LOCAL, "glossary_add", **given)
    await slack.running.note_news()
    await slack.quiet()
    for where in (channel, direct):
        told = slack.fake.said(where)[-1]
        assert "has a meaning now: *Quick &lt;Voltage&gt; Latch* (NAND)" in words(told)
        assert labels(told) == ["Ask again"]
    await slack.running.note_news()
    await slack.quiet()
    assert len(slack.fake.said(direct)) == 3
    await slack.act(slack.fake.press(told, "argot_again_1"))
    assert "*QVLX*: Quick &lt;Voltage&gt; Latch" in words(slack.fake.said(direct)[-1])


@pytest.mark.parametrize("user", ["U1", "UVERA", "USUE"])
async def test_a_user_who_manages_no_context_adds_no_term_by_a_forged_form(slack: Service, user: str) -> None:
    await slack.act(slack.fake.shortcut("the new ZZQ", channel=slack.channel(), user="UMIA"))
    form = slack.fake.calls("views.open")[-1]["view"]
    forged = slack.fake.submit(form, {"expansion": "Zed", "context": "NAND"}, user=user)
    answer = await slack.fake.send(slack.client, forged)
    assert answer.json()["response_action"] == "errors"
    assert await catalogue.get_result(slack.kb, LOCAL, "glossary_list", query="ZZQ") == []


# -- text of documents -----------------------------------------------------------------------------------------------

HOSTILE = """# Zebra protocol <!channel>

The zebra protocol <!here> & <@U123> says @channel: see [this](http://evil.example/a) and <https://evil.example/b|[1]>.
The zebra protocol uses http://evil.example/c and ![picture](http://evil.example/d.png) *today*.
"""


async def test_no_text_of_a_document_mentions_anybody_or_becomes_a_link(slack: Service, tmp_path: Path) -> None:
    path = tmp_path / "zebra <!channel>.md"
    path.write_text(HOSTILE)
    async for _ in catalogue.dispatch(slack.kb, LOCAL, "add", {"paths": [str(path)]}):
        pass
    answers = await slack.asked("What does the zebra protocol say and use?")
    shown = json.dumps(answers, ensure_ascii=False)
    assert "zebra protocol" in shown
    for active in ("<!", "<@", "@channel", "<http://", "<https://evil", "](http"):
        assert active not in shown.replace("@\u2060channel", ""), active
    assert all(block["text"]["verbatim"] for one in answers for block in one["blocks"] if block["type"] == "section")
    assert all(one["parse"] == "none" for one in answers)


# -- signatures ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "x " * 20_000,
        "\ud800 what",
        "\x00\x01?",
        "<@U0BOT>" * 50,
        "'; DROP TABLE users; --?",
        "🦓" * 300,
        "\u202eWhat is?",
    ],
    ids=range(7),
)
async def test_any_message_text_gets_an_answer_without_an_error(slack: Service, text: str) -> None:
    (answer,) = await slack.asked(text, channel=slack.channel("D"))
    assert words(answer) and "Something went wrong" not in words(answer)


@pytest.mark.parametrize(
    ("secret", "age"), [("another secret", 0), (SECRET, 301), (SECRET, -360)], ids=["forged", "stale", "ahead"]
)
async def test_requests_with_a_forged_or_outdated_signature_are_refused(slack: Service, secret: str, age: int) -> None:
    import time

    channel = slack.channel()

    # The service itself asks Slack for its own identity when it needs it.
    def calls() -> int:
        return sum(name != "auth.test" for name, _ in slack.fake.log)

    before = calls()
    body = slack.fake.message(VOLTAGE, channel=channel)
    answer = await slack.fake.send(slack.client, body, at=time.time() - age, secret=secret)
    assert answer.status_code == 401
    await slack.quiet()
    assert slack.fake.said(channel) == [] and calls() == before


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X-Slack-Request-Timestamp": "now", "X-Slack-Signature": "v0=1"},
        {"X-Slack-Request-Timestamp": "9" * 400, "X-Slack-Signature": "v0=1"},
        {"X-Slack-Request-Timestamp": "-1", "X-Slack-Signature": ""},
    ],
)
@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"{", b"ssl_check=1&token=x", b'{"type":"url_verification"}'])
async def test_malformed_requests_without_a_signature_are_refused(
    slack: Service, headers: dict[str, str], content: bytes
) -> None:
    answer = await slack.client.post("/slack/events", content=content, headers=headers)
    assert answer.status_code == 401


@pytest.mark.parametrize(
    "body",
    [[], "text", None, 7, {"type": "event_callback", "event": []}, {"type": "block_actions", "user": "U1"},
     {"type": "view_submission", "view": 3}],
)  # fmt: skip
async def test_signed_requests_of_the_wrong_shape_are_refused(slack: Service, body: Any) -> None:
    answer = await slack.fake.send(slack.client, body)
    assert answer.status_code == 400


async def test_a_page_in_a_browser_cannot_send_events(slack: Service) -> None:
    text = json.dumps(slack.fake.message(VOLTAGE, channel=slack.channel()))
    signed = slack.fake.headers(text)
    for headers in ({"Origin": "https://evil.example"}, {"Cookie": "__Host-argot_8000=x"}):
        answer = await slack.client.post("/slack/events", content=text, headers={**signed, **headers})
        assert answer.status_code == 403
    assert (await slack.client.post("/slack/events", content="x" * 3_000_000, headers=signed)).status_code == 413


async def test_signed_requests_without_meaning_do_no_harm(slack: Service) -> None:
    for text, status in (("{", 400), ("[]", 500), ("{}", 404), ('{"type":"event_callback","event":{}}', 404)):
        headers = {"Content-Type": "application/json", **slack.fake.headers(text)}
        answer = await slack.client.post("/slack/events", content=text, headers=headers)
        assert answer.status_code in (200, 400, status), (text, answer.status_code)
    odd = slack.fake.event({"type": "reaction_added", "user": "U1"})
    await slack.send(odd)
    bare = slack.fake.pressed({"ts": "1.1", "channel": "C1"}, {"action_id": "argot_choose_1", "value": "no json"})
    await slack.act(bare)


async def test_slacks_verification_of_the_address_is_answered(slack: Service) -> None:
    answer = await slack.fake.send(slack.client, {"type": "url_verification", "challenge": "abc", "token": "t"})
    assert answer.status_code == 200 and "abc" in answer.text
