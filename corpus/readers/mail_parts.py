"""The parts of a message, sorted: texts in order, calendars, messages passed on, files, and what cannot be read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from email.message import EmailMessage, MIMEPart
from typing import cast

from argot.corpus.readers.html import decode_html, parse_body
from argot.corpus.readers.html_visibility import remove_unseen
from argot.corpus.readers.mail_headers import POLICY, parse_message, read_file_name
from argot.corpus.readers.plain_text import decode_text
from argot.errors import UnreadableDocument

MAX_NESTED_MESSAGES = 20
"""Messages within messages that are read."""
_CALENDAR_TYPES = ("text/calendar", "application/ics")
_ENCRYPTED_TYPES = ("multipart/encrypted", "application/pgp-encrypted")
_SMIME_TYPES = ("application/pkcs7-mime", "application/x-pkcs7-mime")
_SIGNATURE_TYPES = ("application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature")
_REPORT_TYPES = ("message/delivery-status", "message/disposition-notification", "message/feedback-report")
_READ_TEXT_TYPES = ("text/plain", "text/html", "text/rfc822-headers")
_TRANSFER_ENCODINGS = ("base64", "quoted-printable")
_NO_HTML_NOTICE = re.compile(
    r".{0,200}\b(?:html|rich text|multi-?part|mime)\b"
    r".{0,200}\b(?:support|view|display|read|client|browser|reader|program|viewer)"
    r"|.{0,200}\b(?:support|view|display|client|browser|reader)\b.{0,200}\b(?:html|mime)\b",
    re.IGNORECASE | re.DOTALL,
)
_MAX_NOTICE_CHARS = 300  # characters
_MIN_PLAIN_SHARE = 2 / 3
"""Share of the HTML's words: a plain form with fewer omits something."""
_WORD = re.compile(r"[^\W_]+")
_ADDRESS = re.compile(r"(?:https?://|mailto:|www\.)\S+", re.IGNORECASE)
_TEXT_NAME = "the text of a mail"


@dataclass(slots=True)
class MailParts:
    """`unread`: kinds of parts that cannot be read, as a person names them."""

    texts: list[MIMEPart] = field(default_factory=list)
    calendars: list[MIMEPart] = field(default_factory=list)
    reports: list[MIMEPart] = field(default_factory=list)
    messages: list[EmailMessage] = field(default_factory=list)
    files: list[MIMEPart] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)


def sort_parts(message: MIMEPart) -> MailParts:
    """Sort the parts of one message; messages that it passes on are not opened."""
    found = MailParts()
    _sort(message, found)
    return found


def decode_payload(part: MIMEPart) -> bytes:
    data = part.get_payload(decode=True)
    return data if isinstance(data, bytes) else b""


def _sort(part: MIMEPart, found: MailParts) -> None:
    kind = part.get_content_type()
    if kind in _ENCRYPTED_TYPES:
        found.unread.append("encrypted text")
    elif kind in _SMIME_TYPES:
        signed = "signed" in str(part.get_param("smime-type") or "")
        found.unread.append("S/MIME-signed text" if signed else "encrypted text")
    elif kind in _SIGNATURE_TYPES:
        pass  # proves the authorship of the rest, and has no content itself
    elif kind in _REPORT_TYPES:
        found.reports.append(part)
    elif kind in ("message/rfc822", "message/global", "message/news"):
        found.messages += _list_forwarded_messages(part)
    elif kind in ("message/external-body", "message/partial"):
        found.unread.append("external part")
    elif part.is_multipart():
        _sort_several(part, found)
    else:
        _sort_single(part, kind, found)


def _sort_several(part: MIMEPart, found: MailParts) -> None:
    inner = [one for one in cast("list[MIMEPart]", part.get_payload()) if isinstance(one, MIMEPart)]
    if part.get_content_type() != "multipart/alternative":
        for one in inner:
            _sort(one, found)
        return
    forms = [sort_parts(one) for one in inner]
    best = _choose_form(forms)
    found.texts += best.texts if best else []
    for form in forms:
        # Text in two forms is read once; attachments of either form are read.
        found.calendars += form.calendars
        found.reports += form.reports
        found.messages += form.messages
        found.files += form.files
        found.unread += form.unread


def _choose_form(forms: Sequence[MailParts]) -> MailParts | None:
    """Return the plain form, or the HTML if the plain one is empty, omits much, or refers to the HTML."""
    with_text = [form for form in forms if form.texts]
    plain = [
        form for form in with_text if form.texts[0].get_content_type() == "text/plain" and not _is_no_html_notice(form)
    ]
    html = [form for form in with_text if any(one.get_content_type() == "text/html" for one in form.texts)]
    if plain and html and _is_teaser(plain[0], html[0]):
        return html[0]
    return next(iter([*plain, *html, *with_text]), None)


def _is_teaser(plain: MailParts, html: MailParts) -> bool:
    """Return whether the plain form is a teaser for the HTML and not the same text."""
    written = b" ".join(map(decode_payload, html.texts))
    # The markup makes the HTML longer by far: if it is not, nothing needs to be counted.
    if len(written) <= len(b" ".join(map(decode_payload, plain.texts))):
        return False
    return _count_words(plain) < _MIN_PLAIN_SHARE * _count_words(html)


def _count_words(form: MailParts) -> int:
    """Return the number of words that a form shows, without addresses of links, which only the plain one contains."""
    total = 0
    for part in form.texts:
        data, charset = decode_payload(part), part.get_content_charset()
        with suppress(UnreadableDocument, RecursionError):
            is_html = part.get_content_type() == "text/html"
            text = (
                _read_shown_text(decode_html(data, _TEXT_NAME, charset))
                if is_html
                else decode_text(data, _TEXT_NAME, charset)
            )
            total += len(_WORD.findall(_ADDRESS.sub(" ", text)))
    return total


def _read_shown_text(html: str) -> str:
    tree = parse_body(html)
    remove_unseen(tree)
    return str(tree.get_text(" "))


def _is_no_html_notice(form: MailParts) -> bool:
    text = b"".join(map(decode_payload, form.texts)).decode("utf-8", "replace").strip()
    return not text or (len(text) <= _MAX_NOTICE_CHARS and _NO_HTML_NOTICE.match(text) is not None)


def _sort_single(part: MIMEPart, kind: str, found: MailParts) -> None:
    name = read_file_name(part)
    if kind in _CALENDAR_TYPES or name.casefold().endswith(".ics"):
        found.calendars.append(part)
    elif kind in _READ_TEXT_TYPES and not name and part.get_content_disposition() != "attachment":
        found.texts.append(part)
    elif kind == "text/x-amp-html":
        pass  # a third form of the same text, for programs that run it
    elif decode_payload(part).strip() or name:
        found.files.append(part)


def _list_forwarded_messages(part: MIMEPart) -> list[EmailMessage]:
    """Return the messages in a part, decoded if a program has wrongly encoded them."""
    held = [one for one in cast("list[EmailMessage]", part.get_payload()) if isinstance(one, EmailMessage)]
    if str(part.get("Content-Transfer-Encoding", "")).strip().lower() not in _TRANSFER_ENCODINGS:
        return held
    coded = MIMEPart(policy=POLICY)
    coded["Content-Transfer-Encoding"] = str(part["Content-Transfer-Encoding"])
    decoded = []
    for one in held:
        coded.set_payload(one.as_bytes(policy=POLICY).decode("ascii", "surrogateescape").lstrip("\n"))
        data = decode_payload(coded)
        inner = parse_message(data)
        # If the parser found headers in it, nothing was encoded at all.
        decoded.append(inner if inner.keys() and not inner.defects else one)
    return decoded
