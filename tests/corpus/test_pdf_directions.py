"""PDF text that is rotated, whose letters are spaced, or that is a watermark."""

import io
from collections.abc import Callable

import pytest
from reportlab.pdfgen.canvas import Canvas

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers import read_document
from argot.types import ParsedDocument
from tests.corpus.pdf_writer import text, turned, write_pdf

LIMITS = ReadLimits()
SENTENCES = [
    "The boom length is 18 metres and the load is 7 tonnes at 1250 turns.",
    "The mast is inspected every 13 months by the works inspector of the harbour.",
    "Ropes are changed after 900 operating hours, or at once when a strand is broken.",
]
WHOLE = " ".join(SENTENCES)
MATRICES = {0: "1 0 0 1", 90: "0 -1 1 0", 180: "-1 0 0 -1", 270: "0 1 -1 0"}


def read(data: bytes) -> ParsedDocument:
    return read_document(data, "crane.pdf", LIMITS)


def lines(turn: int) -> str:
    """Return the sentences, rotated clockwise, on a page of 600 by 800 points."""
    places = {0: (60, 700, 0, -14), 90: (500, 740, -14, 0), 180: (540, 100, 0, 14), 270: (100, 60, 14, 0)}
    x, y, across, up = places[turn]
    return "".join(turned(one, x + n * across, y + n * up, MATRICES[turn], 11) for n, one in enumerate(SENTENCES))


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
@pytest.mark.parametrize("page", [0, 90, 180, 270])
def test_a_rotated_page_is_read_in_its_direction(turn: int, page: int) -> None:
    assert read(write_pdf([lines(turn)], page=f"/Rotate {page}")).markdown.strip() == WHOLE


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_rotated_text_follows_the_upright_text(turn: int) -> None:
    upright = "".join(text(f"Rule {n}: gloves are worn in hall {n}.", 200, 500 - 40 * n, 11) for n in range(5))
    markdown = read(write_pdf([upright + lines(turn)])).markdown
    assert markdown.strip().endswith(WHOLE)
    assert markdown.startswith("Rule 0: gloves are worn in hall 0.")
    assert "|" not in markdown


def test_a_rotated_table_is_read_as_a_table() -> None:
    rows = [("Pump", "Limit", "Unit"), ("P1", "12.5", "bar"), ("P2", "19.0", "bar"), ("P3", "17.1", "bar")]
    cells = "".join(
        turned(cell, 200 + 20 * row, 100 + 150 * column, MATRICES[270])
        for row, of_row in enumerate(rows)
        for column, cell in enumerate(of_row)
    )
    markdown = read(write_pdf([cells])).markdown
    assert "| Pump | Limit | Unit |\n| --- | --- | --- |\n| P1 | 12.5 | bar |\n| P2 | 19.0 | bar |" in markdown


def test_a_rotated_label_at_the_margin_stays_whole() -> None:
    upright = "".join(text(f"Rule {n}: gloves are worn in hall {n}.", 100, 700 - 40 * n, 11) for n in range(9))
    markdown = read(write_pdf([upright + turned("Form 418 of March 2024", 30, 300, MATRICES[270])])).markdown
    assert "Form 418 of March 2024" in markdown
    assert all(f"Rule {n}: gloves are worn in hall {n}." in markdown for n in range(9))


def canvas_of(draw: Callable[[Canvas], None]) -> bytes:
    buffer = io.BytesIO()
    canvas = Canvas(buffer)
    draw(canvas)
    canvas.save()
    return buffer.getvalue()


GAPPED = "Nordvik Harbour charges eleven percent for night pilots."


@pytest.mark.parametrize("font", ["Helvetica", "Courier", "Times-Roman"])
@pytest.mark.parametrize("advance", [7.2, 8.0, 9.5])
def test_letters_placed_at_equal_distances_form_words(font: str, advance: float) -> None:
    def draw(canvas: Canvas) -> None:
        one = canvas.beginText(60, 700)
        one.setFont(font, 12)
        for number, char in enumerate(GAPPED):
            one.setTextOrigin(60 + number * advance, 700)
            one.textOut(char)
        canvas.drawText(one)

    assert read(canvas_of(draw)).markdown.strip() == GAPPED


