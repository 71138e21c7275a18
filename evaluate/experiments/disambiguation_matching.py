"""Matching of sentences to a dictionary with other spellings, before the measurement.

A sentence has "puc" or "PUCs", and the dictionary PUC; a label is "Random Forest", and the dictionary has "random
forest". Exact matches are never changed: in some dictionaries senses differ only by case.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from argot.evaluate.experiments.disambiguation_data import AcronymSentence, Dictionary
from argot.jargon_db.lookup.normalise import guess_singulars, list_variants, normalise


@dataclass(frozen=True, slots=True)
class MatchedSentences:
    """Sentences in the dictionary's spelling. All counts are of labelled sentences.

    Attributes:
        unknown_acronyms: sentences whose acronym is not in the dictionary. Nothing is chosen for them.
        unknown_labels: sentences whose label is not one of the acronym's expansions. Any choice is wrong.
        one_sense: sentences whose acronym has only one expansion.
    """

    sentences: list[AcronymSentence]
    dictionary: dict[str, list[str]]
    unknown_acronyms: int
    unknown_labels: int
    one_sense: int


def match_sentences(sentences: Sequence[AcronymSentence], dictionary: Dictionary) -> MatchedSentences:
    """Return the same sentences in the same order. An acronym that matches several entries gets the expansions of all
    of them.
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
    """Return the dictionary's spelling of an acronym, or the acronym itself. Several matching entries are joined."""
    # Exact matches first: "ACs" may be an entry of its own and not the plural of "AC".
    if acronym in expansions:
        return acronym
    keys = (_make_key(acronym), *map(_make_key, guess_singulars(normalise(acronym))))
    alike = next((by_key[key] for key in keys if key in by_key), [])
    if len(alike) == 1:
        return alike[0]
    if alike:
        # "puc" where the dictionary has PUC and PuC may mean the expansions of either.
        expansions[acronym] = list(dict.fromkeys(name for entry in alike for name in expansions[entry]))
    return acronym


def _find_spelling(label: str | None, expansions: Sequence[str]) -> str | None:
    """Return the only expansion that differs from the label just in case, white space, hyphens or a plural; otherwise
    return the label.
    """
    if label is None or label in expansions:
        return label
    # Case and hyphens first, and plurals only if they find nothing: two expansions may differ only in the plural.
    for keys in ([normalise(label)], list_variants(label)):
        alike = [name for name in expansions if not set(keys).isdisjoint(list_variants(name)[: len(keys)])]
        if alike:
            return alike[0] if len(alike) == 1 else label
    return label


def _make_key(acronym: str) -> str:
    # U.S.A. and usa have the same key, and so have AC-1 and AC1.
    return "".join(char for char in normalise(acronym) if char not in ". -/")
