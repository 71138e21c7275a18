"""Faulty details of Office files that lose only themselves: empty headers, wrong counts, missing relationships."""

import io
import re
import zipfile

import docx
import openpyxl
import pptx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers import read_document
from argot.corpus.readers.number_formats import format_number
from argot.types import DocumentField


def saved(document: object) -> bytes:
    file = io.BytesIO()
    document.save(file)  # type: ignore[attr-defined]
    return file.getvalue()


def test_a_header_without_a_label_does_not_lose_the_sheet() -> None:
    book = openpyxl.Workbook()
    book.active.append(["Part", "Stock"])
    book.active.append(["Seal", 4])
    book.active.oddHeader.center.text = "Confidential stock list"
    book.active.oddFooter.left.text = "Page &P; rev. 4"

    read = read_document(saved(book), "stock.xlsx", ReadLimits())

    assert "| Seal | 4 |" in read.markdown
    assert read.warnings == ()
    assert DocumentField("revision", "4") in read.fields


def test_an_empty_header_does_not_lose_the_document() -> None:
    document = docx.Document()
    document.add_paragraph("The gate opens at six.")
    document.sections[0].header.is_linked_to_previous = False

    read = read_document(saved(document), "gate.docx", ReadLimits())

    assert read.markdown.strip() == "The gate opens at six."
    assert read.warnings == ()


def table(rows: list[str]) -> bytes:
    document = docx.Document()
    document.add_paragraph("Rates")
    xml = f"<w:tbl {nsdecls('w')}><w:tblPr/><w:tblGrid/>{''.join(f'<w:tr>{row}</w:tr>' for row in rows)}</w:tbl>"
    document.element.body.insert(1, parse_xml(xml))
    return saved(document)


def cell(text: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:tc>"


def test_a_row_with_skipped_leading_columns_stays_aligned() -> None:
    rows = [
        cell("Zone") + cell("Low") + cell("High"),
        '<w:trPr><w:gridBefore w:val="1"/></w:trPr>' + cell("7") + cell("8"),
    ]

    assert "|  | 7 | 8 |" in read_document(table(rows), "rates.docx", ReadLimits()).markdown


@pytest.mark.parametrize("count", ["x", "", "-1", "1.5"])
def test_an_invalid_column_span_does_not_lose_the_document(count: str) -> None:
    rows = [cell("Zone", f'<w:gridSpan w:val="{count}"/>') + cell("Low"), cell("Inner") + cell("7")]

    assert "| Inner | 7 |" in read_document(table(rows), "rates.docx", ReadLimits()).markdown


def test_a_missing_relationships_file_loses_only_its_part() -> None:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "Rota"
    slide.notes_slide.notes_text_frame.text = "Swap by noon."
    broken = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(saved(deck))) as whole, zipfile.ZipFile(broken, "w") as copy:
        for name in whole.namelist():
            copy.writestr(name, b"<x" if "notesSlide" in name else whole.read(name))

    read = read_document(broken.getvalue(), "rota.pptx", ReadLimits())

    assert "# Rota" in read.markdown
    assert any(re.search(r"damaged parts.*notesSlide1\.xml", warning) for warning in read.warnings)


@pytest.mark.parametrize(
    ("value", "shown"), [(-1234.5, "-1,234.50 kr"), (1234.5, "1,234.50 kr"), (0, "0.00 kr")], ids=str
)
def test_accounting_formats_show_one_sign(value: float, shown: str) -> None:
    number_format = r'_-* #,##0.00\ "kr"_-;\-* #,##0.00\ "kr"_-;_-* #,##0.00\ "kr"_-;_-@_-'

    assert format_number(value, number_format) == shown
