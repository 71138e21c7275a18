"""Tables of generated PDFs, as the Markdown that readers return."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator

import pytest
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers import read_document
from argot.corpus.readers.pdf_lines import LineSpan
from argot.corpus.readers.pdf_rows import make_lines

LIMITS = ReadLimits()
STEP = 16
NAMES = 60
"""Where the first column begins, from the left."""


def markdown_of(*pages: Callable[[Canvas], None]) -> str:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4)
    for draw in pages:
        canvas.setFont("Helvetica", 10)
        draw(canvas)
        canvas.showPage()
    canvas.save()
    return read_document(buffer.getvalue(), "a.pdf", LIMITS).markdown


def rows(canvas: Canvas, lines: list[list[str]], top: float = 700, right: tuple[float, ...] = (300, 400, 500)) -> None:
    """Draw names at the left and figures flush right; an empty text leaves its cell empty."""
    for number, (name, *figures) in enumerate(lines):
        y = top - STEP * number
        canvas.drawString(NAMES, y, name)
        for x, figure in zip(right, figures, strict=False):
            canvas.drawRightString(x, y, figure)


def grid(canvas: Canvas, xs: list[float], ys: list[float]) -> None:
    for x in xs:
        canvas.line(x, ys[0], x, ys[-1])
    for y in ys:
        canvas.line(xs[0], y, xs[-1], y)


def test_merged_headings_and_row_names_are_repeated() -> None:
    def draw(canvas: Canvas) -> None:
        # | Site (two rows) | Output (two columns) |
        xs, ys = [60, 160, 260, 360], [700, 680, 660, 640, 620]
        for y in (700, 660, 640, 620):
            canvas.line(60, y, 360, y)
        canvas.line(160, 680, 360, 680)
        canvas.line(60, 640, 60, 620)
        for x in (60, 160, 360):
            canvas.line(x, 700, x, 620)
        canvas.line(260, 680, 260, 620)
        canvas.drawString(65, 676, "Site")
        canvas.drawCentredString(260, 685, "Output")
        texts = [("", "wafers", "dies"), ("Brno", "120", "4,000"), ("Graz", "95", "3,100")]
        for texts_of_row, y in zip(texts, ys[1:], strict=False):
            for text, x in zip(texts_of_row, xs, strict=False):
                canvas.drawString(x + 5, y - 15, text)

    markdown = markdown_of(draw)
    assert "| Site | Output wafers | Output dies |\n| --- | --- | --- |\n| Brno | 120 | 4,000 |\n" in markdown


def test_a_name_over_several_rows_is_repeated_in_each() -> None:
    def draw(canvas: Canvas) -> None:
        for y in (700, 680, 620):
            canvas.line(60, y, 360, y)
        for y in (660, 640):
            canvas.line(160, y, 360, y)
        for x in (60, 160, 260, 360):
            canvas.line(x, 700, x, 620)
        for text, x, y in [
            ("Line", 65, 685), ("Step", 165, 685), ("Minutes", 265, 685), ("Etch", 65, 645), ("load", 165, 665),
            ("12", 265, 665), ("run", 165, 645), ("40", 265, 645), ("unload", 165, 625), ("9", 265, 625),
        ]:  # fmt: skip
            canvas.drawString(x, y, text)

    markdown = markdown_of(draw)
    assert "| Etch | load | 12 |\n| Etch | run | 40 |\n| Etch | unload | 9 |" in markdown


def test_rows_without_rules_between_them_are_separated() -> None:
    def draw(canvas: Canvas) -> None:
        grid(canvas, [55, 250, 350, 450], [715, 695, 640])
        lines = [
            ["Country", "Fund", "Share"],
            ["Austria", "1.2", "40"],
            ["Cyprus", "0.3", "10"],
            ["Malta", "1.5", "50"],
        ]
        rows(canvas, lines, right=(345, 445))

    markdown = markdown_of(draw)
    assert "| Country | Fund | Share |\n| --- | --- | --- |\n| Austria | 1.2 | 40 |\n| Cyprus | 0.3 | 10 |" in markdown


def test_wrapped_text_within_rules_is_one_cell() -> None:
    def draw(canvas: Canvas) -> None:
        grid(canvas, [60, 160, 360], [700, 680, 640, 600])
        canvas.drawString(65, 685, "Term")
        canvas.drawString(165, 685, "Meaning")
        for y, term, lines in [
            (668, "Bin", ["A class of dies that", "behave alike"]),
            (628, "Lot", ["Wafers that go", "through the line together"]),
        ]:
            canvas.drawString(65, y, term)
            for number, line in enumerate(lines):
                canvas.drawString(165, y - 12 * number, line)

    markdown = markdown_of(draw)
    assert "| Bin | A class of dies that behave alike |\n| Lot | Wafers that go through the line together |" in markdown


def test_a_heading_over_columns_without_rules_is_repeated_in_each() -> None:
    def draw(canvas: Canvas) -> None:
        canvas.drawCentredString(335, 712, "Years ended June 30,")
        canvas.line(250, 710, 420, 710)
        rows(canvas, [["(in millions)", "2023", "2022"], ["Sales", "1,200", "1,100"], ["Costs", "(800)", "(720)"]],
             right=(300, 420))  # fmt: skip

    markdown = markdown_of(draw)
    assert "| (in millions) | Years ended June 30, 2023 | Years ended June 30, 2022 |" in markdown
    assert "| Costs | (800) | (720) |" in markdown


def test_separate_currency_and_percent_signs_stay_with_their_figures() -> None:
    def draw(canvas: Canvas) -> None:
        rows(
            canvas,
            [["Region", "2023", "2022"], ["North", "16,388", "14,573"], ["Share", "93", "92"], ["South", "7", "9"]],
        )
        for x in (250, 350):
            canvas.drawString(x, 700 - STEP, "$")
        for x in (315, 415):
            canvas.drawString(x, 700 - 2 * STEP, "%")

    markdown = markdown_of(draw).replace("$ ", "$").replace(" %", "%")
    assert "| North | $16,388 | $14,573 |\n| Share | 93% | 92% |\n| South | 7 | 9 |" in markdown


def test_row_names_over_two_lines_are_joined() -> None:
    def draw(canvas: Canvas) -> None:
        rows(canvas, [["Measure", "2023", "2022"]])
        for number, (first, second, figures) in enumerate(
            [("Mortality (years lost before", "age 75)", ("710", "698")), ("Inequality of", "income", ("46", "45"))]
        ):
            y = 680 - 30 * number
            canvas.drawString(NAMES, y, first)
            canvas.drawString(NAMES, y - 12, second)
            for x, figure in zip((300, 400), figures, strict=True):
                canvas.drawRightString(x, y - 6, figure)

    markdown = markdown_of(draw)
    assert "| Mortality (years lost before age 75) | 710 | 698 |\n| Inequality of income | 46 | 45 |" in markdown


def test_a_table_drawn_column_by_column_is_one_table() -> None:
    def draw(canvas: Canvas) -> None:
        for x, texts in [(NAMES, ["Part", "Valve", "Seal", "Pump"]), (250, ["Limit", "12.5", "9.0", "7.1"])]:
            for number, text in enumerate(texts):
                canvas.drawString(x, 700 - STEP * number, text)

    assert "| Part | Limit |\n| --- | --- |\n| Valve | 12.5 |\n| Seal | 9.0 |\n| Pump | 7.1 |" in markdown_of(draw)


def test_rows_on_the_next_page_get_the_header_of_the_table() -> None:
    def first(canvas: Canvas) -> None:
        canvas.drawString(NAMES, 780, "Yields of all sites are listed below, by quarter and by line of the site.")
        rows(
            canvas, [["Site", "Q1", "Q2", "Q3"], *([f"Line {n}", f"{n}1", f"{n}2", f"{n}3"] for n in range(1, 9))], 200
        )

    def second(canvas: Canvas) -> None:
        rows(canvas, [[name, "41", "42", "43"] for name in ("Brno", "Graz", "Linz", "Pisa")], 780)

    markdown = markdown_of(first, second)
    assert markdown.count("| Site | Q1 | Q2 | Q3 |") == 2
    assert "| Site | Q1 | Q2 | Q3 |\n| --- | --- | --- | --- |\n| Brno | 41 | 42 | 43 |" in markdown


def test_the_title_and_note_of_a_table_are_not_rows() -> None:
    def draw(canvas: Canvas) -> None:
        canvas.drawString(
            NAMES, 716, "Table 3. Limits of all parts of the cooling circuit, as tested in the second year"
        )
        rows(canvas, [["Part", "Low", "High"], ["Valve", "1", "12"], ["Seal", "2", "9"]])
        canvas.drawString(
            NAMES, 700 - 3 * STEP, "Tested at the temperature that the standard names, with the valve open."
        )

    markdown = markdown_of(draw)
    assert "| Part | Low | High |\n| --- | --- | --- |\n| Valve | 1 | 12 |\n| Seal | 2 | 9 |\n\n" in markdown
    assert "| Table 3" not in markdown
    assert "| Tested" not in markdown


def test_prose_in_two_columns_or_a_frame_is_not_a_table() -> None:
    def columns(canvas: Canvas) -> None:
        for x in (60, 320):
            for number in range(12):
                canvas.drawString(x, 700 - 12 * number, "The team restores services in this order.")

    def framed(canvas: Canvas) -> None:
        canvas.rect(50, 640, 400, 80)
        for number in range(4):
            canvas.drawString(60, 700 - 14 * number, "A frame around a paragraph makes no table of it.")

    assert "|" not in markdown_of(columns, framed)


def test_dot_leaders_are_left_out() -> None:
    def draw(canvas: Canvas) -> None:
        rows(
            canvas,
            [["Share", "1.0", "1.5"], ["0.99 ..............", "800", "880"], ["0.95 ..............", "160", "176"]],
        )

    assert "| 0.99 | 800 | 880 |\n| 0.95 | 160 | 176 |" in markdown_of(draw)


def spans_of(words: list[str], gap: float) -> Iterator[LineSpan]:
    x = 60.0
    for word in words:
        yield LineSpan(word, x, 100, x + 5 * len(word), 109, 9, bold=True, mono=False)
        x += 5 * len(word) + gap


def test_separately_placed_words_of_a_line_are_not_cells() -> None:
    words = ["(", "in", "thousands", ",", "except", "per", "share", "data", ")", "if", "we", "are", "not", "able"]
    assert [line.text for line in make_lines(spans_of(words, 3))] == [
        "(in thousands, except per share data) if we are not able"
    ]


@pytest.mark.parametrize(("words", "gap"), [("Gate Pier Hall Yard Dock", 9), ("12 14 15 Sum 9 8", 3), ("Gate Pier", 3)])
def test_widely_spaced_words_and_figures_are_cells(words: str, gap: float) -> None:
    (line,) = make_lines(spans_of(words.split(), gap))
    assert len(line.spans) == len(words.split())
