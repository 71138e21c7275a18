"""Vector pictures: drawn, with nothing from outside the file and within bounds."""

import base64
import io
import zipfile
from pathlib import Path

import pytest
from PIL import Image

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers import html_media, pictures, read_document
from argot.corpus.readers.html import convert_html
from argot.corpus.readers.picture_files import open_picture
from argot.corpus.readers.reader_process import compute_patience
from argot.corpus.readers.svg_pictures import draw_svg
from argot.types import ParsedDocument

SPACES = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
BARS = '<rect x="10" y="40" width="20" height="60" fill="navy"/><rect x="50" y="10" width="20" height="90" fill="red"/>'


def make_svg(inside: str = BARS, sides: str = 'viewBox="0 0 120 100"') -> bytes:
    return f'<?xml version="1.0"?><!-- drawn --><svg {SPACES} {sides}>{inside}</svg>'.encode()


@pytest.mark.parametrize(
    "sides", ['viewBox="0 0 120 100"', 'width="120" height="100px"', 'width="250pt" viewBox="0 0 120 100"']
)
def test_a_vector_picture_is_drawn_in_its_proportions(sides: str) -> None:
    picture = open_picture(make_svg(sides=sides))
    assert picture is not None and picture.size == (1200, 1000)
    assert (picture.getpixel((200, 800)), picture.getpixel((5, 5))) == ((0, 0, 128), (255, 255, 255))


def test_a_page_shows_a_vector_picture_with_its_caption() -> None:
    address = f"data:image/svg+xml;base64,{base64.b64encode(make_svg()).decode()}"
    page = f"<p>Text.</p><p><img src='{address}' alt='Bars'></p><p>Figure 2: Loads</p>"
    parsed = read_document(page.encode(), "a.html", ReadLimits(ocr_languages=""))
    assert [(one.label, one.alternative, one.media_type) for one in parsed.pictures] == [
        ("Figure 2", "Bars", "image/png")
    ]


@pytest.mark.parametrize("element", ["image", "feImage", "style"])
def test_no_other_file_is_drawn(element: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret.png"
    Image.new("RGB", (120, 100), "lime").save(secret)
    named = {
        "image": f'<image href="{secret}" xlink:href="{secret}" width="120" height="100"/>',
        "feImage": f'<filter id="f"><feImage href="{secret}"/></filter><rect width="99" height="99" filter="url(#f)"/>',
        "style": f'<style>@import "{secret}"; rect {{ fill: url({secret}) }}</style><rect width="9" height="9"/>',
    }[element]
    drawn = draw_svg(make_svg(named + BARS))
    assert drawn is not None
    colours = Image.open(io.BytesIO(drawn)).convert("RGB").getcolors(1_000_000)
    assert colours is not None and (0, 255, 0) not in {colour for _, colour in colours}


NESTED = "".join(f'<g id="g{n}">{f"""<use href="#g{n - 1}"/>""" * 10}</g>' for n in range(1, 9))


@pytest.mark.parametrize(
    "data",
    [
        b"<html><svg></svg></html>", b"<svg", make_svg(sides=""), make_svg(sides='viewBox="0 0 9000 10"'),
        make_svg("<g>" * 3000 + "</g>" * 3000), make_svg(sides='viewBox="0 0 inf inf"'),
        make_svg(sides='viewBox="0 0 nan nan"'), make_svg(sides='viewBox="0 0 1e200 1e200"'),
        b"<!DOCTYPE svg [<!ENTITY a 'b'>]>" + make_svg(),
    ],
)  # fmt: skip
def test_what_is_no_picture_is_refused(data: bytes) -> None:
    assert draw_svg(data) is None


BOX = '<rect width="9" height="9"'
CLIPS = "".join(
    f'<clipPath id="c{n}">{f"""{BOX} clip-path="url(#c{n - 1})"/>""" * 10}</clipPath>' for n in range(1, 13)
)


@pytest.mark.parametrize(
    "inner",
    [
        f'<clipPath id="c0">{BOX}/></clipPath>{CLIPS}{BOX} clip-path="url(#c12)"/>',
        f'<rect id="g0" width="1" height="1"/>{NESTED}',
        '<g transform="scale(2)">' * 250 + '<rect width="1" height="1"/>' + "</g>" * 250,
    ],
    ids=["clips", "references", "crash"],
)
def test_a_drawing_that_takes_too_long_or_crashes_costs_the_picture_alone(inner: str) -> None:
    assert draw_svg(make_svg(inner)) is None
    assert draw_svg(make_svg(BARS)) is not None


# -- drawings that are written out in a page ---------------------------------------------------------------------------

SHADED = (
    '<defs><linearGradient id="a"><stop offset="0" stop-color="lime"/></linearGradient></defs>'
    '<rect width="640" height="320" fill="url(#a)"/><rect y="300" width="640" height="20" fill="navy"/>'
)
ABOUT = "<title>Flow of the pump</title><desc>From tank to valve</desc>"
LABELS = '<text x="40" y="60">Valve V7</text><text x="40" y="200">Tank</text>'
LARGE = 'viewBox="0 0 640 320" width="480pt" height="240pt"'
CAPTION = "<p>Figure 3: How it flows</p>"


def write_drawing(inside: str = SHADED + ABOUT + LABELS, said: str = 'viewBox="0 0 640 320"') -> str:
    return f"<svg {said}>{inside}</svg>"


def read(text: str, name: str = "a.html") -> ParsedDocument:
    return read_document(text.encode(), name, ReadLimits(ocr_languages=""))


def make_book(page: str, **files: bytes) -> bytes:
    buffer = io.BytesIO()
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf"><manifest><item id="a" href="a.xhtml" '
        'media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine></package>'
    )
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        archive.writestr("book.opf", package)
        archive.writestr("a.xhtml", f'<html xmlns="http://www.w3.org/1999/xhtml"><body>{page}</body></html>')
        for name, data in files.items():
            archive.writestr(name.replace("_", "."), data)
    return buffer.getvalue()


