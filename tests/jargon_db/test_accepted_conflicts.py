"""Conflicts that a manager accepts: they leave the open list, are listed as accepted, and reopen if a sense changes."""

import pytest

from argot.errors import Conflict, InvalidInput, NotAllowed, NotFound
from argot.types import Principal

ADMIN = Principal("admin", sees_all=True)
NINA = Principal("nina", manages=frozenset({"NAND"}))
OSCAR = Principal("oscar")


@pytest.fixture
def glossary(glossaries):
    return glossaries.open()


@pytest.fixture
def pair(glossary):
    """Store two meanings of one term in one context, as an import may do."""
    under = glossary.senses.add("PUC", "NAND", "peripheral under cell")
    power = glossary.senses.add("PUC", "NAND", "power up control")
    return under, power


def seen(*senses):
    return [(sense.id, sense.version) for sense in senses]


def open_kinds(glossary, principal=ADMIN):
    return [one.kind for one in glossary.conflicts.open(principal)]


def test_an_accepted_conflict_is_listed_with_its_manager_time_and_reason(glossary, pair):
    (one,) = glossary.conflicts.open(NINA)
    change = glossary.conflicts.accept(NINA, "conflicting_expansion", seen(*pair), "two teams say so")
    assert glossary.conflicts.open(NINA) == []
    (accepted,) = glossary.conflicts.list_accepted(NINA)
    assert (accepted.warning, accepted.change, accepted.who, accepted.why) == (one, change, "nina", "two teams say so")
    (made,) = glossary.history.changes(ADMIN, 1)
    assert (made.id, made.kind, made.name, made.who, made.at) == (
        change, "let stand", "conflicting_expansion", "nina", accepted.at,
    )  # fmt: skip
    assert [glossary.senses.get(ADMIN, one.id) for one in pair] == list(pair)
    assert glossary.history.entries(ADMIN, sense_id=pair[0].id)[0].why == "two teams say so"


@pytest.mark.parametrize("changed", [{"expansion": "power-up controller"}, {"description": "d"}, {"aliases": ["P"]}])
def test_an_accepted_conflict_reopens_when_the_content_of_a_sense_changes(glossary, pair, changed):
    glossary.conflicts.accept(NINA, "conflicting_expansion", seen(*pair))
    glossary.senses.save(NINA, pair[1].id, version=1, **changed)
    assert open_kinds(glossary) == ["conflicting_expansion"]
    assert glossary.conflicts.list_accepted(ADMIN) == []
    now = [glossary.senses.get(ADMIN, one.id) for one in pair]
    glossary.conflicts.accept(NINA, "conflicting_expansion", seen(*now))
    assert open_kinds(glossary) == []


def test_an_accepted_conflict_stays_closed_when_owner_or_status_changes(glossary, pair):
    glossary.conflicts.accept(NINA, "conflicting_expansion", seen(*pair))
    glossary.senses.save(NINA, pair[1].id, version=1, owner="ned", review_by="2999-01-31")
    glossary.senses.retire(NINA, pair[0].id, 1)
    glossary.senses.approve(NINA, pair[0].id, 2, "used again")
    assert open_kinds(glossary) == []


def test_a_third_meaning_is_a_new_conflict_and_a_remaining_pair_is_not(glossary, pair):
    glossary.conflicts.accept(NINA, "conflicting_expansion", seen(*pair))
    third = glossary.senses.add("PUC", "NAND", "page under construction")
    assert [set(one.senses) for one in glossary.conflicts.open(ADMIN)] == [{*(one.id for one in pair), third.id}]
    glossary.conflicts.accept(NINA, "conflicting_expansion", seen(*pair, third))
    glossary.senses.retire(NINA, third.id, 1)
    assert open_kinds(glossary) == []


def test_rolling_back_an_acceptance_reopens_the_conflict_once(glossary, pair):
    change = glossary.conflicts.accept(NINA, "conflicting_expansion", seen(*pair))
    undone = glossary.history.roll_back(NINA, change, why="they were merged")
    assert (undone.undoes, undone.rows) == (change, 2)
    assert open_kinds(glossary) == ["conflicting_expansion"]
    with pytest.raises(Conflict, match="nothing to roll back"):
        glossary.history.roll_back(NINA, change)
    with pytest.raises(Conflict, match="nothing to roll back"):
        glossary.history.roll_back(NINA, undone.id)
    assert open_kinds(glossary) == ["conflicting_expansion"]


def test_approving_a_second_meaning_with_a_reason_accepts_the_conflict(glossary):
    first = glossary.senses.add("PUC", "NAND", "peripheral under cell")
    second = glossary.senses.draft(NINA, "PUC", "NAND", "power up control")
    assert open_kinds(glossary) == ["conflicting_expansion"]
    approved = glossary.senses.approve(NINA, second.id, 1, "both are used")
    assert open_kinds(glossary) == []
    (accepted,) = glossary.conflicts.list_accepted(ADMIN)
    assert (accepted.who, accepted.why, accepted.warning.senses) == ("nina", "both are used", (first.id, second.id))
    glossary.senses.save(NINA, second.id, version=approved.version, description="since revision 3")
    assert open_kinds(glossary) == ["conflicting_expansion"]
    assert glossary.senses.get(ADMIN, first.id) == first


