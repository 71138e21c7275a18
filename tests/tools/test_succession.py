"""A document that is not in force ranks behind its counterpart in force, and is not quoted beside it."""

import pytest

from argot.tools.answering.succession import drop_outdated, find_successors, put_successors_first
from argot.types import Document, DocumentField, Hit, Passage

ASKED = "How long may a book be kept?"


def hit(name: str, title: str, score: float, headings: tuple[str, ...] = ("Loans",), **said: str) -> Hit:
    fields = tuple(DocumentField(field, value) for field, value in said.items())
    document = Document(name, f"test:///{name}", title, "text/markdown", "r", "h", "2025-01-01", fields=fields)
    return Hit(Passage(f"p{name}", name, "r", 0, 0, 1, "A book", title, headings), document, score)


def order(*hits: Hit, asked: str = ASKED) -> list[str]:
    return [one.document.name for one in put_successors_first(hits, asked)]


def quoted(*hits: Hit, asked: str = ASKED) -> list[str]:
    return [one.document.name for one in drop_outdated(put_successors_first(hits, asked), asked)]


NOW = hit("b.md", "Library 2025", 0.9, status="Approved")


@pytest.mark.parametrize(
    "status", ["draft", "Proposed", "SUPERSEDED", "withdrawn", "Archived", "obsolete 2024", "Retired"]
)
def test_a_document_not_in_force_ranks_behind_its_counterpart_in_force(status: str) -> None:
    aside = hit("a.md", "Library 2026", 1.0, status=status)
    other = hit("c.md", "Canteen", 0.95)
    assert order(aside, other, NOW) == ["c.md", "b.md", "a.md"]
    assert quoted(aside, other, NOW) == ["c.md", "b.md"]
    # A document cut into smaller passages has more headings above them.
    assert order(hit("a.md", "Library 2026", 1.0, ("Loans", "Books"), status=status), NOW) == ["b.md", "a.md"]


def test_a_file_name_says_what_a_title_of_mere_status_does_not() -> None:
    old = hit("loans-2024.md", "ARCHIVED – do not use", 1.0, ("Sums",), status="archived")
    assert quoted(old, hit("loans-2025.html", "Loans from January", 0.9)) == ["loans-2025.html"]
    assert quoted(old, hit("fines-2025.html", "Fines from January", 0.9)) == ["loans-2024.md", "fines-2025.html"]


@pytest.mark.parametrize(
    "aside",
    [
        hit("a.md", "Library 2026", 1.0, status="final"),
        hit("a.md", "Canteen", 1.0, status="draft"),
        hit("a.md", "Library 2026", 1.0, ("Fines",), status="draft"),
        hit("a.md", "Library 2026", 1.1, status="draft"),
        hit("a.md", "Library 2026", 1.0, status="The draft of a letter is kept for a year"),
    ],
)
def test_another_subject_or_a_far_better_passage_keeps_its_rank(aside: Hit) -> None:
    assert order(aside, NOW) == quoted(aside, NOW) == ["a.md", "b.md"]


def test_a_document_asked_for_by_year_or_status_keeps_its_rank() -> None:
    aside = hit("a.md", "Library 2026", 1.0, status="draft")
    for asked in ("How long may a book be kept in 2026?", "What does the draft say of books?"):
        assert quoted(aside, NOW, asked=asked) == ["a.md", "b.md"]


def test_no_document_succeeds_itself_or_its_successor() -> None:
    itself = hit("a.md", "Library", 1.0, superseded_by="Library").document
    one, two = (hit(f"{a}.md", a, 1.0, superseded_by=b).document for a, b in (("X", "Y"), ("Y", "X")))
    assert find_successors([itself, NOW.document, one, two]) == []
