"""Misspelt phrases, and titles that look like terms."""

import pytest

from argot.jargon_db.lookup.matcher import TermMatcher
from argot.jargon_db.lookup.normalise import normalise
from argot.jargon_db.lookup.phrases import NearPhrases
from argot.jargon_db.lookup.spelling import Spelling

PHRASES = [
    ("PUC", "peripheral under cell"),
    ("PUC", "Public Utilities Commission"),
    ("OP", "over-provisioning"),
    ("PLP", "parental leave plan"),
    ("PLP", "power loss protection"),
    ("TSV", "through-silicon via"),
    ("EM", "electromigration"),
    ("LOA", "letter of authorisation"),
    ("DR", "disaster recovery"),
    ("DRR", "disaster recovery rehearsal"),
    ("SPO", "sudden power off"),
]


def matcher() -> TermMatcher:
    terms = dict.fromkeys(term for term, _ in PHRASES)
    return TermMatcher([Spelling(term, term, normalise(term)) for term in terms], lambda: PHRASES)


def misspelt(text: str) -> list[tuple[str, str | None]]:
    found = matcher()
    return [(text[m.start : m.end], m.term) for m in found.misspelt(text, found.find(text))]


@pytest.mark.parametrize(
    ("text", "surface", "term"),
    [
        ("height of the perifery under cel region?", "perifery under cel", "PUC"),
        ("over-provisionning of the drive", "over-provisionning", "OP"),
        ("notice for Parrental Leave?", "Parrental Leave", "PLP"),
        ("how wide is a trough-silicon via", "trough-silicon via", "TSV"),
        ("electromigraton limits", "electromigraton", "EM"),
        ("is a lettre of authorisation needed", "lettre of authorisation", "LOA"),
        ("the disaster recovry rehersal", "disaster recovry rehersal", "DRR"),
    ],
)
def test_misspelt_phrases_are_matched_to_their_terms(text: str, surface: str, term: str) -> None:
    assert misspelt(text) == [(surface, term)]


@pytest.mark.parametrize(
    "text",
    [
        "the peripheral under cell region",
        "parental leave plans",
        "a silicon via",
        "the parents leave",
        "perifery. Under cell",
        "electric migration",
        "over provisions",
        "sudden powers of the state",
    ],
)
def test_correct_and_other_phrases_are_not_misspelt(text: str) -> None:
    assert misspelt(text) == []


def test_a_phrase_of_two_terms_is_not_guessed() -> None:
    found = TermMatcher([], lambda: [("AB", "alpha bridging"), ("ALB", "alpha bridging")])
    assert found.misspelt("the alpha bridgeing", []) == []


def test_a_phrase_overlapping_a_known_term_is_not_corrected() -> None:
    near = NearPhrases(PHRASES)
    text = "parrental leave"
    assert near.find(text) and not near.find(text, lambda start, end: start > 0)


@pytest.mark.parametrize(
    "text", ["Ask Dr. Meyer", "ask Dr Meyer about it", "Is Dr. van Meyer in?", "Dr. A. Meyer", "call Dr. O'Brien"]
)
def test_the_title_dr_is_not_the_term_dr(text: str) -> None:
    assert matcher().find(text) == []


def test_a_term_in_wrong_case_is_still_found() -> None:
    assert [m.term for m in matcher().find("what is the Dr of this die")] == ["DR"]


@pytest.mark.parametrize("text", ["a" * 100_000, "parrental leave " * 5_000, "ﬁ-" * 9_000])
def test_any_text_can_be_searched_for_misspelt_phrases(text: str) -> None:
    assert isinstance(NearPhrases(PHRASES).find(text), list)
