"""Scans and pictures of text, read by a real tesseract; and the messages where it is missing."""

import io
from pathlib import Path
from typing import Any

import pptx
import pypdfium2
import pytest
from gold_pdfs import BROKEN, in_vera
from PIL import Image
from reportlab.lib.pagesizes import A4, landscape
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from argot.corpus.chunking.passages import cut_document
from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers import ocr, read_document
from argot.corpus.readers.ocr import describe_ocr, is_installed
from argot.corpus.readers.reader_process import read_in_child
from argot.errors import NoText, NotFound, UnreadableDocument
from argot.types import ParsedDocument

needs_tesseract = pytest.mark.skipif(not is_installed(), reason="tesseract is not installed")
LIMITS = ReadLimits()
PAGE = (
    "# Opening the valve",
    "The recovery team restores services in the order of their tiers, and reports",
    "every hour to the duty manager, who keeps the log and calls the carrier if a",
    "part is needed. Valve V7 opens at 12.5 bar and closes at 9 bar.",
)
ROWS = (("Part", "Opens", "Closes"), ("Valve V7", "12.5 bar", "9 bar"), ("Valve V9", "14 bar", "11 bar"))


def printed(lines: tuple[str, ...] = PAGE, rows: tuple[tuple[str, ...], ...] = ()) -> bytes:
    """Make a PDF page with a text layer."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4)
    y = 740
    for line in lines:
        big = line.startswith("#")
        canvas.setFont("Helvetica-Bold" if big else "Helvetica", 20 if big else 11)
        canvas.drawString(60, y, line.lstrip("# "))
        y -= 40 if big else 14
    for row in rows:
        for place, text in enumerate(row):
            canvas.drawString(60 + 150 * place, y, text)
        y -= 18
    canvas.save()
    return buffer.getvalue()


def picture_of(pdf: bytes, dpi: int = 200) -> Image.Image:
    document = pypdfium2.PdfDocument(pdf)
    try:
        return document[0].render(scale=dpi / 72, grayscale=True).to_pil().copy()
    finally:
        document.close()


def scanned(*pages: Image.Image | None) -> bytes:
    """Make a PDF whose pages are pictures; None stands for a page with a text layer."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4)
    for page in pages:
        if page is None:
            for line in range(30):
                canvas.drawString(60, 760 - 20 * line, f"This page has text of its own, in line {line} of thirty.")
        else:
            size = A4 if page.height > page.width else landscape(A4)
            canvas.setPageSize(size)
            canvas.drawImage(ImageReader(page), 0, 0, *size)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def encoded(picture: Image.Image, kind: str = "PNG", **options: Any) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, kind, **options)
    return buffer.getvalue()


def read(data: bytes, name: str, limits: ReadLimits = LIMITS) -> ParsedDocument:
    return read_document(data, name, limits)


def refusal(data: bytes, name: str, limits: ReadLimits = LIMITS) -> UnreadableDocument:
    with pytest.raises(UnreadableDocument) as caught:
        read(data, name, limits)
    return caught.value


@needs_tesseract
def test_a_scan_has_the_text_headings_and_boxes_of_the_printed_page() -> None:
    parsed = read(scanned(picture_of(printed())), "valve.pdf")
    assert parsed.title == "Opening the valve"
    assert parsed.markdown.startswith("# Opening the valve\n\nThe recovery team restores services in the order of")
    assert "Valve V7 opens at 12.5 bar and closes at 9 bar." in parsed.markdown
    assert [(mark.number, mark.kind) for mark in parsed.pages] == [(1, "scanned page")]
    box = next(mark.box for mark in parsed.boxes if mark.start <= parsed.markdown.index("recovery") < mark.end)
    assert box.x0 == pytest.approx(60, abs=3)
    assert box.y0 == pytest.approx(A4[1] - 700 - 9, abs=5)


@needs_tesseract
def test_rows_of_a_scanned_table_keep_their_columns() -> None:
    markdown = read(scanned(picture_of(printed((), ROWS))), "table.pdf").markdown
    assert "| Part | Opens | Closes |\n| --- | --- | --- |\n| Valve V7 | 12.5 bar | 9 bar |" in markdown


