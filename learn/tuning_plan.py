"""One tuning as a file: what its start ordered, and whether it is to continue (AccurateRAG 2.5, figure 5).

The results of its stages are in the set of pairs and in the trainings (`RunRequest.plan`). So a kill between two writes
leaves nothing that contradicts the stages, and the tuning continues where they are.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal

from argot.clock import timestamp
from argot.errors import NotFound
from argot.files import write_atomically
from argot.learn.run_folder import RUN_KINDS, RunFolder, RunKind, list_run_folders
from argot.service.storage.home_folder import RUNS, TUNINGS

PlanStatus = Literal["running", "stopped", "failed", "done"]


@dataclass(frozen=True, slots=True)
class TuningPlan:
    """The plan of a tuning.

    Attributes:
        data: the name of the set of pairs; `data_created`: when it was begun, since another may get its name later.
        kinds: the models to train, in this order.
        bases, recipes: by kind, the model to start from and the settings that differ from the defaults.
        trained: the models whose training was done, so that one that somebody removes is not trained again.
        lacks_pairs: it failed because its pairs do not suffice.
    """

    id: str
    data: str
    data_created: str
    kinds: tuple[RunKind, ...]
    bases: Mapping[str, str] = field(default_factory=dict)
    recipes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    seed: int = 7
    asked_by: str = ""
    created: str = ""
    status: PlanStatus = "running"
    error: str = ""
    trained: tuple[RunKind, ...] = ()
    lacks_pairs: bool = False

    @property
    def is_running(self) -> bool:
        return self.status == "running"


def create_plan(home: Path, plan: TuningPlan) -> TuningPlan:
    """Keep a new plan under the next free id, which no training names."""
    numbers = [int(one.id[1:]) for one in list_plans(home) if one.id[1:].isdecimal()]
    numbers += [int(run.request.plan[1:]) for run in list_run_folders(home / RUNS) if run.request.plan[1:].isdecimal()]
    new = replace(plan, id=f"t{1 + max(numbers, default=0):04}", created=timestamp())
    save_plan(home, new)
    return new


def save_plan(home: Path, plan: TuningPlan) -> None:
    (home / TUNINGS).mkdir(mode=0o700, parents=True, exist_ok=True)
    write_atomically(_locate(home, plan.id), json.dumps(asdict(plan), ensure_ascii=False, indent=1) + "\n")


def list_plans(home: Path) -> list[TuningPlan]:
    """List the plans, newest first, without files that hold none."""
    return [plan for path in sorted((home / TUNINGS).glob("t*.json"), reverse=True) if (plan := _read_plan(path))]


def find_plan(home: Path, id_: str) -> TuningPlan:
    """
    Raises:
        NotFound: there is no tuning of this id.
    """
    # The id becomes a path: nothing in it may lead out of the folder.
    plan = _read_plan(_locate(home, id_)) if id_.isalnum() and id_.isascii() else None
    if plan is None:
        raise NotFound(f"There is no tuning '{id_}'. Those there are: argot learn tuning list")
    return plan


def remove_plan(home: Path, id_: str) -> None:
    _locate(home, id_).unlink(missing_ok=True)


def find_plan_run(home: Path, plan: TuningPlan, kind: RunKind) -> RunFolder | None:
    """Return the newest training of this kind that the plan has begun."""
    wanted = plan.id, kind
    found = list_run_folders(home / RUNS)
    return next((run for run in found if (run.request.plan, run.request.kind) == wanted), None)


def erase_person_from_plans(home: Path, names: Collection[str], instead: str) -> int:
    """Replace the names of people who asked for tunings; return how many."""
    theirs = [plan for plan in list_plans(home) if plan.asked_by in names]
    for plan in theirs:
        save_plan(home, replace(plan, asked_by=instead))
    return len(theirs)


def order_kinds(kinds: Sequence[RunKind]) -> tuple[RunKind, ...]:
    """Return the kinds, each once, in the papers' order: what finds passages is trained before what reads them."""
    return tuple(kind for kind in RUN_KINDS if kind in kinds)


def _locate(home: Path, id_: str) -> Path:
    return home / TUNINGS / f"{id_}.json"


def _read_plan(path: Path) -> TuningPlan | None:
    try:
        value = json.loads(path.read_text("utf-8"))
        kinds, trained = (tuple(_check_kinds(value.get(name, ()))) for name in ("kinds", "trained"))
        return TuningPlan(**{**value, "kinds": kinds, "trained": trained, "id": path.stem})
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _check_kinds(given: Sequence[str]) -> Iterator[RunKind]:
    for one in given:
        yield RUN_KINDS[RUN_KINDS.index(one)]  # a ValueError if there is no such kind
