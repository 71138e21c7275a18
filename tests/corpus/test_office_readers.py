"""Workbooks and slides as programs write them: hidden content is left out, and numbers are read as shown."""

import io

import docx
import openpyxl
import pptx
import pytest
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers import read_document
from argot.corpus.readers.number_formats import format_number
from argot.types import ParsedDocument

LIMITS = ReadLimits()


def read_book(book: openpyxl.Workbook) -> ParsedDocument:
    buffer = io.BytesIO()
    book.save(buffer)
    return read_document(buffer.getvalue(), "prices.xlsx", LIMITS)


def prices() -> openpyxl.Workbook:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Prices"
    for row in (["Part", "Cost", "Price"], ["valve", 11, 19], ["pump", 22, 39], ["seal", 33, 59]):
        sheet.append(row)
    return book


def test_hidden_sheets_are_left_out_with_a_warning() -> None:
    book = prices()
    for name, state in (("Secret", "hidden"), ("Deeper", "veryHidden")):
        sheet = book.create_sheet(name)
        sheet.append(["Name", "Salary"])
        sheet.append(["Ann", 2_100_000])
        sheet.sheet_state = state
    read = read_book(book)
    assert "Salary" not in read.markdown and "Secret" not in read.markdown
    assert "| valve | 11 | 19 |" in read.markdown
    assert read.warnings == ("hidden sheets were left out: Secret, Deeper",)


def test_hidden_rows_and_columns_are_left_out_with_a_warning() -> None:
    book = prices()
    book.active.column_dimensions["B"].hidden = True
    book.active.row_dimensions[3].hidden = True
    book.active.row_dimensions[90].hidden = True  # holds nothing
    read = read_book(book)
    assert read.markdown == "# Prices\n\n| Part | Price |\n| --- | --- |\n| valve | 19 |\n| seal | 59 |\n\n"
    assert read.warnings == ("hidden rows or columns were left out in Prices: column B, row 3",)


def test_a_merged_heading_stays_over_its_visible_columns() -> None:
    book = openpyxl.Workbook()
    for row in (["Part", "Price", None], [None, "inside", "outside"], ["valve", 11, 19]):
        book.active.append(row)
    book.active.merge_cells("B1:C1")
    book.active.column_dimensions["B"].hidden = True
    assert "| Part | Price outside |\n| --- | --- |\n| valve | 19 |" in read_book(book).markdown


def test_a_formula_without_a_value_is_marked_as_such() -> None:
    book = prices()
    book.active["D1"], book.active["D2"] = "Margin", "=C2*20/1000"
    read = read_book(book)
    assert "| valve | 11 | 19 | (formula without a value) |" in read.markdown
    assert "1000" not in read.markdown


@pytest.mark.parametrize(
    ("value", "number_format", "shown"),
    [
        (1_250_000, '#,##0 "NOK"', "1,250,000 NOK"),
        (5, '"NOK" #,##0', "NOK 5"),
        (12.5, '0.0 "kg"', "12.5 kg"),
        (5.5, '_-* #,##0.00\\ "kr"_-;-* #,##0.00\\ "kr"_-', "5.50 kr"),
        (3, "[$€-407]\\ #,##0.00", "€ 3.00"),
        (2_500_000, '0.0,,"M"', "2.5M"),
        (12, '"INV-"0000', "INV-0012"),
        (12345, "000-000", "012-345"),
        (0.31, "0%", "31%"),
        (-4, "#,##0;[Red]-#,##0", "-4"),
        (5, "0.00E+00", "5"),
        (3.25, "General", "3.25"),
        (1234.5, "$#,##0.00", "$1,234.50"),
        (0.0755, "0%", "7.55%"),  # no digit is rounded away
        (417, "000000", "000417"),
        (3, '0" per day"', "3 per day"),
        (123456789, "000-00-0000", "123-45-6789"),
        (1.5, "# ?/?", "1 1/2"),
        (2.625, "# ?/8", "2 5/8"),
        (0.37, "# ?/8", "0.37"),
        (-1234.5, '_($* #,##0.00_);_($* (#,##0.00);_($* "-"??_);_(@_)', "$ -1,234.50"),
        (0, '_($* #,##0.00_);_($* (#,##0.00);_($* "-"??_);_(@_)', "$ 0"),
        (0, '[=1]"yes";[=0]"no"', "no"),
        (1500, '[>=1000]#,##0.0,"k";0', "1.5k"),
        (15, '[>=1000]#,##0.0,"k";0', "15"),
        (5, ";;;", ""),
        (1e20, "#,##0", "1e+20"),
    ],
)
def test_numbers_keep_the_units_of_their_formats(value: float, number_format: str, shown: str) -> None:
    assert format_number(value, number_format) == shown


