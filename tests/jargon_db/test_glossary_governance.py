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

import psycopg
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule, run_state_machine_as_test

from argot.errors import ArgotError, Conflict, InvalidInput, NotAllowed, NotFound
from argot.jargon_db import Glossary, ReadOptions, SenseInput
from argot.jargon_db.formats.format_registry import FORMATS
from argot.jargon_db.store.schema import MIGRATIONS, NAMES
from argot.jargon_db.store.snapshots import record_sense
from argot.service.identity import people
from argot.sqlite import open_database
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
def glossary(glossaries):
    glossary = glossaries.open()
    glossary.contexts.add("NAND")
    glossary.contexts.add("Legal")
    return glossary


def expansions(senses):
    return [sense.expansion for sense in senses]


# -- drafts, approval, retirement -----------------------------------------------------------------------------------


def test_only_an_approved_sense_is_found_by_lookup(glossary):
    draft = glossary.senses.draft(
        NINA, "PUC", "nand", "Peripheral Under Cell", aliases=["P.U.C."], review_by="2027-01-31"
    )
    assert (draft.status, draft.owner, draft.context, draft.version, draft.review_by) == (
        "draft", "nina", "NAND", 1, "2027-01-31",
    )  # fmt: skip
    assert glossary.lookup.senses(OSCAR, ["PUC"])["PUC"] == []
    approved = glossary.senses.approve(NINA, draft.id, draft.version)
    assert approved == replace(draft, status="approved", version=2)
    assert glossary.lookup.senses(OSCAR, ["PUC"])["PUC"] == [approved]
    retired = glossary.senses.retire(NINA, draft.id, approved.version, "no longer built")
    assert glossary.lookup.senses(OSCAR, ["PUC"])["PUC"] == []
    assert glossary.senses.approve(NINA, draft.id, retired.version).version == 4
    assert [entry.kind for entry in glossary.history.entries(OSCAR, term="puc")] == [
        "approve",
        "retire",
        "approve",
        "draft",
    ]


def test_saving_an_unchanged_sense_records_no_change(glossary):
    sense = glossary.senses.draft(NINA, "PUC", "NAND", "Peripheral Under Cell")
    before = glossary.history.changes(ADMIN), glossary.version()
    assert glossary.senses.save(NINA, sense.id, version=1, term="PUC", context="nand", review_by="") == sense
    assert glossary.senses.approve(NINA, glossary.senses.approve(NINA, sense.id, 1).id, 2).version == 2
    assert len(glossary.history.changes(ADMIN)) == len(before[0]) + 1
    assert glossary.version() == before[1] + 1


def test_a_draft_of_an_existing_sense_is_a_conflict_that_returns_it(glossary):
    there = glossary.senses.add("PUC", "NAND", "Peripheral Under Cell")
    with pytest.raises(Conflict, match="already means") as refused:
        glossary.senses.draft(NINA, "PUC", "NAND", "Peripheral Under Cell", "other words")
    assert refused.value.current == there
    assert glossary.senses.find(ADMIN) == [there]


def test_approving_a_second_meaning_in_one_context_needs_a_reason(glossary):
    """Check number 22 of the scorecard: a conflict needs approval."""
    glossary.senses.add("PUC", "NAND", "Peripheral Under Cell")
    second = glossary.senses.draft(NINA, "puc", "NAND", "Power Up Control")
    with pytest.raises(Conflict, match="'Peripheral Under Cell' in 'NAND' already") as refused:
        glossary.senses.approve(NINA, second.id, second.version)
    assert refused.value.current.expansion == "Peripheral Under Cell"
    assert glossary.senses.approve(NINA, second.id, second.version, "both are used").status == "approved"
    elsewhere = glossary.senses.draft(LEO, "PUC", "Legal", "Public Utilities Commission")
    assert glossary.senses.approve(LEO, elsewhere.id, elsewhere.version).status == "approved"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"term": " \u200b"}, "term is empty"),
        ({"expansion": ""}, "'PUC' has neither an expansion nor a description"),
        ({"review_by": "soon"}, "invalid date 'soon'"),
        ({"review_by": "20270131"}, "invalid date"),
        ({"description": "\ud800"}, "surrogate"),
        ({"aliases": ["\udfff"]}, "surrogate"),
        ({"aliases": ["a" * 201]}, "201 characters"),
        ({"why": "\ud800"}, "reason"),
    ],
)
def test_an_invalid_change_is_refused_with_the_reason(glossary, changes, message):
    sense = glossary.senses.add("PUC", "NAND", "Peripheral Under Cell")
    with pytest.raises(InvalidInput, match=message):
        glossary.senses.save(NINA, sense.id, version=1, **changes)
    assert glossary.senses.find(ADMIN) == [sense]


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
def test_any_text_is_stored_as_typed_by_every_operation(glossary, text):
    """Check number 21 of the scorecard."""
    long = text + "x" * 10_000
    sense = glossary.senses.draft(EVE, text, text, text, long, notes=text, aliases=[text + "2"], why=text)
    assert (sense.term, sense.context, sense.expansion, sense.description) == (text, text, text, long)
    saved = glossary.senses.save(EVE, sense.id, version=1, notes=f"{text}\0", why=text)
    entry = glossary.history.entries(ADMIN, term=text)[0]
    assert (entry.term, entry.why, entry.before["notes"], entry.after["notes"]) == (text, text, text, f"{text}\0")
    assert glossary.search.find(EVE, text) == [saved]
    assert [warning.kind for warning in glossary.conflicts.open(ADMIN)] == ["expansion_is_term"]
    glossary.history.roll_back(EVE, term=text, moment=entry.change - 1)
    assert glossary.senses.get(ADMIN, sense.id) == replace(sense, version=3)


# -- two at once ----------------------------------------------------------------------------------------------------


def test_the_second_of_two_saves_gets_the_stored_version_as_a_conflict(glossary):
    seen = glossary.senses.add("PUC", "NAND", "Peripheral Under Cell")
    first = glossary.senses.save(NINA, seen.id, version=seen.version, description="by nina")
    with pytest.raises(Conflict, match="saw version 1, it is at 2") as refused:
        glossary.senses.save(MONA, seen.id, version=seen.version, notes="by mona")
    assert refused.value.current == first
    glossary.senses.save(MONA, seen.id, version=refused.value.current.version, notes="by mona")
    assert (glossary.senses.get(ADMIN, seen.id).description, glossary.senses.get(ADMIN, seen.id).notes) == (
        "by nina",
        "by mona",
    )
    for act in (glossary.senses.approve, glossary.senses.retire):
        with pytest.raises(Conflict):
            act(MONA, seen.id, 1)


