"""Slides: the title as heading, text by its levels as bullets, tables, the numbers of charts, notes and comments.

Pictures by their alternative text; if a slide has no other content, by tesseract's text.
"""

from __future__ import annotations

import io
from typing import Any

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.archives import CheckedArchive, check_archive, read_core_properties
from argot.corpus.readers.drawing_text import read_paragraphs, unwrap_alternatives
from argot.corpus.readers.image import read_picture_text
from argot.corpus.readers.ocr import is_installed
from argot.corpus.readers.office_package import (
    drop_dangling_relationships,
    repair_parts,
    translate_strict,
    warn_of_missing,
)
from argot.corpus.readers.omissions import Omissions
from argot.corpus.readers.pictures import strip_marks
from argot.corpus.readers.plain_text import name_without_suffix
from argot.corpus.readers.pptx_comments import SlideComments
from argot.corpus.readers.pptx_shapes import SlideShapes, read_title
from argot.errors import UnreadableDocument
from argot.types import PageMark, ParsedDocument

_MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
_MAX_NAMED_SLIDES = 10
_FALSE_VALUES = ("0", "false")
ONLY_PICTURES_NOTE = "This slide holds only pictures, without words."
_BLANK_PARTS = {
    "slide": b'<p:sld xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"/>',
}
_ELEMENTS_PER_SECOND = 30_000
"""python-pptx's speed."""


def read_pptx(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    """Read slides. The title comes from the properties, else the first slide, else the file name. Every slide is one
    page mark.

    Hidden slides are left out: their author did not mean them for everyone. An unreadable slide loses only that slide.
    """
    checked = check_archive(data, name, limits, elements_a_second=_ELEMENTS_PER_SECOND)
    deck, package, warnings = _open_deck(checked, name)
    slides = _Slides(deck, name, limits)
    slides.read()
    core = read_core_properties(package)
    return ParsedDocument(
        core.title or slides.first_title or name_without_suffix(name),
        "".join(slides.parts) if slides.has_text else "",
        _MEDIA_TYPE,
        pages=tuple(slides.pages),
        date=core.date,
        warnings=(*warnings, *slides.warnings()),
        fields=core.fields,
    )


def _open_deck(checked: CheckedArchive, name: str) -> tuple[Any, bytes, tuple[str, ...]]:
    """Return the deck, its package and warnings about parts left out to open it."""
    import pptx

    package, missing = drop_dangling_relationships(translate_strict(checked.data), _BLANK_PARTS)
    warnings = [*checked.warnings, *warn_of_missing(missing, checked.warnings)]
    try:
        return pptx.Presentation(io.BytesIO(package)), package, tuple(warnings)
    except Exception:
        # With one damaged part, python-pptx opens none of them.
        package, damaged = repair_parts(package)
        if not damaged:
            raise
    warnings.append(f"damaged parts were read as far as they go: {', '.join(damaged[:_MAX_NAMED_SLIDES])}")
    try:
        package, _ = drop_dangling_relationships(package, _BLANK_PARTS)
        return pptx.Presentation(io.BytesIO(package)), package, tuple(warnings)
    except Exception as error:
        named = ", ".join(damaged[:_MAX_NAMED_SLIDES])
        raise UnreadableDocument(name, f"damaged: {named} is no valid XML", "Get a complete copy of it.") from error


class _Slides:
    """The slides of a deck as Markdown, and the content found on them but not read."""

    def __init__(self, deck: Any, name: str, limits: ReadLimits) -> None:
        self._deck, self._name, self._limits = deck, name, limits
        self._omissions = Omissions()
        self._scans = limits.ocr_pages
        self._comments = SlideComments(deck)
        self._unread: list[int] = []
        self._hidden: list[int] = []
        self._failed: list[int] = []
        self.parts: list[str] = []
        self.pages: list[PageMark] = []
        self.has_text, self.first_title = False, ""

    def read(self) -> None:
        """Read every slide that is not hidden."""
        length = 0
        for number, entry in enumerate(self._deck.slides._sldIdLst, start=1):
            try:
                slide = self._deck.part.related_slide(entry.rId)
                text = self._read_slide(slide, number)
            except (UnreadableDocument, MemoryError):
                raise
            except Exception:
                self._failed.append(number)
                continue
            if text:
                self.pages.append(PageMark(length, number, "slide"))
                self.parts.append(text)
                length += len(text)
                self._limits.check_chars(length, self._name)

    def _read_slide(self, slide: Any, number: int) -> str:
        if slide._element.get("show") in _FALSE_VALUES:
            self._hidden.append(number)
            return ""
        unwrap_alternatives(slide._element)
        title = read_title(slide, self._omissions)
        # Only of the deck's first slide: any other title is that of a part.
        self.first_title = self.first_title if self.pages else title
        shapes = SlideShapes(slide, self._omissions)
        notes = [*self._read_notes(slide), *self._comments.read_comments(slide)]
        blocks = [block for block in (*shapes.read_blocks(), *notes) if block.strip()]
        marks: list[str] = []
        if any(strip_marks(block).strip() for block in blocks):
            shapes.read_kept_pictures()
        else:
            blocks, marks = [], blocks
        is_text, is_scan = bool(blocks), False
        if not blocks and (pictures := list(shapes.find_pictures())):
            blocks, self._scans = self._read_pictures(pictures), self._scans - len(pictures)
            is_scan = bool(blocks)
            self._unread += [] if blocks else [number]
            blocks = blocks or [ONLY_PICTURES_NOTE]
        if (is_text or title) and not is_scan:
            self._omissions.add("picture", shapes.pictures_without_words)
        # "Slide 3" is Argot's own heading: without other text the deck is empty.
        self.has_text = self.has_text or bool(title or (blocks and blocks != [ONLY_PICTURES_NOTE]))
        return "\n\n".join([f"# {title or f'Slide {number}'}", *blocks, *marks]) + "\n\n"

    def _read_pictures(self, pictures: list[bytes]) -> list[str]:
        """Return the text in the first pictures, as many as may be scanned; none if scans are not read."""
        if not self._limits.ocr_languages or not is_installed():
            return []
        allowed = pictures[: max(0, self._scans)]
        texts = (read_picture_text(one, self._name, self._limits) for one in allowed)
        return [text for text in texts if text.strip()]

    def _read_notes(self, slide: Any) -> list[str]:
        if not slide.has_notes_slide or slide.notes_slide.notes_text_frame is None:
            return []
        lines = read_paragraphs(slide.notes_slide.notes_text_frame._txBody, self._omissions)
        return ["**Notes:** " + "\n\n".join(lines)] if lines else []

    def warnings(self) -> tuple[str, ...]:
        """Return one sentence for each kind of thing that was not read."""
        texts = {
            "only pictures, and no text read in them: slide": self._unread,
            "hidden slides were left out:": self._hidden,
            "damaged, and not read: slide": self._failed,
        }
        listed = (f"{what} {_list_numbers(numbers)}" for what, numbers in texts.items() if numbers)
        return (*listed, *self._omissions.warnings())


def _list_numbers(numbers: list[int]) -> str:
    return f"{', '.join(map(str, numbers[:_MAX_NAMED_SLIDES]))}{' ...' if len(numbers) > _MAX_NAMED_SLIDES else ''}"
