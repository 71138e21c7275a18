"""Measure how many figures of documents are found, and how much decoration is taken for figures.

Twenty documents of our own making, with their gold: PDF, Word, slides, workbooks, pages, e-books, Markdown and mail,
each with figures (caption, page), and with logos, rules, bullets and repeated pictures. `--files FOLDER` lists instead
what is found in the files of a folder, to be looked at: `--save FOLDER` writes the pictures there. With `--gold FILE`
it measures them against a gold that somebody wrote by looking at the pages:

    [{"file": "report.pdf", "figures": [{"page": 3, "box": [0.1, 0.2, 0.9, 0.5]}]},
     {"file": "page.html", "figures": [{"ratio": 1.5}]}]

`box`: left, top, right and bottom as shares of the page, roughly. `ratio`: width by height, where there are no pages.
A file that is not named has no figures: all that is shown of it is decoration.

    .venv/bin/python bench/pictures.py
    .venv/bin/python bench/pictures.py --files FOLDER --save FOLDER
    .venv/bin/python bench/pictures.py --files FOLDER --gold gold.json
"""

from __future__ import annotations

import argparse
import base64
import io
import json
import random
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers import read_document
from argot.errors import UnreadableDocument
from argot.types import ParsedDocument, Picture

SUBJECTS = ("pressure", "flow", "torque", "current", "depth", "traffic", "rainfall", "noise", "load", "wear")
MIN_FOUND_SHARE = 0.5
"""Share of a figure of the gold that one picture must show."""
MIN_FIGURE_SHARE = 0.3
"""Share of a picture that figures of the gold fill: with less it is decoration."""
MAX_RATIO_DIFFERENCE = 0.04
PROSE = "The {0} of the northern station rose in week {1}, and the crew wrote {2} entries into its log. "


@dataclass(frozen=True)
class Figure:
    """A figure of the gold. `page` 0: the format has no pages."""

    caption: str
    page: int = 0


Made = tuple[str, bytes, list[Figure]]


