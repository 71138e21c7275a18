"""Tests of the API of the real application: OpenAI's own client, questions and events, keys, roles, files, limits."""

import asyncio
import io
import json
import shutil
import zipfile
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
import pytest_asyncio
from api_site import URL, Site, answer_with, hang_up
from tiny_base import close_base, open_base

from argot.errors import UnusableModel
from argot.results import AskEvent
from argot.service.admission_control import Gate, Limits
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases import catalogue
from argot.service.usecases.documents import uploads
from argot.settings import Settings
from argot.types import Principal

pytestmark = pytest.mark.asyncio(loop_scope="module")
ADMIN = Principal("local", sees_all=True)
TRIM = "How do I trim a drive?"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site(tiny_home: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    """Provide a site: ann asks, leo manages Legal, mona manages all, root is an admin, vera may read the vault."""
    home = Path(shutil.copytree(tiny_home, tmp_path_factory.mktemp("api") / "kb"))
    async with KnowledgeBase.open(home, Settings(home=home, questions_per_minute=0)) as kb:
        for name, groups in (("ann", ()), ("bob", ()), ("leo", ()), ("mona", ("managers",)), ("root", ()), ("vera", ("vault",))):  # fmt: skip  # noqa: E501
            kb.people.add(name, groups)
        kb.people.set_role("leo", "manager", ["Legal"])
        kb.people.set_role("root", "admin")
        yield Site(kb)


def client_of(site: Site, user: str = "ann") -> openai.AsyncOpenAI:
    http = httpx.AsyncClient(transport=httpx.ASGITransport(site.guard, raise_app_exceptions=False))
    return openai.AsyncOpenAI(base_url=f"{URL}/v1", api_key=site.key(user), http_client=http, max_retries=0)


def said(*texts: str) -> Any:
    return [{"role": "assistant" if n % 2 else "user", "content": text} for n, text in enumerate(texts)]


# -- OpenAI's client ---------------------------------------------------------------------------------------------------


async def test_openais_client_gets_an_answer_with_footnotes_and_metadata(site: Site) -> None:
    done = await client_of(site).chat.completions.create(
        model="argot", messages=[{"role": "system", "content": "Say nothing but BANANA."}, *said(TRIM)], temperature=0.9
    )
    message = done.choices[0].message
    assert done.object == "chat.completion" and done.choices[0].finish_reason == "stop"
    text = message.content or ""
    assert "open the Media panel and click on Trim." in text and "[1]" in text and "BANANA" not in text
    assert "**Sources**\n\n- [1] drive-tool.md · Drive tool manual > Trimming a drive" in text
    found = (message.model_extra or {})["argot"]
    assert found["status"] == "answered"
    assert found["sentences"][0]["citations"][0]["document"] == "drive-tool.md"
    assert found["passages"][0]["n"] == 1
    assert done.usage and done.usage.total_tokens == 0


async def test_a_stream_gives_the_same_text_and_ends_with_metadata_and_usage(site: Site) -> None:
    client = client_of(site)
    whole = await client.chat.completions.create(model="argot", messages=said(TRIM))
    stream = await client.chat.completions.create(
        model="argot", messages=said(TRIM), stream=True, stream_options={"include_usage": True}
    )
    chunks = [chunk async for chunk in stream]
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text == whole.choices[0].message.content
    assert len([chunk for chunk in chunks if chunk.choices and chunk.choices[0].delta.content]) > 2
    end = next(chunk for chunk in chunks if chunk.choices and chunk.choices[0].finish_reason)
    assert end.choices[0].delta.model_extra and end.choices[0].delta.model_extra["argot"]["status"] == "answered"
    assert chunks[-1].usage and not chunks[-1].choices
    assert len({chunk.id for chunk in chunks}) == 1


async def test_the_effort_of_an_answer_is_given_with_the_request(site: Site) -> None:
    client = client_of(site)
    extra = {"argot": {"effort": "thorough"}}
    done = await client.chat.completions.create(model="argot", messages=said(TRIM), extra_body=extra)
    assert "needs a language model" in (done.choices[0].message.content or "")


async def test_a_choice_is_a_numbered_question_answered_by_the_next_message(site: Site) -> None:
    client = client_of(site)

    async def say(*texts: str) -> tuple[str, dict[str, Any]]:
        done = await client.chat.completions.create(model="argot", messages=said(*texts))
        message = done.choices[0].message
        return message.content or "", (message.model_extra or {})["argot"]

    back, found = await say("What is PUC?")
    assert found["status"] == "needs_choice" and len(found["choices"]) == 3
    assert "1. " in back and "2. " in back and "Answer with a number" in back
    number = next(n for n, one in enumerate(found["choices"], 1) if one["context"] == "Legal")
    for reply in (str(number), "the legal one", f"Number {number}."):
        text, found = await say("What is PUC?", back, reply)
        assert found["status"] == "answered", text
        assert [one["expansion"] for one in found["jargon"]] == ["Public Utilities Commission"]
        assert "- PUC: Public Utilities Commission (Legal)" in text
    # The choice is remembered as far as the messages contain it.
    more, found = await say("What is PUC?", back, str(number), text, "When must a tariff be filed with the PUC?")
    assert found["status"] == "answered" and "30 days" in more
    assert [one["context"] for one in found["jargon"]] == ["Legal"]
    # A message that is no answer to the choice is a new question.
    text, found = await say("What is PUC?", back, TRIM)
    assert "click on Trim" in text
    # The error for a number that was not offered names the possible ones.
    with pytest.raises(openai.BadRequestError, match="There is no choice 9"):
        await say("What is PUC?", back, "9")


@pytest_asyncio.fixture(loop_scope="module")
async def routers(tiny_home: Path, tmp_path: Path) -> AsyncIterator[Site]:
    """Provide a site where ann asks, with documents on two routers that differ."""
    home = Path(shutil.copytree(tiny_home, tmp_path / "kb"))
    base = open_base(home)
    for name, seconds in (("R1", 10), ("R7", 30)):
        base.add(f"{name}.md", f"# Router {name}\n\nTo reset the router, hold its button for {seconds} seconds.\n")
    close_base(base)
    async with KnowledgeBase.open(home, Settings(home=home, questions_per_minute=0)) as kb:
        kb.people.add("ann", ())
        yield Site(kb)


async def test_an_ambiguous_document_is_asked_about_and_chosen(routers: Site) -> None:
    question = "How do I reset the router?"
    async with routers.program() as ann:
        asked = (await ann.post("/api/ask", json={"question": question})).json()
        assert asked["status"] == "needs_choice"
        choice = next(one["answer"] for one in asked["choices"] if one["expansion"] == "Router R7")
        done = (await ann.post("/api/answer", json={"thread": asked["thread"], "choice": choice})).json()
        assert done["status"] == "answered" and "30 seconds" in done["answer"]
        assert {one["document"] for sentence in done["sentences"] for one in sentence["citations"]} == {"R7.md"}
        other = {"question": "And the other one?", "thread": asked["thread"]}
        assert "10 seconds" in (await ann.post("/api/ask", json=other)).json()["answer"]
        switched = {"question": question, "switches": {"choose_document": False}}
        assert (await ann.post("/api/ask", json=switched)).json()["status"] == "answered"
    client = client_of(routers)
    first = await client.chat.completions.create(model="argot", messages=said(question))
    back = first.choices[0].message.content or ""
    assert "1. Router R" in back and "3. answer anyway" in back
    for reply in ("R7", "answer anyway"):
        done = await client.chat.completions.create(model="argot", messages=said(question, back, reply))
        text = done.choices[0].message.content or ""
        assert "seconds" in text and ("30 seconds" in text or reply != "R7")
    # For later follow-ups a choice does not count as a question.
    talk = said(question, back, "R7", "Hold its button for 30 seconds.", "Why?")
    found = (await client.chat.completions.create(model="argot", messages=talk)).choices[0].message.model_extra or {}
    assert found["argot"]["stand_alone_question"].startswith(question)


async def test_a_follow_up_is_understood_by_the_messages_before_it(site: Site) -> None:
    client = client_of(site)
    first = await client.chat.completions.create(model="argot", messages=said(TRIM))
    text = first.choices[0].message.content or ""
    more = await client.chat.completions.create(model="argot", messages=said(TRIM, text, "How long does it take?"))
    found = (more.choices[0].message.model_extra or {})["argot"]
    assert "trim" in found["stand_alone_question"].casefold()
    assert "40 seconds" in (more.choices[0].message.content or "")


async def test_a_saved_profile_is_offered_as_a_model(site: Site) -> None:
    lab = {"name": "lab-1", "switches": {"passages": 1}, "about": "Lab"}
    async with site.program("mona") as http:
        saved = (await http.post("/api/profiles", json=lab)).json()
        assert saved["changed"] == {"passages": 1} and "\npassages = 1\n" in saved["toml"]
        assert (await http.post("/api/profiles", json=lab)).status_code == 409
    async with site.program() as http:
        assert {"lab-1", "strict"} <= {one["name"] for one in (await http.get("/api/profiles")).json()}
        assert (await http.get("/api/profiles/lab-1")).json()["about"] == "Lab"
        assert (await http.post("/api/profiles", json={"name": "x"})).status_code == 403
        for asked in ({"profile": "lab-1"}, {"switches": {"passages": 1}}):
            found = (await http.post("/api/ask", json={"question": TRIM, **asked})).json()
            assert (found["status"], len(found["passages"])) == ("answered", 1)
    client = client_of(site)
    assert (await client.models.retrieve("argot-lab-1")).model_extra == {"description": "Lab"}
    done = await client.chat.completions.create(model="argot-lab-1", messages=said(TRIM))
    assert (done.choices[0].message.model_extra or {})["argot"]["status"] == "answered"


async def test_a_conversation_of_a_program_leaves_no_thread(site: Site) -> None:
    before = await catalogue.get_result(site.kb, Principal("bob"), "thread_list")
    await client_of(site, "bob").chat.completions.create(model="argot", messages=said("What is PUC?"))
    assert await catalogue.get_result(site.kb, Principal("bob"), "thread_list") == before == []
    from argot.service.usecases.questions.conversations import make_memory_graph

    assert not (await make_memory_graph(site.kb)).checkpointer.storage  # type: ignore[union-attr]


async def test_models_are_profiles_and_an_unknown_model_is_an_error(site: Site) -> None:
    client = client_of(site)
    names = [model.id async for model in client.models.list()]
    assert names[0] == "argot" and {"argot-strict", "argot-extractive", "argot-plain-rag"} <= set(names)
    assert (await client.models.retrieve("argot-strict")).owned_by == "argot"
    with pytest.raises(openai.NotFoundError):
        await client.models.retrieve("gpt-4o")
    with pytest.raises(openai.NotFoundError) as refused:
        await client.chat.completions.create(model="gpt-4o", messages=said(TRIM))
    assert refused.value.code == "model_not_found" and "argot-strict" in str(refused.value)
    strict = await client.chat.completions.create(model="argot-strict", messages=said("What is the QZX?"))
    assert (strict.choices[0].message.model_extra or {})["argot"]["status"] == "query_miss"


@pytest.mark.parametrize(
    ("more", "param"),
    [
        ({"n": 2}, "n"),
        ({"tools": [{"type": "function", "function": {"name": "f"}}]}, "tools"),
        ({"logprobs": True}, "logprobs"),
        ({"response_format": {"type": "json_object"}}, "response_format"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]}, "messages"),
        ({"messages": [{"role": "system", "content": "x"}]}, "messages"),
    ],
)  # fmt: skip
async def test_unsupported_options_are_refused_rather_than_ignored(
    site: Site, more: dict[str, Any], param: str
) -> None:
    given: dict[str, Any] = {"model": "argot", "messages": said(TRIM), **more}
    with pytest.raises(openai.BadRequestError) as refused:
        await client_of(site).chat.completions.create(**given)
    assert refused.value.param == param and refused.value.type == "invalid_request_error"


