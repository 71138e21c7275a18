"""A model's prompt: a passage with the rest of a list has the line above that list, and a sign where it was cut."""

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from argot.graph.build import build_graph
from argot.graph.run import ask
from argot.graph.run_context import build_run_context
from argot.profile import Profile
from argot.results import AskResult
from argot.tools.llm.model_server import ModelServer
from argot.types import Principal

PLANTS = [
    *("larch", "alder", "hazel", "willow", "cedar", "rowan", "aspen"),
    *("maple", "linden", "elder", "hornbeam", "juniper", "spruce", "walnut"),
]
ENTRIES = "".join(
    f"- The {plant} at the lake path, which the wardens watered twice in each dry week of the summer of its planting\n"
    for plant in PLANTS
)
GARDEN = f"# Garden\n\n## Lake\n\nThe gardener prunes each of these:\n\n{ENTRIES}\nNothing else is pruned.\n"
QUESTION = "Does the gardener prune the walnut at the lake path?"


async def ask_model(kb: Any, scripted: Any, reply: str) -> AskResult:
    scripted.reply("cited_answer", reply)
    given = scripted.settings(home=kb.folder)
    run = build_run_context(
        kb.corpus, kb.glossary, Principal("ann"), Profile(), given, server=ModelServer.from_settings(given)
    )
    *_, last = [event async for event in ask(build_graph(InMemorySaver()), run, QUESTION, "t")]
    assert isinstance(last.data, AskResult)
    return last.data


@pytest.fixture
def kb(tiny_kb: Any) -> Any:
    tiny_kb.add("garden.md", GARDEN)
    return tiny_kb


async def test_the_rest_of_a_list_has_the_line_above_the_list_and_a_sign(kb: Any, scripted_model: Any) -> None:
    await ask_model(kb, scripted_model, "NOT IN THE PASSAGES")
    given = scripted_model.asked("cited_answer")[0].user
    fences = [text for text in given.split("<passage ") if "- The walnut" in text]
    assert len(fences) == 1
    assert "\nThe gardener prunes each of these:\n[...]\n- The" in fences[0]
    assert "- The larch" not in fences[0]
    (first,) = [text for text in given.split("<passage ") if "- The larch" in text]
    assert first.rstrip().endswith("planting\n[...]\n</passage>")


async def test_a_sentence_may_rest_on_the_line_above_a_list_of_another_passage(kb: Any, scripted_model: Any) -> None:
    result = await ask_model(kb, scripted_model, "The gardener prunes the walnut at the lake path [1].")
    assert [bool(sentence.citations) for sentence in result.sentences] == [True]
    cited = {citation.passage_id for citation in result.sentences[0].citations}
    assert all("walnut" in passage.text for passage in result.passages if passage.passage_id in cited)
