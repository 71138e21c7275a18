"""Build the office and PDF files of the sample knowledge base from their plain text under `office/`.

The text is what people review; the files are what readers of documents have to cope with. Each source
`office/<context>/<name>.<format>.md` becomes `documents/<context>/<name>.<format>`. The files come out byte for
byte the same on every run (with the same library versions), so that a rebuild shows up in no diff.

    python samples/make_office.py
"""

from __future__ import annotations

import datetime
import io
import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import escape

import docx
import openpyxl
import pptx
from pptx.util import Inches, Pt
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Flowable, KeepTogether, Paragraph, SimpleDocTemplate, Spacer, Table

HERE = Path(__file__).resolve().parent
MADE = datetime.datetime(2026, 1, 15, 9, 0, 0)
AUTHOR = "Keldra Storage"


@dataclass
class SourceBlock:
    """A heading, paragraph, list item or table of a source; `kind` says which, `level` a heading's depth."""

    kind: str
    text: str = ""
    level: int = 0
    rows: list[list[str]] = field(default_factory=list)


def parse(source: str) -> Iterator[SourceBlock]:
    """Yield the blocks of a source, in the small subset of Markdown the sources keep to."""
    table = SourceBlock("table")
    # The empty line at the end closes a table that the source ends with.
    for line in [*(raw.strip() for raw in source.splitlines()), ""]:
        if line.startswith("|"):
            table.rows.append([cell.strip() for cell in line.strip("|").split("|")])
            continue
        # Sources have no rule ("|---|") under the header: every row is a row of the table.
        if table.rows:
            yield table
            table = SourceBlock("table")
        if line:
            yield parse_line(line)


def parse_line(line: str) -> SourceBlock:
    """Tell a heading, a bulleted or numbered item and a paragraph apart by how the line begins."""
    if heading := re.match(r"(#+)\s+(.*)", line):
        return SourceBlock("heading", heading[2], len(heading[1]))
    if bullet := re.match(r"-\s+(.*)", line):
        return SourceBlock("bullet", bullet[1])
    if number := re.match(r"\d+\.\s+(.*)", line):
        return SourceBlock("number", number[1])
    return SourceBlock("paragraph", line)


def make_pdf(blocks: list[SourceBlock]) -> bytes:
    """Return a PDF with the standard Helvetica fonts, so that no font has to be shipped."""
    stream = io.BytesIO()
    # `invariant`: no time and no random id in the file.
    pages = SimpleDocTemplate(stream, pagesize=A4, title=blocks[0].text, author=AUTHOR, invariant=1)
    parts = [part for block in blocks for part in (pdf_part(block), Spacer(1, 6))]
    pages.build(parts, onFirstPage=draw_footer, onLaterPages=draw_footer)
    return stream.getvalue()


def pdf_part(block: SourceBlock) -> Flowable:
    """Return one block as a flowable; paragraphs are kept whole on a page where they fit."""
    sheet = getSampleStyleSheet()
    if block.kind == "table":
        rows = [[Paragraph(escape(cell), sheet["BodyText"]) for cell in row] for row in block.rows]
        return Table(rows, style=[("GRID", (0, 0), (-1, -1), 0.5, "black"), ("VALIGN", (0, 0), (-1, -1), "TOP")])
    if block.kind == "heading":
        return Paragraph(escape(block.text), sheet[f"Heading{block.level}"])
    text = f"- {block.text}" if block.kind == "bullet" else block.text
    return KeepTogether(Paragraph(escape(text), sheet["BodyText"]))


def draw_footer(canvas: Canvas, pages: SimpleDocTemplate) -> None:
    """Write the same line under each page, since real documents do and readers must not trip over it."""
    canvas.setFont("Helvetica", 8)
    canvas.drawCentredString(A4[0] / 2, 30, f"{AUTHOR} - internal - page {pages.page}")


def make_docx(blocks: list[SourceBlock]) -> bytes:
    """Return a Word document that uses the built-in styles for headings, lists and tables."""
    document = docx.Document()
    styles = {"bullet": "List Bullet", "number": "List Number", "paragraph": None}
    for block in blocks:
        if block.kind == "heading":
            # Level 0 is Word's style "Title".
            document.add_heading(block.text, level=block.level - 1)
        elif block.kind == "table":
            table = document.add_table(len(block.rows), len(block.rows[0]), style="Table Grid")
            for cells, row in zip(table.rows, block.rows, strict=True):
                for cell, text in zip(cells.cells, row, strict=True):
                    cell.text = text
        else:
            document.add_paragraph(block.text, style=styles[block.kind])
    stamp(document.core_properties, blocks[0].text)
    stream = io.BytesIO()
    document.save(stream)
    return stream.getvalue()


