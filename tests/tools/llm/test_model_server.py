"""The connection to the model server, tested with a scripted one: replies, missing features, sharing, secrets."""

import asyncio
import logging
from contextlib import aclosing
from typing import Any

import pytest

from argot.errors import InvalidSettings, ModelUnavailable
from argot.settings import Settings
from argot.tools.llm.address import parse_address
from argot.tools.llm.model_server import ModelServer

INPUTS = {"passages": "The Word Line voltage is 4.5 V.", "question": "What is the WL voltage?"}
JARGON = {"terms": ["PUC", "WL"]}
QUESTION = "What is the WL of a PUC?"


def model_of(server: Any, calls: list[Any] | None = None, **settings: Any) -> Any:
    connection = ModelServer.from_settings(server.settings(**settings))
    assert connection
    return connection.session([] if calls is None else calls)


async def said(model: Any) -> str:
    return "".join([piece async for piece in model.text("cited_answer", **INPUTS)])


async def test_a_json_reply_is_parsed_and_recorded(scripted_model: Any) -> None:
    scripted_model.reply("identify_jargon", JARGON)
    calls: list[Any] = []
    model = model_of(scripted_model, calls)
    assert await model.json("identify_jargon", question=QUESTION) == JARGON
    assert (model.name, model.context_tokens, model.failed) == ("scripted", 4096, None)
    (request,) = scripted_model.asked("identify_jargon")
    assert request.schema["properties"]["terms"]["maxItems"] == 20
    assert (request.body["temperature"], request.body["max_tokens"] > 0) == (0, True)
    (call,) = calls
    assert (call.prompt, call.failed) == ("identify_jargon", "")
    assert min(call.prompt_tokens, call.completion_tokens) > 0
    assert 0 < call.first_token_seconds <= call.seconds


async def test_a_text_is_streamed_as_the_server_sends_it(scripted_model: Any) -> None:
    scripted_model.reply("cited_answer", "It is 4.5 V [1].")
    scripted_model.fault("pause", tokens=2)
    calls: list[Any] = []
    pieces, sent = [], []
    async for piece in model_of(scripted_model, calls, model_answer_tokens=77).text("cited_answer", **INPUTS):
        pieces.append(piece)
        sent.append(len(scripted_model.requests[-1].sent))
        scripted_model.heal()
    assert "".join(pieces) == "It is 4.5 V [1]."
    assert len(pieces) == 5
    assert sent[0] < 5  # the first was here before the last was sent
    assert scripted_model.asked()[0].body["max_tokens"] == 77
    assert calls[0].completion_tokens == 5


@pytest.mark.parametrize(
    "written",
    [
        "http://127.0.0.1:8011",
        "http://127.0.0.1:8011/",
        "http://127.0.0.1:8011/v1",
        "http://127.0.0.1:8011/v1/",
        " http://127.0.0.1:8011/v1/chat/completions ",
        "http://127.0.0.1:8011/v1/models",
    ],
)
def test_a_url_with_or_without_v1_is_accepted(written: str) -> None:
    address = parse_address(written)
    assert (address.api, address.root) == ("http://127.0.0.1:8011/v1", "http://127.0.0.1:8011")


def test_a_server_below_a_path_is_accepted() -> None:
    assert parse_address("https://models.example/team/v1").root == "https://models.example/team"


@pytest.mark.parametrize(
    "written",
    ["localhost:8000", "ftp://x/v1", "http://", "http://a b/v1", "http://x:99999/v1", "v1", "http://x/v1?k=1"],
)
def test_an_invalid_url_is_refused(written: str) -> None:
    with pytest.raises(InvalidSettings, match="ARGOT_MODEL_URL"):
        ModelServer.from_settings(Settings(model_url=written))


def test_a_password_in_the_url_is_refused_and_not_shown() -> None:
    with pytest.raises(InvalidSettings, match="ARGOT_MODEL_KEY") as refused:
        parse_address("http://ann:hunter2@models.example/v1")
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.8.9.10", "[::1]", "gpu.localhost"])
def test_local_addresses_are_recognised(host: str) -> None:
    assert parse_address(f"http://{host}:8000").local


def test_addresses_of_other_machines_are_not_local() -> None:
    assert not any(parse_address(f"http://{host}").local for host in ("10.0.0.1", "gpu.example", "localhost.example"))


