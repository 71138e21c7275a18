"""Prompts that fit the context: counted by the server's tokenizer where needed, weakest passages dropped first."""

from typing import Any

import pytest

from argot.errors import ModelUnavailable
from argot.tools.llm.model_server import ContextOverflow, ModelServer
from argot.tools.llm.token_budget import compute_byte_bound, count_tokens, estimate_tokens

QUESTION = "What is the WL voltage?"
PIECES = [f"Passage {n}: " + f"the word line number {n} has a voltage of its own. " * 12 for n in range(10)]


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Allow more time for a count, since it may come late on a busy machine."""
    wait_for_counts(monkeypatch, 100.0)


def wait_for_counts(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    monkeypatch.setattr("argot.tools.llm.token_budget.COUNT_SECONDS", seconds)


def server_of(scripted: Any, **settings: Any) -> ModelServer:
    server = ModelServer.from_settings(scripted.settings(**{"model_first_token_seconds": 600, **settings}))
    assert server
    return server


async def fit(server: ModelServer, pieces: list[str], **inputs: str) -> str:
    return await server.session([]).fit("cited_answer", "passages", pieces, **{"question": QUESTION, **inputs})


def counts(scripted: Any) -> int:
    return sum(one.path == "/tokenize" for one in scripted.requests)


@pytest.mark.parametrize("context", [32_000, 6_000])
async def test_a_prompt_that_surely_fits_is_not_counted(scripted_model: Any, context: int) -> None:
    scripted_model.context = context
    assert await fit(server_of(scripted_model), PIECES) == "\n\n".join(PIECES)
    assert counts(scripted_model) == 0


async def test_a_prompt_that_may_not_fit_is_counted_once(scripted_model: Any) -> None:
    scripted_model.context = 2_400
    server = server_of(scripted_model)
    assert await fit(server, PIECES[:6]) == "\n\n".join(PIECES[:6])
    assert await fit(server, PIECES[:6]) == "\n\n".join(PIECES[:6])
    assert counts(scripted_model) == 1  # the second time it was known


@pytest.mark.parametrize("context", [1400, 1600, 1800, 2000])
async def test_as_many_of_the_best_passages_are_kept_as_fit(scripted_model: Any, context: int) -> None:
    scripted_model.context = context
    server = server_of(scripted_model)
    kept = (await fit(server, PIECES)).split("\n\n")
    assert kept == PIECES[: len(kept)]
    assert 0 < len(kept) < len(PIECES)
    assert counts(scripted_model) <= 4
    model = server.session([])
    fits, more = ("\n\n".join(PIECES[:n]) for n in (len(kept), len(kept) + 1))
    assert "".join([piece async for piece in model.text("cited_answer", passages=fits, question=QUESTION)])
    with pytest.raises(ContextOverflow):  # one more would have been too many
        assert [piece async for piece in model.text("cited_answer", passages=more, question=QUESTION)]


async def test_a_context_too_short_for_one_passage_is_reported(scripted_model: Any) -> None:
    scripted_model.context = 700
    with pytest.raises(ContextOverflow, match="too short a context for this prompt: see ARGOT_MODEL_CONTEXT"):
        await fit(server_of(scripted_model), PIECES)


async def test_fitting_no_passages_returns_an_empty_text(scripted_model: Any) -> None:
    assert await fit(server_of(scripted_model), []) == ""


async def test_a_long_piece_does_not_push_out_shorter_ones_before_it(scripted_model: Any) -> None:
    scripted_model.context = 2500
    pieces = ["short"] * 30 + ["long " * 3000] + ["short"] * 5
    assert (await fit(server_of(scripted_model), pieces)).split("\n\n") == ["short"] * 30


async def test_without_a_tokenizer_a_safe_estimate_is_used(scripted_model: Any) -> None:
    scripted_model.tokenizes = False
    scripted_model.context = 2000
    server = server_of(scripted_model)
    kept = await fit(server, PIECES)
    assert 0 < len(kept.split("\n\n")) < len(PIECES)
    model = server.session([])
    assert "".join([piece async for piece in model.text("cited_answer", passages=kept, question=QUESTION)])
    await fit(server, PIECES[:9])
    assert counts(scripted_model) == 1  # it is asked for once


async def test_the_context_length_of_the_settings_is_used(scripted_model: Any) -> None:
    assert len(await fit(server_of(scripted_model, model_context=1700), PIECES)) < len("\n\n".join(PIECES)) / 2


async def test_a_wrong_input_raises_a_type_error(scripted_model: Any) -> None:
    with pytest.raises(TypeError, match="question"):
        await server_of(scripted_model).session([]).fit("cited_answer", "passages", PIECES)
    with pytest.raises(TypeError):
        await server_of(scripted_model).session([]).json("identify_jargon", unknown="x")
    with pytest.raises(TypeError, match="text"):
        await server_of(scripted_model).session([]).json("cited_answer", passages="x", question="y")


@pytest.mark.parametrize("fault", ["hang", "garbage", "html"])
async def test_a_tokenizer_that_fails_is_replaced_by_an_estimate(
    scripted_model: Any, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if fault == "hang":
        wait_for_counts(monkeypatch, 0.5)
    scripted_model.context = 2000
    server = server_of(scripted_model)
    scripted_model.fault(fault, prompt="cited_answer", path="/tokenize", times=2)
    model = server.session([])
    kept = await model.fit("cited_answer", "passages", PIECES, question=QUESTION)
    assert 0 < len(kept.split("\n\n")) < len(PIECES)
    assert scripted_model.wait_until(lambda: counts(scripted_model) > 0)
    assert counts(scripted_model) == 1  # the rest of the search for what fits is estimated too
    assert not model.failed
    scripted_model.heal()
    assert "".join([piece async for piece in model.text("cited_answer", passages=kept, question=QUESTION)])


async def test_an_impossible_token_count_is_replaced_by_an_estimate(scripted_model: Any) -> None:
    said = b'{"count": 1000000000}'
    # It announces that it closes the connection after each count, so that no count is sent into a closing one.
    head = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
    scripted_model.context = 2000
    scripted_model.fault("raw", prompt="cited_answer", path="/tokenize", head=head % len(said) + said)
    kept = await server_of(scripted_model).session([]).fit("cited_answer", "passages", PIECES, question=QUESTION)
    assert 0 < len(kept.split("\n\n")) < len(PIECES)
    assert counts(scripted_model) == 2  # with and without what is vLLM's own; the rest of the search is estimated


async def test_a_tokenizer_that_failed_is_asked_again_later(
    scripted_model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    wait_for_counts(monkeypatch, 0.5)
    server = server_of(scripted_model)
    await server.served_model()
    scripted_model.fault("hang", times=1)
    messages = [("user", "word " * 50)]
    assert await count_tokens(server, messages) == estimate_tokens(messages)
    assert await count_tokens(server, messages) == estimate_tokens(messages)
    assert scripted_model.wait_until(lambda: counts(scripted_model) > 0)
    assert counts(scripted_model) == 1
    wait_for_counts(monkeypatch, 100.0)
    server.counts_again = 0.0  # a minute later
    assert await count_tokens(server, messages) < estimate_tokens(messages)


async def test_a_refused_connection_while_counting_fails_the_model(scripted_model: Any) -> None:
    server = server_of(scripted_model)
    await server.served_model()
    scripted_model.fault("refuse")
    model = server.session([])
    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        await model.fit("cited_answer", "passages", PIECES, question=QUESTION)
    assert model.failed


@pytest.mark.parametrize(
    "text", ["plain words of a sentence " * 20, "tRCD=13.75ns; 0x1F, 4.5 V", "电压是多少", "", "ÄÖÜ" * 50]
)
async def test_the_token_count_is_at_most_the_estimate(scripted_model: Any, text: str) -> None:
    messages = [("system", "Be brief."), ("user", text)]
    counted = await count_tokens(server_of(scripted_model), messages)
    assert counted <= estimate_tokens(messages) <= compute_byte_bound(messages)


async def test_the_cache_of_token_counts_is_bounded(scripted_model: Any) -> None:
    server = server_of(scripted_model)
    for number in range(300):
        await count_tokens(server, [("user", str(number))])
    assert len(server.counts) == 256
