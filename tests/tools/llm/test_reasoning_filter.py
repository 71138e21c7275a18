"""A model's reasoning is never part of its answer, however it is marked and wherever the stream is split."""

import asyncio
import json
from contextlib import aclosing
from typing import Any

import pytest

from argot.errors import ModelUnavailable
from argot.protocols import RETRACTION
from argot.tools.llm.model_server import ModelServer
from argot.tools.llm.reasoning_filter import ReasoningFilter

THOUGHT = "Well: is it {5 V}, or [1] < 4?\n\nNo."
ANSWER = "It is 4.5 V [1]."
INPUTS = {"passages": "The Word Line voltage is 4.5 V.", "question": "What is the WL voltage?"}
AN_END = 120.0
"""Seconds after which a call that should end never will."""


def model_of(server: Any, calls: list[Any] | None = None, **settings: Any) -> Any:
    connection = ModelServer.from_settings(server.settings(**settings))
    assert connection
    return connection.session([] if calls is None else calls)


async def pieces_of(model: Any) -> list[str]:
    async with asyncio.timeout(AN_END), aclosing(model.text("cited_answer", **INPUTS)) as pieces:
        return [piece async for piece in pieces]


def standing(pieces: list[str]) -> str:
    """Return the text that remains after retractions."""
    said = ""
    for piece in pieces:
        said = "" if piece is RETRACTION else said + piece
    return said


def heard(text: str, cut: int, *, cut_short: bool = False, **more: Any) -> list[str]:
    spoken = ReasoningFilter(**more)
    pieces = [text[at : at + cut] for at in range(0, len(text), cut)]
    return [*(said for piece in pieces for said in spoken.feed(piece)), *spoken.rest(cut_short=cut_short)]


CUTS = pytest.mark.parametrize("cut", [1, 2, 3, 7, 1000])


@CUTS
@pytest.mark.parametrize(
    "reply",
    [
        f"<think>{THOUGHT}</think>\n\n{ANSWER}",
        f" \n<think>\n\n</think>{ANSWER}",
        f"<Thinking>{THOUGHT}</Thinking>{ANSWER}",
        f"<think time='3'>{THOUGHT}</think>{ANSWER}",
        f"<think>{THOUGHT}</think><think>{THOUGHT}</think>{ANSWER}",
        f"<reasoning>{THOUGHT}</reasoning>\n<answer>\n{ANSWER}</answer>",
        f"<seed:think>{THOUGHT}</seed:think>{ANSWER}",
        f"[THINK]{THOUGHT}[/THINK]{ANSWER}",
        f"◁think▷{THOUGHT}◁/think▷{ANSWER}",
        f"<|begin_of_thought|>{THOUGHT}<|end_of_thought|><|begin_of_solution|>{ANSWER}<|end_of_solution|>",
        f"<|START_THINKING|>{THOUGHT}<|END_THINKING|><|START_RESPONSE|>{ANSWER}<|END_RESPONSE|>",
        f"<|channel|>analysis<|message|>{THOUGHT}<|end|><|start|>assistant<|channel|>final<|message|>{ANSWER}<|return|>",
        f"<|channel|>commentary to=x<|message|>{THOUGHT}<|call|><|channel|>final <|message|>{ANSWER}",
        f"analysisThe asker wants volts. {THOUGHT}assistantfinal{ANSWER}",
        f"<|channel>thought\n{THOUGHT}<channel|>{ANSWER}",
        f"It is<think>{THOUGHT}</think> 4.5 V [1].",
        f"{ANSWER}<think>{THOUGHT}",
        f"{ANSWER}<|im_end|>\n<|im_start|>user\n{THOUGHT}",
        f"{ANSWER}</s>{THOUGHT}",
    ],
)
def test_marked_reasoning_is_not_part_of_the_answer(reply: str, cut: int) -> None:
    said = heard(reply, cut)
    assert "".join(said) == "".join(heard(reply, cut, expects_thought=True)) == ANSWER
    assert RETRACTION not in said