class Maker:
    """Makes pictures and prose, the same for one seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.logo = self.draw(240, 110, "ACME")
        self.rule = self.draw(900, 12)
        self.bullet = self.draw(24, 24)

    def draw(self, width: int = 640, height: int = 400, words: str = "") -> bytes:
        picture = Image.new("RGB", (width, height), "white")
        pen = ImageDraw.Draw(picture)
        for place in range(0, width, max(width // 9, 2)):
            colour = tuple(self.random.randrange(220) for _ in range(3))
            pen.rectangle((place, self.random.randrange(height), place + width // 14, height), fill=colour)
        if words:
            pen.text((8, 8), words, fill="black", font_size=28)
        buffer = io.BytesIO()
        picture.save(buffer, "PNG")
        return buffer.getvalue()

    def write(self, sentences: int = 6) -> str:
        pick = self.random
        return "".join(
            PROSE.format(pick.choice(SUBJECTS), pick.randrange(52), pick.randrange(900)) for _ in range(sentences)
        )

    def caption(self, number: int, word: str = "Figure") -> str:
        return f"{word} {number}: {self.random.choice(SUBJECTS).title()} by week at station {self.random.randrange(99)}"


def make_pdf(maker: Maker, *, above: bool = False, word: str = "Figure", parts: int = 1) -> Made:
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfgen.canvas import Canvas

    buffer, figures = io.BytesIO(), []
    canvas = Canvas(buffer, pagesize=(595, 842))
    for page in range(1, 6):
        canvas.drawImage(ImageReader(io.BytesIO(maker.logo)), 450, 770, 96, 44)
        canvas.drawImage(ImageReader(io.BytesIO(maker.rule)), 60, 760, 475, 4)
        y = _draw_prose(canvas, maker, 735)
        if page in (2, 3, 5):
            figures.append(Figure(maker.caption(page, word), page))
            if above:
                canvas.drawString(60, y - 6, figures[-1].caption)
            for part in range(parts):
                width = (420 - 12 * (parts - 1)) / parts
                canvas.drawImage(ImageReader(io.BytesIO(maker.draw())), 60 + part * (width + 12), y - 200, width, 180)
            if not above:
                canvas.drawString(60, y - 216, figures[-1].caption)
            y -= 245
        canvas.drawImage(ImageReader(io.BytesIO(maker.bullet)), 60, y - 2, 8, 8)
        _draw_prose(canvas, maker, y)
        canvas.showPage()
    canvas.save()
    return "pdf", buffer.getvalue(), figures


def make_drawn_pdf(maker: Maker) -> Made:
    """Make a PDF whose charts are drawn by lines and filled boxes, without any picture."""
    from reportlab.pdfgen.canvas import Canvas

    buffer, figures = io.BytesIO(), []
    canvas = Canvas(buffer, pagesize=(595, 842))
    for page in range(1, 4):
        y = _draw_prose(canvas, maker, 760)
        figures.append(Figure(maker.caption(page), page))
        for bar in range(12):
            canvas.setFillColorRGB(maker.random.random(), 0.4, 0.6)
            canvas.rect(80 + bar * 32, y - 200, 22, 20 + maker.random.randrange(150), fill=1)
        canvas.line(70, y - 200, 480, y - 200)
        canvas.setFillColorRGB(0, 0, 0)
        canvas.drawString(60, y - 220, figures[-1].caption)
        _draw_prose(canvas, maker, y - 250)
        canvas.showPage()
    canvas.save()
    return "pdf", buffer.getvalue(), figures


def _draw_prose(canvas: object, maker: Maker, y: float) -> float:
    words = maker.write(5).split()
    for start in range(0, len(words), 14):
        canvas.drawString(60, y, " ".join(words[start : start + 14]))  # type: ignore[attr-defined]
        y -= 14
    return y - 10


def make_docx(maker: Maker, *, styled: bool = True) -> Made:
    import docx
    from docx.shared import Inches

    document, figures = docx.Document(), []
    document.sections[0].header.paragraphs[0].add_run().add_picture(io.BytesIO(maker.logo), width=Inches(1))
    document.add_heading("Report of the station", 1)
    for number in range(1, 5):
        document.add_heading(f"Week {number * 7}", 2)
        document.add_paragraph(maker.write())
        document.add_picture(io.BytesIO(maker.draw()), width=Inches(4))
        figures.append(Figure(maker.caption(number)))
        document.add_paragraph(figures[-1].caption, style="Caption" if styled else None)
        document.add_paragraph("").add_run().add_picture(io.BytesIO(maker.rule), width=Inches(6))
        document.add_paragraph(maker.write()).add_run().add_picture(io.BytesIO(maker.bullet), width=Inches(0.1))
    buffer = io.BytesIO()
    document.save(buffer)
    return "docx", buffer.getvalue(), figures


def make_pptx(maker: Maker) -> Made:
    import pptx

    deck, figures = pptx.Presentation(), []
    for number in range(1, 6):
        slide = deck.slides.add_slide(deck.slide_layouts[5])
        slide.shapes.title.text = f"Week {number * 7}"
        slide.shapes.add_picture(io.BytesIO(maker.logo), 8_000_000, 0, width=900_000)
        slide.shapes.add_picture(io.BytesIO(maker.rule), 0, 1_300_000, width=9_000_000)
        slide.shapes.add_textbox(0, 5_800_000, 8_000_000, 500_000).text_frame.text = maker.write(1)
        if number % 2:
            slide.shapes.add_picture(io.BytesIO(maker.draw()), 500_000, 1_500_000, width=5_000_000)
            figures.append(Figure(maker.caption(number), number))
            slide.shapes.add_textbox(500_000, 5_000_000, 8_000_000, 400_000).text_frame.text = figures[-1].caption
    buffer = io.BytesIO()
    deck.save(buffer)
    return "pptx", buffer.getvalue(), figures


def make_xlsx(maker: Maker) -> Made:
    import openpyxl
    from openpyxl.drawing.image import Image as SheetImage

    book, figures = openpyxl.Workbook(), []
    for number in range(1, 4):
        sheet = book.active if number == 1 else book.create_sheet(f"Week {number}")
        for row in range(8):
            sheet.append([f"Station {row}", maker.random.randrange(999), maker.random.randrange(999)])
        sheet.add_image(SheetImage(io.BytesIO(maker.draw())), "E4")
        sheet.add_image(SheetImage(io.BytesIO(maker.bullet)), "A20")
        figures.append(Figure("", number))
    buffer = io.BytesIO()
    book.save(buffer)
    return "xlsx", buffer.getvalue(), figures


def _embed(data: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(data).decode()}"


def _write_page(maker: Maker, embed: Callable[[bytes], str], *, tagged: bool) -> tuple[str, list[Figure]]:
    figures = []
    parts = [f'<header><img src="{embed(maker.logo)}" alt="ACME"></header><h1>The stations</h1>']
    for number in range(1, 5):
        figures.append(Figure(maker.caption(number)))
        shown = f'<img src="{embed(maker.draw())}" alt="Bars of week {number}">'
        said = figures[-1].caption
        block = f"<figure>{shown}<figcaption>{said}</figcaption></figure>" if tagged else f"<p>{shown}</p><p>{said}</p>"
        rule = f'<p><img src="{embed(maker.rule)}" alt=""></p>'
        dot = f'<p><img src="{embed(maker.bullet)}" alt=""> {maker.write(1)}</p>'
        parts.append(f"<h2>Week {number}</h2><p>{maker.write()}</p>{block}{rule}{dot}")
    return "".join(parts), figures


def make_html(maker: Maker, *, tagged: bool = True) -> Made:
    body, figures = _write_page(maker, _embed, tagged=tagged)
    return "html", f"<!doctype html><html><body>{body}</body></html>".encode(), figures


def make_markdown(maker: Maker) -> Made:
    figures, parts = [], [f"# Stations\n\n![]({_embed(maker.rule)})"]
    for number in range(1, 4):
        figures.append(Figure(maker.caption(number, "Fig.")))
        parts += [f"## Week {number}", maker.write(), f"![Bars]({_embed(maker.draw())})", figures[-1].caption]
    return "md", "\n\n".join(parts).encode(), figures


def make_epub(maker: Maker) -> Made:
    files: dict[str, bytes] = {}

    def embed(data: bytes) -> str:
        files.setdefault(f"OEBPS/img/p{len(files)}.png", data)
        return next(name for name, held in files.items() if held == data).removeprefix("OEBPS/")

    body, figures = _write_page(maker, embed, tagged=True)
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        '<dc:title>Stations</dc:title></metadata><manifest><item id="c" href="c.xhtml" '
        'media-type="application/xhtml+xml"/></manifest><spine><itemref idref="c"/></spine></package>'
    )
    container = '<container><rootfiles><rootfile full-path="OEBPS/b.opf"/></rootfiles></container>'
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        archive.writestr("META-INF/container.xml", container)
        archive.writestr("OEBPS/b.opf", package)
        archive.writestr("OEBPS/c.xhtml", f"<html><body>{body}</body></html>")
        for name, data in files.items():
            archive.writestr(name, data)
    return "epub", buffer.getvalue(), figures


def make_mail(maker: Maker) -> Made:
    message, held = EmailMessage(), []
    message["From"], message["Subject"], message["Date"] = (
        "ann@example.org",
        "Stations",
        "Thu, 5 Mar 2026 10:12:00 +0000",
    )

    def embed(data: bytes) -> str:
        held.append(data)
        return f"cid:p{len(held)}"

    body, figures = _write_page(maker, embed, tagged=False)
    message.set_content(f"<html><body>{body}</body></html>", subtype="html")
    for number, data in enumerate(held, start=1):
        message.add_related(data, "image", "png", cid=f"<p{number}>")
    return "eml", message.as_bytes(), figures


def make_all() -> Iterator[Made]:
    """Make the twenty documents."""
    makers: list[Callable[[Maker], Made]] = [
        make_pdf, make_pdf, lambda m: make_pdf(m, above=True), lambda m: make_pdf(m, word="Exhibit"),
        lambda m: make_pdf(m, parts=2), lambda m: make_pdf(m, parts=3, word="Fig."), make_drawn_pdf,
        make_docx, make_docx, lambda m: make_docx(m, styled=False), make_pptx, make_pptx, make_xlsx,
        make_html, lambda m: make_html(m, tagged=False), make_markdown, make_markdown, make_epub, make_mail, make_mail,
    ]  # fmt: skip
    for seed, make in enumerate(makers):
        yield make(Maker(seed))


def measure_gold(limits: ReadLimits) -> None:
    found = wanted = captions = pages = shown = decoration = 0
    print(f"{'document':12} {'figures':>8} {'found':>6} {'caption':>8} {'page':>5} {'decoration':>11} {'seconds':>8}")
    for number, (suffix, data, gold) in enumerate(make_all(), start=1):
        started = time.perf_counter()
        pictures = read_document(data, f"{number}.{suffix}", limits).pictures
        seconds = time.perf_counter() - started
        # Parts of one figure count as one.
        figures = list({(one.label, one.page): one for one in pictures}.values())
        by_place = dict(zip(gold, figures, strict=False)) if len(figures) == len(gold) else {}
        matched = {
            want: got
            for want in gold
            if (
                got := next(
                    (one for one in figures if want.caption and one.caption == want.caption), by_place.get(want)
                )
            )
        }
        right = sum(got.caption == want.caption for want, got in matched.items())
        placed = sum((got.page or 0) == want.page for want, got in matched.items())
        extra = len(figures) - len(matched)
        print(
            f"{number:2} {suffix:9} {len(gold):8} {len(matched):6} {right:8} {placed:5} {extra:11} {seconds:8.2f}",
            flush=True,
        )
        found, wanted, captions, pages = found + len(matched), wanted + len(gold), captions + right, pages + placed
        shown, decoration = shown + len(figures), decoration + extra
    print(f"found {found / wanted:.1%} of {wanted}, caption {captions / wanted:.1%}, page {pages / wanted:.1%}")
    print(f"decoration: {decoration / max(shown, 1):.1%} of {shown} shown")


def list_files(folder: Path, save: Path | None, limits: ReadLimits) -> None:
    for path in sorted(one for one in folder.rglob("*") if one.is_file()):
        started = time.perf_counter()
        try:
            parsed = read_document(path.read_bytes(), path.name, limits)
        except UnreadableDocument as error:
            print(f"{path.name}: {error.reason}")
            continue
        print(f"{path.name}: {len(parsed.pictures)} pictures, {time.perf_counter() - started:.1f} s", flush=True)
        for one in parsed.pictures:
            print(f"    {one.place}: {one.caption[:60]!r}, {one.width} x {one.height}, words {one.words[:60]!r}")
            if save is not None:
                save.mkdir(parents=True, exist_ok=True)
                ending = one.media_type.removeprefix("image/")
                (save / f"{path.stem}-{one.number}.{ending}").write_bytes(parsed.picture_data[one.content_hash])


def measure_files(folder: Path, gold_file: Path, limits: ReadLimits) -> None:
    gold = {one["file"]: one["figures"] for one in json.loads(gold_file.read_text())}
    if missing := sorted(name for name in gold if not (folder / name).is_file()):
        raise SystemExit(f"{folder} has no {', '.join(missing)}, which {gold_file} names")
    found = wanted = shown = decoration = 0
    for path in sorted(one for one in folder.iterdir() if one.is_file()):
        data, figures = path.read_bytes(), gold.get(path.name, [])
        try:
            parsed = read_document(data, path.name, limits)
        except UnreadableDocument as error:
            parsed = ParsedDocument("", "")
            print(f"{path.name}: {error.reason}")
        hits, extra = match_figures(figures, parsed.pictures, measure_pages(data) if path.suffix == ".pdf" else [])
        for figure, is_found in zip(figures, hits, strict=True):
            if not is_found:
                print(f"{path.name}: missed {figure}")
        for one in extra:
            print(f"{path.name}: decoration {one.place} {one.width} x {one.height} {one.box or one.caption[:50]}")
        found, wanted = found + sum(hits), wanted + len(hits)
        shown, decoration = shown + len(parsed.pictures), decoration + len(extra)
    print(f"found {found / max(wanted, 1):.1%} of {wanted}")
    print(f"decoration: {decoration / max(shown, 1):.1%} of {shown} shown")


def measure_pages(data: bytes) -> list[tuple[float, float]]:
    import pypdfium2

    with pypdfium2.PdfDocument(data) as document:
        return [document.get_page_size(number) for number in range(len(document))]


def match_figures(
    figures: list[dict[str, Any]], pictures: Sequence[Picture], sizes: list[tuple[float, float]]
) -> tuple[list[bool], list[Picture]]:
    """Return which figures of the gold are found, and the pictures that show none of them."""
    if not sizes:
        left = list(pictures)
        hits = []
        for figure in figures:
            ratio = figure["ratio"]
            same = [one for one in left if abs(one.width / one.height - ratio) <= MAX_RATIO_DIFFERENCE * ratio]
            hits.append(bool(same))
            left = [one for one in left if one is not same[0]] if same else left
        return hits, left
    shares = {one.number: [_share(figure, one, sizes) for figure in figures] for one in pictures}
    hits = [any(of[at][0] >= MIN_FOUND_SHARE for of in shares.values()) for at in range(len(figures))]
    extra = [one for one in pictures if sum(share for _, share in shares[one.number]) < MIN_FIGURE_SHARE]
    return hits, extra


def _share(figure: dict[str, Any], picture: Picture, sizes: list[tuple[float, float]]) -> tuple[float, float]:
    """Return the share of a figure that a picture shows, and the share of the picture that the figure fills."""
    if picture.box is None or picture.box.page != figure["page"]:
        return 0.0, 0.0
    width, height = sizes[picture.box.page - 1]
    x0, y0, x1, y1 = (side * of for side, of in zip(figure["box"], (width, height) * 2, strict=True))
    box = picture.box
    common = max(min(x1, box.x1) - max(x0, box.x0), 0.0) * max(min(y1, box.y1) - max(y0, box.y0), 0.0)
    return common / ((x1 - x0) * (y1 - y0)), common / max((box.x1 - box.x0) * (box.y1 - box.y0), 1.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=Path, help="list the pictures in the files of this folder")
    parser.add_argument("--save", type=Path, help="write these pictures to this folder")
    parser.add_argument("--gold", type=Path, help="measure these files against this gold")
    parser.add_argument("--words", action="store_true", help="look for words in the pictures")
    given = parser.parse_args()
    limits = ReadLimits() if given.words else ReadLimits(ocr_languages="")
    if given.files and given.gold:
        measure_files(given.files, given.gold, limits)
    elif given.files:
        list_files(given.files, given.save, limits)
    else:
        measure_gold(limits)


if __name__ == "__main__":
    main()
