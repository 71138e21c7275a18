"""Checks for `argot doctor`: data of wings that are not installed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from argot import wings
from argot.remedies import wing_command
from argot.service.maintenance.findings import Finding, make_bad_finding
from argot.service.storage import home_folder as layout
from argot.service.storage.missing_wings import explain_missing, list_missing_wings
from argot.sqlite import open_connection
from argot.sqlite_database import SqliteStores

HAS_SLACK_PEOPLE = "SELECT 1 FROM slack_people LIMIT 1"


def check_wings_of_folder(home: Path) -> Iterator[Finding]:
    """Tell which wings are missing that have data in a folder."""
    yield from check_wings(SqliteStores(home).holds, home, lambda: _has_slack_people(home / layout.PEOPLE))


def check_wings(holds: Callable[[str], bool], home: Path, has_slack_people: Callable[[], bool]) -> Iterator[Finding]:
    """Tell which wings are missing that have data in a knowledge base, by its stores and the folder of this process."""
    missing = list(list_missing_wings(holds, home))
    if "slack" not in {one.name for one in wings.wings()} and has_slack_people():
        missing.append(("slack", "people.db"))
    for wing, data in missing:
        yield make_bad_finding(f"wing {wing}", explain_missing([(wing, data)]), f"add it, {wing_command([wing])}")


def _has_slack_people(path: Path) -> bool:
    if not path.exists():
        return False
    with closing(open_connection(path, mode="ro")) as connection:
        there = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'slack_people'").fetchone()
        return bool(there and connection.execute(HAS_SLACK_PEOPLE).fetchone())
