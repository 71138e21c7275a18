"""Questions about earlier questions are answered from the conversation, since no document contains them."""

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from argot.graph.build import build_graph
from argot.graph.run import ask
from argot.results import AskResult
from argot.tools.reading.history_questions import find_recalled

VOLTAGE, TRIM = "What is the WL voltage during a read?", "How long does trimming a drive take?"


async def asked(kb: Any, *questions: str) -> list[AskResult]:
    graph, run, results = build_graph(InMemorySaver()), kb.run_context(), []
    for question in questions:
        events = [event async for event in ask(graph, run, question, "t")]
        assert isinstance(events[-1].data, AskResult)
        results.append(events[-1].data)
    return results


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ("What did I ask first?", "first"),
        ("and what was my first question, please?", "first"),
        ("What did I just ask you?", "last"),
        ("Can you repeat my last question?", "last"),
        ("which question did I ask before?", "last"),
        ("What have I asked so far?", "all"),
        ("list my questions", "all"),
        ("What did we ask about?", "all"),
    ],
)
def test_requests_for_earlier_questions_are_recognised(message: str, wanted: str) -> None:
    assert find_recalled(message) == wanted


@pytest.mark.parametrize(
    "message",
    [
        "What did the auditors ask first?",
        "What did I ask for in the change request?",
        "What should I ask first?",
        "What was the first question of the audit?",
        "Whom do I ask before a trip?",
        "What is asked in the first step?",
    ],
)
def test_a_question_about_asking_is_not_a_request_for_earlier_ones(message: str) -> None:
    assert find_recalled(message) is None


async def test_earlier_questions_are_repeated(tiny_kb: Any) -> None:
    *_, first, last, every = await asked(
        tiny_kb, "hello", VOLTAGE, TRIM, "What did I ask first?", "What did I just ask?", "What have I asked so far?"
    )
    assert first.status == "small_talk" and first.answer == f"The question was “{VOLTAGE}”"
    assert last.answer == f"The question was “{TRIM}”"
    assert every.answer == f"The questions were, in this order: “{VOLTAGE}” and “{TRIM}”"
    assert not (first.passages or first.examples or first.misses)


async def test_an_earlier_question_that_is_not_stored_is_not_invented(
    tiny_kb: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (nothing,) = await asked(tiny_kb, "What did I ask first?")
    assert "no longer have that part of it" in nothing.answer
    monkeypatch.setattr("argot.graph.checkpoints.thread_history.MAX_TURNS", 1)
    *_, gone, last = await asked(tiny_kb, VOLTAGE, TRIM, VOLTAGE, "What did I ask first?", "What was my last question?")
    assert "no longer have that part of it" in gone.answer
    assert VOLTAGE not in gone.answer and last.status == "small_talk"
