"""One training as a folder: its request, its progress and its result. It is all that a trainer needs.

    request.json      what to train, on what, with which recipe and seed
    pairs.jsonl       the pairs, each in its part; passages.jsonl: all passages that are searched
    state.json        waiting, running, stopped, failed, done; how far; by which process
    progress.jsonl    the losses of each step, for curves
    checkpoint.safetensors    the last point it can go on from
    model/            the trained model; card.json: data, recipe, figures before and after, fingerprint

A folder can be carried to another machine, trained there, and carried back.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

from argot.clock import timestamp
from argot.errors import Conflict, InvalidInput, NotFound
from argot.files import write_atomically
from argot.learn.training_pairs import PoolPassage, TrainingPair, read_pairs, read_pool, write_pairs, write_pool

RunKind = Literal["embedder", "reranker", "generator"]
RUN_KINDS: tuple[RunKind, ...] = get_args(RunKind)
RunStatus = Literal["waiting", "running", "stopped", "failed", "done"]
PAIRS, PASSAGES, MODEL = "pairs.jsonl", "passages.jsonl", "model"
REMOVED = ".removed-"
"""Before the id of a run that was removed."""
HELD_SECONDS = 0.5
_STOP = "stop"


@dataclass(frozen=True, slots=True)
class RunRequest:
    """The request of a training.

    Attributes:
        base: the starting model: an installed package, a folder, or the id of a run for its model.
        recipe: the settings that differ from the kind's default recipe.
        readers: of each document learnt from the names that may read it; empty: everybody. People who may read all of
            them may see the run.
        documents: the ids of those from which its pairs were made: their readers may change.
        askers: the ids of the pairs that are questions of people, by their names: an erased person takes them along.
        plan: the tuning that began it (`argot.learn.tuning_plan`); empty: a person did.
    """

    kind: RunKind
    name: str
    base: str
    data: str
    seed: int = 7
    recipe: Mapping[str, Any] = field(default_factory=dict)
    readers: tuple[tuple[str, ...], ...] = ()
    documents: tuple[str, ...] = ()
    askers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    asked_by: str = ""
    created: str = ""
    plan: str = ""


@dataclass(frozen=True, slots=True)
class RunState:
    """The state of a training. `seconds_left` is known only while it runs, by the pace so far."""

    status: RunStatus = "waiting"
    doing: str = ""
    step: int = 0
    steps: int = 0
    seconds_left: float | None = None
    error: str = ""
    changed: str = ""


class RunFolder:
    """The folder of one training. Everything in it is written whole, so that a kill leaves no half file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.id = path.name
        self.model = path / MODEL

    # -- request ------------------------------------------------------------------------------------------------------

    @classmethod
    def create(
        cls, runs: Path, request: RunRequest, pairs: Sequence[TrainingPair], passages: Sequence[PoolPassage]
    ) -> RunFolder:
        """Create a folder below `runs`, waiting to be trained. It appears whole."""
        runs.mkdir(parents=True, exist_ok=True)
        request = replace(request, created=request.created or timestamp())
        taken_names = (one.name.removeprefix(REMOVED) for one in runs.iterdir())
        number = 1 + max((int(name[1:]) for name in taken_names if name[:1] == "r" and name[1:].isdecimal()), default=0)
        making = runs / f".making-{os.getpid()}-{time.monotonic_ns()}"
        making.mkdir(mode=0o700)
        try:
            write_pairs(pairs, making / PAIRS)
            write_pool(passages, making / PASSAGES)
            _write_json(making / "request.json", asdict(request))
            _write_json(making / "state.json", asdict(RunState(changed=timestamp())))
            while True:
                place = runs / f"r{number:04d}"
                try:
                    making.rename(place)
                except OSError:  # another one has taken the number
                    if not place.exists():
                        raise
                    number += 1
                else:
                    return cls(place)
        except BaseException:
            shutil.rmtree(making, ignore_errors=True)
            raise

    @classmethod
    def find(cls, runs: Path, run: str) -> RunFolder:
        """
        Raises:
            NotFound: there is no training of this id.
        """
        if is_run(runs, run):
            return cls(runs / run)
        raise NotFound(f"There is no training '{run}'. Those there are: argot learn runs")

    @property
    def request(self) -> RunRequest:
        values = _read_json(self.path / "request.json")
        if values.get("kind") not in RUN_KINDS:
            raise InvalidInput(f"{self.path / 'request.json'} asks for no training that Argot knows.")
        try:
            values["readers"] = tuple(tuple(one) for one in values.get("readers", ()))
            values["documents"] = tuple(values.get("documents", ()))
            values["askers"] = {name: tuple(ids) for name, ids in values.get("askers", {}).items()}
            return RunRequest(**values)
        except (AttributeError, TypeError) as error:
            raise InvalidInput(f"{self.path / 'request.json'} is of another version of Argot: {error}.") from error

    def pairs(self) -> list[TrainingPair]:
        return read_pairs(self.path / PAIRS)

    def passages(self) -> list[PoolPassage]:
        return read_pool(self.path / PASSAGES)

    def erase_texts(self, is_gone: Callable[[PoolPassage], bool]) -> int:
        """Remove passages from the folder, with the pairs about them; return the number of removed lines.

        A training that has begun cannot be resumed then: it finds that its pairs have changed.
        """
        gone = 0
        with suppress(FileNotFoundError, InvalidInput):
            pool = self.passages()
            kept = [one for one in pool if not is_gone(one)]
            if len(kept) < len(pool):
                write_pool(kept, self.path / PASSAGES)
            gone += len(pool) - len(kept)
        with suppress(FileNotFoundError, InvalidInput):
            pairs = self.pairs()
            left = [one for one in pairs if not is_gone(PoolPassage(one.passage_id, one.passage, one.document))]
            if len(left) < len(pairs):
                write_pairs(left, self.path / PAIRS)
            gone += len(pairs) - len(left)
        return gone

    def erase_person(self, names: Collection[str], asked: Collection[str], instead: str) -> int:
        """Remove the questions of these people, and those pairs (ids) that are known to be theirs; name another where
        they asked for the training. Return how many pairs there were.
        """
        with suppress(FileNotFoundError, InvalidInput):
            request = self.request
            gone = {*asked, *(one for name in names for one in request.askers.get(name, ()))}
            pairs = self.pairs()
            left = [one for one in pairs if one.id not in gone]
            if len(left) < len(pairs):
                write_pairs(left, self.path / PAIRS)
            # Last: only the request says whose the pairs are.
            if not request.askers.keys().isdisjoint(names) or request.asked_by in names:
                askers = {name: ids for name, ids in request.askers.items() if name not in names}
                by = instead if request.asked_by in names else request.asked_by
                _write_json(self.path / "request.json", asdict(replace(request, askers=askers, asked_by=by)))
            return len(pairs) - len(left)
        return 0

    @property
    def fault(self) -> str:
        """The reason why the folder cannot be read; empty if it can be read."""
        try:
            _ = self.request, self._noted_state
        except InvalidInput as error:
            return str(error)
        return ""

    # -- progress -----------------------------------------------------------------------------------------------------

    @property
    def state(self) -> RunState:
        """The state as last written; "stopped" where the process that ran it ended without writing its state."""
        state = self._noted_state
        if state.status == "running" and not self.is_held():
            return replace(state, status="stopped", doing="", seconds_left=None)
        return state

    @property
    def is_cut_off(self) -> bool:
        """True where its process ended without writing its state. Nobody stopped the run, so it may be resumed."""
        return self._noted_state.status == "running" and not self.stop_asked and not self.is_held()

    @property
    def _noted_state(self) -> RunState:
        try:
            return RunState(**_read_json(self.path / "state.json"))
        except TypeError as error:
            raise InvalidInput(f"{self.path / 'state.json'} is of another version of Argot: {error}.") from error

    def note(self, state: RunState) -> None:
        _write_json(self.path / "state.json", asdict(replace(state, changed=timestamp())))

    def log(self, step: int, values: Mapping[str, float]) -> None:
        """Add a point to the curves."""
        with (self.path / "progress.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps({"step": step, **{name: round(value, 6) for name, value in values.items()}}) + "\n")

    def curve(self) -> list[dict[str, float]]:
        """Return the points in the order of their steps; a repeated step counts as it was last."""
        points: dict[float, dict[str, float]] = {}
        with suppress(FileNotFoundError):
            for line in (self.path / "progress.jsonl").read_text("utf-8").splitlines():
                with suppress(ValueError):  # the last line, where a kill came in the middle of it
                    point = json.loads(line)
                    points[point["step"]] = point
        return [points[step] for step in sorted(points)]

    # -- result -------------------------------------------------------------------------------------------------------

    @property
    def card(self) -> dict[str, Any]:
        """The card of the training; empty until it is done."""
        path = self.path / "card.json"
        return _read_json(path) if path.is_file() else {}

    def keep_card(self, card: Mapping[str, Any]) -> None:
        _write_json(self.path / "card.json", dict(card))

    # -- lock ---------------------------------------------------------------------------------------------------------

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Hold the folder for the one process that trains it. The lock ends with the process, however that ends.

        Raises:
            Conflict: another process trains it.
        """
        with (self.path / "lock").open("w") as file:
            deadline = time.monotonic() + HELD_SECONDS
            while True:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    # A check whether it is locked takes the lock for an instant.
                    if time.monotonic() > deadline:
                        raise Conflict(f"Training {self.id} is run by another process.") from None
                    time.sleep(0.02)
            (self.path / _STOP).unlink(missing_ok=True)
            yield

    def is_held(self) -> bool:
        if not (self.path / "lock").exists():
            return False
        with (self.path / "lock").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
            return False

    def stop(self) -> None:
        """Ask the running process to stop at the next step, keeping a checkpoint."""
        state = self.state
        # Also for one that a crash interrupted: it must not resume by itself.
        if state.status == "running" or self.is_cut_off:
            (self.path / _STOP).touch()
        elif state.status == "waiting":
            self.note(replace(state, status="stopped"))

    @property
    def stop_asked(self) -> bool:
        return (self.path / _STOP).exists()

    def resume(self) -> None:
        """Put the training back to wait for a worker, which continues it from its last checkpoint.

        Raises:
            Conflict: it is done, or runs.
        """
        state = self.state
        if state.status in ("done", "running"):
            raise Conflict(f"Training {self.id} {'is done' if state.status == 'done' else 'runs already'}.")
        (self.path / _STOP).unlink(missing_ok=True)
        self.note(replace(state, status="waiting", error=""))


def is_run(runs: Path, name: str) -> bool:
    # The id becomes a path: nothing in it may lead out of the folder.
    return name.isalnum() and (runs / name / "request.json").is_file()


def list_run_folders(runs: Path) -> list[RunFolder]:
    """List the readable folders, newest first: one that cannot be read must not keep others from being trained."""
    return [run for run in _list_all_folders(runs) if not run.fault]


def list_damaged_runs(runs: Path) -> list[RunFolder]:
    """List the folders that cannot be read."""
    return [run for run in _list_all_folders(runs) if run.fault]


def list_every_run(runs: Path) -> list[RunFolder]:
    """List all folders, whether they can be read or not."""
    return _list_all_folders(runs)


def _list_all_folders(runs: Path) -> list[RunFolder]:
    return [RunFolder(path.parent) for path in sorted(runs.glob("r*/request.json"), reverse=True)]


def _write_json(path: Path, value: Mapping[str, Any]) -> None:
    write_atomically(path, json.dumps(value, ensure_ascii=False, indent=1, default=list) + "\n")


def _read_json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{path} cannot be read: {error}.") from error
    if not isinstance(value, dict):
        raise InvalidInput(f"{path} holds no JSON object.")
    return value