def test_without_a_url_there_is_no_server() -> None:
    assert ModelServer.from_settings(Settings()) is None


def test_equal_settings_share_one_server(scripted_model: Any) -> None:
    settings = scripted_model.settings()
    first = ModelServer.from_settings(settings)
    assert first is ModelServer.from_settings(Settings(model_url=settings.model_server.url, passage_chars=500))
    assert first is not ModelServer.from_settings(Settings(model_url=settings.model_server.url, model_seconds=5))


async def test_a_local_server_is_reached_without_the_configured_proxy(
    scripted_model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "OPENAI_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE", "LANGSMITH_GATEWAY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9/v1")
    assert await model_of(scripted_model).json("identify_jargon", question=QUESTION) == {"terms": []}


# -- which model


async def test_the_model_named_in_the_settings_is_used(scripted_model: Any) -> None:
    scripted_model.models = ("small", "large")
    await model_of(scripted_model, model="large").json("identify_jargon", question=QUESTION)
    assert scripted_model.asked()[0].body["model"] == "large"


async def test_one_of_several_served_models_must_be_named(scripted_model: Any) -> None:
    scripted_model.models = ("small", "large")
    with pytest.raises(ModelUnavailable, match=r"serves 2 models \(small, large\): name one as ARGOT_MODEL"):
        await model_of(scripted_model).json("identify_jargon", question=QUESTION)


async def test_model_names_in_an_error_are_shortened_and_on_one_line(scripted_model: Any) -> None:
    scripted_model.models = tuple(f"{number} {'long ' * 50}" for number in range(20))
    with pytest.raises(ModelUnavailable, match=r"serves 20 models \(0 long .*…, 12 more\)") as refused:
        await model_of(scripted_model).json("identify_jargon", question=QUESTION)
    assert len(str(refused.value)) < 700


async def test_a_model_listed_twice_is_one(scripted_model: Any) -> None:
    scripted_model.models = ("scripted", "scripted")
    assert await said(model_of(scripted_model))


async def test_a_model_that_is_not_served_is_reported(scripted_model: Any) -> None:
    scripted_model.models = ("small", "large")
    with pytest.raises(ModelUnavailable, match="does not serve the model huge, but small, large: set ARGOT_MODEL"):
        await model_of(scripted_model, model="huge").json("identify_jargon", question=QUESTION)


async def test_a_server_that_changed_its_model_is_used(scripted_model: Any) -> None:
    model = model_of(scripted_model)
    await model.json("identify_jargon", question=QUESTION)
    scripted_model.models = ("newer",)
    assert await model.json("identify_jargon", question=QUESTION) == {"terms": []}
    assert model.name == "newer"


async def test_a_gateway_without_a_list_of_models_needs_a_named_model(scripted_model: Any) -> None:
    scripted_model.lists_models = False
    assert await model_of(scripted_model, model="scripted").json("identify_jargon", question=QUESTION) == {"terms": []}
    with pytest.raises(ModelUnavailable, match="404"):
        await model_of(scripted_model).json("identify_jargon", question=QUESTION)


async def test_the_context_length_of_the_settings_wins_over_the_servers(scripted_model: Any) -> None:
    model = model_of(scripted_model, model_context=2222)
    await model.json("identify_jargon", question=QUESTION)
    assert model.context_tokens == 2222


async def test_a_chinese_reply_gets_a_lower_length_limit_but_is_not_cut(scripted_model: Any) -> None:
    """Check it because each Chinese character takes a token: the reply would be cut off within its JSON."""
    scripted_model.reply("identify_jargon", {"terms": ["字线" * 15]})
    model = model_of(scripted_model)
    for question, longest in ((QUESTION, 60), ("字线在读取期间的电压是多少？", 20)):
        assert await model.json("identify_jargon", question=question) == {"terms": ["字线" * 15]}
        assert scripted_model.asked()[-1].schema["properties"]["terms"]["items"]["maxLength"] == longest


# -- what a server may lack


