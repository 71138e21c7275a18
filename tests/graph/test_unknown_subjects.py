"""A question about a subject that the documents do not mention gets no answer; other questions keep theirs."""

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from argot.graph.build import build_graph
from argot.graph.run import ask
from argot.results import AskResult
from argot.tools.retrieval.missing_subjects import find_unknown_part_numbers, has_only_numbers
from argot.tools.retrieval.unknown_names import find_unknown_names
from argot.types import Principal

METER = """# Meters

## Limits

The WM-4410 stops at 40 degrees. The limit of the WM-4410 was written down after two good runs.

## Work

Whoever wrote the plan likes a step of 2 volts.
"""


@pytest.fixture
def kb(tiny_kb: Any) -> Any:
    tiny_kb.add("meters.md", METER)
    return tiny_kb


async def asked(kb: Any, question: str) -> AskResult:
    *_, last = [event async for event in ask(build_graph(InMemorySaver()), kb.run_context(), question, "t")]
    assert isinstance(last.data, AskResult)
    return last.data


@pytest.mark.parametrize("question", ["what's 2+2", "2 + 2 = ?", "how much is 5000 - 300"])
def test_a_sum_contains_only_numbers(question: str) -> None:
    assert has_only_numbers(question)


@pytest.mark.parametrize("question", ["What is 1103?", "Is 2 volts enough?", "What is the trim step?", "Why?"])
def test_a_question_with_a_subject_contains_more_than_numbers(question: str) -> None:
    assert not has_only_numbers(question)


@pytest.mark.parametrize("question", ["what's 2+2", "Who wrote Hamlet?"])
async def test_a_subject_missing_from_the_documents_is_not_answered(kb: Any, question: str) -> None:
    assert (await asked(kb, question)).status == "abstained"


async def test_a_short_question_whose_words_occur_is_answered(kb: Any) -> None:
    result = await asked(kb, "Who wrote the plan?")
    assert (result.status, "wrote the plan" in result.answer) == ("answered", True)


async def test_a_statement_about_one_part_does_not_answer_for_another(kb: Any) -> None:
    known = await asked(kb, "What is the limit of the WM-4410?")
    assert (known.status, known.notes) == ("answered", [])
    other = await asked(kb, "What is the limit of the WM-9999?")
    assert other.status == "abstained"
    assert other.notes == ["No document that you may read names “WM-9999”."]


async def test_a_part_number_in_the_glossary_is_known(kb: Any) -> None:
    kb.glossary.senses.add("PX-5500", "Tools", "trim step")
    result = await asked(kb, "Who wrote down the limit of the PX-5500?")
    assert [one.term for one in result.jargon] == ["PX-5500"]
    assert result.notes == []


async def test_a_term_is_known_with_and_without_its_hyphen(kb: Any) -> None:
    kb.glossary.senses.add("Anti-Rust Act", "Legal", "", "The law on the care of steel bridges.")
    kb.add("bridges.md", "# Bridges\n\nA painter who leaves a bridge bare violates the Antirust Act.\n")
    result = await asked(kb, "Who violates the Anti-Rust Act?")
    assert (result.status, result.notes) == ("answered", [])


@pytest.mark.parametrize("name", ["WM4410", "WM-4410", "WM-4410-X", "RS485", "RS-232", "ISO9001"])
def test_a_part_number_is_known_in_every_spelling(kb: Any, name: str) -> None:
    kb.add("plugs.md", "# Plugs\n\nThe RS-485 plug and the RS232 plug follow ISO 9001.\n")
    assert find_unknown_part_numbers(f"Is the {name} ready?", kb.corpus.store, Principal("ann")) == []


