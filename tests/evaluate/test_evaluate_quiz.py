"""Tests of the suite `quiz`: the form of its folder, the three ways of answering, and their scores."""

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from argot.errors import InvalidInput, ModelUnavailable
from argot.evaluate.experiments import shared_tasks
from argot.evaluate.experiments.quiz_data import load_quiz, read_questions
from argot.evaluate.experiments.quiz_suite import ALONE, ARGOT, PLAIN, QuizReport, evaluate_quiz
from argot.evaluate.temporary_base import TemporaryBase
from argot.evaluate.usecases.evaluation_bases import read_contexts
from argot.profile import Profile
from argot.settings import Settings
from argot.tools.llm.model_server import ModelServer

DOCUMENTS = {
    "layout.md": """# Layout guide

## Peripheral Under Cell

Peripheral Under Cell places the peripheral circuits under the memory array. It saves 25 percent of the die area.

## Word Line

The Word Line voltage during a read is 4.5 V.
""",
    "tariffs.md": """# Tariff handbook

The Public Utilities Commission (PUC) approves every tariff. The PUC takes 60 percent of the die-hard cases to court.
""",
}
QUESTIONS: list[dict[str, Any]] = [
    {
        "question": "How much of the die area does PUC save?",
        "options": ["60 percent", "25 percent", "4.5 V"],
        "answer": "25 percent",
        "context": "Layout",
    },
    {
        "question": "Which voltage has the WL during a read?",
        "options": ["25 V", "4.5 V"],
        "answer": "4.5 V",
        "context": "Layout",
    },
    {
        "question": "The Public Utilities Commission approves every tariff.",
        "options": ["true", "false"],
        "answer": "true",
        "context": "Law",
    },
]
GLOSSARY = "term,context,expansion\nPUC,Layout,Peripheral Under Cell\nWL,Layout,Word Line\n"


def quiet(step: str, done: int, total: int) -> None:
    assert done <= total


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "quiz"
    (made / "documents").mkdir(parents=True)
    for name, text in DOCUMENTS.items():
        (made / "documents" / name).write_text(text, "utf-8")
    (made / "glossary.csv").write_text(GLOSSARY, "utf-8")
    (made / "contexts.csv").write_text("name,description,contact\nLayout,Circuits of the die.,layout@example.com\n")
    (made / "quiz.jsonl").write_text("".join(json.dumps(question) + "\n" for question in QUESTIONS), "utf-8")
    return made


@pytest.fixture
def base(folder: Path, tmp_path: Path) -> Iterator[TemporaryBase]:
    from argot.corpus.ingestion.sources import list_sources

    with TemporaryBase(tmp_path / "kb", Settings()) as made:
        made.add(list_sources([folder / "documents"]), quiet)
        made.import_glossary(GLOSSARY, "glossary.csv")
        yield made


def measured(base: TemporaryBase, folder: Path, scripted: Any = None, trials: int = 3, **settings: Any) -> QuizReport:
    server = ModelServer.from_settings(scripted.settings(**settings)) if scripted else None
    return asyncio.run(evaluate_quiz(base, load_quiz(folder), server, 1, trials, quiet))


# -- the folder -------------------------------------------------------------------------------------------------------


def test_a_quiz_folder_is_read(folder: Path) -> None:
    questions = load_quiz(folder)
    assert [question.options[question.correct] for question in questions] == ["25 percent", "4.5 V", "true"]
    assert [question.to_json() for question in questions] == [
        {**question, "options": tuple(question["options"])} for question in QUESTIONS
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{not json", "quiz.jsonl, line 2: not JSON"),
        ('["a"]', "line 2: no JSON object"),
        ('{"question": "  ", "options": ["a", "b"], "answer": "a"}', "question not empty"),
        ('{"question": "q", "options": ["a", "b"], "answer": 1}', "must be text"),
        ('{"question": "q", "options": "ab", "answer": "a"}', "must be a list of texts"),
        ('{"question": "q", "options": ["a"], "answer": "a"}', "2 to 10 different options, not 1"),
        ('{"question": "q", "options": ["a", "a"], "answer": "a"}', "different options"),
        ('{"question": "q", "options": ["a", "b"], "answer": "c"}', "'c' is none of the options"),
    ],
)
def test_the_error_for_a_malformed_line_names_its_number(folder: Path, line: str, message: str) -> None:
    (folder / "quiz.jsonl").write_text(json.dumps(QUESTIONS[0]) + "\n" + line + "\n", "utf-8")
    with pytest.raises(InvalidInput, match=re.escape(message)):
        load_quiz(folder)


def test_the_error_for_a_missing_file_or_field_names_it(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"documents/ and a file quiz\.jsonl"):
        load_quiz(tmp_path / "nowhere")
    (folder / "quiz.jsonl").write_text("\n", "utf-8")
    with pytest.raises(InvalidInput, match="holds no question"):
        load_quiz(folder)
    (folder / "quiz.jsonl").write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidInput, match="no UTF-8"):
        load_quiz(folder)
    (folder / "quiz.jsonl").unlink()
    with pytest.raises(InvalidInput, match=r"quiz\.jsonl cannot be read"):
        load_quiz(folder)


def test_a_context_without_a_name_is_refused() -> None:
    assert read_contexts("") == []
    with pytest.raises(InvalidInput, match=r"contexts\.csv, row 3: no name"):
        read_contexts("name,description\nLayout,circuits\n,other\n")