async def test_an_image_in_an_earlier_message_does_not_end_the_conversation(site: Site) -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    before = [{"role": "user", "content": [{"type": "text", "text": "What is on this?"}, picture]}]
    before += [{"role": "user", "content": [picture]}, {"role": "assistant", "content": "I cannot see pictures."}]
    given: Any = [*before, *said(TRIM)]
    answer = await client_of(site).chat.completions.create(model="argot", messages=given)
    assert "Media panel" in str(answer.choices[0].message.content)


async def test_too_many_pictures_or_characters_are_refused_in_plain_words(site: Site) -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    given: Any = [{"role": "user", "content": [{"type": "text", "text": "What is on these?"}, *[picture] * 12]}]
    with pytest.raises(openai.BadRequestError, match=r"The message has 12 pictures\. Send at most 10\."):
        await client_of(site).chat.completions.create(model="argot", messages=given)
    async with site.program() as ann:
        answer = await ann.post("/api/glossary/suggestions", json={"term": "PUC", "description": "x" * 20_001})
        many = await ann.post("/api/ask", json={"question": TRIM, "tags": ["a"] * 101})
    assert "description has 20,001 characters, and may have 20,000" in answer.text
    assert "tags has 101 entries, and may have 100" in many.text
    assert (answer.status_code, many.status_code) == (422, 422)


