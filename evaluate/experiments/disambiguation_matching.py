"""Matching of sentences and a dictionary that spell the same thing differently, before anything is measured.

A sentence says "puc" or "PUCs" where the dictionary has PUC; a label says "Random Forest" where it has "random forest".
What the dictionary has letter for letter is never touched: some dictionaries tell senses apart by case alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from argot.evaluate.experiments.disambiguation_data import AcronymSentence, Dictionary
from argot.jargon_db.lookup.normalise import guess_singulars, list_variants, normalise


@dataclass(frozen=True, slots=True)
class MatchedSentences:
    """Sentences in the dictionary's spelling. The unmatched are counted over the labelled ones.

    Attributes:
        unknown_acronyms: sentences whose acronym the dictionary lacks. Nothing is chosen for them.
        unknown_labels: sentences whose label is none of the acronym's expansions. Whatever is chosen is wrong.
        one_sense: sentences whose acronym has a single expansion.
    """

    sentences: list[AcronymSentence]
    dictionary: dict[str, list[str]]
    unknown_acronyms: int
    unknown_labels: int
    one_sense: int


def match_sentences(sentences: Sequence[AcronymSentence], dictionary: Dictionary) -> MatchedSentences:
    """Return the same sentences, in order. An acronym that several entries spell alike gets the expansions of all of
    them.
    """
    expansions = {acronym: list(found) for acronym, found in dictionary.items()}
    by_key: defaultdict[str, list[str]] = defaultdict(list)
    for acronym in dictionary:
        by_key[_make_key(acronym)].append(acronym)
    found = []
    for sentence in sentences:
        acronym = _find_entry(sentence.acronym, expansions, by_key)
        label = _find_spelling(sentence.expansion, expansions.get(acronym, ()))
        found.append(replace(sentence, acronym=acronym, expansion=label))
    labelled = [one for one in found if one.expansion is not None]
    known = [one for one in labelled if one.acronym in expansions]
    return MatchedSentences(
        sentences=found,
        dictionary=expansions,
        unknown_acronyms=len(labelled) - len(known),
        unknown_labels=sum(one.expansion not in expansions[one.acronym] for one in known),
        one_sense=sum(len(expansions[one.acronym]) == 1 for one in known),
    )


def _find_entry(acronym: str, expansions: dict[str, list[str]], by_key: dict[str, list[str]]) -> str:
    """Return the dictionary's spelling of an acronym, else the acronym. Where several entries fit, they are joined."""
    # Letter for letter first, also before "ACs" could be the plural of "AC".
    if acronym in expansions:
        return acronym
    keys = (_make_key(acronym), *map(_make_key, guess_singulars(normalise(acronym))))
    alike = next((by_key[key] for key in keys if key in by_key), [])
    if len(alike) == 1:
        return alike[0]
    if alike:
        # "puc" where the dictionary has PUC and PuC: it may mean what either does.
        expansions[acronym] = list(dict.fromkeys(name for entry in alike for name in expansions[entry]))
    return acronym


def _find_spelling(label: str | None, expansions: Sequence[str]) -> str | None:
    """Return the one expansion that differs from the label in case, white space, hyphens or a plural alone; else the
    label.
    """
    if label is None or label in expansions:
        return label
    # Case and hyphens first, plurals only if that finds none: two expansions may differ in the plural alone.
    for keys in ([normalise(label)], list_variants(label)):
        alike = [name for name in expansions if not set(keys).isdisjoint(list_variants(name)[: len(keys)])]
        if alike:
            return alike[0] if len(alike) == 1 else label
    return label


def _make_key(acronym: str) -> str:
    # U.S.A. and usa, AC-1 and AC1 have one key.
    return "".join(char for char in normalise(acronym) if char not in ". -/")
