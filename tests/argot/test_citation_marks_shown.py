"""The numbers behind an answer's sentences: once for a paragraph, list or table that rests on one passage."""

from __future__ import annotations

from argot.results import AskResult, Citation, Sentence


def sentence(text: str, *numbers: int) -> Sentence:
    cited = [
        Citation(n=n, passage_id=f"p{n}", document="d", revision="r", page=None, heading="", span=(0, 9), score=1.0)
        for n in numbers
    ]
    return Sentence(text=text, supported=bool(numbers), citations=cited)


def list_marks(answer: str, *sentences: Sentence) -> list[list[int]]:
    given = {"question": "q", "stand_alone_question": "q", "status": "answered", "thread": "t"}
    return AskResult(**given, answer=answer, sentences=list(sentences)).list_marks()  # type: ignore[arg-type]


def test_sentences_of_a_paragraph_on_one_passage_have_one_mark() -> None:
    assert list_marks("A. B. C.", sentence("A.", 1), sentence("B.", 1), sentence("C.", 2)) == [[], [1], [2]]


def test_a_new_paragraph_has_its_own_mark() -> None:
    assert list_marks("A. B.\n\nC.", sentence("A.", 1), sentence("B.", 1), sentence("C.", 1)) == [[], [1], [1]]


def test_a_list_and_the_line_above_it_have_one_mark() -> None:
    items = sentence("You need:", 1), sentence("- a", 1), sentence("- b", 1)
    assert list_marks("You need:\n\n- a\n- b", *items) == [[], [], [1]]


def test_an_unsupported_sentence_ends_the_block_before_it() -> None:
    assert list_marks("A. B. C.", sentence("A.", 1), sentence("B."), sentence("C.", 1)) == [[1], [], [1]]
    assert list_marks("A. B.", sentence("A.", 1, 2), sentence("B.", 1)) == [[1, 2], [1]]