def test_a_cell_keeps_its_unit() -> None:
    book = prices()
    book.active["C2"].number_format = '#,##0 "NOK"'
    assert "| valve | 11 | 19 NOK |" in read_book(book).markdown


def test_a_merged_cell_is_repeated_in_each_of_its_rows() -> None:
    book = openpyxl.Workbook()
    for row in (["Berth", "Length", "Draught"], ["North", 20, 6.5], [None, 46, 7.5], ["South", 10, 5], ["East"]):
        book.active.append(row)
    book.active.merge_cells("A2:A3")
    book.active.merge_cells("C4:C5")
    assert read_book(book).markdown.endswith(
        "| North | 20 | 6.5 |\n| North | 46 | 7.5 |\n| South | 10 | 5 |\n| East |  | 5 |\n\n"
    )


# -- Word documents -------------------------------------------------------------------------------------------------


def test_hidden_text_in_word_is_left_out_with_a_warning() -> None:
    document = docx.Document()
    paragraph = document.add_paragraph("The offer is 310 euros")
    for text, hidden in ((", at most 420", True), (" a night", False), (".", None)):
        paragraph.add_run(text).font.hidden = hidden
    buffer = io.BytesIO()
    document.save(buffer)
    parsed = read_document(buffer.getvalue(), "offer.docx", LIMITS)
    assert parsed.markdown == "The offer is 310 euros a night.\n"
    assert parsed.warnings == ("hidden text was left out",)


# -- slides ---------------------------------------------------------------------------------------------------------


def read_deck(deck: "pptx.presentation.Presentation") -> ParsedDocument:
    buffer = io.BytesIO()
    deck.save(buffer)
    return read_document(buffer.getvalue(), "review.pptx", LIMITS)


def deck_of(*titles: str) -> "pptx.presentation.Presentation":
    deck = pptx.Presentation()
    for title in titles:
        slide = deck.slides.add_slide(deck.slide_layouts[5 if title else 6])
        if title:
            slide.shapes.title.text = title
    return deck


def test_hidden_slides_are_left_out_with_a_warning() -> None:
    deck = deck_of("Review", "Layoffs", "Outlook")
    deck.slides[1]._element.set("show", "0")
    read = read_deck(deck)
    assert "Layoffs" not in read.markdown and "# Outlook" in read.markdown
    assert [mark.number for mark in read.pages] == [1, 3]
    assert read.warnings == ("hidden slides were left out: 2",)


def test_the_title_of_a_deck_comes_from_its_first_slide_only() -> None:
    assert read_deck(deck_of("Review", "Outlook")).title == "Review"
    assert read_deck(deck_of("", "", "Outlook")).title == "review"


def test_percentages_of_charts_are_read_as_they_are_shown() -> None:
    deck = deck_of("Complaints")
    data = CategoryChartData(number_format="0%")
    data.categories = ["Delay", "Food"]
    data.add_series("Share", (0.69, 0.31))
    deck.slides[0].shapes.add_chart(XL_CHART_TYPE.PIE, 0, 0, Inches(4), Inches(4), data)
    assert "| Food | 31% |" in read_deck(deck).markdown
