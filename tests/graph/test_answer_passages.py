"""A model's prompt: a passage with the rest of a list has the line above that list, and a sign where it was cut."""

import re
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


async def ask_model(
    kb: Any, scripted: Any, *replies: str, profile: Profile | None = None, question: str = QUESTION
) -> AskResult:
    scripted.replies("cited_answer", *replies)
    given = scripted.settings(home=kb.folder)
    run = build_run_context(
        kb.corpus, kb.glossary, Principal("ann"), profile or Profile(), given, server=ModelServer.from_settings(given)
    )
    *_, last = [event async for event in ask(build_graph(InMemorySaver()), run, question, "t")]
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


PLOTS = "".join(f"- Plot {n}, which the wardens water twice in each dry week of the summer\n" for n in range(100, 200))
READING = Profile(passages_for_model=5, passages=5, search_again=False)
"""Five passages of the plots are read, of some ten."""
PLOT_QUESTION = "Which plots do the wardens water in each dry week of the summer?"


@pytest.fixture
def plots(tiny_kb: Any) -> Any:
    tiny_kb.add("plots.md", f"# Plots\n\nThe wardens water:\n\n{PLOTS}")
    return tiny_kb


def list_plots(prompt: str) -> set[str]:
    return set(re.findall(r"Plot (\d+)", prompt))


@pytest.mark.parametrize(
    ("first", "asked"),
    [
        ("The wardens water plots [1]. The list is cut here, so there is more to it.", 2),
        ("The wardens water plots [1]. There are more plots in winter.", 1),
        ("The wardens water plots [1].", 1),
    ],
)
async def test_a_list_that_the_draft_calls_cut_is_read_on(
    plots: Any, scripted_model: Any, first: str, asked: int
) -> None:
    result = await ask_model(
        plots, scripted_model, first, "The wardens water plots [2].", profile=READING, question=PLOT_QUESTION
    )
    prompts = [one.user for one in scripted_model.asked("cited_answer")]
    assert len(prompts) == asked
    assert result.answer.startswith("The wardens water plots")
    if asked > 1:
        read = [list_plots(prompt) for prompt in prompts]
        cited = list_plots(prompts[0].split("</passage>")[0])
        assert cited <= read[1] and read[1] - read[0]
        # What follows the passage in the list, or precedes it, is read.
        around = {str(int(max(cited)) + 1), str(int(min(cited)) - 1)} & set(map(str, range(100, 200)))
        assert around <= read[1]


async def test_the_first_draft_stays_if_the_model_says_nothing_more(plots: Any, scripted_model: Any) -> None:
    first = "The wardens water plots [1]. The list is cut here."
    result = await ask_model(
        plots, scripted_model, first, "NOT IN THE PASSAGES", profile=READING, question=PLOT_QUESTION
    )
    assert result.answer.startswith("The wardens water plots")
