"""Files made for these tests, one or more for each structure that is easily lost, against hand-written Markdown.

The gold standard is the intended text, never the output of a reader: where they differ, the reader is wrong.
"""

import difflib
from collections.abc import Callable
from pathlib import Path

import gold_offices
import gold_old_offices
import gold_open_documents
import gold_pdfs
import pytest
from markdown_likeness import likeness

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers import read_document
from argot.corpus.readers.ocr import is_installed

GOLD = Path(__file__).parent / "gold"
LIMITS = ReadLimits()
FLOOR = 0.99
READ_BY_SIGHT = 0.95
"""Where tesseract reads: it may mistake a letter."""
BY_SIGHT = ("scanned_page.pdf", "lost_vowels.pdf", "garbled_letters.pdf")
DOCUMENTS: dict[str, Callable[[], bytes]] = {
    "headings_by_fonts.pdf": gold_pdfs.headings_by_fonts,
    "headings_by_numbers.pdf": gold_pdfs.headings_by_numbers,
    "headings_by_bookmarks.pdf": gold_pdfs.headings_by_bookmarks,
    "two_columns.pdf": gold_pdfs.two_columns,
    "three_columns.pdf": gold_pdfs.three_columns,
    "running_edges.pdf": gold_pdfs.running_edges,
    "lists_and_code.pdf": gold_pdfs.lists_and_code,
    "footnotes.pdf": gold_pdfs.footnotes,
    "ruled_tables.pdf": gold_pdfs.ruled_tables,
    "unruled_table.pdf": gold_pdfs.unruled_table,
    "table_over_pages.pdf": gold_pdfs.table_over_pages,
    "scanned_page.pdf": gold_pdfs.scanned_page,
    "lost_ligatures.pdf": gold_pdfs.lost_ligatures,
    "lost_vowels.pdf": gold_pdfs.lost_vowels,
    "garbled_letters.pdf": gold_pdfs.garbled_letters,
    "word_report.docx": gold_offices.word_report,
    "word_tables.docx": gold_offices.word_tables,
    "word_by_hand.docx": gold_offices.word_by_hand,
    "slides.pptx": gold_offices.slides,
    "slides_with_charts.pptx": gold_offices.slides_with_charts,
    "workbook.xlsx": gold_offices.workbook,
    "letter.odt": gold_open_documents.letter,
    "spreadsheet.ods": gold_open_documents.spreadsheet,
    "open_slides.odp": gold_open_documents.open_slides,
    "drawing.vsdx": gold_open_documents.drawing,
    "old_workbook.xls": gold_old_offices.old_workbook,
    "binary_workbook.xlsb": gold_old_offices.binary_workbook,
    "rich_text.rtf": gold_old_offices.rich_text,
    "old_word_file.doc": gold_old_offices.old_word_file,
    "outlook_message.msg": gold_old_offices.outlook_message,
    "web_page.html": gold_offices.web_page,
    "book.epub": gold_offices.book,
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_each_document_is_read_like_its_gold_standard(name: str) -> None:
    scanned = name in BY_SIGHT
    if scanned and not is_installed():
        pytest.skip("tesseract is not installed")
    gold = (GOLD / f"{Path(name).stem}.gold.md").read_text("utf-8")
    read = read_document(DOCUMENTS[name](), name, LIMITS).markdown
    found = likeness(gold, read)
    difference = "\n".join(difflib.unified_diff(gold.splitlines(), read.splitlines(), "gold", "read", lineterm=""))
    assert found.least >= (READ_BY_SIGHT if scanned else FLOOR), f"{found}\n{difference}"


def test_every_gold_standard_has_a_document() -> None:
    assert sorted(path.name.removesuffix(".gold.md") for path in GOLD.iterdir()) == sorted(
        Path(name).stem for name in DOCUMENTS
    )


def test_broken_characters_give_a_warning_without_ocr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("argot.corpus.readers.pdf.is_installed", lambda: False)
    read = read_document(gold_pdfs.lost_vowels(), "kiln.pdf", LIMITS)
    assert any("page 1 are not those that it shows" in warning for warning in read.warnings)


def test_a_formula_without_a_value_gives_a_warning() -> None:
    read = read_document(gold_offices.workbook(), "budget.xlsx", LIMITS)
    assert read.warnings == ("formulas without a value in Budget: B7, C7. Save it in a spreadsheet program.",)
