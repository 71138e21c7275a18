"""Pictures of documents: found with their captions and pages, read by a real tesseract, decoration left out."""

import base64
import io
from email.message import EmailMessage

import docx
import openpyxl
import pptx
import pytest
from docx.shared import Inches
from openpyxl.drawing.image import Image as SheetImage
from PIL import Image, ImageDraw
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from argot.corpus.chunking.passages import cut_document
from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers import read_document, reader_protocol
from argot.corpus.readers.ocr import is_installed
from argot.corpus.readers.picture_captions import parse_label
from argot.corpus.readers.picture_files import open_picture, write_picture
from argot.types import ParsedDocument

needs_tesseract = pytest.mark.skipif(not is_installed(), reason="tesseract is not installed")
LIMITS = ReadLimits()
UNREAD = ReadLimits(ocr_languages="")
HARBOURS = ("", "northern", "southern", "eastern", "western", "inner")
WORDS = "Pump P7 delivers 480 litres"


def draw(words: str = "", size: tuple[int, int] = (640, 320), colour: str = "navy") -> bytes:
    """Make a picture with words above a bar."""
    picture = Image.new("RGB", size, "white")
    pen = ImageDraw.Draw(picture)
    pen.rectangle((size[0] // 20, size[1] * 2 // 3, size[0] * 9 // 10, size[1] * 9 // 10), fill=colour)
    if words:
        pen.text((30, 40), words, fill="black", font_size=32)
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return buffer.getvalue()


def address(data: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(data).decode()}"


def read(data: bytes | str, name: str, limits: ReadLimits = UNREAD) -> ParsedDocument:
    return read_document(data.encode() if isinstance(data, str) else data, name, limits)


def told(parsed: ParsedDocument) -> list[tuple[str, str, str]]:
    return [(one.place, one.caption, one.alternative) for one in parsed.pictures]


def as_html(*pictures: bytes, caption: str = "Figure 3: Flow of the pump") -> str:
    shown = "".join(f'<img src="{address(one)}" alt="Bars">' for one in pictures)
    return f"<h1>Pumps</h1><p>They stand below.</p><p>{shown}</p><p>{caption}</p><p>The end.</p>"


def as_pdf(pages: int = 4, *, logo: bool = True) -> bytes:
    buffer = io.BytesIO()
    canvas = Canvas(buffer)
    for number in range(1, pages + 1):
        if logo:
            canvas.drawImage(ImageReader(io.BytesIO(draw("ACME"))), 400, 740, 160, 80)
        canvas.drawString(72, 700, f"The pump of the {HARBOURS[number]} harbour has several parts, which are listed.")
        if number == 2:
            canvas.drawImage(ImageReader(io.BytesIO(draw(WORDS))), 72, 430, 400, 200)
            canvas.drawString(72, 410, "Figure 4: What the pumps deliver")
        canvas.drawString(
            72, 300, f"It was built in {1900 + number * 13} and is still in use, {number * 3} days a week."
        )
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


# -- finding them -----------------------------------------------------------------------------------------------------


def test_a_picture_of_a_page_has_its_caption_and_alternative_text() -> None:
    parsed = read(as_html(draw()), "a.html")
    assert told(parsed) == [("Figure 3", "Figure 3: Flow of the pump", "Bars")]
    (one,) = parsed.pictures
    shown = Image.open(io.BytesIO(parsed.picture_data[one.content_hash]))
    assert (shown.format, shown.size) == ("PNG", (one.width, one.height)) == ("PNG", (640, 320))


def test_pictures_leave_no_trace_in_the_text_but_their_words() -> None:
    without = read(
        "<h1>Pumps</h1><p>They stand below.</p><p>Bars</p><p>Figure 3: Flow of the pump</p><p>The end.</p>", "a.html"
    )
    assert read(as_html(draw()), "a.html").markdown == without.markdown


def test_a_figure_caption_without_a_number_belongs_to_its_picture() -> None:
    html = f'<p>Text.</p><figure><img src="{address(draw())}"><figcaption>The flow</figcaption></figure><p>More.</p>'
    assert told(read(html, "a.html")) == [("Picture 1", "The flow", "")]


def test_pictures_of_one_figure_share_its_caption() -> None:
    parsed = read(as_html(draw(colour="red"), draw(colour="green")), "a.html")
    assert [one.label for one in parsed.pictures] == ["Figure 3", "Figure 3"]


def test_captions_above_their_pictures_are_told_from_those_below() -> None:
    above = "".join(
        f"<p>Figure {n}: Flow {n}</p><p><img src='{address(draw(colour=c))}'></p>" for n, c in ((1, "red"), (2, "blue"))
    )
    assert [one.label for one in read(f"<p>Text.</p>{above}<p>End.</p>", "a.html").pictures] == ["Figure 1", "Figure 2"]


def test_decoration_is_left_out() -> None:
    line, dot, blank = draw(size=(900, 50)), draw(size=(40, 40)), Image.new("RGB", (400, 300), "grey")
    buffer = io.BytesIO()
    blank.save(buffer, "PNG")
    assert told(read(as_html(line, dot, buffer.getvalue()), "a.html")) == []
    small = f'<p>Text</p><p><img width="60" height="40" src="{address(draw())}"></p>'
    assert told(read(small, "a.html")) == []
    repeated = "".join(f"<p>Part {n}</p><p><img src='{address(draw())}'></p>" for n in range(3))
    assert told(read(repeated, "a.html")) == []


def test_a_picture_as_long_as_a_banner_is_kept_with_a_caption_only() -> None:
    banner, flow = address(draw(size=(900, 90))), address(draw(size=(800, 90), colour="green"))
    thin = address(draw(size=(800, 120), colour="red"))
    page = f"<p>Text</p><p><img src='{banner}'></p><p>Parts</p><p><img src='{flow}'></p><p>Figure 3: Flow</p>"
    page += f"<p>Parts</p><p><img width='800' height='90' src='{thin}'></p><p>Figure 4: Parts</p>"
    parsed = read(page, "a.html")
    assert [one[0] for one in told(parsed)] == ["Figure 3", "Figure 4"]
    assert parsed.warnings == ()


def test_a_picture_of_too_many_pixels_is_not_decoded() -> None:
    buffer = io.BytesIO()
    Image.new("1", (20_000, 20_000)).save(buffer, "PNG")
    assert open_picture(buffer.getvalue()) is None
    assert told(read(as_html(buffer.getvalue(), draw()), "a.html"))[0][0] == "Figure 3"


@pytest.mark.parametrize(
    "data", [b"<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>", b"", b"%!PS-Adobe-3.0 EPSF"]
)
def test_what_is_no_picture_of_a_known_kind_is_not_kept(data: bytes) -> None:
    assert open_picture(data) is None


def test_a_photograph_is_kept_as_jpeg_and_made_smaller() -> None:
    noise = Image.effect_noise((2400, 1800), 90).convert("RGB")
    kept = write_picture(noise)
    assert kept is not None and (kept.media_type, kept.width, kept.height) == ("image/jpeg", 1600, 1200)


def test_markdown_keeps_the_picture_and_not_its_base64() -> None:
    code = "```\n![x](data:image/png;base64,AAAA)\n```"
    text = f"# Pumps\n\nText.\n\n![Bars]({address(draw())})\n\nFigure 2: Flow\n\n{code}\n"
    parsed = read(text, "a.md")
    assert told(parsed) == [("Figure 2", "Figure 2: Flow", "Bars")]
    assert parsed.markdown.startswith(
        "# Pumps\n\nText.\n\nBars\n\nFigure 2: Flow\n\n```\n![x](data:image/png;base64,AAAA)"
    )
    assert parsed.warnings == ()


@pytest.mark.parametrize("named", ["![Bars][image1]", "![Bars][Image1]", "![image1][]", "![image1]"])
def test_markdown_keeps_pictures_whose_bytes_stand_at_its_end(named: str) -> None:
    """Google Docs exports such Markdown."""
    text = f"# Pumps\n\nThey stand below.\n\n{named}\n\nFigure 3: Flow\n\n[image1]: <{address(draw())}>\n"
    parsed = read(text, "a.md")
    assert [one.caption for one in parsed.pictures] == ["Figure 3: Flow"]
    assert "base64" not in parsed.markdown and "[" not in parsed.markdown
    assert parsed.warnings == ()
    code = f"```\n[image1]: <{address(draw())}>\n```\n\n![Bars][other]\n"
    assert "base64" in read(code, "a.md").markdown and "![Bars][other]" in read(code, "a.md").markdown


def test_a_logo_in_markdown_is_left_out() -> None:
    assert told(read(f"# Pumps\n\n![Company logo]({address(draw())})\n\nText\n", "a.md")) == []


def test_an_alternative_text_that_begins_as_a_caption_does_not_hide_the_caption() -> None:
    text = f"# Pumps\n\n![Chart 1]({address(draw())})\n\n*Figure 3: Flow*\n\nText\n"
    assert told(read(text, "a.md")) == [("Figure 3", "Figure 3: Flow", "Chart 1")]
    alone = read(f"# Pumps\n\n![Chart 1: Flow]({address(draw())})\n\nText\n", "a.md")
    assert [one.label for one in alone.pictures] == ["Chart 1"]


def test_labels_of_parts_below_them_stand_between_pictures_and_their_caption() -> None:
    parts = "".join(
        f"<div><img src='{address(draw(colour=c))}'><p>({n}) {c}</p></div>" for n, c in (("a", "red"), ("b", "blue"))
    )
    parsed = read(f"<p>Text</p>{parts}<p>Figure 2: Two pumps</p><p>End</p>", "a.html")
    assert [one.label for one in parsed.pictures] == ["Figure 2", "Figure 2"]


PIXEL = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="


@pytest.mark.parametrize(
    "written",
    [
        f"<img src='{PIXEL}' data-src='{{}}'>", "<img srcset='{} 2x'>", "<img src='far.png' data-original='{}'>",
        "<object data='{}' type='image/png'>The flow</object>", "<img src='{}' srcset='far.png 2x'>",
    ],
)  # fmt: skip
def test_a_page_names_a_picture_in_several_ways(written: str) -> None:
    page = f"<p>Text</p><p>{written.format(address(draw()))}</p><p>Figure 3: Flow</p>"
    assert [one.label for one in read(page, "a.html").pictures] == ["Figure 3"]


def test_an_object_that_is_no_picture_of_the_file_shows_what_is_in_it() -> None:
    assert (
        "The flow"
        in read("<p>Text</p><object data='far.svg' type='image/svg+xml'>The flow</object>", "a.html").markdown
    )


def draw_deep(mode: str, format_: str) -> bytes:
    """Return a ramp from black to the lightest shade, in 16 or 32 bits a pixel."""
    ramp = Image.linear_gradient("L").resize((400, 300))
    most = {"I;16": 65_535, "I": 4_000, "F": 1.0}[mode]
    deep = ramp.convert("F").point(lambda shade: shade * (most / 255) + 0)
    for step in {"I;16": ("I", "I;16"), "I": ("I",), "F": ()}[mode]:
        deep = deep.convert(step)
    buffer = io.BytesIO()
    deep.save(buffer, format_)
    return buffer.getvalue()


@pytest.mark.parametrize(("mode", "format_"), [("I;16", "PNG"), ("I;16", "TIFF"), ("I", "TIFF"), ("F", "TIFF")])
def test_a_grey_picture_of_many_bits_keeps_its_shades(mode: str, format_: str) -> None:
    picture = open_picture(draw_deep(mode, format_))
    assert picture is not None
    darkest, middle, lightest = (picture.getpixel((200, y)) for y in (0, 150, 299))
    assert isinstance(middle, tuple) and darkest == (0, 0, 0) and lightest == (255, 255, 255)
    assert 110 <= middle[0] <= 145


@pytest.mark.parametrize("format_", ["AVIF", "JPEG2000", "WEBP"])
def test_newer_formats_are_shown(format_: str) -> None:
    buffer = io.BytesIO()
    Image.open(io.BytesIO(draw())).save(buffer, format_)
    picture = open_picture(buffer.getvalue())
    assert picture is not None and picture.size == (640, 320)


def test_a_word_file_gives_the_caption_by_its_style() -> None:
    document = docx.Document()
    document.add_heading("Pumps", 1)
    document.add_paragraph("They stand below.")
    document.add_picture(io.BytesIO(draw()), width=Inches(4))
    document.add_paragraph("The flow of the pump", style="Caption")
    document.add_paragraph("The end.")
    buffer = io.BytesIO()
    document.save(buffer)
    parsed = read(buffer.getvalue(), "a.docx")
    assert told(parsed) == [("Picture 1", "The flow of the pump", "")]
    assert parsed.warnings == ("1 picture was not read",)


def test_a_pdf_gives_the_figure_with_its_page_and_place_but_no_logo() -> None:
    parsed = read(as_pdf(), "a.pdf")
    assert told(parsed) == [("Figure 4, page 2", "Figure 4: What the pumps deliver", "")]
    box = parsed.pictures[0].box
    assert box is not None and (box.page, round(box.x0), round(box.y1 - box.y0)) == (2, 72, 200)
    assert [mark.number for mark in parsed.pages] == [1, 2, 3, 4]
    assert parsed.markdown == read(as_pdf(), "b.pdf").markdown
    assert all("The pump" in parsed.markdown[mark.start :][:40] for mark in parsed.pages)


def test_parts_side_by_side_on_a_page_are_one_figure() -> None:
    buffer = io.BytesIO()
    canvas = Canvas(buffer)
    canvas.drawString(72, 700, "The pumps of the harbour have many parts, which are listed below.")
    for place, colour in ((72, "red"), (282, "green")):
        canvas.drawImage(ImageReader(io.BytesIO(draw(colour=colour))), place, 430, 200, 200)
    canvas.drawString(72, 410, "Figure 1: Two pumps")
    canvas.save()
    (one,) = read(buffer.getvalue(), "a.pdf").pictures
    assert one.label == "Figure 1" and one.width > 1.8 * one.height


def test_slides_and_sheets_name_the_page_of_a_picture() -> None:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "Pumps"
    shape = slide.shapes.add_picture(io.BytesIO(draw()), 0, 0, width=4_000_000)
    shape._element.nvPicPr.cNvPr.set("descr", "Flow by year")
    buffer = io.BytesIO()
    deck.save(buffer)
    parsed = read(buffer.getvalue(), "a.pptx")
    assert told(parsed) == [("Picture 1, slide 1", "", "Flow by year")]
    assert "Picture: Flow by year\n" in parsed.markdown
    book = openpyxl.Workbook()
    book.active.append(["Year", "Flow"])
    book.active.append([2024, 480])
    book.active.add_image(SheetImage(io.BytesIO(draw())), "D4")
    buffer = io.BytesIO()
    book.save(buffer)
    assert [one.place for one in read(buffer.getvalue(), "a.xlsx").pictures] == ["Picture 1, sheet 1"]


def test_a_mail_keeps_the_pictures_that_its_text_shows() -> None:
    message = EmailMessage()
    message["From"], message["Subject"], message["Date"] = "ann@example.org", "Pumps", "Thu, 5 Mar 2026 10:12:00 +0000"
    message.set_content(
        '<p>See the flow of all pumps.</p><p><img src="cid:flow" alt="Bars"></p><p>Figure 1: Flow</p>', subtype="html"
    )
    message.add_related(draw(), "image", "png", cid="<flow>")
    parsed = read(message.as_bytes(), "a.eml")
    assert told(parsed) == [("Figure 1", "Figure 1: Flow", "Bars")]


# -- their words ------------------------------------------------------------------------------------------------------


@needs_tesseract
def save_page(page: str, **parts: bytes) -> bytes:
    """Return a page of the web as browsers save it in one file, with pictures and style sheets beside it."""
    archive = EmailMessage()
    archive["Subject"], archive["From"] = "Pumps", "<Saved by Blink>"
    archive.set_content(page, subtype="html")
    archive["Content-Location"] = "https://pumps.example/list/page.html"
    archive.make_related()
    for name, data in parts.items():
        kind, suffix = ("text", "css") if name.endswith("_css") else ("image", "png")
        archive.add_related(data, kind, suffix, cid=f"<{name}@page>")
        list(archive.iter_parts())[-1]["Content-Location"] = f"https://pumps.example/{name.replace('_', '.')}"
    return archive.as_bytes()


@pytest.mark.parametrize("address", ["https://pumps.example/flow.png", "../flow.png", "/flow.png", "cid:flow_png@page"])
def test_a_page_saved_as_one_file_has_its_pictures(address: str) -> None:
    page = f"<h1>Pumps</h1><p>They stand below.</p><p><img src='{address}'></p><p>Figure 3: Flow</p>"
    parsed = read(save_page(page, flow_png=draw(), logo_png=draw(colour="red")), "a.mht")
    assert told(parsed) == [("Figure 3", "Figure 3: Flow", "")]
    assert parsed.warnings == ("1 picture was not read",)
    assert told(read(save_page(page.replace("flow", "none"), flow_png=draw()), "a.mht")) == []


def test_a_page_saved_as_one_file_has_its_styles() -> None:
    drawing = '<svg viewBox="0 0 640 320"><rect class="bar" width="640" height="300"/></svg>'
    page = f"<link rel='stylesheet' href='cid:look_css@page'><p>They stand below.</p><figure>{drawing}</figure>"
    parsed = read(save_page(page, look_css=b".bar { fill: lime }"), "a.mht")
    assert parsed.warnings == ("1 picture was not read",)
    (data,) = parsed.picture_data.values()
    assert Image.open(io.BytesIO(data)).convert("RGB").getpixel((600, 150)) == (0, 255, 0)


def test_words_in_a_picture_are_a_paragraph_below_its_caption() -> None:
    parsed = read(as_html(draw(WORDS)), "a.html", LIMITS)
    assert f"Figure 3: Flow of the pump\n\nText in Figure 3: {WORDS}\n\nThe end." in parsed.markdown
    assert parsed.pictures[0].words == WORDS and parsed.warnings == ()


@needs_tesseract
def test_words_that_the_text_says_already_are_not_repeated() -> None:
    parsed = read(as_html(draw(WORDS), caption=f"Figure 3: {WORDS}"), "a.html", LIMITS)
    assert parsed.markdown.count("480 litres") == 1


@needs_tesseract
def test_words_in_a_figure_of_a_pdf_are_cited_with_its_page_and_place() -> None:
    parsed = read(as_pdf(), "a.pdf", LIMITS)
    assert f"Text in Figure 4: {WORDS}" in parsed.markdown and parsed.warnings == ()
    cuts = cut_document(parsed, max_chars=300, limits=LIMITS, name="a.pdf")
    (cut,) = [one for one in cuts if WORDS in parsed.markdown[one.start : one.end]]
    assert cut.page == 2 and parsed.pictures[0].box in cut.boxes
    assert cut.start <= parsed.pictures[0].start < cut.end


# -- how they travel --------------------------------------------------------------------------------------------------


def test_pictures_come_out_of_the_reading_process_as_they_went_in() -> None:
    parsed = read(as_html(draw(), caption="Figure 3: Flüsse"), "a.html")
    cuts = cut_document(parsed, max_chars=500, limits=UNREAD, name="a.html")
    back = reader_protocol.decode_answer(*reader_protocol.encode_answer(parsed, cuts), "a.html")
    assert (back.markdown, back.pictures, back.picture_data) == (parsed.markdown, parsed.pictures, parsed.picture_data)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Figure 3: Flow", "Figure 3"), ("Fig. 2.1 – Flow", "Fig. 2.1"), ("Abbildung 4. Fluss", "Abbildung 4"),
        ("Exhibit A", "Exhibit A"), ("**Figure 1.** Flow", "Figure 1"), ("Figure 3 shows the flow.", ""),
        ("Figures are rounded.", ""), ("Image quality matters", ""), ("The figure 3: flow", ""),
    ],
)  # fmt: skip
def test_a_caption_begins_with_a_label(text: str, label: str) -> None:
    assert parse_label(text) == label
