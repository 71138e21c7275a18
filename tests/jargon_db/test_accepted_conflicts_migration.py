"""The migration of a glossary.db of Argot 0.3: accepted conflicts stay accepted, and reopen as before."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from argot.errors import Conflict
from argot.jargon_db import Glossary
from argot.types import Principal

ADMIN = Principal("admin", sees_all=True)
NINA = Principal("nina", manages=frozenset({"NAND"}), groups=frozenset({"fab"}))
OSCAR = Principal("oscar")
ACCEPTED = (3, "nina", "two teams say so", "let stand", (1, 2))
APPROVED = (6, "nina", "both are used", "approve", (3, 4))


@pytest.fixture
def glossary(tmp_path):
    """Open a glossary of Argot 0.3: changes 3, 6 and 21 accept conflicts, 9 and 16 are rolled back, 13 is outdated."""
    path = tmp_path / "glossary.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript((Path(__file__).parent / "glossary_0_3.sql").read_text("utf-8"))
    opened = Glossary.open(path)
    yield opened
    opened.close()


def accepted(glossary, principal):
    found = glossary.conflicts.list_accepted(principal)
    return [(one.change, one.who, one.why, one.kind, one.warning.senses) for one in found]


@pytest.mark.parametrize(("principal", "hidden_one"), [(ADMIN, (11, 12, 13)), (NINA, (11, 12, 13)), (OSCAR, (12, 13))])
def test_conflicts_accepted_before_the_migration_stay_accepted(glossary, principal, hidden_one):
    three = (21, "admin", "all three", "let stand", hidden_one)
    assert accepted(glossary, principal) == [three, APPROVED, ACCEPTED]
    open_ = [(one.kind, one.senses) for one in glossary.conflicts.open(principal)]
    assert open_ == [("conflicting_expansion", (7, 8)), ("same_elsewhere", (5, 6))]


def test_a_migrated_conflict_reopens_until_the_change_is_rolled_back(glossary):
    for number in (2, 3):
        sense = glossary.senses.get(ADMIN, number)
        glossary.senses.save(NINA, number, version=sense.version, notes="another thing")
        assert {2: (1, 2), 3: (3, 4)}[number] in [one.senses for one in glossary.conflicts.open(ADMIN)]
        glossary.history.roll_back(NINA, glossary.history.changes(ADMIN, 1)[0].id)
    assert [one[0] for one in accepted(glossary, ADMIN)] == [21, 6, 3]


def test_a_migrated_acceptance_can_be_rolled_back_without_changing_history(glossary):
    before = glossary.history.entries(ADMIN, limit=None)
    assert (before[-1].change, before[0].change, before[0].before == before[0].after) == (1, 21, True)
    undone = glossary.conflicts.reopen(NINA, 3)
    assert (undone.undoes, undone.rows) == (3, 2)
    assert [one[0] for one in accepted(glossary, ADMIN)] == [21, 6]
    for gone in (9, 3):
        with pytest.raises(Conflict, match="nothing to roll back"):
            glossary.history.roll_back(ADMIN, gone)
    assert glossary.history.entries(ADMIN, limit=None)[2:] == before
    glossary.history.roll_back(NINA, 6)
    assert (glossary.senses.get(ADMIN, 4).status, [one[0] for one in accepted(glossary, ADMIN)]) == ("draft", [21])


def test_the_migration_stores_one_row_per_accepted_sense_and_kind(glossary):
    rows = glossary._connections.reader().execute("SELECT change, kind, sense FROM accepted_conflicts").fetchall()
    both = [(6, kind, sense) for kind in ("conflicting_expansion", "duplicate") for sense in (3, 4)]
    one_kind = [(change, "conflicting_expansion", sense) for change, sense in ((3, 1), (3, 2), (13, 7), (13, 8))]
    assert set(rows) == {*both, *one_kind, *((21, "conflicting_expansion", sense) for sense in (11, 12, 13))}


def test_an_unchanged_history_entry_accepts_no_conflict(glossary):
    """Check that an entry that changes nothing, which erasing a person may leave, accepts no conflict."""
    sense = glossary.senses.get(ADMIN, 8)
    with glossary._connections.changing(NINA, "edit", why="no decision") as writer:
        for number in (7, 8):
            writer.record_unchanged(writer.sense(number))
    assert glossary.senses.get(ADMIN, 8) == sense
    assert ("conflicting_expansion", (7, 8)) in [(one.kind, one.senses) for one in glossary.conflicts.open(ADMIN)]
