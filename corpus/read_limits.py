"""Limits on a file's size, length, time and parts, and refusals that name the setting to raise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from argot.errors import UnreadableDocument
from argot.settings import Settings

Lane = Literal["documents", "attachments"]
"""Managers' documents, and files of people's own conversations: neither waits for the other."""

ALWAYS_READ_BYTES = 50_000
"""Elements of a file that is read even with little time: an Office template alone has some thousands."""
MAX_PICTURES_BYTES = 40_000_000
"""Bytes of all pictures of one file, as they are stored."""
_MEGABYTE = 1_000_000
# Far above the needs of ordinary documents; they stop files made of empty lines or one-word blocks.
_LINES_A_PASSAGE = 100
_BLOCKS_A_PASSAGE = 20
_WINDOWS_A_PASSAGE = 4
# Every asker may send files, and while one is read others wait for their turn.
_ATTACHMENT_SECONDS = 20
_ATTACHMENT_MEMORY_MB = 1024
_ATTACHMENT_OCR_PAGES = 5


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """Bytes of the file (tenfold for the unpacked content of an archive), characters of its text, seconds, megabytes.

    `max_passages` limits the later cost of a document: rows, vectors, and minutes of embedding. Scans are read in
    `ocr_languages` (as tesseract names them; empty: not at all), up to `ocr_pages` of a file, outside `seconds`.
    """

    max_bytes: int = 100 * _MEGABYTE
    max_text_chars: int = 20_000_000
    seconds: float = 60
    memory_mb: int = 2048
    max_passages: int = 50_000
    lane: Lane = "documents"
    ocr_languages: str = "eng"
    ocr_pages: int = 100
    align_extractions: bool = False
    """Recognise every page of a PDF, and align its own text with what is seen; else only pages with broken text."""
    depth: int = 0
    """Nesting depth of the file: 1 for an attachment of the file that was sent."""

    @classmethod
    def from_settings(cls, settings: Settings) -> ReadLimits:
        return cls(
            max_bytes=int(settings.limits.max_file_mb * _MEGABYTE),
            max_text_chars=settings.limits.max_text_chars,
            seconds=settings.limits.parse_seconds,
            memory_mb=settings.limits.parse_memory_mb,
            max_passages=settings.limits.max_passages,
            ocr_languages=settings.reading.ocr_languages,
            ocr_pages=settings.reading.ocr_pages,
            align_extractions=settings.reading.align_extractions,
        )

    @classmethod
    def of_attachments(cls, settings: Settings) -> ReadLimits:
        """Return the limits for files that anybody may send, in any number: never higher than for documents."""
        return cls(
            max_bytes=int(settings.limits.max_file_mb * _MEGABYTE),
            max_text_chars=settings.limits.max_text_chars,
            seconds=min(settings.limits.parse_seconds, _ATTACHMENT_SECONDS),
            memory_mb=min(settings.limits.parse_memory_mb, _ATTACHMENT_MEMORY_MB),
            max_passages=min(settings.limits.max_attachment_passages, settings.limits.max_passages),
            lane="attachments",
            ocr_languages=settings.reading.ocr_languages,
            ocr_pages=min(settings.reading.ocr_pages, _ATTACHMENT_OCR_PAGES),
        )

    @property
    def max_unpacked_bytes(self) -> int:
        # The XML of an Office file compresses to about a tenth; much higher ratios are deliberate.
        return 10 * self.max_bytes

    @property
    def max_lines(self) -> int:
        """The maximum lines of Markdown: each costs time to cut, however short it is."""
        return _LINES_A_PASSAGE * self.max_passages

    @property
    def max_blocks(self) -> int:
        """Headings, paragraphs, lists and tables: memory of cutting, which passages alone do not bound."""
        return _BLOCKS_A_PASSAGE * self.max_passages

    @property
    def max_windows(self) -> int:
        """The maximum windows to embed: of passages, triples and derived texts."""
        return _WINDOWS_A_PASSAGE * self.max_passages

    @property
    def max_answer_bytes(self) -> int:
        """The maximum bytes that a reading process may send back."""
        return 8 * self.max_text_chars + MAX_PICTURES_BYTES + 16 * _MEGABYTE

    def check_size(self, size: int, name: str) -> None:
        if not size:
            raise UnreadableDocument(name, "empty")
        if size > self.max_bytes:
            reason = f"too large: {_format_megabytes(size)} MB, the limit is {_format_megabytes(self.max_bytes)} MB"
            raise UnreadableDocument(name, reason, self.remedy("MAX_FILE_MB"))

    def check_chars(self, count: int, name: str) -> None:
        if count > self.max_text_chars:
            reason = f"too much text: more than {self.max_text_chars:,} characters"
            raise UnreadableDocument(name, reason, self.remedy("MAX_TEXT_CHARS"))

    def check_elements(self, count: int, a_second: int, kind: str, name: str) -> None:
        """Refuse work that would take too long, before it begins. By a count and not a clock: the same on every
        machine.
        """
        allowed = ALWAYS_READ_BYTES + int(self.seconds * a_second)
        if count > allowed:
            what = f"more than {allowed:,} {kind} elements, too many to read in {self.seconds:g} seconds"
            raise UnreadableDocument(name, f"too large: it holds {what}", self.remedy("PARSE_SECONDS"))

    def check_markup(self, size: int, a_second: int, kind: str, name: str) -> None:
        """Check the same for bytes: elements can be few and long."""
        # 100 bytes per element, the average for the readers.
        allowed = 100 * ALWAYS_READ_BYTES + int(self.seconds * a_second)
        if size > allowed:
            what = f"more than {allowed // _MEGABYTE:,} MB of {kind}, too much to read in {self.seconds:g} seconds"
            raise UnreadableDocument(name, f"too large: it holds {what}", self.remedy("PARSE_SECONDS"))

    def check_lines(self, text: str, name: str) -> None:
        if text.count("\n") > self.max_lines:
            raise UnreadableDocument(name, f"cut too finely: more than {self.max_lines:,} lines", self._fewer_passages)

    def check_blocks(self, count: int, name: str) -> None:
        if count > self.max_blocks:
            what = f"more than {self.max_blocks:,} headings, paragraphs, lists and tables"
            raise UnreadableDocument(name, f"cut too finely: {what}", self._fewer_passages)

    def check_passages(self, count: int, name: str) -> None:
        if count > self.max_passages:
            reason = f"too long: more than {self.max_passages:,} passages"
            raise UnreadableDocument(name, reason, self._fewer_passages)

    def check_windows(self, count: int, name: str) -> None:
        if count > self.max_windows:
            reason = f"too much to embed: more than {self.max_windows:,} pieces of text"
            raise UnreadableDocument(name, reason, self._fewer_passages)

    def build_time_error(self, name: str) -> UnreadableDocument:
        reason = f"took longer than {self.seconds:g} seconds to read"
        return UnreadableDocument(name, reason, self.remedy("PARSE_SECONDS"))

    def build_memory_error(self, name: str) -> UnreadableDocument:
        reason = f"took more than {self.memory_mb} MB of memory to read"
        return UnreadableDocument(name, reason, self.remedy("PARSE_MEMORY_MB"))

    def remedy(self, setting: str) -> str:
        # A person who sends a file into a conversation cannot change settings.
        if self.lane == "attachments":
            return "Split it, or have it put among the documents, where the limits are higher."
        return f"Set ARGOT_{setting} to allow more, or split the file."

    @property
    def _fewer_passages(self) -> str:
        if self.lane == "attachments":
            return f"{self.remedy('')} Setting: ARGOT_MAX_ATTACHMENT_PASSAGES."
        return self.remedy("MAX_PASSAGES")


def _format_megabytes(size: int) -> str:
    return f"{size / _MEGABYTE:,.2f}".rstrip("0").rstrip(".")