def test_no_change_of_eight_concurrent_managers_is_lost(glossary):
    """Check number 19 of the scorecard."""
    sense = glossary.senses.add("PUC", "NAND", "Peripheral Under Cell")
    failures = []

    def save(number):
        try:
            for turn in range(6):
                current = glossary.senses.get(NINA, sense.id)
                while True:
                    try:
                        added = (*current.aliases, f"P-{number}-{turn}")
                        glossary.senses.save(NINA, sense.id, version=current.version, aliases=added)
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
    saved = glossary.senses.get(ADMIN, sense.id)
    assert set(saved.aliases) == {f"P-{number}-{turn}" for number in range(8) for turn in range(6)}
    assert saved.version == 49
    assert len(glossary.history.entries(ADMIN, sense_id=sense.id)) == 49


# -- who may --------------------------------------------------------------------------------------------------------


def test_the_managers_group_is_the_same_in_glossary_and_service():
    assert MANAGERS == people.MANAGERS
    assert MONA.may_manage("anything")
    assert MONA.is_manager
    assert not NINA.may_manage("Legal")
    assert not OSCAR.is_manager


def test_managers_of_a_context_write_in_that_context_alone(glossary):
    sense = glossary.senses.add("PUC", "NAND", "Peripheral Under Cell", by=NINA)
    other = glossary.senses.add("PUC", "Legal", "Public Utilities Commission", by=LEO)
    glossary.contexts.add("nand", "flash", by=NINA)
    glossary.contexts.add("Hidden", audience=SECRET)
    before = glossary.senses.find(ADMIN), glossary.contexts.all(ADMIN), glossary.history.changes(ADMIN)
    csv = "term,context,expansion\nOK,NAND,fine\nNO,Legal,not mine\n"
    refusals = [
        lambda: glossary.senses.draft(NINA, "X", "Legal", "y"),
        lambda: glossary.senses.draft(NINA, "X", "New", "y"),
        lambda: glossary.senses.draft(NINA, "X", "Hidden", "y"),
        lambda: glossary.senses.draft(OSCAR, "X", "NAND", "y"),
        lambda: glossary.senses.add("X", "Legal", "y", by=NINA),
        lambda: glossary.senses.save(NINA, other.id, version=1, notes="x"),
        lambda: glossary.senses.save(NINA, other.id, version=1),
        lambda: glossary.senses.save(NINA, sense.id, version=1, context="Legal"),
        lambda: glossary.senses.save(LEO, sense.id, version=1, context="Legal"),
        lambda: glossary.senses.approve(NINA, other.id, 1),
        lambda: glossary.senses.retire(OSCAR, sense.id, 1),
        lambda: glossary.contexts.add("Legal", "mine now", by=NINA),
        lambda: glossary.contexts.add("New", by=NINA),
        lambda: glossary.files.import_csv(csv, by=NINA),
        lambda: glossary.history.roll_back(NINA, term="PUC", moment=0),
    ]
    for refused in refusals:
        with pytest.raises(NotAllowed):
            refused()
    assert (glossary.senses.find(ADMIN), glossary.contexts.all(ADMIN), glossary.history.changes(ADMIN)) == before
    glossary.files.import_csv("term,context,expansion\nOK,NAND,fine\n", by=NINA)
    assert glossary.senses.draft(EVE, "X", "New", "y").context == "New"


def test_drafts_are_for_the_managers_of_their_context_and_their_owner(glossary):
    draft = glossary.senses.draft(NINA, "PUX", "NAND", "paired under cross")
    retired = glossary.senses.add("PUX", "NAND", "former meaning", status="retired")
    glossary.senses.add("PUX", "NAND", "approved meaning")
    former = Principal("nina")
    for who, expected in ((NINA, 3), (MONA, 3), (EVE, 3), (ADMIN, 3), (former, 2), (LEO, 1), (OSCAR, 1)):
        assert len(glossary.senses.find(who)) == expected
        assert len(glossary.senses.find(who, limit=10, start=1)) == expected - 1
        assert len(glossary.search.find(who, "pux")) == expected
        # In the database, so that drafts take no place among the first.
        assert glossary.search.find(who, "pux", 1)
        assert len(glossary.search.find(who, "meaning")) == (2 if expected == 3 else 1)
        for format_ in FORMATS:
            exported = glossary.files.export_file(who, format_.name)
            if isinstance(exported, str):
                assert ("paired under cross" in exported, "former meaning" in exported) == (expected > 1, expected > 2)
        assert ("paired under cross" in glossary.files.export_csv(who)) == (expected > 1)
    for one in (draft, retired):
        with pytest.raises(NotFound):
            glossary.senses.get(OSCAR, one.id)
        with pytest.raises(NotFound):
            glossary.senses.approve(LEO, one.id, one.version)
    # Conflicts are kept for those who may read as much.
    kinds = [len(glossary.conflicts.open(who)) for who in (NINA, LEO, NINA)]
    assert kinds == [1, 0, 1]


def test_a_manager_of_a_context_imports_an_export_of_everything(glossary):
    glossary.contexts.add("NAND", "flash")
    glossary.contexts.add("Legal", "courts", "legal@example.org")
    glossary.senses.add("PUC", "NAND", "peripheral under cell", aliases=["P.U.C."])
    glossary.senses.add("PUC", "Legal", "Public Utilities Commission", "A regulator.", owner="leo")
    glossary.senses.draft(LEO, "PUD", "Legal", "draft of a term")
    for format_ in FORMATS:
        exported = glossary.files.export_file(NINA, format_.name)
        data = exported.encode() if isinstance(exported, str) else exported
        name = f"all{format_.suffixes[0]}"
        assert glossary.files.preview(NINA, data, name).problems == ()
        done = glossary.files.import_file(NINA, data, name)
        assert (done.added, done.updated, done.unchanged, done.change) == (0, 0, 2, None), format_.name
    assert glossary.files.import_csv(glossary.files.export_csv(NINA), by=NINA).unchanged == 2


