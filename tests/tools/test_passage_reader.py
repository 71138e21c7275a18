"""The passage reader: relevance of a passage, and the units in it that answer."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from argot.errors import InvalidSettings
from argot.profile import Profile
from argot.protocols import PassageReader
from argot.settings import Settings
from argot.tools.answering.quoting import read_units
from argot.tools.retrieval.hybrid_search import WeightedQuery
from argot.tools.retrieval.passage_reader import TrainedPassageReader, load_passage_reader, read_weights
from argot.tools.retrieval.reranker import LexicalScorer, rerank
from argot.tools.retrieval.scorer_choice import choose_scorer
from argot.types import Document, Hit, Passage

BICYCLES = """# Company bicycles

The workshop beside gate 3 lends bicycles to everybody who works here.

You may keep one for at most four days.

- Bring your badge.
- Sign the list at the counter.

A broken bicycle is repaired by the workshop within a week.
"""
CANTEEN = """The canteen opens at 11:30.

It is closed on public holidays. Guests pay the full price."""


@pytest.fixture(scope="module")
def reader() -> PassageReader:
    found = load_passage_reader(choose_scorer(Settings(threads=1)))
    assert found is not None
    return found


def make_passage(text: str, header: str = "Handbook > Bicycles") -> Passage:
    return Passage(str(hash(text)), "document", "revision", 0, 0, len(text), text, header)


def best_unit(reader: PassageReader, question: str, passage: Passage) -> str:
    (reading,) = reader.read_passages(question, [passage])
    units = read_units(passage.with_columns)
    assert len(reading.units) == len(units)
    return units[max(range(len(units)), key=lambda place: reading.units[place])].text


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("how long can i keep a bike?", "You may keep one for at most four days."),
        ("who fixes a damaged bicycle", "A broken bicycle is repaired by the workshop within a week."),
        ("where can I borrow a bicycle?", "The workshop beside gate 3 lends bicycles to everybody who works here."),
    ],
)
def test_the_sentence_that_answers_is_the_likeliest(reader: PassageReader, question: str, sentence: str) -> None:
    assert best_unit(reader, question, make_passage(BICYCLES)) == sentence


def test_a_passage_that_answers_is_more_relevant_than_another_one(reader: PassageReader) -> None:
    right, wrong = reader.read_passages("how long can i keep a bike?", [make_passage(BICYCLES), make_passage(CANTEEN)])
    assert right.relevance > 2 * wrong.relevance and 0 <= wrong.relevance <= right.relevance <= 1


def test_a_passage_is_read_once_for_a_question(reader: PassageReader) -> None:
    question, passages = "how long can i keep a bike?", [make_passage(BICYCLES), make_passage(CANTEEN)]
    first, again = reader.read_passages(question, passages), reader.read_passages(question, passages[::-1])
    assert all(one is other for one, other in zip(first, again[::-1], strict=True))
    assert load_passage_reader(choose_scorer(Settings(threads=1))) is reader


def test_a_passage_that_cannot_compete_is_not_read_closely(reader: PassageReader) -> None:
    question = "How long may I keep a bicycle?"
    answers, other = make_passage(BICYCLES), make_passage(CANTEEN, "Handbook > Canteen")
    quick = reader.read_passages(question, [other, answers])
    close = reader.read_closely(question, [other, answers])
    assert close[0] == quick[0]
    assert close[1] != quick[1]
    assert reader.read_closely("When does the canteen open?", [other, answers])[0] != quick[0]
    # Nor does it hang on what was asked before: somebody else may not read the passage that was better.
    assert reader.read_closely(question, [other])[0] != quick[0]


def test_a_heading_is_no_answer(reader: PassageReader) -> None:
    (reading,) = reader.read_passages("company bicycles", [make_passage(BICYCLES)])
    assert reading.units[0] == 0 and all(chance > 0 for chance in reading.units[1:])


@pytest.mark.parametrize("text", ["", "# Heading", "..."])
def test_a_passage_without_text_does_not_answer(reader: PassageReader, text: str) -> None:
    (reading,) = reader.read_passages("how long?", [make_passage(text, "")])
    assert reading.relevance < 0.5


def test_a_question_without_words_is_answered_by_nothing(reader: PassageReader) -> None:
    (reading,) = reader.read_passages("", [make_passage(BICYCLES)])
    assert reading.relevance == 0 and set(reading.units) == {0.0}
    assert reader.read_passages("how long?", []) == []


def test_a_unit_beyond_the_tokens_that_are_read_has_a_chance_too(reader: PassageReader) -> None:
    text = "\n\n".join(f"Rule {place} is about the pump number {place} in hall {place}." for place in range(60))
    (reading,) = reader.read_passages("what is rule 3 about?", [make_passage(text)])
    assert len(reading.units) == 60


def test_the_best_relevance_counts_in_the_evidence() -> None:
    scorer = choose_scorer(Settings(threads=1))
    document = Document(
        "document", "file:///handbook.md", "Handbook", "text/markdown", "revision", "hash", "2026-01-01"
    )
    hits = [Hit(make_passage(text), document, 0.5) for text in (CANTEEN, BICYCLES)]

    def find_evidence(question: str, judged: bool) -> float:
        return rerank([WeightedQuery(question, 1.0)], hits, scorer, Profile(), judged=judged)[0].score

    answered, unanswered = "how long can i keep a bike?", "who painted the bikes green?"
    assert find_evidence(answered, True) > find_evidence(answered, False)
    assert find_evidence(unanswered, True) < find_evidence(unanswered, False)


# -- the file ---------------------------------------------------------------------------------------------------------


def test_with_another_scorer_rules_decide() -> None:
    assert load_passage_reader(LexicalScorer()) is None


def test_without_its_file_rules_decide_and_the_log_says_so(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert load_passage_reader(choose_scorer(Settings(threads=1)), tmp_path / "none.json") is None
    assert "rules alone choose the sentences that answer" in caplog.text


@pytest.mark.parametrize("content", ["{", "{}", '{"weights": {"units": 3}}'])
def test_a_damaged_file_is_reported_with_the_remedy(tmp_path: Path, content: str) -> None:
    (tmp_path / "reader.json").write_text(content)
    with pytest.raises(InvalidSettings, match=r"reader\.json is no passage reader.*Install Argot again"):
        read_weights(tmp_path / "reader.json")


@pytest.mark.parametrize(
    "damage",
    [
        lambda weights: weights["means"].pop(),
        lambda weights: weights.update(units=[]),
        lambda weights: weights.update(passage_bias="high"),
        lambda weights: weights["scales"].__setitem__(0, 0.0),
        lambda weights: weights["units"][0]["outer"].pop(),
        lambda weights: weights["units"][0]["linear"].__setitem__(0, float("nan")),
    ],
)
def test_weights_that_do_not_fit_are_refused_before_the_first_question(
    tmp_path: Path, damage: Callable[[dict[str, Any]], None]
) -> None:
    from argot.tools.retrieval.passage_reader import WEIGHTS_FILE

    content = json.loads(WEIGHTS_FILE.read_text("utf-8"))
    damage(content["weights"])
    (tmp_path / "reader.json").write_text(json.dumps(content))
    with pytest.raises(InvalidSettings, match="is no passage reader"):
        read_weights(tmp_path / "reader.json")


def test_the_file_is_small_and_credits_the_owners_of_the_documents() -> None:
    from argot.tools.retrieval.passage_reader import WEIGHTS_FILE

    assert WEIGHTS_FILE.stat().st_size < 200_000
    card = json.loads(WEIGHTS_FILE.read_text("utf-8"))["card"]
    assert len(card["credits"]) == 13 and all(": " in one for one in card["credits"])


def test_the_passage_reader_fulfils_its_protocol(reader: PassageReader) -> None:
    assert isinstance(reader, TrainedPassageReader) and isinstance(reader, PassageReader)