@pytest.mark.parametrize("name", ["a.html", "a.md", "a.epub"])
def test_a_drawing_in_a_page_is_a_picture_with_caption_description_and_words(name: str) -> None:
    page = f"<h1>Pumps</h1>\n\n<p>They stand below.</p>\n\n{write_drawing()}\n\n{CAPTION}"
    parsed = read_document(make_book(page) if name == "a.epub" else page.encode(), name, ReadLimits(ocr_languages=""))
    (picture,) = parsed.pictures
    assert (picture.caption, picture.alternative, picture.words) == (
        "Figure 3: How it flows", "Flow of the pump; From tank to valve", "Valve V7; Tank"
    )  # fmt: skip
    assert parsed.markdown[picture.start :].startswith("Figure 3: How it flows")
    assert parsed.markdown.count("Valve V7") == parsed.markdown.count("Flow of the pump") == 1
    assert not parsed.warnings


def test_a_drawing_keeps_the_names_with_capitals_that_the_parser_of_pages_lowers() -> None:
    (data,) = read(write_drawing()).picture_data.values()
    drawn = Image.open(io.BytesIO(data)).convert("RGB")
    assert (drawn.size, drawn.getpixel((1100, 500))) == ((1200, 600), (0, 255, 0))


def test_labels_written_as_html_within_a_drawing_are_drawn() -> None:
    label = '<foreignObject x="20" y="20" width="600" height="30"><div>Open the valve</div></foreignObject>'
    (bare,) = read(f"<p>Pump</p>{write_drawing(SHADED, LARGE)}").picture_data.values()
    parsed = read(write_drawing(SHADED + label))
    (labelled,) = parsed.picture_data.values()
    assert bare != labelled and parsed.pictures[0].words == "Open the valve"


def test_the_title_of_a_drawing_without_words_is_in_the_text() -> None:
    parsed = read(f"<p>Look:</p><p>{write_drawing(SHADED + '<title>Pressure by hour</title>', LARGE)}</p>")
    assert "Pressure by hour" in parsed.markdown and parsed.title == "a"
    assert parsed.pictures[0].alternative == "Pressure by hour"