def test_changed_rows_of_foreign_contexts_are_refused_each_with_its_reason(glossary):
    glossary.contexts.add("Legal", "courts")
    glossary.senses.add("PUC", "NAND", "peripheral under cell")
    glossary.senses.add("PUC", "Legal", "Public Utilities Commission", "A regulator.")
    glossary.senses.draft(LEO, "PUD", "Legal", "draft of a term")
    head, *rows = glossary.files.export_csv(ADMIN).splitlines()
    changed = [row.replace("A regulator.", "Changed.").replace("peripheral under", "periphery below") for row in rows]
    data = "\n".join([head, *changed, "NEW,Legal,new term,,,,,"]).encode()
    with pytest.raises(NotAllowed) as refused:
        glossary.files.import_file(NINA, data, "all.csv")
    assert str(refused.value).count("does not manage a context 'Legal'") == 3
    assert "row 5" in str(refused.value)
    seen = glossary.files.preview(NINA, data, "all.csv")
    assert (len(seen.added), seen.unchanged, len(seen.rejected)) == (1, 0, 3)
    done = glossary.files.import_file(NINA, data, "all.csv", options=ReadOptions(partial=True))
    assert (done.added, done.left_out) == (1, 3)
    # A foreign draft is refused like a term that is missing, and like any other row of the context.
    reasons = {line.rsplit(",", 1)[1] for line in done.rest.splitlines()[1:]}
    assert len(reasons) == 1
    with pytest.raises(NotAllowed, match="context 'Legal'"):
        glossary.files.import_file(NINA, b'{"senses": [], "contexts": [{"name": "Legal", "contact": "me"}]}', "c.json")


def test_hidden_missing_and_foreign_contexts_give_the_same_error(glossary):
    glossary.contexts.add("Hidden", audience=SECRET)
    told = set()
    for name in ("Hidden", "Legal", "Absent"):
        with pytest.raises(NotAllowed) as refused:
            glossary.senses.draft(NINA, "X", name, "y")
        told.add(str(refused.value).replace(name, "…"))
    assert len(told) == 1


@pytest.mark.parametrize("guard", ["sense", "context"])
def test_unreadable_content_appears_in_no_list(glossary, guard):
    if guard == "context":
        glossary.contexts.add("Hidden", audience=SECRET)
    where = "Hidden" if guard == "context" else "NAND"
    audience = SECRET if guard == "sense" else frozenset()
    secret = glossary.senses.add(
        "ZEBRAX", where, "zonal erase", "quagga", aliases=["STRIPEQ"], audience=audience, by=EVE
    )
    # Before the sense is changed, since the change marks earlier misses as defined.
    glossary.misses.record("ZEBRAX", "oscar", "ZEBRAX?", "t")
    glossary.senses.save(EVE, secret.id, version=1, notes="okapi", why="okapi")
    glossary.usage.record([secret.id])
    glossary.proposals.add(
        "mined", "OKAPIX", "zonal okapi", context=where, evidence=[("p1", "quagga")], audience=SECRET
    )
    given = SenseInput("ZEBRAX", where, "zonal erase", aliases=("STRIPEQ",))
    for who in (OSCAR, MONA, LEO):
        seen = [
            glossary.search.find(who, "z"), glossary.search.find(who, "stripeq"), glossary.search.find(who, "quagga"),
            glossary.history.entries(who), glossary.history.entries(who, term="ZEBRAX"),
            glossary.history.entries(who, sense_id=secret.id),
            glossary.conflicts.open(who), glossary.proposals.find(who), glossary.usage.by_week(who),
            [change for change in glossary.history.changes(who) if "okapi" in change.why or change.who == "eve"],
            glossary.conflicts.warnings(who, given),
        ]  # fmt: skip
        if guard == "sense":
            seen[3] = [entry for entry in seen[3] if entry.sense_id is not None]
        assert "zebrax" not in str(seen).casefold(), who
        assert not any(seen[:3])
        assert not any(seen[4:])
        for act in (
            lambda: glossary.senses.save(who, secret.id, version=2, notes="x"),  # noqa: B023
            lambda: glossary.senses.approve(who, secret.id, 2),  # noqa: B023
            lambda: glossary.history.roll_back(who, term="ZEBRAX", moment=0),  # noqa: B023
            lambda: glossary.proposals.accept(who, 1),  # noqa: B023
            lambda: glossary.proposals.merge(who, 1, secret.id),  # noqa: B023
            lambda: glossary.proposals.dismiss(who, 1),  # noqa: B023
        ):
            with pytest.raises(NotFound):
                act()
    assert [miss.status for miss in glossary.misses.open(OSCAR)] == ["open"]
    assert [miss.status for miss in glossary.misses.find(EVE)] == ["defined"]
    assert glossary.search.find(EVE, "quag") != []
    assert len(glossary.history.entries(EVE, term="ZEBRAX")) == 2
    assert glossary.proposals.find(EVE)[0].evidence == (("p1", "quagga"),)
    assert glossary.usage.by_week(EVE)[0].count == 1


def test_a_history_entry_needs_both_its_past_and_present_rights(glossary):
    sense = glossary.senses.add("PUC", "NAND", "was secret", audience=SECRET)
    opened = glossary.senses.save(EVE, sense.id, version=1, expansion="open", audience=frozenset())
    assert glossary.history.entries(OSCAR, sense_id=sense.id) == []
    glossary.senses.save(EVE, sense.id, version=opened.version, notes="later")
    assert [entry.after["notes"] for entry in glossary.history.entries(OSCAR, sense_id=sense.id)] == ["later"]
    glossary.contexts.add("NAND", audience=SECRET)
    assert glossary.history.entries(OSCAR, sense_id=sense.id) == []
    assert len(glossary.history.entries(EVE, sense_id=sense.id)) == 3


def test_a_change_counts_only_the_readable_rows(glossary):
    glossary.contexts.add("Hidden", audience=SECRET)
    csv = "term,context,expansion\nA,NAND,a\nB,Hidden,b\nC,Hidden,c\n"
    number = glossary.files.import_csv(csv, "terms.csv", by=EVE).change
    assert [(one.id, one.name, one.kind, one.rows) for one in glossary.history.changes(ADMIN, limit=1)] == [
        (number, "terms.csv", "import", 3)
    ]
    assert glossary.history.changes(OSCAR, limit=1)[0].rows == 1
    with pytest.raises(NotAllowed):
        glossary.history.roll_back(MONA, number)
    assert len(glossary.senses.find(ADMIN)) == 3


