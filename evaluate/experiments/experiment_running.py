"""A run of a paper's experiment, row by row; each row is saved as soon as it is measured."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import argot
from argot.clock import timestamp
from argot.errors import InvalidInput, ModelUnavailable
from argot.evaluate.experiments.experiment import BY_JUDGE, TUNED_BY, Experiment, PaperRow, TunedPart
from argot.evaluate.experiments.experiment_catalogue import find_experiment
from argot.evaluate.experiments.experiment_data import DataPart, ExperimentData, load_experiment_data
from argot.evaluate.experiments.experiment_runs import ExperimentFolder, ExperimentRun, RowResult, compute_figures
from argot.evaluate.experiments.row_measuring import measure_row
from argot.evaluate.experiments.row_work import Each, RowWork
from argot.evaluate.experiments.run_page import build_run_page
from argot.evaluate.experiments.run_tables import build_run_tables
from argot.evaluate.experiments.shared_tasks import write_samples_quiz
from argot.evaluate.reports import Table
from argot.evaluate.temporary_base import TemporaryBase
from argot.evaluate.usecases.evaluation_bases import add_folder, add_glossary_file, open_base
from argot.evaluate.usecases.measured_models import JudgeChoice, build_judging_settings, run_closing
from argot.settings import Settings
from argot.tools.retrieval.scorer_choice import is_reranker

if TYPE_CHECKING:
    from argot.tools.llm.model_server import ModelServer

Progress = Callable[[str, int, int], None]
_T = TypeVar("_T")

_SLOWNESS = "A slow server gets more time by ARGOT_MODEL_FIRST_TOKEN_SECONDS and ARGOT_MODEL_SECONDS."


@dataclass(frozen=True, slots=True)
class ExperimentOptions:
    """The options of a run.

    `data`: data in the experiment's form; None: the public set. `rows`: the labels of the only rows to run. `embedder`,
    `reranker` and `plain_reranker`: folders of tuned models. `generator`: the name of a tuned model on the server.
    `judge`: the model that judges, if it is another one.
    """

    data: Path | None = None
    rows: Sequence[str] = ()
    limit: int | None = None
    trials: int = 5
    resume: bool = False
    embedder: str | None = None
    reranker: str | None = None
    plain_reranker: str | None = None
    generator: str | None = None
    judge: JudgeChoice = field(default_factory=JudgeChoice)

    @property
    def tuned_models(self) -> dict[TunedPart, str]:
        """Return the tuned models that are given."""
        given: dict[TunedPart, str | None] = {
            "embedder": self.embedder,
            "reranker": self.reranker,
            "plain_reranker": self.plain_reranker,
            "generator": self.generator,
        }
        return {kind: value for kind, value in given.items() if value}


def explain_refusal(row: PaperRow, options: ExperimentOptions, settings: Settings) -> str:
    """Return the reason why the row cannot run, or an empty text if it can."""
    if row.never:
        return row.never
    if lacking := [TUNED_BY[one] for one in row.tuned if one not in options.tuned_models]:
        return f"needs {' and '.join(lacking)}"
    if row.needs_model and not settings.model_server.url.strip():
        return "needs a language model: --model-url URL"
    return ""


def run_experiment(
    name: str, options: ExperimentOptions, home: Path, settings: Settings, progress: Progress
) -> tuple[dict[str, Any], list[Table], Path]:
    """Run an experiment row by row, save each row at once, and return the report, its tables and its folder.

    Args:
        home: a knowledge base or any other folder; the run is saved in its folder `experiments`.

    Raises:
        InvalidInput: there is no such experiment or row, the data is missing or malformed, or no row can run.
        ModelUnavailable: the model server is down. The finished rows are saved, and `resume` continues the run.
    """
    experiment = find_experiment(name)
    rows = _choose_rows(experiment, options.rows)
    _require_usable(experiment, options.tuned_models)
    with _open_data(experiment, options, settings) as data:
        running = _Running(experiment, options, data, ExperimentFolder(home), settings, progress)
        run = running.begin(rows)
        try:
            for row in rows:
                running.measure(run, row)
        except ModelUnavailable as error:
            raise ModelUnavailable(f"{error} The finished rows are saved: continue with --resume.") from error
        running.finish(run)
        return run.model_dump(), build_run_tables(experiment, run), running.folder.place(run.id)


def _choose_rows(experiment: Experiment, labels: Sequence[str]) -> list[PaperRow]:
    if not labels:
        return list(experiment.rows)
    chosen = [row for label in labels if (row := experiment.find_row(label))]
    unknown = [label for label in labels if experiment.find_row(label) is None]
    if unknown:
        known = ", ".join(f"'{row.label}'" for row in experiment.rows)
        raise InvalidInput(f"{experiment.name} has no row '{unknown[0]}'. Rows: {known}.")
    return chosen


def _name_tuned(name: str) -> str:
    """Return the name of a tuned model: that of its run, if the folder is the model of one."""
    folder = Path(name).expanduser()
    return folder.parent.name if folder.name == "model" and folder.parent.name else folder.name


def _require_usable(experiment: Experiment, tuned: Mapping[TunedPart, str]) -> None:
    """
    Raises:
        InvalidInput: no row of the experiment takes such a model, or the folder of one has none.
    """
    taken = {kind for row in experiment.rows for kind in (*row.tuned, *row.takes)}
    for kind, given in tuned.items():
        if kind not in taken:
            raise InvalidInput(f"No row of {experiment.name} takes --{kind.replace('_', '-')}. Leave it out.")
        if kind != "generator" and not _has_model(Path(given).expanduser()):
            raise InvalidInput(f"{given} is no folder of a model. Give the folder of a tuned {kind.replace('_', ' ')}.")


def _has_model(folder: Path) -> bool:
    """Return whether the folder itself holds a model, not one within it, such as the folder of a run."""
    return is_reranker(folder) or any((folder / name).is_file() for name in ("config.json", "modules.json"))


@contextmanager
def _open_data(experiment: Experiment, options: ExperimentOptions, settings: Settings) -> Iterator[ExperimentData]:
    """Yield the data of a run. For a quiz without data, the samples' quiz is written to a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="argot-") as scratch:
        if experiment.form == "quiz" and options.data is None:
            samples = Path(scratch) / "samples"
            write_samples_quiz(samples, "test")
            data = load_experiment_data(experiment, samples, settings.datasets, options.limit)
            yield replace(data, notes=(*experiment.public_notes, *data.notes))
        else:
            yield load_experiment_data(experiment, options.data, settings.datasets, options.limit)


