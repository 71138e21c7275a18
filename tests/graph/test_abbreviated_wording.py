"""A question that uses the full form of a term is answered by documents that have only its abbreviation."""

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from argot.graph.build import build_graph
from argot.graph.run import ask
from argot.results import AskResult
from argot.types import Principal

HANDBOOK = """# Staff handbook

## PTO

Each member of staff has 27 days of PTO a year. The form for PTO is blue.

## Pay

Salary is paid on the 25th. Time off for a visit to the doctor is paid as well, and days of travel count as work.
"""


@pytest.fixture
def kb(tiny_kb: Any) -> Any:
    tiny_kb.glossary.senses.add("PTO", "Legal", "paid time off")
    tiny_kb.add("handbook.md", HANDBOOK)
    return tiny_kb


async def asked(kb: Any, question: str, **profile: Any) -> AskResult:
    run = kb.run_context(**profile)
    *_, last = [event async for event in ask(build_graph(InMemorySaver()), run, question, "t")]
    assert isinstance(last.data, AskResult)
    return last.data


@pytest.mark.parametrize(
    "question",
    [
        "How many days of paid time off does the staff have?",
        "Which form is there for paid time-off?",
        "What is the colour of the form for PTO?",
        "What is the WL voltage during a read, and how many days of paid time off does the staff have?",
    ],
)
async def test_a_question_with_the_full_form_finds_the_abbreviation(kb: Any, question: str) -> None:
    result = await asked(kb, question)
    assert result.status == "answered"
    assert "27 days of PTO" in result.answer or "form for PTO is blue" in result.answer


async def test_a_short_question_is_answered_where_the_abbreviation_occurs(kb: Any) -> None:
    assert (await asked(kb, "Which days are paid time off?")).status == "answered"


@pytest.mark.parametrize(
    ("text", "abbreviated"),
    [
        ("How much Paid Time-Off is left?", "How much PTO is left?"),
        # The documents spell it out: an abbreviation would not help.
        ("Which Word Line is it?", "Which Word Line is it?"),
        # No document contains the term.
        ("Where is the tool crib?", "Where is the tool crib?"),
        ("paid, and time off", "paid, and time off"),
    ],
)
def test_only_phrases_that_no_document_spells_out_are_abbreviated(kb: Any, text: str, abbreviated: str) -> None:
    kb.glossary.senses.add("TCR", "Tools", "tool crib")
    assert kb.run_context().abbreviate(text) == abbreviated
    assert kb.run_context(look_up_jargon=False).abbreviate(text) == text


def test_an_unreadable_sense_gives_no_abbreviation(kb: Any) -> None:
    kb.glossary.senses.add("VLT", "Tools", "vault liaison", audience=frozenset({"insiders"}))
    kb.add("vault.md", "# Vault\n\nThe VLT opens the vault at nine.\n")
    assert kb.run_context(Principal("ann")).abbreviate("vault liaison") == "vault liaison"
    insider = Principal("ida", groups=frozenset({"insiders"}))
    assert kb.run_context(insider).abbreviate("vault liaison") == "VLT"


LAY = "Paid days away from work."


@pytest.fixture
def lay_kb(tiny_kb: Any) -> Any:
    tiny_kb.glossary.senses.add("PTO", "Legal", "paid time off", LAY)
    tiny_kb.add("handbook.md", HANDBOOK)
    return tiny_kb


@pytest.mark.parametrize(
    "question", ["How many vacation days does the staff have?", "Which form is there for vacation?"]
)
async def test_a_lay_word_is_searched_as_the_matching_term(lay_kb: Any, question: str) -> None:
    result = await asked(lay_kb, question)
    assert result.status == "answered"
    assert "27 days of PTO" in result.answer or "form for PTO is blue" in result.answer


@pytest.mark.parametrize(
    "text",
    [
        # The documents contain the word itself.
        "When does the doctor have time?",
        # A name, and a part of one
        "How does Vacation work?",
        "Who is the chief vacation officer?",
        # Nothing in the glossary is similar.
        "What do penguins eat?",
    ],
)
def test_other_words_are_not_replaced(lay_kb: Any, text: str) -> None:
    assert lay_kb.run_context().abbreviate(text) == text


def test_a_term_that_no_document_uses_replaces_no_lay_word(tiny_kb: Any) -> None:
    tiny_kb.glossary.senses.add("PTO", "Legal", "paid time off", LAY)
    assert tiny_kb.run_context().abbreviate("How much vacation is there?") == "How much vacation is there?"


def test_an_unreadable_sense_matches_no_lay_word(tiny_kb: Any) -> None:
    tiny_kb.glossary.senses.add("PTO", "Legal", "paid time off", LAY, audience=frozenset({"insiders"}))
    tiny_kb.add("handbook.md", HANDBOOK)
    assert "PTO" not in tiny_kb.run_context(Principal("ann")).abbreviate("How much vacation is there?")
    insider = Principal("ida", groups=frozenset({"insiders"}))
    assert "PTO" in tiny_kb.run_context(insider).abbreviate("How much vacation is there?")


SHIFTS = "# Shifts\n\nThe shift lead signs the log. An RT of 30 minutes is taken at noon, and the RT is paid.\n"


@pytest.mark.parametrize(
    ("question", "searched"),
    [
        ("How long is the recess?", "How long is the RT?"),
        # A name of the documents, and a word of the term's own meaning
        ("Who is the shift lead?", None),
        ("Who has the most time?", None),
    ],
)
async def test_a_word_that_describes_a_term_is_searched_as_the_term(
    tiny_kb: Any, question: str, searched: str | None
) -> None:
    tiny_kb.glossary.senses.add("RT", "Legal", "rest time", "Recess in a shift, a time of rest.")
    tiny_kb.add("shifts.md", SHIFTS)
    others = (await asked(tiny_kb, question)).search_queries[1:]
    assert others == ([searched] if searched else [])
