"""A question that names a printed number is answered from the part with that number, and from no other."""

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from argot.graph.build import build_graph
from argot.graph.run import ask
from argot.results import AskResult

TERMS = """# 1 Scope

These terms apply to all loans of tents.

# 2 Duties

## 2.1 Of the borrower

The borrower pays within 14 days.

## 2.2 Of the lender

The lender mends tears within 5 days.

- 2.3 Notice is given in writing.
- 2.4 Interest is 4 percent a year.
"""
PITCHING = """# Pitching

1. Open the main bag.
2. Lay out the poles.

Wait until the wind is calm before you go on.

3. Set the guy lines to 4 metres.
4. Close the flap.

# Striking

6. Release the guy lines.
7. Roll up the sheet.

# Exclusions

- (a) wear parts
- (b) frost damage
"""


@pytest.fixture
def kb(tiny_kb: Any) -> Any:
    tiny_kb.add("loan-terms.md", TERMS)
    tiny_kb.add("tent.md", PITCHING)
    return tiny_kb


async def asked(kb: Any, question: str) -> AskResult:
    *_, last = [event async for event in ask(build_graph(InMemorySaver()), kb.run_context(), question, "t")]
    assert isinstance(last.data, AskResult)
    return last.data


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What does clause 2.2 say?", "2.2 Of the lender\n\nThe lender mends tears within 5 days."),
        ("What does clause 2.3 of the loan terms say?", "- 2.3 Notice is given in writing."),
        ("What is step 3 of the pitching?", "3. Set the guy lines to 4 metres."),
        ("What is step seven of the striking?", "7. Roll up the sheet."),
        ("What does item (b) of the exclusions say?", "- (b) frost damage"),
    ],
)
async def test_the_numbered_part_answers_a_question_for_its_number(kb: Any, question: str, answer: str) -> None:
    result = await asked(kb, question)
    assert (result.status, result.answer) == ("answered", answer)
    assert all(sentence.supported for sentence in result.sentences)


@pytest.mark.parametrize(
    ("question", "name", "nearest"),
    [
        ("What is step 9 of the striking?", "step 9", "7. Roll up the sheet."),
        ("What is step 3 of the striking?", "step 3", "3. Set the guy lines to 4 metres."),
        ("What does clause 2.9 say?", "clause 2.9", "2.4 Interest is 4 percent a year."),
    ],
)
async def test_a_missing_number_is_not_answered_by_another_part(
    kb: Any, question: str, name: str, nearest: str
) -> None:
    result = await asked(kb, question)
    assert result.status == "abstained"
    assert f"The documents nearest to the question have no “{name}”." in result.notes
    assert any(nearest in (passage.excerpt or "") for passage in result.passages)


async def test_two_questions_about_numbers_are_both_answered(kb: Any) -> None:
    result = await asked(kb, "What does clause 2.1 say and what does clause 2.4 say?")
    assert "within 14 days" in (result.answer or "")
    assert "2.4 Interest is 4 percent a year." in (result.answer or "")
    assert "within 5 days" not in (result.answer or "")