async def test_the_answer_for_another_product_is_not_given(kb: Any) -> None:
    kb.add("licences.md", "# Licences\n\nTo request an Airtrack license, write to the plan desk.\n")
    assert (await asked(kb, "How do I request an Airtrack license?")).status == "answered"
    other = await asked(kb, "How do I request a Tablix license?")
    assert (other.status, other.notes) == ("abstained", ["No document that you may read names “Tablix”."])


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("How do I reset my Okta password?", ["Okta"]),
        ("Comment changer mon mot de passe Okta ?", ["Okta"]),
        ("Kubectl says no. Figma says yes?", []),
        ("Wie setze ich mein Kennwort bei Okta zurück?", []),
        ("My colleague Peter in Denver lost his badge", []),
        ("Does the Airtrack need a Monday check?", []),
        ("Is AirTrack down?", []),
        ("How To Request A Tablix Licence In Figma", []),
        ("Is https://Okta.example or @Okta meant?", []),
        ("Hi Xiomara, how long is a step?", []),
    ],
)
def test_a_name_is_unknown_if_no_document_mentions_it(kb: Any, question: str, names: list[str]) -> None:
    kb.add("licences.md", "# Licences\n\nThe Air Track needs a licence.\n")
    kb.add("more.md", "# More\n\nOf the airtrack.\n")
    assert find_unknown_names(question, kb.corpus.store, Principal("ann")) == names


def test_a_name_in_an_unreadable_document_is_unknown(kb: Any) -> None:
    kb.add("secret.md", "# Secret\n\nOkta is ready.\n", audience=frozenset({"vault"}))
    question, store = "Is our Okta ready?", kb.corpus.store
    assert find_unknown_names(question, store, Principal("ann")) == ["Okta"]
    assert find_unknown_names(question, store, Principal("ann", frozenset({"vault"}))) == []


@pytest.mark.parametrize("question", ["Pre-2020 contracts?", "An A-weighted level?", "the 20-inch one", "utf-8 files"])
def test_hyphenated_words_and_years_are_not_part_numbers(kb: Any, question: str) -> None:
    assert find_unknown_part_numbers(question, kb.corpus.store, Principal("ann")) == []


def test_a_part_number_in_an_unreadable_document_is_unknown(kb: Any) -> None:
    kb.add("secret.md", "# Secret\n\nThe ZX-7700 is ready.\n", audience=frozenset({"vault"}))
    question, store = "Is the ZX-7700 ready?", kb.corpus.store
    assert find_unknown_part_numbers(question, store, Principal("ann")) == ["ZX-7700"]
    assert find_unknown_part_numbers(question, store, Principal("ann", frozenset({"vault"}))) == []


@pytest.mark.parametrize(
    "question",
    ["What is the QZXV limit of the WM-4410?", "Where was the limit of the QZXV written down?", "Who wrote the QZXV?"],
)
async def test_a_term_found_only_in_the_glossary_is_not_answered_from_documents(kb: Any, question: str) -> None:
    kb.glossary.senses.add("QZXV", "Tools", "quiet zone extra width", "a limit of the array")
    result = await asked(kb, question)
    assert [one.expansion for one in result.jargon] == ["quiet zone extra width"]
    assert result.status == "abstained" and result.answer.startswith("No passage")


async def test_the_unanswered_question_about_such_a_term_is_named(kb: Any) -> None:
    kb.glossary.senses.add("QZXV", "Tools", "quiet zone extra width")
    result = await asked(kb, "Who wrote the plan and what is the QZXV limit of the WM-4410?")
    assert (result.status, "wrote the plan" in result.answer) == ("answered", True)
    assert result.notes == ["The documents do not seem to answer “What is the QZXV limit of the WM-4410?”"]


@pytest.mark.parametrize(
    ("sense", "text"),
    [
        (("KLM", "cool lane meter", ""), "The meter that cools the lane stops at 7 degrees."),
        (("KLM", "kinetic load mill", ""), "The KLM stops at 7 degrees."),
    ],
)
async def test_the_documents_may_word_a_term_differently(kb: Any, sense: tuple[str, str, str], text: str) -> None:
    kb.add("mill.md", f"# Where it ends\n\n{text}\n")
    kb.glossary.senses.add(sense[0], "Tools", *sense[1:])
    result = await asked(kb, "When does the KLM stop?")
    assert (result.status, text in result.answer) == ("answered", True)
