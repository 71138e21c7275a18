"""Meanings found in the documents, offered to managers: by whole documents, or for one term (`miss_loop`).

A proposal rests on documents with one set of readers at a time, so that none reveals text that its reader may not see.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from argot.jargon_db.lookup.normalise import list_variants, normalise
from argot.types import Audience, Document, Passage, Principal

if TYPE_CHECKING:
    from argot.corpus.store.document_store import CorpusStore
    from argot.jargon_db.glossary import Glossary
    from argot.jargon_db.mining import MinedMeaning, MinedText
    from argot.jargon_db.store.proposal_rows import Origin, Proposal

SURE = 0.8
"""Score from which somebody wrote it down as a definition: in a glossary, a table or list of terms, in brackets."""
LIKELY = 0.5
"""Score from which words state it, or its letters spell the term."""
MIN_SCORE = 0.3
"""Less certain ones are not offered."""
BATCH_DOCUMENTS = 8
BATCH_PASSAGES = 500
"""Number of documents read before their meanings are stored."""


@dataclass(frozen=True, slots=True)
class FoundMeaning:
    """A meaning, and the readers of the documents that state it. `proposal` is its number, once it is stored."""

    mined: MinedMeaning
    audience: Audience
    proposal: int | None = None


@dataclass(frozen=True, slots=True)
class MiningProgress:
    """Progress of mining: `done` of `total` documents."""

    name: str
    done: int
    total: int
    offered: int


def group_texts_by_readers(passages: Iterable[tuple[Passage, Document]]) -> dict[Audience, list[MinedText]]:
    """Return passages in the form that mining needs, grouped by readers."""
    from argot.jargon_db.mining import MinedText

    texts: defaultdict[Audience, list[MinedText]] = defaultdict(list)
    for passage, document in passages:
        texts[document.audience].append(MinedText(passage.id, passage.text, passage.header))
    return dict(texts)


def _offer(
    glossary: Glossary,
    origin: Origin,
    mined: MinedMeaning,
    audience: Audience,
    *,
    context: str | None = None,
    by: str = "",
) -> Proposal:
    """Propose the meanings. A repeated one adds its evidence, and decisions stay."""
    return glossary.proposals.add(
        origin,
        mined.term,
        mined.expansion,
        context=context,
        description=mined.description,
        evidence=mined.evidence,
        audience=audience,
        created_by=by,
        score=mined.score,
    )


def unread(store: CorpusStore, glossary: Glossary, principal: Principal) -> list[Document]:
    """Return the documents this person may read that were not mined in their present revision."""
    documents = store.documents(principal)
    new = set(glossary.mining.list_unmined(document.revision_id for document in documents))
    return [document for document in documents if document.revision_id in new]


@dataclass
class Mining:
    """One run through the documents a person may read. Results are stored as it goes; an interrupted run is continued
    by the next, and a complete one is not repeated.

    Args:
        stored: propose the meanings; otherwise they are only reported, and every document is read.
        again: read documents mined before as well.
    """

    store: CorpusStore
    glossary: Glossary
    principal: Principal
    context: str | None = None
    stored: bool = True
    again: bool = False
    documents: int = 0
    skipped: int = 0
    passages: int = 0
    found: int = 0
    known: int = 0
    decided: int = 0
    offered: list[FoundMeaning] = field(default_factory=list)

    def run(self) -> Iterator[MiningProgress]:
        readable = self.store.documents(self.principal)
        todo = readable if self.again or not self.stored else unread(self.store, self.glossary, self.principal)
        self.documents, self.skipped = len(todo), len(readable) - len(todo)
        self._remember()
        yield MiningProgress("", 0, len(todo), 0)
        batch: list[tuple[Passage, Document]] = []
        begun = 0
        for done, document in enumerate(todo, 1):
            passages = self.store.passages_of(self.principal, document.id)
            batch += [(passage, document) for passage in passages]
            if done - begun >= BATCH_DOCUMENTS or len(batch) >= BATCH_PASSAGES or done == len(todo):
                self._take(batch)
                # After storing: a run killed in between reads these documents again, and offers nothing twice.
                if self.stored:
                    self.glossary.mining.mark_mined([one.revision_id for one in todo[begun:done]])
                batch, begun = [], done
            yield MiningProgress(document.name, done, len(todo), len(self.offered))

    def best(self, limit: int) -> list[FoundMeaning]:
        """Return the meanings that were offered, the most certain and frequent first."""
        return sorted(self.offered, key=lambda one: (-one.mined.score, -one.mined.count, one.mined.term))[:limit]

    def _take(self, batch: Sequence[tuple[Passage, Document]]) -> None:
        from argot.jargon_db.mining import Miner

        self.passages += len(batch)
        for audience, texts in group_texts_by_readers(batch).items():
            # One for each set of readers, so that no meaning rests on text that its reader may not see.
            miner = Miner()
            for text in texts:
                miner.read(text)
            for mined in miner.collect():
                # A term without a meaning cannot be proposed.
                if mined.expansion and mined.score >= MIN_SCORE:
                    self._weigh(mined, audience)

    def _weigh(self, mined: MinedMeaning, audience: Audience) -> None:
        key = (normalise(mined.term), normalise(mined.expansion))
        self.found += 1
        if key in self._known:
            self.known += 1
        # Managers have decided already, and are not asked again.
        elif key in self._decided:
            self.decided += 1
        elif not self._is_worse(key, mined):
            number = None
            if self.stored:
                number = _offer(
                    self.glossary, "mined", mined, audience, context=self.context, by=self.principal.name
                ).id
            # A later batch may find it too; it is one proposal with more evidence.
            if (key, audience) not in self._seen:
                self.offered.append(FoundMeaning(mined, audience, number))
            self._seen.add((key, audience))
            open_ = self._open[key[0]]
            open_[key[1]] = max(open_.get(key[1], 0.0), mined.score)

    def _is_worse(self, key: tuple[str, str], mined: MinedMeaning) -> bool:
        """Return whether an at least equally certain meaning is open for the term that says the same in more or fewer
        words.

        If this one only fits by its letters, any more certain meaning is better. `Miner` compares so within one batch.
        """
        for expansion, score in self._open[key[0]].items():
            if expansion == key[1] or score < mined.score:
                continue
            if expansion in key[1] or key[1] in expansion or (mined.kinds == ("initials",) and score > mined.score):
                return True
        return False

    def _remember(self) -> None:
        """Load the glossary's meanings, the decided and the open ones, to compare with the new ones."""
        self._seen: set[tuple[tuple[str, str], Audience]] = set()
        self._known = {
            (key, normalise(sense.expansion))
            for sense in self.glossary.senses.find(self.principal)
            for name in (sense.term, *sense.aliases)
            # Plurals and other forms of a known term are known as well.
            for key in list_variants(name)
        }
        self._decided: set[tuple[str, str]] = set()
        self._open: defaultdict[str, dict[str, float]] = defaultdict(dict)
        for one in self.glossary.proposals.find(self.principal, status=None):
            term, expansion = normalise(one.term), normalise(one.expansion)
            if one.status == "open":
                self._open[term][expansion] = one.score or 0.0
            else:
                self._decided.add((term, expansion))