# -- history --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", ["history", "changes"])
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE {table} SET id = id",
        "DELETE FROM {table}",
        "INSERT OR REPLACE INTO {table} SELECT * FROM {table}",
        "INSERT INTO {table} SELECT * FROM {table} WHERE 1 = 1 ON CONFLICT (id) DO UPDATE SET id = excluded.id",
        "TRUNCATE {table} CASCADE",
    ],
)
def test_history_cannot_be_rewritten(glossaries, glossary, table, statement):
    """Check number 22 of the scorecard: append-only."""
    if {"INSERT OR": "postgresql", "TRUNCATE ": "sqlite"}.get(statement[:9]) == glossaries.engine:
        pytest.skip("it has no such statement")
    glossary.senses.add("PUC", "NAND", "Peripheral Under Cell")
    before = glossary.history.entries(ADMIN)
    refused = pytest.raises((sqlite3.IntegrityError, psycopg.IntegrityError), match="append-only")
    with refused, glossary._connections.writing() as connection:
        connection.execute(statement.format(table=table))
    assert glossary.history.entries(ADMIN) == before


def test_history_records_who_what_when_and_why(glossary):
    """Check number 22 of the scorecard."""
    sense = glossary.senses.draft(NINA, "PUC", "NAND", "Peripheral Under Cell", why="asked for")
    glossary.senses.save(MONA, sense.id, version=1, term="PUCX", why="renamed")
    glossary.files.import_csv(
        "term,context,expansion,notes\nPUCX,NAND,Peripheral Under Cell,n\n", "t.csv", by=MONA, why="sync"
    )
    last, renamed, first = glossary.history.entries(OSCAR, term="puc")
    assert (first.who, first.why, first.kind, first.before) == ("nina", "asked for", "draft", None)
    assert (renamed.before["term"], renamed.after["term"], renamed.who, renamed.term) == ("PUC", "PUCX", "mona", "PUCX")
    assert (last.kind, last.why, last.after["notes"]) == ("import", "sync", "n")
    assert glossary.history.entries(OSCAR, term="PUCX") == [last, renamed, first]
    assert glossary.history.entries(OSCAR, limit=1) == [last]
    assert datetime.fromisoformat(first.at).tzinfo == UTC


def test_senses_older_than_the_history_get_a_baseline_entry(path):
    connection = open_database(path, MIGRATIONS[:1], NAMES)
    connection.execute("INSERT INTO contexts (name, key) VALUES ('NAND', 'nand')")
    connection.execute("INSERT INTO terms (spelling, key) VALUES ('PUC', 'puc')")
    connection.execute(
        "INSERT INTO senses (term, context, expansion, description, notes, owner, status, audience, created, updated)"
        " VALUES (1, 1, 'Peripheral Under Cell', '', '', '', 'approved', '[]', '', '')"
    )
    connection.execute("INSERT INTO aliases (sense, place, spelling, key) VALUES (1, 0, 'P.U.C.', 'p.u.c.')")
    connection.close()
    glossary = Glossary.open(path)
    (sense,) = glossary.search.find(OSCAR, "periph")
    assert sense.aliases == ("P.U.C.",)
    assert [(entry.kind, entry.after) for entry in glossary.history.entries(OSCAR, sense_id=1)] == [
        ("baseline", record_sense(sense))
    ]
    glossary.close()


KILLED = """
import itertools, os, signal, sys
from pathlib import Path
from argot.jargon_db import Glossary, ReadOptions, SenseInput
from argot.jargon_db.formats.format_registry import FORMATS
from argot.postgresql.stores import PostgresqlStores

def senses():
    for number in itertools.count():
        if number == int(sys.argv[2]):
            os.kill(os.getpid(), signal.SIGKILL)
        yield SenseInput(f"T{number}", f"context {number % 7}", f"meaning {number}", aliases=(f"A{number}",))

where = sys.argv[1]
stores = PostgresqlStores(*where.split("#")) if "#" in where else None
glossary = Glossary.on(stores) if stores else Glossary.open(Path(where))
glossary.files.import_senses(senses(), "killed.csv")
"""


@pytest.mark.parametrize("rows", [1, 2_500, 9_000])
def test_a_killed_import_leaves_no_row(glossaries, path, rows):
    """Check number 20 of the scorecard, by `kill -9`."""
    glossary = glossaries.open()
    where = f"{glossaries.server.url}#{glossaries.server.schema('glossary')}" if glossaries.server else str(path)
    done = subprocess.run([sys.executable, "-c", KILLED, where, str(rows)], check=False, env=os.environ)
    assert done.returncode == -signal.SIGKILL
    assert (glossary.senses.find(ADMIN), glossary.contexts.all(ADMIN), glossary.history.changes(ADMIN)) == ([], [], [])
    for table in ("terms", "aliases", "history", "sense_search"):
        assert glossaries.rows(glossary, table) == 0


# -- roll back ------------------------------------------------------------------------------------------------------

IMPORT = "term,context,expansion,notes\nPUC,NAND,Peripheral Under Cell,changed\nNEW,Fresh,made by the import,\n"


def test_an_import_and_its_roll_back_can_be_rolled_back(glossary):
    """Check number 22 of the scorecard: roll back works."""
    glossary.senses.add("PUC", "NAND", "Peripheral Under Cell", notes="first", aliases=["P.U.C."])
    before = [replace(sense, version=0) for sense in glossary.senses.find(ADMIN)], glossary.contexts.all(ADMIN)
    number = glossary.files.import_csv(IMPORT, "terms.csv", by=EVE).change
    after = [replace(sense, version=0) for sense in glossary.senses.find(ADMIN)]
    undone = glossary.history.roll_back(MONA, number)
    assert (
        [replace(sense, version=0) for sense in glossary.senses.find(ADMIN)],
        glossary.contexts.all(ADMIN),
    ) == before
    assert (undone.kind, undone.undoes, undone.who, undone.rows) == ("roll back", number, "mona", 3)
    assert glossary.search.find(OSCAR, "import") == []
    assert glossary.lookup.senses(OSCAR, ["NEW"])["NEW"] == []
    assert [one.undone_by for one in glossary.history.changes(ADMIN) if one.id == number] == [undone.id]
    glossary.history.roll_back(MONA, undone.id)
    assert [replace(sense, version=0) for sense in glossary.senses.find(ADMIN)] == after
    assert expansions(glossary.search.find(OSCAR, "import")) == ["made by the import"]


