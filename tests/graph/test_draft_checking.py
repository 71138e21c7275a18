"""The sentences of a draft: what counts as a sentence, and where the rest of the text goes."""

from typing import Any

from argot.graph.draft_checking import check_draft
from argot.types import Document, Hit, Passage

TEXT = "# Storage\n\nA drive is stored cold.\n\n***\n\nIt is read once a year."


def test_markup_alone_is_not_a_sentence_and_stays_in_the_gap(tiny_kb: Any) -> None:
    passage = Passage("p", "d", "r", 0, 0, len(TEXT), TEXT, "Storage", ("Storage",))
    document = Document("d", "test:///storage.md", "Storage", "text/markdown", "r", "h", "2026-01-01")
    draft = "####\n\nA drive is stored cold.\n\n*\n\nIt is read once a year. 🙂"
    sentences = check_draft(draft, [Hit(passage, document, 0.9)], tiny_kb.run_context())
    assert [one["text"] for one in sentences] == ["A drive is stored cold.", "It is read once a year."]
    assert all(one["citations"] for one in sentences)
    assert sentences[1]["gap"] == "\n\n*\n\n"