async def test_the_first_question_of_a_long_conversation_is_not_invented(site: Site) -> None:
    client, last = client_of(site), "What did I ask first?"
    few: Any = said("What is a WL?", "A Word Line.", last)
    answer = await client.chat.completions.create(model="argot", messages=few)
    assert "“What is a WL?”" in str(answer.choices[0].message.content)
    many: Any = said(*["What is a WL?", "A Word Line."] * 12, last)
    answer = await client.chat.completions.create(model="argot", messages=many)
    assert "no longer have that part of it" in str(answer.choices[0].message.content)


async def test_errors_have_openais_form_and_classes(site: Site) -> None:
    client = client_of(site)
    with pytest.raises(openai.BadRequestError, match="holds no words"):
        await client.chat.completions.create(model="argot", messages=said("?!"))
    with pytest.raises(openai.BadRequestError, match="holds no words"):
        await client.chat.completions.create(model="argot", messages=said("?!"), stream=True)
    with pytest.raises(openai.BadRequestError, match="not the user's"):
        await client.chat.completions.create(model="argot", messages=said(TRIM, "Hm."))
    with pytest.raises(openai.BadRequestError):
        await client.chat.completions.create(model="argot", messages=[])
    with pytest.raises(openai.NotFoundError, match="no context"):
        extra = {"argot": {"context": "Nowhere"}}
        await client.chat.completions.create(model="argot", messages=said(TRIM), extra_body=extra)
    wrong = client.with_options(api_key="argot_wrong")
    with pytest.raises(openai.AuthenticationError, match="argot key add NAME"):
        await wrong.models.list()
    with pytest.raises(openai.AuthenticationError, match="argot key add NAME"):
        await client.with_options(api_key="sk-other").models.list()


# -- Argot's own question API ------------------------------------------------------------------------------------------


async def test_a_question_returns_the_whole_result_and_its_thread_continues(site: Site) -> None:
    async with site.program() as ann:
        asked = (await ann.post("/api/ask", json={"question": "What is PUC?"})).json()
        assert asked["status"] == "needs_choice" and asked["thread"]
        choice = next(one["answer"] for one in asked["choices"] if one["context"] == "NAND")
        done = (await ann.post("/api/answer", json={"thread": asked["thread"], "choice": choice})).json()
        assert done["status"] == "answered" and done["jargon"][0]["expansion"] == "Peripheral Under Cell"
        again = await ann.post("/api/answer", json={"thread": asked["thread"], "choice": choice})
        assert again.status_code == 409
        more = (await ann.post("/api/ask", json={"question": "How much die area?", "thread": asked["thread"]})).json()
        assert more["thread"] == asked["thread"]
        kept = (await ann.get(f"/api/threads/{asked['thread']}")).json()
        assert [turn["question"] for turn in kept["turns"]] == ["What is PUC?", "How much die area?"]
        said_of_it = {"turn": 0, "value": -1, "comment": "meh"}
        assert (await ann.post(f"/api/threads/{asked['thread']}/feedback", json=said_of_it)).json()["value"] == -1
        renamed = await ann.patch(f"/api/threads/{asked['thread']}", json={"title": "Cells"})
        assert renamed.json()["title"] == "Cells"
        assert (await ann.delete(f"/api/threads/{asked['thread']}")).status_code == 200
        assert (await ann.get(f"/api/threads/{asked['thread']}")).status_code == 404


async def test_events_report_each_stage_and_end_with_the_result(site: Site) -> None:
    async with site.program(Accept="text/event-stream") as ann:
        answer = await ann.post("/api/ask", json={"question": TRIM})
        assert answer.headers["content-type"].startswith("text/event-stream")
        events = [event.split("\n", 1) for event in answer.text.strip().split("\n\n")]
        kinds = [kind.removeprefix("event: ") for kind, _ in events]
        told = [json.loads(data.removeprefix("data: ")) for _, data in events]
        assert {"stage", "token", "result"} == set(kinds) and kinds[-1] == "result"
        assert told[0]["name"] == "stand_alone"
        assert "".join(one["text"] for kind, one in zip(kinds, told, strict=True) if kind == "token")
        assert told[-1]["status"] == "answered"
        refused = await ann.post("/api/ask", json={"question": TRIM, "thread": "t0"})
        assert refused.status_code == 404 and refused.json()["error"]["type"] == "not_found_error"


async def test_search_finds_passages_without_asking_back(site: Site) -> None:
    async with site.program() as ann:
        found = (await ann.post("/api/search", json={"query": "What is PUC?", "limit": 3})).json()
    assert 0 < len(found["passages"]) <= 3 and found["jargon"][0]["term"] == "PUC"
    assert {"passage_id", "document", "uri", "heading", "text", "score"} <= found["passages"][0].keys()


