"""How a reply to "which one do you mean?" is interpreted."""

import pytest

from argot.errors import Conflict, InvalidInput
from argot.graph.choices import describe_choice, make_sense_choices, parse_choice
from argot.results import Choice
from argot.types import Sense

SENSES = [
    Choice(
        answer="sense:7", term="PUC", context="NAND design", expansion="Peripheral Under Cell", description="layout"
    ),
    Choice(answer="sense:9", term="PUC", context="Legal", expansion="Public Utilities Commission", description="state"),
    Choice(
        answer="sense:4", term="PUC", context="Test", expansion="Power-Up Check", description="at the state of start"
    ),
    Choice(answer="none", term="PUC"),
]
SPELLINGS = [
    Choice(answer="term:PUC", term="PUC"),
    Choice(answer="term:PUD", term="PUD"),
    Choice(answer="anyway", term="PUX"),
]


DOCUMENTS = [
    Choice(answer="document:p1", term="", expansion="Watkins Glen State Park", description="wg.html"),
    Choice(answer="document:p2", term="", expansion="Sampson State Park", description="sampson-2024.pdf"),
    Choice(answer="anyway", term=""),
]


@pytest.mark.parametrize(
    ("reply", "meant"),
    [
        ("document:p2", "document:p2"),
        ("2", "document:p2"),
        ("the first", "document:p1"),
        ("Sampson", "document:p2"),
        ("I mean Watkins Glen.", "document:p1"),
        ("sampson-2024.pdf", "document:p2"),
        ("answer anyway", "anyway"),
        ("When does Sampson open?", None),
        ("Long Point", None),
    ],
)
def test_a_document_may_be_chosen_by_button_number_or_words(reply: str, meant: str | None) -> None:
    assert parse_choice(reply, DOCUMENTS) == meant


def test_a_document_that_is_no_longer_offered_is_refused() -> None:
    with pytest.raises(Conflict, match="no longer open"):
        parse_choice("document:p9", DOCUMENTS)


@pytest.mark.parametrize(
    ("reply", "meant"),
    [
        ("sense:9", "sense:9"),
        ("2", "sense:9"),
        ("#1", "sense:7"),
        ("number 3.", "sense:4"),
        ("the second one", "sense:9"),
        ("last", "none"),
        ("the legal one", "sense:9"),
        ("Legal", "sense:9"),
        ("Peripheral Under Cell", "sense:7"),
        ("peripheral under cell", "sense:7"),
        ("I mean the Public Utilities Commission.", "sense:9"),
        ("the comission", "sense:9"),
        ("layout", "sense:7"),
        ("none of these", "none"),
        ("neither!", "none"),
    ],
)
def test_a_sense_may_be_chosen_by_button_number_or_words(reply: str, meant: str) -> None:
    assert parse_choice(reply, SENSES) == meant


@pytest.mark.parametrize(("reply", "meant"), [("PUC", "term:PUC"), ("pud", "term:PUD"), ("go ahead", "anyway")])
def test_a_spelling_may_be_chosen_by_button_number_or_words(reply: str, meant: str) -> None:
    assert parse_choice(reply, SPELLINGS) == meant


@pytest.mark.parametrize(
    "reply",
    [
        "What is the Public Utilities Commission?",
        "how long does trimming take",
        "Peripheral Under Cell or something else entirely, what do you think?",
        "The bonding step",
        "thanks",
    ],
)
def test_any_other_reply_is_a_new_question(reply: str) -> None:
    assert parse_choice(reply, SENSES) is None


def test_it_in_capitals_means_the_department() -> None:
    recovery = Choice(answer="sense:5", term="DR", context="IT and people", expansion="disaster recovery")
    retention = Choice(answer="sense:6", term="DR", context="Reliability", expansion="data retention")
    assert parse_choice("the IT one", [retention, recovery]) == "sense:5"
    assert parse_choice("the it one", [retention, recovery]) is None


def test_a_number_that_was_not_offered_is_refused_with_the_choices() -> None:
    with pytest.raises(InvalidInput, match=r"no choice 9.*1: Peripheral Under Cell \(NAND design\)"):
        parse_choice("9", SENSES)


def test_words_that_fit_several_choices_are_refused() -> None:
    with pytest.raises(InvalidInput, match="fits 2 of the choices"):
        parse_choice("state", SENSES)


def test_the_button_of_an_earlier_choice_is_refused() -> None:
    with pytest.raises(Conflict, match="no longer open"):
        parse_choice("sense:1234", SENSES)


def test_a_context_is_named_only_where_it_tells_meanings_apart() -> None:
    decision = Sense(1, "ADR", "general", "Architecture Decision Record")
    dispute = Sense(2, "ADR", "general", "Alternative Dispute Resolution", "a way to settle " + "disputes " * 100)
    reaction = Sense(3, "ADR", "Pharmacy", "Adverse Drug Reaction")
    assert list(map(describe_choice, make_sense_choices("ADR", [decision, dispute]))) == [
        "Architecture Decision Record",
        "Alternative Dispute Resolution",
    ]
    assert [one.context for one in make_sense_choices("ADR", [decision, reaction])] == ["general", "Pharmacy"]


def test_a_meaning_that_is_only_described_is_offered_by_the_beginning_of_the_description() -> None:
    (choice,) = make_sense_choices("ADR", [Sense(2, "ADR", "Legal", "", "a way to settle " + "disputes " * 100)])
    said = describe_choice(choice)
    assert said.startswith("a way to settle disputes") and said.endswith("disputes … (Legal)") and len(said) < 140