@pytest.mark.parametrize("gap", [1, 2, 3, 5])
def test_spaces_in_the_file_separate_words(gap: float) -> None:
    def draw(canvas: Canvas) -> None:
        one = canvas.beginText(60, 700)
        one.setFont("Helvetica", 12)
        # Like the text layer of OCR programs: no gap beside the space.
        for word in GAPPED.split():
            one.setCharSpace(gap)
            one.textOut(word[:-1])
            one.setCharSpace(0)
            one.textOut(word[-1] + " ")
        canvas.drawText(one)

    assert read(canvas_of(draw)).markdown.strip() == GAPPED


@pytest.mark.parametrize("gap", [4, 6, 9])
def test_a_heading_of_spaced_letters_is_one_word(gap: float) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 18)
        canvas.drawString(60, 760, "CONTENTS", charSpace=gap)
        canvas.setFont("Helvetica", 10)
        canvas.drawString(60, 700, "The body of the text is set in small letters and goes on.")

    assert read(canvas_of(draw)).markdown.startswith("# CONTENTS\n")


RULES = [f"Rule {number}: lot {number} closes on day {number + 2} of the month at noon." for number in range(30)]


def ruled(canvas: Canvas, heading: str) -> None:
    canvas.setFont("Helvetica", 15)
    canvas.drawString(60, 790, heading)
    canvas.setFont("Helvetica", 11)
    for number, rule in enumerate(RULES):
        canvas.drawString(60, 760 - 22 * number, rule)


@pytest.mark.parametrize(("angle", "size", "grey"), [(45, 90, 0.85), (45, 26, 0.85), (30, 60, 0.3), (0, 80, 0.8)])
@pytest.mark.parametrize("pages", [1, 3])
def test_a_watermark_is_left_out(angle: int, size: int, grey: float, pages: int) -> None:
    def draw(canvas: Canvas) -> None:
        for heading in ("Tender rules", "Delivery", "Payment")[:pages]:
            canvas.saveState()
            canvas.setFillGray(grey)
            canvas.setFont("Helvetica-Bold", size)
            canvas.translate(150, 400)
            canvas.rotate(angle)
            canvas.drawString(0, 0, "DRAFT")
            canvas.restoreState()
            ruled(canvas, heading)
            canvas.showPage()

    found = read(canvas_of(draw))
    assert found.title == "Tender rules"
    assert "DRAFT" not in found.markdown
    assert RULES[12] in found.markdown
    assert found.warnings == ()


def test_text_marked_as_a_watermark_in_the_file_is_left_out() -> None:
    mark = "/Artifact << /Type /Pagination /Subtype /Watermark >> BDC\n" + text("COPY", 60, 500) + "EMC\n"
    header = mark.replace("Watermark", "Header").replace("COPY", "Plan 7").replace("500", "780")
    found = read(write_pdf([mark + header + text("The hall has two gates.", 60, 700)])).markdown
    assert found.split() == ["Plan", "7", "The", "hall", "has", "two", "gates."]


def test_slanted_text_alone_on_a_page_is_read() -> None:
    slanting = turned("Closed", 200, 300, "0.7 0.7 -0.7 0.7", 60)
    assert "Closed" in read(write_pdf([slanting])).markdown


def test_small_slanted_labels_are_kept() -> None:
    label = turned("January", 200, 300, "0.7 0.7 -0.7 0.7", 11)
    assert "January" in read(write_pdf([label + text("Sales by month", 60, 700, 11)])).markdown


def test_pale_text_that_covers_no_other_text_is_kept() -> None:
    pale = "0.75 g\n" + text("Chapter 3", 60, 700, 40) + "0 g\n"
    assert "Chapter 3" in read(write_pdf([pale + text("The hall has two gates.", 60, 600)])).markdown


def test_text_outside_the_crop_box_is_left_out() -> None:
    content = text("Printer's note", 60, 790) + text("The hall has two gates.", 60, 600)
    assert read(write_pdf([content], page="/CropBox [0 0 600 700]")).markdown.strip() == "The hall has two gates."


def test_a_damaged_page_is_left_out_alone() -> None:
    data = write_pdf([text("Page one is here.", 60, 700), "", text("Page three is here.", 60, 700)])
    broken = data.replace(b"/Kids [10 0 R 12 0 R 14 0 R]", b"/Kids [10 0 R 99 0 R 14 0 R]")
    found = read(broken)
    assert "Page one is here." in found.markdown
    assert "Page three is here." in found.markdown
    assert any("page 2" in warning for warning in found.warnings)
