"""The wings: optional features of Argot, each a folder at the root with a `wing.py`.

Nothing outside a wing imports it. Its `wing.py` defines one value, `WING`, with the wing's parts, and each registry of
the core reads its parts from there. A wing whose folder is not installed is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any

from argot.databases import StoreMigration

NAMES = ("learn", "ratings", "evaluate", "slack")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wing:
    """The parts of a wing, each named as "module" or "module:name" and imported when its registry asks for it.

    Attributes:
        use_cases: modules that declare use cases, kinds of jobs or scheduled work.
        commands: functions `(app: typer.Typer) -> None` that add commands (`ui/cli/main.py`).
        pages: functions `(kb) -> APIRouter` with pages or other addresses (`ui/pages/page_routes.py`).
        addresses: sequences of `Address`, use cases offered over HTTP (`ui/api/usecase_routes.py`).
        templates: packages with a folder `templates` for pages (`ui/pages/page_base.py`).
        links: the pages that the head of every page leads to: address, name, and who sees it.
        account_links: the pages that everybody's own page leads to: address and name (`ui/pages/account_pages.py`).
        workbench: the pages of the workbench: address, name, and a line for its overview where that does not show them
            by itself (`ui/pages/templates/workbench_base.html`).
        question_sets: one value of `QuestionSets` (`service/question_sets.py`).
        services: functions `(kb) -> AbstractAsyncContextManager` that work while the service runs (`ui/server.py`).
        migrations: the `MIGRATIONS` of each store of the wing, by the store's name.
        doctor_checks: functions `(settings) -> Iterable[Finding]` (`service/maintenance/process_checks.py`).
        folder_checks: functions `(home) -> Iterable[Finding]` (`service/operations/doctor.py`).
        personal_data: values of `PersonalKeeper` (`service/maintenance/personal_keepers.py`).
        text_keepers: values of `TextKeeper` (`service/maintenance/text_keepers.py`).
        shared_turns: async functions `(kb, thread, turn | None)` that delete what was taken from a conversation
            (`service/usecases/questions/shared_turns.py`).
    """

    name: str
    use_cases: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    templates: tuple[str, ...] = ()
    links: tuple[tuple[str, str, str], ...] = ()
    account_links: tuple[tuple[str, str], ...] = ()
    workbench: tuple[tuple[str, str, str], ...] = ()
    question_sets: tuple[str, ...] = ()
    services: tuple[str, ...] = ()
    migrations: Mapping[str, str] = field(default_factory=dict)
    doctor_checks: tuple[str, ...] = ()
    folder_checks: tuple[str, ...] = ()
    personal_data: tuple[str, ...] = ()
    text_keepers: tuple[str, ...] = ()
    shared_turns: tuple[str, ...] = ()


@cache
def wings() -> tuple[Wing, ...]:
    """Return the wings that are installed."""
    return tuple(_iter_installed())


def _iter_installed() -> Iterator[Wing]:
    for name in NAMES:
        try:
            module = import_module(f"argot.{name}.wing")
        except ModuleNotFoundError as error:
            # A missing package that the wing itself needs is a different error.
            if error.name not in (f"argot.{name}", f"argot.{name}.wing"):
                raise
        else:
            yield module.WING


def load_parts(kind: str) -> Iterator[Any]:
    """Import the parts of one kind, a field of `Wing`, of all wings."""
    for wing in wings():
        for reference in getattr(wing, kind):
            yield load_part(reference)


def wing_migrations() -> dict[str, Sequence[StoreMigration]]:
    """Return the migrations of every store of a wing, by the store's name."""
    return {name: load_part(reference) for wing in wings() for name, reference in wing.migrations.items()}


def load_part(reference: str) -> Any:
    """Import a module, or a name in a module."""
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name) if name else import_module(module)