@pytest.mark.parametrize(
    "page",
    [
        write_drawing(said='viewBox="0 0 24 24"'),
        write_drawing(said='viewBox="0 0 640 320" width="20" height="10"'),
        write_drawing(said='viewBox="0 0 640 320" aria-hidden="true"'),
        write_drawing(said='viewBox="0 0 640 320" class="site-logo"'),
        write_drawing('<path d="M0 0L500 500V9z"/>', 'viewBox="0 0 512 512"'),
        write_drawing("<rect/>" * 9),
        f"<div hidden>{write_drawing()}</div>",
        f"<header>{write_drawing()}</header>",
        f"<a href='/'>{write_drawing(SHADED)}</a>",
        f"<p>{write_drawing()}</p>" * 3,
    ],
    ids=["small box", "small", "hidden", "logo", "icon", "empty", "in a hidden part", "header", "link", "repeated"],
)
def test_a_drawing_that_is_decoration_is_no_picture(page: str) -> None:
    assert not read(f"<main><p>{'The pump has parts. ' * 20}</p>{page}</main>").pictures


def test_a_drawing_that_frames_a_picture_of_the_book_is_that_picture() -> None:
    cover = Image.new("RGB", (300, 400), "white")
    cover.paste("navy", (20, 20, 280, 200))
    buffer = io.BytesIO()
    cover.save(buffer, "PNG")
    framed = '<svg viewBox="0 0 300 400"><image width="300" height="400" xlink:href="cover.png"/></svg>'
    data = make_book(f"<div>{framed}</div><p>The pump.</p>", cover_png=buffer.getvalue())
    parsed = read_document(data, "a.epub", ReadLimits(ocr_languages=""))
    assert [(one.width, one.height) for one in parsed.pictures] == [(300, 400)]
    assert not read(framed + "<p>The pump.</p>").pictures


def test_a_drawing_in_code_of_markdown_stays_code() -> None:
    parsed = read(f"# Pumps\n\n```html\n{write_drawing()}\n```\n", "a.md")
    assert not parsed.pictures and write_drawing() in parsed.markdown


def test_a_drawing_within_a_drawing_is_part_of_it() -> None:
    inner = '<svg x="9" y="9" width="99" height="99"><text>Valve</text></svg>'
    for name in ("a.md", "a.html"):
        parsed = read(f"Pumps\n\n{write_drawing(SHADED + inner + '<text>Tank</text>')}\n\nThe end.", name)
        assert [one.words for one in parsed.pictures] == ["Valve; Tank"]
        assert "<" not in parsed.markdown and parsed.markdown.count("Valve") == 1


def test_a_drawing_that_names_files_or_scripts_gets_neither(tmp_path: Path) -> None:
    secret = tmp_path / "secret.png"
    Image.new("RGB", (120, 100), "red").save(secret)
    foreign = f'<image href="{secret}" width="640" height="320"/><script>x</script>'
    (data,) = read(write_drawing(SHADED + LABELS + foreign, 'viewBox="0 0 640 320" onload="x"')).picture_data.values()
    colours = Image.open(io.BytesIO(data)).convert("RGB").getcolors(1_000_000)
    assert colours is not None and (255, 0, 0) not in {colour for _, colour in colours}


def test_only_so_many_drawings_of_a_file_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "_MAX_DRAWN", 2)
    page = "".join(f"<p>Part {place}: {write_drawing(SHADED + f'<text>V{place}</text>')}</p>" for place in range(4))
    parsed = read(page)
    assert [one.words for one in parsed.pictures] == ["V0", "V1"] and "V3" in parsed.markdown
    assert parsed.warnings == ("of the SVG pictures only the first 2 are shown, 2 are not",)


def test_text_with_pictures_may_take_as_long_as_pictures_do() -> None:
    limits = ReadLimits()
    plain, drawn = (compute_patience(limits, "a.html", text.encode()) for text in ("<p>Pump</p>", write_drawing()))
    assert plain < drawn == compute_patience(limits, "a.pdf", b"")