@needs_tesseract
@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_a_scanned_page_on_its_side_or_upside_down_is_read(degrees: int) -> None:
    upright = picture_of(printed())
    parsed = read(scanned(None, upright.rotate(degrees, expand=True)), "valve.pdf")
    second = " ".join(parsed.markdown[parsed.pages[1].start :].split())
    assert second.startswith("# Opening the valve The recovery team restores services in the order of their tiers")
    assert "Valve V7 opens at 12.5 bar and closes at 9 bar." in second
    assert parsed.pages[1].kind == "scanned page"
    # Boxes on the upright page would be at wrong places of the file.
    assert {mark.box.page for mark in parsed.boxes} == {1}


@needs_tesseract
def test_only_pages_without_a_text_layer_are_recognised() -> None:
    parsed = read(scanned(None, picture_of(printed())), "mixed.pdf")
    assert [(mark.number, mark.kind) for mark in parsed.pages] == [(1, "page"), (2, "scanned page")]
    assert "This page has text of its own" in parsed.markdown
    assert "12.5 bar" in parsed.markdown
    cuts = cut_document(parsed, max_chars=1200, limits=LIMITS, name="mixed.pdf")
    assert {cut.page: cut.page_kind for cut in cuts} == {1: "page", 2: "scanned page"}


@needs_tesseract
def test_a_poor_scan_gives_a_warning() -> None:
    coarse = picture_of(printed(), dpi=38).resize((1240, 1754))
    parsed = read(scanned(coarse), "poor.pdf")
    assert {mark.kind for mark in parsed.pages} == {"hardly legible page"}
    assert parsed.warnings == ("hardly legible: page 1",)


@needs_tesseract
def test_pages_beyond_the_ocr_limit_are_named_with_the_setting() -> None:
    page = picture_of(printed())
    parsed = read(scanned(page, page, page), "long.pdf", ReadLimits(ocr_pages=1))
    assert [mark.number for mark in parsed.pages] == [1]
    assert any("scanned page 2, 3 not read" in one and "ARGOT_OCR_PAGES" in one for one in parsed.warnings)


@needs_tesseract
@pytest.mark.parametrize(("kind", "name"), [("PNG", "a.png"), ("JPEG", "photo"), ("TIFF", "a.tif"), ("WEBP", "a.webp")])
def test_pictures_of_text_are_read(kind: str, name: str) -> None:
    parsed = read(encoded(picture_of(printed(), dpi=110), kind), name)
    assert "Valve V7 opens at 12.5 bar" in " ".join(parsed.markdown.split())
    assert parsed.media_type == f"image/{kind.lower()}"
    assert not parsed.boxes


@needs_tesseract
def test_a_photograph_is_turned_by_its_exif_orientation() -> None:
    turned = picture_of(printed()).rotate(90, expand=True)
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by 90 degrees clockwise
    assert "12.5 bar" in read(encoded(turned, "JPEG", exif=exif), "a.jpg").markdown


@needs_tesseract
def test_a_picture_without_text_is_skipped_and_a_broken_one_refused() -> None:
    with pytest.raises(NoText, match="no text in the picture"):
        read(encoded(Image.new("L", (400, 300), 255)), "blank.png")
    with pytest.raises(NoText):  # also out of the process that reads files of strangers
        read_in_child(encoded(Image.new("L", (400, 300), 255)), "blank.png", LIMITS, 1200)
    assert "damaged" in refusal(encoded(picture_of(printed()))[:500], "a.png").reason
    assert "damaged" in refusal(b"no picture", "a.png").reason
    assert refusal(encoded(Image.new("1", (16_000, 16_000))), "a.png").reason.startswith("too large")


@needs_tesseract
def test_a_missing_ocr_language_is_named() -> None:
    error = refusal(encoded(picture_of(printed())), "a.png", ReadLimits(ocr_languages="tlh"))
    assert "tlh" in error.remedy
    assert "tesseract failed" in error.reason


@needs_tesseract
def test_a_scan_is_read_in_the_reading_process() -> None:
    read_back = read_in_child(scanned(picture_of(printed())), "valve.pdf", LIMITS, 1200)
    assert "12.5 bar" in read_back.markdown


