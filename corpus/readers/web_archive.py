"""Web pages saved as one file (.mht), also under the names ".doc" and ".xls", as Confluence and Excel export them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from email import message_from_bytes, policy
from email.message import EmailMessage
from urllib.parse import urljoin

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.html import decode_html, read_html
from argot.corpus.readers.html_media import LoadPicture, decode_data_address
from argot.corpus.readers.mail import PARTS_PER_SECOND, read_mail
from argot.corpus.readers.omissions import Omissions
from argot.errors import UnreadableDocument
from argot.types import ParsedDocument

MEDIA_TYPE = "multipart/related"
_UTF8_MARK = b"\xef\xbb\xbf"


def read_web_archive(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    """Read the first page of the archive; a file in the same form without a page is a mail.

    Raises:
        UnreadableDocument: it holds neither a page nor a mail.
    """
    message = message_from_bytes(data.lstrip(), policy=policy.default)
    parts = list(message.walk())
    limits.check_elements(len(parts), PARTS_PER_SECOND, "mail", name)
    page = next((one for one in parts if one.get_content_type() == "text/html"), None)
    content = page.get_payload(decode=True) if page is not None else None
    if page is None or not isinstance(content, bytes) or not content.strip():
        if message.get("From") or message.get("Date"):
            return read_mail(data, name, limits)
        raise UnreadableDocument(name, "no web archive: it holds no page", "Save the page as .html.")
    html = decode_html(content, name, page.get_content_charset())
    load = _make_loader(parts, str(page.get("Content-Location") or ""))
    parsed = read_html(_UTF8_MARK + html.encode("utf-8", "replace"), name, limits, load)
    omissions = Omissions()
    others = sum(one.get_content_type() == "text/html" for one in parts) - 1
    omissions.add("page of a frame", others)
    return replace(parsed, media_type=MEDIA_TYPE, warnings=(*parsed.warnings, *omissions.warnings()))


def _make_loader(parts: Sequence[EmailMessage], page: str) -> LoadPicture:
    """Return a function that loads a picture or a style sheet by its address in the page, or by its number."""
    named = {str(one.get("Content-Location") or "").strip(): one for one in parts}
    named |= {f"cid:{str(one.get('Content-ID')).strip('<> ')}": one for one in parts if one.get("Content-ID")}

    def load(address: str) -> bytes | None:
        try:
            part = named.get(address) or named.get(urljoin(page, address))
        except ValueError:  # no address at all
            return None
        data = part.get_payload(decode=True) if part is not None and address else None
        return data if isinstance(data, bytes) else decode_data_address(address)

    return load