async def test_a_server_that_refuses_schemas_gets_them_in_the_prompt(scripted_model: Any) -> None:
    scripted_model.fault("no_schema")
    scripted_model.reply("identify_jargon", JARGON)
    model = model_of(scripted_model)
    assert await model.json("identify_jargon", question=QUESTION) == JARGON
    assert await model.json("identify_jargon", question=QUESTION) == JARGON
    refused, *asked = scripted_model.asked()
    assert refused.schema
    assert len(asked) == 2  # the refusal was met once
    assert all("JSON schema" in one.system and one.schema is None for one in asked)


async def test_a_server_that_ignores_schemas_gets_them_in_the_prompt(scripted_model: Any) -> None:
    scripted_model.fault("ignores_schema")
    scripted_model.reply("identify_jargon", JARGON)
    model = model_of(scripted_model)
    for _ in range(2):
        assert await model.json("identify_jargon", question=QUESTION) == JARGON
    assert ["JSON schema" in one.system for one in scripted_model.asked()] == [False, True, True]


async def test_a_server_that_refuses_all_requests_does_not_lack_schemas(scripted_model: Any) -> None:
    scripted_model.fault("status", code=422, prompt="identify_jargon", times=2)
    scripted_model.reply("identify_jargon", JARGON)
    with pytest.raises(ModelUnavailable, match="422"):
        await model_of(scripted_model).json("identify_jargon", question=QUESTION)
    assert await model_of(scripted_model).json("identify_jargon", question=QUESTION) == JARGON
    assert ["JSON schema" in one.system for one in scripted_model.asked()] == [False, True, False]


async def test_text_after_the_json_is_not_waited_for(scripted_model: Any) -> None:
    scripted_model.fault("no_schema")
    scripted_model.reply("identify_jargon", '{"terms": ["WL"]} ' + " ".join(str(n) for n in range(3000)))
    scripted_model.speed = 0.02
    assert await model_of(scripted_model).json("identify_jargon", question=QUESTION) == {"terms": ["WL"]}
    assert scripted_model.wait_until(lambda: scripted_model.asked()[-1].gone)


async def test_a_server_that_refuses_usage_is_asked_without_it(scripted_model: Any) -> None:
    scripted_model.fault("no_stream_options")
    calls: list[Any] = []
    assert await model_of(scripted_model, calls).json("identify_jargon", question=QUESTION) == {"terms": []}
    assert [call.failed for call in calls] == ["refused the request (400)", ""]
    assert calls[1].completion_tokens == 0


async def test_concurrent_requests_handle_a_refused_option(scripted_model: Any) -> None:
    """Check that no request takes the refusal of another one for a refusal of its schema."""
    scripted_model.fault("no_stream_options")
    server = ModelServer.from_settings(scripted_model.settings())
    assert server
    sessions = [server.session([]) for _ in range(8)]
    await asyncio.gather(*(one.json("identify_jargon", question=QUESTION) for one in sessions))
    assert (server.quirks.usage, server.quirks.no_schema) == (False, set())


async def test_a_server_may_require_max_completion_tokens(scripted_model: Any) -> None:
    scripted_model.fault("no_max_tokens")
    assert await model_of(scripted_model).json("identify_jargon", question=QUESTION) == {"terms": []}
    assert scripted_model.asked()[-1].body["max_completion_tokens"] > 0


async def test_one_truncated_reply_does_not_move_schemas_into_the_prompt(scripted_model: Any) -> None:
    scripted_model.replies("identify_jargon", '{"terms": ["WL"', JARGON)
    server = ModelServer.from_settings(scripted_model.settings())
    assert server
    assert await server.session([]).json("identify_jargon", question=QUESTION) == JARGON
    assert not server.quirks.in_words


async def test_other_servers_than_vllm_get_no_vllm_fields(scripted_model: Any) -> None:
    await model_of(scripted_model).json("identify_jargon", question=QUESTION)
    scripted_model.owned_by = "someone"
    await model_of(scripted_model, model="scripted").json("identify_jargon", question=QUESTION)
    assert ["chat_template_kwargs" in one.body for one in scripted_model.asked()] == [True, False]


async def test_other_servers_than_vllm_report_usage_only_at_the_end(scripted_model: Any) -> None:
    scripted_model.owned_by = "someone"
    await model_of(scripted_model).json("identify_jargon", question=QUESTION)
    assert scripted_model.asked()[-1].body["stream_options"] == {"include_usage": True}