def test_characters_that_no_xml_has_cost_neither_the_page_nor_the_drawing() -> None:
    drawing = f'<svg width="300" height="200" fill="a&#xFFFE;"><text x="9" y="30">Inlet&#x1;&#xFFFF;</text>{BARS}</svg>'
    label = '<foreignObject width="90" height="20"><p>Outlet&#xFFFE;</p></foreignObject>'
    parsed = read_document((drawing.replace(BARS, label + BARS)).encode(), "a.html", ReadLimits(ocr_languages=""))
    assert "Inlet" in parsed.markdown and "Outlet" in parsed.markdown and len(parsed.pictures) == 1


def test_drawings_within_each_other_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []
    monkeypatch.setattr(html_media, "write_drawing", lambda drawing, styles: written.append(str(drawing.extract())))
    convert_html(f"{'<svg>' * 50}<text>deep</text>{'</svg>' * 50}<svg><text>beside</text></svg>")
    assert [one.count("<svg") for one in written] == [50, 1]


def test_a_drawing_in_a_cell_of_markdown_leaves_the_table_whole() -> None:
    row = '| <svg width="300" height="200"><text x="9" y="30">Inlet | A</text></svg> | main valve |'
    text = f"# Valves\n\n| Drawing | Place |\n|---|---|\n{row}\n| none | side valve |\n"
    parsed = read_document(text.encode(), "a.md", ReadLimits(ocr_languages=""))
    assert "| Inlet \\| A | main valve |\n| none | side valve |" in parsed.markdown


# -- styles of the page ------------------------------------------------------------------------------------------------

BAR = '<g class="axis"><rect class="bar" width="640" height="160"/></g>'
BAR += '<rect y="180" width="640" height="9" fill="navy"/>' * 3


def read_colour(page: str, name: str = "a.html") -> object:
    """Return the colour in the middle of the bar of the page's only drawing."""
    (data,) = read(page, name).picture_data.values()
    return Image.open(io.BytesIO(data)).convert("RGB").getpixel((600, 150))


LIME, BLACK = (0, 255, 0), (0, 0, 0)


@pytest.mark.parametrize(
    "sheet",
    [
        ".bar { fill: lime }", "rect.bar, .other { fill: lime }", "#chart .axis > .bar { fill: lime }",
        "div.plot svg .bar { fill: lime; }", ":root { --line: lime } .bar { fill: var(--line) }",
        ".bar { fill: var(--none, lime) }", ".plot { fill: lime }", ".bar { fill: light-dark(lime, red) }",
        "@import url(x.css); .bar { fill: lime } @media print { .bar { fill: red } }",
        ".bar { fill: red } /* } */ .axis .bar { fill: lime } .bar:hover { fill: red }",
        "a:hover .bar, .bar { fill: lime !important }",
        "@font-face { font-family: A; src: url(a.woff) } .bar { fill: lime; background: url(a.png) }",
    ],
)  # fmt: skip
def test_a_drawing_has_the_colours_that_its_page_gives_it(sheet: str) -> None:
    body = f"<div id='chart' class='plot'>{write_drawing(BAR)}</div><p>Pump</p>"
    assert read_colour(f"<head><style>{sheet}</style></head><body>{body}</body>") == LIME


@pytest.mark.parametrize(
    "head",
    [
        "<style>.page .bar { fill: lime }</style>", "<style media='print'>.bar { fill: lime }</style>",
        "<style>@media (min-width: 9px) { .bar { fill: lime } }</style>", "<style>.bar { fill: lime</style>",
        "<link rel='stylesheet' href='a.css'>", "",
    ],
)  # fmt: skip
def test_rules_that_do_not_apply_to_a_drawing_change_nothing(head: str) -> None:
    assert read_colour(f"<head>{head}</head><body><p>Pump</p>{write_drawing(BAR)}</body>") == BLACK


