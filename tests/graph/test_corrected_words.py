"""A misspelt word of a question finds its passages, and the asker is told how it was read."""

from __future__ import annotations

from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

from argot.graph.build import build_graph
from argot.graph.run import ask
from argot.results import AskResult

RULES = "# Workshop\n\n## Reception\n\nThe reception of the workshop opens at seven.\n"


async def asked(run: Any, question: str) -> AskResult:
    *_, last = [event async for event in ask(build_graph(InMemorySaver()), run, question, "t")]
    assert isinstance(last.data, AskResult)
    return last.data


async def test_a_misspelt_word_is_searched_as_it_was_meant(tiny_kb: Any) -> None:
    tiny_kb.add("workshop.md", RULES)
    result = await asked(tiny_kb.run_context(), "When does the recpetion open?")
    assert "opens at seven" in result.answer
    assert (result.question, result.stand_alone_question) == (
        "When does the recpetion open?",
        "When does the reception open?",
    )
    assert result.notes == ["“recpetion” was read as “reception”."]


async def test_no_word_is_corrected_where_questions_stay_as_they_are(tiny_kb: Any) -> None:
    tiny_kb.add("workshop.md", RULES)
    result = await asked(tiny_kb.run_context(stand_alone=False), "When does the recpetion open?")
    assert result.stand_alone_question == result.question
