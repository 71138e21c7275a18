"""Other queries by rules: from the question itself, the headings found and the glossary."""

from typing import Any

from argot.tools.retrieval.other_queries import propose_queries
from argot.types import Mention, ReadTerm, Sense


def propose(kb: Any, question: str, terms: list[ReadTerm] | None = None) -> list[str]:
    return propose_queries(question, terms or [], [], kb.corpus.embedder, lambda _: 1)


def test_the_questions_of_a_long_message_are_searched_one_by_one(tiny_kb: Any) -> None:
    message = "We moved last week. The desks are new. Who orders the chairs? And by when must the lamps be returned?"
    assert propose(tiny_kb, message) == ["Who orders the chairs?", "And by when must the lamps be returned?"]


def test_a_single_clear_question_has_no_other_words(tiny_kb: Any) -> None:
    assert propose(tiny_kb, "How tall may a pole be?") == []


def test_a_term_is_replaced_by_the_beginning_of_its_description(tiny_kb: Any) -> None:
    sense = Sense(1, "GPA", "Sites", "gate pass application", "form for visitors, signed by the host")
    term = ReadTerm(Mention("GPA", 13, 16, "GPA", "exact"), sense, 1.0, "only one")
    assert propose(tiny_kb, "Who signs the gate pass application?", [term]) == ["Who signs the form for visitors?"]


def test_a_long_description_is_put_into_no_question(tiny_kb: Any) -> None:
    sense = Sense(1, "Offer", "general", "", "A response to a solicitation that, if accepted, binds the offeror.")
    term = ReadTerm(Mention("offer", 6, 11, "Offer", "exact"), sense, 1.0, "only one")
    assert propose(tiny_kb, "do we offer dental for pets", [term]) == []
