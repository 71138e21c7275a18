"""Other queries by rules: from the question itself and the headings found."""

from typing import Any

import pytest

from argot.tools.retrieval.other_queries import propose_queries


def propose(kb: Any, question: str, message: str = "") -> list[str]:
    return propose_queries(question, message or question, [], kb.corpus.embedder, lambda _: 1)


def test_the_questions_of_a_long_message_are_searched_one_by_one(tiny_kb: Any) -> None:
    message = "We moved last week. The desks are new. Who orders the chairs? And by when must the lamps be returned?"
    assert propose(tiny_kb, message) == ["Who orders the chairs?", "And by when must the lamps be returned?"]


def test_a_single_clear_question_has_no_other_words(tiny_kb: Any) -> None:
    assert propose(tiny_kb, "How tall may a pole be?") == []


@pytest.mark.parametrize(
    "message",
    [
        "I want to take a drive home from the pool. Where do I get it, and how long may I keep it?",
        "A former applicant asked what we know about him. What am I supposed to do?",
        "There is a block with 950 erases. What handling does the firmware give it? And why?",
    ],
)
def test_a_question_that_needs_the_rest_of_its_message_is_not_searched_alone(tiny_kb: Any, message: str) -> None:
    assert propose(tiny_kb, message) == []


def test_the_question_before_a_follow_up_is_not_searched_again(tiny_kb: Any) -> None:
    follow_up = "And who repairs the red lamps?"
    assert propose(tiny_kb, f"Who orders the chairs? {follow_up}", follow_up) == [follow_up]
