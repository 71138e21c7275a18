"""Whether a question asks for several things."""

from __future__ import annotations

import pytest

from argot.tools.reading.answer_types import asks_for_several
from argot.tools.reading.comparisons import find_naming_texts, find_sides
from argot.tools.reading.coordination import find_pair
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
    ("question", "one", "other"),
    [
        ("Compare the tolerance of A12 and B13", "the tolerance of A12", "the tolerance of B13"),
        ("compare the limit for the pole and that for the mast", "the limit for the pole", "the limit for the mast"),
        ("Compare the price of gold and the weather", "the price of gold", "the weather"),
        ("Compare the University of Oslo and Microsoft", "the University of Oslo", "Microsoft"),
        ("Compare the state of charge and the age of the pack", "the state of charge", "the age of the pack"),
        ("Vergleiche die Toleranz von A12 und B13", "die Toleranz von A12", "die Toleranz von B13"),
        ("Vergleiche die Höhe der Lampe und des Masts", "die Höhe der Lampe", "die Höhe des Masts"),
        ("Worin unterscheidet sich die Höhe von A12 und B13?", "die Höhe von A12", "die Höhe von B13"),
        ("Vergleiche die Höhe der Lampe und der Kosten des Masts", "die Höhe der Lampe", "der Kosten des Masts"),
        ("Quelle est la différence entre le prix du pain et du café ?", "le prix du pain", "le prix du café"),
        ("En quoi la taille de A12 et celle de B13 diffèrent-elles ?", "la taille de A12", "la taille de B13"),
        ("¿Cuál es la diferencia entre el límite de A12 y el de B13?", "el límite de A12", "el límite de B13"),
        ("¿En qué se diferencia la altura de A12 y B13?", "la altura de A12", "la altura de B13"),
        ("Vergleiche A12 und B13", "A12", "B13"),
    ],
)
def test_the_sides_of_a_comparison_share_the_noun_that_belongs_to_both(question: str, one: str, other: str) -> None:
    assert find_sides(question) == (one, other)


@pytest.mark.parametrize(
    ("question", "one", "other"),
    [
        ("Who cleans the north lamp and the south lamp?", "Who cleans the north lamp?", "Who cleans the south lamp?"),
        ("Who cleans the north and the south lamp?", "Who cleans the north lamp?", "Who cleans the south lamp?"),
        ("Wer reinigt Nordlampe und Südlampe?", "Wer reinigt Nordlampe?", "Wer reinigt Südlampe?"),
        (
            "Wie hoch sind die Nordlampe und die Südlampe?",
            "Wie hoch sind die Nordlampe?",
            "Wie hoch sind die Südlampe?",
        ),
        ("Qui nettoie la lampe A12 et la lampe B13 ?", "Qui nettoie la lampe A12 ?", "Qui nettoie la lampe B13 ?"),
        ("¿Quién limpia el farol A12 y el farol B13?", "¿Quién limpia el farol A12?", "¿Quién limpia el farol B13?"),
    ],
)
def test_a_question_about_two_things_has_one_about_each(question: str, one: str, other: str) -> None:
    texts = ["The north lamp", "The south lamp", "Nordlampe", "Südlampe", "lampe farol A12", "lampe farol B13"]
    pair = find_pair(question, [], texts)
    assert pair is not None and (pair[0].question, pair[1].question) == (one, other)
    assert find_pair(question, [], texts[::2]) is None


GERMAN = "Nordlampe, Südlampe, putzt, kündigt"


@pytest.mark.parametrize(
    "question",
    [
        "Who cleans the lamp?",
        "Who cleans the north lamp, the lift and the south lamp and when?",
        "How many are there between 5 and 9?",
        "Who cleans it and when?",
        "I lost the north lamp and do not have the south lamp, who pays?",
        "Wer putzt hier die Nordlampe und hat eine Südlampe?",
        "Was gilt, wenn jemand putzt und kündigt?",
    ],
)
def test_a_question_that_names_no_two_things_has_no_pair(question: str) -> None:
    assert (
        find_pair(question, [], ["The north lamp", "The south lamp, the lift, 5, 9, clean when it there", GERMAN])
        is None
    )


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