def test_a_change_with_later_edits_is_rolled_back_only_by_force(glossary):
    number = glossary.files.import_csv(IMPORT, by=EVE).change
    (sense,) = glossary.senses.find(ADMIN, query="PUC")
    glossary.senses.save(NINA, sense.id, version=sense.version, notes="by hand")
    state = glossary.senses.find(ADMIN), glossary.contexts.all(ADMIN)
    with pytest.raises(Conflict, match=r"'PUC' in 'NAND' by nina \(change 4") as refused:
        glossary.history.roll_back(MONA, number)
    assert refused.value.changes == (4,)
    assert (glossary.senses.find(ADMIN), glossary.contexts.all(ADMIN)) == state
    forced = glossary.history.roll_back(MONA, number, force=True)
    assert glossary.senses.find(ADMIN) == []
    glossary.history.roll_back(MONA, forced.id)
    assert glossary.senses.get(ADMIN, sense.id).notes == "by hand"
    with pytest.raises(Conflict):
        glossary.history.roll_back(MONA, forced.id)


def test_rolling_back_keeps_a_context_that_others_use(glossary):
    number = glossary.files.import_csv(IMPORT, by=EVE).change
    glossary.senses.draft(MONA, "OTHER", "Fresh", "put there since")
    glossary.history.roll_back(MONA, number)
    assert [context.name for context in glossary.contexts.all(ADMIN)] == ["Fresh", "Legal", "NAND"]
    assert expansions(glossary.senses.find(ADMIN)) == ["put there since"]


def test_a_term_is_rolled_back_to_a_moment(glossary):
    first = glossary.senses.draft(NINA, "PUC", "NAND", "Peripheral Under Cell")
    moment = glossary.history.changes(ADMIN)[0].id
    glossary.senses.approve(NINA, first.id, 1)
    glossary.senses.draft(LEO, "PUC", "Legal", "Public Utilities Commission")
    glossary.senses.draft(LEO, "OTHER", "Legal", "left alone")
    glossary.history.roll_back(MONA, term="puc", moment=moment)
    assert [(s.term, s.status) for s in glossary.senses.find(ADMIN)] == [("OTHER", "draft"), ("PUC", "draft")]
    with pytest.raises(Conflict, match="nothing to roll back"):
        glossary.history.roll_back(MONA, term="PUC", moment=moment)
    glossary.history.roll_back(MONA, term="PUC", moment="2001-01-01")
    assert [s.term for s in glossary.senses.find(ADMIN)] == ["OTHER"]
    for bad in ({"term": "PUC"}, {"term": "PUC", "moment": "yesterday"}, {}, {"change": 1, "term": "PUC"}):
        with pytest.raises(InvalidInput):
            glossary.history.roll_back(MONA, **bad)
    with pytest.raises(NotFound):
        glossary.history.roll_back(MONA, term="NOBODY", moment=1)
    with pytest.raises(NotFound):
        glossary.history.roll_back(MONA, 999)


def test_senses_that_swapped_terms_are_rolled_back(glossary):
    one = glossary.senses.add("A", "NAND", "first")
    two = glossary.senses.add("B", "NAND", "second")
    moment = glossary.history.changes(ADMIN)[0].id
    parked = glossary.senses.save(NINA, one.id, version=1, term="B", expansion="between")
    moved = glossary.senses.save(NINA, two.id, version=1, term="A", expansion="first")
    glossary.senses.save(NINA, one.id, version=parked.version, expansion="second")
    glossary.history.roll_back(NINA, term="A", moment=moment)
    now = {sense.id: (sense.term, sense.expansion) for sense in glossary.senses.find(ADMIN)}
    assert now == {one.id: ("A", "first"), two.id: ("B", "second")}
    assert moved.version < glossary.senses.get(ADMIN, two.id).version


def test_rolling_back_to_a_taken_name_is_a_conflict(glossary):
    sense = glossary.senses.add("A", "NAND", "first")
    glossary.senses.save(NINA, sense.id, version=1, expansion="renamed")
    renaming = glossary.history.changes(ADMIN)[0].id
    there = glossary.senses.add("A", "NAND", "first")
    with pytest.raises(Conflict, match="already means") as refused:
        glossary.history.roll_back(NINA, renaming)
    assert refused.value.current == there
    assert expansions(glossary.senses.find(ADMIN)) == ["renamed", "first"]


def test_a_change_names_its_subjects_to_permitted_readers_only(glossary):
    glossary.contexts.add("Tools", "what we work with")
    glossary.senses.add("XQZ", "Tools", "extra quick zone", audience=frozenset({"hr"}))
    text = "term,context,expansion\n" + "".join(f"T{number},Tools,meaning {number}\n" for number in range(5))
    glossary.files.import_csv(text)
    told = {change.kind: change.about for change in reversed(glossary.history.changes(ADMIN, 3))}
    assert told == {"context": ("Tools",), "edit": ("XQZ",), "import": ("T0", "T1", "T2")}
    assert all("XQZ" not in change.about for change in glossary.history.changes(OSCAR, 100))


# -- conflicts ------------------------------------------------------------------------------------------------------


def kinds(warnings):
    return sorted(warning.kind for warning in warnings)


