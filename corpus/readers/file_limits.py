"""How large, long and slow a file may be, and the refusals that say which setting raises the limit."""

from __future__ import annotations

from dataclasses import dataclass

from argot.errors import UnreadableDocument
from argot.settings import Settings

_MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """Bytes of the file (and of what an archive unpacks to, tenfold), characters of its text, seconds, megabytes."""

    max_bytes: int = 100 * _MEGABYTE
    max_text_chars: int = 20_000_000
    seconds: float = 60
    memory_mb: int = 2048

    @classmethod
    def from_settings(cls, settings: Settings) -> ReadLimits:
        return cls(
            max_bytes=int(settings.max_file_mb * _MEGABYTE),
            max_text_chars=settings.max_text_chars,
            seconds=settings.parse_seconds,
            memory_mb=settings.parse_memory_mb,
        )

    @property
    def max_unpacked_bytes(self) -> int:
        return 10 * self.max_bytes

    def check_size(self, data: bytes, name: str) -> None:
        if not data:
            raise UnreadableDocument(name, "empty")
        if len(data) > self.max_bytes:
            raise UnreadableDocument(
                name,
                f"too large: {_megabytes(len(data))} MB, the limit is {_megabytes(self.max_bytes)} MB",
                "Set ARGOT_MAX_FILE_MB to allow larger files.",
            )

    def check_text(self, text: str, name: str) -> None:
        if len(text) > self.max_text_chars:
            raise UnreadableDocument(
                name,
                f"too much text: {len(text):,} characters, the limit is {self.max_text_chars:,}",
                "Set ARGOT_MAX_TEXT_CHARS to allow more, or split the file.",
            )


def _megabytes(size: int) -> str:
    return f"{size / _MEGABYTE:,.2f}".rstrip("0").rstrip(".")
