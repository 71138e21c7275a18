"""Questions for the meaning of a term are distinguished from other questions about it."""

import pytest

from argot.tools.reading.definition_questions import find_asked_meanings, list_meaning_requests
from argot.types import Mention

TERMS = ("DGD", "CC", "dangerous goods declaration")
CONTEXTS = ("Catering", "IT and people operations")


def meant(question: str) -> list[str]:
    found = sorted((question.find(term), term) for term in TERMS if term in question)
    mentions = [Mention(term, at, at + len(term), term) for at, term in found]
    return [mention.surface for mention in find_asked_meanings(question, mentions, CONTEXTS)]


@pytest.mark.parametrize(
    "question",
    [
        "What does DGD mean?",
        "what does “DGD” stand for",
        "What does the abbreviation DGD stand for in the cargo office?",
        "What is DGD?",
        "What's a DGD?",
        "whats DGD",
        "Whats a DGD?",
        "What is a DGD in Catering?",
        "What is the DGD for the IT team?",
        "What is meant by DGD?",
        "What is the meaning of DGD?",
        "What DGD means?",
        "Define DGD",
        "define the term DGD, please",
        "Explain DGD to me.",
        "meaning of DGD",
        "DGD meaning?",
        "DGD?",
        "Hi, can you tell me what DGD stands for?",
        "I'd like to know what a DGD is.",
        "What do you mean by DGD?",
        "Is DGD short for something?",
    ],
)
def test_questions_for_the_meaning_of_a_term_are_recognised(question: str) -> None:
    assert meant(question) == ["DGD"]


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("What does DGD stand for here?", "meaning"),
        ("Define DGD", "meaning"),
        ("DGD meaning?", "meaning"),
        ("What is a DGD?", "thing"),
        ("DGD?", "thing"),
        ("Explain DGD", "thing"),
        ("What are the two meanings of DGD?", "every"),
        ("all meanings of DGD", "every"),
        ("How many meanings does DGD have?", "every"),
        ("What else can DGD mean?", "every"),
        ("Does DGD mean anything else in Catering?", "every"),
        ("Is DGD ambiguous?", "every"),
        ("Welche Bedeutungen hat DGD?", "every"),
        ("Was kann DGD noch heißen?", "every"),
        ("Was bedeutet DGD?", "meaning"),
        ("Was ist DGD?", "thing"),
        ("Quelles sont les significations de DGD ?", "every"),
        ("Que veut dire DGD ?", "meaning"),
        ("C'est quoi, DGD ?", "thing"),
        ("¿Cuáles son los significados de DGD?", "every"),
        ("¿Qué significa DGD?", "meaning"),
        ("¿Qué es DGD?", "thing"),
    ],
)
def test_the_kind_of_request_tells_whether_one_or_every_meaning_is_wanted(question: str, kind: str) -> None:
    at = question.find("DGD")
    (request,) = list_meaning_requests(question, [Mention("DGD", at, at + 3, "DGD")], CONTEXTS)
    assert (request.kind, [one.surface for one in request.mentions]) == (kind, ["DGD"])


def test_terms_in_a_list_are_all_meant() -> None:
    assert meant("What is meant by DGD and by CC?") == ["DGD", "CC"]
    assert meant("What do DGD, CC and dangerous goods declaration mean?") == [*TERMS]


@pytest.mark.parametrize(
    "question",
    [
        "Who signs the DGD?",
        "Where do I find the DGD?",
        "What is the DGD for Harstad?",
        "What is the DGD deadline?",
        "What does DGD mean for my shift?",
        "How do I fill in a DGD?",
        "What does the DGD cost?",
        "Is a DGD needed?",
        "What is the meaning of life?",
        "sign in with your DGD",
    ],
)
def test_other_questions_about_a_term_are_not_definition_questions(question: str) -> None:
    assert meant(question) == []


def test_definition_questions_are_found_among_several_questions() -> None:
    assert meant("What is a DGD and who signs the CC?") == ["DGD"]
    assert meant("Who signs the DGD? And what does CC stand for?") == ["CC"]
    assert meant("What is the difference between a CC and a DGD?") == ["CC", "DGD"]
    assert meant("What do DGD and CC mean?") == ["DGD", "CC"]
    assert meant("What does CC mean in the DGD?") == ["CC"]
    assert meant("What is a dangerous goods declaration?") == ["dangerous goods declaration"]


def test_a_question_that_refers_back_means_the_term_pointed_out() -> None:
    assert meant("Someone left 'DGD' in my draft. what does that mean") == ["DGD"]
    assert meant("My papers say DGD. What does it stand for?") == ["DGD"]
    assert meant("The DGD was refused at the gate. What does that mean?") == []
    assert meant("It says 'DGD' and 'CC'. What does that mean?") == []
