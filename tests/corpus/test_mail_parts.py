"""Parts of mail: whatever a message contains is read, or reported as not read."""

import base64
import quopri
from email.message import EmailMessage

import pytest

from argot.corpus.readers import ReadLimits, read_document, read_with_ledger
from argot.types import ParsedDocument

HEAD = b"From: ann@example.org\r\nSubject: %s\r\nDate: Thu, 05 Mar 2026 10:12:00 +0100\r\nMIME-Version: 1.0\r\n"
INNER = b"From: cy@example.org\nSubject: Hatch\nDate: Mon, 2 Mar 2026 09:00:00 +0000\n\nThe code = in safe 6.\n"
CALENDAR = (
    "BEGIN:VCALENDAR\nMETHOD:REQUEST\nBEGIN:VEVENT\nSUMMARY:Safety walk\nLOCATION:Gate 12\n"
    "DTSTART;TZID=Europe/Oslo:20260310T083000\nDTEND;TZID=Europe/Oslo:20260310T093000\nRRULE:FREQ=WEEKLY;BYDAY=TU\n"
    "ORGANIZER;CN=Ann Lee:mailto:ann@example.org\nDESCRIPTION:Bring a helmet.\\nMeet early.\n"
    "END:VEVENT\nEND:VCALENDAR\n"
)


def read(data: bytes, name: str = "a.eml") -> ParsedDocument:
    return read_document(data, name, ReadLimits())


def simple(body: bytes, kind: bytes = b"text/plain", subject: bytes = b"Hall", more: bytes = b"") -> bytes:
    return HEAD % subject + b"Content-Type: " + kind + b"\r\n" + more + b"\r\n" + body


def several(*parts: bytes, kind: bytes = b"mixed", subject: bytes = b"Hall") -> bytes:
    mark = b"b%d" % sum(map(len, parts))  # another one at each level
    inner = b"".join(b"--" + mark + b"\r\n" + part + b"\r\n" for part in parts)
    return simple(inner + b"--" + mark + b"--\r\n", b"multipart/" + kind + b'; boundary="' + mark + b'"', subject)


def part(body: bytes | str, kind: str = "text/plain", *more: str) -> bytes:
    data = body if isinstance(body, bytes) else body.encode()
    return "\r\n".join([f"Content-Type: {kind}", *more, "", ""]).encode() + data


def test_the_fuller_form_of_a_text_is_read() -> None:
    html = "<p>The hall opens at 7.</p><table><tr><td>Gate</td><td>12</td></tr></table><p>The key is in safe 6.</p>"
    teaser = several(part("The hall opens at 7."), part(html, "text/html"), kind=b"alternative")
    parsed, ledger = read_with_ledger(teaser, "a.eml", ReadLimits())
    assert "The key is in safe 6." in parsed.markdown and parsed.markdown.count("opens at 7") == 1
    assert ledger.lost == []
    same = several(
        part("The hall opens at 7.\nGate 12\nThe key is in safe 6. See https://example.org/a/b"),
        part(html + "<p hidden>Words for the list of mails alone, and many more of them</p>", "text/html"),
        kind=b"alternative",
    )
    assert "See https://example.org/a/b" in read(same).markdown


# -- headers and encodings --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("subject", "title"),
    [
        (b"Offer for =?iso-8859-1?Q?=8054_tickets?=", "Offer for €54 tickets"),
        (b"=?us-ascii?Q?=8054?=", "€54"),
        (b"=?iso-8859-1?Q?caf=C3=A9?=", "café"),
        (b"=?utf-8?Q?caf=C3?= =?utf-8?Q?=A9?=", "café"),
        (b"caf\xe9 \x8054", "café €54"),
        ("café".encode(), "café"),
        (b"=?utf-7?Q?+ADw-b?=", "+ADw-b"),
    ],
)
def test_a_subject_in_a_windows_encoding_is_read(subject: bytes, title: str) -> None:
    assert read(simple(b"Words.", subject=subject)).title == title


