"""Questions asked of one document alone: nothing else is searched, and the answer says so."""

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from argot.graph.build import build_graph
from argot.graph.run import ask
from argot.results import AskResult
from argot.types import Principal

ANN = Principal("ann")
ROTA = """# Lighthouse rota

The rota says who keeps the lamp of the Skerry lighthouse. A night watch lasts 6 hours.

## Supplies

The boat comes on Mondays.
"""
MENU = "# Canteen menu\n\nOn Fridays the canteen serves pike with dill. Lunch lasts 40 minutes.\n"


@pytest.fixture
def rota(tiny_kb: Any) -> str:
    for name, text in (("rota.md", ROTA), ("menu.md", MENU)):
        tiny_kb.add(name, text)
    return str(tiny_kb.corpus.store.document(ANN, "rota.md").id)


async def asked(run: Any, *questions: str) -> list[AskResult]:
    graph, results = build_graph(InMemorySaver()), []
    for question in questions:
        events = [event async for event in ask(graph, run, question, "t")]
        assert isinstance(events[-1].data, AskResult)
        results.append(events[-1].data)
    return results


def scoped(kb: Any, *documents: str) -> Any:
    from dataclasses import replace

    return replace(kb.run_context(ANN), documents=documents)


async def test_only_the_given_document_is_searched_and_a_note_says_so(tiny_kb: Any, rota: str) -> None:
    found, other, again = await asked(
        scoped(tiny_kb, rota), "How long does a night watch last?", "What does the canteen serve on Fridays?",
        "When does the boat come?",
    )  # fmt: skip
    assert "6 hours" in found.answer
    assert found.notes[0] == "Only rota.md was searched, as you asked."
    assert "pike" not in other.answer
    assert {one.document for result in (found, other, again) for one in result.passages} == {"rota.md"}
    assert "Mondays" in again.answer


async def test_this_and_the_library_mean_the_given_document_alone(tiny_kb: Any, rota: str) -> None:
    gist, held = await asked(scoped(tiny_kb, rota), "What is this about?", "What documents do you have?")
    assert "lighthouse" in gist.answer.casefold()
    assert {one.document for one in gist.passages} == {"rota.md"}
    assert "rota.md" in held.answer and "menu.md" not in held.answer


async def test_a_removed_or_unreadable_document_gives_no_answer(tiny_kb: Any, rota: str) -> None:
    tiny_kb.add("secret.md", MENU.replace("pike", "trout"), audience=frozenset({"cooks"}))
    secret = tiny_kb.corpus.store.document(Principal("eve", sees_all=True), "secret.md").id
    for gone in ("d0000000000000000", secret):
        (result,) = await asked(scoped(tiny_kb, gone), "What does the canteen serve on Fridays?")
        assert (result.status, result.passages) == ("abstained", [])
        assert "not there any more, or not for you" in result.notes[0]
