"""Once the asker has chosen the sense of a term, no sentence about another sense is quoted."""

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from argot.graph.build import build_graph
from argot.graph.run import answer_choice, ask
from argot.graph.state_records import CHOSEN_BY_ASKER
from argot.results import AskResult
from argot.tools.senses.rival_senses import find_rival_passages
from argot.types import Principal

QUESTION = "What clean room does the bonding step of the PUC need?"
BARE = "# Bonding line\n\n## Daily work\n\nThe PUC bonding step needs a nitrogen purge of the memory array.\n"
SPELT = "\n## What is made\n\n" + "Peripheral Under Cell puts the peripheral circuits under the memory array. " * 30


@pytest.fixture
def kb(tiny_kb: Any) -> Any:
    tiny_kb.glossary.senses.add("PUC", "Legal", "Public Utilities Commission")
    return tiny_kb


def sense(kb: Any, context: str) -> Any:
    senses = kb.glossary.lookup.senses(Principal("ann"), ["PUC"])["PUC"]
    return next(one for one in senses if one.context == context)


async def result_of(events: Any) -> AskResult:
    *_, last = [event async for event in events]
    assert isinstance(last.data, AskResult)
    return last.data


async def test_no_passage_of_a_rival_sense_is_quoted_or_shown(kb: Any) -> None:
    graph, run = build_graph(InMemorySaver()), kb.run_context()
    free = await result_of(ask(graph, run, QUESTION, "free"))
    assert "class 10" in free.answer
    meant = await result_of(ask(graph, run, QUESTION, "meant", senses={"PUC": sense(kb, "Legal").id}))
    assert [one.expansion for one in meant.jargon] == ["Public Utilities Commission"]
    assert "class 10" not in meant.answer
    assert not any("Peripheral Under Cell" in passage.text for passage in meant.passages)


async def test_the_chosen_sense_is_still_quoted(kb: Any) -> None:
    graph, run = build_graph(InMemorySaver()), kb.run_context()
    meant = await result_of(ask(graph, run, QUESTION, "t", senses={"PUC": sense(kb, "NAND").id}))
    assert "class 10" in meant.answer


async def test_a_choice_among_several_senses_excludes_the_rivals(kb: Any) -> None:
    graph, run = build_graph(InMemorySaver()), kb.run_context(sense_margin=1.0)
    offer = await result_of(ask(graph, run, QUESTION, "t"))
    assert offer.status == "needs_choice"
    meant = await result_of(answer_choice(graph, run, "t", "Public Utilities Commission"))
    assert "class 10" not in meant.answer
    values = (await graph.aget_state({"configurable": {"thread_id": "t"}})).values
    assert {reading["chosen_by"] for reading in values["readings"]} <= set(CHOSEN_BY_ASKER)


async def test_an_inferred_sense_excludes_no_passages(kb: Any) -> None:
    graph, run = build_graph(InMemorySaver()), kb.run_context(choose_sense=False)
    result = await result_of(ask(graph, run, "What does the PUC need?", "t"))
    shown = " ".join(passage.text for passage in result.passages)
    assert "Peripheral Under Cell" in shown and "Public Utilities Commission" in shown


def test_a_passage_that_uses_the_bare_term_in_a_rival_sense_is_excluded(kb: Any) -> None:
    kb.add("bonding.md", BARE + SPELT)
    meant, other = sense(kb, "Legal"), sense(kb, "NAND")
    left_out = find_rival_passages(kb.corpus, Principal("ann"), meant, [meant, other])
    texts = [passage.text for passage, _ in kb.corpus.store.passages(Principal("ann"), [*left_out]).values()]
    assert any("nitrogen purge" in text and "Peripheral Under Cell" not in text for text in texts)
    assert not any("Public Utilities Commission" in text for text in texts)


def test_a_sense_whose_name_is_part_of_the_chosen_one_is_not_a_rival(kb: Any) -> None:
    kb.glossary.senses.add("PUC", "Tools", "Peripheral Under Cell bonding")
    meant, other = sense(kb, "Tools"), sense(kb, "NAND")
    assert find_rival_passages(kb.corpus, Principal("ann"), meant, [meant, other]) == frozenset()
