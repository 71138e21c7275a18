"""What is put to the model about its own answer, and what is never even asked."""

from typing import Any

import pytest

from argot.graph.claim_verification import _doubtful
from argot.graph.state import SentenceRecord
from argot.types import Document, Hit, Passage

TEXT = "A drive may be stored at no more than 40 degrees, and it has to be read once a year by the owner of the rack."


def asked_about(tiny_kb: Any, sentence: str) -> bool:
    passage = Passage("p", "d", "r", 0, 0, len(TEXT), TEXT, "Storage", ("Storage",))
    document = Document("d", "test:///storage.md", "Storage", "text/markdown", "r", "h", "2026-01-01")
    record = SentenceRecord(gap="", text=sentence, citations=[])
    hits = [Hit(passage, document, 0.9)]
    return bool(_doubtful([record], hits, tiny_kb.run_context(), "How are drives stored?")[1])


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("The owner of the rack has to read a stored drive yearly.", True),
        ("The owner of the rack has to read a stored drive …", False),
        ("A drive may be stored at no more than 60 degrees.", False),
        ("Visitors may take part in a guided tour afterwards.", False),
    ],
)
def test_only_a_finished_sentence_near_a_passage_that_nothing_speaks_hard_against(
    tiny_kb: Any, sentence: str, expected: bool
) -> None:
    assert asked_about(tiny_kb, sentence) is expected
