"""Sets of training pairs: reviewed and corrected by people, exported and imported."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from argot.clock import timestamp
from argot.errors import Conflict, InvalidInput
from argot.learn.store.pair_store import PairStore
from argot.learn.usecases.learning_data_results import (
    MAX_SHOWN_PAIRS,
    Answer,
    DataFound,
    DataPair,
    DataSet,
    ExportedData,
    PairPart,
    PairStateAsked,
    Question,
    RemovedData,
    Words,
    add_passages,
    describe_set,
    is_being_made,
    list_making_jobs,
)
from argot.learn.usecases.pair_sets import find_visible_set, list_visible_sets
from argot.learn.usecases.set_inputs import build_training_pairs
from argot.service.knowledge_base import KnowledgeBase
from argot.service.question_sets import SetName
from argot.service.usecases.usecase_registry import Count, Reader, Text, usecase
from argot.types import Principal

if TYPE_CHECKING:
    from argot.learn.store.pair_store import StoredPair

# -- looking through --------------------------------------------------------------------------------------------------


@usecase("manager", everywhere=True)
async def data_list(kb: KnowledgeBase, principal: Principal) -> list[DataSet]:
    """List the sets of training pairs, newest first.

    Only sets are listed whose documents the caller may all read.
    """
    jobs = await list_making_jobs(kb.jobs)
    return await kb.blocking(lambda: [describe_set(kb, one, jobs) for one in list_visible_sets(kb, principal)])


@usecase("manager", everywhere=True)
async def data_show(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    name: SetName,
    words: Words = "",
    kind: Words = "",
    part: PairPart = "",
    state: PairStateAsked = "",
    start: Count = 0,
    limit: Annotated[int, Field(ge=1, le=MAX_SHOWN_PAIRS)] = 25,
) -> DataFound:
    """Show a set and its pairs, in the order in which they were made.

    Only pairs are shown that have all these words in question or answer, and this kind, part and state.

    Raises:
        NotFound: there is no such set, or the caller may not read all of its documents.
    """
    from argot.learn.store.pair_store import PairQuery

    jobs = await list_making_jobs(kb.jobs)

    def read_pairs() -> DataFound:
        found, query = find_visible_set(kb, principal, name), PairQuery(words, kind, part, state)
        store = kb.open_store(PairStore)
        stored = store.pairs(name, query, limit=limit, offset=start)
        pairs = add_passages(kb, principal, stored)
        return DataFound(describe_set(kb, found, jobs), pairs, store.count(name, query))

    return await kb.blocking(read_pairs)


@usecase("manager", everywhere=True)
async def data_strike(kb: KnowledgeBase, principal: Principal, *, name: SetName, pair: Text) -> DataPair:
    """Strike a pair: no training and no export uses it until it is restored."""
    return await _change_pair(
        kb, principal, name, lambda: kb.open_store(PairStore).set_state(name, pair, "struck", principal.name)
    )


@usecase("manager", everywhere=True)
async def data_restore(kb: KnowledgeBase, principal: Principal, *, name: SetName, pair: Text) -> DataPair:
    """Restore a pair that was struck."""
    return await _change_pair(
        kb, principal, name, lambda: kb.open_store(PairStore).set_state(name, pair, "kept", principal.name)
    )


@usecase("manager", everywhere=True)
async def data_correct(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    name: SetName,
    pair: Text,
    question: Question | None = None,
    answer: Answer | None = None,
) -> DataPair:
    """Change the question or answer of a pair; what is left out stays, and the first wording is kept beside it.

    Raises:
        NotFound: there is no such set or pair.
        InvalidInput: the question would be empty.
    """

    def correct() -> StoredPair:
        found = kb.open_store(PairStore).pair(name, pair)
        asked = " ".join((found.question if question is None else question).split())
        if not asked:
            raise InvalidInput("A pair needs a question. To leave it out, strike it.")
        answered = (found.answer if answer is None else answer).strip()
        return kb.open_store(PairStore).correct(name, pair, asked, answered, principal.name)

    return await _change_pair(kb, principal, name, correct)


@usecase("manager", everywhere=True)
async def data_remove(kb: KnowledgeBase, principal: Principal, *, name: SetName) -> RemovedData:
    """Remove a set with all its pairs. This cannot be undone; models that learnt from it stay."""
    # First of all: that a set is being made would tell that there is one.
    await kb.blocking(find_visible_set, kb, principal, name)
    if await is_being_made(kb, name):
        raise Conflict(f"The set '{name}' is being made. Stop that first.")

    def remove() -> RemovedData:
        return RemovedData(name, kb.open_store(PairStore).remove(name))

    return await kb.blocking(remove)


# -- files ------------------------------------------------------------------------------------------------------------


@usecase("manager", everywhere=True)
async def data_export(kb: KnowledgeBase, principal: Principal, *, name: SetName) -> ExportedData:
    """Export the kept pairs of a set with their passages, one JSON object a line.

    learn/README.md describes the fields.
    """
    from argot.learn.store.pair_store import PairQuery
    from argot.learn.training_pairs import serialize_pairs

    def export() -> ExportedData:
        find_visible_set(kb, principal, name)
        pairs = build_training_pairs(
            kb.document_store, principal, kb.open_store(PairStore).pairs(name, PairQuery(state="kept"))
        )
        return ExportedData(f"{name}.jsonl", serialize_pairs(pairs), len(pairs))

    return await kb.blocking(export)


@usecase("manager", everywhere=True)
async def data_import(
    kb: KnowledgeBase, principal: Principal, *, name: SetName, text: Text, audience: list[Reader] | None = None
) -> DataSet:
    """Create a set from the pairs in a JSONL text, as `data_export` writes it. All lines are imported, or none.

    A passage that is not in the documents is stored with its text; `audience` says who may see such passages (none:
    everyone).

    Raises:
        InvalidInput: a line is not a pair; the message names the line and the remedy.
        Conflict: there is a set of this name.
    """
    from argot.learn.store.pair_store import PairSet, SetDocument, StoredPair
    from argot.learn.training_pairs import parse_pairs

    def put_in() -> DataSet:
        parsed = parse_pairs(text, f"{name}.jsonl")
        if not parsed:
            raise InvalidInput(
                "There is no pair in it. A line holds one as a JSON object: see argot learn data export."
            )
        known = kb.document_store.passages(principal, [one.passage_id for one in parsed])
        pairs = [
            StoredPair(
                one.id, one.question, one.answer, one.passage_id,
                known[one.passage_id][1].id if one.passage_id in known else one.document, one.kind, one.part,
                "" if one.passage_id in known else one.passage, one.negatives,
            )
            for one in parsed
        ]  # fmt: skip
        used = {document.id: document for _, document in known.values()}.values()
        made = {"kinds": sorted({one.kind for one in parsed}), "limit": 0, "tags": [], "model": "", "imported": True}
        readers = tuple(sorted(set(audience or ())))
        kb.open_store(PairStore).create(PairSet(name, timestamp(), principal.name, 0, made, readers))
        documents = [SetDocument(one.id, one.name, tuple(sorted(one.audience))) for one in used]
        added = kb.open_store(PairStore).add(name, pairs, documents)
        left = {"the same question": len(pairs) - added} if added < len(pairs) else {}
        kb.open_store(PairStore).add(name, (), left_out=left)
        kb.open_store(PairStore).finish(name)
        return describe_set(kb, kb.open_store(PairStore).get_set(name), {})

    return await kb.blocking(put_in)


async def _change_pair(
    kb: KnowledgeBase, principal: Principal, name: str, change: Callable[[], StoredPair]
) -> DataPair:
    def work() -> DataPair:
        find_visible_set(kb, principal, name)
        return add_passages(kb, principal, [change()])[0]

    return await kb.blocking(work)
