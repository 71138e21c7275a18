"""The models that a knowledge base has adopted: `learning/adopted.json`, and the folders it names.

They belong to the core: adopted models still answer, and their vectors stay readable, if the wing `learn` that made
them is not installed.

Each kind has a stack: its last entry is in use, and going back removes it. If an embedder changes, the vectors and this
file change one after the other: the change is recorded before, and on opening the knowledge base the live vectors
decide which of the two counts.
"""

from __future__ import annotations

import json
import logging
import shutil
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

from argot.clock import timestamp
from argot.corpus.index.generations import CURRENT
from argot.errors import Conflict, DamagedStore
from argot.files import write_atomically
from argot.service.storage.home_folder import CORPUS, LEARNING_FOLDER, VECTORS
from argot.settings import Settings
from argot.sqlite import open_connection

logger = logging.getLogger(__name__)

ModelKind = Literal["embedder", "reranker", "generator"]
MODEL_KINDS: tuple[ModelKind, ...] = get_args(ModelKind)

FILE = f"{LEARNING_FOLDER}/adopted.json"
MODELS = f"{LEARNING_FOLDER}/models"
SETTING_OF: Mapping[ModelKind, Literal["embedder", "reranker"]] = {"embedder": "embedder", "reranker": "reranker"}
"""The settings whose defaults adopted models replace."""


@dataclass(frozen=True, slots=True)
class AdoptedModel:
    """A model in force. `gain`, `low`, `high`: its improvement in `measure`, with the 95 % interval.

    `folder`: its name below `learning/models`. `by`, `at`: who adopted it, and when.
    """

    kind: ModelKind
    run: str
    name: str
    folder: str
    measure: str
    gain: float
    low: float
    high: float
    by: str
    at: str = ""


@dataclass(frozen=True, slots=True)
class AdoptionStep:
    """An entry of the history: `run` is the model adopted or taken back."""

    at: str
    by: str
    kind: ModelKind
    did: Literal["adopted", "back"]
    run: str


@dataclass(frozen=True, slots=True)
class Changing:
    """A change of the embedder that has begun: the stack after it, and the fingerprint its vectors will have."""

    stack: tuple[AdoptedModel, ...]
    fingerprint: str
    step: AdoptionStep


@dataclass(frozen=True, slots=True)
class AdoptedModels:
    stacks: Mapping[ModelKind, tuple[AdoptedModel, ...]] = field(default_factory=dict)
    history: tuple[AdoptionStep, ...] = ()
    changing: Changing | None = None

    def in_force(self, kind: ModelKind) -> AdoptedModel | None:
        stack = self.stacks.get(kind)
        return stack[-1] if stack else None

    def stack(self, kind: ModelKind) -> tuple[AdoptedModel, ...]:
        return tuple(self.stacks.get(kind, ()))

    def after(self, stack: Sequence[AdoptedModel], step: AdoptionStep) -> AdoptedModels:
        return AdoptedModels({**self.stacks, step.kind: tuple(stack)}, (*self.history, step))


# -- the file ---------------------------------------------------------------------------------------------------------


def read_adopted(home: Path) -> AdoptedModels:
    """Return the models that the knowledge base has adopted.

    Raises:
        DamagedStore: it cannot be read.
    """
    path = home / FILE
    try:
        found = json.loads(path.read_text("utf-8"))
        stacks = {kind: _read_stack(found["models"].get(kind, ())) for kind in MODEL_KINDS}
        history = tuple(AdoptionStep(**one) for one in found["history"])
        changing = found.get("changing")
        begun = changing and Changing(
            _read_stack(changing["stack"]), changing["fingerprint"], AdoptionStep(**changing["step"])
        )
        return AdoptedModels(stacks, history, begun or None)
    except FileNotFoundError:
        return AdoptedModels()
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DamagedStore(
            f"{path} cannot be read: {error}. Move it away, and adopt its models again: argot learn runs"
        ) from error