def test_warnings_name_the_conflicting_senses(glossary):
    puc = glossary.senses.add("PUC", "NAND", "Peripheral Under Cell", aliases=["under-array"])
    law = glossary.senses.add("PUC", "Legal", "Public Utilities Commission")
    assert kinds(glossary.conflicts.warnings(OSCAR, SenseInput("new", "NAND", "thing that is not"))) == [
        "ordinary_word"
    ]
    assert glossary.conflicts.warnings(OSCAR, SenseInput("XQZ", "NAND", "something")) == []
    assert glossary.conflicts.warnings(OSCAR, SenseInput("", "", "")) == []
    same = glossary.conflicts.warnings(OSCAR, SenseInput("puc", "nand", "peripheral under cell"))
    assert [(one.kind, one.senses) for one in same] == [("duplicate", (puc.id,))]
    other = glossary.conflicts.warnings(OSCAR, SenseInput("PUC", "Legal", "Plain Used Car"))
    assert [(one.kind, one.senses) for one in other] == [("conflicting_expansion", (law.id,))]
    elsewhere = glossary.conflicts.warnings(OSCAR, SenseInput("PUC", "Tools", "Peripheral Under Cell"))
    assert [(one.kind, one.senses) for one in elsewhere] == [("same_elsewhere", (puc.id,))]
    collides = glossary.conflicts.warnings(
        OSCAR, SenseInput("PERI", "NAND", "periphery", aliases=("puc", "Under Array"))
    )
    assert sorted((one.kind, one.senses) for one in collides) == [
        ("alias_collides", (puc.id,)), ("alias_collides", (puc.id, law.id)),
    ]  # fmt: skip
    assert kinds(glossary.conflicts.warnings(OSCAR, SenseInput("under array", "NAND", "x"))) == ["alias_collides"]
    empty = SenseInput("ACT", "NAND", "act", aliases=("Act",))
    assert kinds(glossary.conflicts.warnings(OSCAR, empty)) == ["alias_is_term", "expansion_is_term", "ordinary_word"]
    assert glossary.conflicts.warnings(OSCAR, SenseInput("PUC", "NAND", "Peripheral Under Cell"), puc.id) == []
    glossary.senses.retire(MONA, law.id, 1)
    assert glossary.conflicts.warnings(OSCAR, SenseInput("PUC", "Legal", "Plain Used Car")) == []


def test_the_conflict_list_holds_every_conflict_and_due_review(glossary):
    one = glossary.senses.add(
        "PUC", "NAND", "Peripheral Under Cell", aliases=["WLX"], review_by="2020-01-31", owner="nina"
    )
    two = glossary.senses.add("PUC", "NAND", "Power Up Control")
    three = glossary.senses.add("WLX", "NAND", "word line")
    found = {warning.kind: warning for warning in glossary.conflicts.open(OSCAR)}
    assert {kind: set(warning.senses) for kind, warning in found.items()} == {
        "conflicting_expansion": {one.id, two.id},
        "alias_collides": {one.id, three.id},
        "review_due": {one.id},
    }
    assert "nina" in found["review_due"].message
    assert "review_due" not in kinds(glossary.conflicts.open(OSCAR, today="2019-12-31"))


def test_the_conflict_list_omits_harmless_overlaps(glossary):
    glossary.senses.add("ACT", "NAND", "active command table", aliases=["Act"])
    glossary.senses.add("die", "NAND", "piece of a wafer", aliases=["Die"])
    same = [glossary.senses.add("XQZ", context, "extra quick zone").id for context in ("NAND", "Legal")]
    two = [glossary.senses.add("PUC", "NAND", expansion).id for expansion in ("power up control", "per unit cost")]
    found = [(warning.kind, list(warning.senses)) for warning in glossary.conflicts.open(OSCAR)]
    assert found == [("conflicting_expansion", two), ("same_elsewhere", same)]


def test_an_alias_in_other_case_is_called_needless_only_when_it_is(glossary):
    told = [
        one.message
        for one in glossary.conflicts.warnings(OSCAR, SenseInput("DOE", "NAND", "design of x", aliases=("DoE",)))
    ]
    assert "With the alias 'DoE', the ordinary word is read as 'DOE' where it is written so." in told
    told = [
        one.message
        for one in glossary.conflicts.warnings(OSCAR, SenseInput("VCCQ", "NAND", "supply", aliases=("VccQ",)))
    ]
    assert told == ["'VCCQ' is its own alias; spellings like it are recognised anyway."]


# -- proposals ------------------------------------------------------------------------------------------------------


def test_a_proposal_collects_evidence_and_is_accepted_as_edited(glossary):
    first = glossary.proposals.add(
        "mined", "XQZ", "extra quick zone", context="NAND", evidence=[("p1", "XQZ (extra…)")]
    )
    again = glossary.proposals.add("miss", "xqz", "Extra Quick Zone", evidence=[("p1", "newer"), ("p2", "more")])
    assert again.id == first.id
    assert again.evidence == (("p1", "newer"), ("p2", "more"))
    assert (again.origin, again.context, again.term) == ("mined", "NAND", "XQZ")
    assert glossary.lookup.senses(OSCAR, ["XQZ"])["XQZ"] == []
    sense = glossary.proposals.accept(NINA, first.id, description="in my words", why="seen")
    assert (sense.status, sense.owner, sense.expansion, sense.description) == (
        "draft", "nina", "extra quick zone", "in my words",
    )  # fmt: skip
    decided = glossary.proposals.get(OSCAR, first.id)
    assert (decided.status, decided.decided_by, decided.sense) == ("accepted", "nina", sense.id)
    assert glossary.proposals.find(OSCAR) == []
    assert glossary.proposals.add("mined", "XQZ", "extra quick zone", evidence=[("p9", "x")]) == decided
    for act in (lambda: glossary.proposals.accept(NINA, first.id), lambda: glossary.proposals.dismiss(NINA, first.id)):
        with pytest.raises(Conflict, match="accepted by nina"):
            act()


def test_a_merged_proposal_becomes_an_alias(glossary):
    sense = glossary.senses.add("PUC", "NAND", "Peripheral Under Cell", aliases=["peri"])
    number = glossary.proposals.add("miss", "PUCX").id
    with pytest.raises(NotAllowed):
        glossary.proposals.merge(LEO, number, sense.id)
    merged = glossary.proposals.merge(NINA, number, sense.id, "the same")
    assert (merged.aliases, merged.version) == (("peri", "PUCX"), 2)
    assert expansions(glossary.lookup.senses(OSCAR, ["pucx"])["pucx"]) == ["Peripheral Under Cell"]
    assert glossary.history.entries(OSCAR, sense_id=sense.id)[0].kind == "merge"


