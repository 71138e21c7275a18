"""Tests of faults in a workspace: buttons pressed twice, absent people, a Web API that fails or limits."""

import json
from typing import Any

import pytest
from fake_slack import TEAM
from scripted_server import ScriptedServer
from slack_rules import refusals
from slack_service import VOLTAGE, Service, labels, words

from argot.errors import NotFound
from argot.results import Jargon, MissedTerm
from argot.service.identity.people import make_local_principal
from argot.service.usecases import catalogue
from argot.service.usecases.glossary.term_corrections import OtherSenses
from argot.slack.app import channel_history as said_module
from argot.slack.app.block_kit import MessageContext, render_messages
from argot.slack.app.modals import build_reason_form, build_sense_form, build_term_form
from argot.slack.app.mrkdwn import read_question
from argot.types import Principal, Sense

pytest_plugins = ("slack_fixtures",)
pytestmark = pytest.mark.asyncio(loop_scope="module")

VAULT = "How often is the vault combination rotated?"
LOCAL = make_local_principal()


@pytest.fixture(scope="module")
def shared(workspace_with_model: Service) -> Service:
    workspace_with_model.kb.people.add("vera@example.com", ("vault",))
    workspace_with_model.fake.person("UVERA", "vera@example.com")
    workspace_with_model.fake.person("U0NINA77", "nina@example.com")
    workspace_with_model.fake.person("U0GONE99", "gone@example.com", deleted=True)
    return workspace_with_model


# -- buttons pressed twice -------------------------------------------------------------------------------------------


async def test_a_choice_pressed_twice_counts_once_and_shows_no_error(slack: Service) -> None:
    channel = slack.channel()
    (back,) = await slack.asked("What is a PUC?", channel=channel)
    presses = [slack.fake.press(back, "argot_choose_2") for _ in range(2)]
    for press in presses:
        await slack.send(press)
    await slack.quiet()
    assert len(slack.fake.said(channel)) == 2 and slack.fake.alone(channel) == []


async def test_pressing_ask_again_several_times_asks_once(slack: Service) -> None:
    channel = slack.channel()
    await slack.asked("What is a QVLX?", channel=channel)
    given = {"term": "QVLX", "context": "NAND", "expansion": "Quick Voltage Latch"}
    await catalogue.get_result(slack.kb, LOCAL, "glossary_add", **given)
    await slack.running.note_news()
    await slack.quiet()
    told = slack.fake.said(channel)[-1]
    before = len(slack.fake.said(channel))
    for press in [slack.fake.press(told, "argot_again_1", user=user) for user in ("U1", "U2")]:
        await slack.send(press)
    await slack.quiet()
    assert len(slack.fake.said(channel)) == before + 1
    assert "Ask again" not in labels(slack.fake.said(channel)[before - 1])


async def test_pressing_ask_a_person_several_times_calls_them_once(slack: Service) -> None:
    channel = slack.channel()
    (answer,) = await slack.asked(VOLTAGE, channel=channel)
    for _ in range(3):
        await slack.act(slack.fake.press(answer, "argot_person", user="U3"))
    assert len(slack.fake.said(channel)) == 2
    assert ["called here before" in words(one) for one in slack.fake.alone(channel, "U3")] == [True, True]


@pytest.mark.parametrize(
    ("contact", "called"),
    [
        ("WAREHOUSE, or U0GONE99", "WAREHOUSE, or U0GONE99"),
        ("U0NINA77 in the WAREHOUSE", "<@U0NINA77>"),
        ("nina@example.com <!channel>", "<@U0NINA77>"),
        ("<!channel> @here", "&lt;!channel&gt;"),
    ],
)
async def test_only_existing_people_are_mentioned_as_contacts(slack: Service, contact: str, called: str) -> None:
    channel = slack.channel()
    await catalogue.get_result(slack.kb, LOCAL, "context_add", name="NAND", contact=contact)
    (answer,) = await slack.asked(VOLTAGE, channel=channel)
    await slack.act(slack.fake.press(answer, "argot_person"))
    said = words(slack.fake.said(channel)[-1])
    assert called in said and "<!" not in said and "@here" not in said and said.count("<@") <= 2


# -- people ----------------------------------------------------------------------------------------------------------


async def test_a_reader_outside_the_channel_gets_the_answer_as_a_direct_message(slack: Service) -> None:
    channel = slack.channel()
    (public,) = await slack.asked(VOLTAGE, channel=channel)
    slack.fake.absent.add((channel, "UVERA"))
    await slack.act(slack.fake.press(public, "argot_alone", user="UVERA"))
    assert slack.fake.alone(channel) == []
    (answer,) = slack.fake.said("UVERA")
    assert "4.5 V" in words(answer) and len(slack.fake.said(channel)) == 1


