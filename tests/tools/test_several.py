"""Whether a question asks for several things."""

from __future__ import annotations

import pytest

from argot.tools.reading.answer_types import asks_for_several
from argot.tools.reading.comparisons import find_naming_texts, find_sides
from argot.types import Mention, ReadTerm, Sense


@pytest.mark.parametrize(
    "question",
    [
        "How many cabins are there?",
        "Which discounts do students get?",
        "What are the steps?",
        "What other fire drills do we hold?",
        "What in the kit are spare parts?",
        "How do I book a cabin?",
    ],
)
def test_questions_for_several_things_are_recognised(question: str) -> None:
    assert asks_for_several(question)


@pytest.mark.parametrize(
    "question",
    ["How many days of leave do I get?", "How much is a suite?", "What is the fee of the class?", "Who pays?"],
)
def test_questions_for_one_thing_are_recognised(question: str) -> None:
    assert not asks_for_several(question)


@pytest.mark.parametrize(
    ("side", "question", "places"),
    [
        # "die" of a short side is an article, as its question shows, and not a word of English.
        ("die Toleranz", "Vergleiche die Toleranz und die Warngrenze", [0, 2]),
        ("Toleranzen", "Vergleiche Toleranzen und Warngrenzen", [0, 2]),
        ("Wolframfüllung", "Vergleiche die Toleranz von Kanalätzung und Wolframfüllung", []),
        ("WG", "Was ist der Unterschied zwischen WG und EG?", [1]),
    ],
)
def test_texts_that_name_a_side_are_found_by_the_language_of_the_question(
    side: str, question: str, places: list[int]
) -> None:
    texts = ["innerhalb der Toleranz des Produkts", "Die Warngrenze liegt bei zwei.", "± 7,0 nm (Toleranzen)"]
    sense = Sense(1, "WG", "Qualität", "Warngrenze")
    terms = [ReadTerm(Mention("WG", 0, 2), sense)]
    assert find_naming_texts(side, question, terms, texts) == places


@pytest.mark.parametrize(
    "question",
    [
        "hotel limit in London vs elsewhere",
        "What is the difference between Ashmoor and the rest?",
        "Was ist der Unterschied zwischen Berlin und anderswo?",
    ],
)
def test_a_side_that_names_nothing_by_itself_is_not_compared(question: str) -> None:
    assert find_sides(question) is None
    assert find_sides("hotel limit in London vs hotel limit in Paris") is not None
