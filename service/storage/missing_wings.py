"""Data of wings that are not installed: a wing alone erases, moves and reads what its store holds.

Whatever has to reach every store is refused while such a wing is missing, so that nothing erased lives on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from argot import wings
from argot.errors import MissingWing
from argot.remedies import wing_command
from argot.service.storage import home_folder as layout


@dataclass(frozen=True, slots=True)
class WingData:
    """The data of a wing: the name of its store, and its folder in the knowledge base."""

    wing: str
    store: str
    folder: str = ""


WING_DATA = (
    WingData("learn", "learning", layout.RUNS),
    WingData("ratings", "ratings"),
    WingData("evaluate", "evaluations"),
)


def list_missing_wings(holds: Callable[[str], bool], home: Path | None = None) -> Iterator[tuple[str, str]]:
    """List the wings that are not installed and yet have data here, each with what it keeps.

    Args:
        holds: tells whether the knowledge base has a store (`Stores.holds`).
        home: the knowledge base's folder, where the wings' folders count too.
    """
    installed = {one.name for one in wings.wings()}
    for one in WING_DATA:
        if one.wing in installed:
            continue
        if holds(one.store):
            yield one.wing, f"{one.store}.db"
        elif home and one.folder and (home / one.folder).is_dir():
            yield one.wing, one.folder


def require_wings(holds: Callable[[str], bool], home: Path | None = None, *, only: str = "") -> None:
    """See that every wing that has data here is installed; `only`: this one.

    Raises:
        MissingWing: one is not. Nothing was changed.
    """
    if missing := {wing: data for wing, data in list_missing_wings(holds, home) if only in {"", wing}}:
        raise MissingWing(f"{explain_missing(missing.items())} Nothing was changed. Add it, {wing_command(missing)}")


def explain_missing(missing: Iterable[tuple[str, str]]) -> str:
    """Say which data no installed wing reaches."""
    names = " and ".join(f"{data} of the wing '{wing}'" for wing, data in missing)
    return f"This knowledge base has {names}, which is not installed: nothing in it can be erased or moved."
