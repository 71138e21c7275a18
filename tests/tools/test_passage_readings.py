"""Close readings of passages: the first ones always, the others unless one of the first surely answers."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from argot.protocols import PassageReading
from argot.tools.reading.passage_readings import FIRST_PASSAGES, SURE_RELEVANCE, read_best_wordings
from argot.types import Passage

PASSAGES = [Passage(f"p{number}", "d", "r", number, 0, 10, f"Passage {number}.", "Guide") for number in range(6)]


class ScriptedReader:
    """Finds every passage unlikely at a quick reading; closely, those with the given relevance. Notes what it reads."""

    def __init__(self, relevance: dict[str, float]) -> None:
        self.relevance = relevance
        self.closely: list[tuple[str, str]] = []

    def read_passages(self, question: str, passages: Sequence[Passage]) -> list[PassageReading]:
        return [PassageReading(0.2 if question in one.text else 0.1, ()) for one in passages]

    def read_closely(self, question: str, passages: Sequence[Passage]) -> list[PassageReading]:
        self.closely += [(question, one.text) for one in passages]
        return [PassageReading(self.relevance.get(one.text, 0.3), ()) for one in passages]


@pytest.mark.parametrize(("found", "count"), [(SURE_RELEVANCE, FIRST_PASSAGES), (SURE_RELEVANCE - 0.01, len(PASSAGES))])
def test_the_others_are_read_closely_unless_one_of_the_first_surely_answers(found: float, count: int) -> None:
    reader = ScriptedReader({"Passage 2.": found})
    readings = read_best_wordings(reader, [("how", 1.0)], PASSAGES)
    assert [text for _, text in reader.closely] == [one.text for one in PASSAGES[:count]]
    assert [one.relevance for one in readings] == [
        0.3,
        0.3,
        found,
        *([0.1] * 3 if count == FIRST_PASSAGES else [0.3] * 3),
    ]


def test_each_passage_is_read_for_the_wording_that_it_answers_best() -> None:
    reader = ScriptedReader({})
    readings = read_best_wordings(reader, [("Passage 1", 0.6), ("Passage 4", 0.5)], PASSAGES)
    assert [text for question, text in reader.closely if question == "Passage 4"] == ["Passage 4."]
    assert [round(one.relevance, 2) for one in readings] == [0.18, 0.18, 0.18, 0.18, 0.15, 0.18]