def make_pptx(blocks: list[SourceBlock]) -> bytes:
    """Return a slide deck: the first heading is the title slide, each further heading opens a slide."""
    deck = pptx.Presentation()
    # The default template's layouts: 0 is the title slide, 1 title and content, 5 title only.
    slide = deck.slides.add_slide(deck.slide_layouts[0])
    slide.shapes.title.text = blocks[0].text
    slide.placeholders[1].text = AUTHOR
    for title, body in slides_of(blocks[1:]):
        add_slide(deck, title, body)
    stamp(deck.core_properties, blocks[0].text)
    stream = io.BytesIO()
    deck.save(stream)
    return stream.getvalue()


def slides_of(blocks: list[SourceBlock]) -> Iterator[tuple[str, list[SourceBlock]]]:
    """Yield each slide's title with the blocks under it."""
    starts = [i for i, block in enumerate(blocks) if block.kind == "heading"]
    for start, end in zip(starts, [*starts[1:], len(blocks)], strict=True):
        yield blocks[start].text, blocks[start + 1 : end]


def add_slide(deck: pptx.presentation.Presentation, title: str, body: list[SourceBlock]) -> None:
    """Add a slide with bullets, or with a table where the body is one."""
    tables = [block for block in body if block.kind == "table"]
    slide = deck.slides.add_slide(deck.slide_layouts[5 if tables else 1])
    slide.shapes.title.text = title
    for block in tables:
        frame = slide.shapes.add_table(
            len(block.rows), len(block.rows[0]), Inches(0.5), Inches(1.6), Inches(9), Inches(3)
        )
        for i, row in enumerate(block.rows):
            for j, text in enumerate(row):
                frame.table.cell(i, j).text = text
    if not tables:
        frame = slide.placeholders[1].text_frame
        for i, block in enumerate(body):
            # A text frame begins with one empty paragraph, which would be a bullet without text.
            paragraph = frame.paragraphs[0] if i == 0 else frame.add_paragraph()
            paragraph.text = block.text
            paragraph.font.size = Pt(18)


def make_xlsx(blocks: list[SourceBlock]) -> bytes:
    """Return a workbook with one sheet for each heading; cells that read as numbers are numbers."""
    book = openpyxl.Workbook()
    # A new workbook begins with an empty sheet.
    book.remove(book.active)
    for title, body in slides_of(blocks):
        sheet = book.create_sheet(title)
        for row in body[0].rows:
            sheet.append([cell_value(text) for text in row])
    book.properties.creator = AUTHOR
    book.properties.created = MADE
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def cell_value(text: str) -> str | float | int | None:
    """Return the number a cell's text spells, None where it is empty, else the text."""
    # Whole numbers first: "3" as 3.0 would be shown with a decimal point.
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text or None


def stamp(properties: docx.opc.coreprops.CoreProperties, title: str) -> None:
    """Fix the metadata that would otherwise carry the time of the run."""
    properties.author = properties.last_modified_by = AUTHOR
    properties.title = title
    properties.created = properties.modified = MADE
    properties.revision = 1


def with_fixed_times(archive: bytes) -> bytes:
    """Return a zip-based office file again with the same date on every member and in its metadata."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(stream, "w") as new:
        # [Content_Types].xml first, as office programs write it.
        for name in sorted(old.namelist(), key=lambda n: (n != "[Content_Types].xml", n)):
            content = old.read(name)
            if name == "docProps/core.xml":
                when = MADE.strftime(r"\g<1>%Y-%m-%dT%H:%M:%SZ").encode()
                # openpyxl writes the time of saving there, whatever the property says.
                content = re.sub(rb"(<dcterms:modified[^>]*>)[^<]*", when, content)
            member = zipfile.ZipInfo(name, date_time=MADE.timetuple()[:6])
            member.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(member, content)
    return stream.getvalue()


MAKERS: dict[str, Callable[[list[SourceBlock]], bytes]] = {
    "pdf": make_pdf,
    "docx": lambda blocks: with_fixed_times(make_docx(blocks)),
    "pptx": lambda blocks: with_fixed_times(make_pptx(blocks)),
    "xlsx": lambda blocks: with_fixed_times(make_xlsx(blocks)),
}


def main() -> None:
    """Build every file and say which."""
    for source in sorted((HERE / "office").glob("*/*.md")):
        target = HERE / "documents" / source.parent.name / source.stem
        blocks = list(parse(source.read_text(encoding="utf-8")))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(MAKERS[target.suffix[1:]](blocks))
        print(target.relative_to(HERE))


if __name__ == "__main__":
    main()