def test_an_accepting_approval_is_rolled_back_although_the_other_sense_changed(glossary):
    first = glossary.senses.add("PUC", "NAND", "peripheral under cell")
    second = glossary.senses.draft(NINA, "PUC", "NAND", "power up control")
    glossary.senses.approve(NINA, second.id, 1, "both are used")
    change = glossary.history.changes(ADMIN, 1)[0].id
    edited = glossary.senses.save(NINA, first.id, version=1, notes="n")
    glossary.history.roll_back(NINA, change)
    assert glossary.senses.get(ADMIN, second.id).status == "draft"
    assert glossary.senses.get(ADMIN, first.id) == edited


def test_accepting_a_conflict_does_not_block_rolling_back_the_import(glossary):
    glossary.contexts.add("NAND")
    report = glossary.files.import_csv("term,context,expansion\nPUC,NAND,under\nPUC,NAND,power\n", by=NINA)
    pair = glossary.senses.find(ADMIN)
    glossary.conflicts.accept(NINA, "conflicting_expansion", seen(*pair))
    glossary.history.roll_back(NINA, report.change)
    assert glossary.senses.find(ADMIN) == []
    assert glossary.conflicts.open(ADMIN) == glossary.conflicts.list_accepted(ADMIN) == []


def test_accepting_one_kind_of_conflict_leaves_other_kinds_open(glossary):
    one = glossary.senses.add("PUC", "NAND", "under", aliases=["X"])
    two = glossary.senses.add("PUX", "NAND", "power", aliases=["X"])
    with pytest.raises(NotFound):
        glossary.conflicts.accept(NINA, "conflicting_expansion", seen(one, two))
    glossary.conflicts.accept(NINA, "alias_collides", seen(one, two))
    renamed = glossary.senses.save(NINA, two.id, version=1, term="PUC")
    assert open_kinds(glossary) == ["conflicting_expansion"]
    assert renamed.term == "PUC"


def test_accepting_needs_the_right_to_each_sense_and_its_current_version(glossary, pair):
    legal = glossary.senses.add("PUC", "Legal", "power up control")
    glossary.senses.save(NINA, pair[0].id, version=1, notes="n")
    before = glossary.history.changes(ADMIN)
    with pytest.raises(Conflict, match="saw version 1, it is at 2"):
        glossary.conflicts.accept(NINA, "conflicting_expansion", seen(*pair))
    with pytest.raises(NotAllowed):
        glossary.conflicts.accept(NINA, "same_elsewhere", seen(pair[1], legal))
    with pytest.raises(NotAllowed):
        glossary.conflicts.accept(OSCAR, "conflicting_expansion", [(pair[0].id, 2), (pair[1].id, 1)])
    hidden = glossary.senses.add("QXZ", "NAND", "a", audience=frozenset({"fab"}))
    other = glossary.senses.add("QXZ", "NAND", "b")
    with pytest.raises(NotFound):
        glossary.conflicts.accept(NINA, "conflicting_expansion", seen(hidden, other))
    assert glossary.history.changes(ADMIN)[2:] == before


def test_a_due_review_needs_a_new_date_and_cannot_be_accepted(glossary):
    sense = glossary.senses.add("PUC", "NAND", "under", review_by="2020-01-31")
    with pytest.raises(InvalidInput, match="new date"):
        glossary.conflicts.accept(ADMIN, "review_due", seen(sense))
    assert open_kinds(glossary) == ["review_due"]


def test_a_conflict_accepted_by_the_admin_is_accepted_for_every_reader(glossary, pair):
    hidden = glossary.senses.add("PUC", "NAND", "hidden", audience=frozenset({"fab"}))
    glossary.conflicts.accept(ADMIN, "conflicting_expansion", seen(*pair, hidden))
    assert glossary.conflicts.open(NINA) == []
    (accepted,) = glossary.conflicts.list_accepted(NINA)
    assert accepted.warning.senses == tuple(one.id for one in pair)
    assert "hidden" not in str(accepted)


def test_a_conflict_of_very_long_meanings_has_a_short_message(glossary):
    for number in range(5):
        glossary.senses.add("PUC", "NAND", f"{number}{'x' * 9_999}")
    for context in ("NAND", "Legal"):
        glossary.senses.add("QXZ", context, "y" * 10_000)
    told = [one.message for one in glossary.conflicts.open(ADMIN)]
    assert len(told) == 2
    assert max(map(len, told)) < 2_000
    assert "'0xxx" in told[0] and "'4xxx" in told[0]
