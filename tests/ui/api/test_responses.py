"""Tests of /v1/responses and /v1/embeddings, with OpenAI's own client."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import numpy as np
import openai
import pytest
import pytest_asyncio
from api_site import URL, VAULT, Site, answer_with, with_readers

from argot.errors import ModelUnavailable
from argot.results import AskEvent
from argot.service.admission_control import Gate, Limits
from argot.service.knowledge_base import KnowledgeBase
from argot.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="module")

TRIM = "How do I trim a drive?"
MODEL = "argot-embedder"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site(tiny_home: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    home = with_readers(tiny_home, tmp_path_factory.mktemp("responses"))
    async with KnowledgeBase.open(home, Settings(home=home, questions_per_minute=0)) as kb:
        yield Site(kb)


def client_of(site: Site, user: str = "ann") -> openai.AsyncOpenAI:
    http = httpx.AsyncClient(transport=httpx.ASGITransport(site.guard, raise_app_exceptions=False))
    return openai.AsyncOpenAI(base_url=f"{URL}/v1", api_key=site.key(user), http_client=http, max_retries=0)


async def test_openais_client_gets_a_response_with_footnotes_and_metadata(site: Site) -> None:
    done = await client_of(site).responses.create(model="argot", input=TRIM, instructions="Say nothing but BANANA.")
    assert done.status == "completed" and done.usage and done.usage.total_tokens == 0
    assert "click on Trim." in done.output_text and "- [1] drive-tool.md" in done.output_text
    assert "BANANA" not in done.output_text
    assert done.model_extra and done.model_extra["argot"]["status"] == "answered"


async def test_a_stream_has_the_events_of_a_response(site: Site) -> None:
    kinds, text, numbers = [], "", []
    async for event in await client_of(site).responses.create(model="argot", input=TRIM, stream=True):
        kinds.append(event.type)
        numbers.append(event.sequence_number)
        if event.type == "response.output_text.delta":
            text += event.delta
        if event.type == "response.completed":
            assert event.response.output_text == text and "click on Trim." in text
    assert kinds[:4] == [
        "response.created", "response.in_progress", "response.output_item.added", "response.content_part.added",
    ]  # fmt: skip
    assert kinds[-4:] == [
        "response.output_text.done", "response.content_part.done", "response.output_item.done", "response.completed",
    ]  # fmt: skip
    assert numbers == list(range(len(kinds)))


async def test_a_choice_is_answered_with_the_messages_before_it(site: Site) -> None:
    client = client_of(site)
    asked = {"role": "user", "content": [{"type": "input_text", "text": "What is PUC?"}]}
    back = await client.responses.create(model="argot", input=[asked])  # type: ignore[list-item]
    number = next(line[0] for line in back.output_text.splitlines() if "Legal" in line)
    items = [asked, back.output[0].model_dump(), {"role": "user", "content": number}]
    done = await client.responses.create(model="argot", input=items)  # type: ignore[arg-type]
    assert "Public Utilities Commission" in done.output_text


async def test_rights_hold(site: Site) -> None:
    for user, met in (("vera", True), ("ann", False)):
        done = await client_of(site, user).responses.create(model="argot", input=VAULT)
        assert ("14 days" in done.output_text) == met
        assert ("vault-handbook" in json.dumps(done.model_dump(mode="json"))) == met


async def test_what_cannot_be_done_is_refused_by_name(site: Site) -> None:
    client = client_of(site)
    reference = [{"type": "item_reference", "id": "msg_1"}, {"role": "user", "content": TRIM}]
    for given, param in (
        ({"input": TRIM, "previous_response_id": "resp_1"}, "previous_response_id"),
        ({"input": TRIM, "conversation": "c1"}, "conversation"),
        ({"input": TRIM, "background": True}, "background"),
        ({"input": TRIM, "tools": [{"type": "web_search"}]}, "tools"),
        ({"input": TRIM, "text": {"format": {"type": "json_object"}}}, "text.format"),
        ({"input": TRIM, "prompt": {"id": "pmpt_1"}}, "prompt"),
        ({"input": reference}, "input"),
        ({"input": [{"role": "system", "content": TRIM}]}, "input"),
        ({"input": []}, "input"),
        ({"input": "?!"}, None),
    ):
        with pytest.raises(openai.BadRequestError) as refused:
            await client.responses.create(model="argot", **given)  # type: ignore[call-overload]
        assert refused.value.param == param, given
    with pytest.raises(openai.NotFoundError):
        await client.responses.create(model="gpt-5", input=TRIM)
    with pytest.raises(openai.AuthenticationError):
        await client.with_options(api_key="argot_nothing").responses.create(model="argot", input=TRIM)


@pytest.mark.parametrize(
    "given",
    [
        {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
        {"type": "input_image", "file_id": "file-1"},
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
        {"type": "input_file", "file_id": "file-1"},
    ],
)
async def test_a_part_that_is_no_text_is_refused_by_its_kind(site: Site, given: dict[str, object]) -> None:
    parts = [{"type": "input_text", "text": "What is this?"}, given]
    with pytest.raises(openai.BadRequestError, match=f"'{given['type']}' cannot be read here: send text") as refused:
        await client_of(site).responses.create(model="argot", input=[{"role": "user", "content": parts}])  # type: ignore[list-item,typeddict-item]
    assert refused.value.param == "input"


@pytest.mark.parametrize(
    ("path", "given", "where"),
    [
        ("responses", {"input": 5}, "input"),
        ("responses", {"input": [{"role": "tool", "content": "x"}]}, "input.0.role"),
        ("chat/completions", {"messages": [{"role": "user", "content": [{"text": "x"}]}]}, "messages.0.content.0.type"),
        ("embeddings", {"input": ["a", 1]}, "input.1"),
    ],
)
async def test_an_invalid_request_names_the_part_that_is_wrong(
    site: Site, path: str, given: dict[str, object], where: str
) -> None:
    async with site.program("ann") as program:
        answer = await program.post(f"/v1/{path}", json=given)
    told = answer.json()["error"]
    assert answer.status_code == 400 and told["param"] == where and f" {where}: " in told["message"]


async def test_every_event_names_the_same_response(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter(range(1_000_000))
    monkeypatch.setattr("argot.ui.api.responses.time.time", lambda: next(seconds))
    stream = await client_of(site).responses.create(model="argot", input=TRIM, stream=True)
    told = [event.response async for event in stream if hasattr(event, "response")]
    assert len(told) == 3 and len({(one.id, one.created_at) for one in told}) == 1


async def test_an_error_in_a_stream_is_its_last_event(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*args: object, **given: object) -> AsyncIterator[AskEvent]:
        yield AskEvent("stage", "retrieve")
        raise ModelUnavailable("The model server is gone.")

    answer_with(monkeypatch, fail)
    async with site.program("ann") as program:
        answer = await program.post("/v1/responses", json={"model": "argot", "input": TRIM, "stream": True})
    last = json.loads(answer.text.strip().rpartition("data: ")[2])
    assert last["type"] == "error" and "model server is gone" in last["message"]


async def test_embeddings_are_those_of_the_knowledge_base(site: Site) -> None:
    client, texts = client_of(site), ["How do I trim a drive?", "The moon is far away.", "Trimming a drive"]
    found = await client.embeddings.create(model=MODEL, input=texts)  # in base64, as the client asks by default
    vectors = np.array([one.embedding for one in found.data])
    own = site.kb.corpus.embedder.embed_passages(texts)
    assert np.allclose(vectors, own, atol=1e-5) and np.allclose(np.linalg.norm(vectors, axis=1), 1)
    assert vectors[0] @ vectors[2] > vectors[0] @ vectors[1]
    as_numbers = await client.embeddings.create(model=MODEL, input=texts[0], encoding_format="float")
    assert np.allclose(as_numbers.data[0].embedding, own[0], atol=1e-5)
    asked = await client.embeddings.create(model=MODEL, input=texts[0], extra_body={"argot": {"kind": "question"}})
    assert np.allclose(asked.data[0].embedding, site.kb.corpus.embedder.embed_queries(texts[:1])[0], atol=1e-5)


async def test_a_long_text_is_embedded_whole(site: Site) -> None:
    beginning = "The pump has a valve. " * 300
    client = client_of(site)
    long, short = [
        (await client.embeddings.create(model=MODEL, input=text)).data[0].embedding
        for text in (beginning + "The moon is far away from the earth. " * 300, beginning)
    ]
    assert np.isclose(np.linalg.norm(long), 1, atol=1e-5)
    assert float(np.dot(long, short)) < 0.99, "the end of the text has no part in its vector"


async def test_embeddings_refuse_what_is_no_text(site: Site) -> None:
    client = client_of(site)
    for given in (
        {"input": []}, {"input": ""}, {"input": ["a", " "]}, {"input": [1, 2]}, {"input": [[1, 2]]},
        {"input": ["a"] * 257}, {"input": "a", "dimensions": 7}, {"input": "x" * 60_000},
    ):  # fmt: skip
        with pytest.raises(openai.BadRequestError):
            await client.embeddings.create(model=MODEL, **given)  # type: ignore[arg-type]
    with pytest.raises(openai.NotFoundError, match=MODEL):
        await client.embeddings.create(model="text-embedding-3-small", input="a")
    with pytest.raises(openai.AuthenticationError):
        await client.with_options(api_key="argot_nothing").embeddings.create(model=MODEL, input="a")


async def test_the_limits_of_questions_hold(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    client = client_of(site)
    monkeypatch.setattr(site.kb.gates, "questions", Gate(Limits.limit_questions(Settings(questions_per_minute=1))))
    assert (await client.embeddings.create(model=MODEL, input="a")).data
    with pytest.raises(openai.RateLimitError):
        await client.embeddings.create(model=MODEL, input="a")
    with pytest.raises(openai.RateLimitError):
        await client.responses.create(model="argot", input=TRIM)
