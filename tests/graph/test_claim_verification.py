"""Which sentences of an answer the model is asked to verify, and which are never put to it."""

from typing import Any

import pytest

from argot.graph.claim_verification import _find_doubts, may_be_asked
from argot.graph.state import SentenceRecord
from argot.types import Document, Hit, Passage

TEXT = "A drive may be stored at no more than 40 degrees, and it has to be read once a year by the owner of the rack."


def build_hits(text: str) -> list[Hit]:
    passage = Passage("p", "d", "r", 0, 0, len(text), text, "Storage", ("Storage",))
    document = Document("d", "test:///storage.md", "Storage", "text/markdown", "r", "h", "2026-01-01")
    return [Hit(passage, document, 0.9)]


def asked_about(tiny_kb: Any, sentence: str, named: tuple[int, ...] = ()) -> bool:
    record = SentenceRecord(gap="", text=sentence, citations=[])
    return bool(_find_doubts([record], [named], build_hits(TEXT), tiny_kb.run_context(), "How are drives stored?")[1])


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("The owner of the rack has to read a stored drive yearly.", True),
        ("The owner of the rack has to read a stored drive …", False),
        ("A drive may be stored at no more than 60 degrees.", False),
        ("Visitors may take part in a guided tour afterwards.", False),
    ],
)
def test_only_plausible_finished_sentences_are_put_to_the_model(tiny_kb: Any, sentence: str, expected: bool) -> None:
    assert asked_about(tiny_kb, sentence) is expected
    assert asked_about(tiny_kb, sentence, (0,)) is expected


CLASSES = "| Class | Erases | Handling |\n|---|---|---|\n| 2 | 801 to 1,200 | a smaller step is used |"
LINES = "A line may be left open for at most 24 hours. Firmware must pad the block if it cannot fill it in that time."
NIGHT = "Do not start recipes that end between 05:30 and 06:30, because unloading would fall into shift change."
COUNTERS = "Read the counters host_wr and nand_wr with `kdrive stat`."


@pytest.mark.parametrize(
    ("sentence", "text", "asked", "expected"),
    [
        ("With 950 erases it is in class 2 (801 to 1,200).", CLASSES, "My block has 950 erases, what is done?", True),
        ("With 960 erases it is in class 2 (801 to 1,200).", CLASSES, "My block has 950 erases, what is done?", False),
        ("The upper limit of class 2 is 950.", CLASSES, "Is the upper limit of class 2 really 950?", False),
        ("With 950 erases it is in class 3 (801 to 1,200).", CLASSES, "My block has 950 erases, what is done?", False),
        ("If there is not enough data, firmware must pad the block.", LINES, "What if there isn't enough data?", True),
        ("If there is enough coffee, firmware must pad the block.", LINES, "What if there isn't enough data?", False),
        ("Between 05:30 and 06:30, as it would fall into shift change.", NIGHT, "When must nothing end?", True),
        ("Between 05:30 and 06:30, as it would fall into shift change.", NIGHT, "When do recipes end?", False),
        ("Read them with kdrive stat and compare the two counters.", COUNTERS, "How do I read them?", True),
        ("Read them with kdrive stat, which shows 2 counters.", COUNTERS, "How do I read them?", False),
    ],
)
def test_words_taken_from_the_question_are_not_a_claim(sentence: str, text: str, asked: str, expected: bool) -> None:
    assert may_be_asked(sentence, text, asked) is expected


ABSENCE = "Absences of more than 80 hours need the written consent of the warden and of the head of the harbour."
THREE = "The warden and the head of the harbour both give written consent, since {} weeks are more than {} hours."


@pytest.mark.parametrize(
    ("sentence", "asked", "expected"),
    [
        (THREE.format("three", 80), "Who consents to three weeks of absence?", True),
        (THREE.format("three", 80), "Who consents to four weeks of absence?", False),
        (THREE.format("three", 90), "Who consents to three weeks of absence?", False),
        ("Absences of more than three weeks need consent.", "Who consents to three weeks of absence?", False),
    ],
)
def test_a_number_of_the_question_is_for_the_model_alone(
    tiny_kb: Any, sentence: str, asked: str, expected: bool
) -> None:
    record, run = SentenceRecord(gap="", text=sentence, citations=[]), tiny_kb.run_context()
    doubts = _find_doubts([record], [(0,)], build_hits(ABSENCE), run, asked)[1]
    assert [doubt.for_model for doubt in doubts] == [True] * expected
