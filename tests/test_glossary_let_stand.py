"""Conflicts that a manager lets stand: they leave the list, are told of, and come back when a sense changes."""

import pytest

from argot.errors import Conflict, InvalidInput, NotAllowed, NotFound
from argot.types import Principal

ADMIN = Principal("admin", sees_all=True)
NINA = Principal("nina", manages=frozenset({"NAND"}))
OSCAR = Principal("oscar")


@pytest.fixture
def pair(glossary):
    """Two meanings of one term in one context, as an import may bring them."""
    under = glossary.add_sense("PUC", "NAND", "peripheral under cell")
    power = glossary.add_sense("PUC", "NAND", "power up control")
    return under, power


def seen(*senses):
    return [(sense.id, sense.version) for sense in senses]


def open_kinds(glossary, principal=ADMIN):
    return [one.kind for one in glossary.conflicts(principal)]


def test_a_conflict_that_is_let_stand_leaves_the_list_and_is_told_of_with_who_when_and_why(glossary, pair):
    (one,) = glossary.conflicts(NINA)
    change = glossary.let_stand(NINA, "conflicting_expansion", seen(*pair), "two teams say so")
    assert glossary.conflicts(NINA) == []
    (accepted,) = glossary.accepted_conflicts(NINA)
    assert (accepted.warning, accepted.change, accepted.who, accepted.why) == (one, change, "nina", "two teams say so")
    (made,) = glossary.changes(ADMIN, 1)
    assert (made.id, made.kind, made.name, made.who, made.at) == (
        change, "let stand", "conflicting_expansion", "nina", accepted.at,
    )  # fmt: skip
    assert [glossary.sense(ADMIN, one.id) for one in pair] == list(pair)
    assert glossary.history(ADMIN, sense_id=pair[0].id)[0].why == "two teams say so"


@pytest.mark.parametrize("changed", [{"expansion": "power-up controller"}, {"description": "d"}, {"aliases": ["P"]}])
def test_it_comes_back_when_one_of_its_senses_says_another_thing(glossary, pair, changed):
    glossary.let_stand(NINA, "conflicting_expansion", seen(*pair))
    glossary.save_sense(NINA, pair[1].id, version=1, **changed)
    assert open_kinds(glossary) == ["conflicting_expansion"]
    assert glossary.accepted_conflicts(ADMIN) == []
    now = [glossary.sense(ADMIN, one.id) for one in pair]
    glossary.let_stand(NINA, "conflicting_expansion", seen(*now))
    assert open_kinds(glossary) == []


def test_it_stays_away_when_only_the_owner_or_the_status_is_another(glossary, pair):
    glossary.let_stand(NINA, "conflicting_expansion", seen(*pair))
    glossary.save_sense(NINA, pair[1].id, version=1, owner="ned", review_by="2999-01-31")
    glossary.retire(NINA, pair[0].id, 1)
    glossary.approve(NINA, pair[0].id, 2, "used again")
    assert open_kinds(glossary) == []


def test_a_third_meaning_is_another_conflict_and_a_part_of_what_stands_is_none(glossary, pair):
    glossary.let_stand(NINA, "conflicting_expansion", seen(*pair))
    third = glossary.add_sense("PUC", "NAND", "page under construction")
    assert [set(one.senses) for one in glossary.conflicts(ADMIN)] == [{*(one.id for one in pair), third.id}]
    glossary.let_stand(NINA, "conflicting_expansion", seen(*pair, third))
    glossary.retire(NINA, third.id, 1)
    assert open_kinds(glossary) == []


def test_rolled_back_it_is_to_be_looked_at_again_and_the_history_says_so_once(glossary, pair):
    change = glossary.let_stand(NINA, "conflicting_expansion", seen(*pair))
    undone = glossary.roll_back(NINA, change, why="they were merged")
    assert (undone.undoes, undone.rows) == (change, 2)
    assert open_kinds(glossary) == ["conflicting_expansion"]
    with pytest.raises(Conflict, match="nothing to roll back"):
        glossary.roll_back(NINA, change)
    with pytest.raises(Conflict, match="nothing to roll back"):
        glossary.roll_back(NINA, undone.id)
    assert open_kinds(glossary) == ["conflicting_expansion"]


def test_approving_a_second_meaning_with_a_reason_lets_both_stand(glossary):
    first = glossary.add_sense("PUC", "NAND", "peripheral under cell")
    second = glossary.draft(NINA, "PUC", "NAND", "power up control")
    assert open_kinds(glossary) == ["conflicting_expansion"]
    approved = glossary.approve(NINA, second.id, 1, "both are used")
    assert open_kinds(glossary) == []
    (accepted,) = glossary.accepted_conflicts(ADMIN)
    assert (accepted.who, accepted.why, accepted.warning.senses) == ("nina", "both are used", (first.id, second.id))
    glossary.save_sense(NINA, second.id, version=approved.version, description="since revision 3")
    assert open_kinds(glossary) == ["conflicting_expansion"]
    assert glossary.sense(ADMIN, first.id) == first


