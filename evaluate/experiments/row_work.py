"""The inputs of the measurement of one row of an experiment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from argot.evaluate.experiments.experiment import Experiment, PaperColumn, PaperRow
from argot.evaluate.experiments.experiment_data import DataPart
from argot.evaluate.judging import AnswerJudge, JudgeName
from argot.evaluate.temporary_base import TemporaryBase
from argot.profile import Profile

if TYPE_CHECKING:
    from argot.tools.llm.judge import ModelJudge
    from argot.tools.llm.model_server import ModelServer

Progress = Callable[[str, int, int], None]
Each = dict[str, dict[str, float | None]]
"""question -> column -> value; None if the column does not apply to the question, or there is no result."""


@dataclass
class RowWork:
    """The inputs of the measurement of a row. `memory` lasts for the whole run: it passes results of one row to
    another.
    """

    experiment: Experiment
    row: PaperRow
    part: DataPart
    base: TemporaryBase
    server: ModelServer | None
    judge: ModelJudge | None
    progress: Progress
    trials: int = 5
    seed: int = 1
    memory: dict[str, Any] = field(default_factory=dict)
    failed: int = 0
    """The number of questions to which the model gave no answer; of a quiz, over all trials."""
    reason: str = ""
    """The reason of the last of them, if it is known."""

    @cached_property
    def judges(self) -> Mapping[JudgeName, AnswerJudge]:
        """Return the judges by name, or an empty mapping if no model judges."""
        if self.judge is None:
            return {}
        names: tuple[JudgeName, ...] = ("correct", "raidd", "geval", "aspects")
        return {name: AnswerJudge(name, self.judge, self.seed) for name in names}

    @property
    def profile(self) -> Profile:
        return self.experiment.build_profile(self.row, self.part.name)

    @property
    def columns(self) -> list[PaperColumn]:
        return [column for column in self.experiment.columns if column.part == self.part.name]

    @property
    def name(self) -> str:
        return f"{self.row.label}, {self.part.name}" if self.part.name else self.row.label

    def make_key(self, id_: str) -> str:
        return self.part.make_key(id_)

    @property
    def unjudged_verdicts(self) -> int:
        """Return the number of verdicts that were malformed or missing."""
        return sum(judge.faults.total() for judge in self.judges.values())
