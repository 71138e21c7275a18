"""Tests of Slack's markup and limits, of reading messages, of the manifest and the settings, and of `argot slack`."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from fake_slack import APP_TOKEN, BOT, BOT_TOKEN, FakeSlack
from hypothesis import given, settings
from hypothesis import strategies as st
from repository import ROOT
from slack_rules import refusals

from argot.errors import InvalidSettings
from argot.results import AskResult, Choice, Citation, FoundPassage, MissedTerm, Sentence
from argot.settings import Settings
from argot.slack.app.block_kit import MessageContext, render_messages, render_notice
from argot.slack.app.event_filter import is_question, read_job
from argot.slack.app.job_contents import Meaning, NewsToTell, SenseChosen
from argot.slack.app.lifecycle import is_wanted
from argot.slack.app.manifest import EVENTS, build_manifest
from argot.slack.app.modals import build_reason_form, build_term_form, find_short_form
from argot.slack.app.mrkdwn import escape_streamed, plain, quote_markdown, read_question, split_text
from argot.slack.app.slack_answers import split_effort
from argot.slack.slack_check import SCOPES, check_slack
from argot.slack.store.slack_store import Channel
from argot.ui.cli.main import main

NASTY = st.lists(
    st.sampled_from([
        "<", ">", "&", "`", "```", "\n", "@channel", "@here", "<!channel>", "<@U1>", "[a](http://x.y)", "http://x.y",
        "|", "**", "*", "_", "# ", "- ", "word ", "&amp;", "www.x.y", "\\", "<https://x.y|[1]>",
        "é", "🦓", "~~~", "\x00",
    ]),
    max_size=40,
).map("".join)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "question", "effort"),
    [
        ("thorough: what is the limit?", "what is the limit?", "thorough"),
        ("Quick : who cooks?", "who cooks?", "quick"),
        ("what is thorough: a word?", "what is thorough: a word?", None),
        ("thorough:", "thorough:", None),
    ],
)
def test_a_word_in_front_of_a_question_chooses_the_effort(text: str, question: str, effort: str | None) -> None:
    assert split_effort(text) == (question, effort)


# -- text ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("markdown", "mrkdwn"),
    [
        ("**bold** and *italic*", "*bold* and _italic_"),
        ("# Heading\ntext", "*Heading*\ntext"),
        ("- one\n- two", "• one\n• two"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "a  |  b\n\n1  |  2"),
        ("a < b && c > d", "a &lt; b &amp;&amp; c &gt; d"),
        ("`x < 1`", "`x &lt; 1`"),
        ("```python\nx < 1\n```", "```\nx &lt; 1\n```"),
        ("[words](http://a.b/c)", "words (`http://a.b/c`)"),
        ("see http://a.b/c.", "see `http://a.b/c`."),
        ("![alt](http://a.b/c.png)", "alt (image)"),
        ("C++, x4 and a_b_c, 2*3*4", "C++, x4 and a_b_c, 2*3*4"),
        (r"\*not bold\*", "*not bold*"),
    ],
)
def test_markdown_becomes_mrkdwn(markdown: str, mrkdwn: str) -> None:
    assert quote_markdown(markdown) == mrkdwn


@given(NASTY)
@settings(max_examples=300, deadline=None)
def test_no_text_contains_active_markup(text: str) -> None:
    for shown in (quote_markdown(text), plain(text), escape_streamed(text)):
        assert "<" not in shown and ">" not in shown
        assert not re.search(r"@(?:channel|here|everyone)\b", shown)
        assert not re.search(r"&(?!amp;|lt;|gt;)", shown)
        assert "\x00" not in shown
    assert "](" not in escape_streamed(text) and quote_markdown(text).count("```") % 2 == 0


@given(NASTY.map(lambda text: quote_markdown(text * 60)), st.integers(60, 400))
@settings(max_examples=200, deadline=None)
def test_a_long_text_is_split_within_the_limit_without_loss(text: str, most: int) -> None:
    parts = split_text(text, most)
    assert all(0 < len(part) <= most for part in parts)
    kept = re.sub(r"[\s`]", "", "".join(parts))
    assert kept == re.sub(r"[\s`]", "", text)
    assert not any(re.search(r"&(?!amp;|lt;|gt;)", part) for part in parts)


def test_splitting_a_text_keeps_its_links_whole() -> None:
    marked = "Twelve words stand here before the mark that follows them, always. <https://a.example/b?c=1-2|[1]> "
    for most in range(100, 200, 7):
        for part in split_text(marked * 20, most):
            assert part.count("<") == part.count(">") == part.count("|[1]>")


@pytest.mark.parametrize(
    ("text", "question"),
    [
        (f"<@{BOT}> What is a *PUC*?", "What is a PUC?"),
        (f"<@{BOT}|argot>: what is `a_b`?", ": what is a_b?"),
        ("Did <@U5> ask <!here> in <#C1|general> <https://x.y|this>?", "Did a colleague ask here in general this?"),
        ("a &lt; b &amp;&amp; C++ &amp;lt;", "a < b && C++ &lt;"),
        ("x_y_z and 2*3*4 and ~old~", "x_y_z and 2*3*4 and old"),
    ],
)  # fmt: skip
def test_the_question_is_read_from_a_message(text: str, question: str) -> None:
    assert read_question(text, BOT) == question


@pytest.mark.parametrize(
    "text", ["What is PUC?", "hi, how do I trim a drive", "so can we file it late", "PUC, anybody?"]
)
def test_questions_are_recognised(text: str) -> None:
    assert is_question(text)


@pytest.mark.parametrize("text", ["Done.", "is it", "The PUC is high", "see https://x.y/?a=b for it", "thanks!"])
def test_remarks_are_not_taken_for_questions(text: str) -> None:
    assert not is_question(text)


def test_an_app_mention_counts_before_the_bots_name_is_known() -> None:
    event = {"type": "app_mention", "channel": "C1", "user": "U1", "ts": "1.1", "text": f"<@{BOT}> What?"}
    job = read_job({"event": event, "team_id": "T1"}, "", Channel("C1"))
    assert job is not None and job.text == "What?"
    twin = {**event, "type": "message"}
    assert read_job({"event": twin}, "", Channel("C1")) is None
    known = {"event": twin, "authorizations": [{"user_id": BOT, "is_bot": True}]}
    assert read_job(known, "", Channel("C1")) is not None


@pytest.mark.parametrize(
    "body", [{}, {"event": None}, {"event": {"type": "message"}}, {"event": {"user": "U1", "ts": "1"}}]
)
def test_an_incomplete_event_gives_no_job(body: dict[str, Any]) -> None:
    assert read_job(body, BOT, Channel("C1")) is None


# -- blocks ----------------------------------------------------------------------------------------------------------


def passage(n: int, text: str = "words", document: str = "a <b>.pdf") -> FoundPassage:
    return FoundPassage(
        n=n, passage_id=f"p{n}", document=document, uri="", page=n, heading="H & h", text=text, score=1.0
    )  # fmt: skip


def result(**more: Any) -> AskResult:
    given: dict[str, Any] = {
        "question": "q", "stand_alone_question": "q", "status": "answered", "thread": "t1", "answer": "", **more
    }  # fmt: skip
    return AskResult(**given)


def long_result(sentences: int, words: int) -> AskResult:
    cited = [
        Sentence(
            text=f"Sentence {n} " + "says & says " * words + ".", supported=True,
            citations=[
                Citation(n=n, passage_id=f"p{n}", document="a", revision="r", page=1, heading="", span=(n, 9), score=1)
            ],
        )
        for n in range(1, sentences + 1)
    ]  # fmt: skip
    passages = [passage(n) for n in range(1, sentences + 1)]
    return result(answer=" ".join(one.text for one in cited), sentences=cited, passages=passages, notes=["n" * 4000])


@pytest.mark.parametrize(("sentences", "words"), [(1, 1), (3, 400), (60, 30), (400, 3), (2, 4000)])
@pytest.mark.parametrize("web", ["", "https://argot.example.com"])
def test_answers_of_any_length_stay_within_slacks_limits(sentences: int, words: int, web: str) -> None:
    made = render_messages(long_result(sentences, words), MessageContext(web, public=True))
    for message in made:
        assert refusals("chat.postMessage", message) == []
        assert 0 < len(message["text"]) <= 3000
    shown = json.dumps(made)
    assert all(f"Sentence {n} " in shown for n in range(1, sentences + 1))
    assert ["context_actions" in json.dumps(message) for message in made] == [False] * (len(made) - 1) + [True]


def test_a_stored_job_is_read_also_from_an_older_versions_form() -> None:
    chosen, news = (
        SenseChosen("PUC", 3),
        NewsToTell("PUC", "What is a PUC?", (Meaning("Peripheral Under Cell", "NAND"),)),
    )
    assert SenseChosen.from_text(chosen.text) == chosen and NewsToTell.from_text(news.text) == news
    senses = [{"id": 7, "term": "PUC", "expansion": "Peripheral Under Cell", "context": "NAND", "aliases": []}]
    assert NewsToTell.from_text(json.dumps({"term": "PUC", "question": "What is a PUC?", "senses": senses})) == news


def test_an_unsupported_sentence_is_marked_and_a_page_is_a_link() -> None:
    two = [
        Sentence(text="It is so.", supported=True, citations=[
            Citation(n=1, passage_id="p1", document="a", revision="r", page=1, heading="", span=(0, 9), score=1)
        ]),
        Sentence(text="Perhaps.", supported=False),
    ]  # fmt: skip
    (made,) = render_messages(
        result(answer="It is so. Perhaps.", sentences=two, passages=[passage(1)]), MessageContext("https://a.example")
    )
    text = json.dumps(made, ensure_ascii=False)
    assert "Perhaps. :warning: _no passage supports this_" in text
    assert "<https://a.example/argot/passages/p1/original#page=1|page 1>" in text
    assert "*a &lt;b&gt;.pdf*" in text and "H &amp; h" in text
    assert "only for me" not in text.casefold()


def test_an_unchecked_sentence_is_not_called_unsupported() -> None:
    free = Sentence(text="Perhaps.", supported=False, checked=False)
    (made,) = render_messages(result(answer="Perhaps.", sentences=[free]), MessageContext("https://a.example"))
    text = json.dumps(made, ensure_ascii=False)
    assert "Perhaps." in text and "no passage supports" not in text


def test_an_excerpt_mentions_nobody_and_contains_no_links() -> None:
    evil = passage(1).model_copy(
        update={"excerpt": "Ask <!channel> or @here, see <http://e.example|this> & www.e.example"}
    )
    (made,) = render_messages(
        result(status="abstained", answer="No.\n[1] x", passages=[evil, passage(2)]), MessageContext()
    )
    assert refusals("chat.postMessage", made) == []
    first, second, third = made["blocks"][1]["elements"][0]["text"].split("\n")
    assert second == (
        "“Ask &lt;!channel&gt; or @\u2060here, see &lt;http:\u2060//e.example|this&gt; &amp; www\u2060.e.example”"
    )
    assert first.startswith("[1] ") and third.startswith("[2] ")


def test_small_talk_lists_documents_and_shows_examples_as_buttons() -> None:
    listed = "I answer from 2 documents:\n- <a>.md: @here\n- b.txt"
    (message,) = render_messages(result(status="small_talk", answer=listed), MessageContext())
    assert message["blocks"][0]["text"]["text"] == (
        f"I answer from 2 documents:\n• {plain('<a>.md: @here')}\n• {plain('b.txt')}"
    )
    greeted = result(status="small_talk", answer="Hello.\nYou could ask:\n- What?", examples=["What?"])
    (message,) = render_messages(greeted, MessageContext())
    assert message["blocks"][0]["text"]["text"] == "Hello."


def test_choices_and_suggestions_become_buttons_within_slacks_limits() -> None:
    choices = [Choice(answer=f"term:{'x' * size}", term="x" * size) for size in (5, 300, 5000)]
    (made,) = render_messages(result(status="needs_choice", answer="Which?", choices=choices), MessageContext())
    assert refusals("chat.postMessage", made) == []
    assert [one["action_id"] for block in made["blocks"] for one in block.get("elements", ())] == [
        "argot_choose_1",
        "argot_choose_2",
    ]
    missed = result(
        status="query_miss", answer="No PUX.", question="What is PUX?",
        misses=[MissedTerm(term="PUX", suggestions=["PUC"])],
    )  # fmt: skip
    (made,) = render_messages(missed, MessageContext())
    assert json.loads(made["blocks"][1]["elements"][0]["value"])["q"] == "What is PUC?"


def test_documents_to_choose_from_become_buttons_with_inactive_titles() -> None:
    choices = [
        Choice(answer="document:p1", term="", expansion="Router <!channel> R1"),
        Choice(answer="document:p2", term="", expansion="Router R7"),
        Choice(answer="anyway", term=""),
    ]
    (made,) = render_messages(
        result(status="needs_choice", answer="“the router” fits.\n", choices=choices), MessageContext()
    )
    assert refusals("chat.postMessage", made) == []
    assert "<!channel>" not in made["blocks"][0]["text"]["text"]
    buttons = [one for block in made["blocks"] for one in block.get("elements", ())]
    assert [json.loads(one["value"])["c"] for one in buttons[:3]] == ["document:p1", "document:p2", "anyway"]
    assert buttons[1]["text"]["text"] == "2. Router R7" and buttons[2]["text"]["text"] == "3. Answer anyway"


def test_forms_stay_within_slacks_limits() -> None:
    for view in (build_reason_form({}), build_term_form("x" * 9000, [f"c{n}" * 60 for n in range(150)], "c0", {})):
        assert refusals("views.open", {"view": view}) == []
    assert find_short_form("the new BLSA of nand <@U1>") == "BLSA"
    assert find_short_form("nothing here") == ""
    assert render_notice("x" * 7000)["blocks"][2]


# -- setup -----------------------------------------------------------------------------------------------------------


def test_the_shipped_manifest_equals_the_printed_one() -> None:
    shipped = (ROOT / "deploy" / "slack" / "manifest.yaml").read_text("utf-8")
    assert shipped == build_manifest()
    made = yaml.safe_load(build_manifest("https://argot.example.com/"))
    assert made["oauth_config"]["scopes"]["bot"] == list(SCOPES)
    assert made["settings"]["event_subscriptions"]["bot_events"] == list(EVENTS)
    assert made["settings"]["interactivity"]["request_url"] == "https://argot.example.com/slack/events"
    # New apps have Slack's view for agents; manifests with the older assistant view are refused.
    assert set(made["features"]) == {"agent_view", "app_home", "bot_user", "shortcuts", "slash_commands"}
    assert {"app_home_opened", "app_context_changed", "message.im"} <= set(EVENTS)
    assert made["settings"]["socket_mode_enabled"] is False and "user" not in made["oauth_config"]["scopes"]
    page = (ROOT / "slack" / "README.md").read_text("utf-8")
    assert all(f"`{scope}`" in page for scope in SCOPES)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"slack_app_token": "xapp-1"}, "slack_bot_token"),
        ({"slack_signing_secret": "s"}, "slack_bot_token"),
        ({"slack_bot_token": "xoxb-1"}, "slack_app_token.*slack_signing_secret"),
    ],
)
def test_incomplete_slack_settings_are_refused(given: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidSettings, match=message):
        is_wanted(Settings(**given))  # type: ignore[arg-type]


def test_the_slack_extra_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["optional-dependencies"]["slack"][0].startswith("slack-bolt==")


async def test_the_check_names_each_fault_and_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    import asyncio

    fake = await FakeSlack().start()

    async def found(**more: Any) -> str:
        given: Any = {"slack_bot_token": BOT_TOKEN, "slack_api_url": fake.url, **more}
        return json.dumps(await asyncio.to_thread(check_slack, Settings(**given)))

    fake.scopes = ",".join(SCOPES[1:])
    assert f"missing: {SCOPES[0]}" in await found(slack_app_token=APP_TOKEN)
    fake.scopes = ",".join(SCOPES)
    assert '"ok": false' not in await found(slack_app_token=APP_TOKEN)
    assert "ARGOT_PUBLIC_URL" in await found(slack_signing_secret="s")
    assert "https://a.example/slack/events" in await found(slack_signing_secret="s", public_url="https://a.example/")
    fake.refuse("apps.connections.open", "invalid_auth")
    assert "ARGOT_SLACK_APP_TOKEN" in await found(slack_app_token=APP_TOKEN)
    fake.refuse("auth.test", "account_inactive")
    told = await found(slack_app_token=APP_TOKEN)
    assert "account_inactive" in told and BOT_TOKEN not in told
    await fake.close()
    assert "reach slack.com" in await found(slack_app_token=APP_TOKEN)


def test_the_command_line_manages_channels_and_people(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ARGOT_HOME", str(tmp_path / "kb"))

    def argot(*arguments: str, code: int = 0) -> str:
        with pytest.raises(SystemExit) as ended:
            main(list(arguments))
        said = capsys.readouterr()
        assert ended.value.code == code, said
        return said.out + said.err

    argot("init")
    argot("user", "add", "ann")
    said = argot("slack", "channel", "set", "C0123ABC", "--mode", "questions", "--group", "hr")
    assert "C0123ABC: questions, replies thread" in said and "may be read by: hr" in said
    argot("slack", "channel", "set", "C0123ABC", "--profile", "strict", "--group", "")
    (made,) = json.loads(argot("slack", "channel", "list", "--json"))
    assert (made["mode"], made["groups"], made["profile"]) == ("questions", [], "strict")
    for wrong in (
        ["general"],
        ["C1", "--mode", "loud"],
        ["C0123ABC", "--context", "None"],
        ["C0123ABC", "--profile", "x"],
    ):
        assert "argot:" in argot("slack", "channel", "set", *wrong, code=1)
    argot("slack", "channel", "forget", "C0123ABC")
    assert json.loads(argot("slack", "channel", "list", "--json")) == []
    argot("slack", "people", "link", "U0123ABC", "ann", "--team", "T0123ABC")
    assert json.loads(argot("slack", "people", "list", "--json"))[0]["user"] == "ann"
    assert "argot user add" in argot("slack", "people", "link", "U0123ABC", "bob", "--team", "T0123ABC", code=1)
    assert "--team" in argot("slack", "people", "link", "U0123ABC", "ann", code=1)
    argot("slack", "people", "unlink", "U0123ABC", "--team", "T0123ABC")
    assert "argot slack people list" in argot("slack", "people", "unlink", "U0123ABC", "--team", "T0123ABC", code=1)
    assert yaml.safe_load(argot("slack", "manifest"))["settings"]["socket_mode_enabled"] is True
    assert "not set up" in argot("slack", "check")
