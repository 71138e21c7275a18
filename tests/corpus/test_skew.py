"""Skewed lines of scanned pages are straightened before they are read."""

import pytest
from PIL import Image, ImageDraw, ImageFont

from argot.corpus.readers.skew import MAX_SKEW_DEGREES, MIN_SKEW_DEGREES, lean, level


def page(degrees: float, *, noise: bool = False) -> Image.Image:
    picture = Image.new("L", (1240, 1754), 255)
    draw = ImageDraw.Draw(picture)
    font = ImageFont.load_default(24)
    for row in range(30):
        draw.text((120, 150 + 40 * row), f"{row}. The pump must be primed before the valve opens.", 0, font)
    turned = picture.rotate(-degrees, Image.Resampling.BICUBIC, fillcolor=255)
    return Image.blend(turned, Image.effect_noise(turned.size, 80), 0.3) if noise else turned


@pytest.mark.parametrize("degrees", [-4.0, -2.0, -0.4, 0.0, 1.3, 4.5])
@pytest.mark.parametrize("noise", [False, True], ids=["clean", "noise"])
def test_the_skew_of_lines_is_measured(degrees: float, noise: bool) -> None:
    assert lean(page(degrees, noise=noise)) == pytest.approx(degrees, abs=0.15)


def test_only_a_skewed_page_is_straightened() -> None:
    straight = page(0.0)
    assert level(straight).size == straight.size
    assert abs(lean(level(page(3.0)))) < MIN_SKEW_DEGREES


@pytest.mark.parametrize("colour", [0, 255, 128])
def test_a_page_without_lines_is_not_turned(colour: int) -> None:
    empty = Image.new("RGB", (300, 200), (colour, colour, colour))
    assert level(empty).size == empty.size
    assert abs(lean(Image.new("L", (40, 1), colour))) <= MAX_SKEW_DEGREES
