"""The sentences of a draft: what counts as a sentence, and where the rest of the text goes."""

from typing import Any

import pytest

from argot.graph.draft_checking import accept_unsourced, check_draft, find_named, select_checked
from argot.graph.state import SentenceRecord
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


def test_a_sentence_is_quoted_once(tiny_kb: Any) -> None:
    draft = "A drive is stored cold.\n\nIt is read.\n\nA drive is stored cold. It is dry.\n\n- A\n- A"
    passage = Passage("p", "d", "r", 0, 0, len(draft), draft, "Storage", ("Storage",))
    document = Document("d", "test:///storage.md", "Storage", "text/markdown", "r", "h", "2026-01-01")
    sentences = check_draft(draft, [Hit(passage, document, 0.9)], tiny_kb.run_context())
    shown = "".join(one["gap"] + one["text"] for one in sentences)
    assert shown == "A drive is stored cold.\n\nIt is read.\n\nIt is dry.\n\n- A\n- A"


@pytest.mark.parametrize("draft", ["[1]", "[2] [1]", "**[1]**", "- [1]", "[1]: https://example.org/a", "[1] …", ""])
def test_a_draft_of_marks_alone_has_no_sentence(tiny_kb: Any, draft: str) -> None:
    hits, run = build_hits(CARD, YARD), tiny_kb.run_context()
    assert check_draft(draft, hits, run, "Where is the yard?") == []
    assert find_named(draft, [], hits) == []


CARD = "Open the gate with the blue card or the key of the porter."
YARD = "The yard behind the gate is the depot of the trams. Trams older than 40 years are kept in Hall 3."
HALL = "The trams in Hall 3 are older than 40 years, and the hall is open on Sunday."


def build_hits(*texts: str) -> list[Hit]:
    document = Document("d", "test:///trams.md", "Trams", "text/markdown", "r", "h", "2026-01-01")
    passages = (Passage(f"p{n}", "d", "r", n, 0, len(text), text, "", ()) for n, text in enumerate(texts))
    return [Hit(passage, document, 0.9) for passage in passages]


def cited_passages(sentence: SentenceRecord) -> list[str]:
    return [one["passage"] for one in sentence["citations"]]


def test_a_sentence_rests_first_on_the_passages_it_cites(tiny_kb: Any) -> None:
    hits, run = build_hits(CARD, YARD, HALL), tiny_kb.run_context()
    draft = (
        "Trams older than 40 years are in Hall 3 [3]. Open the gate [1], behind which is the depot of the trams [2]."
    )
    older, joined = check_draft(draft, hits, run, "Where are old trams?")
    assert cited_passages(older) == ["p2"]
    assert cited_passages(joined) == ["p0", "p1"]
    # A wrong mark is no evidence: the right passage is still found, and a changed number never has one.
    assert cited_passages(check_draft("Hall 3 is open on Sunday [1].", hits, run, "When?")[0]) == ["p2"]
    assert not check_draft("Trams older than 30 years are in Hall 3 [2].", hits, run, "Where?")[0]["citations"]


def test_a_lead_in_and_a_gap_in_the_passages_need_no_passage_of_their_own(tiny_kb: Any) -> None:
    hits, run, asked = build_hits(CARD, YARD), tiny_kb.run_context(), "How do I open the gate, and when?"
    draft = "There are two ways:\n\n1. With the blue card [1]\n2. With the key of the porter [1]\n\n"
    sentences = check_draft(f"{draft}The passages do not tell when it is open.", hits, run, asked)
    accept_unsourced(sentences, hits, asked)
    assert [cited_passages(one) for one in sentences] == [["p0"], ["p0"], ["p0"], []]
    assert select_checked(sentences) == sentences
    sentences = check_draft(f"{draft}The passages do not tell why it costs 70 euros.", hits, run, asked)
    accept_unsourced(sentences, hits, asked)
    assert select_checked(sentences) == sentences[:3]


def test_a_bare_no_rests_on_its_reason_alone(tiny_kb: Any) -> None:
    hits = build_hits("Are dogs allowed on trams? No.", YARD)
    sentences = check_draft(
        "No. Trams older than 40 years are kept in Hall 3 [2].", hits, tiny_kb.run_context(), "Here?"
    )
    assert [cited_passages(one) for one in sentences] == [[], ["p1"]]
