"""A glossary of a whole organisation beside the documents of one team explains their terms, and stops no question."""

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from argot.graph.build import build_graph
from argot.graph.glossary_feedback import read_feedback
from argot.graph.run import answer_choice, ask
from argot.results import AskResult
from argot.tools.senses.sense_support import MAX_OWN_SENSES

STATION = """# Station handbook

## The outstation

The outstation (OS) measures the water level. The OS is opened with the grey key, and each OS has two batteries.

## Publishing

Notices are published in the CMS. The CMS closes at 5 pm, and its apps are tested on a Mac every Friday.

## Permits

The Harbour Permit Board (HPB) grants every permit. It meets in March.

## Signal light

A signal light is green. A stop line is white.
"""
RUNBOOK = """# Runbook for divers

Divers call the HPB on channel 12 before each dive. The HPB answers within ten minutes.
"""
FOREIGN = (
    ("OS", "open system"),
    ("CMS", "content mending service"),
    ("CMS", "cargo mass survey"),
    ("APPS", "advanced plumbing practices"),
    ("MAC", "marine acoustic camera"),
    ("PM", "pump maintenance"),
    ("SL", "signal light"),
    ("SL", "stop line"),
    ("ZNT", "zinc net tension"),
    ("HPB", "Harbour Permit Board"),
    ("HMB", "harbour master's barge"),
)


@pytest.fixture
def kb(tiny_kb: Any) -> Any:
    rows = [*FOREIGN, *((f"Q{n}X", f"quarry lift number {n}") for n in range(MAX_OWN_SENSES))]
    lines = "".join(f"{term},{meaning}\n" for term, meaning in rows)
    tiny_kb.glossary.files.import_csv(f"term,expansion\n{lines}")
    tiny_kb.add("station.md", STATION)
    tiny_kb.add("runbook.md", RUNBOOK)
    return tiny_kb


async def ask_once(kb: Any, question: str, graph: Any = None, **profile: Any) -> AskResult:
    events = ask(graph or build_graph(InMemorySaver()), kb.run_context(**profile), question, "t")
    *_, last = [event async for event in events]
    assert isinstance(last.data, AskResult)
    return last.data


async def test_a_meaning_that_the_documents_give_wins_over_the_list(kb: Any) -> None:
    result = await ask_once(kb, "Which key opens the OS?")
    assert [(one.expansion, one.sense_id) for one in result.jargon] == [("outstation", 0)]
    assert "open system" not in result.augmented_question
    assert "grey key" in result.answer


async def test_a_term_without_support_is_left_as_written(kb: Any) -> None:
    result = await ask_once(kb, "When does the CMS close?")
    assert (result.status, "5 pm" in result.answer) == ("answered", True)
    assert (result.jargon, "CMS" in result.search_queries[0]) == ([], True)
    assert "mending" not in result.augmented_question
    # The passage that answers uses the term itself.
    assert not any("CMS" in note for note in result.notes)


async def test_a_note_tells_the_glossary_s_meanings_where_no_passage_shows_another(kb: Any) -> None:
    result = await ask_once(kb, "Who painted the bicycles of the CMS?")
    assert result.status == "abstained"
    assert any("CMS" in note and "content mending service or cargo mass survey" in note for note in result.notes)


async def test_a_term_without_support_is_no_gap_of_the_glossary(kb: Any) -> None:
    graph = build_graph(InMemorySaver())
    await ask_once(kb, "When does the CMS close?", graph)
    state = await graph.aget_state({"configurable": {"thread_id": "t"}})
    assert read_feedback(state.values).undefined == ()


async def test_two_senses_that_the_documents_bear_out_are_offered(kb: Any) -> None:
    result = await ask_once(kb, "What is an SL?")
    assert result.status == "needs_choice"
    assert {choice.expansion for choice in result.choices if choice.expansion} == {"signal light", "stop line"}


async def test_the_glossary_tells_a_meaning_that_is_asked_for(kb: Any) -> None:
    result = await ask_once(kb, "What does ZNT stand for?")
    assert "In the glossary: “ZNT” means zinc net tension." in result.answer
    assert [one.context for one in result.jargon] == [""]


async def test_one_meaning_is_told_if_no_document_bears_out_any(kb: Any) -> None:
    kb.glossary.senses.add("ZNT", "general", "zone north terminal")
    result = await ask_once(kb, "What does ZNT stand for?")
    assert result.status == "answered"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("On what are the apps tested?", "Mac"),
        ("Who tests the apps on a Mac, Friday or Monday?", "Friday"),
        ("Are notices published until 5 PM in the CMS?", "5 pm"),
    ],
)
async def test_everyday_words_and_times_are_no_terms(kb: Any, question: str, answer: str) -> None:
    result = await ask_once(kb, question)
    assert (result.status, result.jargon) == ("answered", [])
    assert answer in result.answer


async def test_exchanged_letters_are_asked_about(kb: Any) -> None:
    graph, run = build_graph(InMemorySaver()), kb.run_context()
    asked = await ask_once(kb, "Who grants permits at the HBP?", graph)
    assert (asked.status, next(choice.term for choice in asked.choices)) == ("needs_choice", "HPB")
    *_, last = [event async for event in answer_choice(graph, run, "t", "HPB")]
    assert [one.expansion for one in last.data.jargon] == ["Harbour Permit Board"]


async def test_a_full_name_finds_passages_that_only_abbreviate_it(kb: Any) -> None:
    result = await ask_once(kb, "On which channel is the Harbour Permit Board called?")
    assert "channel 12" in result.answer


async def test_a_context_that_managers_describe_needs_no_support(kb: Any) -> None:
    kb.glossary.contexts.add("general", "Words of the whole harbour")
    result = await ask_once(kb, "When does the OS close?")
    assert [one.expansion for one in result.jargon] == ["open system"]


async def test_the_askers_choice_needs_no_support(kb: Any) -> None:
    (sense,) = kb.glossary.lookup.senses(kb.run_context().principal, ["OS"])["OS"]
    events = ask(
        build_graph(InMemorySaver()), kb.run_context(), "Which key opens the OS?", "t", senses={"OS": sense.id}
    )
    *_, last = [event async for event in events]
    assert [one.expansion for one in last.data.jargon] == ["open system"]


async def test_the_papers_profile_takes_the_glossary_as_it_is(kb: Any) -> None:
    result = await ask_once(kb, "Which key opens the OS?", misses="strict")
    assert [one.expansion for one in result.jargon] == ["open system"]


async def test_a_term_with_a_description_alone_stays_in_the_question(tiny_kb: Any) -> None:
    tiny_kb.glossary.files.import_csv("term,description\nGKX,The grey key that opens the outstation.\n")
    tiny_kb.add("keys.md", "# Keys\n\nThe GKX hangs in room seven. A spare key lies in the safe.\n")
    result = await ask_once(tiny_kb, "Where does the GKX hang?")
    assert (result.status, "room seven" in result.answer) == ("answered", True)
    assert [(one.term, one.expansion) for one in result.jargon] == [("GKX", "")]
    assert "GKX" in result.search_queries[0]
    defined = await ask_once(tiny_kb, "What is a GKX?")
    assert "grey key" in defined.answer
