"""Whether a question says anything beside its terms."""

import pytest

from argot.graph.question_substance import has_only_terms
from argot.types import Mention


def _says_nothing(question: str, term: str) -> bool:
    start = question.index(term)
    return has_only_terms(question, [Mention(term, start, start + len(term), term)])


@pytest.mark.parametrize(
    "question",
    [
        "What is a DCC?", "DCC", "WHAT DOES DCC MEAN", "hi, could you explain the DCC please",
        "Was bedeutet DCC?", "Was heißt denn DCC genau?", "Wofür steht die Abkürzung DCC?", "Was ist ein DCC?",
        "Que signifie DCC ?", "Qu'est-ce que l'acronyme DCC veut dire ?", "C'est quoi le DCC ?",
        "¿Qué significa DCC?", "¿Qué quiere decir la sigla DCC?", "¿Qué es un DCC?",
    ],
)  # fmt: skip
def test_question_words_alone_have_no_substance(question: str) -> None:
    assert _says_nothing(question, "DCC")


@pytest.mark.parametrize(
    "question",
    [
        "How often does IT do the DCC?", "What does the DCC cost?", "DCC voltage", "DCC NX-4410B", "DCC in 2024",
        "Wer bucht am DCC?", "Was bedeutet DCC im Lager?", "Combien coûte le DCC ?", "¿Cuánto cuesta el DCC?",
    ],
)  # fmt: skip
def test_any_other_word_gives_a_question_substance(question: str) -> None:
    assert not _says_nothing(question, "DCC")
