"""Tests of the suite `questions`: its labels, its measure, and the public sets it reads from outside the repository."""

import json
from collections import Counter
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from argot.errors import InvalidInput
from argot.evaluate.experiments.question_term_suite import (
    FILES,
    HALVES,
    LabelledQuestion,
    build_question_terms_tables,
    choose_half,
    evaluate_question_terms,
    hash_of,
    load_question_terms,
)
from argot.types import Mention
from argot.ui.cli.main import app

FOLDER = files("argot.samples")
LABELS = FOLDER.joinpath("question_terms.jsonl").read_text("utf-8")
ENTRIES: list[dict[str, Any]] = [json.loads(line) for line in LABELS.splitlines()]
SAMPLES: dict[str, dict[str, Any]] = {
    row["id"]: row for row in map(json.loads, FOLDER.joinpath("questions.jsonl").read_text("utf-8").splitlines())
}
QUESTIONS = {name: row["question"] for name, row in SAMPLES.items()}


def ignore(step: str, done: int, total: int) -> None: ...


def an_id(half: str, name: str = "pubmedqa") -> str:
    return next(str(number) for number in range(100) if choose_half(name, str(number)) == half)


def test_each_part_and_half_has_the_same_number_of_questions() -> None:
    parts = Counter((entry["set"] == "samples", choose_half(entry["set"], entry["id"])) for entry in ENTRIES)
    assert set(parts.values()) == {50}
    assert len({(entry["set"], entry["id"]) for entry in ENTRIES}) == 200


def test_texts_of_public_questions_are_not_stored() -> None:
    assert all(entry.keys() == {"set", "id", "hash", "terms"} for entry in ENTRIES)
    spans = [term for entry in ENTRIES for term in entry["terms"]]
    assert all(kind in {"abbreviation", "phrase", "misspelt"} and 0 <= start < end for start, end, kind in spans)


def test_sample_questions_of_the_test_split_are_used_for_reporting_only() -> None:
    own = [entry for entry in ENTRIES if entry["set"] == "samples"]
    for entry in own:
        kept_for = {"validation": "choosing", "test": "reporting"}[SAMPLES[entry["id"]]["split"]]
        assert choose_half("samples", entry["id"]) == kept_for


def test_labelled_terms_begin_and_end_at_word_boundaries() -> None:
    labelled, absent = load_question_terms(LABELS, QUESTIONS, Path("nowhere"))
    assert absent == list(FILES)
    assert len(labelled) == 100
    for one in labelled:
        for start, end in one.terms:
            around = (one.text[start - 1 : start], one.text[end : end + 1])
            assert not any(char.isalnum() for char in around), (one.id, one.text[start:end])
            assert one.text[start].isalnum() and one.text[end - 1].isalnum()


@pytest.mark.parametrize("name", FILES)
def test_public_questions_are_found_by_their_hash(name: str, tmp_path: Path) -> None:
    file, field = FILES[name]
    path = tmp_path / file
    path.parent.mkdir()
    questions = ["What is a\nkeel?", 'Is "PDK", say, known?']
    rows = [{field: question} for question in questions]
    if path.suffix == ".csv":
        path.write_text(
            "\ufeff" + field + "\r\n" + '"What is a\nkeel?"\r\n"Is ""PDK"", say, known?"\r\n', "utf-8", newline=""
        )
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    else:
        path.write_text(json.dumps(dict(enumerate(rows)) if name == "pubmedqa" else rows), "utf-8")
    label = {"set": name, "id": "1", "hash": hash_of(questions[1]), "terms": [[4, 7, "abbreviation"]]}
    (one,), absent = load_question_terms(json.dumps(label), {}, tmp_path)
    assert (one.text, one.part, absent) == (questions[1], "real", [])
    assert one.text[slice(*next(iter(one.terms)))] == "PDK"


def test_another_version_of_a_data_set_is_refused(tmp_path: Path) -> None:
    path = tmp_path / FILES["pubmedqa"][0]
    path.parent.mkdir()
    path.write_text('{"1": {"QUESTION": "Another?"}}')
    with pytest.raises(InvalidInput, match="pubmedqa does not hold the question"):
        load_question_terms(LABELS, QUESTIONS, tmp_path)
    path.write_text('{"1": {"ASKED": "Another?"}}')
    with pytest.raises(InvalidInput, match="holds no questions in a field 'QUESTION'"):
        load_question_terms(LABELS, QUESTIONS, tmp_path)


async def test_recall_and_precision_are_computed_and_errors_listed() -> None:
    text = "What do PDK, KOZ and USB mean?"
    terms = {(8, 11): "abbreviation", (13, 16): "abbreviation"}
    both = [LabelledQuestion("pubmedqa", an_id(half), text, terms) for half in HALVES]

    async def identify(question: str) -> list[Mention]:
        return [Mention("PDK", 8, 11), Mention("USB", 21, 24)]

    report = await evaluate_question_terms({"so": identify}, both, ["ord_qa"], ignore)
    for half in HALVES:
        score = report.scores["so"]["real"][half]
        assert (score.labelled, score.found, score.right, score.exact) == (2, 2, 1, 0)
        assert (score.precision, score.recall, score.f1) == (0.5, 0.5, 0.5)
    assert [(m.kind, m.term, m.id) for m in report.mistakes] == [
        ("missed", "KOZ", an_id("choosing")),
        ("too many", "USB", an_id("choosing")),
    ]
    titles = [table.title for table in build_question_terms_tables(report, errors=False)]
    assert titles == ["Terms found in questions, so", "Not measured"]
    assert build_question_terms_tables(report, errors=True)[-1].rows[0][3] == "KOZ"


def test_sample_questions_are_measured_without_any_data_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARGOT_DATASETS", str(tmp_path))
    done = CliRunner().invoke(app, ["evaluate", "questions", "--half", "choosing", "--json"])
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    score = report["scores"]["with glossary"]["samples"]["choosing"]
    assert score["precision"] == 1 and score["recall"] == 1
    assert report["absent"] == list(FILES)
    shown = CliRunner().invoke(app, ["evaluate", "questions", "--half", "choosing"])
    assert "github.com/lesliepy99/RAG-EDA" in shown.stdout