def test_a_drawing_in_markdown_or_a_book_has_the_colours_of_its_page() -> None:
    assert read_colour(f"# Pumps\n\n<style>.bar {{ fill: lime }}</style>\n\n{write_drawing(BAR)}\n", "a.md") == LIME
    assert read_colour(f"<style>.bar {{ fill: lime }}</style>{write_drawing(BAR)}<p>Behind a style alone</p>") == LIME
    page = f"<p>The pump.</p>{write_drawing(BAR)}"
    for head in ("<link rel='stylesheet' href='look.css'/>", "<style>.bar { fill: lime }</style>"):
        book = make_book(f"{head}{page}", look_css=b".bar { fill: lime }")
        (data,) = read_document(book, "a.epub", ReadLimits(ocr_languages="")).picture_data.values()
        assert Image.open(io.BytesIO(data)).convert("RGB").getpixel((600, 150)) == LIME


def test_a_drawing_that_the_page_makes_as_small_as_a_symbol_or_hides_is_no_picture() -> None:
    for said in ("width: 24px; height: 24px", "display: none"):
        drawing = write_drawing(SHADED * 3, 'viewBox="0 0 640 320" class="flag"')
        assert read(f"<p>Text</p>{drawing}").pictures
        assert not read(f"<style>.flag {{ {said} }}</style><p>Text</p>{drawing}").pictures


@pytest.mark.parametrize(
    "said", ['style="fill: var(--line)"', 'fill="var(--none, lime)"', 'fill="red" style="fill: light-dark(lime, red)"']
)
def test_colours_of_an_element_itself_may_depend_on_the_page(said: str) -> None:
    drawing = write_drawing(BAR.replace('class="bar"', said))
    assert read_colour(f"<style>:root {{ --line: lime }}</style><p>Pump</p>{drawing}") == LIME


def test_a_picture_within_a_drawing_is_drawn_if_the_file_has_it() -> None:
    buffer = io.BytesIO()
    Image.new("RGB", (8, 8), "lime").save(buffer, "PNG")
    address = f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}"
    image = '<image width="640" height="160" preserveAspectRatio="none" xlink:href="{}"/>'
    assert read_colour(f"<p>Map</p>{write_drawing(image.format(address) + BAR[BAR.index('<rect y') :])}") == LIME
    nested = base64.b64encode(make_svg('<rect width="120" height="100" fill="lime"/>')).decode()
    foreign = image.format(f"data:image/svg+xml;base64,{nested}")
    assert read_colour(f"<p>Map</p>{write_drawing(foreign + BAR[BAR.index('<rect y') :])}") == (255, 255, 255)


def test_words_about_a_drawing_that_nobody_sees_are_not_missed() -> None:
    about = "<metadata><cc>Drawn by a program</cc></metadata><g><title>node seven</title><desc>part of it</desc></g>"
    assert not read(f"<p>Pump</p>{write_drawing(SHADED + LABELS + about)}").warnings


def test_styles_name_no_other_file(tmp_path: Path) -> None:
    secret = tmp_path / "secret.svg"
    secret.write_bytes(make_svg('<rect id="a" width="640" height="320" fill="lime"/>'))
    parts = f"var(--a, ur)var(--b, l({secret}#a))"
    for address in (f"url({secret}#a)", f"url('file://{secret}#a')", f"u\\72l({secret}#a)", parts):
        sheet = f".bar {{ fill: {address}; marker: {address}; mask: {address} }}"
        assert read_colour(f"<style>{sheet}</style><p>Pump</p>{write_drawing(BAR)}") == BLACK


def test_rules_without_end_or_with_endless_variables_take_no_time() -> None:
    loop = ":root { --a: " + "var(--a) " * 50 + "} .bar { fill: var(--a) }"
    for sheet in ("{" * 100_000, "a{" * 100_000, "/*" * 100_000, ".bar{fill:red}" * 50_000, loop, "@" * 100_000):
        assert read(f"<style>{sheet}</style><p>Text</p>{write_drawing(BAR)}").pictures
