"""An abbreviation that is missing from the glossary but spelt out in the documents is not an unknown term."""

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from argot.graph.build import build_graph
from argot.graph.glossary_feedback import read_feedback
from argot.graph.run import ask
from argot.results import AskResult
from argot.tools.reading.spelt_out_terms import find_spelt_out, may_be_spelt_out
from argot.types import Principal

TARGETS = """# Drive targets

| Drive | Mean time between failures (million hours) | Weight (g) |
| --- | --- | --- |
| Plover 3 | 1.8 | 62 |
| Egret E4 | 2.5 | 71 |
"""
QUESTION = "What is the MTBF of the Egret E4?"


async def asked(run: Any, question: str, graph: Any = None) -> AskResult:
    *_, last = [event async for event in ask(graph or build_graph(InMemorySaver()), run, question, "t")]
    assert isinstance(last.data, AskResult)
    return last.data


@pytest.mark.parametrize(
    ("term", "text", "meaning"),
    [
        ("MTBF", TARGETS, "mean time between failures"),
        ("mtbf", TARGETS, "mean time between failures"),
        ("RAMs", "Its random access memory is full.", "random access memory"),
        ("NVM", "It is a non-volatile memory.", "non-volatile memory"),
        ("MTF", "The mean, the time and the failures count.", ""),
        ("TBF", "The mean time.\\n\\nBetween failures it rests.", ""),
        ("OTA", "One of them answers.", ""),
        ("XQZ", TARGETS, ""),
    ],
)
def test_an_expansion_is_found_by_its_initial_letters(term: str, text: str, meaning: str) -> None:
    assert find_spelt_out(term, [text]) == meaning


@pytest.mark.parametrize("term", ["PE", "E4", "tCCS", "P&L", "ABCDEFG"])
def test_short_or_ordinary_words_are_not_treated_as_abbreviations(term: str) -> None:
    assert not may_be_spelt_out(term)


async def test_an_abbreviation_spelt_out_in_documents_is_answered(tiny_kb: Any) -> None:
    tiny_kb.add("targets.md", TARGETS)
    result = await asked(tiny_kb.run_context(), QUESTION)
    assert (result.status, "2.5" in result.answer) == ("answered", True)
    assert [(one.surface, one.expansion, one.sense_id) for one in result.jargon] == [
        ("MTBF", "mean time between failures", 0)
    ]
    assert result.search_queries[0] == "What is the mean time between failures of the Egret E4?"
    assert result.misses == []


async def test_a_spelt_out_abbreviation_is_still_reported_to_managers(tiny_kb: Any) -> None:
    tiny_kb.add("targets.md", TARGETS)
    graph = build_graph(InMemorySaver())
    await asked(tiny_kb.run_context(), QUESTION, graph)
    state = await graph.aget_state({"configurable": {"thread_id": "t"}})
    assert "MTBF" in read_feedback(state.values).undefined


async def test_an_unreadable_document_spells_out_no_abbreviation(tiny_kb: Any) -> None:
    tiny_kb.add("targets.md", TARGETS, audience=frozenset({"vault"}))
    assert (await asked(tiny_kb.run_context(), QUESTION)).status == "query_miss"
    insider = Principal("iris", frozenset({"vault"}))
    assert (await asked(tiny_kb.run_context(insider), QUESTION)).status == "answered"


async def test_the_strict_query_miss_uses_the_glossary_alone(tiny_kb: Any) -> None:
    tiny_kb.add("targets.md", TARGETS)
    assert (await asked(tiny_kb.run_context(misses="strict"), QUESTION)).status == "query_miss"