async def test_only_users_who_can_sign_in_are_shown_the_link_to_the_web_window(slack: Service) -> None:
    (stranger,) = await slack.asked(VOLTAGE, channel=slack.channel("D"), user="U1")
    (known,) = await slack.asked(VOLTAGE, channel=slack.channel("D"), user="UVERA")
    assert "Go on in the web window" in labels(known) and "Go on in the web window" not in labels(stranger)


async def test_a_comment_on_an_answer_is_readable_by_those_the_form_names(slack: Service) -> None:
    (answer,) = await slack.asked(VOLTAGE)
    await slack.act(slack.fake.thumb(answer, up=False))
    view = slack.fake.calls("views.open")[-1]["view"]
    assert "can read this, with the question" in json.dumps(view)
    await slack.act(slack.fake.submit(view, {"why": "0", "comment": "the unit is missing"}))
    (said,) = await catalogue.get_result(slack.kb, LOCAL, "feedback_list", value=-1)
    assert "the unit is missing" in said["comment"] and said["question"] == VOLTAGE


async def test_questions_asked_before_the_user_existed_can_be_erased(slack: Service) -> None:
    await slack.asked(VOLTAGE, channel=slack.channel("D"), user="U0EARLY")
    name = f"slack:{TEAM}:U0EARLY"
    assert await catalogue.get_result(slack.kb, Principal(name), "thread_list")
    erased = await catalogue.get_result(slack.kb, LOCAL, "user_erase", name=name)
    assert erased["conversations"] == 1
    assert await catalogue.get_result(slack.kb, Principal(name), "thread_list") == []
    with pytest.raises(NotFound):
        await catalogue.get_result(slack.kb, LOCAL, "user_export", name=name)


async def test_a_question_deleted_before_its_answer_gets_none(slack: Service, model: ScriptedServer) -> None:
    model.fault("pause", tokens=0)
    channel = slack.channel()
    body = slack.fake.message(VOLTAGE, channel=channel)
    gone = {"type": "message", "subtype": "message_deleted", "channel": channel, "deleted_ts": body["event"]["ts"]}
    await slack.send(body)
    await slack.fake.until(lambda: model.asked("cited_answer"))
    await slack.send(slack.fake.event(gone))
    model.heal()
    await slack.quiet()
    assert slack.fake.said(channel) == [] and slack.fake.streams == {}
    late = slack.fake.message(VOLTAGE, channel=channel)
    await slack.act(slack.fake.event({**gone, "deleted_ts": late["event"]["ts"]}))
    await slack.act(late)
    assert slack.fake.said(channel) == []


async def test_the_user_is_told_when_a_form_opens_too_late(slack: Service) -> None:
    channel = slack.channel()
    (back,) = await slack.asked("What is a PUC?", channel=channel)
    await slack.act(slack.fake.press(back, "argot_choose_2"))
    slack.fake.refuse("views.open", "expired_trigger_id")
    await slack.act(slack.fake.press(slack.fake.said(channel)[-1], "argot_meant"))
    assert "could not be opened" in words(slack.fake.alone(channel, "U1")[-1])
    await slack.act(slack.fake.shortcut("the BLSA", channel=channel, user="UVERA"))
    assert "could not be opened" in words(slack.fake.alone(channel, "UVERA")[-1])