def keep_adopted(home: Path, adopted: AdoptedModels) -> None:
    """Write the adopted models; when this returns they are durable."""
    content: dict[str, Any] = {
        "models": {kind: [asdict(one) for one in stack] for kind, stack in adopted.stacks.items() if stack},
        "history": [asdict(one) for one in adopted.history],
    }
    if adopted.changing is not None:
        content["changing"] = asdict(adopted.changing)
    (home / LEARNING_FOLDER).mkdir(mode=0o700, exist_ok=True)
    write_atomically(home / FILE, json.dumps(content, ensure_ascii=False, indent=1) + "\n")


def _read_stack(found: Sequence[Mapping[str, Any]]) -> tuple[AdoptedModel, ...]:
    return tuple(AdoptedModel(**one) for one in found)


def settle_adopted(home: Path, *, cut_off: bool = False) -> None:
    """Complete or undo a change of the embedder, according to the live vectors.

    Args:
        cut_off: a kill interrupted it, which is logged.
    """
    adopted = read_adopted(home)
    if adopted.changing is None:
        return
    changing = adopted.changing
    done = read_live_fingerprint(home) == changing.fingerprint
    if cut_off:
        logger.warning("a change of the embedder was cut off, and is %s", "finished" if done else "taken back")
    keep_adopted(home, adopted.after(changing.stack, changing.step) if done else replace(adopted, changing=None))


def read_live_fingerprint(home: Path) -> str:
    """Return the fingerprint of the embedder of the live vectors; empty if there are none, or it is unknown."""
    pointer, database = home / VECTORS / CURRENT, home / CORPUS
    if not pointer.is_file() or not database.is_file():
        return ""
    try:
        with closing(open_connection(database)) as connection:
            row = connection.execute(
                "SELECT fingerprint FROM generations WHERE name = ?", (pointer.read_text("utf-8", "replace").strip(),)
            ).fetchone()
    except (sqlite3.DatabaseError, OSError):  # opening the store reports its error
        return ""
    return str(row[0]) if row else ""


# -- what it means for the settings -----------------------------------------------------------------------------------


def apply_adopted(home: Path, settings: Settings) -> Settings:
    """Return the settings with adopted models in place of defaults. Explicit settings take precedence.

    On PostgreSQL none are in force (`require_adoptable`).
    """
    if settings.storage.database:
        return settings
    adopted = read_adopted(home)
    values = settings.flatten(only_given=True)
    found: dict[str, str] = {
        setting: str(find_model_path(home, model))
        for kind, setting in SETTING_OF.items()
        if (model := adopted.in_force(kind)) and setting not in values
    }
    return settings.replace(**found) if found else settings


def require_adoptable(settings: Settings) -> None:
    """Check that models can be adopted with these settings.

    Raises:
        Conflict: the knowledge base is on PostgreSQL, where each process would need a model that is in the folder of
            one.
    """
    if settings.storage.database:
        raise Conflict(
            "A knowledge base on PostgreSQL adopts no models: its processes do not share the folder that they lie in. "
            "Copy the model's folder to each machine, name it in ARGOT_EMBEDDER or ARGOT_RERANKER for every process, "
            "and after another embedder rebuild the vectors with: argot reindex"
        )


def find_model_path(home: Path, model: AdoptedModel) -> Path:
    return home.absolute() / MODELS / model.folder


def remove_unused(home: Path) -> None:
    """Delete the models to which no step would go back."""
    adopted = read_adopted(home)
    used = {one.folder for stack in adopted.stacks.values() for one in stack}
    used |= {one.folder for one in adopted.changing.stack} if adopted.changing else set()
    for folder in (home / MODELS).glob("*"):
        if folder.name not in used:
            shutil.rmtree(folder, ignore_errors=True)


def make_step(kind: ModelKind, did: Literal["adopted", "back"], run: str, by: str) -> AdoptionStep:
    return AdoptionStep(timestamp(), by, kind, did, run)
