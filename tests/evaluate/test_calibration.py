"""Tests of judges against people: kappa by hand, files of labels, and the whole calibration with a scripted model."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from argot.errors import InvalidInput
from argot.evaluate.answer_judging import JudgeReport, JudgeRow
from argot.evaluate.calibration import Calibration, _is_in_first_half
from argot.evaluate.human_labels import load_financebench_labels, load_labels
from argot.evaluate.judge_agreement import (
    compute_cohen_kappa,
    compute_observed_agreement,
    compute_pairwise_agreement,
    count_confusion,
    measure_agreement,
)
from argot.evaluate.score_distributions import build_distribution_tables, build_people_tables
from argot.evaluate.usecases.judge_calibration import calibrate
from argot.evaluate.usecases.measured_models import JudgeChoice
from argot.settings import Settings
from argot.ui.cli.main import app

# -- the statistic ----------------------------------------------------------------------------------------------------


def test_cohens_kappa_agrees_with_values_by_hand() -> None:
    # Of 50: both yes 20, both no 15, only people yes 5, only the judge yes 10. By chance 0.5 * 0.6 + 0.5 * 0.4 = 0.5.
    table = np.array([[15, 10], [5, 20]])
    assert compute_observed_agreement(table) == pytest.approx(0.7)
    assert compute_cohen_kappa(table) == pytest.approx((0.7 - 0.5) / (1 - 0.5))
    assert compute_cohen_kappa(np.array([[0, 0], [0, 9]])) is None
    assert compute_cohen_kappa(np.array([[5, 0], [0, 5]])) == 1.0
    assert compute_cohen_kappa(np.array([[0, 5], [5, 0]])) == -1.0


def test_weighted_kappa_agrees_with_a_value_by_hand() -> None:
    # One of four differs by one of three labels: cost 1. The cost by chance is calculated below.
    table = np.array([[1, 1, 0], [0, 0, 0], [0, 0, 2]])
    # Row sums 2, 0, 2; column sums 1, 1, 2; expected in row 0: .5, .5, 1, and the same in row 2.
    by_chance = 0.5 * 1 + 1 * 4 + 0.5 * 4 + 0.5 * 1
    assert compute_cohen_kappa(table, weighted=True) == pytest.approx(1 - 1 / by_chance)


def test_people_and_judge_are_compared_by_how_often_each_score_is_given() -> None:
    found = measure_agreement([5, 5, 1, 1], [4.0, 5.0, 2.0, 1.0], (1, 2, 3, 4, 5), [1, 2, 3, 4])
    one = Calibration("aspects", "m", 4, 4, 0, 0, 0, {"accuracy": {"all": found}}, {})
    (table,) = build_people_tables([one])
    assert table.rows == [["accuracy", "all", "+25.0", "-25.0", "+0.0", "-25.0", "+25.0", "3.00", "3.00"]]


def test_ranks_of_a_judge_are_counted_and_compared_in_pairs() -> None:
    ranks = {"a": (1, 1, 2), "b": (2, 1, 1)}
    each = [
        {"profile": name, "id": str(n), "scores": {"rank": float(rank), "ranked first": 0.0}, "fault": ""}
        for name, given in ranks.items()
        for n, rank in enumerate(given)
    ]
    report = JudgeReport("ranking", "m", {name: JudgeRow(3, 3, 0, 0) for name in ranks}, {}, each)
    counts, wins = build_distribution_tables(report)
    assert counts.rows == [["rank", "a", "2", "1", "0", "0"], ["rank", "b", "2", "1", "0", "0"]]
    assert wins.rows == [["rank", "b against a", "1 (33 %)", "1 (33 %)", "1 (33 %)"]]
    assert list(build_distribution_tables(replace(report, judge="correct"))) == []


@pytest.mark.parametrize(("size", "weighted"), [(2, False), (5, True), (5, False)])
def test_cohens_kappa_agrees_with_scikit_learn(size: int, weighted: bool) -> None:
    from sklearn.metrics import cohen_kappa_score  # two seconds, of which each process that collects would take them

    draw = np.random.default_rng(5)
    people, judge = draw.integers(0, size, 200), draw.integers(0, size, 200)
    judge[:120] = people[:120]
    theirs = cohen_kappa_score(people, judge, weights="quadratic" if weighted else None)
    assert compute_cohen_kappa(count_confusion(people, judge, size), weighted=weighted) == pytest.approx(theirs)


def test_agreement_has_intervals_over_questions_and_a_confusion_table() -> None:
    people, judge = [1, 1, 0, 0] * 10, [1.0, 0.0, 0.0, 0.0] * 10
    found = measure_agreement(people, judge, (0, 1), [place // 4 for place in range(40)])
    assert (found.agreement, found.questions, found.confusion) == (0.75, 10, ((20, 0), (10, 10)))
    assert found.agreement95 == (0.75, 0.75)  # every question has the same agreement
    assert found.kappa == pytest.approx(0.5)
    scale = measure_agreement([1, 2, 5, 4], [1.2, 2.5, 4.5, 4.4], (1, 2, 3, 4, 5), range(4))
    assert scale.confusion[1][2] == 1 and scale.agreement == 0.75  # 2.5 is rounded to 3
    assert scale.rank_correlation == pytest.approx(1.0)
    with pytest.raises(ValueError, match="7 is none of the labels"):
        measure_agreement([7], [1.0], (0, 1), [0])
    with pytest.raises(ValueError, match="at least one"):
        measure_agreement([], [], (0, 1), [])


def test_raters_are_compared_pair_by_pair() -> None:
    assert compute_pairwise_agreement([[1, 1, 0], [0], [1, 1]]) == pytest.approx(2 / 4)
    assert compute_pairwise_agreement([[1]]) is None


# -- labels -----------------------------------------------------------------------------------------------------------


def line_of(**fields: Any) -> str:
    return json.dumps({"question": "How long?", "reference": "40 s", "answer": "It takes 40 s.", **fields})


def labelled(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / "labels.jsonl"
    path.write_text("\n".join(lines))
    return path


def test_the_labels_of_several_raters_are_combined(tmp_path: Path) -> None:
    path = labelled(
        tmp_path,
        line_of(labels=[True, "TRUE", False]),
        line_of(labels=[True, False]),
        line_of(labels=[5, 2, 3, 4], kind="fact", id=7, note="mine"),
        line_of(label={"accuracy": 5, "helpfulness": 4, "informativeness": 1}),
    )
    most, tied, scores, aspects = load_labels(path)
    assert (most.decide_label("TRUE"), tied.decide_label("TRUE"), scores.decide_label("score"), scores.kind) == (
        1,
        None,
        3,
        "fact",
    )
    assert (aspects.decide_label("informativeness"), aspects.decide_label("score")) == (1, None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no labelled answer"),
        ("{", "line 1: not JSON"),
        (line_of(), "line 1: there is no label"),
        (line_of(label=6), "line 1: label: true, false, 1 to 5"),
        (line_of(label="maybe"), "line 1: label: true, false"),
        (line_of(labels=[True, {"accuracy": 9}]), "line 1: labels: true, false"),
        (line_of(label=True, reference=""), "line 1: reference: "),
        (line_of(label=True, answr="x"), "line 1: answr: Extra inputs"),
    ],
)
def test_a_malformed_file_of_labels_is_refused_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        load_labels(labelled(tmp_path, text))


def test_labels_are_read_from_the_results_of_financebench(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="ARGOT_DATASETS"):
        load_financebench_labels(tmp_path)
    folder = tmp_path / "financebench" / "results"
    folder.mkdir(parents=True)
    rows = [
        {"question": "How much?", "gold_answer": 8.7, "model_answer": "8.7", "label": "Correct Answer"},
        {"question": "How much?", "gold_answer": 8.7, "model_answer": "I do not know.", "label": "Refusal"},
    ]
    (folder / "one.jsonl").write_text("\n".join(map(json.dumps, rows)))
    right, refused = load_financebench_labels(tmp_path)
    assert (right.reference, right.decide_label("TRUE"), right.kind) == ("8.7", 1, "answered")
    assert (refused.decide_label("TRUE"), refused.kind) == (0, "refused")
    (folder / "one.jsonl").write_text(json.dumps({**rows[0], "label": "Good"}))
    with pytest.raises(InvalidInput, match=r"one\.jsonl, line 1: .*not 'Good'"):
        load_financebench_labels(tmp_path)


# -- the whole calibration --------------------------------------------------------------------------------------------


def measured(path: Path, judges: list[str], settings: Settings, **more: Any) -> tuple[dict[str, Any], list[str]]:
    choice = JudgeChoice(judges, **more)
    report, tables = calibrate(path, None, choice, None, None, settings, lambda *_: None)
    return report, [table.title for table in tables]


def test_a_judge_is_asked_about_every_answer_and_its_faults_are_counted(scripted_model: Any, tmp_path: Path) -> None:
    # The reply depends on the request, since four are sent at once.
    scripted_model.reply("judge_correct", lambda asked: {"verdict": "TRUE" if "GOOD" in asked.user else "FALSE"})
    lines = [
        line_of(question=f"Q{n}?", answer="GOOD" if n < 2 else "BAD", label=n < 2, kind="a" if n < 2 else "b")
        for n in range(4)
    ]
    report, titles = measured(labelled(tmp_path, *lines), ["correct"], scripted_model.settings(model_seconds=60))
    (own,) = report["judges"]
    assert own["agreements"]["TRUE"]["all"]["agreement"] == 1.0 == own["agreements"]["TRUE"]["all"]["kappa"]
    assert list(own["agreements"]["TRUE"]) == ["all", "a", "b"]
    assert own["model"] and titles[-1] == f"People (rows) and correct, by {own['model']} (columns): TRUE"
    scripted_model.fault("invalid_json")
    report, titles = measured(labelled(tmp_path, *lines), ["correct"], scripted_model.settings(model_seconds=60))
    (own,) = report["judges"]
    assert (own["malformed"], own["judged"], own["agreements"]) == (4, 0, {"TRUE": {}})
    assert titles == ["Agreement with people"]


def test_judges_that_give_scores_are_calibrated_on_scores(scripted_model: Any, tmp_path: Path) -> None:
    scripted_model.reply("judge_geval", {"reasoning": "x", "score": 4})
    good = {"accuracy": 5, "helpfulness": 4, "informativeness": 3}
    scripted_model.reply("judge_aspects", {"a": good, "b": good})
    path = labelled(tmp_path, line_of(label=4), line_of(label=good))
    report, titles = measured(path, ["geval", "aspects"], scripted_model.settings(model_seconds=60))
    assert "People minus aspects: how often each score was given, in percentage points" in titles
    likeness, aspects = report["judges"]
    assert likeness["agreements"]["similarity"]["all"]["weighted"] and likeness["undecided"] == 1
    assert [aspects["agreements"][name]["all"]["agreement"] for name in good] == [1.0, 1.0, 1.0]
    with pytest.raises(InvalidInput, match="'rules' is calibrated on labels that are true or false"):
        measured(path, ["rules"], Settings())
    asked = len(scripted_model.asked())
    with pytest.raises(InvalidInput, match="'correct' is calibrated on labels that are true or false"):
        measured(path, ["geval", "aspects", "correct"], scripted_model.settings(model_seconds=60))
    with pytest.raises(InvalidInput, match="'geval' is calibrated on labels that are scores"):
        measured(labelled(tmp_path, line_of(label=True)), ["correct", "geval"], scripted_model.settings())
    # No request is made in vain.
    assert len(scripted_model.asked()) == asked


def test_a_threshold_is_chosen_on_one_half_and_reported_on_the_other(tmp_path: Path) -> None:
    rows = [(f"Question {n}?", good) for n in range(20) for good in (True, False)]
    lines = [
        line_of(question=question, answer="It takes 40 s." if good else "Penguins swim.", label=good)
        for question, good in rows
    ]
    first = [question for question, _ in rows if _is_in_first_half(question)]
    assert 0 < len(first) < len(rows)
    report, titles = measured(labelled(tmp_path, *lines), ["rouge-l", "bertscore", "rules"], Settings())
    for own in report["judges"][:2]:
        assert (own["chosen_on"], own["answers"], own["auroc"]) == (len(first), len(rows) - len(first), 1.0)
        assert own["agreements"]["TRUE"]["all"]["kappa"] == 1.0
    assert report["judges"][2]["answers"] == len(rows)
    assert titles[:2] == ["Agreement with people", "Measures used as verdicts"]


@pytest.mark.parametrize(
    ("judges", "message"),
    [
        (["genius"], "no judge 'genius'"),
        (["ranking"], "compares four answers; labels of single answers cannot be compared with that"),
        (["correct"], "needs a language model"),
        (["rouge-1"], "too few questions .* Give --threshold"),
        ([], "Give --judge"),
    ],
)
def test_the_error_for_an_impossible_calibration_gives_the_reason(
    tmp_path: Path, judges: list[str], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        measured(labelled(tmp_path, line_of(label=True)), judges, Settings())


def test_the_command_prints_tables_and_json(tmp_path: Path) -> None:
    answers = ["50 s", "40 s"] * 3
    lines = [line_of(question=f"Q{n}?", answer=one, label=one == "40 s") for n, one in enumerate(answers)]
    path = labelled(tmp_path, *lines)
    arguments = ["evaluate", "calibrate", "--labels", str(path), "--judge", "exact-match", "--judge", "rules"]
    shown = CliRunner().invoke(app, arguments)
    assert shown.exit_code == 0 and "Agreement with people" in shown.output and "100.0 %" in shown.output
    drawn = CliRunner().invoke(app, [*arguments, "--limit", "3", "--json"])
    assert json.loads(drawn.output)["answers"] == 3
