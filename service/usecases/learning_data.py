"""Sets of training pairs: made of the documents, looked through and corrected by people, exported and imported."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args
from weakref import WeakKeyDictionary

from pydantic import Field

from argot.clock import timestamp
from argot.errors import Conflict, InvalidInput, InvalidSettings, ModelUnavailable, NotFound
from argot.service.knowledge_base import KnowledgeBase
from argot.service.learning.pair_sets import visible_set, visible_sets
from argot.service.learning.set_inputs import training_pairs
from argot.service.usecases.questions import run_context
from argot.service.usecases.usecase_registry import Count, Event, Finished, Reader, Text, usecase
from argot.types import Principal

if TYPE_CHECKING:
    from argot.learn.questions.glossary_twins import Spelling
    from argot.learn.store.pair_store import PairSet, StoredPair
    from argot.service.learning.pair_making import AskedBefore

DataKind = Literal["heading", "definition", "cloze", "asked", "twins", "standard", "alternative", "simple", "complex"]
DATA_KINDS: tuple[DataKind, ...] = get_args(DataKind)
WITHOUT_MODEL: tuple[DataKind, ...] = ("heading", "definition", "cloze", "asked", "twins")
PairPart = Literal["", "train", "validation", "test"]
PAIR_PARTS: tuple[PairPart, ...] = get_args(PairPart)
PairStateAsked = Literal["", "kept", "struck", "corrected"]
PAIR_STATES: tuple[PairStateAsked, ...] = get_args(PairStateAsked)
DEFAULT_SEED = 7
MOST_SHOWN = 200

SetName = Annotated[Text, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,59}$")]
Words = Annotated[Text, Field(max_length=500)]
Question = Annotated[Text, Field(min_length=1, max_length=1000)]
Answer = Annotated[Text, Field(max_length=10_000)]

_making: WeakKeyDictionary[KnowledgeBase, set[str]] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class DataSet:
    """A set of pairs: how it was made, and what is in it. `pairs` are those kept, `by_kind` and `by_part` count them.

    `status`: "making", "stopped" (the same command goes on there) or "done"; `done` of `total` passages were gone
    through. `left_out`: how many pairs, by reason.
    """

    name: str
    created: str
    created_by: str
    seed: int
    kinds: list[str]
    limit: int
    tags: list[str]
    model: str
    status: Literal["making", "stopped", "done"]
    done: int
    total: int
    pairs: int
    struck: int
    corrected: int
    by_kind: dict[str, int]
    by_part: dict[str, int]
    left_out: dict[str, int]


@dataclass(frozen=True, slots=True)
class DataPair:
    """A pair with its passage. `document_id` is empty where the passage came with an import and is not in the base.

    `first_question`, `first_answer`: as they were made, where somebody corrected them. `passage` is empty where it is
    not in the documents any more: the pair is then in no training.
    """

    id: str
    question: str
    answer: str
    kind: str
    part: str
    state: str
    passage_id: str
    passage: str
    document: str
    document_id: str
    first_question: str | None
    first_answer: str | None
    changed_by: str
    changed_at: str


@dataclass(frozen=True, slots=True)
class DataFound:
    """The set, so many of its pairs, and how many there are of those asked for."""

    set: DataSet
    pairs: list[DataPair]
    total: int


@dataclass(frozen=True, slots=True)
class ExportedData:
    """The kept pairs of a set as JSONL; `name` is the file's."""

    name: str
    text: str
    pairs: int


@dataclass(frozen=True, slots=True)
class RemovedData:
    name: str
    pairs: int


# -- making -----------------------------------------------------------------------------------------------------------


