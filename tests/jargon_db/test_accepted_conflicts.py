"""Conflicts that a manager accepts: they leave the list, are told of, and come back when a sense changes."""

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
    """Two meanings of one term in one context, as an import may bring them."""
    under = glossary.senses.add("PUC", "NAND", "peripheral under cell")
    power = glossary.senses.add("PUC", "NAND", "power up control")
    return under, power


def seen(*senses):
    return [(sense.id, sense.version) for sense in senses]


def open_kinds(glossary, principal=ADMIN):
    return [one.kind for one in glossary.conflicts.open(principal)]


def test_an_accepted_conflict_leaves_the_list_and_is_told_of_with_who_when_and_why(glossary, pair):
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
def test_it_comes_back_when_one_of_its_senses_says_another_thing(glossary, pair, changed):
    glossary.conflicts.accept(NINA, "conflicting_expansion", seen(*pair))
    glossary.senses.save(NINA, pair[1].id, version=1, **changed)
    assert open_kinds(glossary) == ["conflicting_expansion"]
    assert glossary.conflicts.list_accepted(ADMIN) == []
    now = [glossary.senses.get(ADMIN, one.id) for one in pair]
    glossary.conflicts.accept(NINA, "conflicting_expansion", seen(*now))
    assert open_kinds(glossary) == []


def test_it_stays_away_when_only_the_owner_or_the_status_is_another(glossary, pair):
    glossary.conflicts.accept(NINA, "conflicting_expansion", seen(*pair))
    glossary.senses.save(NINA, pair[1].id, version=1, owner="ned", review_by="2999-01-31")
    glossary.senses.retire(NINA, pair[0].id, 1)
    glossary.senses.approve(NINA, pair[0].id, 2, "used again")
    assert open_kinds(glossary) == []


def test_a_third_meaning_is_another_conflict_and_a_part_of_what_stands_is_none(glossary, pair):
    glossary.conflicts.accept(NINA, "conflicting_expansion", seen(*pair))
    third = glossary.senses.add("PUC", "NAND", "page under construction")
    assert [set(one.senses) for one in glossary.conflicts.open(ADMIN)] == [{*(one.id for one in pair), third.id}]
    glossary.conflicts.accept(NINA, "conflicting_expansion", seen(*pair, third))
    glossary.senses.retire(NINA, third.id, 1)
    assert open_kinds(glossary) == []


def test_rolled_back_it_is_to_be_looked_at_again_and_the_history_says_so_once(glossary, pair):
    change = glossary.conflicts.accept(NINA, "conflicting_expansion", seen(*pair))
    undone = glossary.history.roll_back(NINA, change, why="they were merged")
    assert (undone.undoes, undone.rows) == (change, 2)
    assert open_kinds(glossary) == ["conflicting_expansion"]
    with pytest.raises(Conflict, match="nothing to roll back"):
        glossary.history.roll_back(NINA, change)
    with pytest.raises(Conflict, match="nothing to roll back"):
        glossary.history.roll_back(NINA, undone.id)
    assert open_kinds(glossary) == ["conflicting_expansion"]


def test_approving_a_second_meaning_with_a_reason_lets_both_stand(glossary):
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


def test_an_approval_that_let_another_meaning_stand_is_rolled_back_whatever_became_of_that(glossary):
    first = glossary.senses.add("PUC", "NAND", "peripheral under cell")
    second = glossary.senses.draft(NINA, "PUC", "NAND", "power up control")
    glossary.senses.approve(NINA, second.id, 1, "both are used")
    change = glossary.history.changes(ADMIN, 1)[0].id
    edited = glossary.senses.save(NINA, first.id, version=1, notes="n")
    glossary.history.roll_back(NINA, change)
    assert glossary.senses.get(ADMIN, second.id).status == "draft"
    assert glossary.senses.get(ADMIN, first.id) == edited


def test_letting_stand_blocks_no_roll_back_of_what_was_before(glossary):
    glossary.contexts.add("NAND")
    report = glossary.files.import_csv("term,context,expansion\nPUC,NAND,under\nPUC,NAND,power\n", by=NINA)
    pair = glossary.senses.find(ADMIN)
    glossary.conflicts.accept(NINA, "conflicting_expansion", seen(*pair))
    glossary.history.roll_back(NINA, report.change)
    assert glossary.senses.find(ADMIN) == []
    assert glossary.conflicts.open(ADMIN) == glossary.conflicts.list_accepted(ADMIN) == []


def test_a_decision_is_about_one_kind_of_conflict(glossary):
    one = glossary.senses.add("PUC", "NAND", "under", aliases=["X"])
    two = glossary.senses.add("PUX", "NAND", "power", aliases=["X"])
    with pytest.raises(NotFound):
        glossary.conflicts.accept(NINA, "conflicting_expansion", seen(one, two))
    glossary.conflicts.accept(NINA, "alias_collides", seen(one, two))
    renamed = glossary.senses.save(NINA, two.id, version=1, term="PUC")
    assert open_kinds(glossary) == ["conflicting_expansion"]
    assert renamed.term == "PUC"


def test_who_may_not_change_or_read_a_sense_or_saw_it_otherwise_lets_nothing_stand(glossary, pair):
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


def test_a_review_that_is_due_is_settled_by_a_date(glossary):
    sense = glossary.senses.add("PUC", "NAND", "under", review_by="2020-01-31")
    with pytest.raises(InvalidInput, match="new date"):
        glossary.conflicts.accept(ADMIN, "review_due", seen(sense))
    assert open_kinds(glossary) == ["review_due"]


def test_what_the_admin_accepted_is_accepted_for_who_may_read_a_part_of_it(glossary, pair):
    hidden = glossary.senses.add("PUC", "NAND", "hidden", audience=frozenset({"fab"}))
    glossary.conflicts.accept(ADMIN, "conflicting_expansion", seen(*pair, hidden))
    assert glossary.conflicts.open(NINA) == []
    (accepted,) = glossary.conflicts.list_accepted(NINA)
    assert accepted.warning.senses == tuple(one.id for one in pair)
    assert "hidden" not in str(accepted)


def test_a_conflict_of_endless_meanings_is_told_in_few_words(glossary):
    for number in range(5):
        glossary.senses.add("PUC", "NAND", f"{number}{'x' * 9_999}")
    for context in ("NAND", "Legal"):
        glossary.senses.add("QXZ", context, "y" * 10_000)
    told = [one.message for one in glossary.conflicts.open(ADMIN)]
    assert len(told) == 2
    assert max(map(len, told)) < 2_000
    assert "'0xxx" in told[0] and "'4xxx" in told[0]
