"""The text of PDFs: labels, titles, footnotes, and running headers and footers. The files are made by reportlab."""

import io
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate

from argot.corpus.ingestion.first_page import read_first_page_date, read_first_page_fields
from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers import read_document
from argot.corpus.readers.reader_process import read_in_child
from argot.types import ParsedDocument

LIMITS = ReadLimits()
STYLES = getSampleStyleSheet()
TEXT = "Every seafarer on board keeps a log of the hours that were worked and of those that were not, by name. " * 4
Draw = Callable[[Canvas, Any], None]


def paragraphs(*texts: tuple[str, str]) -> list[Any]:
    return [Paragraph(text, STYLES[style]) for style, text in texts]


def pdf(story: Sequence[Any], draw: Draw = lambda canvas, page: None) -> bytes:
    buffer = io.BytesIO()
    SimpleDocTemplate(buffer, pagesize=A4).build(list(story), onFirstPage=draw, onLaterPages=draw)
    return buffer.getvalue()


def read(data: bytes) -> ParsedDocument:
    return read_document(data, "manual.pdf", LIMITS)


def test_label_lines_stay_separate_and_become_fields() -> None:
    labels = [
        "Status: Superseded",
        "Superseded by: Safety Manual 2026",
        "Last updated: 5 May 2023",
        "Owner: Safety Office",
    ]
    data = pdf(paragraphs(("Title", "Safety Manual"), *(("Normal", one) for one in labels), ("Normal", TEXT)))
    cut = read_in_child(data, "manual.pdf", LIMITS, 1200)
    assert "\n\n".join([*labels, TEXT.strip()]) in cut.markdown
    found = {one.name: one.value for one in read_first_page_fields(cut, ())}
    assert found == {"status": "Superseded", "superseded_by": "Safety Manual 2026", "owner": "Safety Office"}
    assert read_first_page_date(cut) == "2023-05-05"


def test_a_paragraph_with_a_colon_at_a_line_end_stays_whole() -> None:
    text = f"Note: {TEXT}The owner: nobody. {TEXT}"
    assert read(pdf(paragraphs(("Normal", text)))).markdown.strip() == text.strip()


def test_a_numbered_heading_is_not_joined_to_the_title_above() -> None:
    story = paragraphs(("Title", "Engine Care Guide"), ("Heading1", "1 Lubrication"), ("Normal", TEXT))
    assert "# Engine Care Guide\n\n# 1 Lubrication\n\n" in read(pdf(story)).markdown


def test_a_footnote_drawn_first_follows_its_mark() -> None:
    def foot(canvas: Canvas, page: Any) -> None:
        canvas.setFont("Helvetica", 7)
        canvas.drawString(72, 70, "1 Dogs travel for 20 EUR.")

    story = paragraphs(("Title", "Cabins"), ("Normal", "Pets stay outside.<super>1</super>"), ("Normal", TEXT))
    markdown = read(pdf(story, foot)).markdown
    assert markdown.startswith("# Cabins\n\nPets stay outside.^1\n\n^1 Dogs travel for 20 EUR.\n\nEvery")


def running(size: float, text: str = "Fjordlane Ferries") -> Draw:
    def draw(canvas: Canvas, page: Any) -> None:
        canvas.setFont("Helvetica", size)
        canvas.drawString(72, A4[1] - 30, text)

    return draw


@pytest.mark.parametrize("pages", [2, 3])
@pytest.mark.parametrize("size", [8, 10])
def test_a_running_header_of_few_pages_is_left_out(pages: int, size: float) -> None:
    story = [part for number in range(pages) for part in (*paragraphs(("Normal", f"{TEXT} {number}")), PageBreak())]
    markdown = read(pdf(story, running(size))).markdown
    assert "Fjordlane" not in markdown and markdown.count("Every seafarer") == 4 * pages


def test_a_page_with_nothing_but_the_running_header_keeps_it() -> None:
    story = [*paragraphs(("Normal", TEXT)), PageBreak(), *paragraphs(("Normal", "&nbsp;"))]
    assert "Fjordlane" in read(pdf(story, running(8))).markdown


def test_a_repeated_first_line_of_two_pages_is_kept() -> None:
    story = [part for _ in range(2) for part in (*paragraphs(("Normal", "Sign here."), ("Normal", TEXT)), PageBreak())]
    assert read(pdf(story)).markdown.count("Sign here.") == 2