@CUTS
@pytest.mark.parametrize(
    "reply", [f"{THOUGHT}\n</think>\n\n{ANSWER}", f"<think>One <think>two</think> {THOUGHT}</think>{ANSWER}"]
)
def test_unannounced_reasoning_is_retracted(reply: str, cut: int) -> None:
    assert standing(heard(reply, cut)) == ANSWER
    expected = heard(reply, cut, expects_thought=True)
    assert RETRACTION not in expected or "<think>" in reply
    assert standing(expected) == ANSWER


@CUTS
@pytest.mark.parametrize(
    "reply",
    [
        ANSWER,
        "If a < b, press <Enter> or [T] to go on; see <b>x</b>, 3 <4 and <",
        "Write `<think>` and `</think>` around it.",
        "```\n<think>\n</think>\n```\nThat is all.",
        "Analysis of it: analysis, and the assistantfinal.",
        "The tags <answer> and </answer> stand around it.",
        "analysis",
    ],
)
def test_text_that_is_not_reasoning_is_kept(reply: str, cut: int) -> None:
    assert "".join(heard(reply, cut)) == reply
    assert "".join(heard(reply, cut, expects_thought=True)) == reply


@CUTS
@pytest.mark.parametrize("reply", [f"<think>{THOUGHT}", f"<|channel|>analysis<|message|>{THOUGHT}", "<think"])
def test_unfinished_reasoning_gives_no_answer(reply: str, cut: int) -> None:
    assert heard(reply, cut, cut_short=True) in ([], ["<think"])
    assert heard(THOUGHT, cut, cut_short=True, expects_thought=True) == []


async def test_after_unannounced_reasoning_later_answers_stream_without_it(
    scripted_model: Any,
) -> None:
    scripted_model.reply("cited_answer", f"{THOUGHT}\n</think>\n\n{ANSWER}")
    first = await pieces_of(model_of(scripted_model))
    assert RETRACTION in first
    assert standing(first) == ANSWER
    second = await pieces_of(model_of(scripted_model))
    assert len(second) > 1
    assert "".join(second) == ANSWER
    assert RETRACTION not in second
    scripted_model.reply("cited_answer", ANSWER)  # it thinks no more
    assert ["".join(await pieces_of(model_of(scripted_model))) for _ in range(2)] == [ANSWER] * 2
    assert len(await pieces_of(model_of(scripted_model))) > 1


async def test_json_within_unannounced_reasoning_is_not_the_reply(scripted_model: Any) -> None:
    scripted_model.reply("identify_jargon", '{"terms": ["no"]} or so.\n</think>\n{"terms": ["WL"]}')
    assert await model_of(scripted_model).json("identify_jargon", question="What is the WL?") == {"terms": ["WL"]}


async def test_a_whole_text_contains_no_reasoning(scripted_model: Any) -> None:
    scripted_model.reply("cited_answer", f"{THOUGHT}</think>{ANSWER}")
    assert await model_of(scripted_model).whole_text("cited_answer", **INPUTS) == ANSWER


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content"])
async def test_a_separate_reasoning_field_counts_as_the_first_token(scripted_model: Any, field: str) -> None:
    """Check that the first reasoning token ends the first-token limit, since reasoning takes long."""
    thought = {"choices": [{"index": 0, "delta": {field: THOUGHT}, "finish_reason": None}]}
    scripted_model.reply("cited_answer", ANSWER)
    scripted_model.fault("event", event=json.dumps(thought))
    calls: list[Any] = []
    assert standing(await pieces_of(model_of(scripted_model, calls))) == ANSWER
    assert calls[0].failed == ""
    event = f"data: {json.dumps(thought)}\n\n".encode()
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 9999\r\n\r\n"
    scripted_model.heal()
    scripted_model.fault("raw", head=head + event, prompt="cited_answer", path="/v1/chat/completions", hangs=True)
    with pytest.raises(ModelUnavailable, match="was not done within 2 s"):
        await pieces_of(model_of(scripted_model, model_first_token_seconds=1, model_seconds=2))


async def test_reasoning_that_uses_up_the_token_limit_names_the_setting(scripted_model: Any) -> None:
    scripted_model.reply("cited_answer", "<think>" + " ".join(str(n) for n in range(3000)))
    with pytest.raises(ModelUnavailable, match=r"used up its longest answer.*ARGOT_MODEL_ANSWER_TOKENS"):
        await pieces_of(model_of(scripted_model, model_answer_tokens=50))
