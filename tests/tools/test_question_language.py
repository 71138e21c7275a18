"""Which questions are in another language than English."""

from __future__ import annotations

import pytest

from argot.tools.reading.question_language import is_foreign


@pytest.mark.parametrize(
    "question",
    [
        "Wie viele Urlaubstage habe ich?",
        "Combien de semaines de congé parental ?",
        "¿Cuántos días de vacaciones tengo?",
        "Quando posso prendere le ferie?",
        "Сколько у меня дней отпуска?",
        "年休は何日ですか?",
    ],
)
def test_a_question_in_another_language_is_recognised(question: str) -> None:
    assert is_foreign(question)


@pytest.mark.parametrize(
    "question",
    [
        "How many days of leave do I have?",
        "asdf qwer zxcv",
        "Who is Charles de Gaulle to us?",
        "DIN EN 60068 limits",
        "Was the El Paso plant closed?",
        "",
    ],
)
def test_an_english_question_or_no_words_are_not_taken_for_another_language(question: str) -> None:
    assert not is_foreign(question)
