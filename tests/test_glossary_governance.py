"""Drafts, approval, history, roll back, conflicts, proposals and misses: who may do what, and that nothing is lost."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from dataclasses import asdict, replace
from datetime import UTC, datetime

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from argot.errors import ArgotError, Conflict, InvalidInput, NotAllowed, NotFound
from argot.jargon_db import Glossary, SenseInput
from argot.jargon_db.schema import migrations
from argot.jargon_db.snapshots import snapshot_of_sense
from argot.service.identity import people
from argot.types import MANAGERS, Principal

ADMIN = Principal("admin", sees_all=True)
MONA = Principal("mona", frozenset({MANAGERS}))
NINA = Principal("nina", manages=frozenset({"NAND"}))
LEO = Principal("leo", manages=frozenset({"Legal"}))
OSCAR = Principal("oscar")
EVE = Principal("eve", frozenset({"fab"}), manages=frozenset({"*"}))
SECRET = frozenset({"fab"})


@pytest.fixture
def path(tmp_path):
    return tmp_path / "glossary.db"


@pytest.fixture
def glossary(glossary):
    glossary.add_context("NAND")
    glossary.add_context("Legal")
    return glossary


def expansions(senses):
    return [sense.expansion for sense in senses]


# -- drafts, approval, retirement -----------------------------------------------------------------------------------


def test_a_draft_answers_nobody_until_it_is_approved_nor_after_it_is_retired(glossary):
    draft = glossary.draft(NINA, "PUC", "nand", "Peripheral Under Cell", aliases=["P.U.C."], review_by="2027-01-31")
    assert (draft.status, draft.owner, draft.context, draft.version, draft.review_by) == (
        "draft", "nina", "NAND", 1, "2027-01-31",
    )  # fmt: skip
    assert glossary.look_up(OSCAR, ["PUC"])["PUC"] == []
    approved = glossary.approve(NINA, draft.id, draft.version)
    assert approved == replace(draft, status="approved", version=2)
    assert glossary.look_up(OSCAR, ["PUC"])["PUC"] == [approved]
    retired = glossary.retire(NINA, draft.id, approved.version, "no longer built")
    assert glossary.look_up(OSCAR, ["PUC"])["PUC"] == []
    assert glossary.approve(NINA, draft.id, retired.version).version == 4
    assert [entry.kind for entry in glossary.history(OSCAR, term="puc")] == ["approve", "retire", "approve", "draft"]


def test_what_is_said_again_changes_nothing(glossary):
    sense = glossary.draft(NINA, "PUC", "NAND", "Peripheral Under Cell")
    before = glossary.changes(ADMIN), glossary.version()
    assert glossary.save_sense(NINA, sense.id, version=1, term="PUC", context="nand", review_by="") == sense
    assert glossary.approve(NINA, glossary.approve(NINA, sense.id, 1).id, 2).version == 2
    assert len(glossary.changes(ADMIN)) == len(before[0]) + 1
    assert glossary.version() == before[1] + 1


def test_a_draft_of_what_is_there_shows_it(glossary):
    there = glossary.add_sense("PUC", "NAND", "Peripheral Under Cell")
    with pytest.raises(Conflict, match="already means") as refused:
        glossary.draft(NINA, "PUC", "NAND", "Peripheral Under Cell", "other words")
    assert refused.value.current == there
    assert glossary.senses(ADMIN) == [there]


def test_a_second_meaning_in_one_context_takes_a_reason(glossary):
    """Number 22 of the scorecard: a conflict needs approval."""
    glossary.add_sense("PUC", "NAND", "Peripheral Under Cell")
    second = glossary.draft(NINA, "puc", "NAND", "Power Up Control")
    with pytest.raises(Conflict, match="'Peripheral Under Cell' in 'NAND' already") as refused:
        glossary.approve(NINA, second.id, second.version)
    assert refused.value.current.expansion == "Peripheral Under Cell"
    assert glossary.approve(NINA, second.id, second.version, "both are used").status == "approved"
    elsewhere = glossary.draft(LEO, "PUC", "Legal", "Public Utilities Commission")
    assert glossary.approve(LEO, elsewhere.id, elsewhere.version).status == "approved"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"term": " \u200b"}, "term is empty"),
        ({"expansion": ""}, "expansion of 'PUC' is empty"),
        ({"review_by": "soon"}, "'soon' is no date"),
        ({"review_by": "20270131"}, "no date"),
        ({"description": "\ud800"}, "surrogate"),
        ({"aliases": ["\udfff"]}, "surrogate"),
        ({"aliases": ["a" * 201]}, "201 characters"),
        ({"why": "\ud800"}, "reason"),
    ],
)
def test_what_cannot_be_stored_is_named_and_nothing_changes(glossary, changes, message):
    sense = glossary.add_sense("PUC", "NAND", "Peripheral Under Cell")
    with pytest.raises(InvalidInput, match=message):
        glossary.save_sense(NINA, sense.id, version=1, **changes)
    assert glossary.senses(ADMIN) == [sense]


ODD = [
    "C++",
    "100 %",
    '"quoted"',
    "O'Neill",
    "a' OR 1=1 --",
    "💾",
    "\u202eabc",
    "قاموس",
    "<script>alert(1)</script>",
    "**b**",
]


@pytest.mark.parametrize("text", ODD)
def test_any_text_is_stored_as_typed_on_every_road(glossary, text):
    """Number 21 of the scorecard."""
    long = text + "x" * 10_000
    sense = glossary.draft(EVE, text, text, text, long, notes=text, aliases=[text + "2"], why=text)
    assert (sense.term, sense.context, sense.expansion, sense.description) == (text, text, text, long)
    saved = glossary.save_sense(EVE, sense.id, version=1, notes=f"{text}\0", why=text)
    entry = glossary.history(ADMIN, term=text)[0]
    assert (entry.term, entry.why, entry.before["notes"], entry.after["notes"]) == (text, text, text, f"{text}\0")
    assert glossary.search(OSCAR, text) == [saved]
    assert [warning.kind for warning in glossary.conflicts(ADMIN)] == ["expansion_is_term"]
    glossary.roll_back(EVE, term=text, moment=entry.change - 1)
    assert glossary.sense(ADMIN, sense.id) == replace(sense, version=3)


# -- two at once ----------------------------------------------------------------------------------------------------


def test_the_second_of_two_saves_sees_what_the_first_stored(glossary):
    seen = glossary.add_sense("PUC", "NAND", "Peripheral Under Cell")
    first = glossary.save_sense(NINA, seen.id, version=seen.version, description="by nina")
    with pytest.raises(Conflict, match="saw version 1, it is at 2") as refused:
        glossary.save_sense(MONA, seen.id, version=seen.version, notes="by mona")
    assert refused.value.current == first
    glossary.save_sense(MONA, seen.id, version=refused.value.current.version, notes="by mona")
    assert (glossary.sense(ADMIN, seen.id).description, glossary.sense(ADMIN, seen.id).notes) == ("by nina", "by mona")
    for act in (glossary.approve, glossary.retire):
        with pytest.raises(Conflict):
            act(MONA, seen.id, 1)


def test_of_eight_managers_who_save_at_once_nothing_is_lost(glossary):
    """Number 19 of the scorecard."""
    sense = glossary.add_sense("PUC", "NAND", "Peripheral Under Cell")
    failures = []

    def save(number):
        try:
            for turn in range(6):
                current = glossary.sense(NINA, sense.id)
                while True:
                    try:
                        added = (*current.aliases, f"P-{number}-{turn}")
                        glossary.save_sense(NINA, sense.id, version=current.version, aliases=added)
                        break
                    except Conflict as conflict:
                        current = conflict.current
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=save, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    saved = glossary.sense(ADMIN, sense.id)
    assert set(saved.aliases) == {f"P-{number}-{turn}" for number in range(8) for turn in range(6)}
    assert saved.version == 49
    assert len(glossary.history(ADMIN, sense_id=sense.id)) == 49


# -- who may --------------------------------------------------------------------------------------------------------


def test_the_group_of_managers_is_the_one_of_the_service():
    assert MANAGERS == people.MANAGERS
    assert MONA.may_manage("anything")
    assert MONA.is_manager
    assert not NINA.may_manage("Legal")
    assert not OSCAR.is_manager


def test_managers_of_a_context_write_there_alone(glossary):
    sense = glossary.draft(NINA, "PUC", "NAND", "Peripheral Under Cell")
    other = glossary.draft(LEO, "PUC", "Legal", "Public Utilities Commission")
    glossary.add_context("nand", "flash", by=NINA)
    glossary.add_context("Hidden", audience=SECRET)
    before = glossary.senses(ADMIN), glossary.contexts(ADMIN), glossary.changes(ADMIN)
    csv = "term,context,expansion\nOK,NAND,fine\nNO,Legal,not mine\n"
    refusals = [
        lambda: glossary.draft(NINA, "X", "Legal", "y"),
        lambda: glossary.draft(NINA, "X", "New", "y"),
        lambda: glossary.draft(NINA, "X", "Hidden", "y"),
        lambda: glossary.draft(OSCAR, "X", "NAND", "y"),
        lambda: glossary.add_sense("X", "Legal", "y", by=NINA),
        lambda: glossary.save_sense(NINA, other.id, version=1, notes="x"),
        lambda: glossary.save_sense(NINA, other.id, version=1),
        lambda: glossary.save_sense(NINA, sense.id, version=1, context="Legal"),
        lambda: glossary.save_sense(LEO, sense.id, version=1, context="Legal"),
        lambda: glossary.approve(NINA, other.id, 1),
        lambda: glossary.retire(OSCAR, sense.id, 1),
        lambda: glossary.add_context("Legal", "mine now", by=NINA),
        lambda: glossary.add_context("New", by=NINA),
        lambda: glossary.import_csv(csv, by=NINA),
        lambda: glossary.roll_back(NINA, term="PUC", moment=0),
    ]
    for refused in refusals:
        with pytest.raises(NotAllowed):
            refused()
    assert (glossary.senses(ADMIN), glossary.contexts(ADMIN), glossary.changes(ADMIN)) == before
    glossary.import_csv("term,context,expansion\nOK,NAND,fine\n", by=NINA)
    assert glossary.draft(EVE, "X", "New", "y").context == "New"


def test_hidden_missing_and_foreign_contexts_are_refused_in_the_same_words(glossary):
    glossary.add_context("Hidden", audience=SECRET)
    told = set()
    for name in ("Hidden", "Legal", "Absent"):
        with pytest.raises(NotAllowed) as refused:
            glossary.draft(NINA, "X", name, "y")
        told.add(str(refused.value).replace(name, "…"))
    assert len(told) == 1


@pytest.mark.parametrize("guard", ["sense", "context"])
def test_what_one_may_not_read_is_nowhere(glossary, guard):
    if guard == "context":
        glossary.add_context("Hidden", audience=SECRET)
    where = "Hidden" if guard == "context" else "NAND"
    audience = SECRET if guard == "sense" else frozenset()
    secret = glossary.add_sense(
        "ZEBRAX", where, "zonal erase", "quagga", aliases=["STRIPEQ"], audience=audience, by=EVE
    )
    glossary.save_sense(EVE, secret.id, version=1, notes="okapi", why="okapi")
    glossary.record_use([secret.id])
    glossary.record_miss("ZEBRAX", "oscar", "ZEBRAX?", "t")
    glossary.propose("mined", "OKAPIX", "zonal okapi", context=where, evidence=[("p1", "quagga")], audience=SECRET)
    given = SenseInput("ZEBRAX", where, "zonal erase", aliases=("STRIPEQ",))
    for who in (OSCAR, MONA, LEO):
        seen = [
            glossary.search(who, "z"), glossary.search(who, "stripeq"), glossary.search(who, "quagga"),
            glossary.history(who), glossary.history(who, term="ZEBRAX"), glossary.history(who, sense_id=secret.id),
            glossary.conflicts(who), glossary.proposals(who), glossary.uses_by_week(who),
            [change for change in glossary.changes(who) if "okapi" in change.why or change.who == "eve"],
            glossary.warnings(who, given),
        ]  # fmt: skip
        if guard == "sense":
            seen[3] = [entry for entry in seen[3] if entry.sense_id is not None]
        assert "zebrax" not in str(seen).casefold(), who
        assert not any(seen[:3])
        assert not any(seen[4:])
        for act in (
            lambda: glossary.save_sense(who, secret.id, version=2, notes="x"),  # noqa: B023
            lambda: glossary.approve(who, secret.id, 2),  # noqa: B023
            lambda: glossary.roll_back(who, term="ZEBRAX", moment=0),  # noqa: B023
            lambda: glossary.accept(who, 1),  # noqa: B023
            lambda: glossary.merge(who, 1, secret.id),  # noqa: B023
            lambda: glossary.dismiss(who, 1),  # noqa: B023
        ):
            with pytest.raises(NotFound):
                act()
    assert [miss.status for miss in glossary.misses(OSCAR)] == ["open"]
    assert [miss.status for miss in glossary.misses(EVE, status=None)] == ["defined"]
    assert glossary.search(EVE, "quag") != []
    assert len(glossary.history(EVE, term="ZEBRAX")) == 2
    assert glossary.proposals(EVE)[0].evidence == (("p1", "quagga"),)
    assert glossary.uses_by_week(EVE)[0].count == 1


def test_history_is_guarded_by_what_guarded_it_then_and_now(glossary):
    sense = glossary.add_sense("PUC", "NAND", "was secret", audience=SECRET)
    opened = glossary.save_sense(EVE, sense.id, version=1, expansion="open", audience=frozenset())
    assert glossary.history(OSCAR, sense_id=sense.id) == []
    glossary.save_sense(EVE, sense.id, version=opened.version, notes="later")
    assert [entry.after["notes"] for entry in glossary.history(OSCAR, sense_id=sense.id)] == ["later"]
    glossary.add_context("NAND", audience=SECRET)
    assert glossary.history(OSCAR, sense_id=sense.id) == []
    assert len(glossary.history(EVE, sense_id=sense.id)) == 3


def test_a_change_counts_the_rows_one_may_read(glossary):
    glossary.add_context("Hidden", audience=SECRET)
    csv = "term,context,expansion\nA,NAND,a\nB,Hidden,b\nC,Hidden,c\n"
    number = glossary.import_csv(csv, "terms.csv", by=EVE).change
    assert [(one.id, one.name, one.kind, one.rows) for one in glossary.changes(ADMIN, limit=1)] == [
        (number, "terms.csv", "import", 3)
    ]
    assert glossary.changes(OSCAR, limit=1)[0].rows == 1
    with pytest.raises(NotAllowed):
        glossary.roll_back(MONA, number)
    assert len(glossary.senses(ADMIN)) == 3


# -- history --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", ["history", "changes"])
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE {table} SET id = id",
        "DELETE FROM {table}",
        "INSERT OR REPLACE INTO {table} SELECT * FROM {table}",
    ],
)
def test_history_cannot_be_rewritten(glossary, table, statement):
    """Number 22 of the scorecard: append-only."""
    glossary.add_sense("PUC", "NAND", "Peripheral Under Cell")
    before = glossary.history(ADMIN)
    connection = glossary._connections.writer().conn
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        connection.execute(statement.format(table=table))
    connection.rollback()
    assert glossary.history(ADMIN) == before


def test_history_says_who_what_when_and_why(glossary):
    """Number 22 of the scorecard."""
    sense = glossary.draft(NINA, "PUC", "NAND", "Peripheral Under Cell", why="asked for")
    glossary.save_sense(MONA, sense.id, version=1, term="PUCX", why="renamed")
    glossary.import_csv(
        "term,context,expansion,notes\nPUCX,NAND,Peripheral Under Cell,n\n", "t.csv", by=MONA, why="sync"
    )
    last, renamed, first = glossary.history(OSCAR, term="puc")
    assert (first.who, first.why, first.kind, first.before) == ("nina", "asked for", "draft", None)
    assert (renamed.before["term"], renamed.after["term"], renamed.who, renamed.term) == ("PUC", "PUCX", "mona", "PUCX")
    assert (last.kind, last.why, last.after["notes"]) == ("import", "sync", "n")
    assert glossary.history(OSCAR, term="PUCX") == [last, renamed, first]
    assert glossary.history(OSCAR, limit=1) == [last]
    assert datetime.fromisoformat(first.at).tzinfo == UTC


def test_what_was_there_before_history_enters_it_as_a_baseline(path):
    connection = sqlite3.connect(path)
    from sqlite_utils import Database

    migrations.apply(Database(connection, execute_plugins=False), stop_before="m002_governance")
    connection.execute("INSERT INTO contexts (name, key) VALUES ('NAND', 'nand')")
    connection.execute("INSERT INTO terms (spelling, key) VALUES ('PUC', 'puc')")
    connection.execute(
        "INSERT INTO senses (term, context, expansion, description, notes, owner, status, audience, created, updated)"
        " VALUES (1, 1, 'Peripheral Under Cell', '', '', '', 'approved', '[]', '', '')"
    )
    connection.execute("INSERT INTO aliases (sense, place, spelling, key) VALUES (1, 0, 'P.U.C.', 'p.u.c.')")
    connection.commit()
    connection.close()
    glossary = Glossary.open(path)
    (sense,) = glossary.search(OSCAR, "periph")
    assert sense.aliases == ("P.U.C.",)
    assert [(entry.kind, entry.after) for entry in glossary.history(OSCAR, sense_id=1)] == [
        ("baseline", snapshot_of_sense(sense))
    ]
    glossary.close()


KILLED = """
import itertools, os, signal, sys
from pathlib import Path
from argot.jargon_db import Glossary, SenseInput