async def test_the_tokens_of_a_stopped_reply_are_counted(scripted_model: Any) -> None:
    scripted_model.reply("cited_answer", "It is 4.5 V, as the table of voltages says [1].")
    scripted_model.fault("pause", tokens=5)
    calls: list[Any] = []
    async with aclosing(model_of(scripted_model, calls).text("cited_answer", **INPUTS)) as pieces:
        await anext(pieces)
    (call,) = calls
    assert call.failed == "was stopped by its reader"
    assert 1 <= call.completion_tokens <= 5
    assert call.prompt_tokens > 50


async def test_reasoning_in_think_tags_is_not_part_of_the_answer(scripted_model: Any) -> None:
    scripted_model.reply("cited_answer", "<think>\nThe asker wants { volts }.\n</think>\n\nIt is 4.5 V [1].")
    scripted_model.reply("identify_jargon", '<think>{"terms": ["no"]}</think>{"terms": ["WL"]}')
    model = model_of(scripted_model)
    assert await said(model) == "It is 4.5 V [1]."
    assert await model.json("identify_jargon", question=QUESTION) == {"terms": ["WL"]}


async def test_compressed_replies_are_read(scripted_model: Any) -> None:
    scripted_model.fault("gzip")
    scripted_model.reply("cited_answer", "It is 4.5 V [1].")
    assert await said(model_of(scripted_model)) == "It is 4.5 V [1]."


# -- sharing


async def test_eight_requests_are_answered_at_once(scripted_model: Any) -> None:
    scripted_model.reply("identify_jargon", JARGON)
    scripted_model.fault("pause", tokens=0)
    server = ModelServer.from_settings(scripted_model.settings())
    assert server
    sessions = [server.session([]) for _ in range(8)]
    asking = asyncio.gather(*(one.json("identify_jargon", question=QUESTION) for one in sessions))
    all_asked = lambda: len(scripted_model.asked()) == 8  # noqa: E731 - none waits for another's reply
    assert await asyncio.to_thread(scripted_model.wait_until, all_asked)
    scripted_model.heal()
    assert await asking == [JARGON] * 8
    assert sum(one.path.endswith("/models") for one in scripted_model.requests) == 1


def test_one_server_object_works_in_several_event_loops(scripted_model: Any) -> None:
    server = ModelServer.from_settings(scripted_model.settings())
    assert server

    async def ask() -> Any:
        return await server.session([]).json("identify_jargon", question=QUESTION)

    assert [asyncio.run(ask()) for _ in range(3)] == [{"terms": []}] * 3


# -- secrets


async def test_the_key_is_sent_and_never_shown(scripted_model: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    scripted_model.key = "s3cret"
    server = ModelServer.from_settings(scripted_model.settings(model_key="s3cret"))
    assert server
    model = server.session([])
    assert await model.json("identify_jargon", question="Is the zebra striped?") == {"terms": []}
    shown = [caplog.text, repr(server), repr(model), repr(server.connection()), repr(server.known)]
    with pytest.raises(ModelUnavailable) as refused:
        await model_of(scripted_model, model_key="wr0ng").json("identify_jargon", question="Is the zebra striped?")
    shown += [str(refused.value), repr(refused.value), caplog.text]
    assert "ARGOT_MODEL_KEY" in str(refused.value)
    assert not [text for text in shown for secret in ("s3cret", "wr0ng", "zebra") if secret in text]


async def test_the_error_text_of_a_server_is_not_passed_on(scripted_model: Any) -> None:
    scripted_model.fault("status", code=418, message="the prompt was: Is the zebra striped?")
    model = model_of(scripted_model)
    with pytest.raises(ModelUnavailable) as refused:
        await model.json("identify_jargon", question="Is the zebra striped?")
    assert "zebra" not in f"{refused.value!r} {refused.value.__cause__!r} {model.failed}"


async def test_the_server_description_names_its_capabilities(scripted_model: Any) -> None:
    scripted_model.reply("", '{"word": "blue-17"}')
    server = ModelServer.from_settings(scripted_model.settings())
    assert server
    await server.describe()
    info = await server.describe()
    assert (info.model, info.context_tokens) == ("scripted", 4096)
    assert (info.json_schema, info.logprobs, info.tokenizer) == (True, True, True)
    scripted_model.heal()
