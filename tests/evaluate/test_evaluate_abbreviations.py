"""Tests of the suite `abbreviations`: how its questions are made, what is counted, and the results of both sides."""

import asyncio
import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from argot.errors import InvalidInput, ModelUnavailable
from argot.evaluate.experiments import shared_tasks
from argot.evaluate.experiments.abbreviation_questions import (
    TEMPLATES,
    AbbreviationQuestion,
    draw_abbreviations,
    draw_questions,
)
from argot.evaluate.experiments.abbreviation_suite import AbbreviationsReport, QuestionReading, evaluate_abbreviations
from argot.evaluate.experiments.task_tables import build_abbreviations_tables
from argot.evaluate.temporary_base import Identifier, TemporaryBase
from argot.jargon_db.lookup.ordinary_words import is_well_known
from argot.settings import Settings
from argot.tools.llm.model_server import ModelServer
from argot.types import Mention


def quiet(step: str, done: int, total: int) -> None:
    assert done <= total


@pytest.fixture
def base(tmp_path: Path) -> Iterator[TemporaryBase]:
    with TemporaryBase(tmp_path / "kb", Settings()) as made:
        made.glossary.senses.add("QMB", "Tools", "queue manager board")
        yield made


def measured(identify: Identifier, base: TemporaryBase, each: int = 1, **more: Any) -> AbbreviationsReport:
    return asyncio.run(
        evaluate_abbreviations({"side": identify}, base.has_word, 7, 1, each, more.get("progress", quiet))
    )


# -- the questions ----------------------------------------------------------------------------------------------------


def test_templates_have_the_numbers_of_the_paper() -> None:
    sizes = Counter(template.count("{}") for template in TEMPLATES)
    assert sizes == {1: 4, 2: 3, 3: 3, 4: 2, 5: 1}


def test_abbreviations_are_drawn_by_seed_in_equal_lengths_and_unknown() -> None:
    drawn = draw_abbreviations(random.Random(3), lambda word: word[0] in "AEIOU")
    assert drawn == draw_abbreviations(random.Random(3), lambda word: word[0] in "AEIOU")
    assert drawn != draw_abbreviations(random.Random(4), lambda word: word[0] in "AEIOU")
    assert Counter(map(len, drawn)) == {2: 10, 3: 10, 4: 10} and len(set(drawn)) == 30
    assert not [word for word in drawn if word[0] in "AEIOU" or is_well_known(word)]


def test_an_impossible_draw_is_an_error() -> None:
    with pytest.raises(AssertionError, match="could not be drawn"):
        draw_abbreviations(random.Random(1), lambda word: True)


def test_every_drawn_abbreviation_appears_in_its_question() -> None:
    abbreviations = draw_abbreviations(random.Random(5), lambda word: False)
    made = list(draw_questions(abbreviations, random.Random(5), lambda word: False, 30))
    for question in made:
        assert all(one in question.text for one in question.expected), question
        assert len(set(question.expected)) == len(question.expected)
    firsts = [q.expected[0] for q in made if q.set == "as in the paper" and len(q.expected) == 5]
    assert sorted(firsts) == sorted(abbreviations)
    lower = [one for question in made if question.set == "lower case" for one in question.expected]
    assert lower and all(map(str.islower, lower))
    mixed = [one for question in made if question.set == "mixed case with digits" for one in question.expected]
    assert all(re.search("[A-Z]", one) and re.search("[a-z]", one) and re.search(r"\d", one) for one in mixed)


# -- what is counted --------------------------------------------------------------------------------------------------


def test_recall_precision_and_exactness_are_measured_apart() -> None:
    question = AbbreviationQuestion("s", "Are KPU and MI the same?", ("KPU", "MI"))
    assert QuestionReading(question, ("MI", "KPU")).exact
    too_much = QuestionReading(question, ("KPU", "MI", "same"))
    assert too_much.all_found and not too_much.exact
    too_little = QuestionReading(question, ("KPU",))
    assert not too_little.all_found and too_little.right == {"KPU"}


def test_a_reader_that_lists_every_word_has_recall_and_no_precision(base: TemporaryBase) -> None:
    async def everything(question: str) -> list[Mention]:
        return [Mention(m.group(), m.start(), m.end()) for m in re.finditer(r"\w+", question)]

    rows = {(row.set, row.size): row for row in measured(everything, base).sides["side"]}
    row = rows["as in the paper", 1]
    assert row.all_found == 1.0 and row.precision is not None and row.precision < 0.3 and row.exact == 0.0
    assert rows["without any", 0].recall is None and rows["without any", 0].false_terms > 100


def test_a_reader_that_finds_nothing_is_right_only_without_abbreviations(base: TemporaryBase) -> None:
    async def nothing(question: str) -> list[Mention]:
        return []

    report = measured(nothing, base)
    for row in report.sides["side"]:
        assert row.exact == (1.0 if row.size == 0 else 0.0)
        assert row.precision is None
    assert all(reading.question.expected for reading in report.wrong["side"])