@usecase("manager", everywhere=True)
async def data_make(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    name: SetName,
    kinds: list[DataKind] | None = None,
    limit: Count | None = None,
    seed: Count | None = None,
    tags: list[Text] | None = None,
) -> AsyncIterator[Event | Finished[DataSet]]:
    """Make a set of training pairs of the documents one may read, or go on with one whose making was cut off.

    Events: `{"kind": "progress", "name", "done", "total"}`. Without `kinds` those that take no language model; with
    `limit` no more pairs; with `tags` of documents with one of these alone. Going on, a set is made as it was begun.

    Raises:
        Conflict: there is a set of this name, or it is being made.
        InvalidSettings: a kind takes a language model, and none is named.
        ModelUnavailable: it does not answer any more; what was made before is kept.
    """
    from argot.learn.questions.model_questions import MODEL_KINDS, ModelQuestions
    from argot.service.learning.pair_making import PairMaking

    given = {"kinds": kinds, "limit": limit, "seed": seed, "tags": tags}
    running = _making.setdefault(kb, set())
    if name in running:
        raise Conflict(f"The set '{name}' is being made. Wait until that is done, or stop it.")
    # With no await since the test above, so that no second run slips in between.
    running.add(name)
    try:
        found = await kb.blocking(_begun, kb, principal, name, given)
        server = kb.model_server if set(found.made["kinds"]) & set(MODEL_KINDS) else None
        making = PairMaking(
            kb,
            principal,
            found,
            await kb.blocking(_spellings, kb, principal) if "twins" in found.made["kinds"] else (),
            await _asked_before(kb, principal) if "asked" in found.made["kinds"] else {},
            ModelQuestions(server) if server else None,
        )
        async with aclosing(making.events()) as events:
            try:
                async for event in events:
                    yield event
            except ModelUnavailable as error:
                raise ModelUnavailable(f"{error} What was made is kept; the same command goes on there.") from error
        running.discard(name)
        yield Finished(await kb.blocking(_shown, kb, visible_set(kb, principal, name)))
    finally:
        running.discard(name)


def _begun(kb: KnowledgeBase, principal: Principal, name: str, given: Mapping[str, Any]) -> PairSet:
    """The set as it is to be made: one that is begun, or a new one.

    Raises:
        Conflict, InvalidInput, InvalidSettings
    """
    from argot.learn.store.pair_store import PairSet

    kinds = list(dict.fromkeys(given["kinds"] or WITHOUT_MODEL))
    wanted: dict[str, Any] = {"kinds": kinds, "limit": given["limit"] or 0}
    wanted["tags"] = sorted(set(given["tags"] or ()))
    try:
        found = visible_set(kb, principal, name)
    except NotFound:
        seed = DEFAULT_SEED if given["seed"] is None else given["seed"]
        wanted["model"] = _model_for(kb, kinds)
        found = PairSet(name, timestamp(), principal.name, seed, wanted)
        # Conflict where another one has it that this person may not see: a name tells nothing of its documents.
        kb.learning.create(found)
        return found
    if found.status == "done":
        raise Conflict(f"There is a set of pairs '{name}' already. Give another name, or remove it first.")
    began = {**found.made, "seed": found.seed}
    differs = [
        key for key, value in given.items() if value is not None and {**wanted, "seed": value}[key] != began[key]
    ]
    if differs:
        raise InvalidInput(
            f"The set '{name}' was begun with other {' and '.join(differs)}. Go on with: argot learn data make {name}"
        )
    _model_for(kb, began["kinds"])
    return found


def _model_for(kb: KnowledgeBase, kinds: list[str]) -> str:
    asking = [kind for kind in kinds if kind not in WITHOUT_MODEL]
    if asking and kb.model_server is None:
        raise InvalidSettings(
            f"Questions of the kind '{asking[0]}' take a language model, and none is named. Set "
            "ARGOT_MODEL_URL=http://HOST:PORT/v1, or choose other kinds."
        )
    return kb.settings.model if asking else ""


def _spellings(kb: KnowledgeBase, principal: Principal) -> list[Spelling]:
    """The short forms of approved senses that everybody may read: a question must give no other away."""
    from argot.learn.questions.glossary_twins import Spelling

    senses = kb.glossary.senses.find(principal, status="approved")
    meanings: defaultdict[str, set[str]] = defaultdict(set)
    for sense in senses:
        meanings[sense.term].add(sense.expansion.casefold())
    return [
        Spelling(sense.term, sense.expansion, len(meanings[sense.term]) == 1)
        for sense in senses
        if not sense.audience and sense.expansion and _is_short(sense.term, sense.expansion)
    ]


def _is_short(term: str, expansion: str) -> bool:
    return len(term) < len(expansion) and " " not in term and sum(character.isupper() for character in term) > 1


