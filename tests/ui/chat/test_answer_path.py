"""Tests of the lines that say how an answer came about."""

from __future__ import annotations

import pytest

from argot.results import AskResult, Citation, FoundPassage, Jargon, Sentence
from argot.ui.rendering.answer_path import describe_path

PASSAGES = [
    FoundPassage(n=n, passage_id=f"p{n}", document=name, uri="x", page=None, heading="", text="T", score=1.0)
    for n, name in ((1, "a.md"), (2, "a.md"), (3, "b.md"))
]
CITATION = Citation(n=1, passage_id="p1", document="a.md", revision="r", page=None, heading="", span=(0, 1), score=1)
SAID = Sentence(text="Yes.", supported=True, citations=[CITATION])


def _result(**fields: object) -> AskResult:
    given: dict[str, object] = {
        "question": "and for the \u202ePUC?",
        "stand_alone_question": "How high is the PUC?",
        "status": "answered",
        "thread": "t1",
        "answer": "Yes.",
        "sentences": [SAID],
        "jargon": [Jargon(term="PUC", surface="puc", context="Legal", expansion="authority")] * 2,
        "search_queries": ["How high is the authority?"],
        "searched_again": [["height"]],
        "passages": PASSAGES,
    }
    return AskResult.model_validate({**given, **fields})


def test_an_answer_names_its_reading_its_searches_and_its_passages() -> None:
    assert describe_path(_result()) == [
        "Your question was read as “How high is the PUC?”",
        "Terms of the glossary in it: puc (authority)",
        "The documents were searched for “How high is the authority?”",
        "Then for “height”",
        "3 passages of 2 documents came closest; the answer quotes 1 of them",
    ]


@pytest.mark.parametrize(
    ("fields", "last"),
    [
        ({"answered_by": "model"}, "came closest; the language model wrote the answer from 1 of them"),
        ({"status": "abstained", "sentences": []}, "3 passages of 2 documents came closest"),
        ({"passages": []}, "Then for “height”"),
    ],
)
def test_the_last_line_fits_the_outcome(fields: dict[str, object], last: str) -> None:
    assert describe_path(_result(**fields))[-1].endswith(last)


def test_small_talk_has_no_path() -> None:
    assert describe_path(_result(status="small_talk")) == []


def test_queries_that_only_put_short_forms_into_the_question_are_not_named() -> None:
    question = "How many holidays do I get?"
    queries = [question, "How many PTO do I get?", "How much holiday is granted?", "holidays in a year"]
    fields = {"question": question, "stand_alone_question": question, "search_queries": queries}
    path = describe_path(_result(**fields, searched_again=[["holidays in a year"]], jargon=[]))
    assert path[:2] == [
        f"The documents were searched for “{question}”, “How much holiday is granted?”",
        "Then for “holidays in a year”",
    ]