async def test_a_model_that_cannot_be_used_is_explained_without_the_folders_of_the_service(
    site: Site, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    folder = "/srv/canary/models"

    async def ask_without_model(*given: Any, **more: Any) -> AsyncIterator[AskEvent]:
        raise UnusableModel(f"The embedding model in {folder} cannot be prepared: no room.")
        yield  # makes this function a generator

    async def fail_later(*given: Any, **more: Any) -> AsyncIterator[AskEvent]:
        yield AskEvent("stage", "retrieve")
        raise UnusableModel(f"The embedding model in {folder} cannot be prepared: no room.")

    async with site.program() as ann:
        for failing in (ask_without_model, fail_later):
            answer_with(monkeypatch, failing)
            answers = [
                await ann.post("/api/ask", json={"question": TRIM}),
                await ann.post("/api/ask", json={"question": TRIM}, headers={"Accept": "text/event-stream"}),
                await ann.post("/v1/chat/completions", json={"messages": said(TRIM)}),
            ]
            streams_begun = 1 if failing is fail_later else 0
            assert [one.status_code for one in answers].count(503) == 3 - streams_begun
            for one in answers:
                assert "canary" not in one.text and UnusableModel.elsewhere in one.text
    assert folder in caplog.text


async def test_a_damaged_profile_is_named_without_the_folder_of_the_service(site: Site) -> None:
    profiles = site.kb.home / "profiles"
    profiles.mkdir(exist_ok=True)
    (profiles / "torn.toml").write_text("rerank = ")
    async with site.program() as ann:
        answer = await ann.post("/api/ask", json={"question": TRIM, "profile": "torn"})
    (profiles / "torn.toml").unlink()
    message = answer.json()["error"]["message"]
    assert answer.status_code == 400 and "torn.toml cannot be used. It is not valid TOML" in message
    assert str(site.kb.home) not in message


async def test_invalid_questions_are_refused(site: Site) -> None:
    async with site.program() as ann:
        for given, status in (
            ({}, 422), ({"question": 1}, 422), ({"question": "x", "nonsense": 1}, 422), ({"question": "  "}, 400),
            ({"question": TRIM, "context": "Nowhere"}, 404), ({"question": TRIM, "profile": "nowhere"}, 400),
            ({"question": "a" * 5000}, 400), ({"question": "\ud800", "context": "\ud800"}, 422),
        ):  # fmt: skip
            body = json.dumps(given)
            answer = await ann.post("/api/ask", content=body, headers={"Content-Type": "application/json"})
            assert answer.status_code == status, (given, answer.text)
            assert answer.json()["error"]["message"]
        for body, kind, status in ((b"{", "application/json", 422), (b"question=x", "text/plain", 415)):
            answer = await ann.post("/api/ask", content=body, headers={"Content-Type": kind})
            assert (answer.status_code, set(answer.json())) == (status, {"error"})


async def test_unencodable_text_is_an_error_of_the_client(site: Site) -> None:
    question = {"role": "user", "content": "What is PUC?"}
    async with site.program() as ann:
        for given, status in (
            ({"model": "\ud800", "messages": [question]}, 404),
            ({"messages": [question], "response_format": {"type": "\ud800"}}, 400),
            ({"messages": [{"role": "user", "content": "\ud800?"}]}, 400),
            ({"messages": [question], "n": 10**30}, 400),
        ):
            headers = {"Content-Type": "application/json"}
            answer = await ann.post("/v1/chat/completions", content=json.dumps(given), headers=headers)
            assert answer.status_code == status and answer.json()["error"]["message"]
        for body in ("[" * 100_000, '{"question": "x", "thread": ' + "9" * 5000 + "}", b"\xff\xfe\x00"):
            answer = await ann.post("/api/ask", content=body, headers={"Content-Type": "application/json"})
            assert answer.status_code == 400


async def test_a_long_chain_of_questions_back_is_not_run_again(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    from argot.graph import run

    walked, real = [], run.ask

    def counted(*given: Any, **more: Any) -> Any:
        walked.append(given[2])
        return real(*given, **more)

    monkeypatch.setattr(run, "ask", counted)
    back = "“PUC” means several things here. Which one do you mean?\n1. Peripheral Under Cell (NAND)"
    texts = [text for _ in range(300) for text in ("What is PUC?", back)]
    async with site.program() as ann:
        answer = await ann.post("/v1/chat/completions", json={"messages": said(*texts, "What is PUC?")})
    assert answer.status_code == 200 and 0 < len(walked) <= 4


@pytest.mark.parametrize("path", ["/api/ask", "/v1/chat/completions", "/api/search", "/api/glossary/senses"])
async def test_a_body_of_a_megabyte_is_refused_at_once(site: Site, path: str) -> None:
    """Check scorecard 25 for these addresses: with a declared length, and in chunks without one. Where pictures may be
    sent, twelve are allowed.
    """
    text = "(a+)+$" * (12 * 180_000 if path.startswith("/v1") else 180_000)
    key = "query" if path.endswith("search") else "question"
    given: Any = {"messages": said(text)} if path.startswith("/v1") else {key: text}
    async with site.program("mona") as mona:
        assert (await mona.post(path, json=given)).status_code == 413

        async def pieces() -> AsyncIterator[bytes]:
            whole = json.dumps(given).encode()
            for start in range(0, len(whole), 100_000):
                yield whole[start : start + 100_000]

        headers = {"Content-Type": "application/json"}
        answer = await mona.post(path, content=pieces(), headers=headers)
        assert answer.status_code == 413 and answer.json()["error"]["code"] == "too_large"
        just_below = (
            {**given, key: text[:900_000]} if not path.startswith("/v1") else {"messages": said(text[:900_000])}
        )
        assert (await mona.post(path, json=just_below)).status_code in (400, 422)


async def test_a_rate_limited_client_is_told_when_to_retry(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site.kb.gates, "questions", Gate(Limits.limit_questions(Settings(questions_per_minute=1))))
    async with site.program("bob") as bob:
        assert (await bob.post("/api/ask", json={"question": TRIM})).status_code == 200
        for path, given in (
            ("/api/ask", {"question": TRIM}),
            ("/api/search", {"query": TRIM}),
            ("/v1/chat/completions", {"messages": said(TRIM)}),
            ("/v1/chat/completions", {"messages": said(TRIM), "stream": True}),
        ):
            answer = await bob.post(path, json=given)
            assert answer.status_code == 429 and int(answer.headers["retry-after"]) > 0
            assert answer.json()["error"]["type"] == "rate_limit_error"
        with pytest.raises(openai.RateLimitError):
            await client_of(site, "bob").chat.completions.create(model="argot", messages=said(TRIM))


# -- keys and roles ----------------------------------------------------------------------------------------------------


async def test_requests_without_a_key_are_refused_with_the_remedy(site: Site) -> None:
    async with site.program(None) as nobody:
        for method, path in (("GET", "/v1/models"), ("POST", "/v1/chat/completions"), ("POST", "/api/ask"), ("GET", "/api/me")):  # fmt: skip  # noqa: E501
            answer = await nobody.request(method, path, json={"question": "x"} if method == "POST" else None)
            assert answer.status_code == 401, path
            assert "argot key add NAME" in answer.json()["error"]["message"]
            assert answer.headers["www-authenticate"].startswith("Bearer")
        assert (await nobody.get("/api/nothing")).status_code == 404
        page = await nobody.get("/api/documents", headers={"Accept": "text/html"})
        assert page.status_code == 401 and "set-cookie" not in page.headers, "nor does opening it as a page"
        wrong = await nobody.get("/api/ask")
        assert (wrong.status_code, wrong.headers["allow"]) == (405, "POST")


async def test_a_key_gives_access_to_the_api_only(site: Site) -> None:
    async with site.program("root") as root:
        assert (await root.get("/api/me")).json()["role"] == "admin"
        for method, path in (("GET", "/account"), ("GET", "/glossary"), ("POST", "/account/sign-out-everywhere")):
            answer = await root.request(method, path)
            assert answer.status_code == 403 and "Keys are for the API" in answer.text, path


async def test_a_cookie_without_a_key_needs_origin_and_csrf_token(site: Site) -> None:
    token = site.kb.people.sessions.begin("ann")
    cookie = {"Cookie": f"{site.authenticator.cookie}={token}"}
    async with site.program(None, **cookie) as browser:
        assert (await browser.get("/api/me")).json()["name"] == "ann"
        assert (await browser.post("/api/ask", json={"question": TRIM})).status_code == 403
        own = {"Origin": URL}
        assert (await browser.post("/api/ask", json={"question": TRIM}, headers=own)).status_code == 403
        csrf = {**own, "X-CSRF-Token": site.authenticator._csrf(token)}
        assert (await browser.post("/api/ask", json={"question": TRIM}, headers=csrf)).status_code == 200
        # A cookie beside an invalid key does not make it valid.
        wrong = {"Authorization": "Bearer argot_nothing"}
        assert (await browser.get("/api/me", headers=wrong)).status_code == 401
    async with site.program("ann", Origin="http://evil.example") as foreign:
        assert (await foreign.get("/api/me")).status_code == 403
    async with site.program("ann", Host="evil.example") as rebound:
        assert (await rebound.get("/api/me")).status_code == 421


async def test_the_local_user_needs_a_key_too(site: Site) -> None:
    """Check it because, without a browser's headers, a foreign page and a program look the same."""
    async with site.program("local") as here:
        assert (await here.get("/api/me")).json()["role"] == "admin"
        site.kb.people.database.write("UPDATE users SET password = 'a hash' WHERE name = 'ann'")
        try:
            assert (await here.get("/api/me")).status_code == 401
        finally:
            site.kb.people.database.write("UPDATE users SET password = NULL WHERE name = 'ann'")


async def test_a_revoked_key_is_refused_and_a_suspension_revokes_all(site: Site) -> None:
    people = site.kb.people
    people.add("sue")
    made, token = people.keys.make("sue", "one")
    headers = {"Authorization": f"Bearer {token}"}
    async with site.program("sue") as other, site.program(None, **headers) as sue:
        assert (await sue.get("/api/me")).status_code == 200
        assert people.keys.find(token).used_at  # type: ignore[union-attr]
        people.keys.revoke(made.id)
        assert (await sue.get("/api/me")).status_code == 401
        assert (await other.get("/api/me")).status_code == 200
        people.suspend("sue")
        assert (await other.get("/api/me")).status_code == 401
        people.restore("sue")
        assert (await other.get("/api/me")).status_code == 401, "a key does not come back"


async def test_each_role_may_do_what_it_allows(site: Site) -> None:
    sense = {"term": "QRT", "context": "Legal", "expansion": "Quarterly Rate Table"}
    theirs = {"term": "QRT", "context": "NAND", "expansion": "Quick Read Test"}
    async with site.program("ann") as ann, site.program("leo") as leo, site.program("mona") as mona:
        assert (await ann.post("/api/glossary/senses", json=sense)).status_code == 403
        assert (await leo.post("/api/glossary/senses", json=theirs)).status_code == 403
        assert (await leo.post("/api/glossary/senses", json=sense)).status_code == 200
        assert (await leo.post("/api/contexts", json={"name": "New"})).status_code == 403
        assert (await leo.request("DELETE", "/api/documents/drive-tool.md")).status_code == 403
        for name in (ann, leo):
            assert (await name.post("/api/documents", files={"file": ("x.md", b"# X\n\nText.")})).status_code == 403
        found = (await ann.get("/api/glossary/term", params={"term": "qrt"})).json()
        assert [one["expansion"] for one in found["senses"]] == ["Quarterly Rate Table"]
        number = found["senses"][0]["id"]
        stale = await leo.patch(f"/api/glossary/senses/{number}", json={"version": 99, "notes": "x"})
        assert stale.status_code == 409
        changed = await leo.patch(f"/api/glossary/senses/{number}", json={"version": 1, "notes": "a note"})
        assert (changed.json()["notes"], changed.json()["version"]) == ("a note", 2)
        retired = await mona.post(f"/api/glossary/senses/{number}/retire", json={"version": 2})
        assert retired.json()["status"] == "retired"
        assert (await ann.get("/api/glossary/senses/999999")).status_code == 404
        assert (await ann.get("/api/glossary/senses/x")).status_code == 422
        # What is not approved is for those who manage its context, on every road.
        draft = {"term": "QRT", "context": "Legal", "expansion": "quiet rebate draft"}
        assert (await leo.post("/api/glossary/drafts", json=draft)).status_code == 200
        for path in ("senses", "search?text=qrt", "term?term=QRT", "export?format=csv", "export?format=json"):
            for who, expected in ((ann, False), (leo, True)):
                answer = await who.get(f"/api/glossary/{path}")
                assert answer.status_code == 200
                assert ("quiet rebate draft" in answer.text, "Quarterly Rate" in answer.text) == (expected, expected)
        assert (await ann.get(f"/api/glossary/senses/{number}")).status_code == 404
        exported = await ann.get("/api/glossary/export", params={"format": "csv"})
        assert exported.headers["content-disposition"].startswith("attachment")
        assert "Public Utilities Commission" in exported.text
        text = "term,context,expansion\nZZQ,Tools,Zone Zero Queue\n"
        trial = {"file": ("g.csv", text.encode())}
        looked = await mona.post("/api/glossary/import", files=trial, data={"dry_run": "true"})
        assert looked.json()["counts"]["added"] == 1
        for path, remedy in (
            ("/api/glossary/import?dry_run=true", "in the body"),
            ("/api/terms/check?fromat=sarif", "format"),
        ):
            refused = await mona.post(path, files=trial)
            assert refused.status_code == 422 and remedy in refused.text and "no parameter" in refused.text
        assert (await mona.get("/api/glossary/search?text=zzq")).json() == []
        assert (await mona.get("/api/me?unknown=1")).status_code == 200
        done = await mona.post("/api/glossary/import", files=trial)
        assert done.status_code == 200 and done.json()["change"]
        bad = await mona.post("/api/glossary/import", files={"file": ("g.csv", b"nonsense\n1\n")})
        assert bad.status_code == 400


# -- documents ---------------------------------------------------------------------------------------------------------


def stored(site: Site) -> set[str]:
    return {document.uri for document in site.kb.document_store.documents(ADMIN)}


async def test_a_document_is_added_answers_questions_and_is_removed(site: Site) -> None:
    text = b"# Kettle manual\n\n## Descaling\n\nThe kettle is descaled with citric acid every 6 weeks.\n"
    async with site.program("mona") as mona, site.program("ann") as ann:
        done = await mona.post("/api/documents", files={"file": ("kettle.md", text)}, data={"tags": ["kitchen"]})
        assert (done.status_code, done.json()["kind"]) == (201, "added")
        document = done.json()["document"]
        assert document["name"] == "kettle.md" and document["tags"] == ["kitchen"]
        again = await mona.post("/api/documents", files={"file": ("kettle.md", text)})
        assert (again.status_code, again.json()["kind"]) == (200, "unchanged")
        twin = await mona.post("/api/documents", files={"file": ("copy.md", text)})
        assert (twin.status_code, twin.json()["kind"]) == (200, "duplicate")
        answer = (await ann.post("/api/ask", json={"question": "How often is the kettle descaled?"})).json()
        assert "6 weeks" in answer["answer"]
        assert (await ann.get(f"/api/documents/{document['id']}")).json()["passages"]
        assert "citric" in (await ann.get(f"/api/documents/{document['id']}/markdown")).json()["markdown"]
        original = await ann.get(f"/api/documents/{document['id']}/original")
        assert original.content == text and original.headers["content-type"] == "application/octet-stream"
        assert "sandbox" in original.headers["content-security-policy"]
        passage = answer["sentences"][0]["citations"][0]["passage_id"]
        assert (await ann.get(f"/api/passages/{passage}")).json()["document"] == "kettle.md"
        assert (await ann.delete(f"/api/documents/{document['id']}")).status_code == 403
        assert (await mona.delete(f"/api/documents/{document['id']}")).status_code == 200
        gone = await ann.get(f"/api/documents/{document['id']}")
        assert gone.status_code == 404 and "There is no document" in gone.text and "argot list" not in gone.text
        refused = await ann.post("/api/documents", files={"file": ("kettle.md", text)})
        assert "This address is for a manager of documents" in refused.text


@pytest.mark.parametrize(
    ("name", "becomes"),
    [
        ("../../etc/passwd.md", "passwd.md"), ("/etc/cron.d/x.md", "x.md"), ("C:\\windows\\y.md", "y.md"),
        ("..\\..\\z.md", "z.md"), ("a\x00b.md", "ab.md"), ("%2e%2e%2fq.md", "%2e%2e%2fq.md"),
        ("\u202edm.x.md", "dm.x.md"),
    ],
)  # fmt: skip
async def test_a_file_name_cannot_leave_its_folder(site: Site, name: str, becomes: str) -> None:
    """Check scorecard 14 for uploads."""
    before = set(site.kb.home.parent.rglob("*.md"))
    mona, data = Principal("mona", frozenset({"managers"})), f"# T\n\nWords of {becomes}.".encode()
    uploaded = await catalogue.get_result(site.kb, mona, "upload", name=name, data=data)
    assert uploaded["document"]["name"] == becomes
    assert uploaded["document"]["uri"].startswith("upload://mona/")
    assert set(site.kb.home.parent.rglob("*.md")) == before
    await catalogue.get_result(site.kb, ADMIN, "remove", document=uploaded["document"]["id"])


async def test_an_incomplete_upload_leaves_nothing(site: Site) -> None:
    """Check scorecard 30."""
    before = stored(site)
    head = b'--b\r\nContent-Disposition: form-data; name="file"; filename="half.md"\r\n\r\n# Half\n\nThe first half'
    headers = {
        "Authorization": f"Bearer {site.key('mona')}",
        "Content-Type": "multipart/form-data; boundary=b",
        "Content-Length": "5000",
    }
    for pieces in ([head], [head, b" and more"], []):
        sent = await hang_up(site, "POST", "/api/documents", headers, pieces)
        assert all(message.get("status", 400) >= 400 for message in sent)
    assert stored(site) == before


async def test_an_archive_adds_the_files_in_it_under_their_names(site: Site) -> None:
    packed, name = io.BytesIO(), 'a&b #1?%20 "q".md'
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("fender.md", "# Fender\n\nThe fender is of rubber.")
    async with site.program("mona") as mona:
        done = await mona.post("/api/documents", files={"file": ("parts.zip", packed.getvalue())})
        assert done.status_code == 201, done.text
        assert [one["name"] for one in done.json()["files"]] == ["parts.zip!/fender.md"]
        named = await mona.post("/api/documents", files={"file": (name, b"# Quoted\n\nThe quay is quoted.")})
        assert named.json()["document"]["name"] == name
        for document in (done.json()["files"][0]["document"], named.json()["document"]):
            await mona.delete(f"/api/documents/{document['id']}")


async def test_an_unreadable_file_is_refused_with_the_reason(site: Site) -> None:
    before = stored(site)
    async with site.program("mona") as mona:
        for file, status in (
            (("x.exe", b"MZ\x00\x01"), 415), (("empty.md", b""), 422), (("broken.pdf", b"%PDF-1.7 nothing"), 422),
            (("...", b"# T\n\ntext"), 422), (("....md", b"   "), 422), (("bad.docx", b"PK\x03\x04rubbish"), 422),
        ):  # fmt: skip
            answer = await mona.post("/api/documents", files={"file": file})
            assert answer.status_code == status, (file, answer.text)
        assert (await mona.post("/api/documents", data={"file": "text"})).status_code in (415, 422)
        assert (await mona.post("/api/documents", json={})).status_code == 415
        two = [("file", ("a.md", b"# A\n\none")), ("file", ("b.md", b"# B\n\ntwo"))]
        assert (await mona.post("/api/documents", files=two)).status_code == 422
        wrong = await mona.post("/api/documents", files={"file": ("a.md", b"# A\n\nb")}, data={"audience": "hr,legal"})
        assert wrong.status_code in (400, 422)
    assert stored(site) == before


async def test_an_oversized_file_is_refused_before_it_is_read(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    most = int(site.kb.settings.limits.max_file_mb * 1_000_000)
    headers = {
        "Authorization": f"Bearer {site.key('mona')}",
        "Content-Type": "multipart/form-data; boundary=b",
        "Content-Length": str(most * 3),
    }
    sent = await hang_up(site, "POST", "/api/documents", headers, [])
    assert sent[0]["status"] == 413


# -- other people's data -----------------------------------------------------------------------------------------------


async def test_another_persons_thread_is_not_found(site: Site) -> None:
    """Check scorecard 3 for these addresses: 404 for everybody else, administrators too, and no change."""
    async with site.program("ann") as ann, site.program("bob") as bob, site.program("root") as root:
        asked = (await ann.post("/api/ask", json={"question": "What is PUC?"})).json()
        thread = asked["thread"]
        before = (await ann.get(f"/api/threads/{thread}")).json()
        for thief in (bob, root):
            for method, path, given in (
                ("GET", f"/api/threads/{thread}", None),
                ("PATCH", f"/api/threads/{thread}", {"title": "mine"}),
                ("DELETE", f"/api/threads/{thread}", None),
                ("POST", f"/api/threads/{thread}/feedback", {"turn": 0, "value": 1}),
                ("POST", f"/api/threads/{thread}/share", {"share": True}),
                ("GET", f"/api/threads/{thread}/news", None),
                ("POST", "/api/ask", {"question": TRIM, "thread": thread}),
                ("POST", "/api/answer", {"choice": "1", "thread": thread}),
            ):
                answer = await thief.request(method, path, json=given)
                assert answer.status_code == 404, (method, path, answer.text)
                streamed = {"Accept": "text/event-stream"}
                assert (await thief.request(method, path, json=given, headers=streamed)).status_code == 404
            assert thread not in (await thief.get("/api/threads")).text
            left_out = await thief.post("/api/answer", json={"choice": "1"})
            assert left_out.status_code == 422
        assert (await ann.get(f"/api/threads/{thread}")).json() == before


async def test_a_hidden_document_is_shown_to_its_readers_only(site: Site) -> None:
    """Check scorecard 1 for these addresses: the reader asks before and after somebody else asks the same."""
    question = "How often is the vault combination rotated?"
    hidden = site.kb.document_store.document(ADMIN, "vault-handbook.md")
    passage = site.kb.document_store.passages_of(ADMIN, hidden.id)[0].id

    async def everything(user: str) -> str:
        told = []
        async with site.program(user) as program:
            for path, given in (
                ("/api/ask", {"question": question}),
                ("/api/search", {"query": question}),
                ("/v1/chat/completions", {"model": "argot", "messages": said(question)}),
                ("/v1/chat/completions", {"model": "argot", "messages": said(question), "stream": True}),
            ):
                told.append((await program.post(path, json=given)).text)
            events = {"Accept": "text/event-stream"}
            told.append((await program.post("/api/ask", json={"question": question}, headers=events)).text)
            for path in (
                "/api/documents", f"/api/documents/{hidden.id}", f"/api/documents/{hidden.id}/markdown",
                f"/api/documents/{hidden.id}/original", f"/api/passages/{passage}", "/api/glossary/senses",
                "/api/glossary/search?text=VLT", "/api/glossary/term?term=VLT", "/api/glossary/export",
                "/api/glossary/occurrences?phrase=combination", "/api/glossary/similar?term=VLT",
            ):  # fmt: skip
                told.append((await program.get(path)).text)
        return "\n".join(told).replace(question, "")

    for user in ("vera", "ann", "vera", "mona", "ann"):
        found = await everything(user)
        met = [word for word in ("14 days", "Vault Liaison", "vault-handbook") if word in found]
        assert len(met) == (3 if user == "vera" else 0), (user, met)


async def test_a_client_that_disconnects_stops_its_request(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    started, stopped = asyncio.Event(), asyncio.Event()

    async def slow(kb: Any, principal: Any, **given: Any) -> AsyncIterator[AskEvent]:
        started.set()
        try:
            await asyncio.sleep(600)
            yield AskEvent("result")
        finally:
            stopped.set()

    answer_with(monkeypatch, slow)
    headers = {"Authorization": f"Bearer {site.key()}", "Content-Type": "application/json"}
    for body in ({"question": TRIM}, {"messages": said(TRIM)}, {"messages": said(TRIM), "stream": True}):
        path = "/api/ask" if "question" in body else "/v1/chat/completions"
        started.clear(), stopped.clear()
        pieces = iter([{"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}])

        async def receive(pieces: Any = pieces) -> Any:
            if (message := next(pieces, None)) is not None:
                return message
            await started.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            pass

        raw = [(b"host", b"localhost:8123"), *((k.lower().encode(), v.encode()) for k, v in headers.items())]
        scope = {"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "path": path,
                 "raw_path": path.encode(), "query_string": b"", "headers": raw, "client": ("127.0.0.1", 1),
                 "scheme": "http", "server": ("localhost", 8123), "root_path": ""}  # fmt: skip
        await asyncio.wait_for(site.guard(scope, receive, send), 120)
        assert stopped.is_set()


async def test_a_suspension_ends_the_running_answer(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    people = site.kb.people
    people.add("tom")
    started, stopped = asyncio.Event(), asyncio.Event()

    async def slow(kb: Any, principal: Any, **given: Any) -> AsyncIterator[AskEvent]:
        started.set()
        try:
            await asyncio.sleep(600)
            yield AskEvent("result")
        finally:
            stopped.set()

    answer_with(monkeypatch, slow)
    async with site.program("tom") as tom:
        asking = asyncio.create_task(tom.post("/api/ask", json={"question": TRIM}))
        await started.wait()
        await asyncio.to_thread(people.suspend, "tom")
        await asyncio.wait_for(stopped.wait(), 120)
        await asyncio.gather(asking, return_exceptions=True)


# -- sources -----------------------------------------------------------------------------------------------------------


async def test_sources_are_added_by_permitted_users_and_synced(site: Site, tmp_path: Path) -> None:
    (tmp_path / "depot.md").write_text("# Depot\n\nThe depot opens at 05:40.\n")
    folder = {"address": str(tmp_path), "name": "depot", "tags": ["depot"], "every": "6h"}
    async with site.program("ann") as ann, site.program("leo") as leo:
        for other in (ann, leo):
            assert (await other.get("/api/sources")).status_code == 403
            assert (await other.post("/api/sources", json=folder)).status_code == 403
    async with site.program("root") as root, site.program("mona") as mona:
        assert (await mona.post("/api/sources", json=folder)).status_code == 403
        assert (await root.post("/api/sources", json={**folder, "every": "often"})).status_code == 400
        made = await root.post("/api/sources", json=folder)
        assert made.status_code == 200, made.text
        assert (made.json()["state"], made.json()["every"]) == ("new", 21_600)
        report = (await mona.post("/api/sources/depot/sync", json={})).json()
        assert (report["state"], report["added"], report["problems"]) == ("synced", 1, [])
        (listed,) = (await mona.get("/api/sources")).json()
        assert (listed["name"], listed["documents"], listed["audience"]) == ("depot", 1, [])
        (tmp_path / "depot.md").unlink()
        held = (await mona.post("/api/sources/depot/sync", json={})).json()
        assert held["state"] == "held" and "--confirm" in held["detail"]
        assert (await mona.post("/api/sources/depot/sync", json={"confirm": True})).json()["removed"] == 1
        assert (await mona.delete("/api/sources/depot?with_documents=true")).json() == {
            "name": "depot",
            "removed": 0,
            "kept": 0,
        }
        assert (await mona.post("/api/sources/depot/sync", json={})).status_code == 404


async def test_a_large_archives_first_files_are_listed_and_all_are_counted(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "MAX_LISTED_FILES", 10)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for number in range(30):
            archive.writestr(f"page{number}.md", f"# Page {number}\n\nThe gauge of bay {number} shows {number} bar.\n")
        archive.writestr("empty.md", b"")
    async with site.program("mona") as mona:
        told = (await mona.post("/api/documents", files={"file": ("many.zip", buffer.getvalue())})).json()
    assert told["detail"] == "30 added, 1 failed"
    # A failure is always among the listed files.
    assert "failed" in {one["kind"] for one in told["files"]} and len(told["files"]) in (9, 10)
    assert told["unlisted"] + len(told["files"]) == 31


async def test_the_number_of_archives_a_person_unpacks_at_once_is_limited(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(replace(Limits.limit_archives(), at_once=1), name="archive")
    monkeypatch.setattr(site.kb.gates, "archives", gate)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("gauge.md", "# Gauge\n\nThe gauge of the last bay shows nothing.\n")
    sent = {"file": ("few.zip", buffer.getvalue())}
    async with site.program("mona") as mona:
        async with gate.place(site.kb.people.user("mona").principal):
            refused = await mona.post("/api/documents", files=sent)
            single = await mona.post("/api/documents", files={"file": ("one.md", b"# One\n\nA bay has one gauge.\n")})
        after = await mona.post("/api/documents", files=sent)
    assert refused.status_code == 429 and "1 of your archives" in refused.json()["error"]["message"]
    assert int(refused.headers["Retry-After"]) > 0
    assert (single.status_code, after.status_code) == (201, 201)
