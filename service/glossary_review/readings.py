"""The meanings of terms within a text: which sense the text, and the document it is of, speak of.

A sense is chosen by evidence alone: its expansion is spelled out there, or the terms there that have one meaning are of
its context. Without evidence, or if it is divided, no sense is chosen: the reader is shown all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from argot.types import Principal, Sense

if TYPE_CHECKING:
    from argot.jargon_db.glossary import Glossary

MAX_EVIDENCE_CHARS = 60_000
"""Characters of a document in which evidence is looked for: its beginning, where it says what it is about."""
SPELLED_OUT = 4.0
"""Weight of an expansion in the text; the terms of a context weigh at most 1 together."""
OWN_CONTEXT = 0.25
"""Weight of the context that the reader named as their own: it decides only between senses that are otherwise equal."""
MIN_LEAD = 0.2
"""Lead over the second-best sense from which a sense is chosen."""


@dataclass(frozen=True, slots=True)
class TextEvidence:
    """Evidence of a text for senses: `spelled`, the ids of those that it spells out; `contexts`, for each context the
    number of its terms that have a meaning only there.
    """

    spelled: frozenset[int] = frozenset()
    contexts: Counter[str] = field(default_factory=Counter)


def read_evidence(glossary: Glossary, principal: Principal, text: str) -> TextEvidence:
    """Read the evidence of a document's text."""
    text = text[:MAX_EVIDENCE_CHARS]
    found = {mention.term for mention in glossary.lookup.matcher(principal).find(text) if mention.term}
    return weigh_terms(text, glossary.lookup.senses(principal, sorted(found)))


def weigh_terms(text: str, senses: Mapping[str, Sequence[Sense]]) -> TextEvidence:
    """Return the evidence of a text with these terms, each with its senses."""
    from argot.jargon_db.lookup.normalise import normalise

    words = f" {normalise(text[:MAX_EVIDENCE_CHARS])} "
    several = [one for some in senses.values() if len(some) > 1 for one in some]
    alone = (some for some in senses.values() if len({one.context for one in some}) == 1)
    spelled = frozenset(one.id for one in several if _is_within(one, words))
    return TextEvidence(spelled, Counter(some[0].context for some in alone))


def choose_meanings(senses: Sequence[Sense], evidence: Sequence[TextEvidence], context: str = "") -> list[Sense]:
    """Return the sense that the evidence is for, or all, best first, if it decides for none.

    Args:
        evidence: of the text itself, and of the documents it is of.
        context: the reader's own, which counts least.
    """
    if len(senses) < 2:
        return list(senses)
    scored = [(_score(one, evidence, context), one) for one in senses]
    scored.sort(key=lambda pair: -pair[0])
    (best, first), (second, _) = scored[:2]
    return [first] if best - second >= MIN_LEAD else [one for _, one in scored]


def _score(sense: Sense, evidence: Sequence[TextEvidence], context: str) -> float:
    counts: Counter[str] = Counter()
    for one in evidence:
        counts.update(one.contexts)
    share = counts[sense.context] / max(counts.total(), 1)
    spelled = any(sense.id in one.spelled for one in evidence)
    return SPELLED_OUT * spelled + share + OWN_CONTEXT * (bool(context) and sense.context == context)


def _is_within(sense: Sense, words: str) -> bool:
    from argot.jargon_db.lookup.normalise import normalise

    key = normalise(sense.expansion)
    # With what follows a word in running text; `normalise` keeps punctuation.
    return bool(key) and any(f" {key}{end}" in words for end in (" ", ".", ",", ";", ":", ")", "s ", "'s "))