@pytest.mark.parametrize("charset", [b"iso-8859-1", b"us-ascii", b"windows-1252"])
@pytest.mark.parametrize("kind", [b"text/plain", b"text/html"])
def test_a_body_in_a_windows_encoding_is_read(charset: bytes, kind: bytes) -> None:
    data = simple(b"It costs \x80120 \x96 isn\x92t it?", kind + b"; charset=" + charset)
    assert "It costs €120 – isn’t it?" in read(data).markdown


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
def test_a_message_saved_in_another_encoding_is_read(encoding: str) -> None:
    data = (HEAD % b"Bay").decode() + "\r\nThe bay – closes at 15:20.\r\n"
    parsed = read(data.encode(encoding))
    assert parsed.title == "Bay" and "The bay – closes at 15:20." in parsed.markdown


def test_paragraphs_of_flowed_text_are_joined() -> None:
    text = b"The drill takes \r\nplace on deck 4.\r\n> Who \r\n> comes?\r\n-- \r\nAnn"
    markdown = read(simple(text, b"text/plain; format=flowed")).markdown
    assert markdown.endswith("The drill takes place on deck 4.\n> Who comes?\n-- \nAnn\n")


# -- parts ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("encoding", ["base64", "quoted-printable", "8bit"])
def test_a_forwarded_message_is_read_in_every_encoding(encoding: str, depth: int) -> None:
    encode = {"base64": base64.encodebytes, "quoted-printable": quopri.encodestring, "8bit": bytes}[encoding]
    inner = INNER
    for _ in range(depth):
        inner = several(
            part("See below."), part(encode(inner), "message/rfc822", f"Content-Transfer-Encoding: {encoding}")
        )
    markdown = read(inner).markdown
    assert (
        "Passed on: Hatch\n\n- From: cy@example.org\n- Date: Mon, 02 Mar 2026 09:00:00 +0000\n\nThe code = in safe 6."
        in markdown
    )
    assert markdown.count("See below.") == depth


def test_too_deeply_nested_messages_give_a_warning() -> None:
    inner = INNER
    for number in range(40):
        boundary = f"b{number}"
        inner = (
            HEAD % b"Fwd"
            + (
                f'Content-Type: multipart/mixed; boundary="{boundary}"\n\n'
                f"--{boundary}\nContent-Type: message/rfc822\n\n"
            ).encode()
            + inner
            + f"\n--{boundary}--\n".encode()
        )
    assert read(inner).warnings == ("1 message was not read",)


@pytest.mark.parametrize("place", ["alternative", "mixed", "file"])
def test_an_invitation_is_read_with_time_and_place(place: str) -> None:
    named = ["Content-Disposition: attachment; filename=invite.ics"] if place == "file" else []
    kind = "application/octet-stream" if place == "file" else "text/calendar; method=REQUEST"
    data = several(
        part("You are invited."),
        part(CALENDAR, kind, *named),
        kind=b"alternative" if place == "alternative" else b"mixed",
    )
    expected = (
        "You are invited.\n\n- Safety walk\n- Start: Tuesday, 10 March 2026 08:30 Europe/Oslo\n"
        "- End: Tuesday, 10 March 2026 09:30 Europe/Oslo\n- Repeats: FREQ=WEEKLY;BYDAY=TU\n- Place: Gate 12\n"
        "- Organiser: Ann Lee <ann@example.org>\n\nBring a helmet.\nMeet early.\n"
    )
    assert read(data).markdown.endswith(expected)


def test_a_repeated_calendar_is_read_once_and_a_broken_one_reported() -> None:
    twice = read(several(part(CALENDAR, "text/calendar"), part(CALENDAR, "application/ics")))
    assert twice.markdown.count("Gate 12") == 1
    broken = read(several(part("Words."), part("no calendar at all", "text/calendar")))
    assert broken.warnings == ("1 calendar was not read",)


@pytest.mark.parametrize("plain", ["", "  \r\n", "Your client does not support HTML.", "View this HTML mail online."])
def test_html_is_read_where_the_plain_form_is_empty(plain: str) -> None:
    data = several(part(plain), part("<p>The hall is <b>closed</b>.</p>", "text/html"), kind=b"alternative")
    assert "The hall is **closed**." in read(data).markdown


