"""Support of a term's senses by the documents, where the glossary of a whole organisation stands beside the documents
of one team.

A sense counts if managers vouch for its context, or if its context is at home in the documents: they contain many of
its meanings. Another sense counts if the documents contain its meaning; if they use the term itself, one passage must
have both. If they contain none of the meanings but define the term themselves, their definition takes precedence.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from argot.corpus.corpus import Corpus
from argot.tools.reading.context_classifier import ContextSignatures
from argot.tools.senses.document_evidence import cache_evidence, find_sense_passages, find_term_passages
from argot.tools.text.words import content_stems
from argot.types import Principal, Sense

if TYPE_CHECKING:
    from argot.jargon_db.mining import DefinitionKind

MAX_OWN_SENSES = 100
"""Number of senses up to which a glossary counts as written for these documents, and is not weighed."""
MIN_HOME_SHARE = 0.25
"""Share of a context's meanings that the documents contain, from which the context is at home in them."""
MAX_HOME_MEANINGS = 40
"""Number of a context's meanings that are looked for."""

_MIN_HOME_MEANINGS = 8  # meanings of a context; one with fewer is at home nowhere
_MAX_DEFINING_PASSAGES = 12  # passages in which a definition of the term is looked for
_SURE_KINDS: frozenset[DefinitionKind] = frozenset(["table", "list", "brackets", "said"])
_MIN_DEFINITION_SCORE = 0.6  # score of a mined definition
_MIN_SHARED_STEMS = 0.6  # share of the shorter meaning's stems, from which two meanings are wordings of one


@dataclass(frozen=True, slots=True)
class TermSupport:
    """The senses of a term that count here, or else the meaning that the documents give it (`spelt_out`).

    `is_borne_out` is False if the documents support none of the senses, which are kept because the question asks for
    the term's meaning.
    """

    senses: tuple[Sense, ...] = ()
    spelt_out: str = ""
    is_borne_out: bool = True


class SupportFinder:
    """Finds the senses that these documents bear out, on behalf of one principal. Cheap to make."""

    def __init__(
        self, corpus: Corpus, principal: Principal, signatures: ContextSignatures, vouched: Collection[str]
    ) -> None:
        """
        Args:
            signatures: of the glossary that the principal may read.
            vouched: the contexts that managers have described, and the asker's own.
        """
        self._corpus = corpus
        self._principal = principal
        self._signatures = signatures
        self._vouched = vouched

    def find(self, term: str, senses: Sequence[Sense]) -> TermSupport:
        """Return the support for a term with these senses; empty if the documents support none of them."""
        vouched = [sense for sense in senses if sense.context in self._vouched]
        if self._signatures.size <= MAX_OWN_SENSES or len(vouched) == len(senses):
            return TermSupport(tuple(senses))
        uses = self._find_uses(term)
        holding = {sense.id: self._find_holding(sense, uses) for sense in senses}
        witnessed = [sense for sense in senses if holding[sense.id] & uses]
        at_home = [sense for sense in senses if self._is_at_home(sense.context)]
        # Documents that use the term, but never beside a meaning that they contain, may use it in another sense.
        attested = [sense for sense in senses if holding[sense.id] and (not uses or sense in at_home)]
        if uses and not (vouched or witnessed or attested) and (meaning := self._find_spelt_out(term)):
            alike = [sense for sense in senses if _is_alike(sense.expansion, meaning)]
            return TermSupport(tuple(alike)) if alike else TermSupport(spelt_out=meaning)
        counting = [*vouched, *witnessed, *attested, *at_home]
        return TermSupport(tuple(sense for sense in senses if sense in counting))

    def _find_uses(self, term: str) -> frozenset[str]:
        """Return the ids of the passages that use the term as it is written."""
        return cache_evidence(
            self._corpus.store,
            self._principal,
            ("uses", term),
            lambda: frozenset(passage.id for passage in find_term_passages(self._corpus, self._principal, term)),
        )

    def _find_holding(self, sense: Sense, uses: frozenset[str]) -> frozenset[str]:
        """Return the ids of the passages that contain the meaning; of a sense without an expansion, those with the
        term.
        """
        if not sense.expansion:
            return uses
        return frozenset(find_sense_passages(self._corpus.store, self._principal, sense))

    def _is_at_home(self, context: str) -> bool:
        """Return whether the documents contain at least `MIN_HOME_SHARE` of the context's meanings."""
        store, principal = self._corpus.store, self._principal
        meanings = self._signatures.sample_meanings(context, MAX_HOME_MEANINGS)
        if len(meanings) < _MIN_HOME_MEANINGS:
            return False
        (share,) = cache_evidence(
            store,
            principal,
            ("home", meanings),
            lambda: (sum(store.phrase_count(principal, one) > 0 for one in meanings) / len(meanings),),
        )
        return share >= MIN_HOME_SHARE

    def _find_spelt_out(self, term: str) -> str:
        """Return the meaning that the documents give the term; empty if they give none."""
        found = cache_evidence(
            self._corpus.store, self._principal, ("spelt out", term), lambda: self._mine_meanings(term)
        )
        return next(iter(found), "")

    def _mine_meanings(self, term: str) -> tuple[str, ...]:
        from argot.jargon_db.mining import MinedText, find_definitions_of

        defining = _build_defining_pattern(term)
        passages = find_term_passages(self._corpus, self._principal, term)
        texts = [
            MinedText(passage.id, passage.text, passage.heading)
            for passage in passages
            if defining.search(passage.text)
        ]
        found = find_definitions_of(term, texts[:_MAX_DEFINING_PASSAGES])
        return tuple(
            one.expansion
            for one in found
            if one.expansion and one.kind in _SURE_KINDS and one.score >= _MIN_DEFINITION_SCORE
        )


def _build_defining_pattern(term: str) -> re.Pattern[str]:
    """Return a pattern for the places where a passage may define the term: brackets, entries, cells, "stands for"."""
    name = rf"(?<!\w){re.escape(term)}s?(?!\w)"
    return re.compile(
        rf"\(\W*{name}|{name}\W*\s\(|^\W*{name}\W*?(?:[:=–—|-]|$)|\|\W*{name}\W*\||{name}\W+(?:stands|means|is short)",
        re.MULTILINE,
    )


def _is_alike(one: str, other: str) -> bool:
    ours, theirs = set(content_stems(one)), set(content_stems(other))
    shorter = min(len(ours), len(theirs))
    return shorter > 0 and len(ours & theirs) / shorter >= _MIN_SHARED_STEMS
