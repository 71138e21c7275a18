"""The pair reader: question and passage read together, in windows, by the graph that comes with Argot."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from argot.corpus.embedding.embedder import open_tokenizer
from argot.corpus.embedding.exported_models import find_model_folder
from argot.errors import InvalidSettings
from argot.protocols import PassageReading
from argot.tools.reading.passage_readings import to_log_odds
from argot.tools.retrieval.pair_reader import (
    PAIR_READER_FILE,
    PAIR_READER_SOURCE,
    PairReader,
    PairReading,
)
from argot.tools.retrieval.passage_reader import combine_readings
from argot.tools.retrieval.passage_windows import MAX_TOKENS, MAX_WINDOWS, PassageText, build_windows

QUESTION = "how long can i hang on to a company bike?"
BICYCLES = PassageText(
    "Company bicycles",
    (
        "The workshop lends bicycles to everybody.",
        "An employee may keep one for four days.",
        "Bring it back to gate 3.",
        "Helmets are in the cupboard beside the door.",
    ),
)
CANTEEN = PassageText("Canteen", ("The canteen opens at half past eleven.", "Guests pay nine euro for a meal."))


@pytest.fixture(scope="module")
def reader() -> PairReader:
    return PairReader(threads=1)


def test_the_sentence_and_the_passage_that_answer_in_other_words_score_highest(reader: PairReader) -> None:
    bicycles, canteen = reader.read_texts(QUESTION, [BICYCLES, CANTEEN])
    assert bicycles is not None and canteen is not None
    assert bicycles.relevance > canteen.relevance
    assert max(range(4), key=lambda number: bicycles.units[number] or 0.0) == 1


def test_a_passage_is_read_the_same_alone_and_beside_others(reader: PairReader) -> None:
    (alone,), (beside, _) = reader.read_texts(QUESTION, [CANTEEN]), reader.read_texts(QUESTION, [CANTEEN, BICYCLES])
    assert alone is not None and alone == beside


def test_what_is_empty_or_too_far_behind_is_not_read(reader: PairReader) -> None:
    assert reader.read_texts(QUESTION, [PassageText("Canteen", ())]) == [None]
    long = PassageText(
        "Rules", tuple(f"Rule {n} is about the pump number {n} in hall {n} of the works." for n in range(90))
    )
    (read,) = reader.read_texts(QUESTION, [long])
    assert read is not None and len(read.units) == 90
    assert read.units[0] is not None and read.units[-1] is None


def test_windows_have_every_unit_whole_and_the_question_first() -> None:
    tokenizer = open_tokenizer(find_model_folder(PAIR_READER_SOURCE))
    text = PassageText("Rules", tuple(f"Rule {n} is about the pump in hall {n}." for n in range(40)))
    windows = build_windows(tokenizer, QUESTION, text)
    assert 1 < len(windows) <= MAX_WINDOWS and all(len(one.ids) <= MAX_TOKENS for one in windows)
    assert [number for one in windows for number in one.units] == list(range(sum(len(one.units) for one in windows)))
    for window in windows:
        assert tokenizer.decode(window.ids[slice(*window.asked)]) == QUESTION
        assert tokenizer.decode(window.ids[slice(*window.spans[0])]) == text.units[window.units[0]].lower()


def test_a_damaged_graph_is_reported_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "pair_reader.onnx").write_bytes(b"no graph")
    with pytest.raises(InvalidSettings, match=r"pair_reader\.onnx is no pair reader.*Install Argot again"):
        PairReader(tmp_path / "pair_reader.onnx").read_texts(QUESTION, [CANTEEN])


def test_two_readings_are_combined_and_what_cannot_answer_stays_out() -> None:
    quick = PassageReading(0.5, (0.5, 0.0, 0.5))
    combined = combine_readings(quick, PairReading(4.0, (2.0, 9.0, None)))
    assert combined.relevance > 0.5 and combined.units[0] > 0.5
    assert combined.units[1:] == (0.0, 0.5)
    assert combine_readings(quick, None) is quick
    assert to_log_odds(0.0) == -to_log_odds(1.0) and to_log_odds(0.5) == 0.0


def test_the_graph_is_small_and_its_card_credits_the_owners_of_the_data() -> None:
    assert PAIR_READER_FILE.stat().st_size < 30_000_000
    card = json.loads(PAIR_READER_FILE.with_suffix(".json").read_text("utf-8"))
    assert len(card["credits"]) == 18 and any("MedQuAD" in one for one in card["credits"])
