"""A refusal says what is true: no sure answer, nothing close, other languages, or nothing but the last answer."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from argot.graph.build import build_graph
from argot.graph.presentation.wording import write_abstention
from argot.graph.run import ask
from argot.results import NO_ANSWER, AskResult, FoundPassage

NEAR = FoundPassage(n=1, passage_id="p", document="a.md", uri="x", page=None, heading="", text="T", score=0.4)
PARKING = "# Garage\n\nEmployees park on level 2 for free.\n"


async def asked(kb: Any, *questions: str) -> list[AskResult]:
    graph, run, results = build_graph(InMemorySaver()), kb.run_context(), []
    for question in questions:
        events = [event async for event in ask(graph, run, question, "t")]
        assert isinstance(events[-1].data, AskResult)
        results.append(events[-1].data)
    return results


def test_closest_passages_follow_a_refusal_that_does_not_deny_them() -> None:
    assert write_abstention([NEAR]) == f"{NO_ANSWER} The closest passages are:\n[1] a.md"
    assert write_abstention([]).startswith("No passage comes close enough to answer this. Try other words, or name ")


@pytest.mark.parametrize("nearest", [[], [NEAR]])
def test_a_refusal_that_cannot_tell_says_why(nearest: list[FoundPassage]) -> None:
    assert write_abstention(nearest, untold="The documents are in German.").startswith("The documents are in German.")


async def test_a_follow_up_is_not_answered_by_the_last_answer_again(tiny_kb: Any) -> None:
    tiny_kb.add("garage.md", PARKING)
    first, second = await asked(tiny_kb, "On which level do employees park?", "And for part-timers?")
    assert (first.status, second.status) == ("answered", "abstained")
    assert second.answer.startswith("No answer to “And for part-timers?” was found beyond the one above.")


async def test_a_follow_up_about_one_part_of_a_long_answer_is_answered_by_it(tiny_kb: Any) -> None:
    lost, forgot = "If the badge is lost, tell the gate.", "The gate lends badges for a day."
    tiny_kb.add("badges.md", f"# Badges\n\n## Lost badges\n\n{lost}\n\n## Forgotten badges\n\n{forgot}\n")
    first, second, third = await asked(
        tiny_kb, "What about badges?", "And if I have forgotten it at home?", "And on Sundays?"
    )
    assert lost in first.answer and forgot in first.answer
    assert (second.status, forgot in second.answer) == ("answered", True)
    assert third.status == "abstained"


async def test_a_follow_up_in_german_is_compared_by_german_stems(tiny_kb: Any) -> None:
    lost, forgot = "Wer den Ausweis verliert, meldet es an der Pforte.", "Die Pforte verleiht Ausweise für einen Tag."
    tiny_kb.add("ausweise.md", f"# Ausweise\n\n## Verlorene Ausweise\n\n{lost}\n\n## Vergessene Ausweise\n\n{forgot}\n")
    first, second, third = await asked(
        tiny_kb, "Was gilt für Ausweise?", "Und wenn ich ihn zu Hause vergessen habe?", "Und für den Hund?"
    )
    assert lost in first.answer and forgot in first.answer
    assert second.status == "answered" and forgot in second.answer
    assert third.status == "abstained" and "„Und für den Hund?“" in third.answer


async def test_a_follow_up_that_the_same_sentence_answers_is_answered(tiny_kb: Any) -> None:
    tiny_kb.add("garage.md", "# Garage\n\nEmployees park on level 2, contractors on level 3.\n")
    first, second = await asked(tiny_kb, "On which level do employees park?", "And for contractors?")
    assert (first.status, second.status) == ("answered", "answered")
    assert "level 3" in second.answer


async def test_a_follow_up_that_asks_for_another_value_of_the_same_sentence_is_answered(tiny_kb: Any) -> None:
    tiny_kb.add("panel.md", "# Panel\n\nThe appeals panel sits every second Thursday: Ann Lee and Bo Ash.\n")
    first, second = await asked(tiny_kb, "Who sits on the appeals panel?", "How often does it meet?")
    assert (first.status, second.status) == ("answered", "answered")
    assert "every second Thursday" in second.answer


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Quanto costa un microchip?", "Italian"),
        ("Сколько стоит микрочип?", "Russian"),
        ("マイクロチップはいくらですか", "Japanese"),
        ("كم سعر الرقاقة؟", "Arabic"),
    ],
)
async def test_a_refusal_names_the_language_that_the_documents_lack(tiny_kb: Any, question: str, language: str) -> None:
    (result,) = await asked(tiny_kb, question)
    assert result.status == "abstained"
    assert f"The question is in {language}, and there are only documents in English." in result.answer


async def test_a_refusal_of_english_names_without_function_words_names_no_language(tiny_kb: Any) -> None:
    (result,) = await asked(tiny_kb, "Zorvath Quillfeather invoice total")
    assert result.status != "answered"
    assert "The question is in" not in result.answer