# -- the Web API fails -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [500, 503])
async def test_a_server_error_of_slack_is_retried_later(
    slack: Service, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("argot.slack.app.inbox.PAUSES", (0.05,) * 10)
    slack.fake.break_down("chat.postMessage", status)
    (answer,) = await slack.asked(VOLTAGE)
    assert "4.5 V" in words(answer)
    assert len(slack.fake.calls("chat.postMessage")) == 2


async def test_an_answer_in_a_long_thread_is_not_posted_twice(slack: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check a retry after a try that posted the answer, but ended before recording it; hundreds of messages follow."""
    monkeypatch.setattr(said_module, "PAGE", 5)
    monkeypatch.setattr(said_module, "MAX_PAGES", 2)
    channel = slack.channel()
    top = slack.fake.message("Hello all", channel=channel, mention=False)["event"]["ts"]
    for number in range(20):
        slack.fake.message(f"Remark {number}", channel=channel, mention=False, thread=top)
    asking = slack.fake.message(VOLTAGE, channel=channel, thread=top)
    post, posted = slack.fake._chat_postMessage, []

    def lost(given: dict[str, Any]) -> Any:
        posted.append(post(given))
        return "internal_error"

    monkeypatch.setattr("argot.slack.app.inbox.PAUSES", (0.05,) * 10)
    monkeypatch.setattr(slack.fake, "_chat_postMessage", lost)
    await slack.act(asking)
    assert len(posted) == 1 and len(slack.fake.said(channel)) == 1


async def test_an_empty_mention_in_a_long_thread_answers_its_last_message(
    slack: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(said_module, "PAGE", 5)
    channel = slack.channel()
    top = slack.fake.message("Hello all", channel=channel, mention=False)["event"]["ts"]
    for number in range(12):
        slack.fake.message(f"Remark {number}", channel=channel, mention=False, thread=top)
    slack.fake.message(VOLTAGE, channel=channel, mention=False, thread=top)
    (answer,) = await slack.asked("", channel=channel, thread=top, user="U2")
    assert "4.5 V" in words(answer)


# -- streams ---------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("at_once")
async def test_a_rate_limited_piece_of_a_stream_is_sent_once(slack: Service) -> None:
    slack.fake.limit("chat.startStream", seconds=0.05)
    slack.fake.limit("chat.appendStream", seconds=0.05)
    await slack.asked(VOLTAGE)
    pieces = [*slack.fake.calls("chat.startStream")[1:], *slack.fake.calls("chat.appendStream")[1:]]
    sent = "".join(chunk["text"] for one in pieces for chunk in one["chunks"])
    assert sent.count("Word Line voltage") == 1


@pytest.mark.usefixtures("at_once")
async def test_a_channel_that_refuses_streams_does_not_stop_streams_elsewhere(slack: Service) -> None:
    slack.fake.refuse("chat.startStream", "restricted_action")
    (answer,) = await slack.asked(VOLTAGE)
    assert "4.5 V" in words(answer)
    slack.fake.heal()
    await slack.asked(VOLTAGE)
    assert len(slack.fake.calls("chat.startStream")) == 2 and slack.fake.calls("chat.stopStream")


@pytest.mark.usefixtures("at_once")
async def test_a_streamed_message_that_cannot_be_updated_is_replaced(slack: Service) -> None:
    slack.fake.refuse("chat.update", "block_mismatch")
    (answer,) = await slack.asked(VOLTAGE)
    assert "|[1]>" in words(answer) and slack.fake.streams == {}


@pytest.mark.usefixtures("at_once")
async def test_an_answer_for_another_workspaces_user_is_streamed_to_that_workspace(slack: Service) -> None:
    await slack.asked(VOLTAGE, user="U8", user_team="T8", is_ext_shared_channel=True)
    (start,) = slack.fake.calls("chat.startStream")
    assert (start["recipient_user_id"], start["recipient_team_id"]) == ("U8", "T8")


# -- texts and forms -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "question"),
    [
        (":wave:", ""),
        (":+1::skin-tone-3:", ""),
        ("What is a PUC? :thinking_face:", "What is a PUC?"),
        ("ratio 1:2:3 at 10:30:00", "ratio 1:2:3 at 10:30:00"),
        ("std::vector::size and a:b:c", "std::vector::size and a:b:c"),
    ],
)
async def test_an_emoji_is_left_out_of_the_question(text: str, question: str) -> None:
    assert read_question(text) == question


async def test_a_mention_with_only_an_emoji_gets_help(slack: Service) -> None:
    (told,) = await slack.asked(":wave:", channel=slack.channel())
    assert "mention me with your question" in words(told)


@pytest.mark.parametrize("letter", ["x", "ä", "한", "🦓", '"', "\\", "&"])
async def test_forms_and_buttons_in_any_script_stay_within_slacks_limits(letter: str) -> None:
    long = letter * 200
    kept = {"t": "t" * 17, "n": 3, "c": "C0123ABCDEF", "ts": "1700000000.000001", "e": False, "o": True, "th": True}
    terms = [
        OtherSenses(f"{n}{long}"[:200], "", Jargon(term="", surface="", context="", expansion=""), [sense])
        for n in range(8)
        for sense in [Sense(n, long, long, long * 3)]
    ]
    for view in (
        build_reason_form(kept),
        build_sense_form(terms, kept),
        build_term_form("the new BLSA", [f"{n} {long}"[:150] for n in range(150)], f"149 {long}"[:150], kept),
    ):
        assert refusals("views.open", {"view": view}) == []
    question = f"What is {letter * 700}?"
    missed = a_result(
        status="query_miss", answer="No.", question=question, misses=[MissedTerm(term="PUX", suggestions=["PUC"])]
    )
    for made in render_messages(missed, MessageContext("https://argot.example.com", public=True)):
        assert refusals("chat.postMessage", made) == []
        if letter not in '"\\':
            assert [name for name in labels(made) if name.startswith("Ask with")]


async def test_the_term_form_preselects_the_channels_context() -> None:
    view = build_term_form("PUC", [f"c{n}" for n in range(150)], "C149", {})
    select = next(block["element"] for block in view["blocks"] if block["block_id"] == "context")
    assert select["initial_option"]["value"] == "c149" and len(select["options"]) == 100


def a_result(**more: Any) -> Any:
    from argot.results import AskResult

    return AskResult(**{"stand_alone_question": "q", "thread": "t1", **more})
