"""Outlook's messages (.msg), turned into the form in which mail is sent (RFC 5322)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from email.header import Header
from email.message import Message
from email.mime.base import MIMEBase
from email.mime.message import MIMEMessage
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from email.utils import format_datetime, formataddr
from typing import Any

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers import mapi_properties as mapi
from argot.corpus.readers.compressed_rtf import unpack_rich_text
from argot.corpus.readers.html import decode_html
from argot.corpus.readers.mail_parts import MAX_NESTED_MESSAGES
from argot.corpus.readers.mapi_properties import PropertyBag
from argot.corpus.readers.ole_files import OleFile
from argot.errors import UnreadableDocument

_PARTS_PER_SECOND = 1_000
"""As of sent mail."""
_STORAGE = re.compile(r"(?:.*/)?(?P<own>__(?:recip|attach)_version1\.0_#[0-9A-F]{8})/")
_SIGNED_CLASS = "multipartsigned"
_MEDIA_TYPE = re.compile(r"(application|image|text|audio|video)/([\w.+-]{1,80})", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]+")
_RECIPIENT_HEADERS = {1: "To", 2: "Cc", 3: "Bcc"}
_OLE_OBJECT_NAME = "embedded object"


def convert_message(data: bytes, name: str, limits: ReadLimits) -> bytes:
    """Return the message in the form in which it is sent (RFC 5322)."""
    ole = OleFile(data, name, limits)
    if not ole.has("__properties_version1.0"):
        raise UnreadableDocument(name, "damaged: it holds no message", "Save it from Outlook again, or as .eml.")
    return _MessageMaker(ole, name, limits).make(PropertyBag(ole, "", ""), 0).as_bytes()


class _MessageMaker:
    """Messages made from the properties in one file."""

    def __init__(self, ole: OleFile, name: str, limits: ReadLimits) -> None:
        self._ole, self._name, self._limits = ole, name, limits
        self._parts = 0
        self._storages: dict[str, dict[str, None]] = {}
        for path in ole.list_streams():
            if found := _STORAGE.match(path):
                self._storages.setdefault(path[: found.start("own")], {})[found["own"]] = None

    def make(self, bag: PropertyBag, depth: int) -> Message:
        """Return one message with its attachments."""
        self._count()
        message = MIMEMultipart("mixed")
        # Its own headers are text that is already encoded, or that has to be.
        headers: Any = message
        for field, text in self._list_headers(bag):
            if text:
                headers[field] = text
        forms = list(self._read_forms(bag))
        if len(forms) > 1:
            alternative = MIMEMultipart("alternative")
            for form in forms:
                alternative.attach(form)
            forms = [alternative]
        for form in (*forms, *self._read_event(bag), *self._read_attachments(bag, depth)):
            message.attach(form)
        return message

    def _count(self) -> None:
        self._parts += 1
        self._limits.check_elements(self._parts, _PARTS_PER_SECOND, "mail", self._name)

    # -- headers ------------------------------------------------------------------------------------------------------

    def _list_headers(self, bag: PropertyBag) -> Iterator[tuple[str, str | Header]]:
        yield "Subject", _encode(bag.read_text(mapi.SUBJECT))
        author = _format_person(bag, mapi.AUTHOR_NAME, mapi.AUTHOR_SMTP, mapi.AUTHOR_ADDRESS)
        yield "From", author or _format_person(bag, mapi.SENDER_NAME, mapi.SENDER_SMTP, mapi.SENDER_ADDRESS)
        recipients: dict[str, list[str]] = {"To": [], "Cc": [], "Bcc": []}
        for path in self._list_storages(bag, "__recip"):
            person = PropertyBag(self._ole, path, "part", bag.code_page)
            field = _RECIPIENT_HEADERS.get(person.read_number(mapi.RECIPIENT_TYPE) & 0xF, "To")
            recipients[field].append(_format_person(person, mapi.NAME, mapi.SMTP, mapi.ADDRESS))
        for field, shown in (("To", mapi.DISPLAY_TO), ("Cc", mapi.DISPLAY_CC)):
            listed = ", ".join(filter(None, recipients[field]))
            yield field, listed or _encode(bag.read_text(shown))
        sent = bag.read_time(mapi.SENT) or bag.read_time(mapi.DELIVERED) or bag.read_time(mapi.CREATED)
        yield "Date", format_datetime(sent) if sent else ""
        yield "In-Reply-To", _clean(bag.read_text(mapi.IN_REPLY_TO))

    def _list_storages(self, bag: PropertyBag, begin: str) -> list[str]:
        found = self._storages.get(bag.path, {})
        return [f"{bag.path}{own}/" for own in sorted(found) if own.startswith(begin)]

    # -- text ---------------------------------------------------------------------------------------------------------

    def _read_forms(self, bag: PropertyBag) -> Iterator[Message]:
        """Yield the text of a message in each form that it has; rich text only where there is no other."""
        plain, html = bag.read_text(mapi.BODY), self._read_html(bag)
        if plain.strip():
            yield _make_text(plain, "plain")
        if html.strip():
            yield _make_text(html, "html")
        packed = bag.read_bytes(mapi.RICH_TEXT)
        if packed and not plain.strip() and not html.strip():
            from argot.corpus.readers.rtf import read_rich_text_part

            rich = unpack_rich_text(packed, self._limits.max_bytes)
            yield _make_text(read_rich_text_part(rich), "plain")

    def _read_html(self, bag: PropertyBag) -> str:
        data = bag.read_bytes(mapi.HTML)
        if data is None:
            return bag.read_text(mapi.HTML)
        page = bag.read_number(mapi.HTML_CODE_PAGE)
        declared = {65001: "utf-8", 20127: "cp1252", 28591: "cp1252"}.get(page, f"cp{page}" if page > 0 else None)
        try:
            return decode_html(data, self._name, declared)
        except (UnreadableDocument, LookupError):
            return data.decode("utf-8", "replace")

    def _read_event(self, bag: PropertyBag) -> Iterator[Message]:
        """Yield an invitation as a calendar: its times and place are in no text."""
        start, end = bag.read_time(mapi.START), bag.read_time(mapi.END)
        kind = bag.read_text(mapi.CLASS).casefold()
        if start is None or not kind.startswith(("ipm.appointment", "ipm.schedule.meeting")):
            return
        place = bag.read_text(bag.find_named(mapi.LOCATION_ID))
        lines = ["BEGIN:VCALENDAR", "BEGIN:VEVENT", f"SUMMARY:{_escape(bag.read_text(mapi.SUBJECT))}"]
        lines += [f"DTSTART:{_stamp(start)}", *([f"DTEND:{_stamp(end)}"] if end else [])]
        lines += [f"LOCATION:{_escape(place)}"] if place.strip() else []
        yield _make_text("\r\n".join([*lines, "END:VEVENT", "END:VCALENDAR", ""]), "calendar")

    # -- attachments --------------------------------------------------------------------------------------------------

    def _read_attachments(self, bag: PropertyBag, depth: int) -> Iterator[Message]:
        is_signed = bag.read_text(mapi.CLASS).casefold().endswith(_SIGNED_CLASS)
        for path in self._list_storages(bag, "__attach"):
            self._count()
            part = PropertyBag(self._ole, path, "part", bag.code_page)
            name = _clean(part.read_text(mapi.FILE_NAME) or part.read_text(mapi.SHORT_FILE_NAME))
            data = part.read_bytes(mapi.FILE_DATA)
            inner = part.get_object_path(mapi.FILE_DATA)
            if data is None and self._ole.has(f"{inner}__properties_version1.0") and depth < MAX_NESTED_MESSAGES:
                inner_bag = PropertyBag(self._ole, inner, "message", bag.code_page)
                yield MIMEMessage(self.make(inner_bag, depth + 1))
            elif data is not None and is_signed:
                from email import message_from_bytes

                yield message_from_bytes(data)
            else:
                yield _make_file(part, name or _clean(part.read_text(mapi.NAME)) or _OLE_OBJECT_NAME, data or b"")


def _make_file(part: PropertyBag, name: str, data: bytes) -> Message:
    from email.encoders import encode_base64

    found = _MEDIA_TYPE.fullmatch(part.read_text(mapi.FILE_TYPE).strip())
    # Its own ending tells the kind of any other file.
    is_shown = found is not None and found[1].lower() in ("image", "application")
    made = (
        MIMEBase(*(found[1], found[2])) if found is not None and is_shown else MIMEBase("application", "octet-stream")
    )
    made.set_payload(data)
    encode_base64(made)
    made.add_header("Content-Disposition", "attachment", filename=("utf-8", "", name))
    if identity := _clean(part.read_text(mapi.CONTENT_ID)).strip("<>"):
        made["Content-ID"] = f"<{identity}>"
    return made


def _make_text(text: str, kind: str) -> Message:
    return MIMEText(re.sub("[\ud800-\udfff]", "�", text), kind, "utf-8")


def _format_person(bag: PropertyBag, name: int, smtp: int, address: int) -> str:
    """Return a person as "Ann Lee <ann@example.org>"; without the address if it is only Outlook's own."""
    name_text = _clean(bag.read_text(name)).strip("'")
    mail = next((one for key in (smtp, address) if "@" in (one := _clean(bag.read_text(key)))), "")
    mail = mail if mail.isascii() and not re.search(r'[\s<>",;()]', mail) else ""
    if not mail:
        return str(_encode(name_text)) if name_text else ""
    return formataddr((name_text if name_text != mail else "", mail))


def _encode(text: str) -> Header | str:
    cleaned = _clean(text)
    return cleaned if cleaned.isascii() and len(cleaned) < 900 else Header(cleaned, "utf-8") if cleaned else ""


def _clean(text: str) -> str:
    return " ".join(_CONTROL.sub(" ", text).split())


def _escape(text: str) -> str:
    return re.sub(r"([\\;,])", r"\\\1", _clean(text))


def _stamp(moment: datetime) -> str:
    return moment.strftime("%Y%m%dT%H%M%SZ")
