"""Vector pictures: drawn, with nothing from outside the file and within bounds."""

import base64
import io
from pathlib import Path

import pytest
from PIL import Image

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers import read_document
from argot.corpus.readers.picture_files import open_picture
from argot.corpus.readers.svg_pictures import draw_svg

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