# -- the extractive side ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [11, 12])
def test_the_extractive_side_finds_exactly_the_abbreviations_of_the_paper(base: TemporaryBase, seed: int) -> None:
    report = asyncio.run(evaluate_abbreviations({"side": base.make_identifier()}, base.has_word, seed, 1, 30, quiet))
    assert "QMB" not in report.abbreviations
    own = [row for row in report.sides["side"] if row.set == "as in the paper"]
    assert [row.size for row in own] == [1, 2, 3, 4, 5, None]
    assert all(row.recall == row.precision == row.exact == 1.0 for row in own)


def test_the_extractive_side_reaches_its_minimum_on_the_harder_sets(base: TemporaryBase) -> None:
    report = asyncio.run(evaluate_abbreviations({"side": base.make_identifier()}, base.has_word, 21, 2, 30, quiet))
    rows = {row.set: row for row in report.sides["side"] if row.size in (None, 0)}
    least = {"lower case": 0.6, "glued to numbers and slashes": 0.99, "mixed case with digits": 0.9}
    for name, recall in least.items():
        assert (rows[name].recall or 0) >= recall, name
        assert rows[name].precision == 1.0, name
    assert rows["without any"].exact >= 0.99
    assert rows["only what everybody knows"].false_terms == 0


# -- the model's side -------------------------------------------------------------------------------------------------


def identifier_of(base: TemporaryBase, scripted: Any, **settings: Any) -> Identifier:
    server = ModelServer.from_settings(scripted.settings(**settings))
    assert server
    return base.make_identifier(server)


def test_a_models_terms_are_checked_against_the_question_before_they_count(
    base: TemporaryBase, scripted_model: Any
) -> None:
    def list_too_much(request: Any) -> dict[str, Any]:
        return {"terms": ["Good Till Cancelled", *re.findall(r"[A-Z0-9]{2,}", request.user.split("<question>")[1])]}

    scripted_model.reply("identify_jargon", list_too_much)
    report = measured(identifier_of(base, scripted_model), base)
    row = next(r for r in report.sides["side"] if r.set == "as in the paper" and r.size is None)
    assert row.recall == row.precision == 1.0 and row.failed == 0
    assert len(scripted_model.asked("identify_jargon")) == sum(
        r.questions for r in report.sides["side"] if r.size is not None
    )


def test_a_model_that_lists_every_word_causes_no_false_term(base: TemporaryBase, scripted_model: Any) -> None:
    def list_every_word(request: Any) -> dict[str, Any]:
        question = request.user.split("<question>")[1].split("</question>")[0]
        return {"terms": [*question.split()[:18], "Internet Explorer", question[:60]]}

    scripted_model.reply("identify_jargon", list_every_word)
    report = measured(identifier_of(base, scripted_model), base, each=2)
    rows = {row.set: row for row in report.sides["side"] if row.size in (None, 0)}
    for name in ("as in the paper", "glued to numbers and slashes", "mixed case with digits", "lower case"):
        assert rows[name].precision == 1.0, [one for one in report.wrong["side"] if one.question.set == name]
    assert rows["as in the paper"].recall == 1.0


def test_a_model_that_lists_nothing_has_no_recall(base: TemporaryBase, scripted_model: Any) -> None:
    scripted_model.reply("identify_jargon", {"terms": []})
    rows = measured(identifier_of(base, scripted_model), base).sides["side"]
    assert {row.recall for row in rows} == {0.0, None}


def test_single_failures_are_counted_and_the_next_question_is_asked(base: TemporaryBase, scripted_model: Any) -> None:
    scripted_model.reply("identify_jargon", {"terms": []})
    scripted_model.fault("overflow", times=3)
    rows = measured(identifier_of(base, scripted_model), base).sides["side"]
    failed = sum(row.failed for row in rows if row.size is not None)
    assert 1 <= failed <= 3


def test_an_unreachable_server_ends_the_measurement(base: TemporaryBase, scripted_model: Any) -> None:
    scripted_model.fault("refuse")
    with pytest.raises(ModelUnavailable, match="argot doctor"):
        measured(identifier_of(base, scripted_model), base)


# -- the whole suite --------------------------------------------------------------------------------------------------


def test_the_suite_measures_both_sides_and_builds_its_tables(scripted_model: Any) -> None:
    scripted_model.reply("identify_jargon", {"terms": []})
    report, tables = shared_tasks.measure_abbreviations("both", 1, 1, 1, scripted_model.settings(), quiet)
    assert set(report["sides"]) == {"extractive", "model"} and report["model"] == "scripted"
    assert len(json.loads(json.dumps(report))["abbreviations"]) == 30
    assert any("model scripted" in table.title for table in tables)
    assert all(len(row) == len(table.columns) for table in tables for row in table.rows)
    assert len(build_abbreviations_tables(AbbreviationsReport(1, 1, [], {"extractive": []}, {"extractive": []}))) == 1


def test_the_error_without_a_model_server_names_the_setting() -> None:
    with pytest.raises(InvalidInput, match="ARGOT_MODEL_URL"):
        shared_tasks.measure_abbreviations("model", 1, 1, 1, Settings(), quiet)
