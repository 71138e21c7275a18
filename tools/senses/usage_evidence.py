"""Meaning of a short form in documents: for each passage that uses it bare, the probability of each of its senses.

Many documents never spell a term out: the export handbook uses "the ECC" throughout, and only the glossary says that it
means export control classification. Such a passage is still evidence once its sense is clear. It is read as
`evaluate/experiments/sense_neighbours.py` reads sentences, by document ("one sense per discourse", Gale, Church and
Yarowsky 1992): the senses that the document spells out, the contexts whose other expansions it uses, and the similarity
of its passages to each meaning. A sense that other documents spell out is less likely here: writers keep to their
habit.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from argot.corpus.corpus import Corpus
from argot.tools.reading.context_classifier import ContextSignatures
from argot.tools.senses.document_evidence import (
    cache_evidence,
    find_sense_passages,
    find_term_passages,
    measure_meaning_similarities,
)
from argot.types import Document, Passage, Principal, Sense

_MAX_SPELLING_PASSAGES = 120  # passages that spell a sense out
_MAX_DOCUMENTS = 16
_MAX_DOCUMENT_PASSAGES = 24  # passages of one document, the nearest to its uses of the term

# Logits, by hand; chosen on the validation half of the samples and on questions written beside it (docs/senses.md).
_SPELT_OUT_HERE = 4.0
_SPELT_OUT_ELSEWHERE = -1.0
_SPEAKS_OF_CONTEXT = 4.0
_NEAR_IN_MEANING = 8.0
_NONE_OF_THEM = -1.0

Shares = Mapping[str, tuple[float, ...]]
"""Passage id -> the probability of each sense, in their order; the difference to 1 is that of another sense."""


def find_usages(
    corpus: Corpus, principal: Principal, term: str, senses: Sequence[Sense], signatures: ContextSignatures | None
) -> Shares:
    """Return the passages this principal may read that use the term itself. Computed once per corpus and glossary."""
    # Part of the key: after a change of the glossary the same senses may have other shares.
    number = signatures.number if signatures else 0
    what = ("usages", number, term, tuple(senses))
    return cache_evidence(
        corpus.store, principal, what, lambda: _compute_usages(corpus, principal, term, senses, signatures)
    )


def _compute_usages(
    corpus: Corpus, principal: Principal, term: str, senses: Sequence[Sense], signatures: ContextSignatures | None
) -> Shares:
    passages = find_term_passages(corpus, principal, term)
    if not passages:
        return {}
    by_document: defaultdict[str, list[Passage]] = defaultdict(list)
    for passage in passages:
        by_document[passage.document_id].append(passage)
    spelt = _find_spelling_documents(corpus, principal, senses)
    near = measure_meaning_similarities(corpus, principal, senses)
    found: dict[str, tuple[float, ...]] = {}
    for document, own in list(by_document.items())[:_MAX_DOCUMENTS]:
        scores = _measure_contexts(corpus, principal, document, own, signatures)
        # Less the average, so that a document with words of every context counts for none.
        average = sum(scores.values()) / max(1, len({sense.context for sense in senses}))
        logits = []
        for sense, documents, similarities in zip(senses, spelt, near, strict=True):
            habit = _SPELT_OUT_HERE if document in documents else _SPELT_OUT_ELSEWHERE if documents else 0.0
            context = _SPEAKS_OF_CONTEXT * (scores.get(sense.context, 0.0) - average)
            meant = sum(similarities.get(passage.id, 0.0) for passage in own) / len(own)
            logits.append(habit + context + _NEAR_IN_MEANING * meant)
        shares = _compute_softmax(logits)
        found.update(dict.fromkeys((passage.id for passage in own), shares))
    return found


def _find_spelling_documents(corpus: Corpus, principal: Principal, senses: Sequence[Sense]) -> list[set[str]]:
    """Return, for each sense, the ids of the documents that spell it out."""
    found = []
    for sense in senses:
        ids = find_sense_passages(corpus.store, principal, sense)
        documents: Iterable[tuple[Passage, Document]] = corpus.store.passages(
            principal, ids[:_MAX_SPELLING_PASSAGES]
        ).values()
        found.append({passage.document_id for passage, _ in documents})
    return found


def _measure_contexts(
    corpus: Corpus,
    principal: Principal,
    document: str,
    own: Sequence[Passage],
    signatures: ContextSignatures | None,
) -> dict[str, float]:
    """Return, for each context, the share of the document's passages around `own` that use one of its expansions."""
    if signatures is None:
        return {}
    places = [passage.ordinal for passage in own]
    passages = corpus.store.passages_of(principal, document)
    nearest = sorted(passages, key=lambda passage: min(abs(passage.ordinal - place) for place in places))[
        :_MAX_DOCUMENT_PASSAGES
    ]
    counts = Counter(context for passage in nearest for context in signatures.find_contexts(passage))
    return {context: count / len(nearest) for context, count in counts.items()}


def _compute_softmax(logits: Sequence[float]) -> tuple[float, ...]:
    # Subtracted before exp to avoid overflow; the quotients are the same.
    best = max(*logits, _NONE_OF_THEM) if logits else 0.0
    weights = [math.exp(value - best) for value in logits]
    total = sum(weights) + math.exp(_NONE_OF_THEM - best)
    return tuple(weight / total for weight in weights)
