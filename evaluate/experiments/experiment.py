"""An experiment: a table of a paper, with its rows as profiles, its columns as measures, and the paper's figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from argot.profile import PROFILES, Profile, SwitchValue, change_profile
from argot.types import DerivableKind

Measure = Literal[
    "hit@3", "hit@5", "ndcg@10", "map@1", "map@5", "map@10", "rouge-1", "rouge-l", "bertscore", "geval", "correct",
    "accurate", "found", "exact", "api", "found_if_accurate", "found_if_inaccurate",
]  # fmt: skip
"""The measures of one question; `question_measures.py` computes them."""
BY_JUDGE: frozenset[Measure] = frozenset({"geval", "correct", "accurate", "found_if_accurate", "found_if_inaccurate"})
OF_ANSWERS: frozenset[Measure] = BY_JUDGE | {"rouge-1", "rouge-l", "bertscore", "exact", "api"}

Form = Literal["answers", "beir", "quiz", "raidd", "references", "benchmarks", "none"]
"""The forms of data; `experiment_data.py` and evaluate/experiments/README.md describe each."""
Way = Literal["ask", "oracle", "s-icl", "s-icl by judge", "rerank", "quiz", "abbreviations", "aspects", "matching"]
"""The ways to measure a row; `row_measuring.py` has a function for each."""
TunedPart = Literal["embedder", "reranker", "plain_reranker", "generator"]

TUNED_BY: Mapping[TunedPart, str] = {
    "embedder": "a tuned embedder: --embedder FOLDER",
    "reranker": "a tuned re-ranker: --reranker FOLDER",
    "plain_reranker": "a re-ranker tuned without TS+TCL: --plain-reranker FOLDER",
    "generator": "a tuned generator: --generator NAME, as the model server calls it",
}
"""What a row needs, in words, if its paper trains a model."""

ALONE: Mapping[str, SwitchValue] = {
    # No person is there to be asked back, and the papers' measures cannot score a refusal.
    "choose_sense": False,
    "choose_document": False,
    "small_talk": False,
    "stand_alone": False,
    "misses": "lenient",
    "abstain_below": 0.0,
    # It has learnt from other questions than a paper's.
    "adapt_queries": False,
}
"""The switches of every row that asks questions."""
ALONE_NOTE = (
    "Argot's own row is not quite the service: it asks nothing back, never abstains, and does not move the questions' "
    "vectors towards answers, which was learnt from other questions."
)
"""A note for experiments with a row of Argot itself."""


@dataclass(frozen=True, slots=True)
class PaperColumn:
    """A column: `measure` over the questions of one `task` (empty: all) in one `part` of the data (empty: the only
    one). `place`: only those whose gold document was passed on at this place, from 1; 0: not at all.
    """

    key: str
    title: str
    measure: Measure | None = None
    task: str = ""
    part: str = ""
    percent: bool = False
    place: int | None = None


@dataclass(frozen=True, slots=True)
class PaperRow:
    """One row: its changes, its requirements, and the paper's figures for it by column.

    `switches` change the experiment's profile, `part_switches` that of one part of the data, and `settings` Argot's;
    `variant` chooses among forms of the data.
    `derive`: texts that are first made from the documents. `tuned`: models without which the row cannot run; `takes`:
    those that it uses if they are given. `needs_model`: without a model nothing can be measured.
    `never`: why the row cannot run here at all; the paper's figures are shown for comparison.
    """

    label: str
    paper: Mapping[str, float] = field(default_factory=dict)
    way: Way = "ask"
    switches: Mapping[str, SwitchValue] = field(default_factory=dict)
    part_switches: Mapping[str, Mapping[str, SwitchValue]] = field(default_factory=dict)
    settings: Mapping[str, int | str] = field(default_factory=dict)
    variant: str = ""
    derive: tuple[DerivableKind, ...] = ()
    tuned: tuple[TunedPart, ...] = ()
    takes: tuple[TunedPart, ...] = ()
    needs_model: bool = True
    never: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Experiment:
    """A table of a paper. `public`: the set in the folder of public data that is used unless other data is given.

    `published_with` names the models and data of the paper, so that readers see why figures cannot be compared. `notes`
    say what is different here, and `public_notes` what is different about the public set: they are left out of a run on
    other data.
    """

    name: str
    paper: str
    table: str
    about: str
    form: Form
    columns: tuple[PaperColumn, ...]
    rows: tuple[PaperRow, ...]
    published_with: str
    public: str = ""
    profile: Mapping[str, SwitchValue] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    public_notes: tuple[str, ...] = ()

    def build_profile(self, row: PaperRow, part: str = "") -> Profile:
        changes = {**ALONE, **self.profile, **row.switches, **row.part_switches.get(part, {})}
        return change_profile(PROFILES["default"], changes).model_copy(update={"name": row.label})

    @property
    def derives(self) -> bool:
        """Return whether a model derives texts from the documents for any row."""
        return any(row.derive for row in self.rows)

    @property
    def measures(self) -> frozenset[Measure]:
        return frozenset(column.measure for column in self.columns if column.measure)

    def find_row(self, label: str) -> PaperRow | None:
        return next((row for row in self.rows if row.label.casefold() == label.casefold()), None)


def map_figures(columns: tuple[PaperColumn, ...], *values: float | None) -> dict[str, float]:
    """Map a row's printed figures to its columns, in their order. None stands for a cell that the paper leaves
    empty.
    """
    return {column.key: value for column, value in zip(columns, values, strict=True) if value is not None}
