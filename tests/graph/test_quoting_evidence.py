"""The closer reading that a quotation depends on is done where an answer is quoted, and only there."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from argot.graph.build import build_graph
from argot.graph.run import ask
from argot.graph.run_context import build_run_context
from argot.profile import Profile
from argot.results import AskResult
from argot.tools.llm.model_server import ModelServer
from argot.tools.retrieval.pair_reader import PairReader
from argot.types import Principal

WORKSHOP = "# Workshop\n\nThe kiln cools for 40 hours. Helmets lie in the red locker.\n"
QUESTION = "How long does the kiln cool?"
UNANSWERED = "Who may drive the forklift at night?"


@pytest.fixture
def kb(tiny_kb: Any) -> Any:
    tiny_kb.add("workshop.md", WORKSHOP)
    return tiny_kb


@pytest.fixture
def closely_read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record the questions for which the pair reader reads."""
    questions: list[str] = []
    original = PairReader.read_passages

    def noted(self: PairReader, question: str, passages: Any) -> Any:
        questions.append(question)
        return original(self, question, passages)

    monkeypatch.setattr(PairReader, "read_passages", noted)
    return questions


async def ask_with(kb: Any, scripted: Any, question: str = QUESTION) -> AskResult:
    given = scripted.settings(home=kb.folder)
    run = build_run_context(
        kb.corpus, kb.glossary, Principal("ann"), Profile(), given, server=ModelServer.from_settings(given)
    )
    *_, last = [event async for event in ask(build_graph(InMemorySaver()), run, question, "t")]
    assert isinstance(last.data, AskResult)
    return last.data


async def ask_without_model(kb: Any, question: str) -> AskResult:
    *_, last = [event async for event in ask(build_graph(InMemorySaver()), kb.run_context(), question, "t")]
    assert isinstance(last.data, AskResult)
    return last.data


async def test_no_passage_is_read_closely_for_an_answer_of_a_model(
    kb: Any, scripted_model: Any, closely_read: list[str]
) -> None:
    scripted_model.reply("cited_answer", "The kiln cools for 40 hours [1].")
    result = await ask_with(kb, scripted_model)
    assert (result.status, result.answered_by, closely_read) == ("answered", "model", [])
    await ask_without_model(kb, QUESTION)
    assert closely_read


@pytest.mark.parametrize("fault", ["no answer", "unsupported answer"])
async def test_a_quotation_in_place_of_a_models_answer_is_judged_as_without_a_model(
    kb: Any, scripted_model: Any, fault: str
) -> None:
    if fault == "no answer":
        scripted_model.fault("status", prompt="cited_answer", code=500)
    else:
        scripted_model.reply("cited_answer", "Every visitor receives 77 gold coins in Lisbon [1].")
    for question, status in ((QUESTION, "answered"), (UNANSWERED, "abstained")):
        quoted, alone = await ask_with(kb, scripted_model, question), await ask_without_model(kb, question)
        assert (quoted.status, alone.status) == (status, status), question
        assert quoted.is_weak == alone.is_weak
        assert quoted.answer == alone.answer or status == "abstained"
