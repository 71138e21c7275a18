"""Headers of mail as text, with common errors of mail programs corrected."""

from __future__ import annotations

import base64
import re
from email import message_from_bytes
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import EmailMessage, MIMEPart
from email.policy import EmailPolicy
from typing import Any, cast

from argot.corpus.readers.plain_text import decode_bytes, restore_windows_characters

_ENCODED_WORDS = re.compile(r"=\?[\w.*:-]{1,60}\?[bBqQ]\?[^?\n]*\?=(?:\s*=\?[\w.*:-]{1,60}\?[bBqQ]\?[^?\n]*\?=)*")
# Bytes that are no ASCII, as Python's parser keeps them in text.
_RAW_BYTES = re.compile("[\udc80-\udcff]+")


class ReadableHeaders(EmailPolicy):
    """The default policy, for headers in windows-1252 under another name and for raw bytes without a declared
    encoding.
    """

    def header_fetch_parse(self, name: str, value: str) -> Any:
        return super().header_fetch_parse(name, value if hasattr(value, "name") else _repair_header(str(value)))


POLICY = ReadableHeaders(refold_source="none")


def parse_message(data: bytes) -> EmailMessage:
    return cast("EmailMessage", message_from_bytes(data, policy=POLICY))


def read_header(part: MIMEPart, field: str) -> str:
    try:
        value = part.get(field)
    except Exception:  # a broken header can make the parser raise any error; the message is read without it
        return ""
    return " ".join(restore_windows_characters(str(value or "")).split())


def read_file_name(part: MIMEPart) -> str:
    """Return the name of the attachment; empty if it has none."""
    try:
        name = part.get_filename() or ""
    except Exception:  # as above
        return ""
    return " ".join(restore_windows_characters(name).split())


def read_sent_date(message: EmailMessage) -> str | None:
    try:
        sent = message["Date"].datetime
    except Exception:  # none, or one that is no date
        return None
    return sent.date().isoformat() if sent else None


def _repair_header(value: str) -> str:
    value = _ENCODED_WORDS.sub(_convert_to_utf8, value)
    return _RAW_BYTES.sub(lambda raw: _decode(raw[0].encode("ascii", "surrogateescape"), "windows-1252"), value)


def _convert_to_utf8(words: re.Match[str]) -> str:
    """Return encoded words as one in UTF-8: a character may begin in one word and end in the next."""
    try:
        text = "".join(
            _decode(part, charset) if isinstance(part, bytes) else part for part, charset in decode_header(words[0])
        )
    except (HeaderParseError, ValueError):
        return words[0]
    return f"=?utf-8?b?{base64.b64encode(text.encode('utf-8', 'replace')).decode()}?="


def _decode(data: bytes, charset: str | None) -> str:
    return restore_windows_characters(decode_bytes(data, charset))
