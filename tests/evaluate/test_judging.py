"""Tests of judges with a scripted server: random orders, and invalid verdicts counted apart."""

import re
from dataclasses import replace
from typing import Any

import pytest

from argot.errors import InvalidInput, ModelUnavailable
from argot.evaluate.answer_judging import judge_answers, judge_row
from argot.evaluate.answer_outcomes import build_outcome as outcome_of
from argot.evaluate.answer_questions import AnswerQuestion
from argot.evaluate.answer_report import build_answers_report
from argot.evaluate.answer_tables import build_answers_tables
from argot.evaluate.judging import AnswerJudge, JudgeName, JudgeScores
from argot.evaluate.usecases.measured_models import JudgeChoice, build_answer_judges, run_closing
from argot.results import AskResult
from argot.settings import Settings
from argot.tools.llm.judge import ModelJudge
from argot.tools.llm.model_server import ModelServer

QUESTION, REFERENCE = "How long does it take?", "It takes 40 seconds."
FENCE = re.compile(r"<(answer(?:_[abcd])?)>\n(.*?)\n</\1>", re.DOTALL)


def shown(request: Any) -> dict[str, str]:
    """Return the answers of a request by their places."""
    return {name.removeprefix("answer_"): text for name, text in FENCE.findall(request.user)}


def judge(scripted: Any, name: JudgeName, **more: Any) -> AnswerJudge:
    server = ModelServer.from_settings(scripted.settings(model_seconds=60))
    assert server is not None
    return AnswerJudge(name, ModelJudge(server), **more)


def scores(found: list[JudgeScores]) -> list[dict[str, float]]:
    return [dict(one.scores) for one in found]


@pytest.mark.parametrize("name", ["correct", "raidd"])
async def test_each_answer_gets_its_own_verdict(scripted_model: Any, name: JudgeName) -> None:
    for prompt in ("judge_correct", "judge_raidd_accuracy"):
        scripted_model.reply(
            prompt, lambda asked: {"verdict": "TRUE" if "40" in asked.user.split("<answer>")[1] else "FALSE"}
        )
    found = await judge(scripted_model, name).judge(QUESTION, REFERENCE, ["40 s", "50 s"])
    assert scores(found) == [{"TRUE": 1.0}, {"TRUE": 0.0}]


async def test_the_rule_based_judge_works_without_a_model() -> None:
    found = await AnswerJudge("rules").judge(QUESTION, REFERENCE, [REFERENCE, "It takes 50 seconds."])
    assert scores(found) == [{"TRUE": 1.0}, {"TRUE": 0.0}]
    with pytest.raises(ValueError, match="needs a model"):
        AnswerJudge("geval")


async def test_the_geval_judge_scores_similarity(scripted_model: Any) -> None:
    scripted_model.reply("judge_geval", {"reasoning": "same", "score": 4})
    assert scores(await judge(scripted_model, "geval").judge(QUESTION, REFERENCE, ["40 s"])) == [{"similarity": 4.0}]


def by_length(request: Any) -> dict[str, Any]:
    return {
        place: {"accuracy": min(5, len(text)), "helpfulness": 3, "informativeness": 2}
        for place, text in shown(request).items()
    }


async def test_aspect_scores_belong_to_their_answers_in_any_order(scripted_model: Any) -> None:
    scripted_model.reply("judge_aspects", by_length)
    answers = ["1", "22", "333", "4444"]
    orders = set()
    for seed in range(4):
        found = await judge(scripted_model, "aspects", seed=seed).judge(QUESTION, REFERENCE, answers)
        assert [one.scores["accuracy"] for one in found] == [1, 2, 3, 4]
        orders.add(tuple(shown(scripted_model.asked()[-1]).values()))
    assert len(orders) > 1


async def test_a_single_answer_is_judged_in_both_places(scripted_model: Any) -> None:
    good, bad = ({"accuracy": n, "helpfulness": n, "informativeness": n} for n in (4, 2))
    scripted_model.reply("judge_aspects", {"a": good, "b": bad})
    (one,) = await judge(scripted_model, "aspects").judge(QUESTION, REFERENCE, ["alone"])
    assert one.scores["accuracy"] == 3.0
    assert shown(scripted_model.asked()[-1]) == {"a": "alone", "b": "alone"}


async def test_four_answers_are_ranked_in_a_random_order(scripted_model: Any) -> None:
    def longest_first(request: Any) -> dict[str, int]:
        places = sorted(shown(request), key=lambda place: -len(shown(request)[place]))
        return {place: rank for rank, place in enumerate(places, start=1)}

    scripted_model.reply("judge_ranking", longest_first)
    answers = ["1", "22", "333", "4444"]
    found = await judge(scripted_model, "ranking").judge(QUESTION, REFERENCE, answers)
    assert [one.scores["rank"] for one in found] == [4, 3, 2, 1]
    assert [one.scores["ranked first"] for one in found] == [0, 0, 0, 1]
    assert list(shown(scripted_model.asked()[-1]).values()) != answers
    with pytest.raises(InvalidInput, match="orders 4 answers, not 2"):
        await judge(scripted_model, "ranking").judge(QUESTION, REFERENCE, ["1", "22"])


