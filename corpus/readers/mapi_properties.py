"""Properties of Outlook's messages (MS-OXMSG): texts, numbers, times and bytes, by their numbers."""

from __future__ import annotations

import struct
from datetime import UTC, datetime, timedelta

from argot.corpus.readers.ole_files import OleFile, decode_code_page

SUBJECT, BODY, HTML, RICH_TEXT, CLASS = 0x0037, 0x1000, 0x1013, 0x1009, 0x001A
SENDER_NAME, SENDER_ADDRESS, SENDER_SMTP = 0x0C1A, 0x0C1F, 0x5D01
AUTHOR_NAME, AUTHOR_ADDRESS, AUTHOR_SMTP = 0x0042, 0x0065, 0x5D02
DISPLAY_TO, DISPLAY_CC, RECIPIENT_TYPE = 0x0E04, 0x0E03, 0x0C15
NAME, ADDRESS, SMTP = 0x3001, 0x3003, 0x39FE
SENT, DELIVERED, CREATED, START, END = 0x0039, 0x0E06, 0x3007, 0x0060, 0x0061
IN_REPLY_TO, HEADERS, CODE_PAGE, HTML_CODE_PAGE = 0x1042, 0x007D, 0x3FFD, 0x3FDE
FILE_NAME, SHORT_FILE_NAME, FILE_DATA, FILE_TYPE, CONTENT_ID = 0x3707, 0x3704, 0x3701, 0x370E, 0x3712
LOCATION_ID = 0x8208
"""The named property with the place of an appointment."""
_PROPERTIES = "__properties_version1.0"
_NAMES = "__nameid_version1.0/__substg1.0_00030102"
_TEXT, _TEXT_8, _BYTES, _OBJECT, _TIME, _LONG = "001F", "001E", "0102", "000D", 0x0040, 0x0003
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
_HEADER_BYTES = {"": 32, "message": 24, "part": 8}


class PropertyBag:
    """The properties of a message, a recipient or an attachment. `path`: its storage, with a slash behind it.

    `kind`: "" for the file's own message, "message" for one within it, "part" for a recipient or an attachment.
    """

    def __init__(self, ole: OleFile, path: str, kind: str, code_page: int = 1252) -> None:
        self._ole, self.path = ole, path
        self._fixed = dict(_parse_fixed((ole.read(f"{path}{_PROPERTIES}") or b"")[_HEADER_BYTES[kind] :]))
        self.code_page = self.read_number(CODE_PAGE) or code_page

    def read_text(self, number: int) -> str:
        """Return a text; "" if there is none."""
        if (wide := self._read(number, _TEXT)) is not None:
            return wide.decode("utf-16-le", "replace").rstrip("\0")
        narrow = self._read(number, _TEXT_8)
        return decode_code_page(narrow, self.code_page).rstrip("\0") if narrow is not None else ""

    def read_bytes(self, number: int) -> bytes | None:
        return self._read(number, _BYTES)

    def read_number(self, number: int) -> int:
        """Return a whole number; 0 if there is none."""
        kind, value = self._fixed.get(number, (0, b""))
        return int(struct.unpack("<i", value[:4])[0]) if kind == _LONG else 0

    def read_time(self, number: int) -> datetime | None:
        kind, value = self._fixed.get(number, (0, b""))
        ticks = struct.unpack("<q", value)[0] if kind == _TIME else 0
        try:
            return _EPOCH + timedelta(microseconds=ticks // 10) if ticks > 0 else None
        except OverflowError:
            return None

    def find_named(self, identity: int) -> int:
        """Return the number by which this file stores a property that has an identity of its own; 0 for none."""
        names = self._ole.read(_NAMES) or b""
        for at in range(0, len(names) - 7, 8):
            found, kind, index = struct.unpack_from("<IHH", names, at)
            if found == identity and not kind & 1:
                return 0x8000 + int(index)
        return 0

    def has_object(self, number: int) -> bool:
        """Return whether the property is a message or an object of its own."""
        return self._ole.has(f"{self.path}__substg1.0_{number:04X}{_OBJECT}")

    def get_object_path(self, number: int) -> str:
        return f"{self.path}__substg1.0_{number:04X}{_OBJECT}/"

    def _read(self, number: int, kind: str) -> bytes | None:
        return self._ole.read(f"{self.path}__substg1.0_{number:04X}{kind}") if number else None


def _parse_fixed(data: bytes) -> list[tuple[int, tuple[int, bytes]]]:
    entries = (data[at : at + 16] for at in range(0, len(data) - 15, 16))
    return [(struct.unpack_from("<H", one, 2)[0], (struct.unpack_from("<H", one)[0], one[8:])) for one in entries]
