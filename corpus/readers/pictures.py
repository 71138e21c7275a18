"""Pictures that the readers find in a file, collected on one shelf.

A reader gives each picture to the shelf and writes the returned mark into its text, where the picture stands. When the
whole file is Markdown, `picture_places` replaces the marks by the words in the pictures. Without a shelf, as where a
reader is called by itself, pictures are only counted.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from argot.corpus.document_ids import hash_content
from argot.corpus.read_limits import MAX_PICTURES_BYTES, ReadLimits
from argot.corpus.readers.metafile_pictures import INSTALL_HINT, is_metafile
from argot.corpus.readers.metafile_pictures import is_installed as can_draw_metafiles
from argot.corpus.readers.picture_files import (
    PictureFile,
    is_banner,
    is_decoration,
    is_vector,
    open_picture,
    write_picture,
)
from argot.errors import UnreadableDocument
from argot.types import Box

MAX_PICTURES = 300
_MIN_SHOWN_POINTS = 70.8
"""2.5 cm: a picture shown smaller in one direction is a symbol, a bullet or a rule."""
_MIN_STRIP_POINTS = 250.0
"""A picture that is longer may be a flow chart from left to right, or a banner: it is shown if it has a caption."""
_SMALL_SHOWN_POINTS = 160.0
"""A picture shown smaller than this is a decoration if it is repeated at all."""
_MIN_REPEATED = 3
"""Places with the same picture from which it is a decoration, such as a logo on each page."""
_MIN_READ_PIXELS = (100, 40)
"""Width and height below which no words are looked for."""
_BEGIN, _END = "\ufdd2", "\ufdd3"
"""Characters that Unicode reserves for such use within a program."""
_MAX_DRAWN = 100
"""Vector pictures of a file that are drawn, each in a process of its own, which may take seconds."""
_ANY_MARK = re.compile(f"{_BEGIN}[0-9a-f]{{16}}x[0-9]{{1,6}}{_END}")


@dataclass(slots=True)
class ShelvedPicture:
    """A picture that was kept. `mark` stands for it in the text; `words`: the text that was read in it.

    `caption`: as the file's format gives it; empty where only the text beside it can tell. `is_text`: the text of the
    file has the words as well, so that they are not added to it. `is_strip`: it is as long as a banner, and without a
    caption a decoration.
    """

    mark: str
    file: PictureFile
    content_hash: str
    words: str
    alternative: str = ""
    caption: str = ""
    box: Box | None = None
    shown_points: float = 0.0
    is_text: bool = False
    is_strip: bool = False

    @property
    def is_told(self) -> bool:
        """True if the words in it are known, or do not matter."""
        return bool(self.words) or self.is_strip


@dataclass(slots=True)
class _Budget:
    read: int
    drawn: int = field(default_factory=lambda: _MAX_DRAWN)
    bytes: int = MAX_PICTURES_BYTES
    counts: Counter[str] = field(default_factory=Counter)


class PictureShelf:
    """The pictures of one file, also of files within it."""

    def __init__(self, data: bytes, name: str, limits: ReadLimits) -> None:
        # Derived from the file's own bytes, so that no file can contain such a mark.
        self._key = hashlib.sha256(data).hexdigest()[:16]
        self._name, self._limits = name, limits
        self._budget = _Budget(limits.ocr_pages)
        self._words: dict[str, str] = {}
        self._files: dict[str, PictureFile | None] = {}
        self._undrawn: set[str] = set()
        self._left_out = 0
        self._kept: list[ShelvedPicture] = []

    def add(
        self,
        data: bytes,
        *,
        alternative: str = "",
        caption: str = "",
        shown: tuple[float, float] = (0.0, 0.0),
        box: Box | None = None,
        is_read: bool = True,
        is_small_kept: bool = False,
        words: str | None = None,
    ) -> ShelvedPicture | None:
        """Keep a picture; None if it is a decoration, cannot be decoded, or exceeds the limits of a file.

        Args:
            data: as the file holds it, in any format.
            shown: width and height in points in which the file shows it; 0: unknown.
            is_read: look for words in it.
            is_small_kept: keep it even if it is shown as small as a symbol.
            words: the words in it, where the text of the file has them; none are looked for then.
        """
        is_small = not is_small_kept and min(shown) < _MIN_SHOWN_POINTS and max(shown) > 0
        if (is_small and max(shown) < _MIN_STRIP_POINTS) or len(self._kept) >= MAX_PICTURES:
            return None
        raw_hash = hashlib.sha256(data).hexdigest()
        if raw_hash not in self._files:
            self._files[raw_hash] = self._make_file(data)
        file = self._files[raw_hash]
        if file is None or len(file.data) > self._budget.bytes:
            return None
        content_hash = hash_content(file.data)
        self._budget.bytes -= len(file.data) if content_hash not in self._budget.counts else 0
        self._budget.counts[content_hash] += 1
        found = words if words is not None else self.read_words(data) if is_read else ""
        mark = f"{_BEGIN}{self._key}x{len(self._kept)}{_END}"
        kept = ShelvedPicture(
            mark,
            file,
            content_hash,
            found,
            alternative,
            caption,
            box,
            min(shown),
            is_text=words is not None,
            is_strip=is_small or is_banner(file),
        )
        self._kept.append(kept)
        return kept

    def read_words(self, data: bytes) -> str:
        """Return the text in a picture, a line for each; empty where scans are not read. Each is read once."""
        from argot.corpus.readers.ocr import is_installed

        key = hashlib.sha256(data).hexdigest()
        if key in self._words or not self._limits.ocr_languages or self._budget.read <= 0 or not is_installed():
            return self._words.get(key, "")
        self._budget.read -= 1
        self._words[key] = self._recognize(data)
        return self._words[key]

    def is_undrawn(self, data: bytes) -> bool:
        """Return whether this picture is a metafile that could not be drawn: `list_warnings` reports it."""
        return hashlib.sha256(data).hexdigest() in self._undrawn

    def list_warnings(self) -> tuple[str, ...]:
        """Return a warning each of the metafiles that could not be drawn and of the SVG beyond the limit of a file."""
        warnings = []
        if count := len(self._undrawn):
            pictures, were = ("picture", "was") if count == 1 else ("pictures", "were")
            hint = "" if can_draw_metafiles() else f". {INSTALL_HINT}"
            warnings.append(f"{count:,} {pictures} in EMF or WMF {were} not read{hint}")
        if self._left_out:
            warnings.append(f"of the SVG pictures only the first {_MAX_DRAWN} are shown, {self._left_out:,} are not")
        return (*warnings,)

    def find(self, markdown: str) -> Iterator[tuple[int, int, ShelvedPicture]]:
        """Yield start and end of each mark of this shelf in the text, and its picture."""
        for found in _ANY_MARK.finditer(markdown):
            key, _, number = found[0][1:-1].partition("x")
            if key == self._key and int(number) < len(self._kept):
                yield found.start(), found.end(), self._kept[int(number)]

    def is_repeated(self, picture: ShelvedPicture) -> bool:
        """Return whether a picture is repeated as a decoration is."""
        often = 2 if 0 < picture.shown_points < _SMALL_SHOWN_POINTS else _MIN_REPEATED
        return self._budget.counts[picture.content_hash] >= often

    def _make_file(self, data: bytes) -> PictureFile | None:
        is_allowed = True
        if is_vector(data):
            self._budget.drawn -= 1
            is_allowed = self._budget.drawn >= 0
        picture = open_picture(data) if is_allowed else None
        if picture is None and is_metafile(data):
            self._undrawn.add(hashlib.sha256(data).hexdigest())
        elif not is_allowed:
            self._left_out += 1
        return None if picture is None or is_decoration(picture) else write_picture(picture)

    def _recognize(self, data: bytes) -> str:
        from argot.corpus.readers.picture_words import read_picture_words

        # A vector picture was drawn already.
        file = self._files.get(hashlib.sha256(data).hexdigest()) if is_vector(data) else None
        picture = open_picture(file.data if file else data)
        if picture is None or picture.width < _MIN_READ_PIXELS[0] or picture.height < _MIN_READ_PIXELS[1]:
            return ""
        try:
            return read_picture_words(picture, self._name, self._limits)
        except UnreadableDocument:  # tesseract takes too long for it: the rest of the file is read all the same
            return ""


_SHELF: ContextVar[PictureShelf | None] = ContextVar("_SHELF", default=None)


def get_shelf() -> PictureShelf | None:
    """Return the shelf of the file that is being read; None outside `use_shelf`."""
    return _SHELF.get()


@contextmanager
def use_shelf(shelf: PictureShelf) -> Iterator[None]:
    """Collect the pictures of the files that are read within on this shelf."""
    token = _SHELF.set(shelf)
    try:
        yield
    finally:
        _SHELF.reset(token)


def shelve_picture(
    data: bytes | None,
    *,
    alternative: str = "",
    caption: str = "",
    shown: tuple[float, float] = (0.0, 0.0),
    words: str | None = None,
) -> tuple[str, bool]:
    """Give a picture to the shelf, if there is one; return its mark, or "", and whether words were read in it, or the
    shelf reports that none could be.
    """
    shelf = get_shelf()
    if shelf is None or not data:
        return "", False
    kept = shelf.add(data, alternative=alternative, caption=caption, shown=shown, words=words)
    return (kept.mark, kept.is_told) if kept else ("", shelf.is_undrawn(data))


def strip_marks(text: str) -> str:
    """Return the text without the marks of pictures."""
    return _ANY_MARK.sub("", text) if _BEGIN in text else text
