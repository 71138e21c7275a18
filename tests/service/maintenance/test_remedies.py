"""Tests of suggested remedies: damage is distinguished from a system error, and commands can be typed as shown."""

from __future__ import annotations

import os
import shlex
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from argot.errors import ArgotError, DamagedStore, InvalidInput, StoreUnavailable
from argot.jargon_db.glossary import Glossary
from argot.remedies import build_damage_error, explain_store_error, reindex_command
from argot.service.identity.people import People
from argot.service.storage import home_folder as layout
from argot.service.storage.damage import check_database
from argot.sqlite_database import SqliteStores


def error_of(path: Path, *statements: str) -> ArgotError:
    with pytest.raises(sqlite3.DatabaseError) as raised, closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
    return explain_store_error(path, raised.value)


def test_a_full_disk_is_not_reported_as_damage(tmp_path: Path) -> None:
    statements = ("PRAGMA max_page_count = 2", "CREATE TABLE a (x)", "INSERT INTO a VALUES (zeroblob(100000))")
    error = error_of(tmp_path / "people.db", *statements)
    assert isinstance(error, StoreUnavailable)
    assert "disk is full. Free some space" in str(error)


def test_a_store_that_may_not_be_opened_is_not_reported_as_damage(tmp_path: Path) -> None:
    (tmp_path / "people.db").mkdir()
    error = error_of(tmp_path / "people.db", "SELECT 1 FROM sqlite_master")
    assert isinstance(error, StoreUnavailable)
    assert "Let this user" in str(error)
    with pytest.raises(StoreUnavailable):
        check_database(tmp_path / "people.db")


def test_a_file_that_is_not_a_database_is_reported_as_damage(tmp_path: Path) -> None:
    (tmp_path / "people.db").write_bytes(b"hello world " * 500)
    assert isinstance(error_of(tmp_path / "people.db", "SELECT 1 FROM sqlite_master"), DamagedStore)


def test_suggested_commands_are_quoted_for_any_path(tmp_path: Path) -> None:
    home = tmp_path / "it's ours; $(rm -rf x)"
    assert shlex.split(reindex_command(home))[-1] == str(home)
    message = str(build_damage_error(home / "corpus.db", "two\nlines"))
    assert "two lines" in message
    assert shlex.split(message.partition("without one, with: ")[2])[2] == str(home / "vectors")


@pytest.mark.parametrize(
    "make", [lambda folder: Glossary.open(folder / "glossary.db"), lambda f: People(SqliteStores(f))]
)
def test_a_new_store_is_complete_when_it_gets_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Any
) -> None:
    """Check it because a log that a full disk kept from being written back would be lost with the old name."""
    moved = []

    def look(source: Any) -> None:
        moved.append(Path(source).read_bytes()[18:20])  # version for writing and reading: 1 without, 2 with a log

    link, rename = os.link, Path.rename
    monkeypatch.setattr(os, "link", lambda source, target: (look(source), link(source, target)))
    monkeypatch.setattr(Path, "rename", lambda source, target: (look(source), rename(source, target))[1])
    make(tmp_path).close()
    assert moved == [b"\x01\x01"]


@pytest.mark.parametrize("name", ["x" * 250 + "/" + "y" * 250, os.fsdecode(b"caf\xe9")])
def test_an_unusable_path_for_stores_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidInput, match="--home"):
        layout.create(tmp_path / name)
    assert not any(tmp_path.iterdir())