async def test_an_invalid_verdict_is_counted_as_malformed(scripted_model: Any) -> None:
    scripted_model.reply("judge_ranking", {"a": 1, "b": 2, "c": 2, "d": 3})
    assert await judge(scripted_model, "ranking").judge(QUESTION, REFERENCE, list("wxyz")) == (
        [JudgeScores(fault="malformed")] * 4
    )
    scripted_model.fault("invalid_json")
    own = judge(scripted_model, "correct")
    for _ in range(12):  # a model that never writes a verdict is measured without ending the run
        assert await own.judge(QUESTION, REFERENCE, ["40 s"]) == [JudgeScores(fault="malformed")]


async def test_single_server_errors_are_counted_and_repeated_ones_end_the_judging(scripted_model: Any) -> None:
    scripted_model.fault("status", code=500)
    own = judge(scripted_model, "correct")
    assert await own.judge(QUESTION, REFERENCE, ["40 s"]) == [JudgeScores(fault="unavailable")]
    with pytest.raises(ModelUnavailable, match=r"judge 'correct' cannot go on.*argot doctor"):
        for _ in range(20):
            await own.judge(QUESTION, REFERENCE, ["40 s"])


def test_means_cover_judged_answers_only() -> None:
    said = [
        JudgeScores({"TRUE": 1.0}),
        JudgeScores({"TRUE": 0.0}),
        JudgeScores(fault="malformed"),
        JudgeScores(fault="unavailable"),
    ]
    row = judge_row(said, ("TRUE",), [0, 1, 2, 3])
    assert (row.questions, row.judged, row.malformed, row.unavailable, row.mean) == (4, 2, 1, 1, {"TRUE": 0.5})
    assert judge_row([JudgeScores(fault="malformed")], ("TRUE",), [0]).mean == {}


# -- the suite --------------------------------------------------------------------------------------------------------


def answered(text: str) -> AskResult:
    return AskResult(question="q", stand_alone_question="q", status="abstained", thread="t", answer=text)


def test_judge_scores_are_reported_beside_the_measures(scripted_model: Any) -> None:
    scripted_model.reply("judge_raidd_accuracy", lambda asked: {"verdict": "TRUE" if "GOOD" in asked.user else "FALSE"})
    asked = [
        AnswerQuestion(f"q{n}", "sum", f"Question {n}?", reference="Reference." if n else "", must=("x",))
        for n in range(3)
    ]
    gold = frozenset({"p"})
    by_profile = {
        "plain": [outcome_of(one, answered("BAD"), gold) for one in asked],
        "better": [outcome_of(one, answered("GOOD"), gold) for one in asked],
    }
    own = judge(scripted_model, "raidd")
    assert own.model is not None
    report = run_closing(judge_answers(own, by_profile, lambda *_: None), own.model.server)
    # Without a reference there is nothing to compare with.
    assert [row.questions for row in report.rows.values()] == [2, 2]
    assert report.rows["better"].mean == {"TRUE": 1.0}
    change = report.compared["better against plain"]["TRUE"]
    assert (change.difference, change.questions, change.clusters) == (1.0, 2, 1)
    assert report.model
    whole = build_answers_report("set", asked, by_profile, [report])
    assert whole.right_by == "judge raidd"
    # The judge decides which answers are right, among those it was asked about.
    assert whole.chunks["better"]["sum"].accuracy == 1.0 and whole.chunks["better"]["sum"].questions == 2
    assert whole.to_json()["judges"][0]["each"][0] == {
        "profile": "plain", "id": "q1", "scores": {"TRUE": 0.0}, "fault": "",
    }  # fmt: skip
    titles = [table.title for table in build_answers_tables(whole)]
    assert f"Judge raidd, by {report.model}" in titles and "Judge raidd, better against plain" in titles


def test_unusable_judges_are_refused_before_anything_is_embedded() -> None:
    with pytest.raises(InvalidInput, match=r"no judge 'genius'\. Judges: correct"):
        build_answer_judges(JudgeChoice(["genius"]), 1, Settings())
    with pytest.raises(InvalidInput, match=r"needs a language model.*--judge-url"):
        build_answer_judges(JudgeChoice(["correct"]), 1, Settings())
    with pytest.raises(InvalidInput, match="Give --against 3 times"):
        build_answer_judges(JudgeChoice(["ranking"]), 2, Settings(model_url="http://127.0.0.1:1/v1"))
    assert [one.name for one in build_answer_judges(JudgeChoice(["rules", "rules"]), 1, Settings())] == ["rules"]


def test_a_model_key_is_sent_to_its_own_server_only(scripted_model: Any) -> None:
    settings = scripted_model.settings().replace(model_key=Settings(model_key="secret").model_server.key)
    other = JudgeChoice(["correct"], url=settings.model_server.url, model="judge")
    (own,) = build_answer_judges(replace(other, url=""), 1, settings)
    (elsewhere,) = build_answer_judges(other, 1, settings)
    assert own.model is not None and elsewhere.model is not None
    assert own.model.server.settings.model_server.key.get_secret_value() == "secret"
    assert elsewhere.model.server.settings.model_server.key.get_secret_value() == ""
    assert own.model.server.settings.model_server.name == elsewhere.model.server.settings.model_server.name == "judge"