def test_texts_after_an_attachment_and_unnamed_attachments_are_read() -> None:
    parsed = read(
        several(
            part("Above."),
            part("part,bar\nvalve,12\n", "text/csv", "Content-Disposition: attachment"),
            part("Below."),
            part("<p>Last.</p>", "text/html"),
            part(b"\x89PNG", "image/png"),
        )
    )
    assert "Above.\n\nBelow.\n\nLast.\n\n## Attachment: unnamed.csv\n\n| part | bar |" in parsed.markdown
    assert parsed.warnings == ("1 picture was not read",)


def test_encrypted_and_outlook_only_parts_are_reported() -> None:
    block = "Hello.\n-----BEGIN PGP MESSAGE-----\n\nhQEMA7\n-----END PGP MESSAGE-----\n"
    parsed = read(
        several(
            part(block),
            part(b"\x30\x80", "application/pkcs7-mime; smime-type=enveloped-data"),
            part(b"\x30\x80", "application/pkcs7-mime; smime-type=signed-data"),
            part(b"x\x9f", "application/ms-tnef", "Content-Disposition: attachment; filename=winmail.dat"),
        )
    )
    assert "hQEMA7" not in parsed.markdown and "Hello." in parsed.markdown
    assert parsed.warnings == (
        "attachments are not read: winmail.dat (Outlook's own format, which no other program reads)",
        "2 encrypted texts and 1 S/MIME-signed text were not read",
    )


def test_a_signed_text_is_read_without_its_signature() -> None:
    head = "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n"
    text = f"{head}Gate 4.\n-----BEGIN PGP SIGNATURE-----\niQEz\n-----END PGP SIGNATURE-----\n"
    assert read(simple(text.encode())).markdown.endswith("\n\nGate 4.\n")


def test_a_delivery_failure_report_is_read_with_recipient_and_reason() -> None:
    status = "Reporting-MTA: dns; mx.example.org\n\n"
    status += "Final-Recipient: rfc822; bo@example.org\nDiagnostic-Code: smtp; 550 unknown\n"
    data = several(
        part("It failed."), part(status, "message/delivery-status"), part(INNER, "message/rfc822"), kind=b"report"
    )
    markdown = read(data).markdown
    assert "- Final-Recipient: rfc822; bo@example.org\n- Diagnostic-Code: smtp; 550 unknown" in markdown
    assert "The code = in safe 6." in markdown


def test_a_binary_part_loses_only_that_part() -> None:
    parsed = read(several(part("Words."), part(b"\x00\x01\x02" * 90, "text/plain")))
    assert "Words." in parsed.markdown and parsed.warnings == ("1 text was not read",)


@pytest.mark.parametrize("name", ["filename*=iso-8859-1''%80x.csv", "filename*0*=utf-8''%E2%82%AC; filename*1=x.csv"])
def test_attachment_names_in_any_encoding_are_read(name: str) -> None:
    data = several(part("Words."), part("a,b\n1,2\n", "text/csv", f"Content-Disposition: attachment; {name}"))
    assert "## Attachment: €x.csv" in read(data).markdown


def test_the_content_length_of_a_message_in_a_mailbox_is_used() -> None:
    body = b"First.\n\nFrom Ann we heard in 2026\n\nLast.\n"
    message = b"Subject: One\nContent-Length: %d\n\n%s" % (len(body), body)
    data = (
        b"From a@b.c Thu Mar  5 10:12:00 2026\n"
        + message
        + b"\nFrom a@b.c Thu Mar  5 10:13:00 2026\nSubject: Two\n\nMore.\n"
    )
    markdown = read(data, "a.mbox").markdown
    assert markdown.count("\n## ") + 1 == 2 and "From Ann we heard in 2026\n\nLast." in markdown


def test_headers_set_by_a_program_are_read() -> None:
    message = EmailMessage()
    message["Subject"], message["From"] = "Prüfung", "Jürgen <j@example.org>"
    message.set_content("Words.")
    assert read(message.as_bytes()).title == "Prüfung"
