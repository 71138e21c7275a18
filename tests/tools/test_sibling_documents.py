"""Documents that differ in what a question leaves open: which names are siblings, and for which questions."""

import pytest

from argot.tools.retrieval.sibling_documents import Sibling, find_siblings, is_left_open, is_singled_out, list_names
from argot.types import Document, Hit, Passage

MARGIN = 0.25


def hit(title: str, text: str, score: float = 0.5, headings: tuple[str, ...] = ()) -> Hit:
    passage = Passage(f"p-{title}-{headings}", title, "r", 0, 0, len(text), text, title, headings)
    return Hit(passage, Document(title, f"x:///{title}.md", title, "text/markdown", "r", "h", "t"), score)


def meant(question: str, *titles: str, told: str = "", spread: float = 0.0) -> list[str]:
    """Return the names that the question may mean, each with a passage that answers it differently."""
    hits = [hit(title, f"{question[:-1]}: number {place}.", 0.6 - place * spread) for place, title in enumerate(titles)]
    found = find_siblings(question, told, hits, MARGIN)
    return [one.name for one in found.members] if found else []


@pytest.mark.parametrize(
    ("question", "titles"),
    [
        ("Can we take pets into the park?", ["Watkins Glen State Park", "Sampson State Park - Finger Lakes"]),
        ("Tell me about the importance of this national flag.", ["Flag of France", "Flag of Ireland"]),
        ("What was done about the hurricane's impact?", ["Hurricane Gloria", "Hurricane Isaac (2012)"]),
        ("What services does the clinic provide?", ["Hibbing VA Clinic | Health Care", "Rochester VA Clinic | Care"]),
        ("What is the lead time of the sensor?", ["Pressure sensor data sheet", "Heat sensor data sheet"]),
        ("How do I reset our router?", ["Resetting router R1", "Resetting router R7"]),
        ("Does the Prime Minister appoint judges?", ["Prime Minister of Canada", "The Prime Minister of Japan"]),
    ],
)
def test_documents_on_things_of_one_kind_are_siblings(question: str, titles: list[str]) -> None:
    assert meant(question, *titles) == titles


@pytest.mark.parametrize(
    ("question", "titles"),
    [
        ("How do I reset Router R7?", ["Router R1", "Router R7"]),
        ("How do I reset the R7 router?", ["Router R1", "Router R7"]),
        ("How do I reset the Zyxel router?", ["Router R1", "Router R7"]),
        ("The router restarts. What now?", ["Router Reset with Mains Power", "Router Failure Debug and Recovery"]),
        ("What does the name of our router mean?", ["Reference an Existing Router with a label", "Add a spare Router"]),
        ("Which is the fastest router?", ["Router R1", "Router R7"]),
        ("How does the router differ from others?", ["Router R1", "Router R7"]),
        ("How do I reset the routers?", ["Router R1", "Router R7"]),
        ("How do I reset a router?", ["Router R1", "Router R7"]),
        ("How do I reset the modem?", ["Router R1", "Router R7"]),
        ("Where are the united states?", ["Southwestern United States", "Deforestation in the United States"]),
        ("What changed in the lobe-finned fish?", ["Evolution of fish", "Pike Place Fish Market"]),
        ("What do judges of the supreme court do?", ["Supreme Court of Canada", "Court of Appeals of Ohio"]),
        ("What does the handbook say?", ["Handbook", "Handbook"]),
    ],
)
def test_a_named_thing_or_unrelated_titles_need_no_choice(question: str, titles: list[str]) -> None:
    assert meant(question, *titles) == []


def test_the_conversation_decides_between_siblings() -> None:
    assert meant("Can we take pets into the park?", "Long Point Park", "Sampson Park", told="Is Sampson open?") == []


def test_the_margin_decides_which_siblings_are_offered() -> None:
    titles = ["Router R1", "Router R2", "Router R3", "Router R4"]
    assert meant("How do I reset the router?", *titles, spread=0.1) == titles[:3]
    assert meant("How do I reset the router?", *titles, spread=0.3) == []


def test_a_better_general_document_makes_a_choice_unnecessary() -> None:
    question = "How do I reset the router?"
    both = [hit(f"Router R{n}", f"To reset the router, press {n}.", 0.45) for n in (1, 7)]
    faq = "To reset the router, whichever it is, unplug it."
    assert find_siblings(question, "", [hit("Questions on the network", faq, 0.5), *both], MARGIN) is not None
    assert find_siblings(question, "", [hit("Questions on the network", faq, 0.6), *both], MARGIN) is None


def test_at_most_five_siblings_are_offered() -> None:
    titles = [f"Router R{number}" for number in range(1, 9)]
    assert meant("How do I reset the router?", *titles) == titles[:5]


def test_a_document_with_fewer_words_of_the_question_is_not_a_sibling() -> None:
    security = hit("Security policy", "The policy on lost cards: report a lost card the same day.")
    travel = hit("Travel policy", "Trips of more than 500 km go by train.")
    assert find_siblings("What is the policy on lost cards?", "", [security, travel], MARGIN) is None


def test_two_pages_on_one_thing_are_one_sibling() -> None:
    hits = [
        hit("Jury Services | Superior Court | County of Tulare", "Jury duty and services: call 1."),
        hit("Jury Duty | Superior Court | County of Tulare", "Jury duty and services: call 1 or 2."),
        hit("Jury Services | Superior Court | County of Ventura", "Jury duty and services: call 3."),
    ]
    found = find_siblings("What is the contact number of the Superior Court for jury duty?", "", hits, MARGIN)
    assert found is not None and found.phrase == "the Superior Court" and found.noun == "superior court"
    assert [one.name[-7:].strip() for one in found.members] == ["Tulare", "Ventura"]


def test_a_section_is_identified_by_the_headings_above_it() -> None:
    one, other = (hit("Manual", f"Press {n}.", headings=("Manual", f"Printer P{n}", "Toner")) for n in (3, 9))
    assert list_names(one) == ["Manual", "Printer P3", "Toner"]
    found = find_siblings("How is the toner of the printer changed?", "", [one, other], MARGIN)
    assert found is not None and [member.name for member in found.members] == ["Printer P3", "Printer P9"]
    third, ninth = found.members
    assert third.holds(hit("Manual", "x", headings=("Manual", "Printer P3"))) and not third.holds(other)
    assert is_singled_out("and P9?", ninth, found.members) and not is_singled_out("and P9?", third, found.members)


def test_documents_with_the_same_title_are_one_sibling() -> None:
    assert Sibling(hit("Router R1", "a"), 0).holds(hit("Router  R1", "b"))


@pytest.mark.parametrize(
    ("question", "leaves"),
    [
        ("How long does the router take?", True),
        ("And our router?", True),
        ("Is there a router?", False),
        ("How does the router differ from the others?", False),
    ],
)
def test_a_noun_after_a_definite_word_is_left_open(question: str, leaves: bool) -> None:
    assert is_left_open(question, "router") is leaves