def senses():
    for number in itertools.count():
        if number == int(sys.argv[2]):
            os.kill(os.getpid(), signal.SIGKILL)
        yield SenseInput(f"T{number}", f"context {number % 7}", f"meaning {number}", aliases=(f"A{number}",))

Glossary.open(Path(sys.argv[1])).import_senses(senses(), "killed.csv")
"""


@pytest.mark.parametrize("rows", [1, 2_500, 9_000])
def test_an_import_that_is_killed_leaves_no_row(path, rows):
    """Number 20 of the scorecard, by `kill -9`."""
    Glossary.open(path).close()
    done = subprocess.run([sys.executable, "-c", KILLED, str(path), str(rows)], check=False, env=os.environ)
    assert done.returncode == -signal.SIGKILL
    glossary = Glossary.open(path)
    assert (glossary.senses(ADMIN), glossary.contexts(ADMIN), glossary.changes(ADMIN)) == ([], [], [])
    connection = glossary._connections.reader()
    for table in ("terms", "aliases", "history", "sense_search"):
        assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
    glossary.close()


# -- roll back ------------------------------------------------------------------------------------------------------

IMPORT = "term,context,expansion,notes\nPUC,NAND,Peripheral Under Cell,changed\nNEW,Fresh,made by the import,\n"


def test_an_import_is_rolled_back_and_that_too(glossary):
    """Number 22 of the scorecard: roll back works."""
    glossary.add_sense("PUC", "NAND", "Peripheral Under Cell", notes="first", aliases=["P.U.C."])
    before = [replace(sense, version=0) for sense in glossary.senses(ADMIN)], glossary.contexts(ADMIN)
    number = glossary.import_csv(IMPORT, "terms.csv", by=EVE).change
    after = [replace(sense, version=0) for sense in glossary.senses(ADMIN)]
    undone = glossary.roll_back(MONA, number)
    assert ([replace(sense, version=0) for sense in glossary.senses(ADMIN)], glossary.contexts(ADMIN)) == before
    assert (undone.kind, undone.undoes, undone.who, undone.rows) == ("roll back", number, "mona", 3)
    assert glossary.search(OSCAR, "import") == []
    assert glossary.look_up(OSCAR, ["NEW"])["NEW"] == []
    assert [one.undone_by for one in glossary.changes(ADMIN) if one.id == number] == [undone.id]
    glossary.roll_back(MONA, undone.id)
    assert [replace(sense, version=0) for sense in glossary.senses(ADMIN)] == after
    assert expansions(glossary.search(OSCAR, "import")) == ["made by the import"]


def test_what_was_built_on_since_is_not_rolled_back_unless_by_force(glossary):
    number = glossary.import_csv(IMPORT, by=EVE).change
    (sense,) = glossary.senses(ADMIN, query="PUC")
    glossary.save_sense(NINA, sense.id, version=sense.version, notes="by hand")
    state = glossary.senses(ADMIN), glossary.contexts(ADMIN)
    with pytest.raises(Conflict, match=r"'PUC' in 'NAND' by nina \(change 4") as refused:
        glossary.roll_back(MONA, number)
    assert refused.value.changes == (4,)
    assert (glossary.senses(ADMIN), glossary.contexts(ADMIN)) == state
    forced = glossary.roll_back(MONA, number, force=True)
    assert glossary.senses(ADMIN) == []
    glossary.roll_back(MONA, forced.id)
    assert glossary.sense(ADMIN, sense.id).notes == "by hand"
    with pytest.raises(Conflict):
        glossary.roll_back(MONA, forced.id)


def test_a_context_that_others_use_meanwhile_stays(glossary):
    number = glossary.import_csv(IMPORT, by=EVE).change
    glossary.draft(MONA, "OTHER", "Fresh", "put there since")
    glossary.roll_back(MONA, number)
    assert [context.name for context in glossary.contexts(ADMIN)] == ["Fresh", "Legal", "NAND"]
    assert expansions(glossary.senses(ADMIN)) == ["put there since"]


def test_a_term_goes_back_to_a_moment(glossary):
    first = glossary.draft(NINA, "PUC", "NAND", "Peripheral Under Cell")
    moment = glossary.changes(ADMIN)[0].id
    glossary.approve(NINA, first.id, 1)
    glossary.draft(LEO, "PUC", "Legal", "Public Utilities Commission")
    glossary.draft(LEO, "OTHER", "Legal", "left alone")
    glossary.roll_back(MONA, term="puc", moment=moment)
    assert [(s.term, s.status) for s in glossary.senses(ADMIN)] == [("OTHER", "draft"), ("PUC", "draft")]
    with pytest.raises(Conflict, match="nothing to roll back"):
        glossary.roll_back(MONA, term="PUC", moment=moment)
    glossary.roll_back(MONA, term="PUC", moment="2001-01-01")
    assert [s.term for s in glossary.senses(ADMIN)] == ["OTHER"]
    for bad in ({"term": "PUC"}, {"term": "PUC", "moment": "yesterday"}, {}, {"change": 1, "term": "PUC"}):
        with pytest.raises(InvalidInput):
            glossary.roll_back(MONA, **bad)
    with pytest.raises(NotFound):
        glossary.roll_back(MONA, term="NOBODY", moment=1)
    with pytest.raises(NotFound):
        glossary.roll_back(MONA, 999)


def test_senses_that_changed_places_change_back(glossary):
    one = glossary.add_sense("A", "NAND", "first")
    two = glossary.add_sense("B", "NAND", "second")
    moment = glossary.changes(ADMIN)[0].id
    parked = glossary.save_sense(NINA, one.id, version=1, term="B", expansion="between")
    moved = glossary.save_sense(NINA, two.id, version=1, term="A", expansion="first")
    glossary.save_sense(NINA, one.id, version=parked.version, expansion="second")
    glossary.roll_back(NINA, term="A", moment=moment)
    now = {sense.id: (sense.term, sense.expansion) for sense in glossary.senses(ADMIN)}
    assert now == {one.id: ("A", "first"), two.id: ("B", "second")}
    assert moved.version < glossary.sense(ADMIN, two.id).version


def test_a_place_that_is_taken_is_a_conflict(glossary):
    sense = glossary.add_sense("A", "NAND", "first")
    glossary.save_sense(NINA, sense.id, version=1, expansion="renamed")
    renaming = glossary.changes(ADMIN)[0].id
    there = glossary.add_sense("A", "NAND", "first")
    with pytest.raises(Conflict, match="already means") as refused:
        glossary.roll_back(NINA, renaming)
    assert refused.value.current == there
    assert expansions(glossary.senses(ADMIN)) == ["renamed", "first"]


def test_a_change_names_what_it_is_about_to_those_who_may_know(glossary):
    glossary.add_context("Tools", "what we work with")
    glossary.add_sense("XQZ", "Tools", "extra quick zone", audience=frozenset({"hr"}))
    text = "term,context,expansion\n" + "".join(f"T{number},Tools,meaning {number}\n" for number in range(5))
    glossary.import_csv(text)
    told = {change.kind: change.about for change in reversed(glossary.changes(ADMIN, 3))}
    assert told == {"context": ("Tools",), "edit": ("XQZ",), "import": ("T0", "T1", "T2")}
    assert all("XQZ" not in change.about for change in glossary.changes(OSCAR, 100))


# -- conflicts ------------------------------------------------------------------------------------------------------


def kinds(warnings):
    return sorted(warning.kind for warning in warnings)


def test_warnings_name_what_stands_against_a_sense(glossary):
    puc = glossary.add_sense("PUC", "NAND", "Peripheral Under Cell", aliases=["under-array"])
    law = glossary.add_sense("PUC", "Legal", "Public Utilities Commission")
    assert kinds(glossary.warnings(OSCAR, SenseInput("new", "NAND", "thing that is not"))) == ["ordinary_word"]
    assert glossary.warnings(OSCAR, SenseInput("XQZ", "NAND", "something")) == []
    assert glossary.warnings(OSCAR, SenseInput("", "", "")) == []
    same = glossary.warnings(OSCAR, SenseInput("puc", "nand", "peripheral under cell"))
    assert [(one.kind, one.senses) for one in same] == [("duplicate", (puc.id,))]
    other = glossary.warnings(OSCAR, SenseInput("PUC", "Legal", "Plain Used Car"))
    assert [(one.kind, one.senses) for one in other] == [("conflicting_expansion", (law.id,))]
    elsewhere = glossary.warnings(OSCAR, SenseInput("PUC", "Tools", "Peripheral Under Cell"))
    assert [(one.kind, one.senses) for one in elsewhere] == [("same_elsewhere", (puc.id,))]
    collides = glossary.warnings(OSCAR, SenseInput("PERI", "NAND", "periphery", aliases=("puc", "Under Array")))
    assert sorted((one.kind, one.senses) for one in collides) == [
        ("alias_collides", (puc.id,)), ("alias_collides", (puc.id, law.id)),
    ]  # fmt: skip
    assert kinds(glossary.warnings(OSCAR, SenseInput("under array", "NAND", "x"))) == ["alias_collides"]
    empty = SenseInput("ACT", "NAND", "act", aliases=("Act",))
    assert kinds(glossary.warnings(OSCAR, empty)) == ["alias_is_term", "expansion_is_term", "ordinary_word"]
    assert glossary.warnings(OSCAR, SenseInput("PUC", "NAND", "Peripheral Under Cell"), puc.id) == []
    glossary.retire(MONA, law.id, 1)
    assert glossary.warnings(OSCAR, SenseInput("PUC", "Legal", "Plain Used Car")) == []


def test_conflicts_are_the_same_over_everything_and_what_is_due(glossary):
    one = glossary.add_sense(
        "PUC", "NAND", "Peripheral Under Cell", aliases=["WLX"], review_by="2020-01-31", owner="nina"
    )
    two = glossary.add_sense("PUC", "NAND", "Power Up Control")
    three = glossary.add_sense("WLX", "NAND", "word line")
    found = {warning.kind: warning for warning in glossary.conflicts(OSCAR)}
    assert {kind: set(warning.senses) for kind, warning in found.items()} == {
        "conflicting_expansion": {one.id, two.id},
        "alias_collides": {one.id, three.id},
        "review_due": {one.id},
    }
    assert "nina" in found["review_due"].message
    assert "review_due" not in kinds(glossary.conflicts(OSCAR, today="2019-12-31"))


def test_conflicts_leave_out_what_nobody_needs_to_act_on(glossary):
    glossary.add_sense("ACT", "NAND", "active command table", aliases=["Act"])
    glossary.add_sense("die", "NAND", "piece of a wafer", aliases=["Die"])
    same = [glossary.add_sense("XQZ", context, "extra quick zone").id for context in ("NAND", "Legal")]
    two = [glossary.add_sense("PUC", "NAND", expansion).id for expansion in ("power up control", "per unit cost")]
    found = [(warning.kind, list(warning.senses)) for warning in glossary.conflicts(OSCAR)]
    assert found == [("conflicting_expansion", two), ("same_elsewhere", same)]


def test_an_alias_in_other_case_is_not_called_needless_where_it_is_needed(glossary):
    told = [one.message for one in glossary.warnings(OSCAR, SenseInput("DOE", "NAND", "design of x", aliases=("DoE",)))]
    assert "With the alias 'DoE', the ordinary word is read as 'DOE' where it is written so." in told
    told = [one.message for one in glossary.warnings(OSCAR, SenseInput("VCCQ", "NAND", "supply", aliases=("VccQ",)))]
    assert told == ["'VCCQ' is its own alias; spellings like it are recognised anyway."]


# -- proposals ------------------------------------------------------------------------------------------------------


def test_a_proposal_gathers_evidence_and_becomes_a_sense_as_edited(glossary):
    first = glossary.propose("mined", "XQZ", "extra quick zone", context="NAND", evidence=[("p1", "XQZ (extra…)")])
    again = glossary.propose("miss", "xqz", "Extra Quick Zone", evidence=[("p1", "newer"), ("p2", "more")])
    assert again.id == first.id
    assert again.evidence == (("p1", "newer"), ("p2", "more"))
    assert (again.origin, again.context, again.term) == ("mined", "NAND", "XQZ")
    assert glossary.look_up(OSCAR, ["XQZ"])["XQZ"] == []
    sense = glossary.accept(NINA, first.id, description="in my words", why="seen")
    assert (sense.status, sense.owner, sense.expansion, sense.description) == (
        "draft", "nina", "extra quick zone", "in my words",
    )  # fmt: skip
    decided = glossary.proposal(OSCAR, first.id)
    assert (decided.status, decided.decided_by, decided.sense) == ("accepted", "nina", sense.id)
    assert glossary.proposals(OSCAR) == []
    assert glossary.propose("mined", "XQZ", "extra quick zone", evidence=[("p9", "x")]) == decided
    for act in (lambda: glossary.accept(NINA, first.id), lambda: glossary.dismiss(NINA, first.id)):
        with pytest.raises(Conflict, match="accepted by nina"):
            act()


def test_a_merged_proposal_is_an_alias(glossary):
    sense = glossary.add_sense("PUC", "NAND", "Peripheral Under Cell", aliases=["peri"])
    number = glossary.propose("miss", "PUCX").id
    with pytest.raises(NotAllowed):
        glossary.merge(LEO, number, sense.id)
    merged = glossary.merge(NINA, number, sense.id, "the same")
    assert (merged.aliases, merged.version) == (("peri", "PUCX"), 2)
    assert expansions(glossary.look_up(OSCAR, ["pucx"])["pucx"]) == ["Peripheral Under Cell"]
    assert glossary.history(OSCAR, sense_id=sense.id)[0].kind == "merge"


def test_a_dismissed_proposal_stays_dismissed(glossary):
    number = glossary.propose("mined", "XQZ", "noise", context="NAND", evidence=[("p1", "q")]).id
    for who in (OSCAR, LEO):
        with pytest.raises(NotAllowed):
            glossary.dismiss(who, number)
    glossary.dismiss(NINA, number, "noise")
    again = glossary.propose("mined", "XQZ", "Noise", evidence=[("p2", "q")])
    assert (again.id, again.status, again.evidence, again.why) == (number, "dismissed", (("p1", "q"),), "noise")
    assert [one.id for one in glossary.proposals(OSCAR, status="dismissed", term="xqz")] == [number]
    assert glossary.proposals(OSCAR, status=None) == [again]


def test_evidence_is_shown_to_those_who_may_read_its_document(glossary):
    glossary.propose("mined", "XQZ", "zone", description="hidden", evidence=[("p1", "secret")], audience=SECRET)
    assert glossary.proposals(OSCAR) == []
    glossary.propose("mined", "XQZ", "zone", evidence=[("p2", "public")])
    (seen,) = glossary.proposals(OSCAR)
    assert (seen.evidence, seen.description) == ((("p2", "public"),), "")
    assert len(glossary.proposals(EVE)[0].evidence) == 2
    guarded = glossary.propose("mined", "ABX", "zone", context="NAND", evidence=[("p1", "secret")], audience=SECRET)
    assert glossary.accept(EVE, guarded.id).audience == SECRET


def test_a_proposal_needs_what_a_sense_needs(glossary):
    number = glossary.propose("person", "XQZ", created_by="oscar").id
    for edits in ({}, {"context": "NAND"}, {"expansion": "zone"}):
        with pytest.raises(InvalidInput):
            glossary.accept(NINA, number, **edits)
    with pytest.raises(NotAllowed):
        glossary.accept(NINA, number, context="Legal", expansion="zone")
    assert glossary.accept(NINA, number, context="NAND", expansion="zone", status="approved").status == "approved"
    for bad in (("mined", " ", "x"), ("rumour", "XQZ", "x"), ("mined", "XQZ\ud800", "x")):
        with pytest.raises(InvalidInput):
            glossary.propose(*bad)


# -- misses and use -------------------------------------------------------------------------------------------------


def test_a_manager_sees_what_is_missed_and_how_often_but_questions_only_if_shared(glossary):
    glossary.record_miss("XQZ", "oscar", "private?", "t1")
    glossary.record_miss("XQZ", "olga", "for all?", "t2", shared=True)
    (miss,) = glossary.misses(NINA)
    assert (miss.count, miss.questions) == (2, ("for all?",))
    assert glossary.misses(ADMIN)[0].questions == ("for all?", "private?")
    assert glossary.misses(OSCAR)[0].questions == ("private?",)
    glossary.record_miss("XQZ", "oscar", "private?", "t1", shared=True)
    assert glossary.misses(NINA)[0].count == 2
    assert "private?" in glossary.misses(NINA)[0].questions


def test_a_dismissed_miss_is_counted_but_stays_dismissed(glossary):
    glossary.record_miss("XQZ", "oscar", "one?", "t1")
    with pytest.raises(NotAllowed):
        glossary.dismiss_miss(OSCAR, "XQZ")
    with pytest.raises(NotFound):
        glossary.dismiss_miss(NINA, "OTHER")
    glossary.dismiss_miss(NINA, "xqz", "a typing error")
    glossary.record_miss("XQZ", "oscar", "two?", "t1")
    assert glossary.misses(NINA) == []
    (miss,) = glossary.misses(NINA, status="dismissed")
    assert (miss.count, miss.status) == (2, "dismissed")


def test_a_miss_is_defined_by_an_approved_term_or_alias_and_its_askers_are_told_once(glossary):
    glossary.record_miss("XQZ", "oscar", "one?", "t1")
    glossary.record_miss("XQZs", "olga", "many?", "t2")
    draft = glossary.draft(NINA, "EQZ", "NAND", "extra quick zone", aliases=["XQZ"])
    assert [miss.status for miss in glossary.misses(ADMIN)] == ["open", "open"]
    glossary.approve(NINA, draft.id, 1)
    assert glossary.misses(ADMIN) == []
    assert {miss.term for miss in glossary.misses(ADMIN, status="defined")} == {"XQZ", "XQZs"}
    assert glossary.askers_of("XQZ") == [("oscar", "t1", "one?"), ("olga", "t2", "many?")]
    glossary.mark_told("XQZ", "t1")
    assert glossary.askers_of("xqz") == [("olga", "t2", "many?")]


def test_use_and_misses_are_counted_by_iso_week_in_utc(glossary):
    one = glossary.add_sense("PUC", "NAND", "Peripheral Under Cell").id
    two = glossary.add_sense("WLX", "NAND", "word line").id
    new_year = datetime(2027, 1, 1, 12, tzinfo=UTC)
    glossary.record_use([one, two, one, 999], new_year)
    glossary.record_use([one], new_year)
    glossary.record_use([one], datetime(2027, 1, 4))
    glossary.record_use([])
    assert [(use.week, use.term, use.count) for use in glossary.uses_by_week(OSCAR)] == [
        ("2026-W53", "PUC", 3), ("2026-W53", "WLX", 1), ("2027-W01", "PUC", 1),
    ]  # fmt: skip
    assert [use.count for use in glossary.uses_by_week(OSCAR, "wlx")] == [1]
    glossary.record_miss("XQZ", "oscar", "one?", "t1")
    glossary.record_miss("XQZ", "olga", "two?", "t2")
    assert [(week.term, week.count) for week in glossary.misses_by_week(NINA)] == [("XQZ", 2)]
    assert [week.count for week in glossary.misses_by_week(OSCAR)] == [1]
    assert glossary.misses_by_week(LEO) == glossary.misses_by_week(ADMIN)


# -- whatever is done -----------------------------------------------------------------------------------------------


class Governed(RuleBasedStateMachine):
    """Whatever managers do, in any order: history replays to what is stored, and every sense is found by the index."""

    numbers = Bundle("numbers")
    few = st.sampled_from

    def __init__(self):
        super().__init__()
        import tempfile
        from pathlib import Path

        self.folder = tempfile.TemporaryDirectory()
        self.glossary = Glossary.open(Path(self.folder.name) / "glossary.db")

    def teardown(self):
        self.glossary.close()
        self.folder.cleanup()

    def attempt(self, act, *args, **kwargs):
        try:
            return act(*args, **kwargs)
        except (Conflict, NotFound):
            return None

    @rule(target=numbers, term=few("ABC"), context=few("xy"), expansion=few("12"))
    def draft(self, term, context, expansion):
        sense = self.attempt(self.glossary.draft, MONA, term, context, expansion)
        return sense.id if sense else 1

    @rule(number=numbers, version=few([1, 2, 3, None]), term=few(["A", "B", None]), notes=few([None, "n"]))
    def save(self, number, version, term, notes):
        known = self.attempt(self.glossary.sense, ADMIN, number)
        seen = known.version if known and version is None else version or 1
        before = known and asdict(known)
        saved = self.attempt(self.glossary.save_sense, MONA, number, version=seen, term=term, notes=notes)
        if saved is None and known:
            assert asdict(self.glossary.sense(ADMIN, number)) == before

    @rule(number=consumes(numbers), approve=st.booleans())
    def decide(self, number, approve):
        known = self.attempt(self.glossary.sense, ADMIN, number)
        if known:
            self.attempt(self.glossary.approve if approve else self.glossary.retire, MONA, number, known.version, "why")

    @rule(rows=st.lists(st.tuples(few("ABC"), few("xyz"), few("123")), max_size=3))
    def take_in(self, rows):
        self.glossary.import_senses([SenseInput(*row, notes="imported") for row in rows], "some.csv", by=MONA)

    @rule(back=st.integers(0, 3), force=st.booleans())
    def roll_back(self, back, force):
        changes = self.glossary.changes(ADMIN)
        if len(changes) > back:
            self.attempt(self.glossary.roll_back, MONA, changes[back].id, force=force)

    @rule(term=few("ABC"), moment=st.integers(0, 6))
    def roll_term_back(self, term, moment):
        self.attempt(self.glossary.roll_back, MONA, term=term, moment=moment)

    @invariant()
    def history_replays_to_the_present(self):
        senses, contexts = {}, {}
        for entry in reversed(self.glossary.history(ADMIN, limit=None)):
            rows, row = (contexts, entry.context) if entry.sense_id is None else (senses, entry.sense_id)
            assert rows.get(row) == entry.before
            rows[row] = entry.after
        stored = {sense.id: snapshot_of_sense(sense) for sense in self.glossary.senses(ADMIN)}
        assert {row: kept for row, kept in senses.items() if kept} == stored
        assert {name for name, kept in contexts.items() if kept} == {one.name for one in self.glossary.contexts(ADMIN)}

    @invariant()
    def the_index_holds_what_is_stored(self):
        stored = sorted((sense.id, sense.term.casefold()) for sense in self.glossary.senses(ADMIN))
        rows = self.glossary._connections.reader().execute("SELECT rowid, term FROM sense_search ORDER BY rowid")
        assert rows.fetchall() == stored


TestGoverned = Governed.TestCase
TestGoverned.settings = settings(max_examples=25, stateful_step_count=15, deadline=None)


def test_an_error_carries_its_conflict_over_the_wire():
    from argot.service.transport.wire_format import decode, encode, error_event, error_of

    error = error_of(decode(encode(error_event(Conflict("changed", changes=(1,))))))
    assert isinstance(error, Conflict)
    assert isinstance(error, ArgotError)
    assert (str(error), error.current, error.changes) == ("changed", None, ())
    assert json.dumps(str(error))


def test_of_two_who_save_one_context_the_second_loses_nothing(glossary):
    fab = glossary.add_context("Fab", "wafers", "fab@x")
    saved = glossary.save_context(MONA, fab.id, version=fab.version, description="", audience=frozenset({"managers"}))
    assert (saved.description, saved.contact, saved.version) == ("", "fab@x", 2)
    assert glossary.context(MONA, fab.id) == saved
    with pytest.raises(Conflict, match="saved by somebody else") as caught:
        glossary.save_context(MONA, fab.id, version=fab.version, description="mine")
    assert caught.value.current == saved
    assert glossary.save_context(MONA, fab.id, version=2, description="") == saved  # nothing new is no save
    with pytest.raises(NotFound):
        glossary.save_context(NINA, fab.id, version=2, description="mine")  # hidden from her, and no hint of it
    with pytest.raises(NotFound):
        glossary.save_context(MONA, 999, version=1)
    with pytest.raises(Conflict, match="already"):
        glossary.add_context("fab", "another", new=True, by=MONA)
    kinds = [(one.kind, one.who) for one in glossary.history(MONA, context_id=fab.id)]
    assert kinds == [("context", "mona"), ("context", "argot")]


def test_an_import_counts_as_a_save_of_a_context(glossary):
    fab = glossary.add_context("Fab", "wafers")
    glossary.import_file(None, b'{"contexts": [{"name": "fab", "contact": "fab@x"}], "senses": []}', "x.json")
    with pytest.raises(Conflict):
        glossary.save_context(MONA, fab.id, version=fab.version, description="mine")
    assert glossary.context(MONA, fab.id).contact == "fab@x"


def test_no_context_is_called_as_every_context_is_where_rights_are_named(glossary):
    """Who manages "*" manages all: a context of this name would give that away unseen."""
    for make in (
        lambda: glossary.add_context("*", by=MONA),
        lambda: glossary.add_context(" * ", new=True),
        lambda: glossary.add_sense("A", "*", "alpha"),
        lambda: glossary.draft(MONA, "A", "*", "alpha"),
        lambda: glossary.import_csv("term,context,expansion\nA,*,alpha\n"),
        lambda: glossary.import_file(None, b'{"contexts": [{"name": "*", "contact": "x"}], "senses": []}', "x.json"),
    ):
        with pytest.raises(InvalidInput, match="context"):
            make()
    assert "*" not in [one.name for one in glossary.contexts(ADMIN)]