async def _asked_before(kb: KnowledgeBase, principal: Principal) -> dict[str, list[AskedBefore]]:
    """By the passage that was cited first: questions with thumbs up whose askers let the managers read them."""
    from argot.service.learning.pair_making import AskedBefore
    from argot.service.threads.feedback_export import judged_answers
    from argot.service.threads.feedback_results import SharedAnswer

    said = [one for one in await (await kb.threads()).judged() if one.said.value > 0 and one.said.shared]
    found: defaultdict[str, list[AskedBefore]] = defaultdict(list)
    if said:
        judged = await kb.blocking(judged_answers, await run_context(kb, principal), said)
        for one, row in zip(said, judged, strict=True):
            if isinstance(row, SharedAnswer) and row.gold:
                question = row.stand_alone_question or row.question
                answer = " ".join(each.text for each in row.sentences if each.supported)
                found[row.gold[0].passage_id].append(AskedBefore(question, answer, one.said.user))
    return found


# -- looking through --------------------------------------------------------------------------------------------------


@usecase("manager", everywhere=True)
async def data_list(kb: KnowledgeBase, principal: Principal) -> list[DataSet]:
    """The sets of training pairs of documents that one may all read, newest first."""
    return await kb.blocking(lambda: [_shown(kb, one) for one in visible_sets(kb, principal)])


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
    limit: Annotated[int, Field(ge=1, le=MOST_SHOWN)] = 25,
) -> DataFound:
    """A set and its pairs, in the order in which they were made: those with all these words in question or answer, of
    this kind, part and state.

    Raises:
        NotFound: there is no such set, or it is of documents that one may not all read.
    """
    from argot.learn.store.pair_store import PairQuery

    def read() -> DataFound:
        found, query = visible_set(kb, principal, name), PairQuery(words, kind, part, state)
        stored = kb.learning.pairs(name, query, limit=limit, offset=start)
        return DataFound(_shown(kb, found), _with_passages(kb, principal, stored), kb.learning.count(name, query))

    return await kb.blocking(read)


@usecase("manager", everywhere=True)
async def data_strike(kb: KnowledgeBase, principal: Principal, *, name: SetName, pair: Text) -> DataPair:
    """Strike a pair: it is in no training and no export, until it is restored."""
    return await _changed(kb, principal, name, lambda: kb.learning.set_state(name, pair, "struck", principal.name))


@usecase("manager", everywhere=True)
async def data_restore(kb: KnowledgeBase, principal: Principal, *, name: SetName, pair: Text) -> DataPair:
    """Take back that a pair was struck."""
    return await _changed(kb, principal, name, lambda: kb.learning.set_state(name, pair, "kept", principal.name))


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
    """Give a pair another question or answer; what is left out stays. How it was made stays known.

    Raises:
        NotFound: there is no such set or pair.
        InvalidInput: nothing is left of the question.
    """

    def correct() -> StoredPair:
        found = kb.learning.pair(name, pair)
        asked = " ".join((found.question if question is None else question).split())
        if not asked:
            raise InvalidInput("A pair needs a question. To leave it out, strike it.")
        answered = (found.answer if answer is None else answer).strip()
        return kb.learning.correct(name, pair, asked, answered, principal.name)

    return await _changed(kb, principal, name, correct)


@usecase("manager", everywhere=True)
async def data_remove(kb: KnowledgeBase, principal: Principal, *, name: SetName) -> RemovedData:
    """Remove a set with all its pairs. It cannot be undone; models that learnt from it stay."""
    if name in _making.get(kb, ()):
        raise Conflict(f"The set '{name}' is being made. Stop that first.")

    def remove() -> RemovedData:
        visible_set(kb, principal, name)
        return RemovedData(name, kb.learning.remove(name))

    return await kb.blocking(remove)


# -- files ------------------------------------------------------------------------------------------------------------


@usecase("manager", everywhere=True)
async def data_export(kb: KnowledgeBase, principal: Principal, *, name: SetName) -> ExportedData:
    """The kept pairs of a set with their passages, one JSON object a line (docs/learning.md has the fields)."""
    from argot.learn.store.pair_store import PairQuery
    from argot.learn.training_pairs import pairs_text

    def export() -> ExportedData:
        visible_set(kb, principal, name)
        pairs = training_pairs(kb, principal, kb.learning.pairs(name, PairQuery(state="kept")))
        return ExportedData(f"{name}.jsonl", pairs_text(pairs), len(pairs))

    return await kb.blocking(export)


