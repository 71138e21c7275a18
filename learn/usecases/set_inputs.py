"""The inputs of a training from a set of pairs: the unstruck pairs, and all searched passages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from argot.errors import InvalidInput
from argot.learn.questions.cloze_sentences import remove_sentence
from argot.learn.store.pair_store import PairStore
from argot.learn.training_pairs import PoolPassage, TrainingPair
from argot.learn.usecases.pair_sets import find_visible_set, list_audiences, read_passages_for
from argot.types import Principal

if TYPE_CHECKING:
    from argot.corpus.store.document_store import CorpusStore
    from argot.learn.store.pair_store import StoredPair
    from argot.service.knowledge_base import KnowledgeBase


@dataclass(frozen=True, slots=True)
class TrainingInputs:
    """Kept pairs, the passages that are searched, and of each restricted document learnt from who may read it; the ids
    of all `documents` learnt from; and of each person in `askers` the ids of the pairs that are questions of theirs.

    `readers` is empty where everybody may read all of it. No passage is in `passages` that somebody may not read who
    may read all documents of the pairs.
    """

    pairs: list[TrainingPair]
    passages: list[PoolPassage]
    readers: tuple[tuple[str, ...], ...]
    documents: tuple[str, ...] = ()
    askers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


async def load_training_inputs(kb: KnowledgeBase, principal: Principal, name: str) -> TrainingInputs:
    """Load the pairs and passages of a set for a training.

    Raises:
        NotFound: there is no such set that this principal may see.
        InvalidInput: it is not made yet, or all its pairs are struck.
    """
    return await kb.blocking(_load_inputs, kb, principal, name)


def _load_inputs(kb: KnowledgeBase, principal: Principal, name: str) -> TrainingInputs:
    from argot.learn.store.pair_store import PairQuery

    found = find_visible_set(kb, principal, name)
    if found.status != "done":
        raise InvalidInput(f"The set '{name}' is not made yet. Go on with: argot learn data make {name}")
    stored = kb.open_store(PairStore).pairs(name, PairQuery(state="kept"))
    pairs = build_training_pairs(kb.document_store, principal, stored)
    if not pairs:
        raise InvalidInput(
            f"The set '{name}' has no pair to learn from: all are struck, or their passages are not in the documents "
            f"any more. Make a new one with: argot learn data make NAME"
        )
    audiences = list_audiences(kb, found)
    pool = {
        one.id: PoolPassage(one.id, one.with_header, document.name)
        for document, passages in read_passages_for(kb.document_store, principal, audiences)
        for one in passages
    }
    # In the pairs' form: with imported ones, and without the sentences that serve as questions.
    pool |= {one.passage_id: PoolPassage(one.passage_id, one.passage, one.document) for one in pairs}
    readers = {tuple(sorted(one)) for one in audiences if one}
    documents = tuple(one.document for one in kb.open_store(PairStore).documents(name))
    askers = _collect_askers(stored, {one.id for one in pairs})
    return TrainingInputs(pairs, list(pool.values()), tuple(sorted(readers)), documents, askers)


def _collect_askers(stored: list[StoredPair], taken: set[str]) -> dict[str, tuple[str, ...]]:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for one in stored:
        if one.asked_by and one.id in taken:
            found[one.asked_by].append(one.id)
    return {name: tuple(ids) for name, ids in found.items()}


def build_training_pairs(store: CorpusStore, principal: Principal, stored: list[StoredPair]) -> list[TrainingPair]:
    """Build these pairs with their passages, without those whose passage is gone, or not to be read.

    A sentence that is a question of one of them is in no passage: the search would find it by its words alone.
    """
    found = store.passages(principal, [one.passage_id for one in stored if not one.passage])
    taken_out = {one.passage_id: one.first_question or one.question for one in stored if one.kind == "cloze"}
    pairs = []
    for one in stored:
        if one.passage:
            text, document = one.passage, one.document
        elif one.passage_id in found:
            passage, of = found[one.passage_id]
            text, document = passage.with_header, of.name
            if one.passage_id in taken_out:
                text = remove_sentence(text, taken_out[one.passage_id])
        else:
            continue
        pairs.append(
            TrainingPair(
                one.id, one.question, one.passage_id, text, document, one.kind, one.part, one.answer, one.negatives
            )
        )
    return pairs
