"""The speed of converting files to Markdown, and Markdown to passages, for each format, on generated files.

    python bench/readers.py [--pages 100] [--format .pdf .docx] [--isolated]

A page is 3,000 characters of text with a heading and a small table; for slides and sheets, one slide and 40 rows.
"""

from __future__ import annotations

import argparse
import io
import time
from collections.abc import Callable

from argot.corpus.chunking.passages import cut_document
from argot.corpus.readers import ReadLimits, read_document
from argot.corpus.readers.reader_process import read_in_child

SENTENCE = "The recovery team restores services in the order of their tiers and reports to the duty manager. "
TABLE = [["Part", "Limit", "Unit"], ["Valve", "12.5", "bar"], ["Seal", "9.0", "bar"], ["Pump", "7.1", "bar"]]


def make_prose(page: int) -> list[str]:
    return [f"Paragraph {page}.{number}. " + SENTENCE * 5 for number in range(6)]


def make_markdown(pages: int) -> bytes:
    table = "\n".join("| " + " | ".join(row) + " |" + ("\n|---|---|---|" if row is TABLE[0] else "") for row in TABLE)
    parts = ["\n\n".join([f"# Section {page}", *make_prose(page), table]) for page in range(pages)]
    return "\n\n".join(parts).encode()


def make_rst(pages: int) -> bytes:
    rows = "\n".join("   " + ",".join(row) for row in TABLE)
    table = f".. csv-table::\n   :header-rows: 1\n\n{rows}"
    parts = ["\n\n".join([f"Section {page}\n{'=' * 14}", *make_prose(page), table]) for page in range(pages)]
    return "\n\n".join(parts).encode()


def make_latex(pages: int) -> bytes:
    rows = "\n".join(" & ".join(row) + r" \\" for row in TABLE)
    table = f"\\begin{{tabular}}{{lll}}\n{rows}\n\\end{{tabular}}"
    parts = ["\n\n".join([f"\\section{{Section {page}}}", *make_prose(page), table]) for page in range(pages)]
    return "\n\n".join(parts).encode()


def make_html(pages: int) -> bytes:
    rows = "".join("<tr>" + "".join(f"<td>{text}</td>" for text in row) + "</tr>" for row in TABLE)
    parts = [
        f"<h1>Section {page}</h1>" + "".join(f"<p>{text}</p>" for text in make_prose(page)) + f"<table>{rows}</table>"
        for page in range(pages)
    ]
    return ("<html><body>" + "".join(parts) + "</body></html>").encode()


def make_python(pages: int) -> bytes:
    """Write two functions of some 1,500 characters a page."""
    lines = "\n".join(f"    total += limits[{number}] * weight_{number}" for number in range(35))
    functions = [f"def add_{number}(limits):\n{lines}\n    return total\n" for number in range(2 * pages)]
    return "\n\n".join(functions).encode()


def make_svd(pages: int) -> bytes:
    """Write 20 registers a page."""
    field = "<field><name>EN</name><description>Enables it.</description><bitOffset>0</bitOffset></field>"
    registers = "".join(
        f"<register><name>R{n}</name><addressOffset>{n}</addressOffset><fields>{field}</fields></register>"
        for n in range(20 * pages)
    )
    device = f"<peripherals><peripheral><name>P</name><registers>{registers}</registers></peripheral></peripherals>"
    return f"<device><name>D</name>{device}</device>".encode()


def make_csv(pages: int) -> bytes:
    return "\n".join(["part,limit,unit", *(f"valve {n},{n}.5,bar" for n in range(pages * 40))]).encode()


def make_pdf(pages: int, *, ruled: bool = False) -> bytes:
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate, Table, TableStyle

    styles = getSampleStyleSheet()
    story = []
    grid = TableStyle([("GRID", (0, 0), (-1, -1), 1, "black")] if ruled else [])
    for page in range(pages):
        story.append(Paragraph(f"Section {page}", styles["Heading1"]))
        story.extend(Paragraph(text, styles["BodyText"]) for text in make_prose(page))
        story.extend([Table(TABLE, style=grid), PageBreak()])
    buffer = io.BytesIO()
    SimpleDocTemplate(buffer).build(story)
    return buffer.getvalue()