def slides(*pictures: tuple[Image.Image, str]) -> bytes:
    """Make a deck with one slide for each picture, with its alternative text."""
    deck = pptx.Presentation()
    for picture, words in pictures:
        slide = deck.slides.add_slide(deck.slide_layouts[6])
        shape = slide.shapes.add_picture(io.BytesIO(encoded(picture)), 0, 0, width=deck.slide_width)
        shape._element._nvXxPr.cNvPr.set("descr", words)
    buffer = io.BytesIO()
    deck.save(buffer)
    return buffer.getvalue()


@needs_tesseract
def test_text_in_pictures_of_slides_is_read() -> None:
    page, blank = picture_of(printed()), Image.new("L", (400, 300), 255)
    data = slides((page, "page.png"), (page, "The valve\nfrom above"), (blank, ""))
    parsed = read(data, "deck.pptx")
    first, second, _ = parsed.markdown.split("# Slide ")[1:]
    assert "Valve V7 opens at 12.5 bar" in " ".join(first.split())
    assert second == "2\n\nPicture: The valve from above\n\n"
    assert parsed.warnings == ("only pictures, and no text read in them: slide 3",)


def test_without_tesseract_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for data, name in ((scanned(picture_of(printed())), "a.pdf"), (encoded(picture_of(printed())), "a.png")):
        assert "apt install tesseract-ocr" in refusal(data, name).remedy
    mixed = read(scanned(None, picture_of(printed())), "mixed.pdf")
    assert any("page 2 looks scanned and was not read" in one and "apt install" in one for one in mixed.warnings)


@needs_tesseract
def test_the_doctor_names_the_ocr_program_and_languages() -> None:
    assert describe_ocr("eng") == "tesseract reads them, in eng"
    with pytest.raises(NotFound, match="apt install tesseract-ocr-tlh"):
        describe_ocr("eng+tlh")


def test_the_doctor_says_how_to_install_ocr(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "apt install tesseract-ocr" in describe_ocr("eng")
    assert "ARGOT_OCR_LANGUAGES" in describe_ocr("")


def test_ocr_can_be_switched_off() -> None:
    error = refusal(scanned(picture_of(printed())), "a.pdf", ReadLimits(ocr_languages=""))
    assert "looks scanned" in error.reason
    assert "ARGOT_OCR_LANGUAGES" in error.remedy


def test_empty_pages_are_not_scans() -> None:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4)
    canvas.showPage()
    canvas.save()
    assert "empty" in refusal(buffer.getvalue(), "a.pdf").reason or not is_installed()


def test_a_page_that_takes_too_much_processor_time_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    endless = tmp_path / "tesseract"
    endless.write_text("#!/bin/sh\nwhile :; do :; done\n")
    endless.chmod(0o755)
    monkeypatch.setattr(ocr, "PROGRAM", str(endless))
    monkeypatch.setattr(ocr, "_BOUNDED_COMMAND", ocr._BOUNDED_COMMAND.replace("60", "1"))
    with pytest.raises(UnreadableDocument, match="a page of it took tesseract more than 60 seconds"):
        ocr.recognize_text(Image.new("RGB", (40, 40), "white"), "eng", "scan.png", 0.24)


@needs_tesseract
def test_both_extractions_are_aligned_on_every_page_where_that_is_set() -> None:
    # Too few private characters for a page that counts as broken.
    data = in_vera([(text, 9 if size == 10 else size) for text, size in BROKEN], readable=False)
    data = data.replace(b"<0071>", b"<E071>").replace(b"<007A>", b"<E07A>").replace(b"<0076>", b"<E076>")
    alone = read_document(data, "few.pdf", LIMITS).markdown
    aligned = read_document(data, "few.pdf", ReadLimits(align_extractions=True)).markdown
    assert any(mark in alone for mark in "\ue071\ue07a\ue076")
    assert not any(mark in aligned for mark in "\ue071\ue07a\ue076") and "five newest" in aligned
    late = read_document(two_pages(), "long.pdf", ReadLimits(align_extractions=True, ocr_pages=1))
    assert any("page 2 not read twice" in one for one in late.warnings)


def two_pages() -> bytes:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4)
    for number in (1, 2):
        canvas.drawString(60, 740, f"Valve V{number} opens at 12.5 bar and closes at 9 bar.")
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()
