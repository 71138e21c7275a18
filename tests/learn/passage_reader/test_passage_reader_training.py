"""The recipe of the passage reader, from documents and questions to the file that is served."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from argot.corpus.embedding.embedder import load_embedder
from argot.corpus.embedding.exported_models import find_model_folder
from argot.corpus.embedding.query_adapter import read_adapter
from argot.learn.passage_reader.__main__ import main
from argot.learn.passage_reader.adapter_training import AdapterRecipe, AdapterTraining, measure_search
from argot.learn.passage_reader.card import write_reader
from argot.learn.passage_reader.examples import Example, JudgedPassage, read_examples, write_examples
from argot.learn.passage_reader.figures import measure_examples
from argot.learn.passage_reader.known_questions import judge_unit, list_held_back, prepare_examples
from argot.learn.passage_reader.searched_sets import SearchedSet, read_searched_sets
from argot.learn.passage_reader.training import PassageReaderRecipe, train_passage_reader
from argot.settings import Settings
from argot.tools.retrieval.pair_reader import PAIR_READER_SOURCE
from argot.tools.retrieval.passage_reader import read_weights
from argot.tools.retrieval.passage_windows import PassageText

RECIPE = PassageReaderRecipe(networks=2, hidden=8, epochs=20, passages=8, passage_epochs=40)
DOCUMENTS = {
    "canteen.md": "# Canteen\n\nThe canteen opens at 11:30. Guests pay 9 euro for a meal.\n\nBring your badge.\n",
    "bicycles.md": "# Bicycles\n\nThe workshop lends bicycles.\n\nYou may keep one for four days.\n",
    "parking.md": "# Parking\n\nVisitors park beside gate 3. Staff park behind hall 2.\n",
}
QUESTIONS = [
    ("a", "train", "when does the canteen open?", "canteen.md", "The canteen opens at 11:30."),
    ("b", "train", "what do guests pay?", "canteen.md", "Guests pay 9 euro for a meal."),
    ("c", "validation", "how long can I keep a bike?", "bicycles.md", "You may keep one for four days."),
    ("d", "train", "where do visitors park?", "parking.md", "Visitors park beside gate 3."),
    ("e", "train", "who is the director?", "", ""),
]


def ignore(part: str, epoch: int, of: int) -> None:
    assert 1 <= epoch <= of


def make_examples(count: int, seed: int) -> list[Example]:
    """Make examples in which the third feature marks the answer, and the others are noise."""
    draws = np.random.default_rng(seed)

    def make_passage(relevant: bool) -> JudgedPassage:
        units = draws.normal(size=(5, 6)).astype(np.float32)
        answer = int(draws.integers(5))
        if relevant:
            units[answer, 2] += 3
        labels = tuple(int(relevant and place == answer) for place in range(5))
        whole = draws.normal(size=5).astype(np.float32)
        return JudgedPassage(relevant, PassageText("", ("",) * 5), labels, (True,) * 5, units, whole, 0.5)

    return [
        Example(
            "one" if place % 2 else "two",
            str(place),
            "?",
            tuple(make_passage(bool(place % 4) and n == 1) for n in range(3)),
        )
        for place in range(count)
    ]


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sets")
    documents = folder / "firm" / "documents"
    documents.mkdir(parents=True)
    for name, text in DOCUMENTS.items():
        (documents / name).write_text(text)
    rows = [
        {
            "id": id_,
            "split": split,
            "question": question,
            "gold": [{"document": document, "quote": quote}] if quote else [],
        }
        for id_, split, question, document, quote in QUESTIONS
    ]
    (folder / "firm" / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def test_a_short_training_finds_the_answer_in_new_examples(tmp_path: Path) -> None:
    shown, others = make_examples(160, 1), make_examples(60, 2)
    write_reader(train_passage_reader(shown, RECIPE, ignore), shown, tmp_path / "reader.json")
    weights = read_weights(tmp_path / "reader.json")
    assert weights is not None
    figures = measure_examples(others, weights)
    assert figures["sentence"] > 0.8 > 0.5 > figures["sentence_untrained"]
    assert figures["first"] > 0.8 and figures["answerable_auroc"] > 0.8
    assert figures["first_untrained"] == 0 and figures["answerable_auroc_untrained"] == 0.5


def test_the_same_examples_give_the_same_weights() -> None:
    shown = make_examples(40, 3)
    assert train_passage_reader(shown, RECIPE, ignore) == train_passage_reader(shown, RECIPE, ignore)


def test_the_served_weights_compute_what_was_trained(tmp_path: Path) -> None:
    shown = make_examples(60, 4)
    row = train_passage_reader(shown, RECIPE, ignore)
    write_reader(row, shown, tmp_path / "reader.json")
    weights = read_weights(tmp_path / "reader.json")
    assert weights is not None
    units = (shown[0].passages[0].units - np.array(row["means"])) / np.array(row["scales"])
    expected = np.mean(
        [
            units @ one["linear"]
            + np.maximum(units @ np.array(one["inner"]).T + one["inner_bias"], 0) @ one["outer"]
            + one["bias"]
            for one in row["units"]
        ],
        axis=0,
    )
    assert weights.compute_unit_logits(shown[0].passages[0].units) == pytest.approx(expected, abs=1e-3)


def test_documents_and_questions_become_examples(sets: Path, tmp_path: Path) -> None:
    ((name, target),) = prepare_examples([sets / "firm"], tmp_path, "train", Settings(threads=1))
    examples = {one.id: one for one in read_examples([target])}
    assert name == "firm" and set(examples) == {"a", "b", "d", "e"}
    right = [one for one in examples["a"].passages if one.relevant]
    assert len(right) == 1 and sum(label == 1 for label in right[0].labels) == 1
    assert not examples["e"].is_answerable
    # The canteen and the parking alone: the bicycles belong to a question for validation.
    assert all(len(one.passages) <= 2 for one in examples.values())
    written = target.stat().st_mtime_ns
    assert [*prepare_examples([sets / "firm"], tmp_path, "train", Settings(threads=1))] == [(name, target)]
    assert target.stat().st_mtime_ns == written, "a set that is prepared is not prepared again"


def test_the_commands_prepare_train_and_measure(sets: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    work, out = tmp_path / "work", tmp_path / "reader.json"
    main(["data", "--sets", str(sets), "--work", str(work)])
    main(["data", "--sets", str(sets), "--work", str(work), "--split", "validation"])
    main(["train", "--work", str(work), "--out", str(out)])
    capsys.readouterr()
    main(["measure", "--work", str(work), "--weights", str(out)])
    assert json.loads(capsys.readouterr().out)["questions"] == 1
    card = json.loads(out.read_text())["card"]
    assert card["credits"] == ["firm"] and card["figures"]["questions"] == 1
    with pytest.raises(SystemExit, match="no examples of the split 'test'"):
        main(["measure", "--work", str(work), "--weights", str(out), "--split", "test"])
    with pytest.raises(SystemExit, match=r"none\.json is not there"):
        main(["measure", "--work", str(work), "--weights", str(tmp_path / "none.json")])


def test_examples_are_read_as_they_were_written(tmp_path: Path) -> None:
    written = make_examples(4, 5)
    write_examples(written, tmp_path / "examples.jsonl")
    read = read_examples([tmp_path / "examples.jsonl"])
    assert [one.id for one in read] == [one.id for one in written]
    assert read[1].passages[0].labels == written[1].passages[0].labels
    assert read[1].passages[0].text == written[1].passages[0].text
    assert read[1].passages[0].units == pytest.approx(written[1].passages[0].units, abs=1e-4)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("You may keep **one** for four days.", 1),
        ("You may keep one for four days, and bring it back to gate 3.", 1),
        ("for four days", 1),
        ("The workshop lends bicycles.", 0),
    ],
)
def test_a_unit_is_judged_by_the_quotation(text: str, label: int) -> None:
    assert judge_unit(text, ["You may keep one for four days"]) == label
    assert judge_unit(text, []) == 0


def test_documents_of_other_splits_are_held_back() -> None:
    rows = [
        {"split": "train", "gold": [{"document": "a.md"}]},
        {"split": "test", "gold": [{"document": "b.md"}], "nearest_document": "c.md"},
        {"split": "validation", "gold": [], "nearest_document": "d.md", "near_document": None},
    ]
    assert list_held_back(rows) == {"b.md", "c.md", "d.md"}


def test_questions_move_towards_the_passages_that_answer_them_and_a_training_goes_on(tmp_path: Path) -> None:
    embedder = load_embedder(Settings(threads=1))
    # Each question is answered by the passage about the next thing, which no model can guess.
    things = ("pumps", "bicycles", "invoices", "lamps", "kitchens", "contracts")
    passages = embedder.embed_passages([f"All about {thing}." for thing in things])
    asked = tuple(f"who knows about {thing}?" for thing in things)
    right = tuple(((place + 1) % len(things),) for place in range(len(things)))
    sets = [SearchedSet("one", embedder.fingerprint, passages, asked, right)]
    model, recipe = (
        find_model_folder(PAIR_READER_SOURCE),
        AdapterRecipe(epochs=40, rank=4, dropout=0.0, rate=5e-3, every=10),
    )
    steps: list[int] = []
    training = AdapterTraining(model, sets, tmp_path, recipe)
    changes = training.train_adapter(lambda step, of, losses: steps.append(step))
    assert measure_search(sets, embedder.embed_queries)["hit@1"] == 0
    assert measure_search(sets, training.embed_questions)["hit@1"] == 1
    assert len(changes) == 36 and changes["encoder/layer.5/output/dense"].down.shape == (1536, 4)
    again = AdapterTraining(model, sets, tmp_path, recipe).train_adapter(lambda step, of, losses: steps.append(step))
    assert steps == list(range(1, 41))
    assert all((again[layer].compute() == change.compute()).all() for layer, change in changes.items())


def test_a_set_is_read_as_vectors_without_what_is_held_back(sets: Path, tmp_path: Path) -> None:
    (shown,) = read_searched_sets([sets / "firm"], tmp_path, "train", Settings(threads=1))
    (others,) = read_searched_sets([sets / "firm"], tmp_path, "validation", Settings(threads=1))
    assert len(shown.texts) == 3 and shown.passages.shape == (2, 384)
    assert len(others.texts) == 1 and others.passages.shape == (3, 384)
    assert [*read_searched_sets([sets / "firm"], tmp_path, "test", Settings(threads=1))] == []


def test_the_command_trains_and_measures_an_adapter(
    sets: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "adapter.npz"
    main(["adapter", "--sets", str(sets), "--work", str(tmp_path / "work"), "--out", str(out)])
    assert json.loads(capsys.readouterr().out)["after"]["hit@10"] == 1
    assert len(read_adapter(out)) == 36
    (tmp_path / "none").mkdir()
    with pytest.raises(SystemExit, match="holds no questions of the split 'train'"):
        main(["adapter", "--sets", str(tmp_path / "none"), "--work", str(tmp_path / "work"), "--out", str(out)])


def test_the_help_shows_examples() -> None:
    command = [sys.executable, "-m", "argot.learn.passage_reader", "--help"]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert all(f"argot.learn.passage_reader {name}" in shown for name in ("data", "train", "measure", "adapter"))