def make_docx(pages: int) -> bytes:
    from docx import Document

    document = Document()
    for page in range(pages):
        document.add_heading(f"Section {page}", 1)
        for text in make_prose(page):
            document.add_paragraph(text)
        table = document.add_table(rows=len(TABLE), cols=3)
        for index, text in enumerate(text for row in TABLE for text in row):
            table.cell(index // 3, index % 3).text = text
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def make_pptx(pages: int) -> bytes:
    from pptx import Presentation

    deck = Presentation()
    for page in range(pages):
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = f"Slide {page}"
        slide.placeholders[1].text_frame.text = "\n".join(text[:120] for text in make_prose(page))
    buffer = io.BytesIO()
    deck.save(buffer)
    return buffer.getvalue()


def make_xlsx(pages: int) -> bytes:
    from openpyxl import Workbook

    book = Workbook()
    book.active.append(["part", "limit", "unit"])
    for number in range(pages * 40):
        book.active.append([f"valve {number}", number + 0.5, "bar"])
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


FORMATS: dict[str, tuple[str, Callable[[int], bytes]]] = {
    ".md": (".md", make_markdown),
    ".txt": (".txt", make_markdown),
    ".html": (".html", make_html),
    ".rst": (".rst", make_rst),
    ".tex": (".tex", make_latex),
    ".csv": (".csv", make_csv),
    ".py": (".py", make_python),
    ".svd": (".svd", make_svd),
    ".pdf": (".pdf", make_pdf),
    ".pdf ruled": (".pdf", lambda pages: make_pdf(pages, ruled=True)),
    ".docx": (".docx", make_docx),
    ".pptx": (".pptx", make_pptx),
    ".xlsx": (".xlsx", make_xlsx),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n", 1)[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--pages", type=int, default=100, help="pages, slides or 40-row parts of each file")
    parser.add_argument("--format", nargs="*", default=list(FORMATS), choices=list(FORMATS), help="formats to measure")
    parser.add_argument("--isolated", action="store_true", help="in the child process, as ingest does, with cutting")
    arguments = parser.parse_args()
    limits = ReadLimits(seconds=600)
    print(f"{'format':<12}{'file kB':>10}{'text kB':>10}{'read s':>10}{'pages/s':>10}{'cut s':>10}{'passages':>10}")
    for name in arguments.format:
        suffix, make = FORMATS[name]
        measure_reading(
            make(1), f"warm{suffix}", limits, isolated=arguments.isolated
        )  # loads the modules before measuring
        data = make(arguments.pages)
        seconds, cut, chars, passages = measure_reading(data, f"bench{suffix}", limits, isolated=arguments.isolated)
        print(
            f"{name:<12}{len(data) / 1000:>10.0f}{chars / 1000:>10.0f}{seconds:>10.2f}"
            f"{arguments.pages / seconds:>10.0f}{cut:>10.2f}{passages:>10}"
        )


def measure_reading(data: bytes, name: str, limits: ReadLimits, *, isolated: bool) -> tuple[float, float, int, int]:
    """Return the seconds of reading and of splitting, and the numbers of characters and of passages."""
    started = time.perf_counter()
    if isolated:
        read = read_in_child(data, name, limits, 1200)
        return time.perf_counter() - started, 0.0, len(read.markdown), len(read.cuts)
    parsed = read_document(data, name, limits)
    done = time.perf_counter()
    cuts = cut_document(parsed, max_chars=1200, limits=limits, name=name)
    return done - started, time.perf_counter() - done, len(parsed.markdown), len(cuts)


if __name__ == "__main__":
    main()