class _Running:
    """One run in progress."""

    def __init__(  # noqa: PLR0917
        self,
        experiment: Experiment,
        options: ExperimentOptions,
        data: ExperimentData,
        folder: ExperimentFolder,
        settings: Settings,
        progress: Progress,
    ) -> None:
        self.experiment = experiment
        self.options = options
        self.data = data
        self.folder = folder
        self.settings = settings
        self.progress = progress
        self.judging = build_judging_settings(options.judge, settings)
        self.memory: dict[str, Any] = {"limit": options.limit}

    def begin(self, rows: Sequence[PaperRow]) -> ExperimentRun:
        """Begin a new run, or return the unfinished one to resume.

        Raises:
            InvalidInput: none of the rows can run; the message says why.
            ModelUnavailable: a model server is named and does not answer.
        """
        reasons = [explain_refusal(row, self.options, self.settings) for row in rows]
        if all(reasons):
            raise InvalidInput(f"No row of {self.experiment.name} can run: {'; '.join(dict.fromkeys(reasons))}.")
        fresh = ExperimentRun(
            id=self.folder.make_id(self.experiment.name),
            experiment=self.experiment.name,
            started=timestamp("seconds"),
            version=argot.__version__,
            data=self.data.name,
            questions=self.data.questions,
            fingerprint=self.data.fingerprint,
            documents=self.data.documents,
            limit=self.options.limit,
            trials=self.options.trials,
            models=self._name_models(),
            notes=list(self.data.notes),
            asked=self.data.question_hashes,
            texts={key: text for part in self.data.parts for key, text in part.list_texts().items()},
            clusters={id_: n for part in self.data.parts for id_, n in part.cluster_questions().items()},
        )
        run = (self.folder.find_unfinished(fresh) if self.options.resume else None) or fresh
        # Save before the measurement, so that documents read and texts derived for the run are found again.
        self.folder.save(run, build_run_page(self.experiment, run))
        return run

    def _name_models(self) -> dict[str, str]:
        models = {"embedder": self.settings.search.embedder, "re-ranker": self.settings.search.reranker}
        models |= {
            f"tuned {kind.replace('_', ' ')}": _name_tuned(given) for kind, given in self.options.tuned_models.items()
        }
        if self.settings.model_server.url.strip():
            models["model"] = _fetch_model_name(self.settings)
        if self.judging.model_server.url.strip():
            models["judge"] = _fetch_model_name(self.judging)
        else:
            models["model"] = "none: answers are quotations, and columns of a judge stay empty"
        return models

    def measure(self, run: ExperimentRun, row: PaperRow) -> None:
        """Measure one row and save it at once; a row that is already measured, without failures, is left unchanged."""
        known = run.find_row(row.label)
        if known is not None and known.state == "measured" and not known.failed:
            return
        if reason := explain_refusal(row, self.options, self.settings):
            self._keep(run, RowResult(label=row.label, state="not run", reason=f"not run: {reason}"))
            return
        started, each, failed, unjudged, why = time.monotonic(), Each(), 0, 0, ""
        for part in self.data.parts:
            values, work = self._measure_part(run, row, part)
            each |= values
            failed += work.failed
            why = work.reason or why
            unjudged += work.unjudged_verdicts
        result = RowResult(
            label=row.label,
            state="measured",
            reason=self._make_remark(row, failed, unjudged, why),
            seconds=round(time.monotonic() - started, 1),
            failed=failed,
            unjudged=unjudged,
            figures=compute_figures(each, run.clusters),
            each=each,
        )
        self._keep(run, result)

    def _make_remark(self, row: PaperRow, failed: int, unjudged: int, why: str) -> str:
        remarks = [row.note]
        if failed:
            remarks.append(f"{failed} questions got no reply from the model and are left out: --resume asks again.")
            remarks += [f"The last reason: {why}" if why else "", _SLOWNESS if " within " in why else ""]
        if unjudged:
            remarks.append(f"{unjudged} verdicts of the judge were none, or did not come: they count for nothing.")
        if self.experiment.measures & BY_JUDGE and not self.judging.model_server.url.strip():
            remarks.append("No model, so nothing was judged.")
        return " ".join(filter(None, remarks))

    def _measure_part(self, run: ExperimentRun, row: PaperRow, part: DataPart) -> tuple[Each, RowWork]:
        settings = self._build_settings(row)
        with self._open_base(run, row, part, settings) as base:
            return run_closing(
                self._prepare_row(row, part, base, settings), _find_server(settings), _find_server(self.judging)
            )

    async def _prepare_row(
        self, row: PaperRow, part: DataPart, base: TemporaryBase, settings: Settings
    ) -> tuple[Each, RowWork]:
        server, judging = _find_server(settings), _find_server(self.judging)
        if row.derive and server is not None:
            from argot.evaluate.experiments.derived_texts import derive_missing

            await derive_missing(base, server, row.derive, self.progress)
        judge = None
        if judging is not None:
            from argot.tools.llm.judge import ModelJudge

            judge = ModelJudge(judging)
        work = RowWork(
            self.experiment, row, part, base, server, judge, self.progress, self.options.trials, memory=self.memory
        )
        return await measure_row(work), work

    def _build_settings(self, row: PaperRow) -> Settings:
        changed: dict[str, Any] = dict(row.settings)
        for kind in (*row.tuned, *(one for one in row.takes if one in self.options.tuned_models)):
            given = self.options.tuned_models[kind]
            if kind == "generator":
                changed["model"] = given
            else:
                changed["embedder" if kind == "embedder" else "reranker"] = str(Path(given).expanduser().absolute())
        return self.settings.replace(**changed)

    def _open_base(
        self, run: ExperimentRun, row: PaperRow, part: DataPart, settings: Settings
    ) -> AbstractContextManager[TemporaryBase]:
        """Open a knowledge base. Rows that read the documents in the same way share one, with the texts derived from
        them.
        """
        if part.folder is None and not part.sources(row.variant):
            return open_base(None, settings)

        def fill(base: TemporaryBase) -> None:
            if part.folder is not None:
                add_folder(base, part.folder, self.progress)
            else:
                base.add(part.sources(row.variant), self.progress)
            if part.glossary is not None:
                add_glossary_file(base, part.glossary)

        told = repr(
            (
                part.name,
                row.variant if part.folder is None else "",
                settings.reading.passage_chars,
                settings.search.embedder,
            )
        )
        key = hashlib.blake2b(told.encode(), digest_size=6).hexdigest()
        return open_base(self.folder.place(run.id) / "bases" / key, settings, fill)

    def _keep(self, run: ExperimentRun, result: RowResult) -> None:
        run.put(result, [row.label for row in self.experiment.rows])
        _add_gains(run)
        self.folder.save(run, build_run_page(self.experiment, run))

    def finish(self, run: ExperimentRun) -> None:
        """Mark a run as finished when each row of the table has been tried, in one or several calls, and no question
        failed.
        """
        if len(run.rows) < len(self.experiment.rows) or any(row.failed for row in run.rows):
            return
        run.finished = timestamp("seconds")
        self.folder.save(run, build_run_page(self.experiment, run))
        shutil.rmtree(self.folder.place(run.id) / "bases", ignore_errors=True)


def _add_gains(run: ExperimentRun) -> None:
    """Add Golden-Retriever's gains: by how many percent its score exceeds that of each other row."""
    ours = run.find_row("Golden-Retriever")
    if ours is None or "total" not in ours.figures:
        return
    for row in run.rows:
        score = row.figures.get("total")
        if row is not ours and score is not None and score.mean > 0:
            gain = 100 * (ours.figures["total"].mean / score.mean - 1)
            row.figures["gain"] = score.model_copy(update={"mean": gain, "interval95": (gain, gain)})


# -- servers ----------------------------------------------------------------------------------------------------------


def _find_server(settings: Settings) -> ModelServer | None:
    from argot.tools.llm.model_server import ModelServer

    return ModelServer.from_settings(settings)


def _fetch_model_name(settings: Settings) -> str:
    """Return the name under which the server serves its model.

    Raises:
        ModelUnavailable: the server does not answer.
    """
    server = _find_server(settings)
    assert server is not None

    async def name() -> str:
        from argot.tools.llm.deriver import ModelDeriver

        return (await ModelDeriver.open(server)).model

    return run_closing(name(), server)
