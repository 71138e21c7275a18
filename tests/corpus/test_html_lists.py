"""Numbers of HTML lists, as a browser shows them."""

import pytest

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers import read_document


def read(html: str) -> str:
    return read_document(f"<body>{html}</body>".encode(), "page.html", ReadLimits()).markdown.strip()


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<ol><li>one<li value=9>nine<li>ten</ol>", "1. one\n9. nine\n10. ten"),
        ("<ol reversed><li>gold<li>silver</ol>", "2. gold\n1. silver"),
        ("<ol reversed start=7><li>gold<li>silver</ol>", "7. gold\n6. silver"),
        ("<ol type=a><li>wear parts<li>frost</ol>", "- a. wear parts\n- b. frost"),
        ("<ol type=I start=4><li>Fees</ol>", "- IV. Fees"),
        ("<ol start=6><li>Drain<li value=x>Close</ol>", "6. Drain\n7. Close"),
    ],
)
def test_list_items_keep_the_numbers_a_browser_shows(html: str, markdown: str) -> None:
    assert read(html) == markdown


def test_a_nested_list_stays_in_its_item() -> None:
    assert read("<ol reversed><li>gold<ul><li>Ann</ul><li>silver</ol>") == "2. gold\n   - Ann\n1. silver"


def test_an_address_is_a_paragraph_of_its_own() -> None:
    assert read("<p>Write to<address>Box 9</address>by May.") == "Write to\n\nBox 9\n\nby May."
