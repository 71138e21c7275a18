"""Combines the definitions of the same terms from many passages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from argot.jargon_db.lookup.normalise import list_variants, normalise
from argot.jargon_db.mining.definition_patterns import (
    MAX_QUOTE_CHARS,
    DefinitionKind,
    FoundDefinition,
    find_definitions,
    find_sentences_about,
)

MAX_EVIDENCE = 5
"""Number of passages kept as evidence of one meaning, the most certain first."""
# "WLs", "DDR4s"; not "gas".
_PLURAL = re.compile(r"(?=.*[A-Z])(.*[A-Z0-9])s")


class MinedText(NamedTuple):
    """The parts of a passage that mining needs."""

    id: str
    text: str
    heading: str = ""


@dataclass(frozen=True, slots=True)
class Definition:
    """One passage's definition of a term. `expansion` may be empty: then `quote` describes it."""

    expansion: str
    quote: str
    passage_id: str
    kind: DefinitionKind
    score: float


@dataclass(frozen=True, slots=True)
class MinedMeaning:
    """A meaning found for a term: its number of passages, and (passage id, quote) of the best of them."""

    term: str
    expansion: str
    description: str
    score: float
    count: int
    kinds: tuple[DefinitionKind, ...]
    evidence: tuple[tuple[str, str], ...]


@dataclass(slots=True)
class _Meaning:
    terms: Counter[str] = field(default_factory=Counter)
    expansions: Counter[str] = field(default_factory=Counter)
    definitions: list[tuple[FoundDefinition, str, str]] = field(default_factory=list)


def find_definitions_of(term: str, passages: Iterable[MinedText]) -> list[Definition]:
    """Return the passages' definitions of a term, best first; one for each meaning and passage."""
    keys = set(list_variants(term))
    found: dict[tuple[str, str], Definition] = {}
    for passage in passages:
        defined = [
            one for one in find_definitions(passage.text, passage.heading) if keys & set(list_variants(one.term))
        ]
        for one in (*defined, *find_sentences_about(term, passage.text)):
            quote = _quote(one, passage.text)
            made = Definition(one.expansion, quote, passage.id, one.kind, one.score)
            key = (normalise(one.expansion), passage.id)
            # Of several places in one passage with the same definition, the most certain.
            if key not in found or found[key].score < made.score:
                found[key] = made
    # Among equally certain ones, the one in more passages.
    support = Counter(key[0] for key in found if key[0])
    return sorted(found.values(), key=lambda one: (-one.score, -support[normalise(one.expansion)], one.passage_id))


class Miner:
    """Receives passages one by one; at the end, returns their definitions."""

    def __init__(self) -> None:
        self._meanings: dict[tuple[str, str], _Meaning] = {}

    def read(self, passage: MinedText) -> None:
        for one in find_definitions(passage.text, passage.heading):
            term, expansion = _strip_plural(one.term, one.expansion)
            meaning = self._meanings.setdefault((normalise(term), normalise(expansion)), _Meaning())
            meaning.terms[term] += 1
            meaning.expansions[expansion] += 1
            meaning.definitions.append((one, passage.id, _quote(one, passage.text)))

    def collect(self) -> list[MinedMeaning]:
        """Return the meanings, the most certain and frequent first. A description alone is added to the expansion of
        its term.
        """
        by_term: dict[str, list[tuple[str, _Meaning]]] = {}
        for (term, expansion), meaning in self._meanings.items():
            by_term.setdefault(term, []).append((expansion, meaning))
        found = [one for meanings in by_term.values() for one in _merge_meanings(meanings)]
        return sorted(found, key=lambda one: (-one.score, -one.count, one.term, one.expansion))


def _merge_meanings(meanings: Sequence[tuple[str, _Meaning]]) -> list[MinedMeaning]:
    spelt = [_build_meaning(meaning) for expansion, meaning in meanings if expansion]
    alone = [_build_meaning(meaning) for expansion, meaning in meanings if not expansion]
    # Matching initials may be chance: they count only if no passage states the expansion.
    sure = [one for one in spelt if one.kinds != ("initials",)]
    kept = _drop_partial_meanings(sure or spelt)
    if not kept:
        return alone
    described = next((one.description for one in alone if one.description), "")
    # A description without expansion may belong to any of the meanings; the best is the likeliest.
    best = max(kept, key=lambda one: (one.score, one.count))
    return [_add_description(one, described) if one is best and not one.description else one for one in kept]


def _drop_partial_meanings(meanings: Sequence[MinedMeaning]) -> list[MinedMeaning]:
    """Return the meanings without those that only drop words from a better one of the term, or add some."""
    kept: list[MinedMeaning] = []
    for one in sorted(meanings, key=lambda one: (-one.count * one.score, -one.score, -len(one.expansion))):
        key = normalise(one.expansion)
        if not any(key in normalise(other.expansion) or normalise(other.expansion) in key for other in kept):
            kept.append(one)
    return kept


def _build_meaning(meaning: _Meaning) -> MinedMeaning:
    definitions = sorted(meaning.definitions, key=lambda one: -one[0].score)
    # One quote for each passage: reversed, so that the most certain is set last and kept; then reversed again.
    evidence = list({passage: quote for _, passage, quote in reversed(definitions)}.items())[::-1]
    return MinedMeaning(
        # In the spelling that most passages use, of all with this key.
        term=meaning.terms.most_common(1)[0][0],
        expansion=meaning.expansions.most_common(1)[0][0],
        description=next((one.description for one, _, _ in definitions if one.description), ""),
        score=round(max(one.score for one, _, _ in definitions), 3),
        count=len({passage for _, passage, _ in definitions}),
        kinds=tuple(dict.fromkeys(one.kind for one, _, _ in definitions)),
        evidence=tuple(evidence[:MAX_EVIDENCE]),
    )


def _add_description(one: MinedMeaning, description: str) -> MinedMeaning:
    return MinedMeaning(one.term, one.expansion, description, one.score, one.count, one.kinds, one.evidence)


def _strip_plural(term: str, expansion: str) -> tuple[str, str]:
    """Return WLs, "word lines" as WL, "word line"."""
    plural = _PLURAL.fullmatch(term)
    if plural is None:
        return term, expansion
    # "access" ends in a double s, and is no plural.
    return plural.group(1), expansion[:-1] if re.search(r"[^s]s$", expansion) else expansion


def _quote(one: FoundDefinition, text: str) -> str:
    quote = text[one.start : one.end].strip()
    return quote if len(quote) <= MAX_QUOTE_CHARS else quote[: MAX_QUOTE_CHARS - 1].rstrip() + "…"
