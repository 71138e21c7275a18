"""argot evaluate calibrate: the agreement of judges with people."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from argot.evaluate.commands.options import AsJson, JudgeModel, JudgeUrl
from argot.evaluate.commands.report_output import show_report
from argot.ui.cli.command_base import format_examples, read_settings


def register(app: typer.Typer) -> None:
    app.command(
        epilog=format_examples(
            "argot evaluate calibrate --labels labels.jsonl --judge correct",
            "argot evaluate calibrate --set financebench --judge correct --judge raidd --limit 300",
            "argot evaluate calibrate --set financebench --judge rouge-l --judge bertscore --judge rules",
            "argot evaluate calibrate --labels scores.jsonl --judge geval --judge-url http://127.0.0.1:8001/v1 --json",
        )
    )(calibrate)


def calibrate(  # noqa: PLR0917
    judge: Annotated[
        list[str],
        typer.Option(
            "--judge",
            help="What to calibrate: correct, raidd, geval, aspects (a model), rules, exact-match, rouge-1, rouge-l, "
            "bertscore (none); repeatable.",
        ),
    ],
    labels: Annotated[
        Path | None, typer.Option("--labels", help="Answers that people labelled, JSONL.", metavar="FILE")
    ] = None,
    public: Annotated[
        Literal["financebench"] | None,
        typer.Option("--set", help="The labels of FinanceBench's annotators, in the folder ARGOT_DATASETS."),
    ] = None,
    judge_url: JudgeUrl = "",
    judge_model: JudgeModel = "",
    threshold: Annotated[
        float | None,
        typer.Option("--threshold", min=0, max=1, help="The least value that counts as TRUE; by default it is chosen."),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="Only this number of answers, drawn at random.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare judges with people: agreement, Cohen's kappa, and the table of both verdicts.

    A line of the file: {"question": "...", "reference": "...", "answer": "...", "label": true}. The label is true or
    false (for correct, raidd, rules and measures), 1 to 5 (geval), or {"accuracy": 4, "helpfulness": 5,
    "informativeness": 3} (aspects). "labels" lists the labels of several people: the majority counts or, for scores,
    the lower median. "kind" groups answers, "id" and "note" are your own. FinanceBench has the answers of 16 systems to
    150 questions; a refusal counts as FALSE, and has a row of its own.

    Kappa of scores has quadratic weights. Intervals are 95 %, by bootstrap over questions. The threshold of a measure
    is chosen on half of the questions, by a hash, and the other half is reported. Replies without a verdict are counted
    separately.
    """
    from argot.evaluate.usecases.judge_calibration import calibrate as measured
    from argot.evaluate.usecases.measured_models import JudgeChoice

    choice = JudgeChoice(judge, judge_url, judge_model)
    show_report(partial(measured, labels, public, choice, threshold, limit, read_settings(None)), as_json=as_json)
