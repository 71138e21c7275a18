"""Tests of stored sets of pairs, and of the check whether pairs are enough to train on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import pytest

from argot.databases import Stores
from argot.errors import Conflict, InvalidInput, NotFound
from argot.learn.store.pair_store import PairQuery, PairSet, PairStore, SetDocument, StoredPair
from argot.learn.trainable_pairs import require_trainable
from argot.learn.training_pairs import Part, TrainingPair, make_pair_id

SET = PairSet("ours", "2026-11-23T20:00:00Z", "mia", 7, {"kinds": ["heading"]})


def stored(question: str, passage: str = "p1", **more: object) -> StoredPair:
    pair = StoredPair(make_pair_id(question, passage), question, "", passage, "d1", "heading", "train")
    return replace(pair, **more)  # type: ignore[arg-type]


@pytest.fixture
def store(stores: Stores) -> Iterator[PairStore]:
    with closing(PairStore(stores)) as opened:
        opened.create(SET)
        yield opened


def test_pairs_are_stored_once_and_found_by_words_kind_split_and_state(store: PairStore) -> None:
    pairs = [stored("How hot is the oven?"), stored("Who cleans 100% of it?", answer="Ann", kind="cloze", part="test")]
    documents = [SetDocument("d1", "oven.md", ("hr",))]
    assert store.add("ours", pairs, documents, steps=["p1"], left_out={"duplicate": 1}, total=2) == 2
    assert store.add("ours", pairs, documents, steps=["p2"]) == 0
    assert store.list_done_steps("ours") == {"p1", "p2"}
    store.finish("ours")
    found = store.get_set("ours")
    assert (found.status, found.done, found.total, found.left_out) == ("done", 2, 2, {"duplicate": 1})
    assert store.documents("ours") == documents and store.pairs("ours") == pairs
    assert store.pairs("ours", limit=1, offset=1) == pairs[1:]
    for query in (PairQuery(words="ANN 100%"), PairQuery(kind="cloze"), PairQuery(part="test", state="kept")):
        assert store.pairs("ours", query) == pairs[1:] and store.count("ours", query) == 1
    assert store.count("ours", PairQuery(words="oven%")) == 0
    assert store.counts("ours", "kind") == {"cloze": 1, "heading": 1}
    assert store.counts("ours", "part") == {"train": 1, "validation": 0, "test": 1}


def test_a_pair_is_struck_corrected_and_restored(store: PairStore) -> None:
    one = stored("How hot is the oven?")
    store.add("ours", [one])
    assert store.set_state("ours", one.id, "struck", "ann").state == "struck"
    changed = store.correct("ours", one.id, "How hot?", "180 degrees", "ann")
    again = store.correct("ours", one.id, "How hot is it?", "180", "leo")
    assert changed.first_question == again.first_question == one.question and again.changed_by == "leo"
    assert store.count("ours", PairQuery(state="corrected")) == store.count("ours", PairQuery(state="struck")) == 1
    assert not store.correct("ours", one.id, one.question, "", "leo").is_corrected
    with pytest.raises(NotFound, match="no pair 'x'"):
        store.set_state("ours", "x", "kept", "ann")


def test_the_names_of_sets_are_unique_and_a_set_is_removed_whole(store: PairStore) -> None:
    with pytest.raises(Conflict, match="'ours' already"):
        store.create(SET)
    store.add("ours", [stored("Why?", asked_by="ann"), stored("Who?")])
    assert store.erase_person(["ann", "mia"], "erased person") == 2
    assert store.get_set("ours").created_by == "erased person" and len(store.pairs("ours")) == 1
    assert store.remove("ours") == 1 and store.sets() == []
    with pytest.raises(NotFound, match="argot learn data list"):
        store.get_set("ours")


def pairs_of(passages: int, each: int, answer: str = "") -> list[TrainingPair]:
    def pair(part: Part, passage: int, number: int) -> TrainingPair:
        question, name = f"Question {number}?", f"{part}{passage}"
        return TrainingPair(make_pair_id(question, name), question, name, f"Text {name}.", "d.md", "h", part, answer)

    counts: list[tuple[Part, int]] = [("train", passages), ("validation", 4), ("test", 4)]
    return [pair(part, one, number) for part, count in counts for one in range(count) for number in range(each)]


def test_too_few_pairs_or_pairs_of_one_passage_are_refused_before_training() -> None:
    require_trainable(pairs_of(8, 4), "embedder")
    require_trainable(pairs_of(8, 4, "Yes."), "generator")
    for pairs, words in (
        ([], "There are 0 pairs in the part 'train', and it takes 32"),
        (pairs_of(8, 1), "There are 8 pairs in the part 'train'"),
        (pairs_of(1, 40), "about 1 different passages, and it takes 8"),
        ([one for one in pairs_of(8, 4) if one.part != "test"], "There are 0 pairs in the part 'test'"),
    ):
        with pytest.raises(InvalidInput, match=words):
            require_trainable(pairs, "reranker")
    with pytest.raises(InvalidInput, match="None of these pairs has an answer"):
        require_trainable(pairs_of(8, 4), "generator")
