"""Tests of stored studies and ratings, on SQLite and on PostgreSQL."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from argot.databases import Stores
from argot.errors import Conflict, NotAllowed, NotFound
from argot.ratings.store.rating_store import RatingStore
from argot.ratings.study import Answer, Judgement, NewItem, Sources, Study

ITEMS = [
    NewItem("What is KA?", answers=(Answer("b", "knife", Sources(("d1",), (1,))), Answer("a", "Ka")), thread="t1"),
    NewItem("Who bakes?", "Ann", thread="t1", turn=1),
]


@pytest.fixture
def store(stores: Stores) -> Iterator[RatingStore]:
    with closing(RatingStore(stores)) as opened:
        yield opened


@pytest.fixture
def study(store: RatingStore) -> Study:
    return store.create(Study(name="Größe ÄB", created_by="mia"), ITEMS)


def test_a_study_is_found_in_any_case_of_its_name(store: RatingStore, study: Study) -> None:
    assert store.get_study("Größe ÄB") == store.get_study("GRößE Äb") == study and store.list_studies() == [study]
    with pytest.raises(Conflict, match="already"):
        store.create(Study(name="grÖße äb".replace("Ö", "ö").replace("ä", "Ä")), ITEMS)
    with pytest.raises(NotFound):
        store.get_study("größe äb")  # as in SQLite, which folds the case of A to Z only
    assert store.close_study(study.name, closed=True).closed_at
    assert store.close_study(study.name, closed=False).closed_at is None


def test_questions_and_answers_keep_their_order(store: RatingStore, study: Study) -> None:
    first, second = store.list_items(study)
    assert [one.system for one in first.answers] == ["b", "a"] and first.answers[0] == ITEMS[0].answers[0]
    assert (second.question, second.reference, second.place, second.turn) == ("Who bakes?", "Ann", 2, 1)
    store.add_answer(second.id, Answer("z", "Ann"))
    store.add_answer(second.id, Answer("z", "other"))
    store.add_answer(10**6, Answer("z", "nowhere"))
    assert store.list_items(study)[1].answers == (Answer("z", "Ann"),)
    assert store.forget_shared("t1", 1) == 1 and store.forget_shared("t1") == 1 and store.list_items(study) == []


def test_a_rating_is_stored_once_and_replaces_its_draft(store: RatingStore, study: Study) -> None:
    item = store.list_items(study)[0].id
    with pytest.raises(NotAllowed):
        store.save(item, "ann", Judgement())
    for _ in range(2):
        store.invite(study, ["ann", "bob"], "mia")
    assert store.list_invited(study) == ["ann", "bob"] and store.list_invited_studies("ann") == [study]
    draft, said = Judgement(ranks={"a": 1}), Judgement(ranks={"a": 2}, comment="Ünsinn")
    store.keep_draft(item, "ann", draft)
    assert (found := store.list_ratings_by(study, "ann")[item]).draft == draft and found.said is None
    store.save(item, "ann", said)
    (first,) = store.list_ratings(study)
    assert first.said == said and first.draft is None
    store.save(item, "ann", said)
    store.keep_draft(item, "ann", said)  # the same as the saved rating
    assert store.list_ratings(study) == [first]
    store.keep_draft(item, "ann", draft)
    store.keep_draft(item, "ann", Judgement())
    assert store.list_ratings(study) == [first]
    store.close_study(study.name, closed=True)
    with pytest.raises(Conflict, match="closed"):
        store.save(item, "ann", said)
    with pytest.raises(NotFound):
        store.save(10**6, "ann", said)


def test_erasing_a_person_keeps_their_scores_without_comments(store: RatingStore, study: Study) -> None:
    one, other = store.list_items(study)
    store.invite(study, ["ann", "bob"], "mia")
    store.save(one.id, "ann", Judgement(ranks={"a": 1}, comment="mine"))
    store.keep_draft(other.id, "ann", Judgement(ranks={"a": 2}))
    store.save(one.id, "bob", Judgement(ranks={"a": 2}, comment="theirs"))
    assert [rating.said for _, _, rating in store.list_ratings_of(["ann"])] == [
        Judgement({}, {"a": 1}, comment="mine"),
        None,
    ]
    assert [one["study"] for one in store.list_invitations(["ann", "zoe"])] == [study.name]
    assert store.erase(["ann", "mia"]) == 5
    assert store.list_ratings_of(["ann"]) == [] and store.list_invited(study) == ["bob"]
    assert sorted(one.said.comment for one in store.list_ratings(study) if one.said) == ["", "theirs"]
    assert store.get_study(study.name).created_by != "mia"
    store.remove(study.name)
    assert store.list_studies() == [] and store.list_ratings(study) == []
