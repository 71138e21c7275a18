"""Tests of `argot evaluate disambiguate`: files of the shared tasks, their measure, and choosing by unlabelled text."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from argot.corpus.embedding.embedder import load_embedder
from argot.errors import InvalidInput
from argot.evaluate.experiments.disambiguation_data import AcronymSentence, load_dictionary, load_sentences, load_text
from argot.evaluate.experiments.disambiguation_matching import match_sentences
from argot.evaluate.experiments.disambiguation_measures import Guess, compute_measures
from argot.evaluate.experiments.disambiguation_suite import (
    EACH_FOR_ITSELF,
    EVERYTHING,
    HALVES,
    NEAREST,
    evaluate_disambiguate,
    find_usages,
    read_texts,
)
from argot.evaluate.experiments.sense_neighbours import ALONE, NEIGHBOURS, Group, choose_together, group_sentences
from argot.settings import Settings
from argot.ui.cli.main import app

DICTIONARY = {"PUC": ["peripheral under cell", "public utilities commission"], "DRAM": ["dynamic random access memory"]}
LABELLED = [
    ("Placing circuits below the array saves die area , so the", "PUC", "layout is small .", 0),
    ("A tariff must be filed with the", "PUC", "before the hearing .", 1),
    ("The bonding step of the", "PUC", "layout needs a clean room .", 0),
    ("The", "PUC", "held a hearing on the electricity tariff .", 1),
]
UNLABELLED = [
    "The peripheral under cell layout places circuits under the memory array .",
    "With a peripheral under cell the die area shrinks and the bonding step changes .",
    "The public utilities commission approves the electricity tariff after a hearing .",
    "The public utilities commission ( PUC ) hears customers about each tariff .",
]


def nothing(_step: str, _done: int, _total: int) -> None:
    """Ignore the progress."""


def entries() -> list[dict[str, Any]]:
    found = []
    for n, (before, acronym, after, right) in enumerate(LABELLED):
        tokens = [*before.split(), acronym, *after.split()]
        expansion = DICTIONARY[acronym][right]
        found.append({"id": f"DEV-{n}", "tokens": tokens, "acronym": len(before.split()), "expansion": expansion})
    return found


@pytest.fixture
def written(tmp_path: Path) -> Path:
    (tmp_path / "dev.json").write_text(json.dumps(entries()))
    (tmp_path / "diction.json").write_text(json.dumps(DICTIONARY))
    (tmp_path / "more.txt").write_text("\n".join(UNLABELLED) + "\n\n")
    return tmp_path


def sentences() -> list[AcronymSentence]:
    return [AcronymSentence(f"DEV-{n}", b, a, c, DICTIONARY[a][right]) for n, (b, a, c, right) in enumerate(LABELLED)]


# -- files --------------------------------------------------------------------------------------------------------


def test_both_formats_of_the_shared_tasks_give_the_same_sentences(written: Path) -> None:
    assert load_sentences(written / "dev.json") == sentences()
    later = [
        {"ID": one.id, "sentence": one.text, "acronym": one.acronym, "label": one.expansion} for one in sentences()
    ]
    (written / "later.json").write_text(json.dumps(later))
    assert load_sentences(written / "later.json") == sentences()


def by_id() -> dict[str, Any]:
    return {entry["id"]: {key: value for key, value in entry.items() if key != "id"} for entry in entries()}


def in_one_string() -> list[dict[str, Any]]:
    return [{**entry, "tokens": " ".join(entry["tokens"])} for entry in entries()]


def with_words_for_places() -> list[dict[str, Any]]:
    return [{**entry, "acronym": entry["tokens"][entry["acronym"]]} for entry in entries()]


@pytest.mark.parametrize(
    "form",
    [
        by_id(),
        {"data": entries()},
        {"version": 1, "sentences": by_id()},
        in_one_string(),
        [{**entry, "acronym": str(entry["acronym"])} for entry in entries()],
        [{**entry, "acronym": [entry["acronym"]]} for entry in entries()],
        with_words_for_places(),
        [{("label" if key == "expansion" else key): value for key, value in entry.items()} for entry in entries()],
    ],
)
def test_similar_formats_give_the_same_sentences(written: Path, form: Any) -> None:
    (written / "form.json").write_text("\ufeff" + json.dumps(form), "utf-8")
    assert load_sentences(written / "form.json") == sentences()


def test_json_lines_and_missing_ids_are_read(written: Path) -> None:
    without = [{key: value for key, value in entry.items() if key != "id"} for entry in entries()]
    (written / "dev.jsonl").write_text("\n".join(map(json.dumps, without)) + "\n")
    found = load_sentences(written / "dev.jsonl")
    assert [one.id for one in found] == ["1", "2", "3", "4"]
    assert [one.text for one in found] == [one.text for one in sentences()] == load_text(written / "dev.jsonl")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("d.json", {"PUC": "peripheral under cell", "DRAM": {"dynamic random access memory": 12}}),
        (
            "d.json",
            [
                {"acronym": "PUC", "expansions": ["peripheral under cell", " ", "peripheral under cell"]},
                {"acronym": "DRAM", "expansion": "dynamic random access memory"},
            ],
        ),
        ("d.json", [["PUC", "peripheral under cell"], ["DRAM", ["dynamic random access memory"]]]),
        ("d.csv", "Term,context,expansion\nPUC,NAND,peripheral under cell\nDRAM,,dynamic random access memory\n"),
        ("d.tsv", "acronym\tlong_form\nPUC\tperipheral under cell\nDRAM\tdynamic random access memory\n"),
    ],
)
def test_dictionaries_are_read_in_several_formats(tmp_path: Path, name: str, content: Any) -> None:
    (tmp_path / name).write_text(content if isinstance(content, str) else json.dumps(content))
    assert load_dictionary(tmp_path / name) == {
        "PUC": ["peripheral under cell"],
        "DRAM": ["dynamic random access memory"],
    }


@pytest.mark.parametrize("content", ["{}", "[]", "3", '[["A"]]', '[{"acronym": "A"}]', '{"A": []}', '{"A": [" "]}'])
def test_a_dictionary_without_expansions_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "d.json").write_text(content)
    with pytest.raises(InvalidInput, match="expansions of each acronym"):
        load_dictionary(tmp_path / "d.json")


def test_spellings_are_matched_to_those_of_the_dictionary() -> None:
    dictionary = {"PUC": ["peripheral under cell", "Public-Utilities Commission"], "C.D": ["compact disc"]}
    data = [
        AcronymSentence("1", "", "puc", "", "PUBLIC UTILITIES  COMMISSION"),
        AcronymSentence("2", "", "PUCs", "", "peripheral under cells"),
        AcronymSentence("3", "", "CD", "", "compact disc"),
        AcronymSentence("4", "", "PUC", "", "power up check"),
        AcronymSentence("5", "", "XYZ", "", "x y z"),
        AcronymSentence("6", "", "PU", ""),
    ]
    pairs = match_sentences(data, dictionary)
    assert [one.acronym for one in pairs.sentences] == ["PUC", "PUC", "C.D", "PUC", "XYZ", "PU"]
    assert [one.expansion for one in pairs.sentences[:3]] == [*reversed(dictionary["PUC"]), "compact disc"]
    assert (pairs.unknown_acronyms, pairs.unknown_labels, pairs.one_sense) == (1, 1, 1)


def test_dictionary_entries_that_differ_in_case_only_stay_apart() -> None:
    dictionary = {"RF": ["Random Forest", "random forest"], "Rf": ["rheumatoid factor"]}
    data = [AcronymSentence("1", "", "RF", "", "random forest"), AcronymSentence("2", "", "rf", "", "RANDOM FOREST")]
    pairs = match_sentences(data, dictionary)
    assert [one.expansion for one in pairs.sentences] == ["random forest", "RANDOM FOREST"]
    assert pairs.dictionary["rf"] == ["Random Forest", "random forest", "rheumatoid factor"]


def test_unlabelled_sentences_are_read_but_not_measured() -> None:
    data = [*sentences(), AcronymSentence("x", "The", "PUC", "hearing on tariffs .")]
    report = evaluate_disambiguate("some", data, DICTIONARY, UNLABELLED, load_embedder(Settings()), nothing)
    assert report.parts["all"][EVERYTHING].sentences == len(LABELLED)
    assert report.to_json()["label_not_in_dictionary"] == 0


def test_variants_of_one_meaning_share_their_probability() -> None:
    """Check that neither "energy efficiency 21" nor "efficiency 21 energy", which nothing tells apart, is certain."""
    names = ("efficiency 21 energy", "electric eel", "energy efficiency 21")
    evidence = {kind: np.zeros((1, 3), dtype=np.float32) for kind in ALONE}
    evidence["meaning"][0, 2] = 5
    group = Group("EE21", (0,), names, evidence, {kind: np.zeros((1, 1), dtype=np.float32) for kind in NEIGHBOURS}, 0.5)
    (chances,) = choose_together(group)
    assert chances.argmax() == 2
    assert 0.8 < chances[2] < 0.9
    assert chances[1] < 0.01
    assert chances.sum() == pytest.approx(1)


def test_a_sentence_without_its_acronym_is_kept(written: Path) -> None:
    (written / "odd.json").write_text(
        json.dumps([{"ID": "1", "sentence": "Nothing here.", "acronym": "AC.1", "label": "x"}])
    )
    (one,) = load_sentences(written / "odd.json")
    assert (one.before, one.acronym, one.after) == ("Nothing here.", "AC.1", "")


def test_text_may_be_plain_lines_or_either_format(written: Path) -> None:
    assert load_text(written / "more.txt") == UNLABELLED
    assert load_text(written / "dev.json") == [one.text for one in sentences()]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{}", "a list of sentences"),
        ("[", "no JSON"),
        ('[{"id": "1", "tokens": ["a"], "acronym": 3, "expansion": "b"}]', "entry 1 is malformed"),
        ('[{"id": "1", "tokens": ["a"], "acronym": 0}]', "entry 1 has no label"),
        ('[{"sentence": "a"}]', "entry 1 has no 'acronym'"),
        ('["a"]', "entry 1"),
    ],
)
def test_the_error_for_a_malformed_file_says_what_is_wrong(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "dev.json").write_text(content)
    with pytest.raises(InvalidInput, match=said):
        load_sentences(tmp_path / "dev.json")


def test_the_error_for_an_unreadable_dictionary_or_text_says_why(tmp_path: Path) -> None:
    (tmp_path / "d.json").write_text('{"A": 5}')
    with pytest.raises(InvalidInput, match="expansions of each acronym"):
        load_dictionary(tmp_path / "d.json")
    with pytest.raises(InvalidInput, match="cannot be read"):
        load_text(tmp_path / "none.txt")
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9")
    with pytest.raises(InvalidInput, match="not UTF-8"):
        load_text(tmp_path / "latin.txt")


# -- measures -----------------------------------------------------------------------------------------------------


def test_macro_measures_equal_those_of_the_shared_task() -> None:
    """Check a (chosen twice, labelled once), b (labelled twice, chosen once) and c (labelled, never chosen)."""
    gold = ["a", "b", "b", "c"]
    found = compute_measures(gold, [Guess(name, 0.5, 0.1) for name in ["a", "b", "a", "d"]])
    assert found.precision == pytest.approx((1 / 2 + 1 + 1) / 3)
    assert found.recall == pytest.approx((1 + 1 / 2 + 0) / 3)
    assert found.f1 == pytest.approx(2 * (5 / 6) * (1 / 2) / (5 / 6 + 1 / 2))
    assert found.strict_f1 == pytest.approx(0.5)
    assert found.accuracy == 0.5


def test_coverage_takes_the_most_certain_guesses_and_ties_gain_nothing() -> None:
    guesses = [Guess("a", 0.9, 0.8), Guess("x", 0.6, 0.2), Guess("a", 0.6, 0.2), Guess("x", 0.5, 0.0)]
    found = compute_measures(["a"] * 4, guesses)
    assert found.get_accuracy(0.25) == 1
    assert found.get_accuracy(0.5) == 0.5
    assert found.get_accuracy(1.0) == 0.5


def test_calibration_error_is_the_gap_between_confidence_and_accuracy() -> None:
    sure, unsure = [Guess("a", 1.0, 1.0)] * 2, [Guess("a", 0.55, 0.1)] * 2
    found = compute_measures(["a", "b", "a", "b"], [*sure, *unsure])
    assert [(b.count, b.right) for b in found.bins] == [(2, 0.5), (2, 0.5)]
    assert found.calibration_error == pytest.approx(0.5 * 0.05 + 0.5 * 0.5)


# -- choosing -----------------------------------------------------------------------------------------------------


def test_unlabelled_text_helps_to_choose_the_sense() -> None:
    report = evaluate_disambiguate("tiny", sentences(), DICTIONARY, UNLABELLED, load_embedder(Settings()), nothing)
    assert set(report.parts["all"]) == {NEAREST, EACH_FOR_ITSELF, EVERYTHING}
    assert report.parts["all"][EVERYTHING].accuracy == 1
    assert sum(report.parts[half][EVERYTHING].sentences for half in HALVES if half in report.parts) == len(LABELLED)
    assert set(report.alone) < set(report.without)


def test_labels_and_the_order_of_the_dictionary_do_not_affect_the_choice() -> None:
    mislabelled = [
        AcronymSentence(one.id, one.before, one.acronym, one.after, DICTIONARY["PUC"][0]) for one in sentences()
    ]
    turned = {acronym: list(reversed(expansions)) for acronym, expansions in DICTIONARY.items()}
    embedder = load_embedder(Settings())
    found = []
    for data, dictionary in ((sentences(), DICTIONARY), (mislabelled, turned)):
        texts = read_texts(data, dictionary, UNLABELLED, embedder, nothing)
        found.append([(g.expansions, choose_together(g)) for g in group_sentences(texts, dictionary)])
    for (names, chances), (others_names, others) in zip(*found, strict=True):
        assert names == others_names
        assert np.allclose(chances, others, atol=1e-3)


def test_probabilities_sum_to_one_and_a_single_sense_is_certain() -> None:
    data = [*sentences(), AcronymSentence("x", "The", "DRAM", "is fast .", DICTIONARY["DRAM"][0])]
    texts = read_texts(data, DICTIONARY, UNLABELLED, load_embedder(Settings()), nothing)
    for group in group_sentences(texts, DICTIONARY):
        chances = choose_together(group)
        assert chances.sum(axis=1) == pytest.approx(1)
        assert chances.shape[1] > 1 or np.all(chances == 1)


def test_acronyms_missing_from_the_dictionary_count_as_wrong() -> None:
    data = [AcronymSentence("1", "", "XYZ", "", "x y z"), *sentences()]
    report = evaluate_disambiguate("tiny", data, DICTIONARY, [], load_embedder(Settings()), nothing)
    assert report.parts["all"][EVERYTHING].accuracy <= 4 / 5
    json.dumps(report.to_json())


def test_one_unusual_sentence_causes_no_error() -> None:
    data = [AcronymSentence("1", "", "PUC", "", DICTIONARY["PUC"][0])]
    report = evaluate_disambiguate(
        "odd", data, {"PUC": ["", "%$ 🙂", *DICTIONARY["PUC"]]}, [], load_embedder(Settings()), nothing
    )
    assert report.parts["all"][EVERYTHING].sentences == 1


def test_an_unlabelled_sentence_is_read_at_its_first_known_acronym() -> None:
    (usage,) = find_usages("The PUC and DRAM .", DICTIONARY)
    assert (usage.before, usage.acronym, usage.after) == ("The", "PUC", "and DRAM .")
    (plain,) = find_usages("Nothing known .", DICTIONARY)
    assert plain.acronym == ""


def test_the_command_prints_json_and_tables(written: Path) -> None:
    options = ["--data", str(written / "dev.json"), "--dictionary", str(written / "diction.json")]
    options += ["--text", str(written / "more.txt")]
    told = CliRunner().invoke(app, ["evaluate", "disambiguate", *options, "--json"])
    assert told.exit_code == 0, told.output
    report = json.loads(told.stdout)
    assert report["suite"] == "disambiguate"
    assert report["unlabelled_sentences_beside"] == len(UNLABELLED)
    assert report["parts"]["all"][EVERYTHING]["accuracy"] == 1
    shown = CliRunner().invoke(app, ["evaluate", "disambiguate", *options])
    assert "surest 50%" in shown.stdout
    assert "without: near by words" in shown.stdout