def test_the_samples_are_written_as_a_quiz_folder(tmp_path: Path) -> None:
    written = tmp_path / "sample-quiz"
    assert shared_tasks.write_samples_quiz(written, "validation") == 30
    questions = read_questions((written / "quiz.jsonl").read_text("utf-8"), "quiz.jsonl")
    contexts = {row["name"] for row in read_contexts((written / "contexts.csv").read_text("utf-8"))}
    assert {question.context for question in questions} == contexts and len(contexts) == 6
    assert len(list((written / "documents").rglob("*.*"))) == 36
    with pytest.raises(InvalidInput, match="already exists"):
        shared_tasks.write_samples_quiz(written, "validation")


# -- without a model --------------------------------------------------------------------------------------------------


def test_the_extractive_side_has_no_closed_book_score(base: TemporaryBase, folder: Path) -> None:
    report = measured(base, folder)
    assert set(report.scores) == {PLAIN, ARGOT}
    assert report.questions == {"Layout": 2, "Law": 1, "all": 3}
    assert report.chance["all"] == pytest.approx((1 / 3 + 1 / 2 + 1 / 2) / 3)
    assert report.scores[ARGOT]["all"].mean == 1.0
    assert report.scores[ARGOT]["all"].deviation == 0.0
    assert "no model" in report.reader


def test_only_argots_prompt_explains_the_terms_of_the_question(
    base: TemporaryBase, folder: Path, scripted_model: Any
) -> None:
    scripted_model.reply("quiz_option", {"option": "A"})
    measured(base, folder, scripted_model, trials=1)
    told = [r.user for r in scripted_model.asked("quiz_option") if "does PUC save" in r.user]
    assert len(told) == 2
    assert ["Peripheral Under Cell" in user.split("<definitions")[-1] for user in told if "<definition" in user] == [
        True
    ]


# -- with a model -----------------------------------------------------------------------------------------------------


def option_saying(pattern: str) -> Any:
    """Return the reply of a model that picks the matching option, or the first if none matches."""

    def reply(request: Any) -> dict[str, str]:
        listed = re.findall(r"^([A-J])\. (.*)$", request.user.rsplit("<options>", maxsplit=1)[-1], re.MULTILINE)
        return {"option": next((letter for letter, text in listed if re.search(pattern, text)), "A")}

    return reply


def test_the_models_letter_refers_to_the_order_of_the_trial(
    base: TemporaryBase, folder: Path, scripted_model: Any
) -> None:
    scripted_model.reply("quiz_option", option_saying(r"^(?:25 percent|4\.5 V|true)$"))
    scripted_model.reply("quiz_closed_book", option_saying("60 percent|25 V|false"))
    report = measured(base, folder, scripted_model, trials=4)
    assert report.reader == "scripted"
    assert report.scores[ALONE]["all"].mean == 0.0
    assert report.scores[PLAIN]["Law"].trials == (1.0,) * 4
    orders = {
        tuple(re.findall(r"^[A-J]\. (.*)$", request.user, re.MULTILINE))
        for request in scripted_model.asked("quiz_closed_book")
        if "die area" in request.user
    }
    assert len(orders) > 1


def test_a_model_that_always_says_a_scores_by_chance(base: TemporaryBase, folder: Path, scripted_model: Any) -> None:
    scripted_model.reply("quiz_option", {"option": "A"})
    scripted_model.reply("quiz_closed_book", {"option": "A"})
    report = measured(base, folder, scripted_model, trials=8)
    assert report.scores[ALONE] == report.scores[PLAIN] == report.scores[ARGOT]
    assert 0 < report.scores[ALONE]["all"].mean < 1 and report.scores[ALONE]["all"].deviation > 0
    assert set(scripted_model.asked("quiz_closed_book")[0].schema["properties"]["option"]["enum"]) <= set("ABC")


def test_a_question_without_an_answer_of_the_model_is_not_right(
    base: TemporaryBase, folder: Path, scripted_model: Any
) -> None:
    scripted_model.reply("quiz_option", option_saying(r"^(?:25 percent|4\.5 V|true)$"))
    scripted_model.fault("invalid_json", prompt="quiz_closed_book")
    report = measured(base, folder, scripted_model, trials=1)
    assert report.scores[ALONE]["all"].unanswered == 3 and report.scores[ALONE]["all"].mean == 0.0
    assert report.scores[PLAIN]["all"].unanswered == 0


def test_an_unreachable_server_ends_the_quiz(base: TemporaryBase, folder: Path, scripted_model: Any) -> None:
    scripted_model.fault("refuse")
    with pytest.raises(ModelUnavailable, match="argot doctor"):
        measured(base, folder, scripted_model)


# -- the whole suite --------------------------------------------------------------------------------------------------


def test_the_suite_measures_both_sides_and_builds_its_tables(folder: Path, scripted_model: Any) -> None:
    report, tables = shared_tasks.measure_quiz(folder, "both", 1, 2, Profile(), scripted_model.settings(), quiet)
    assert set(report) == {"extractive", "model"}
    assert json.loads(json.dumps(report))["model"]["reader"] == "scripted"
    assert [table.columns[3:] for table in tables] == [(PLAIN, ARGOT), (ALONE, PLAIN, ARGOT)]
    assert [row[0] for row in tables[0].rows] == ["Layout", "Law", "all"]
    assert all("±" in cell for table in tables for row in table.rows for cell in row[3:])


def test_a_glossary_with_invalid_rows_is_refused(folder: Path) -> None:
    (folder / "glossary.csv").write_text("term,context,expansion\n" + "x" * 201 + ",,long\n", "utf-8")
    with pytest.raises(InvalidInput, match=r"glossary\.csv: nothing was imported"):
        shared_tasks.measure_quiz(folder, "extractive", 1, 1, Profile(), Settings(), quiet)
