"""Outlook's messages (.msg), read as mail that was sent."""

from __future__ import annotations

from dataclasses import replace

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.mail import read_mail
from argot.corpus.readers.msg_conversion import convert_message
from argot.corpus.readers.ole_files import OLE_MAGIC
from argot.errors import UnreadableDocument
from argot.types import ParsedDocument

MEDIA_TYPE = "application/vnd.ms-outlook"


def read_msg(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    """Read a message with its attachments, as `read_mail` reads one that was sent.

    Raises:
        UnreadableDocument: damaged, no message, or without sender, date and subject.
    """
    if not data.startswith(OLE_MAGIC):
        raise UnreadableDocument(name, "no message of Outlook", "Save it from Outlook again, or as .eml.")
    return replace(read_mail(convert_message(data, name, limits), name, limits), media_type=MEDIA_TYPE)
