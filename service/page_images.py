"""A page of a PDF as a picture, with the cited places marked on it. It is rendered in a separate process.

PDFs are untrusted files, and the renderer is large and written in C++: it gets limits on memory and time and none of
Argot's keys, and a faulty file ends only that process. The same module is both sides: `draw` starts it, `main` renders.
"""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cachetools import LRUCache

from argot.errors import NotFound
from argot.subprocesses import Child, ChildFailed, Parent, limit_resources
from argot.types import Box

if TYPE_CHECKING:
    from PIL.Image import Image

SECONDS = 20
MEMORY_MB = 1024
WIDTH = 1400
"""Pixels; the panel beside the chat shows about 700, and a telephone less."""
MAX_PIXELS = 4_000_000
MAX_PAGES = 4
"""Pages of one passage that are searched for the cited sentence."""
MAX_CACHED = 24
MARGIN, MARGIN_SHADE = 24, 12
"""Pixels of paper left around the print; and how much darker than white counts as printed (of 255)."""
_BOX, _LINE, _SENTENCE = (255, 214, 79, 46), (214, 158, 0, 255), (255, 196, 0, 105)


@dataclass(frozen=True, slots=True)
class PageRequest:
    """Order of a picture: the page a passage begins on, its boxes, and the cited sentences to search on it."""

    page: int
    boxes: tuple[Box, ...] = ()
    sentences: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Picture:
    """PNG, and the number of the page on it: a sentence may be on the page after the one on which its passage began."""

    page: int
    png: bytes


class Pictures:
    """The most recently rendered pictures: one takes about half a second of processor time."""

    def __init__(self) -> None:
        self._kept: LRUCache[tuple[str, PageRequest], Picture] = LRUCache(MAX_CACHED)
        self._guard = threading.Lock()

    def of(self, content_hash: str, data: bytes, request: PageRequest) -> Picture:
        """Return the picture. The caller checks access: the cache is common to all people.

        Raises:
            NotFound: there is no such page, or the file cannot be rendered within the limits.
        """
        key = (content_hash, request)
        with self._guard:
            kept = self._kept.get(key)
        # Outside the lock: cached pictures are returned while another page is rendered.
        kept = kept or draw(data, request)
        with self._guard:
            self._kept[key] = kept
        return kept


PICTURES = Pictures()


def draw(data: bytes, request: PageRequest) -> Picture:
    """Render the page in a separate process.

    Raises:
        NotFound: there is no such page, or the file cannot be rendered within the limits.
    """
    boxes = [[box.page, box.x0, box.y0, box.x1, box.y1] for box in request.boxes]
    job = {"page": request.page, "boxes": boxes, "sentences": list(request.sentences)}
    try:
        with Child("argot.service.page_images") as child:
            child.send(json.dumps(job).encode(), data, seconds=SECONDS)
            page, png = child.receive()
    except ChildFailed as error:
        raise NotFound("This page cannot be drawn. Open the original instead.") from error
    return Picture(int(page), png)


# -- in the other process --------------------------------------------------------------------------------------------


def main() -> None:
    parent = Parent()
    for job, data in parent.messages():
        with limit_resources(SECONDS, MEMORY_MB * 2**20):
            page, png = _draw_page(data, **json.loads(job))
        parent.send(str(page).encode(), png)


def _draw_page(data: bytes, page: int, boxes: Sequence[Sequence[float]], sentences: Sequence[str]) -> tuple[int, bytes]:
    import pypdfium2

    document = pypdfium2.PdfDocument(data)
    pages = sorted({page, *(int(box[0]) for box in boxes)})
    # Boxes come from the index, and may name pages that this file does not have.
    pages = [number for number in pages if 1 <= number <= len(document)][:MAX_PAGES]
    if not pages:
        raise SystemExit(f"there is no page {page}")
    shown, found = pages[0], []
    for number in pages:
        places = _find_sentences(document[number - 1], sentences)
        if places:
            shown, found = number, places
            break
    sheet = document[shown - 1]
    width, height = sheet.get_size()
    # Both limits: a page much higher than wide would otherwise have too many pixels.
    scale = min(WIDTH / width, (MAX_PIXELS / (width * height)) ** 0.5)
    picture = sheet.render(scale=scale).to_pil().convert("RGB")
    own = [tuple(box[1:]) for box in boxes if int(box[0]) == shown]
    marked = _cut_margins(_mark_passage(picture, own, found, scale))
    out = io.BytesIO()
    # Pages have few colours: with a palette the file is smaller.
    marked.quantize(colors=128).save(out, "PNG", optimize=True)
    return shown, out.getvalue()


def _find_sentences(sheet: Any, sentences: Sequence[str]) -> list[tuple[float, float, float, float]]:
    """Find these sentences on a page: a rectangle a line, in points from the page's top left corner as shown.

    The text of a page differs from that of a passage in its spaces, hyphens and line ends: only letters and digits are
    compared.
    """
    from argot.corpus.readers.pdf_lines import make_place

    page, place = sheet.get_textpage(), make_place(sheet)
    text = page.get_text_range()
    places = [place for place, char in enumerate(text) if char.isalnum()]
    # Only the first character: folding can make two of one, and positions are counted by characters.
    squeezed = "".join(text[place].casefold()[:1] for place in places)
    found = []
    for sentence in sentences:
        wanted = "".join(char.casefold()[:1] for char in sentence if char.isalnum())
        # Three letters or fewer occur anywhere.
        at = squeezed.find(wanted) if len(wanted) > 3 else -1
        if at < 0:
            continue
        first, last = places[at], places[at + len(wanted) - 1]
        for index in range(page.count_rects(first, last - first + 1)):
            found.append(place(*page.get_rect(index)))
    return found


def _mark_passage(
    picture: Image,
    boxes: Sequence[tuple[float, ...]],
    sentences: Sequence[tuple[float, float, float, float]],
    scale: float,
) -> Image:
    """Draw the passage as an outline, the cited sentences as if with a highlighter."""
    from PIL import Image, ImageDraw

    layer = Image.new("RGBA", picture.size, (0, 0, 0, 0))
    pen = ImageDraw.Draw(layer)
    for box in boxes:
        x0, y0, x1, y1 = (value * scale for value in box)
        # With the sentence marked, filling the passage as well would hide it.
        pen.rounded_rectangle((x0 - 6, y0 - 6, x1 + 6, y1 + 6), 6, None if sentences else _BOX, _LINE, 2)
    for box in sentences:
        x0, y0, x1, y1 = (value * scale for value in box)
        pen.rectangle((x0 - 2, y0 - 2, x1 + 2, y1 + 2), _SENTENCE)
    return Image.alpha_composite(picture.convert("RGBA"), layer).convert("RGB")


def _cut_margins(picture: Image) -> Image:
    """Return the picture cut to the print: beside a conversation there is no room for white paper."""
    from PIL import ImageChops

    white = ImageChops.invert(picture.convert("L")).point(lambda value: 255 if value > MARGIN_SHADE else 0)
    printed = white.getbbox()
    if printed is None:
        return picture
    left, top, right, bottom = printed
    far = min(right + MARGIN, picture.width), min(bottom + MARGIN, picture.height)
    return picture.crop((max(0, left - MARGIN), max(0, top - MARGIN), *far))


if __name__ == "__main__":
    main()
