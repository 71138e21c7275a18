"""The results of an experiment: each row with its figures and every question's values, and the folder of saved runs.

experiments/ID/run.json      everything, written after each row
experiments/ID/report.html   the page
experiments/ID/bases/        documents and derived texts, until the run is finished
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from argot.clock import utc_now
from argot.errors import InvalidInput, NotFound
from argot.evaluate.experiments.row_work import Each
from argot.files import read_text, write_atomically
from argot.measures import bootstrap_interval

FOLDER = "experiments"
_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ColumnFigure(_Record):
    """The mean over `questions`, and its 95 % bootstrap interval."""

    mean: float
    interval95: tuple[float, float]
    questions: int


class RowResult(_Record):
    """The result of one row. With the `state` "not run" it has a `reason`. `each`: question -> column -> value.
    `failed`: the number of questions without a reply, which the figures leave out. `unjudged`: the number of verdicts
    that were malformed or missing.
    """

    label: str
    state: Literal["measured", "not run"]
    reason: str = ""
    seconds: float = 0.0
    failed: int = 0
    unjudged: int = 0
    figures: dict[str, ColumnFigure] = {}
    each: dict[str, dict[str, float | None]] = {}


class ExperimentRun(_Record):
    """One run. `data` and `models` name its data and models. `fingerprint` is that of all questions, `documents` that
    of the documents, and `asked` has one for each question: runs are compared over the questions that both asked.
    `texts`: the questions' own words; none in runs of earlier versions.
    """

    id: str
    experiment: str
    started: str
    finished: str = ""
    version: str = ""
    data: str = ""
    questions: int = 0
    fingerprint: str = ""
    documents: str = ""
    limit: int | None = None
    trials: int = 5
    models: dict[str, str] = {}
    notes: list[str] = []
    asked: dict[str, str] = {}
    texts: dict[str, str] = {}
    clusters: dict[str, int] = {}
    rows: list[RowResult] = []

    def find_row(self, label: str) -> RowResult | None:
        return next((row for row in self.rows if row.label == label), None)

    def put(self, result: RowResult, order: Sequence[str]) -> None:
        """Replace the row's earlier result, or add the result in the order of the table."""
        kept = [row for row in self.rows if row.label != result.label]
        self.rows = sorted([*kept, result], key=lambda row: order.index(row.label))

    def has_same_setting(self, other: ExperimentRun) -> bool:
        """Return true if the other run continues this one: same data and models, same numbers of questions and
        trials.
        """
        compared = {"experiment", "fingerprint", "documents", "models", "limit", "trials"}
        return self.model_dump(include=compared) == other.model_dump(include=compared)


def compute_figures(each: Each, clusters: Mapping[str, int]) -> dict[str, ColumnFigure]:
    """Return the mean of each column over the questions that have a value. Questions of a cluster are resampled
    together.
    """
    columns = dict.fromkeys(column for values in each.values() for column in values)
    found = {}
    for column in columns:
        valued = [(id_, value) for id_, values in each.items() if (value := values.get(column)) is not None]
        if valued:
            values = [value for _, value in valued]
            together = [clusters.get(id_, id_) for id_, _ in valued]
            interval = bootstrap_interval(values, clusters=together)
            found[column] = ColumnFigure(mean=fmean(values), interval95=interval, questions=len(values))
    return found


class ExperimentFolder:
    """The runs saved in a knowledge base or in any other folder."""

    def __init__(self, home: Path) -> None:
        self.folder = home / FOLDER

    def list_ids(self) -> list[str]:
        """Return the ids of all runs, oldest first."""
        found = [path.parent.name for path in self.folder.glob("*/run.json") if _ID.fullmatch(path.parent.name)]
        return sorted(found, key=lambda id_: (id_.split("-")[-2:], id_))

    def place(self, id_: str) -> Path:
        return self.folder / id_

    def load(self, id_: str) -> ExperimentRun:
        """Load a run.

        Raises:
            NotFound: there is no such run; the message lists the newest.
            InvalidInput: its file was changed and is no longer that of a run.
        """
        path = self.place(id_) / "run.json"
        if not _ID.fullmatch(id_) or not path.is_file():
            newest = ", ".join(self.list_ids()[-5:]) or "none"
            raise NotFound(f"There is no run '{id_}' in {self.folder}. The newest: {newest}.")
        try:
            return ExperimentRun.model_validate_json(read_text(path))
        except (ValidationError, UnicodeDecodeError) as error:
            raise InvalidInput(f"{path} is no run of an experiment: {str(error).splitlines()[0]}.") from error

    def save(self, run: ExperimentRun, page: str) -> None:
        folder = self.place(run.id)
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / "run.json", run.model_dump_json(indent=1) + "\n")
        write_atomically(folder / "report.html", page)

    def find_unfinished(self, like: ExperimentRun) -> ExperimentRun | None:
        """Return the newest unfinished run of the same experiment, data and models, or None."""
        for id_ in reversed(self.list_ids()):
            if id_.startswith(f"{like.experiment}-"):
                run = self.load(id_)
                if not run.finished and run.has_same_setting(like):
                    return run
        return None

    def make_id(self, experiment: str) -> str:
        """Make an id from the time in UTC, or from one second later if that id is taken."""
        stamp = utc_now().strftime("%Y%m%d-%H%M%S")
        taken = set(self.list_ids())
        return next(
            id_
            for n in range(1000)
            if (id_ := f"{experiment}-{stamp}" if not n else f"{experiment}-{stamp}{n}") not in taken
        )