def test_a_dismissed_proposal_stays_dismissed(glossary):
    number = glossary.proposals.add("mined", "XQZ", "noise", context="NAND", evidence=[("p1", "q")]).id
    for who in (OSCAR, LEO):
        with pytest.raises(NotAllowed):
            glossary.proposals.dismiss(who, number)
    glossary.proposals.dismiss(NINA, number, "noise")
    again = glossary.proposals.add("mined", "XQZ", "Noise", evidence=[("p2", "q")])
    assert (again.id, again.status, again.evidence, again.why) == (number, "dismissed", (("p1", "q"),), "noise")
    assert [one.id for one in glossary.proposals.find(OSCAR, status="dismissed", term="xqz")] == [number]
    assert glossary.proposals.find(OSCAR, status=None) == [again]


def test_evidence_is_shown_only_to_readers_of_its_document(glossary):
    glossary.proposals.add("mined", "XQZ", "zone", description="hidden", evidence=[("p1", "secret")], audience=SECRET)
    assert glossary.proposals.find(OSCAR) == []
    glossary.proposals.add("mined", "XQZ", "zone", evidence=[("p2", "public")])
    (seen,) = glossary.proposals.find(OSCAR)
    assert (seen.evidence, seen.description) == ((("p2", "public"),), "")
    assert len(glossary.proposals.find(EVE)[0].evidence) == 2
    guarded = glossary.proposals.add(
        "mined", "ABX", "zone", context="NAND", evidence=[("p1", "secret")], audience=SECRET
    )
    assert glossary.proposals.accept(EVE, guarded.id).audience == SECRET


def test_accepting_a_proposal_needs_a_context_and_an_expansion(glossary):
    number = glossary.proposals.add("person", "XQZ", created_by="oscar").id
    for edits in ({}, {"context": "NAND"}, {"expansion": "zone"}):
        with pytest.raises(InvalidInput):
            glossary.proposals.accept(NINA, number, **edits)
    with pytest.raises(NotAllowed):
        glossary.proposals.accept(NINA, number, context="Legal", expansion="zone")
    assert (
        glossary.proposals.accept(NINA, number, context="NAND", expansion="zone", status="approved").status
        == "approved"
    )
    for bad in (("mined", " ", "x"), ("rumour", "XQZ", "x"), ("mined", "XQZ\ud800", "x")):
        with pytest.raises(InvalidInput):
            glossary.proposals.add(*bad)


# -- misses and use -------------------------------------------------------------------------------------------------


def test_managers_see_counts_of_misses_but_only_shared_questions(glossary):
    glossary.misses.record("XQZ", "oscar", "private?", "t1")
    glossary.misses.record("XQZ", "olga", "for all?", "t2", shared=True)
    (miss,) = glossary.misses.open(NINA)
    assert (miss.count, miss.questions) == (2, ("for all?",))
    assert glossary.misses.open(ADMIN)[0].questions == ("for all?", "private?")
    assert glossary.misses.open(OSCAR)[0].questions == ("private?",)
    glossary.misses.record("XQZ", "oscar", "private?", "t1", shared=True)
    assert glossary.misses.open(NINA)[0].count == 2
    assert "private?" in glossary.misses.open(NINA)[0].questions


def test_a_dismissed_miss_is_counted_but_stays_dismissed(glossary):
    glossary.misses.record("XQZ", "oscar", "one?", "t1")
    with pytest.raises(NotAllowed):
        glossary.misses.dismiss(OSCAR, "XQZ")
    with pytest.raises(NotFound):
        glossary.misses.dismiss(NINA, "OTHER")
    glossary.misses.dismiss(NINA, "xqz", "a typing error")
    glossary.misses.record("XQZ", "oscar", "two?", "t1")
    assert glossary.misses.open(NINA) == []
    (miss,) = glossary.misses.find(NINA, status="dismissed")
    assert (miss.count, miss.status) == (2, "dismissed")


def test_an_approved_term_settles_a_miss_and_its_askers_are_told_once(glossary):
    glossary.misses.record("XQZ", "oscar", "one?", "t1")
    glossary.misses.record("XQZs", "olga", "many?", "t2")
    draft = glossary.senses.draft(NINA, "EQZ", "NAND", "extra quick zone", aliases=["XQZ"])
    assert [miss.status for miss in glossary.misses.open(ADMIN)] == ["open", "open"]
    glossary.senses.approve(NINA, draft.id, 1)
    assert glossary.misses.open(ADMIN) == []
    assert {miss.term for miss in glossary.misses.find(ADMIN, status="defined")} == {"XQZ", "XQZs"}
    untold = [glossary.misses.list_untold(name) for name in ("oscar", "olga")]
    assert [(one.thread, one.question) for (one,) in untold] == [("t1", "one?"), ("t2", "many?")]
    glossary.misses.mark_told("XQZ", "t1")
    assert glossary.misses.list_untold("oscar") == []
    glossary.misses.mark_told("xqz", "t2")
    assert glossary.misses.list_untold("olga") == []


def test_uses_and_misses_are_counted_by_iso_week_in_utc(glossary):
    one = glossary.senses.add("PUC", "NAND", "Peripheral Under Cell").id
    two = glossary.senses.add("WLX", "NAND", "word line").id
    new_year = datetime(2027, 1, 1, 12, tzinfo=UTC)
    glossary.usage.record([one, two, one, 999], new_year)
    glossary.usage.record([one], new_year)
    glossary.usage.record([one], datetime(2027, 1, 4))
    glossary.usage.record([])
    assert [(use.week, use.term, use.count) for use in glossary.usage.by_week(OSCAR)] == [
        ("2026-W53", "PUC", 3), ("2026-W53", "WLX", 1), ("2027-W01", "PUC", 1),
    ]  # fmt: skip
    assert [use.count for use in glossary.usage.by_week(OSCAR, "wlx")] == [1]
    glossary.misses.record("XQZ", "oscar", "one?", "t1")
    glossary.misses.record("XQZ", "olga", "two?", "t2")
    assert [(week.term, week.count) for week in glossary.misses.by_week(NINA)] == [("XQZ", 2)]
    assert [week.count for week in glossary.misses.by_week(OSCAR)] == [1]
    assert glossary.misses.by_week(LEO) == glossary.misses.by_week(ADMIN)


# -- whatever is done -----------------------------------------------------------------------------------------------


