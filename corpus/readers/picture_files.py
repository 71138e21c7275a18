"""Bytes of a picture made safe to show: decoded within bounds, made smaller, and written again as PNG or JPEG.

The bytes come from untrusted files. Nothing of them is ever served: what a browser gets was written here.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

from argot.corpus.readers.metafile_pictures import draw_metafile, is_metafile

if TYPE_CHECKING:
    from PIL.Image import Image

_FORMATS = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "AVIF", "JPEG2000")
"""Formats that Pillow decodes by itself: for others, such as EPS, it would start a program."""
_MAX_PIXELS = 40_000_000
"""Pixels: decoded, so many take 160 MB. A picture that claims more is refused before it is decoded."""
_MAX_SIDE_PIXELS = 1600
_MIN_SIDE_PIXELS = 48
"""Pixels: a picture that is smaller in one direction is a bullet, an icon or a rule."""
_MAX_SIDES_RATIO = 16
"""Longer pictures are rules."""
_MAX_BARE_RATIO = 8
"""Longer pictures without a caption are banners; with one, flow charts from left to right."""
_MAX_PNG_BYTES = 300_000
"""Bytes of a PNG from which JPEG is tried: drawings stay sharp in PNG, photographs take a tenth in JPEG."""
_MAX_FILE_BYTES = 3_000_000
_JPEG_QUALITY = 88
_MIN_SHADES = 12
"""Difference between the lightest and the darkest pixel, of 255: with less, nothing is drawn on it."""


@dataclass(frozen=True, slots=True)
class PictureFile:
    """A picture as it is stored and shown. Width and height in pixels."""

    data: bytes
    media_type: str
    width: int
    height: int


def open_picture(data: bytes) -> Image | None:
    """Return the first frame of a picture, upright, in RGB on white; None if it cannot be decoded within the bounds."""
    from PIL import Image, ImageOps

    from argot.corpus.readers.svg_pictures import draw_svg

    if is_metafile(data):
        return draw_metafile(data)
    if is_vector(data):
        data = draw_svg(data) or b""
    try:
        with Image.open(io.BytesIO(data), formats=_FORMATS) as found:
            if found.width * found.height > _MAX_PIXELS:
                return None
            # Decoded at a fraction of its size, which only JPEG can.
            found.draft("RGB", (2 * _MAX_SIDE_PIXELS, 2 * _MAX_SIDE_PIXELS))
            upright = reduce_depth(ImageOps.exif_transpose(found))
            if upright.mode in ("RGBA", "LA", "PA") or "transparency" in upright.info:
                layer = upright.convert("RGBA")
                paper = Image.new("RGBA", layer.size, "white")
                return Image.alpha_composite(paper, layer).convert("RGB")
            return upright.convert("RGB")
    # Damaged files make Pillow raise nearly anything.
    except (Image.DecompressionBombError, OSError, SyntaxError, ValueError, TypeError, KeyError, IndexError,
            EOFError, OverflowError, ZeroDivisionError):  # fmt: skip
        return None


def reduce_depth(picture: Image) -> Image:
    """Return a grey picture of 16 or 32 bits a pixel in 8 bits, from black to its lightest; Pillow itself makes nearly
    all of it white. Others are returned as they are.
    """
    if picture.mode not in ("I", "F") and not picture.mode.startswith("I;16"):
        return picture
    lightest = float(picture.getextrema()[1])  # type: ignore[arg-type]
    is_share = picture.mode == "F" and lightest <= 1
    scale = 255 / (lightest if is_share and lightest > 0 else max(lightest, 255.0))
    return picture.convert("F").point(lambda shade: shade * scale + 0).convert("L")


def is_vector(data: bytes) -> bool:
    """Return whether a picture is drawn in a process of its own before it can be decoded."""
    return data.lstrip()[:1] == b"<" or is_metafile(data)


def is_decoration(picture: Image) -> bool:
    """Return whether a picture is too small, too long, or too plain to show anything."""
    sides = sorted(picture.size)
    if sides[0] < _MIN_SIDE_PIXELS or sides[1] > _MAX_SIDES_RATIO * sides[0]:
        return True
    lightest, darkest = picture.convert("L").getextrema()
    return abs(float(darkest) - float(lightest)) < _MIN_SHADES  # type: ignore[arg-type]


def is_banner(file: PictureFile) -> bool:
    """Return whether a picture is so long that it is a decoration, unless it has a caption."""
    return max(file.width, file.height) > _MAX_BARE_RATIO * min(file.width, file.height)


def write_picture(picture: Image) -> PictureFile | None:
    """Return the picture as PNG, or as JPEG where that is much smaller; None if even that is too large."""
    shown = picture.copy()
    shown.thumbnail((_MAX_SIDE_PIXELS, _MAX_SIDE_PIXELS))
    best, media_type = _encode(shown, "PNG"), "image/png"
    if len(best) > _MAX_PNG_BYTES and len(smaller := _encode(shown, "JPEG", quality=_JPEG_QUALITY)) < len(best) / 2:
        best, media_type = smaller, "image/jpeg"
    return PictureFile(best, media_type, shown.width, shown.height) if len(best) <= _MAX_FILE_BYTES else None


def _encode(picture: Image, kind: str, **options: int) -> bytes:
    written = io.BytesIO()
    picture.save(written, kind, **options)
    return written.getvalue()
