"""Fields and dates that files declare about themselves, in the forms in which people write them."""

import pytest

from argot.corpus.ingestion.first_page import read_first_page_date
from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers import read_document
from argot.corpus.readers.dates import find_date
from argot.corpus.readers.reader_process import read_in_child
from argot.types import ParsedDocument

LIMITS = ReadLimits()


def read(text: str, name: str) -> ParsedDocument:
    return read_document(text.encode(), name, LIMITS)


def fields_in(parsed: ParsedDocument) -> set[tuple[str, str]]:
    return {(one.name, one.value) for one in parsed.fields}


def test_restructuredtext_field_lists_become_fields() -> None:
    head = ":Author: Olav\n:Date: 2025-05-05\n:Status: Draft\n:Region: Norway\n:Safety Class: B2\n:orphan:\n"
    parsed = read(f"Near Miss\n=========\n\n{head}\nReport it within 12 hours.\n", "a.rst")
    declared = {("author", "Olav"), ("status", "Draft"), ("region", "Norway"), ("safety_class", "B2")}
    assert (parsed.date, fields_in(parsed)) == ("2025-05-05", declared)


def test_only_the_field_list_below_the_first_title_counts() -> None:
    source = "One\n===\n\n:Region: Norway\n:Last updated: 3 May 2025\n\nText.\n\nTwo\n===\n\n:Unit: bar\n\nText.\n"
    parsed = read(source, "a.rst")
    assert (parsed.date, fields_in(parsed)) == ("2025-05-03", {("region", "Norway")})


def test_html_meta_names_become_fields_except_technical_ones() -> None:
    metas = {
        "region": "Denmark", "Safety-Class": "B2", "author": "Ann", "DC.creator": "Ben", "keywords": "hr, leave",
        "last-reviewed": "2025-04-02", "viewport": "width=device-width", "generator": "Hugo", "robots": "index",
        "theme-color": "#fff", "csrf-token": "abc", "twitter:card": "summary", "og:site": "x", "description": "It",
        "google-site-verification": "x", "apple-mobile-web-app-title": "x", "request-id": "7",
    }  # fmt: skip
    head = "".join(f"<meta name='{name}' content='{value}'>" for name, value in metas.items())
    parsed = read(
        f"<!doctype html><html><head>{head}</head><body><h1>Leave</h1><p>25 days.</p></body></html>", "a.html"
    )
    assert fields_in(parsed) == {
        ("region", "Denmark"), ("safety_class", "B2"), ("author", "Ann"), ("author", "Ben"), ("tag", "hr"),
        ("tag", "leave"),
    }  # fmt: skip
    assert parsed.date == "2025-04-02"


@pytest.mark.parametrize(
    ("said", "dated"),
    [
        ("2025-03-01", "2025-03-01"),
        ("2025-03-01T10:00:00Z", "2025-03-01"),
        ("2025-03", "2025-03"),
        ("2025", "2025"),
        ("2025/3/1", "2025-03-01"),
        ("20250301", "2025-03-01"),
        ("31.12.2024", "2024-12-31"),
        ("12/31/2024", "2024-12-31"),
        ("5/5/2024", "2024-05-05"),
        ("31 December 2024", "2024-12-31"),
        ("1st Mar 2025", "2025-03-01"),
        ("December 31, 2024", "2024-12-31"),
        ("May 2023", "2023-05"),
        ("Tue, 09 Sep 2025 08:30:00 GMT", "2025-09-09"),
        ("5/4/2024", None),
        ("2025-13-45", None),
        ("31.13.2024", None),
        ("next Tuesday", None),
        ("1800-01-01", None),
    ],
)
def test_dates_are_read_in_many_formats(said: str, dated: str | None) -> None:
    assert find_date(said) == dated


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.md", "---\ndate: next Tuesday\n---\n# Head\n\nText.\n"),
        ("a.html", "<html><head><meta name=date content='next Tuesday'></head><body><p>Text.</p></body></html>"),
        ("a.rst", "Head\n====\n\n:Date: next Tuesday\n\nText.\n"),
    ],
)
def test_a_date_that_cannot_be_read_gives_a_warning(name: str, text: str) -> None:
    parsed = read(text, name)
    assert parsed.date is None
    assert parsed.warnings == ("date 'next Tuesday' was not understood: write it as 2025-03-01",)


def test_an_unreadable_date_beside_a_readable_one_gives_no_warning() -> None:
    parsed = read("---\ndate: soon\nlast_reviewed: 31.12.2024\n---\n# Head\n\nText.\n", "a.md")
    assert (parsed.date, parsed.warnings) == ("2024-12-31", ())


@pytest.mark.parametrize(
    "line", ["Last reviewed: 31.12.2024", "Revised: 31 Dec 2024", "Last updated: December 31, 2024"]
)
def test_the_revision_date_is_read_from_the_first_page(line: str) -> None:
    cut = read_in_child(f"# Head\n\n{line}\n\nText.\n".encode(), "a.md", LIMITS, 1200)
    assert read_first_page_date(cut) == "2024-12-31"
