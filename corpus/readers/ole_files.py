"""Compound files (OLE), in which Office before 2007 and Outlook keep their streams."""

from __future__ import annotations

import io
from typing import Any

from argot.corpus.read_limits import ReadLimits
from argot.errors import UnreadableDocument

OLE_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_STREAMS = ("EncryptedPackage", "EncryptionInfo", "\x06DataSpaces")


class OleFile:
    """A compound file opened for reading. All that is read of it counts towards one limit."""

    def __init__(self, data: bytes, name: str, limits: ReadLimits) -> None:
        """Open the file.

        Raises:
            UnreadableDocument: it is damaged, or encrypted as a whole.
        """
        import olefile  # type: ignore[import-untyped]

        self._name, self._limits, self._size = name, limits, 0
        try:
            self._file: Any = olefile.OleFileIO(io.BytesIO(data))
        except Exception as error:  # olefile raises several kinds on damaged files
            raise UnreadableDocument(name, "damaged or cut off: not a complete Office file") from error
        if any(self._file.exists(stream) for stream in _ENCRYPTED_STREAMS):
            reason = "encrypted: it is protected by a password or by rights management"
            raise UnreadableDocument(name, reason, "Save it without protection.")

    def has(self, path: str) -> bool:
        return bool(self._file.exists(path))

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a stream; None if there is no such stream or it is damaged."""
        if not self._file.exists(path) or self._file.get_type(path) != 2:
            return None
        self._size += int(self._file.get_size(path))
        if self._size > self._limits.max_unpacked_bytes:
            reason = f"too large: its parts are more than {self._limits.max_unpacked_bytes // 1_000_000:,} MB"
            raise UnreadableDocument(self._name, reason, self._limits.remedy("MAX_FILE_MB"))
        try:
            return bytes(self._file.openstream(path).read())
        except OSError:
            return None

    def list_streams(self) -> list[str]:
        """Return the paths of all streams, parted by slashes."""
        return ["/".join(parts) for parts in self._file.listdir(streams=True, storages=False)]

    def read_properties(self) -> dict[str, Any]:
        """Return title, author, keywords and the date of the last change, as far as the file gives them."""
        try:
            found = self._file.get_metadata()
        except Exception:  # damaged properties do not make a file unreadable
            return {}
        page = getattr(found, "codepage", None) or 1252
        texts = {
            "title": found.title, "creator": found.author, "keywords": found.keywords, "category": found.category,
        }  # fmt: skip
        properties: dict[str, Any] = {name: decode_property(text, page) for name, text in texts.items()}
        dates = (found.last_saved_time, found.create_time)
        properties["date"] = next(
            (one.date().isoformat() for one in dates if one is not None and one.year > 1900), None
        )
        return properties


def decode_property(value: Any, code_page: int) -> str:
    """Return the text of a property, which is in the code page of the program that wrote it."""
    if isinstance(value, str):
        return value.strip("\0 ")
    if not isinstance(value, bytes):
        return ""
    return decode_code_page(value, code_page & 0xFFFF).partition("\0")[0].strip()


def decode_code_page(data: bytes, code_page: int) -> str:
    """Return bytes in a code page of Windows as text."""
    names = {65001: "utf-8", 1200: "utf-16-le", 10000: "mac-roman", 20127: "ascii", 28591: "cp1252", 936: "gb18030"}
    try:
        return data.decode(names.get(code_page, f"cp{code_page}"), "replace")
    except LookupError:
        return data.decode("cp1252", "replace")
