"""The names of a concept as the glossary has them: the term, what it stands for, and its other names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from argot.types import Label

_SHORT_KINDS = ("abbreviation", "acronym", "initialism", "shortform", "clipped", "symbol", "abbreviatedform")
_FULL_KINDS = ("fullform", "fullform-termtype")
_IN_BRACKETS = re.compile(r"^(?P<before>[^()]+?)\s*\((?P<inside>[^()]+)\)$")


@dataclass(frozen=True, slots=True)
class ChosenNames:
    """The term and expansion among the labels of a concept."""

    term: str
    expansion: str


def choose_names(labels: Sequence[Label], language: str, *, described: bool) -> ChosenNames:
    """Choose among the labels of one concept, of which there is at least one.

    Labels of the preferred language (en also means en-GB) count, else those without one, else those of the first.
    Without a pair of short and long form, the preferred label is the term; it is its own expansion if the concept has
    no description.
    """
    own = filter_language(labels, language)
    usable = [one for one in own if one.is_usable] or own
    ranked = sorted(usable, key=lambda one: one.status != "preferred")
    short = next((one for one in ranked if is_short_kind(one.kind)), None)
    full = next((one for one in ranked if one.kind.casefold() in _FULL_KINDS), None)
    if short is not None:
        full = full or next((one for one in ranked if not is_short_kind(one.kind)), None)
        return ChosenNames(short.text, full.text if full else "" if described else short.text)
    main = (full or ranked[0]).text
    term, expansion = choose_short_form(main, [one.text for one in ranked if one.text != main])
    return ChosenNames(term, "" if described and term == expansion else expansion)


def filter_language(labels: Sequence[Label], language: str) -> list[Label]:
    wanted = language.lower()
    for group in (
        [one for one in labels if wanted and (one.language == wanted or one.language.startswith(f"{wanted}-"))],
        [one for one in labels if not one.language],
    ):
        if group:
            return group
    return [one for one in labels if one.language == labels[0].language]


def is_short_kind(kind: str) -> bool:
    return kind.casefold().replace(" ", "").replace("_", "") in _SHORT_KINDS


def clean_language(code: str) -> str:
    return code.strip().replace("_", "-").lower()


def choose_short_form(preferred: str, others: Sequence[str]) -> tuple[str, str]:
    """Return (term, expansion) if one label abbreviates the preferred one, or is abbreviated by it."""
    for other in others:
        if is_abbreviation(other, preferred):
            return other, preferred
    for other in others:
        if is_abbreviation(preferred, other):
            return preferred, other
    return preferred, preferred


def split_brackets(text: str) -> tuple[str, str]:
    """Return (term, expansion) of "service level agreement (SLA)" and "SLA (service level agreement)"; otherwise the
    text and nothing.
    """
    if (found := _IN_BRACKETS.match(text)) is not None:
        before, inside = found["before"].strip(), found["inside"].strip()
        if is_abbreviation(inside, before):
            return inside, before
        if is_abbreviation(before, inside):
            return before, inside
    return text, ""


def is_abbreviation(label: str, long: str) -> bool:
    """Return whether a label of one word with two capitals or more spells the other by its letters, as PUC does."""
    # Imported here: files that Argot wrote mark their terms, and need no guess.
    from argot.jargon_db.mining.spelling_out import GOOD_SCORE, normalize_letters, score_spelling

    # Cheap checks first: many labels of a thesaurus are longer names.
    if any(char.isspace() for char in label) or sum(char.isupper() for char in label) < 2 or len(label) >= len(long):
        return False
    # As the miner writes words after a hyphen (`TAIL`).
    words = long.replace("-", " -").replace("/", " ").split()
    letters = normalize_letters(label)
    return bool(letters) and len(words) <= 2 * len(letters) + 2 and score_spelling(letters, words) >= GOOD_SCORE


def unite_labels(labels: Sequence[Label]) -> tuple[Label, ...]:
    """Return one label for each text; where two have the same text, the first that says something counts."""
    found: dict[str, Label] = {}
    for label in labels:
        known = found.get(label.text)
        if known is None or known == Label(label.text):
            found[label.text] = label
        elif not known.language:
            found[label.text] = replace(known, language=label.language)
    return tuple(found.values())
