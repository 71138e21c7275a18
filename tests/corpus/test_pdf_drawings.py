"""Figures of PDF pages without a picture file of their own: drawn charts, series of small pictures; and no tables."""

import io
import math

import pytest
from PIL import Image, ImageDraw
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers import read_document
from argot.corpus.readers.picture_captions import parse_label
from argot.corpus.readers.pictures import PictureShelf
from argot.types import Picture

PROSE = "The pumps of the northern harbour deliver more water than in the year before, as the log says."


def new_page() -> tuple[Canvas, io.BytesIO]:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(595, 842))
    canvas.setFontSize(9)
    for line in range(4):
        canvas.drawString(60, 790 - 12 * line, PROSE)
    return canvas, buffer


def find(canvas: Canvas, buffer: io.BytesIO) -> list[Picture]:
    canvas.save()
    return list(read_document(buffer.getvalue(), "a.pdf", ReadLimits(ocr_languages="")).pictures)


def draw_curves(canvas: Canvas, x: float, y: float, width: float = 200, height: float = 140) -> None:
    """Draw two axes with ticks, and two curves of 40 slanted pieces."""
    canvas.line(x, y, x + width, y)
    canvas.line(x, y, x, y + height)
    for phase in (0.0, 1.0):
        path = canvas.beginPath()
        path.moveTo(x, y + height / 2)
        for step in range(1, 41):
            path.lineTo(x + width * step / 40, y + height / 2 * (1 + 0.8 * math.sin(phase + step / 6)))
        canvas.drawPath(path)
    for tick in range(5):
        canvas.drawString(x + width * tick / 5, y - 10, str(2000 + tick))


def draw_pie(canvas: Canvas, x: float, y: float, radius: float = 80) -> None:
    for number, start in enumerate((0, 90, 150, 270)):
        canvas.setFillColorRGB(0.2, 0.2 * number, 0.6)
        canvas.wedge(x - radius, y - radius, x + radius, y + radius, start, 60 + 10 * number, fill=1)
    canvas.setFillColorRGB(0, 0, 0)


def draw_bars(canvas: Canvas, x: float, y: float) -> None:
    for number, length in enumerate((60, 130, 95, 180, 40, 150)):
        canvas.rect(x, y + 26 * number, length, 12, fill=1)
    canvas.rect(x - 60, y - 20, 280, 190)


def draw_table(canvas: Canvas, x: float, y: float, rows: int = 12) -> None:
    """Draw a table with every other row coloured, cell by cell, as spreadsheets do."""
    for row in range(rows):
        canvas.setFillColorRGB(*((0.8, 0.9, 1.0) if row % 2 else (1, 1, 1)))
        for column in range(6):
            canvas.rect(x + 70 * column, y - 16 * row, 70, 15 if column % 2 else 12, fill=1, stroke=0)
        canvas.setFillColorRGB(0, 0, 0)
        for column in range(6):
            canvas.drawString(x + 4 + 70 * column, y + 4 - 16 * row, f"{row * 37 + column} kg")


def test_a_chart_without_a_caption_is_found_by_its_curves() -> None:
    canvas, buffer = new_page()
    draw_pie(canvas, 300, 560)
    canvas.drawString(60, 300, PROSE)
    (one,) = find(canvas, buffer)
    assert one.box is not None and one.caption == ""
    assert (round(one.box.y0, -1), round(one.box.y1, -1)) == (200, 360)


def test_a_figure_on_its_side_has_its_caption() -> None:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(595, 842))
    canvas.rotate(90)
    canvas.translate(0, -595)
    for line in range(4):
        canvas.drawString(60, 540 - 14 * line, PROSE)
    draw_curves(canvas, 100, 240)
    written = io.BytesIO()
    Image.radial_gradient("L").save(written, "PNG")
    canvas.drawImage(ImageReader(io.BytesIO(written.getvalue())), 100, 200, 400, 250)
    canvas.drawString(100, 184, "Figure 7: Flow by hour")
    assert [one.label for one in find(canvas, buffer)] == ["Figure 7"]


def draw_curve(canvas: Canvas, x: float, y: float, width: float) -> None:
    """Draw a grid of 240 by 150 points, and one curve of six slanted pieces."""
    for step in range(6):
        canvas.line(x, y + 30 * step, x + 240, y + 30 * step)
    path = canvas.beginPath()
    path.moveTo(x, y)
    for step in range(1, 7):
        path.lineTo(x + width * step / 6, y + (step * 37) % 150)
    canvas.drawPath(path)


@pytest.mark.parametrize(("width", "expected"), [(240, 1), (60, 0)])
def test_a_chart_without_a_caption_may_have_one_curve_through_its_grid(width: float, expected: int) -> None:
    canvas, buffer = new_page()
    draw_curve(canvas, 100, 400, width)
    assert len(find(canvas, buffer)) == expected