@usecase("manager", everywhere=True)
async def data_import(
    kb: KnowledgeBase, principal: Principal, *, name: SetName, text: Text, audience: list[Reader] | None = None
) -> DataSet:
    """A new set of the pairs in a JSONL text, as `data_export` writes it. All of them, or none.

    A passage that is not in the documents is kept with its text; `audience`: who may see those (none: everyone).

    Raises:
        InvalidInput: a line is no pair; the message names line and remedy.
        Conflict: there is a set of this name.
    """
    from argot.learn.store.pair_store import PairSet, SetDocument, StoredPair
    from argot.learn.training_pairs import pairs_in

    def put_in() -> DataSet:
        given = pairs_in(text, f"{name}.jsonl")
        if not given:
            raise InvalidInput(
                "There is no pair in it. A line holds one as a JSON object: see argot learn data export."
            )
        known = kb.document_store.passages(principal, [one.passage_id for one in given])
        pairs = [
            StoredPair(
                one.id, one.question, one.answer, one.passage_id,
                known[one.passage_id][1].id if one.passage_id in known else one.document, one.kind, one.part,
                "" if one.passage_id in known else one.passage, one.negatives,
            )
            for one in given
        ]  # fmt: skip
        used = {document.id: document for _, document in known.values()}.values()
        made = {"kinds": sorted({one.kind for one in given}), "limit": 0, "tags": [], "model": "", "imported": True}
        readers = tuple(sorted(set(audience or ())))
        kb.learning.create(PairSet(name, timestamp(), principal.name, 0, made, readers))
        documents = [SetDocument(one.id, one.name, tuple(sorted(one.audience))) for one in used]
        added = kb.learning.add(name, pairs, documents)
        left = {"the same question": len(pairs) - added} if added < len(pairs) else {}
        kb.learning.add(name, (), left_out=left)
        kb.learning.finish(name)
        return _shown(kb, kb.learning.named(name))

    return await kb.blocking(put_in)


# -- parts ------------------------------------------------------------------------------------------------------------


async def _changed(kb: KnowledgeBase, principal: Principal, name: str, change: Any) -> DataPair:
    def work() -> DataPair:
        visible_set(kb, principal, name)
        return _with_passages(kb, principal, [change()])[0]

    return await kb.blocking(work)


def _shown(kb: KnowledgeBase, one: PairSet) -> DataSet:
    from argot.learn.store.pair_store import PairQuery

    store, made = kb.learning, one.made
    status: Literal["making", "stopped", "done"] = "done" if one.status == "done" else "stopped"
    if one.name in _making.get(kb, ()):
        status = "making"
    kept, struck, corrected = (
        store.count(one.name, PairQuery(state=state)) for state in ("kept", "struck", "corrected")
    )
    return DataSet(
        one.name, one.created, one.created_by, one.seed, list(made["kinds"]), made["limit"], list(made["tags"]),
        made["model"], status, one.done, one.total, kept, struck, corrected, store.counts(one.name, "kind"),
        store.counts(one.name, "part"), dict(one.left_out),
    )  # fmt: skip


def _with_passages(kb: KnowledgeBase, principal: Principal, stored: list[StoredPair]) -> list[DataPair]:
    found = kb.document_store.passages(principal, [one.passage_id for one in stored if not one.passage])
    shown = []
    for one in stored:
        passage, document, id_ = one.passage, one.document, ""
        if not passage:
            document = ""
        if not passage and one.passage_id in found:
            of = found[one.passage_id]
            passage, document, id_ = of[0].with_header, of[1].name, of[1].id
        shown.append(
            DataPair(
                id=one.id, question=one.question, answer=one.answer, kind=one.kind, part=one.part, state=one.state,
                passage_id=one.passage_id, passage=passage, document=document, document_id=id_,
                first_question=one.first_question, first_answer=one.first_answer, changed_by=one.changed_by,
                changed_at=one.changed_at,
            )
        )  # fmt: skip
    return shown
