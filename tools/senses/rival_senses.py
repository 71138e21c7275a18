"""Passages that use a term in another sense than the asker chose: they answer another question."""

from __future__ import annotations

from collections.abc import Sequence

from argot.corpus.corpus import Corpus
from argot.tools.reading.context_classifier import ContextSignatures
from argot.tools.senses.document_evidence import find_sense_passages
from argot.tools.senses.usage_evidence import find_usages
from argot.tools.text.words import content_stems
from argot.types import Principal, Sense

_MIN_CLEAR_PROBABILITY = 0.8
"""Probability from which a passage counts as using the bare term in that sense."""


def find_rival_passages(
    corpus: Corpus,
    principal: Principal,
    meant: Sense,
    senses: Sequence[Sense],
    signatures: ContextSignatures | None = None,
) -> frozenset[str]:
    """Return ids of the passages that spell a rival sense out, or clearly use the bare term in one, and not in the
    sense that was meant.

    Args:
        meant: the sense the asker chose.
        senses: all senses of its term. A sense whose name is a part of the other's ("single-level cell cache") is no
            rival.
    """
    rivals = [sense for sense in senses if sense.id != meant.id and _is_rival(sense, meant)]
    if not rivals:
        return frozenset()
    weighed = [meant, *rivals]
    spelt = {passage for rival in rivals for passage in find_sense_passages(corpus.store, principal, rival)}
    # A passage that spells both out is also about the sense that was meant.
    spelt -= set(find_sense_passages(corpus.store, principal, meant))
    bare = find_usages(corpus, principal, meant.term, weighed, signatures)
    theirs = {passage for passage, shares in bare.items() if max(shares[1:]) >= _MIN_CLEAR_PROBABILITY}
    return frozenset(
        (spelt | theirs) - {passage for passage, shares in bare.items() if shares[0] >= _MIN_CLEAR_PROBABILITY}
    )


def _is_rival(sense: Sense, meant: Sense) -> bool:
    theirs, ours = set(content_stems(sense.expansion)), set(content_stems(meant.expansion))
    # A longer form of the same name is no rival: "cell cache" and "single-level cell cache".
    return bool(theirs) and bool(ours) and not (theirs <= ours or ours <= theirs)