def test_words_are_looked_for_in_drawings_whose_labels_are_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PictureShelf, "read_words", lambda *_: "Valve V9")
    for label, words in (("", "Valve V9"), ("2000", "")):
        canvas, buffer = new_page()
        draw_curve(canvas, 100, 400, 240)
        canvas.drawString(140, 440, label)
        assert [one.words for one in find(canvas, buffer)] == [words]


def test_a_chart_without_a_caption_is_found_by_its_bars_with_its_frame() -> None:
    canvas, buffer = new_page()
    # Its background is a picture, as spreadsheets write it.
    ground = Image.linear_gradient("L").convert("RGB")
    written = io.BytesIO()
    ground.save(written, "PNG")
    canvas.drawImage(ImageReader(io.BytesIO(written.getvalue())), 200, 500, 200, 165)
    draw_bars(canvas, 200, 500)
    canvas.drawString(60, 300, PROSE)
    (one,) = find(canvas, buffer)
    assert one.box is not None and one.box.x1 - one.box.x0 >= 280


@pytest.mark.parametrize("caption", ["", "Exhibit 4: Loads by month"])
def test_a_table_with_coloured_rows_is_no_chart(caption: str) -> None:
    canvas, buffer = new_page()
    canvas.drawString(60, 700, caption)
    draw_table(canvas, 60, 660)
    assert find(canvas, buffer) == []


def test_charts_beside_each_other_have_a_caption_each() -> None:
    canvas, buffer = new_page()
    for number, x in ((1, 60), (2, 320)):
        canvas.drawString(x, 700, f"Figure {number}. Water of station {number}")
        draw_curves(canvas, x, 530)
        canvas.drawString(x, 500, "Source: the log of the station and its crew, in all weeks")
    found = find(canvas, buffer)
    assert [one.label for one in found] == ["Figure 1", "Figure 2"]
    assert [one.box is not None and one.box.x1 - one.box.x0 < 260 for one in found] == [True, True]


def test_a_chart_stands_beside_the_text_of_another_column() -> None:
    canvas, buffer = new_page()
    canvas.drawString(60, 700, "Figure 1. Water of the harbour")
    draw_curves(canvas, 60, 530)
    for line in range(20):
        canvas.drawString(320, 700 - 11 * line, "and the crew of the harbour wrote it in the log of a week")
    (one,) = find(canvas, buffer)
    assert one.label == "Figure 1" and one.box is not None and one.box.x1 < 320


def test_a_caption_of_several_lines_stands_above_its_chart() -> None:
    canvas, buffer = new_page()
    canvas.drawString(60, 700, "Figure A1: Water of the harbour")
    for line in range(3):
        canvas.drawString(60, 690 - 10 * line, PROSE)
    draw_curves(canvas, 60, 500)
    (one,) = find(canvas, buffer)
    assert one.label == "Figure A1"


def test_small_pictures_of_a_series_are_kept_and_single_ones_are_not() -> None:
    canvas, buffer = new_page()

    def draw_face(seed: int) -> ImageReader:
        picture = Image.new("RGB", (132, 132), (90, 90, 90 + 20 * seed))
        ImageDraw.Draw(picture).ellipse((30, 20 + seed, 100, 120), fill=(220, 190, 20 * seed))
        written = io.BytesIO()
        picture.save(written, "PNG")
        return ImageReader(io.BytesIO(written.getvalue()))

    for number in range(7):
        canvas.drawImage(draw_face(number), 60, 650 - 76 * number, 66, 66)
        canvas.drawString(140, 680 - 76 * number, f"Person {number} leads the crew of station {number} since May.")
    canvas.drawImage(draw_face(9), 450, 400, 66, 66)
    found = find(canvas, buffer)
    assert len(found) == 7 and {one.box.x0 for one in found if one.box} == {60}


@pytest.mark.parametrize("drawn", ["logo", "frames"])
def test_what_is_drawn_on_every_page_or_around_text_is_no_figure(drawn: str) -> None:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(595, 842))
    for number in range(3):
        canvas.drawString(60, 400, f"{number} {PROSE}")
        if drawn == "logo":
            draw_pie(canvas, 450, 700, 90)
        else:
            canvas.roundRect(60, 500, 440, 160, 12)
            for line in range(8):
                canvas.drawString(70, 640 - 15 * line, f"{line} {PROSE[:60]}")
        canvas.showPage()
    assert find(canvas, buffer) == []


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Figure SA1. Cases by month", "Figure SA1"), ("Figure A1.2: Losses", "Figure A1.2"),
        ("Fig. S3 Losses", "Fig. S3"), ("Figure it out", ""), ("Map of Europe", ""),
    ],
)  # fmt: skip
def test_labels_of_supplements_and_annexes_are_recognised(text: str, label: str) -> None:
    assert parse_label(text) == label
