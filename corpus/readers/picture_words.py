"""The words in a picture, by tesseract: what people would call text in it, without the noise of a photograph."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.ocr import DPI, recognize_text
from argot.corpus.readers.pdf_lines import HYPHEN, Line

if TYPE_CHECKING:
    from PIL.Image import Image

_MAX_READ_SIDE_PIXELS = 2400
_MIN_READ_WIDTH_PIXELS = 1200
"""Pixels: a smaller picture is enlarged, since letters of ten pixels are too small for tesseract."""
_MIN_CONFIDENCE = 60
"""Average confidence, of 100: in photographs, tesseract reads leaves and bricks as letters, and is unsure of them."""
_MIN_LETTERS_SHARE = 0.6
_WORD = re.compile(r"[^\W_]{2,}")
_LONG_WORD = re.compile(r"[^\W\d_]{3,}|\d{2,}")
_MAX_CHARS = 4_000
_NEXT_LINE_HEIGHTS = 0.9
"""Heights of a line between two lines of one paragraph."""


def read_picture_words(picture: Image, name: str, limits: ReadLimits) -> str:
    """Return the text in a picture on one line, its pieces separated by semicolons; empty if there is none.

    Raises:
        UnreadableDocument: tesseract fails, or takes too long.
    """
    page = recognize_text(_scale(picture), limits.ocr_languages, name, points=72 / DPI)
    lines = [line for line in page.lines if _is_text(line.text)]
    if page.confidence < _MIN_CONFIDENCE or not any(_LONG_WORD.search(line.text) for line in lines):
        return ""
    return _join_lines(lines)[:_MAX_CHARS]


def _scale(picture: Image) -> Image:
    from PIL import ImageOps

    grey = picture.convert("L")
    if max(grey.size) > _MAX_READ_SIDE_PIXELS:
        grey.thumbnail((_MAX_READ_SIDE_PIXELS, _MAX_READ_SIDE_PIXELS))
    return ImageOps.scale(grey, 2) if grey.width < _MIN_READ_WIDTH_PIXELS else grey


def _is_text(line: str) -> bool:
    letters = sum(char.isalnum() for char in line)
    filled = sum(not char.isspace() for char in line)
    return letters >= _MIN_LETTERS_SHARE * filled and _WORD.search(line) is not None


def _join_lines(lines: list[Line]) -> str:
    """Join the lines of one paragraph by a space, or not at all where a word was split, and others by a semicolon."""
    joined = ""
    for number, line in enumerate(lines):
        text = " ".join(span.text for span in line.spans).strip()
        if number and joined.endswith(HYPHEN):
            joined = joined[:-1] + text
        elif number:
            joined += f"{' ' if _continues(lines[number - 1], line) else '; '}{text}"
        else:
            joined = text
    return joined.replace(HYPHEN, "-").strip()


def _continues(above: Line, line: Line) -> bool:
    height = max(above.y1 - above.y0, 1.0)
    overlaps = min(above.x1, line.x1) > max(above.x0, line.x0)
    ends = above.text.rstrip().endswith((".", "!", "?", ":", ";"))
    return overlaps and not ends and 0 <= line.y0 - above.y1 + height * 0.3 < _NEXT_LINE_HEIGHTS * height