class Governed(RuleBasedStateMachine):
    """Random operations of managers: history replays to the stored state, and the index finds every sense."""

    numbers = Bundle("numbers")
    few = st.sampled_from

    def __init__(self, glossaries):
        super().__init__()
        self.glossaries = glossaries
        self.glossary = glossaries.empty()

    def attempt(self, act, *args, **kwargs):
        try:
            return act(*args, **kwargs)
        except (Conflict, NotFound):
            return None

    @rule(target=numbers, term=few("ABC"), context=few("xy"), expansion=few("12"))
    def draft(self, term, context, expansion):
        sense = self.attempt(self.glossary.senses.draft, MONA, term, context, expansion)
        return sense.id if sense else 1

    @rule(number=numbers, version=few([1, 2, 3, None]), term=few(["A", "B", None]), notes=few([None, "n"]))
    def save(self, number, version, term, notes):
        known = self.attempt(self.glossary.senses.get, ADMIN, number)
        seen = known.version if known and version is None else version or 1
        before = known and asdict(known)
        saved = self.attempt(self.glossary.senses.save, MONA, number, version=seen, term=term, notes=notes)
        if saved is None and known:
            assert asdict(self.glossary.senses.get(ADMIN, number)) == before

    @rule(number=consumes(numbers), approve=st.booleans())
    def decide(self, number, approve):
        known = self.attempt(self.glossary.senses.get, ADMIN, number)
        if known:
            self.attempt(
                self.glossary.senses.approve if approve else self.glossary.senses.retire,
                MONA,
                number,
                known.version,
                "why",
            )

    @rule(rows=st.lists(st.tuples(few("ABC"), few("xyz"), few("123")), max_size=3))
    def take_in(self, rows):
        self.glossary.files.import_senses([SenseInput(*row, notes="imported") for row in rows], "some.csv", by=MONA)

    @rule(back=st.integers(0, 3), force=st.booleans())
    def roll_back(self, back, force):
        changes = self.glossary.history.changes(ADMIN)
        if len(changes) > back:
            self.attempt(self.glossary.history.roll_back, MONA, changes[back].id, force=force)

    @rule(term=few("ABC"), moment=st.integers(0, 6))
    def roll_term_back(self, term, moment):
        self.attempt(self.glossary.history.roll_back, MONA, term=term, moment=moment)

    @invariant()
    def history_replays_to_the_present(self):
        senses, contexts = {}, {}
        for entry in reversed(self.glossary.history.entries(ADMIN, limit=None)):
            rows, row = (contexts, entry.context) if entry.sense_id is None else (senses, entry.sense_id)
            assert rows.get(row) == entry.before
            rows[row] = entry.after
        stored = {sense.id: record_sense(sense) for sense in self.glossary.senses.find(ADMIN)}
        assert {row: kept for row, kept in senses.items() if kept} == stored
        assert {name for name, kept in contexts.items() if kept} == {
            one.name for one in self.glossary.contexts.all(ADMIN)
        }

    @invariant()
    def the_index_holds_what_is_stored(self):
        stored = sorted((sense.id, sense.term.casefold()) for sense in self.glossary.senses.find(ADMIN))
        assert self.glossaries.indexed(self.glossary) == stored


def test_history_replays_to_the_present_after_any_operations(glossaries):
    steps = settings(max_examples=25 if glossaries.engine == "sqlite" else 8, stateful_step_count=15, deadline=None)
    run_state_machine_as_test(lambda: Governed(glossaries), settings=steps)


def test_a_conflict_error_keeps_its_changes_over_the_wire():
    from argot.service.transport.wire_format import decode, encode, make_error_event, restore_error

    error = restore_error(decode(encode(make_error_event(Conflict("changed", changes=(1,))))))
    assert isinstance(error, Conflict)
    assert isinstance(error, ArgotError)
    assert (str(error), error.current, error.changes) == ("changed", None, ())
    assert json.dumps(str(error))


def test_the_second_save_of_a_changed_context_is_a_conflict(glossary):
    fab = glossary.contexts.add("Fab", "wafers", "fab@x")
    saved = glossary.contexts.save(MONA, fab.id, version=fab.version, description="", audience=frozenset({"managers"}))
    assert (saved.description, saved.contact, saved.version) == ("", "fab@x", 2)
    assert glossary.contexts.get(MONA, fab.id) == saved
    with pytest.raises(Conflict, match="saved by somebody else") as caught:
        glossary.contexts.save(MONA, fab.id, version=fab.version, description="mine")
    assert caught.value.current == saved
    assert glossary.contexts.save(MONA, fab.id, version=2, description="") == saved  # nothing new is no save
    with pytest.raises(NotFound):
        glossary.contexts.save(NINA, fab.id, version=2, description="mine")  # hidden from her, and no hint of it
    with pytest.raises(NotFound):
        glossary.contexts.save(MONA, 999, version=1)
    with pytest.raises(Conflict, match="already"):
        glossary.contexts.add("fab", "another", new=True, by=MONA)
    kinds = [(one.kind, one.who) for one in glossary.history.entries(MONA, context_id=fab.id)]
    assert kinds == [("context", "mona"), ("context", "argot")]


def test_an_import_that_changes_a_context_makes_older_saves_conflict(glossary):
    fab = glossary.contexts.add("Fab", "wafers")
    glossary.files.import_file(None, b'{"contexts": [{"name": "fab", "contact": "fab@x"}], "senses": []}', "x.json")
    with pytest.raises(Conflict):
        glossary.contexts.save(MONA, fab.id, version=fab.version, description="mine")
    assert glossary.contexts.get(MONA, fab.id).contact == "fab@x"


def test_no_context_may_be_named_like_the_wildcard(glossary):
    """Check that no context is named "*": its managers would manage all contexts unnoticed."""
    for make in (
        lambda: glossary.contexts.add("*", by=MONA),
        lambda: glossary.contexts.add(" * ", new=True),
        lambda: glossary.senses.add("A", "*", "alpha"),
        lambda: glossary.senses.draft(MONA, "A", "*", "alpha"),
        lambda: glossary.files.import_csv("term,context,expansion\nA,*,alpha\n"),
        lambda: glossary.files.import_file(
            None, b'{"contexts": [{"name": "*", "contact": "x"}], "senses": []}', "x.json"
        ),
    ):
        with pytest.raises(InvalidInput, match="context"):
            make()
    assert "*" not in [one.name for one in glossary.contexts.all(ADMIN)]
