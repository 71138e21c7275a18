"""Questions that may need the conversation before them."""

import pytest

from argot.tools.reading.continuations import is_continuation
from argot.tools.reading.follow_ups import stand_alone
from argot.types import Turn

LAST = Turn("How do I hand in files at the yard?", "Put the files into the red box. The warden signs for them.")


@pytest.mark.parametrize(
    "question",
    [
        "how large may the files be?",
        "and what if I am a visitor?",
        "Ok, but who signs at night?",
        "what if the box is full",
        "who is her deputy?",
        "is there another one?",
        "does the warden sign for visitors too?",
    ],
)
def test_a_question_that_may_lean_on_the_conversation_is_recognised(question: str) -> None:
    assert is_continuation(question, LAST)


@pytest.mark.parametrize(
    "question",
    [
        "How do I reset my badge PIN?",
        "When does the canteen open on Sundays?",
        "Which departments of the harbour may hand in sealed files at the office?",
        "",
    ],
)
def test_a_question_that_says_what_it_is_about_is_complete(question: str) -> None:
    assert not is_continuation(question, LAST)


def test_a_case_is_read_with_the_question_before_it() -> None:
    asked = "How much leave do I get?"
    expected = f"{asked} And what if I am a visitor?"
    assert stand_alone("and what if I am a visitor?", [Turn(asked, "")], lambda _: []) == expected
