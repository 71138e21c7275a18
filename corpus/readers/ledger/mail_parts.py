"""All text of a mail, or of a mailbox: its parts, calendars, and the attached files by their own census."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email import message_from_bytes, policy
from email.message import Message
from typing import Any

from argot.corpus.readers.ledger import source_text as rules
from argot.corpus.readers.ledger.decoding import decode_text
from argot.corpus.readers.ledger.nesting import Nesting
from argot.corpus.readers.ledger.page import read_page_texts
from argot.corpus.readers.ledger.source_text import SourceText

_MAX_NESTED_MESSAGES = 6
_ENVELOPE = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\r\n\r\n))From [^\r\n]{1,300}\d{4}[^\r\n]{0,40}\r?\n")
_SHOWN_HEADERS = ("Subject", "From", "To", "Cc", "Date")
_CALENDAR_LINES = re.compile(r"^(?:SUMMARY|LOCATION|DESCRIPTION)(?:;[^:\n]*)?:(.*)", re.MULTILINE)
_CODED_BLOCK = re.compile(
    r"^-----BEGIN PGP (MESSAGE|SIGNATURE)-----.*?(?:^-----END PGP \1-----|\Z)", re.DOTALL | re.MULTILINE
)
_MIN_PLAIN_SHARE = 2 / 3
_WORD = re.compile(r"[^\W_]+")
_ADDRESS = re.compile(r"(?:https?://|mailto:|www\.)\S+", re.IGNORECASE)
_QUOTED_LINE = re.compile(r"^[ \t]*>.*(?:\n|\Z)", re.MULTILINE)
_QUOTED_BELOW = re.compile(
    r"^(?:-{2,} ?(?:original message|urspr.ngliche nachricht|forwarded message)|On .{5,200}wrote:|Am .{5,200}schrieb|"
    r"_{10,}\s*$|From: .+\n(?:Sent|Date): )",
    re.MULTILINE | re.IGNORECASE,
)


def read_mail_texts(data: bytes, nesting: Nesting) -> Iterator[SourceText]:
    """Give the text of one message."""
    yield from _read_message_texts(message_from_bytes(data, policy=policy.default), "mail", nesting)


def read_mailbox_texts(data: bytes, nesting: Nesting) -> Iterator[SourceText]:
    """Give the text of each message of a mailbox."""
    starts = list(_ENVELOPE.finditer(data))
    for number, found in enumerate(starts):
        end = starts[number + 1].start() if number + 1 < len(starts) else len(data)
        one = re.sub(rb"^>(>*From )", rb"\1", data[found.end() : end], flags=re.MULTILINE)
        message = message_from_bytes(one, policy=policy.default)
        yield from _read_message_texts(message, f"message {number + 1}", nesting)


def read_web_archive_texts(data: bytes, nesting: Nesting) -> Iterator[SourceText]:
    """Give the text of the pages of a web archive; one without a page is a mail."""
    message = message_from_bytes(data.lstrip(), policy=policy.default)
    pages = [one for one in message.walk() if one.get_content_type() == "text/html"]
    for page in pages:
        yield from _read_part_texts(page, "page", "", nesting)
    if not pages:
        yield from _read_message_texts(message, "mail", nesting)


def _read_message_texts(message: Message, place: str, nesting: Nesting) -> Iterator[SourceText]:
    nesting.budget.check()
    for name in _SHOWN_HEADERS:
        if header := _read_header(message, name):
            yield SourceText(place, "mail header", header)
    yield from _read_part_texts(message, place, "", nesting)


def _read_header(message: Message, name: str) -> str:
    try:
        return str(message.get(name) or "")
    except Exception:  # a broken header can make the parser raise any error
        return ""


def _read_part_texts(part: Message, place: str, rule: str, nesting: Nesting) -> Iterator[SourceText]:
    nesting.budget.check()
    kind = part.get_content_type()
    if nesting.depth > _MAX_NESTED_MESSAGES:
        return
    if kind == "message/rfc822":
        for inner in _list_inner_messages(part):
            yield from _read_message_texts(inner, "mail passed on", nesting.descend())
    elif part.is_multipart():
        chosen = _choose_form(part, nesting) if kind == "multipart/alternative" else None
        parts: Any = part.get_payload()
        for one in parts:
            # A calendar is no alternative form of the words beside it: only it has the place and the time.
            is_other = chosen is not None and one is not chosen and one.get_content_type() != "text/calendar"
            why = rule or (rules.OTHER_FORM if is_other else "")
            yield from _read_part_texts(one, place, why, nesting.descend())
    else:
        yield from _read_leaf_texts(part, place, rule, nesting)


def _list_inner_messages(part: Message) -> list[Message]:
    payload: Any = part.get_payload()
    inner = [one for one in payload if isinstance(one, Message)] if isinstance(payload, list) else []
    # Some programs encode the message that they forward, which the parser reads as text.
    if len(inner) == 1 and not inner[0].keys():
        data = part.get_payload(0)
        encoded = data.get_payload() if isinstance(data, Message) else ""
        if str(part.get("Content-Transfer-Encoding", "")).lower() == "base64" and isinstance(encoded, str):
            import base64
            import binascii

            try:
                return [message_from_bytes(base64.b64decode(encoded), policy=policy.default)]
            except (ValueError, binascii.Error):
                return inner
    return inner


def _choose_form(part: Message, nesting: Nesting) -> Message | None:
    """Return the form that is read: plain text unless it omits much, else HTML, wherever it is."""
    forms: list[Any] = list(part.get_payload())
    plain, html = (
        next((form for form in forms if next(_find_texts(form, kind), None)), None)
        for kind in ("text/plain", "text/html")
    )
    if plain is None or html is None:
        return plain or html
    words = [_count_words(form, kind, nesting) for form, kind in ((plain, "text/plain"), (html, "text/html"))]
    return plain if words[0] >= _MIN_PLAIN_SHARE * words[1] else html  # type: ignore[no-any-return]


def _find_texts(form: Message, kind: str) -> Iterator[Message]:
    return (one for one in form.walk() if one.get_content_type() == kind and _has_text(one))


def _count_words(form: Message, kind: str, nesting: Nesting) -> int:
    total = 0
    for one in _find_texts(form, kind):
        data: Any = one.get_payload(decode=True)
        charset = one.get_content_charset() or ""
        if kind == "text/html":
            pieces = read_page_texts(data, "", nesting.budget, charset)
            texts = [piece.text for piece in pieces if not piece.rule and piece.kind != "title"]
        else:
            texts = [decode_text(data, charset)]
        total += sum(len(_WORD.findall(_ADDRESS.sub(" ", text))) for text in texts)
    return total


def _has_text(part: Message) -> bool:
    data = part.get_payload(decode=True)
    return isinstance(data, bytes) and bool(data.strip())


def _read_leaf_texts(part: Message, place: str, rule: str, nesting: Nesting) -> Iterator[SourceText]:
    data: Any = part.get_payload(decode=True)
    if not isinstance(data, bytes) or not data:
        return
    kind, name = part.get_content_type(), _read_file_name(part)
    charset = part.get_content_charset() or ""
    is_attached = bool(name) or part.get_content_disposition() == "attachment"
    if kind == "text/calendar" or name.lower().endswith(".ics"):
        for found in _CALENDAR_LINES.finditer(re.sub(r"\r?\n[ \t]", "", decode_text(data, charset))):
            yield SourceText(place, "calendar entry", re.sub(r"\\([,;\\])|\\[nN]", r" \1", found[1]), rule)
    elif is_attached:
        # Pictures have no text, and the reader names a file that nothing here reads.
        for text in nesting.read_inner_texts(data, name):
            yield SourceText(f"{place}, {name}", _name_attached_kind(text.kind), text.text, rule or text.rule)
    elif kind == "text/html":
        for text in read_page_texts(data, place, nesting.budget, charset):
            if text.kind != "title":
                yield SourceText(place, text.kind, text.text, rule or text.rule)
    elif part.get_content_maintype() == "text":
        typed = decode_text(data, charset).replace("\r\n", "\n")
        # The reader reports that a part without text was not read.
        if "\0" not in typed:
            yield from _split_quoted_text(typed, place, rule)


def _name_attached_kind(kind: str) -> str:
    return "attachment" if kind == "text" else kind


def _read_file_name(part: Message) -> str:
    try:
        return " ".join((part.get_filename() or "").split())
    except Exception:  # as with headers
        return ""


def _split_quoted_text(text: str, place: str, rule: str) -> Iterator[SourceText]:
    """Yield the sender's text, and the quotations of earlier messages."""
    for block in _CODED_BLOCK.finditer(text):
        yield SourceText(place, "text", block[0], rule or rules.TECHNICAL)
    text = _CODED_BLOCK.sub("", text)
    below = _QUOTED_BELOW.search(text)
    own = text[: below.start()] if below else text
    quoted = [text[below.start() :]] if below else []
    quoted += [found[0] for found in _QUOTED_LINE.finditer(own)]
    yield SourceText(place, "text", _QUOTED_LINE.sub("", own), rule)
    for one in quoted:
        yield SourceText(place, "text", one, rule or rules.QUOTED)
