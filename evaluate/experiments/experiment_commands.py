"""argot evaluate experiment: the papers' tables, measured again."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from argot.evaluate.commands.report_output import show_report
from argot.languages.catalogues import translate
from argot.ui.cli.command_base import format_examples, read_settings, say_aside

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="The papers' tables as experiments: their rows and columns, with their figures beside those measured here.",
)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
RunsIn = Annotated[
    Path | None,
    typer.Option(
        "--home",
        help="The knowledge base, or any folder, that keeps the runs in its folder experiments/. Else the knowledge "
        "base in use, and without one the folder you are in.",
        metavar="DIR",
    ),
]


@app.command("list", epilog=format_examples("argot evaluate experiment list", "argot evaluate experiment list --json"))
def list_experiments(as_json: AsJson = False) -> None:
    """List the experiments: which table of which paper, what it needs, and how many of its rows can run here now."""
    from argot.evaluate.experiments import kept_experiments

    settings = read_settings(None)
    show_report(lambda progress: kept_experiments.list_experiments(settings), as_json=as_json)


@app.command(
    epilog=format_examples(
        "argot evaluate experiment run golden-retriever-2",
        "argot evaluate experiment run kapqa-5 --row 'no query reformulation (DPR)' --limit 20",
        "argot evaluate experiment run kapqa-3 --model-url http://127.0.0.1:8000/v1 --data my-questions",
        "argot evaluate experiment run raidd-2 --resume",
        "argot evaluate experiment run trustworthy-3 --reranker tuned/reranker --json",
    )
)
def run(  # noqa: PLR0917
    name: Annotated[str, typer.Argument(help="As 'argot evaluate experiment list' shows it.", metavar="NAME")],
    data: Annotated[
        Path | None,
        typer.Option("--data", help="Your own data in the experiment's form, instead of the public set."),
    ] = None,
    rows: Annotated[
        list[str] | None, typer.Option("--row", help="Only this row, by its label; repeatable.", metavar="LABEL")
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            min=1,
            help="Only the first N questions; if texts are derived, only their documents and as many others.",
            metavar="N",
        ),
    ] = None,
    trials: Annotated[
        int, typer.Option("--trials", min=1, help="The number of trials of a quiz or of drawn abbreviations.")
    ] = 5,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the unfinished run on the same data and models.")
    ] = False,
    model_url: Annotated[
        str | None, typer.Option("--model-url", help="The model server; by default ARGOT_MODEL_URL.", metavar="URL")
    ] = None,
    model: Annotated[str | None, typer.Option("--model", help="The model to use; by default ARGOT_MODEL.")] = None,
    judge_url: Annotated[
        str | None,
        typer.Option("--judge-url", help="The server of the model that judges; by default the same.", metavar="URL"),
    ] = None,
    judge_model: Annotated[
        str | None, typer.Option("--judge-model", help="The judging model's name; by default the same.", metavar="NAME")
    ] = None,
    embedder: Annotated[
        str | None, typer.Option("--embedder", help="A tuned embedder, for the rows that need one.", metavar="FOLDER")
    ] = None,
    reranker: Annotated[
        str | None, typer.Option("--reranker", help="A tuned re-ranker, for the rows that need one.", metavar="FOLDER")
    ] = None,
    plain_reranker: Annotated[
        str | None, typer.Option("--plain-reranker", help="One tuned without TS+TCL (trustworthy-3).", metavar="FOLDER")
    ] = None,
    generator: Annotated[
        str | None, typer.Option("--generator", help="The server's name for a tuned generator.", metavar="NAME")
    ] = None,
    home: RunsIn = None,
    as_json: AsJson = False,
) -> None:
    """Run an experiment, row by row. Each row is saved as soon as it is measured; --resume continues an unfinished run.

    Prints the table with the paper's figures beside ours, and writes experiments/ID/run.json and report.html. A row
    that cannot run says what it needs. The papers' models and data are mostly not public: every row runs with any
    OpenAI-compatible model on any data of the right form (evaluate/experiments/README.md).
    """
    from argot.evaluate.experiments import experiment_running as experiments
    from argot.evaluate.experiments import kept_experiments
    from argot.evaluate.usecases.measured_models import JudgeChoice, build_answering_settings

    settings = build_answering_settings(read_settings(None), model_url, model)
    judging = JudgeChoice(url=judge_url or "", model=judge_model or "")
    options = experiments.ExperimentOptions(
        data, rows or (), limit, trials, resume, embedder, reranker, plain_reranker, generator, judging
    )
    kept = kept_experiments.find_runs_home(home, settings)
    places: list[Path] = []

    def run_measured(progress: experiments.Progress) -> kept_experiments.Report:
        report, tables, place = experiments.run_experiment(name, options, kept, settings, progress)
        places.append(place)
        return report, tables

    show_report(run_measured, as_json=as_json)
    say_aside(translate("Kept in %(place)s: run.json, and report.html for the browser", place=places[0]))


@app.command(
    epilog=format_examples(
        "argot evaluate experiment show",
        "argot evaluate experiment show kapqa-5-20260101-120000",
        "argot evaluate experiment show --json",
    )
)
def show(
    run_id: Annotated[
        str | None, typer.Argument(help="A run's id; without it all runs are listed.", metavar="RUN")
    ] = None,
    home: RunsIn = None,
    as_json: AsJson = False,
) -> None:
    """Show a saved run, or list all of them."""
    from argot.evaluate.experiments import kept_experiments

    kept = kept_experiments.find_runs_home(home, read_settings(None))
    show_report(lambda progress: kept_experiments.show_experiment(run_id, kept), as_json=as_json)


@app.command(
    epilog=format_examples(
        "argot evaluate experiment compare kapqa-5-20260101-120000 kapqa-5-20260102-090000",
        "argot evaluate experiment compare kapqa-3-20260101-120000 --row DPR --row 'via general purpose LLM'",
    )
)
def compare(
    runs: Annotated[list[str], typer.Argument(help="The second run is compared with the first.", metavar="RUN [RUN]")],
    rows: Annotated[
        list[str] | None,
        typer.Option("--row", help="Of one run: the second such row is compared with the first.", metavar="LABEL"),
    ] = None,
    home: RunsIn = None,
    as_json: AsJson = False,
) -> None:
    """Compare two runs of one experiment, or two rows of one run: paired differences with 95 % intervals, over the
    questions of both, and the questions won and lost.
    """
    from argot.evaluate.experiments import kept_experiments

    kept = kept_experiments.find_runs_home(home, read_settings(None))
    measure = partial(kept_experiments.compare_experiments, runs, rows or (), kept)
    show_report(lambda progress: measure(), as_json=as_json)


@app.command(
    epilog=format_examples(
        "argot evaluate experiment pool trustworthy-3-20260101-120000 trustworthy-3-20260102-090000",
        "argot evaluate experiment pool RUN RUN RUN --json",
    )
)
def pool(
    runs: Annotated[list[str], typer.Argument(help="Runs of one experiment: one a seed.", metavar="RUN...")],
    home: RunsIn = None,
    as_json: AsJson = False,
) -> None:
    """Pool runs of one experiment, such as of models trained from several seeds: mean and standard deviation."""
    from argot.evaluate.experiments import kept_experiments

    kept = kept_experiments.find_runs_home(home, read_settings(None))
    show_report(lambda progress: kept_experiments.pool_experiments(runs, kept), as_json=as_json)
