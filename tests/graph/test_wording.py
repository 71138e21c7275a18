"""The fixed texts of the journey."""

from typing import Any

import pytest

from argot.graph.presentation.wording import expand_query, write_augmented_question, write_query_miss
from argot.graph.state_records import MIN_LIKELY_CONTEXT_SCORE, find_agreed_context
from argot.results import MissedTerm
from argot.types import Context, Mention, ReadTerm, Sense


def read(question: str, surface: str, expansion: str, match: str = "exact", **more: str) -> ReadTerm:
    start = question.index(surface)
    mention = Mention(surface, start, start + len(surface), more.get("term", surface), match, more.get("explained", ""))  # type: ignore[arg-type]
    return ReadTerm(mention, Sense(1, more.get("term", surface), "NAND", expansion, more.get("description", "")))


def test_each_expansion_replaces_its_term() -> None:
    question = "Does the PUC set WL voltage?"
    terms = [read(question, "PUC", "Peripheral Under Cell"), read(question, "WL", "Word Line")]
    assert expand_query(question, terms) == "Does the Peripheral Under Cell set Word Line voltage?"


def test_a_long_expansion_follows_its_term_in_brackets() -> None:
    long = "a layout in which the peripheral circuits stand under the memory array"
    assert expand_query("Why PUC?", [read("Why PUC?", "PUC", long)]) == f"Why PUC ({long})?"


def test_a_misspelt_term_without_expansion_is_corrected() -> None:
    question = "Where does the perifery start?"
    term = read(question, "perifery", "", "misspelt", term="periphery")
    assert expand_query(question, [term]) == "Where does the periphery start?"


def test_a_term_explained_in_the_question_is_not_expanded() -> None:
    question = "How thick is SLA (stereolithography) resin?"
    term = read(question, "SLA", "stereolithography", explained="stereolithography")
    assert expand_query(question, [term]) == question


def test_a_term_mentioned_twice_is_defined_once() -> None:
    question = "PUC or SLA or PUC?"
    first = read(question, "PUC", "Peripheral Under Cell", description="Under the array.")
    other = read(question, "SLA", "stereolithography", explained="stereolithography")
    text = write_augmented_question(question, [first, other, first], None)
    assert text.count("- PUC: Peripheral Under Cell (NAND). Under the array") == 1


def test_without_terms_only_a_described_context_is_told() -> None:
    assert write_augmented_question("Why?", [], Context("general", "general")) == "Why?"
    assert "Context: NAND (Flash)" in write_augmented_question("Why?", [], Context("nand", "NAND", "Flash"))
    assert "Context: general" in write_augmented_question(
        "PUC?", [read("PUC?", "PUC", "Cell")], Context("general", "general")
    )


def test_a_query_miss_names_terms_suggestions_and_a_contact() -> None:
    answer = write_query_miss([MissedTerm(term="PUX", suggestions=["PUC", "PUD"], contact="nina@example.com")])
    assert answer == (
        "I cannot answer this reliably: “PUX” is not in the glossary. Please check the spelling of the term "
        "(did you mean PUC or PUD?). If it is right, contact nina@example.com to have it added."
    )
    several = write_query_miss([MissedTerm(term="PUX"), MissedTerm(term="QXZ")])
    assert "“PUX” and “QXZ” are not in the glossary" in several
    assert several.endswith("those who look after the glossary see that people ask for them.")


def test_a_query_miss_without_a_likely_context_names_nobody() -> None:
    answer = write_query_miss([MissedTerm(term="PUX")])
    assert answer.endswith("If it is right, those who look after the glossary see that people ask for it.")


@pytest.mark.parametrize(("score", "named"), [(0.3, None), (0.6, "Tools")])
def test_the_contact_of_a_context_is_named_only_if_the_question_is_likely_in_it(
    score: float, named: str | None
) -> None:
    turn: Any = {"contexts": [("Tools", score)], "open_terms": []}
    assert find_agreed_context(turn, [], MIN_LIKELY_CONTEXT_SCORE) == named
    assert find_agreed_context(turn, []) == "Tools"
