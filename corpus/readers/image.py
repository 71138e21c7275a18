"""Pictures of text, such as photographs of a page and screenshots: what tesseract reads in them."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import TYPE_CHECKING

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.ocr import DPI, OcrPage, recognize_text, require_ocr
from argot.corpus.readers.page_layout import PageContents, build_document
from argot.corpus.readers.picture_files import is_vector, open_picture, reduce_depth
from argot.corpus.readers.plain_text import name_without_suffix
from argot.errors import NoText, UnreadableDocument
from argot.types import ParsedDocument

if TYPE_CHECKING:
    from PIL.Image import Image

_MAX_PIXELS = 80_000_000
_MIN_WIDTH_PIXELS = 1500
"""Pixels: a narrower picture is enlarged, since letters of ten pixels are too small for tesseract."""


def read_image(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    """Read a picture. The title is the largest line if it is a heading, else the file name. Each page of a TIFF is a
    page.

    Raises:
        NoText: it shows something other than text. UnreadableDocument: damaged, too large, or tesseract is not
            installed.
    """
    from PIL import Image, UnidentifiedImageError

    require_ocr(limits.ocr_languages, name, "a picture")
    try:
        with Image.open(io.BytesIO(data)) as picture:
            media_type = Image.MIME.get(picture.format or "", "image/png")
            pages, late = _read_pages(picture, name, limits)
    except Image.DecompressionBombError as error:
        raise _refuse_large(name) from error
    except (UnidentifiedImageError, OSError, SyntaxError) as error:
        raise UnreadableDocument(name, "damaged, or no picture of a known kind") from error
    if not any(page.lines for page in pages):
        raise NoText(name, "no text in the picture")
    kinds = {number: page.kind for number, page in enumerate(pages, start=1)}
    unsure = [str(number) for number, kind in kinds.items() if kind.startswith("hardly")]
    warnings = [*late, *([f"hardly legible: page {', '.join(unsure)}"] if unsure else [])]
    contents = PageContents([page.lines for page in pages], kinds=kinds)
    found = build_document(contents, "", name_without_suffix(name), media_type, warnings)
    # Boxes serve to mark places on a drawn page, which only PDF has.
    return replace(found, boxes=())


def read_picture_text(data: bytes, name: str, limits: ReadLimits) -> str:
    """Return the text in a picture, line by line; empty if there is none, or if the kind of picture is unknown."""
    from PIL import Image, UnidentifiedImageError

    if is_vector(data):
        drawn = open_picture(data)
        return _join_lines(_read_page(drawn, name, limits)) if drawn is not None else ""
    try:
        with Image.open(io.BytesIO(data)) as picture:
            if picture.width * picture.height > _MAX_PIXELS:
                return ""
            return _join_lines(_read_page(picture, name, limits))
    except (UnidentifiedImageError, OSError, SyntaxError, Image.DecompressionBombError):
        return ""


def _join_lines(page: OcrPage) -> str:
    return "\n".join(line.text for line in page.lines)


def _read_pages(picture: Image, name: str, limits: ReadLimits) -> tuple[list[OcrPage], list[str]]:
    count = getattr(picture, "n_frames", 1)
    pages = []
    for number in range(min(count, limits.ocr_pages)):
        picture.seek(number)
        if picture.width * picture.height > _MAX_PIXELS:
            raise _refuse_large(name)
        pages.append(_read_page(picture, name, limits))
    late = [f"not read: pages after the {limits.ocr_pages}th ({limits.remedy('OCR_PAGES')})"]
    return pages, late if count > limits.ocr_pages else []


def _refuse_large(name: str) -> UnreadableDocument:
    return UnreadableDocument(name, f"too large: more than {_MAX_PIXELS // 1_000_000} million pixels")


def _read_page(picture: Image, name: str, limits: ReadLimits) -> OcrPage:
    from PIL import ImageOps

    upright = reduce_depth(ImageOps.exif_transpose(picture.convert("RGB") if picture.mode == "P" else picture))
    if upright.width < _MIN_WIDTH_PIXELS:
        upright = ImageOps.scale(upright.convert("L"), 2)
    return recognize_text(upright, limits.ocr_languages, name, points=72 / DPI)
