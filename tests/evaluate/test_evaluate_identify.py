"""Tests of the SDU shared tasks' measure of short and long forms, and of the files it reads."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from argot.errors import InvalidInput
from argot.evaluate.experiments.identification import (
    HALVES,
    evaluate_identify,
    find_labelled_forms,
    load_labelled,
    measure_forms,
)
from argot.ui.cli.main import app

SENTENCE: dict[str, Any] = {
    "id": "S-1",
    "tokens": ["The", "word", "line", "(", "WL", ")", "of", "a", "non", "-", "QA", "T", "-", "V", "task", "."],
    "labels": ["O", "B-long", "I-long", "O", "B-short", "O", "O", "O", "O", "O", "B-short", "B-short", "I-short",
               "I-short", "O", "O"],
}  # fmt: skip
PARAGRAPH: dict[str, Any] = {
    "ID": "7",
    "text": "The word line (WL) is long.",
    "acronyms": [[15, 17]],
    "long-forms": [[4, 13]],
}


def write(path: Path, entries: Any) -> Path:
    path.write_text(json.dumps(entries), "utf-8")
    return path


def test_labelled_tokens_are_read_and_found_again(tmp_path: Path) -> None:
    (one,) = load_labelled(write(tmp_path / "dev.json", [SENTENCE]))
    assert one.gold == {"short": {(4, 5), (10, 11), (11, 14)}, "long": {(1, 3)}}
    assert find_labelled_forms(one) == one.gold


def test_labelled_spans_of_a_paragraph_are_read_and_found_again(tmp_path: Path) -> None:
    (one,) = load_labelled(write(tmp_path / "dev.json", [PARAGRAPH]))
    assert find_labelled_forms(one) == one.gold == {"short": {(15, 17)}, "long": {(4, 13)}}


def test_a_form_counts_only_if_its_span_is_exactly_right(tmp_path: Path) -> None:
    (one,) = load_labelled(write(tmp_path / "dev.json", [SENTENCE]))
    guess = {"short": frozenset([(4, 5), (10, 12)]), "long": frozenset([(0, 3)])}
    score = measure_forms([(one, guess)])
    assert (score.by_class["short"].precision, score.by_class["short"].recall) == (1 / 2, 1 / 3)
    assert (score.by_class["long"].precision, score.by_class["long"].recall) == (0.0, 0.0)
    precision, recall = 1 / 4, 1 / 6
    assert score.precision == precision and score.recall == pytest.approx(recall)
    assert score.f1 == pytest.approx(2 * precision * recall / (precision + recall))


def test_short_and_long_forms_have_equal_weight(tmp_path: Path) -> None:
    (one,) = load_labelled(write(tmp_path / "dev.json", [SENTENCE]))
    score = measure_forms([(one, {"short": one.gold["short"], "long": frozenset()})])
    assert (score.precision, score.recall) == (1.0, 0.5)


def test_halves_depend_on_the_text_only_and_one_half_shows_its_errors(tmp_path: Path) -> None:
    sentences = [{**SENTENCE, "id": str(n), "tokens": [f"w{n}", *SENTENCE["tokens"][1:]]} for n in range(40)]
    wrong = [{**one, "labels": ["B-long", *["O"] * 15]} for one in sentences]
    data = load_labelled(write(tmp_path / "dev.json", wrong))
    again = load_labelled(write(tmp_path / "dev2.json", wrong[::-1]))
    halves = {one.id: one.half for one in data}
    assert {one.id: one.half for one in again} == halves
    assert set(halves.values()) == set(HALVES)
    report = evaluate_identify("dev", data, lambda *_: None)
    assert report.parts["all"].texts == sum(report.parts[half].texts for half in HALVES) == 40
    assert {halves[error.id] for error in report.wrong} == {"choosing"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{not json", "no JSON"),
        ("[]", "must hold a list"),
        ('{"tokens": []}', "must hold a list"),
        ('[{"id": "1", "tokens": ["a"]}]', "entry 1 has no 'labels'"),
        ('[{"id": "1", "tokens": ["a"], "labels": ["B-odd"]}]', "entry 1 is malformed"),
        ('[{"id": "1", "tokens": ["a"], "labels": []}]', "entry 1 is malformed"),
        ('[{"ID": "1", "text": "a"}]', "entry 1 has no 'acronyms'"),
        ("[3]", "entry 1 is malformed"),
    ],
)
def test_the_error_for_a_malformed_file_names_the_entry(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "dev.json"
    path.write_text(content, "utf-8")
    with pytest.raises(InvalidInput, match=message):
        load_labelled(path)


def test_the_command_prints_tables_or_json(tmp_path: Path) -> None:
    path = write(tmp_path / "dev.json", [SENTENCE, PARAGRAPH])
    shown = CliRunner().invoke(app, ["evaluate", "identify", "--data", str(path)])
    assert shown.exit_code == 0, shown.output
    assert "dev.json, all: 2 texts" in shown.stdout and "macro" in shown.stdout
    report = json.loads(CliRunner().invoke(app, ["evaluate", "identify", "--data", str(path), "--json"]).stdout)
    assert report["parts"]["all"]["macro"] == {"precision": 1.0, "recall": 1.0, "f1": 1.0}
    missing = CliRunner().invoke(app, ["evaluate", "identify", "--data", str(tmp_path / "none.json")])
    assert missing.exit_code != 0
