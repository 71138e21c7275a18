"""The papers' experiments: a list of them and of how much can run here, and the saved runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from argot.errors import InvalidInput
from argot.evaluate.experiments.experiment import Experiment
from argot.evaluate.experiments.experiment_catalogue import EXPERIMENTS, find_experiment
from argot.evaluate.experiments.experiment_data import find_public_data
from argot.evaluate.experiments.experiment_running import ExperimentOptions, explain_refusal
from argot.evaluate.experiments.experiment_runs import ExperimentFolder, ExperimentRun
from argot.evaluate.experiments.run_comparison import build_comparison_tables, compare_rows, compare_runs
from argot.evaluate.experiments.run_pooling import build_pooled_tables, pool_runs
from argot.evaluate.experiments.run_tables import build_run_tables
from argot.evaluate.reports import Table
from argot.service.storage.home_folder import is_knowledge_base
from argot.settings import Settings

Report = tuple[dict[str, Any], list[Table]]

# -- the list of experiments ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ListedExperiment:
    """An experiment in the list. `runs_here`: the number of rows that can run; `why_not`: the distinct reasons why
    others cannot.
    """

    name: str
    table: str
    about: str
    needs: str
    published_with: str
    rows: int
    runs_here: int
    why_not: list[str]


def list_experiments(settings: Settings) -> Report:
    """List every experiment with how much of it can run here now."""
    listed = [_list_experiment(experiment, settings) for experiment in EXPERIMENTS.values()]
    body = [
        [one.name, one.table, one.needs, f"{one.runs_here} of {one.rows}", "; ".join(one.why_not) or "-"]
        for one in listed
    ]
    columns = ["experiment", "table", "data", "rows that run here now", "why not the others"]
    published = [[one.name, one.published_with] for one in listed]
    tables = [Table("The papers' experiments", columns, body)]
    tables.append(
        Table("What the papers ran with, which is seldom public", ["experiment", "models and data"], published)
    )
    return {"experiments": [asdict(one) for one in listed]}, tables


def _list_experiment(experiment: Experiment, settings: Settings) -> ListedExperiment:
    missing = _explain_missing_data(experiment, settings)
    reasons = [missing or explain_refusal(row, ExperimentOptions(), settings) for row in experiment.rows]
    return ListedExperiment(
        name=experiment.name,
        table=f"{experiment.paper}, {experiment.table}",
        about=experiment.about,
        needs=_describe_needs(experiment),
        published_with=experiment.published_with,
        rows=len(experiment.rows),
        runs_here=reasons.count(""),
        why_not=list(dict.fromkeys(reason for reason in reasons if reason)),
    )


def _describe_needs(experiment: Experiment) -> str:
    match experiment.form:
        case "none":
            return "none: questions are drawn"
        case "quiz":
            return "form 'quiz', else the samples"
        case "benchmarks":
            return "hotpotqa, pubmedqa, apibench"
    return f"form '{experiment.form}'" + (f", else {experiment.public}" if experiment.public else "")


def _explain_missing_data(experiment: Experiment, settings: Settings) -> str:
    if experiment.form in ("none", "quiz"):
        return ""
    place = find_public_data(experiment, settings.datasets)
    if place is None:
        return "its data is not public: give your own with --data"
    if experiment.form == "benchmarks":
        there = any((place / one).is_dir() for one in ("hotpotqa", "pubmedqa", "apibench"))
        return "" if there else "ARGOT_DATASETS holds none of the sets"
    return "" if place.exists() else f"ARGOT_DATASETS holds no {experiment.public}; or give --data"


# -- saved runs -------------------------------------------------------------------------------------------------------


def find_runs_home(home: Path | None, settings: Settings) -> Path:
    """Return the folder of runs: the given one, or the knowledge base if there is one, or the working folder."""
    if home is not None:
        return home.expanduser().absolute()
    return settings.home if is_knowledge_base(settings.home) else Path.cwd()


def show_experiment(run_id: str | None, home: Path) -> Report:
    """Return one run; without an id, return the list of all runs.

    Raises:
        NotFound: there is no such run.
        InvalidInput: its file is damaged.
    """
    folder = ExperimentFolder(home)
    if run_id is not None:
        run = folder.load(run_id)
        return run.model_dump(), build_run_tables(find_experiment(run.experiment), run)
    runs, damaged = _load_runs(folder)
    body: list[Sequence[str]] = [
        [
            run.id,
            run.data,
            run.models.get("model", ""),
            f"{sum(row.state == 'measured' for row in run.rows)} of {len(find_experiment(run.experiment).rows)}",
            run.finished or "unfinished: go on with --resume",
        ]
        for run in runs
    ]
    body += [[id_, "", "", "", why] for id_, why in damaged.items()]
    columns = ["run", "data", "model", "rows measured", "finished"]
    return {"runs": [run.model_dump(exclude={"rows", "clusters", "texts"}) for run in runs]}, [
        Table("Runs", columns, body)
    ]


def _load_runs(folder: ExperimentFolder) -> tuple[list[ExperimentRun], dict[str, str]]:
    """Load all runs that can be read, and return the reasons why others cannot, by id."""
    runs, damaged = [], {}
    for id_ in folder.list_ids():
        try:
            run = folder.load(id_)
            find_experiment(run.experiment)
            runs.append(run)
        except InvalidInput as error:
            # The other runs are shown nevertheless.
            damaged[id_] = str(error)
    return runs, damaged


def compare_experiments(ids: Sequence[str], rows: Sequence[str], home: Path) -> Report:
    """Compare the second of two runs with the first, or the second of two rows of one run with its first, over the
    questions that both have.

    Raises:
        NotFound: there is no such run.
        InvalidInput: these are neither two runs nor one run and two rows; the runs are of different experiments, or
            share no measured row and question; or a row is not measured.
    """
    if (len(ids), len(rows)) not in ((2, 0), (1, 2)):
        raise InvalidInput("Give two runs, or one run and two of its rows: compare RUN --row LABEL --row LABEL.")
    runs = [ExperimentFolder(home).load(id_) for id_ in ids]
    experiment = find_experiment(runs[0].experiment)
    found = compare_rows(experiment, runs[0], *rows) if rows else compare_runs(experiment, *runs)
    return found.to_json(), build_comparison_tables(experiment, found)


def pool_experiments(ids: Sequence[str], home: Path) -> Report:
    """Pool several runs of one experiment: the mean and the standard deviation of each figure.

    Raises:
        NotFound: there is no such run.
        InvalidInput: fewer than two different runs, or runs of different experiments or questions.
    """
    folder = ExperimentFolder(home)
    runs = [folder.load(id_) for id_ in dict.fromkeys(ids)]
    found = pool_runs(runs)
    return found.to_json(), build_pooled_tables(find_experiment(found.experiment), found)
