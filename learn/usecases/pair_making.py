"""The making of a set of pairs, passage by passage in an order that the seed gives. After a kill it resumes.

The pairs of a passage are stored with the record that it is done, in one transaction; the same passages and seed give
the same pairs, however often the making is interrupted.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from argot.learn.questions.duplicate_questions import AskedQuestions, make_passage_key
from argot.learn.questions.glossary_twins import ShortForm, make_twins
from argot.learn.questions.model_questions import MAX_CONSECUTIVE_PASSAGES, MODEL_KINDS, ModelKind, ModelQuestions
from argot.learn.questions.passage_questions import MadeQuestion, list_headings, make_passage_questions
from argot.learn.store.pair_store import PairQuery, PairSet, PairStore, SetDocument, StoredPair
from argot.learn.training_pairs import choose_part, make_pair_id
from argot.service.blocking_work import to_its_end
from argot.types import Document, Passage, Principal, is_of_thread

if TYPE_CHECKING:
    from argot.service.knowledge_base import KnowledgeBase

TOGETHER_WITHOUT_MODEL = 50
PARALLEL_PASSAGES = 4
"""Passages sent to the model at a time, as for derived texts."""
TWIN_KINDS = ("abbreviated", "spelt out")

Event = dict[str, Any]
P = ParamSpec("P")
T = TypeVar("T")


async def run_to_end(kb: KnowledgeBase, function: Callable[P, T], *args: P.args, **given: P.kwargs) -> T:
    """Call a store's function in a thread, and wait for its end even if the making is stopped meanwhile: the stores are
    closed next when the process ends, and a thread that still reads then would crash it.
    """
    return await to_its_end(asyncio.ensure_future(kb.blocking(function, *args, **given)))


@dataclass(frozen=True, slots=True)
class AskedBefore:
    """A question with thumbs up that its asker shared, with its answer. `by`: the asker."""

    question: str
    answer: str
    by: str


@dataclass
class PairMaking:
    """One making of a set, on behalf of its requester."""

    kb: KnowledgeBase
    principal: Principal
    made: PairSet
    spellings: Sequence[ShortForm] = ()
    asked_before: Mapping[str, Sequence[AskedBefore]] = field(default_factory=dict)
    model: ModelQuestions | None = None

    def __post_init__(self) -> None:
        self._kinds = frozenset(self.made.made["kinds"])
        self._limit = int(self.made.made.get("limit") or 0)
        self._documents: dict[str, Document] = {}
        self._places: dict[str, tuple[str, int]] = {}
        self._repeated = frozenset[str]()
        self._asked = AskedQuestions()
        self._left_out = Counter(self.made.left_out)
        self._count = 0

    async def make_pairs(self) -> AsyncGenerator[Event, None]:
        """Make the pairs; give `{"kind": "progress", "name", "done", "total"}` after each passage or few.

        Raises:
            ModelUnavailable: the server does not answer, or no longer; pairs made before are kept.
        """
        steps = await run_to_end(self.kb, self._prepare)
        done, total = self.made.done, self.made.done + len(steps)
        yield self._report_progress("", done, total)
        size = PARALLEL_PASSAGES if self.model else TOGETHER_WITHOUT_MODEL
        for start in range(0, len(steps), size):
            if self._is_full():
                break
            some = steps[start : start + size]
            of_model = (
                await asyncio.gather(*(self._ask_model(one) for one in some)) if self.model else [[] for _ in some]
            )
            # If it was stopped meanwhile, the making resumes from the stored state: this is stored first.
            await run_to_end(self.kb, self._keep, some, of_model, total)
            done += len(some)
            yield self._report_progress(self._documents[self._places[some[-1]][0]].name, done, total)
        await run_to_end(self.kb, self.kb.open_store(PairStore).finish, self.made.name)

    # -- preparation --------------------------------------------------------------------------------------------------

    def _prepare(self) -> list[str]:
        """Prepare the making; return the ids of the passages still to be gone through, in their order."""
        store, tags = self.kb.document_store, set(self.made.made.get("tags") or ())
        headings: Counter[str] = Counter()
        for document in store.documents(self.principal):
            if is_of_thread(document.audience) or (tags and not tags & set(document.all_tags)):
                continue
            self._documents[document.id] = document
            for place, passage in enumerate(store.passages_of(self.principal, document.id)):
                self._places[passage.id] = (document.id, place)
                found = list_headings(passage.text, document.title, first=not place)
                headings.update({one.casefold() for one in found})
        self._repeated = frozenset(heading for heading, count in headings.items() if count > 1)
        self._remember()
        done = self.kb.open_store(PairStore).list_done_steps(self.made.name)
        return sorted((one for one in self._places if one not in done), key=self._order)

    def _order(self, passage: str) -> bytes:
        return hashlib.blake2b(f"{self.made.seed}\0{passage}".encode(), digest_size=8).digest()

    def _remember(self) -> None:
        """Count the questions made before the making was cut off as asked."""
        kept = self.kb.open_store(PairStore).pairs(self.made.name, PairQuery())
        found = self.kb.document_store.passages(self.principal, [one.passage_id for one in kept])
        for one in kept:
            if one.passage_id in found:
                question = one.first_question or one.question
                self._asked.find_duplicate(question, found[one.passage_id][0].text, twin=one.kind in TWIN_KINDS)
        self._count = len(kept)

    def _is_full(self) -> bool:
        return bool(self._limit) and self._count >= self._limit

    # -- one passage --------------------------------------------------------------------------------------------------

    async def _ask_model(self, id_: str) -> list[tuple[MadeQuestion, Passage]]:
        passages = await run_to_end(self.kb, self._read_following, id_)
        kinds: list[ModelKind] = [kind for kind in MODEL_KINDS if kind in self._kinds]
        if self.model is None or not passages:
            return []
        document = self._documents[passages[0].document_id]
        found: list[tuple[MadeQuestion, Passage]] = []
        for kind in kinds:
            found += await self.model.of(kind, passages, self._describe_document(document))
        return found

    def _describe_document(self, document: Document) -> str:
        """Describe the case that a document is of: its title, and its fields by the names in ARGOT_HEADER_FIELDS. So a
        question about any passage can name it ("HDC Proto side test", Trustworthy Answers, figure 13).
        """
        return "; ".join([document.title, *self._list_fields(document)])

    def _list_fields(self, document: Document) -> Iterator[str]:
        for name in self.kb.settings.reading.header_fields.split(","):
            if values := document.values(name.strip().lower()):
                yield f"{name.strip().capitalize()}: {values[0]}"

    def _read_following(self, id_: str) -> list[Passage]:
        """Read the passage with those that follow it in its document."""
        document, place = self._places[id_]
        return self.kb.document_store.passages_of(self.principal, document)[place : place + MAX_CONSECUTIVE_PASSAGES]

    def _keep(self, steps: Sequence[str], of_model: Sequence[list[tuple[MadeQuestion, Passage]]], total: int) -> None:
        # Read only now: a document may be deleted by now, or no longer readable.
        found = self.kb.document_store.passages(self.principal, steps)
        pairs: list[StoredPair] = []
        for id_, made in zip(steps, of_model, strict=True):
            if id_ in found:
                pairs += self._make_pairs_of(*found[id_], made)
        used = [self._documents[id_] for id_ in dict.fromkeys(pair.document for pair in pairs)]
        documents = [SetDocument(one.id, one.name, tuple(sorted(one.audience))) for one in used]
        left_out = self._left_out + (self.model.left_out if self.model else Counter())
        self.kb.open_store(PairStore).add(self.made.name, pairs, documents, steps=steps, left_out=left_out, total=total)

    def _make_pairs_of(
        self, passage: Passage, document: Document, of_model: Sequence[tuple[MadeQuestion, Passage]]
    ) -> Iterator[StoredPair]:
        if "asked" in self._kinds:
            for before in self.asked_before.get(passage.id, ()):
                candidate = MadeQuestion("asked", before.question, before.answer)
                yield from self._make_with_twins(candidate, passage, before.by)
        for candidate in make_passage_questions(
            passage.text, document.title, self._kinds, first=not passage.ordinal, repeated=self._repeated
        ):
            yield from self._make_with_twins(candidate, passage)
        for candidate, of in of_model:
            yield from self._make_with_twins(candidate, of)

    def _make_with_twins(self, candidate: MadeQuestion, passage: Passage, by: str = "") -> Iterator[StoredPair]:
        if not (first := self._make_pair(candidate, passage, by)):
            return
        yield first
        # A sentence that is removed from its passage must occur there unchanged.
        if "twins" in self._kinds and candidate.kind != "cloze":
            for kind, question in make_twins(candidate.question, passage.with_header, self.spellings):
                if twin := self._make_pair(MadeQuestion(kind, question, candidate.answer), passage, by):
                    yield twin

    def _make_pair(self, candidate: MadeQuestion, passage: Passage, by: str) -> StoredPair | None:
        if self._is_full():
            return None
        twin = candidate.kind in TWIN_KINDS
        if reason := self._asked.find_duplicate(candidate.question, passage.text, twin=twin):
            self._left_out[reason] += 1
            return None
        self._count += 1
        return StoredPair(
            make_pair_id(candidate.question, passage.id),
            candidate.question,
            candidate.answer,
            passage.id,
            passage.document_id,
            candidate.kind,
            # By its words: the same passage in two documents is in one part.
            choose_part(make_passage_key(passage.text), self.made.seed),
            asked_by=by,
        )

    def _report_progress(self, name: str, done: int, total: int) -> Event:
        return {"kind": "progress", "name": name, "done": done, "total": total}
