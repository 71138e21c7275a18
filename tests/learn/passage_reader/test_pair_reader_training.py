"""The recipe of the pair reader: its examples, its training, and the graph that is served."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from argot.corpus.embedding.exported_models import find_model_folder
from argot.learn.passage_reader.examples import Example, JudgedPassage
from argot.learn.passage_reader.pair_export import export_pair_reader
from argot.learn.passage_reader.pair_training import KEPT_CHECKPOINT, PairRecipe, PairTraining
from argot.learn.passage_reader.question_wording import vary_question
from argot.learn.passage_reader.written_questions import (
    extract_invented_sets,
    read_written_questions,
    store_written_questions,
)
from argot.learn.training_loop import CHECKPOINT, read_checkpoint
from argot.tools.retrieval.pair_reader import PAIR_READER_SOURCE, PairReader
from argot.tools.retrieval.passage_windows import PassageText, build_inputs, build_windows

RECIPE = PairRecipe(layers=1, epochs=2, questions=2, negatives=1, head_rate=3e-3, every=100)
TEXTS = (
    PassageText("Bicycles", ("The workshop lends bicycles.", "You may keep one for four days.", "Helmets are free.")),
    PassageText("Canteen", ("The canteen opens at eleven.", "Guests pay nine euro.", "Bring your badge.")),
)
QUESTIONS = (("how long can i keep a bike?", 0, 1), ("what do guests pay?", 1, 1), ("when is lunch?", 1, 0))


def make_examples(copies: int) -> list[Example]:
    def judge(right: int, unit: int) -> tuple[JudgedPassage, ...]:
        labels = [[int(place == right and number == unit) for number in range(3)] for place in range(2)]
        return tuple(JudgedPassage.of_text(text, own) for text, own in zip(TEXTS, labels, strict=True))

    return [
        Example("firm", str(n), text, judge(right, unit)) for n, (text, right, unit) in enumerate(QUESTIONS)
    ] * copies


def test_the_served_graph_computes_what_was_trained(tmp_path: Path) -> None:
    losses: list[float] = []
    training = PairTraining(find_model_folder(PAIR_READER_SOURCE), make_examples(6), tmp_path, RECIPE)
    training.train_network(lambda step, of, parts: losses.append(sum(parts.values())))
    assert sum(losses[-4:]) < sum(losses[:4])
    # A training that has ended does not begin again.
    training.train_network(lambda step, of, parts: pytest.fail("a step too many"))
    export_pair_reader(tmp_path / CHECKPOINT, tmp_path / "pair_reader.onnx")
    (served,) = PairReader(tmp_path / "pair_reader.onnx", threads=1).read_texts(QUESTIONS[0][0], TEXTS[:1])
    assert served is not None
    windows = build_windows(training.tokenizer, QUESTIONS[0][0], TEXTS[0])
    with torch.inference_mode():
        inputs = {name: torch.from_numpy(value) for name, value in build_inputs(windows).items()}
        relevance, units = training.network.eval()(**inputs)
    assert served.relevance == pytest.approx(float(relevance[0]), abs=0.5)
    assert served.units == pytest.approx(units[0].tolist(), abs=0.5)


def test_a_training_ends_after_its_most_steps(tmp_path: Path) -> None:
    steps: list[int] = []
    recipe = replace(RECIPE, most_steps=2)
    training = PairTraining(find_model_folder(PAIR_READER_SOURCE), make_examples(4), tmp_path, recipe)
    training.train_network(lambda step, of, parts: steps.append(step))
    assert steps == [1, 2]


def test_a_varied_question_keeps_its_numbers_and_most_words() -> None:
    varied = {vary_question("How many days off do I get in 2026?", random.Random(n)) for n in range(40)}
    words = [word.rstrip("?") for one in varied for word in one.split()]
    assert len(varied) > 10 and {word for word in words if any(map(str.isdigit, word))} == {"2026"}
    assert all(len(one.split()) >= 4 for one in varied)


def test_written_questions_are_stored_without_the_sentences_of_the_documents(tmp_path: Path) -> None:
    documents = tmp_path / "sets" / "firm" / "documents"
    documents.mkdir(parents=True)
    (documents / "bikes.md").write_text("# Bikes\n\nYou may keep one\nfor four days.\n")
    rows = [
        {"question": "how long?", "gold": [{"document": "bikes.md", "quote": "You may keep one for four days."}]},
        {"question": "what colour?", "gold": [], "split": "validation"},
    ]
    file = tmp_path / "written.jsonl"
    store_written_questions({"firm": rows}, tmp_path / "sets", file)
    assert "four days" not in file.read_text()
    first, second = read_written_questions("firm", documents, file)
    assert first["gold"] == [{"document": "bikes.md", "quote": "You may keep one\nfor four days."}]
    assert (first["split"], second["split"], second["gold"]) == ("train", "validation", [])
    wrong = {"question": "?", "gold": [{"document": "bikes.md", "quote": "You may keep two."}]}
    with pytest.raises(ValueError, match="does not have the quotation"):
        store_written_questions({"firm": [wrong]}, tmp_path / "sets", file)


def test_every_answer_about_invented_documents_is_found_in_them(tmp_path: Path) -> None:
    sets = extract_invented_sets(tmp_path)
    rows = {one.name: read_written_questions(one.name, one / "documents") for one in sets}
    assert len(sets) == 24 and all(len(of_set) > 250 for of_set in rows.values())
    held_back = {name for name, of_set in rows.items() if {row["split"] for row in of_set} == {"validation"}}
    assert held_back == {"fennimoor-cu", "osterline-noc"}


def test_a_document_that_has_changed_since_is_reported(tmp_path: Path) -> None:
    (tmp_path / "bikes.md").write_text("You may keep one for nine days.")
    file = tmp_path / "written.jsonl"
    file.write_text('{"set": "firm", "question": "how long?", "gold": [["bikes.md", 0, 31, "00000000"]]}\n')
    with pytest.raises(ValueError, match=r"bikes\.md is another version"):
        read_written_questions("firm", tmp_path, file)


def test_the_result_is_the_mean_of_two_steps(tmp_path: Path) -> None:
    recipe = replace(RECIPE, most_steps=4, averaged_step=2)
    training = PairTraining(find_model_folder(PAIR_READER_SOURCE), make_examples(4), tmp_path, recipe)
    result = read_checkpoint(training.train_network(lambda step, of, parts: None)).network
    kept, last = (read_checkpoint(tmp_path / name).network for name in (KEPT_CHECKPOINT, CHECKPOINT))
    name = max(result, key=lambda name: float((kept[name] - last[name]).abs().sum()))
    assert not kept[name].equal(last[name])
    assert result[name].allclose((kept[name] + last[name]) / 2)
    # A training that has ended gives the same again.
    again = PairTraining(find_model_folder(PAIR_READER_SOURCE), make_examples(4), tmp_path, recipe)
    assert read_checkpoint(again.train_network(lambda step, of, parts: None)).network[name].equal(result[name])
    # Weights that are missing are named before anything is trained.
    (tmp_path / KEPT_CHECKPOINT).unlink()
    with pytest.raises(FileNotFoundError, match="has no weights of step 2"):
        again.train_network(lambda step, of, parts: None)