def test_an_approval_that_let_another_meaning_stand_is_rolled_back_whatever_became_of_that(glossary):
    first = glossary.add_sense("PUC", "NAND", "peripheral under cell")
    second = glossary.draft(NINA, "PUC", "NAND", "power up control")
    glossary.approve(NINA, second.id, 1, "both are used")
    change = glossary.changes(ADMIN, 1)[0].id
    edited = glossary.save_sense(NINA, first.id, version=1, notes="n")
    glossary.roll_back(NINA, change)
    assert glossary.sense(ADMIN, second.id).status == "draft"
    assert glossary.sense(ADMIN, first.id) == edited


def test_letting_stand_blocks_no_roll_back_of_what_was_before(glossary):
    glossary.add_context("NAND")
    report = glossary.import_csv("term,context,expansion\nPUC,NAND,under\nPUC,NAND,power\n", by=NINA)
    pair = glossary.senses(ADMIN)
    glossary.let_stand(NINA, "conflicting_expansion", seen(*pair))
    glossary.roll_back(NINA, report.change)
    assert glossary.senses(ADMIN) == []
    assert glossary.conflicts(ADMIN) == glossary.accepted_conflicts(ADMIN) == []


def test_a_decision_is_about_one_kind_of_conflict(glossary):
    one = glossary.add_sense("PUC", "NAND", "under", aliases=["X"])
    two = glossary.add_sense("PUX", "NAND", "power", aliases=["X"])
    with pytest.raises(NotFound):
        glossary.let_stand(NINA, "conflicting_expansion", seen(one, two))
    glossary.let_stand(NINA, "alias_collides", seen(one, two))
    renamed = glossary.save_sense(NINA, two.id, version=1, term="PUC")
    assert open_kinds(glossary) == ["conflicting_expansion"]
    assert renamed.term == "PUC"


def test_who_may_not_change_or_read_a_sense_or_saw_it_otherwise_lets_nothing_stand(glossary, pair):
    legal = glossary.add_sense("PUC", "Legal", "power up control")
    glossary.save_sense(NINA, pair[0].id, version=1, notes="n")
    before = glossary.changes(ADMIN)
    with pytest.raises(Conflict, match="saw version 1, it is at 2"):
        glossary.let_stand(NINA, "conflicting_expansion", seen(*pair))
    with pytest.raises(NotAllowed):
        glossary.let_stand(NINA, "same_elsewhere", seen(pair[1], legal))
    with pytest.raises(NotAllowed):
        glossary.let_stand(OSCAR, "conflicting_expansion", [(pair[0].id, 2), (pair[1].id, 1)])
    hidden = glossary.add_sense("QXZ", "NAND", "a", audience=frozenset({"fab"}))
    other = glossary.add_sense("QXZ", "NAND", "b")
    with pytest.raises(NotFound):
        glossary.let_stand(NINA, "conflicting_expansion", seen(hidden, other))
    assert glossary.changes(ADMIN)[2:] == before


def test_a_review_that_is_due_is_settled_by_a_date(glossary):
    sense = glossary.add_sense("PUC", "NAND", "under", review_by="2020-01-31")
    with pytest.raises(InvalidInput, match="new date"):
        glossary.let_stand(ADMIN, "review_due", seen(sense))
    assert open_kinds(glossary) == ["review_due"]


def test_what_the_admin_let_stand_stands_for_who_may_read_a_part_of_it(glossary, pair):
    hidden = glossary.add_sense("PUC", "NAND", "hidden", audience=frozenset({"fab"}))
    glossary.let_stand(ADMIN, "conflicting_expansion", seen(*pair, hidden))
    assert glossary.conflicts(NINA) == []
    (accepted,) = glossary.accepted_conflicts(NINA)
    assert accepted.warning.senses == tuple(one.id for one in pair)
    assert "hidden" not in str(accepted)


def test_a_conflict_of_endless_meanings_is_told_in_few_words(glossary):
    for number in range(5):
        glossary.add_sense("PUC", "NAND", f"{number}{'x' * 9_999}")
    for context in ("NAND", "Legal"):
        glossary.add_sense("QXZ", context, "y" * 10_000)
    told = [one.message for one in glossary.conflicts(ADMIN)]
    assert len(told) == 2
    assert max(map(len, told)) < 2_000
    assert "'0xxx" in told[0] and "'4xxx" in told[0]
