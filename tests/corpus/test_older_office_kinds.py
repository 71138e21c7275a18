"""Older and open Office files: what they are by content, what is hidden in them, and hostile ones."""

from __future__ import annotations

import io
import struct
import zipfile
from dataclasses import replace

import gold_old_offices as old
import gold_open_documents as opened
import pytest
from ole_writer import write_ole

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers import read_document, read_with_ledger
from argot.errors import UnreadableDocument

LIMITS = ReadLimits(ocr_languages="")
FILES = {
    "letter.odt": opened.letter,
    "spreadsheet.ods": opened.spreadsheet,
    "open_slides.odp": opened.open_slides,
    "drawing.vsdx": opened.drawing,
    "old_workbook.xls": old.old_workbook,
    "binary_workbook.xlsb": old.binary_workbook,
    "rich_text.rtf": old.rich_text,
    "old_word_file.doc": old.old_word_file,
    "outlook_message.msg": old.outlook_message,
}
HIDDEN_WORDS = {
    "letter.odt": ["secretly", "deleted", "hidden section"],
    "spreadsheet.ods": ["secret", "filtered", "hidden sheet"],
    "open_slides.odp": ["Not for everyone", "Click to add"],
    "old_workbook.xls": ["never shown", "hidden row", "hidden sheet"],
    "binary_workbook.xlsb": ["hidden words", "secret"],
    "rich_text.rtf": ["secretly", "deleted", "lost words"],
    "old_word_file.doc": ["secretly", "deleted", "HYPERLINK"],
}


@pytest.mark.parametrize("name", FILES)
def test_no_word_of_a_file_is_lost_without_a_rule(name: str) -> None:
    parsed, ledger = read_with_ledger(FILES[name](), name, LIMITS)
    assert ledger.lost == [] and not ledger.shortfall
    assert ledger.held > 8
    for word in HIDDEN_WORDS.get(name, ()):
        assert word not in parsed.markdown
    assert not any("words were not read" in warning for warning in parsed.warnings)


def test_a_lost_word_would_be_told() -> None:
    """Show that the census counts: text in a part that no reader knows is missed."""
    data = opened.zip_parts(
        {
            **unzip(opened.letter()),
            "Object 9/content.xml": f"<a {opened._NAMES}>{opened.paragraph('Eight forgotten words')}</a>",
        }
    )
    parsed, ledger = read_with_ledger(data, "letter.odt", LIMITS)
    assert ledger.lost_words == 3
    assert any("3 words were not read" in warning for warning in parsed.warnings)


def unzip(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_read_as_what_it_is_under_the_name_of_another_office_file(name: str) -> None:
    expected = read_document(FILES[name](), name, LIMITS)
    found = read_document(FILES[name](), "report.docx" if not name.endswith("odt") else "report.doc", LIMITS)
    assert (found.media_type, found.markdown) == (expected.media_type, expected.markdown)


@pytest.mark.parametrize(
    ("name", "data", "media_type", "words"),
    [
        ("a.xls", b"<html><body><table><tr><th>Item</th><th>Price</th></tr><tr><td>Bowl</td><td>7</td></tr></table>",
         "text/html", "| Bowl | 7 |"),
        ("a.xls", "\ufeffItem\tPrice\nBowl\t7\n".encode("utf-16"), "text/csv", "| Bowl | 7 |"),
        ("a.xls", b"Item;Price\r\nBowl;7\r\n", "text/csv", "| Bowl | 7 |"),
        ("a.doc", b"{\\rtf1\\ansi plain words\\par}", "application/rtf", "plain words"),
        ("a.doc", b"Just plain words.\n", "text/plain", "Just plain words."),
        ("a.doc", b"<meta charset=utf-8><p>A web page", "text/html", "A web page"),
        ("a.doc", b"Date: Tue, 5 Mar 2024 10:00:00 +0000\r\nSubject: Exported\r\nMIME-Version: 1.0\r\n"
         b"Content-Type: multipart/related; boundary=b\r\n\r\n--b\r\nContent-Type: text/html\r\n\r\n"
         b"<h1>Kiln</h1><p>From a wiki.</p>\r\n--b--\r\n", "multipart/related", "# Kiln\n\nFrom a wiki."),
    ],
)  # fmt: skip
def test_exports_under_the_names_of_office_files_are_read(name: str, data: bytes, media_type: str, words: str) -> None:
    found = read_document(data, name, LIMITS)
    assert found.media_type == media_type and words in found.markdown


def encrypted_word_file() -> bytes:
    head = bytearray(0x400)
    struct.pack_into("<HH6xH", head, 0, 0xA5EC, 0xC1, 0x100)
    return write_ole({"WordDocument": bytes(head), "1Table": b"x"})


def encrypted_open_document() -> bytes:
    manifest = "<manifest:manifest><manifest:encryption-data/></manifest:manifest>"
    return opened.open_document("text", opened.paragraph("x"), parts={"META-INF/manifest.xml": manifest})


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.doc", encrypted_word_file(), "encrypted. Save it without a password"),
        ("a.odt", encrypted_open_document(), "protected by a password. Save it without a password"),
        ("a.xls", write_ole({"EncryptedPackage": b"x" * 5000}), "encrypted.* Save it without protection"),
        ("a.doc", write_ole({"WordDocument": b"\xdc\xa5" + b"\0" * 0x400}), "before 97.*save it as .docx"),
        ("a.doc", b"\x31\xbe\0\0" + b"\0" * 100, "no Word file.*save it as .docx"),
        ("a.xls", b"<?xml version='1.0'?><Workbook/>", "Office 2003 wrote.*Save it as"),
        ("a.msg", write_ole({"other": b"x"}), "holds no message"),
        ("a.rtf", b"\0\1\2", "no rich text"),
        ("a.ods", opened.letter()[:400], "damaged or cut off"),
        ("a.vsdx", opened.zip_parts({"visio/document.xml": "<x/>"}), "holds no pages"),
        ("a.odt", opened.open_document("text", ""), "holds no text"),
        ("a.xlsb", opened.zip_parts({"xl/workbook.bin": ""}), "holds no text"),
    ],
)  # fmt: skip
def test_unreadable_files_are_refused_with_the_remedy(name: str, data: bytes, said: str) -> None:
    with pytest.raises(UnreadableDocument, match=f"(?s){name}: .*{said}"):
        read_document(data, name, LIMITS)


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_cut_off_is_read_in_part_or_refused(name: str) -> None:
    data = FILES[name]()
    for share in (0.3, 0.6, 0.95):
        try:
            assert read_document(data[: int(len(data) * share)], name, LIMITS).markdown
        except UnreadableDocument as error:
            assert error.reason


# -- hostile files ----------------------------------------------------------------------------------------------------


def repeated_rows(times: int, text: str) -> str:
    row = f'<table:table-row table:number-rows-repeated="{times}">'
    return f"{row}<table:table-cell>{opened.paragraph(text) if text else ''}</table:table-cell></table:table-row>"


def test_repeated_rows_are_refused_before_they_are_written() -> None:
    sheet = repeated_rows(1_048_575, "") + repeated_rows(1, "x")
    table = f'<table:table table:name="a">{sheet}</table:table>'
    data = opened.open_document("spreadsheet", table * 50)
    with pytest.raises(UnreadableDocument, match="too many to read"):
        read_document(data, "a.ods", LIMITS)
    few = replace(LIMITS, max_text_chars=10_000)
    boom = opened.open_document("spreadsheet", f"<table:table>{repeated_rows(1_000_000, 'boom')}</table:table>")
    with pytest.raises(UnreadableDocument, match="too much text"):
        read_document(boom, "a.ods", few)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.odt", opened.open_document("text", opened.paragraph("<text:span>" * 9_000 + "x" + "</text:span>" * 9_000))),
        ("a.rtf", b"{\\rtf1 " + b"{" * 100_000 + b"x"),
        ("a.vsdx", opened.zip_parts({
            **unzip(opened.drawing()),
            "visio/pages/page1.xml": f"<PageContents {opened._VISIO}><Shapes>" + "<Shape><Shapes>" * 3_000,
        })),
    ],
)  # fmt: skip
def test_deep_nesting_is_refused(name: str, data: bytes) -> None:
    with pytest.raises(UnreadableDocument, match="nested too deeply"):
        read_document(data, name, LIMITS)


def test_an_object_that_holds_itself_and_links_to_the_outside_are_harmless() -> None:
    inner = 'again <draw:frame><draw:object xlink:href="./Object 1"/></draw:frame>'
    content = (
        f"<office:document-content {opened._NAMES}><office:body><office:text>{opened.paragraph(inner) * 20}"
        "</office:text></office:body></office:document-content>"
    )
    body = opened.paragraph(
        'See <draw:frame><draw:object xlink:href="./Object 1"/></draw:frame>'
        '<draw:frame><draw:image xlink:href="../../etc/passwd"/></draw:frame>'
        '<text:a xlink:href="javascript:alert(1)">link</text:a> &lt;script&gt;'
    )
    data = opened.open_document("text", body, parts={"Object 1/content.xml": content})
    found = read_document(data, "a.odt", LIMITS)
    assert "See link <script>" in found.markdown and "javascript" not in found.markdown


def test_the_name_of_a_picture_file_is_no_description() -> None:
    frame = (
        '<draw:frame><draw:image xlink:href="Pictures/a.png"/><svg:title>image.png</svg:title>'
        "<svg:desc>{}</svg:desc></draw:frame>"
    )
    for said, shown in (("Screen at noon.png", ""), ("Flow of the pump", "Flow of the pump")):
        found = read_document(
            opened.open_document("text", opened.paragraph(f"See {frame.format(said)}")), "a.odt", LIMITS
        )
        assert found.markdown.strip() == f"See {shown}".strip()
        assert not any("words" in one for one in found.warnings)


def test_entities_are_refused_and_never_expanded() -> None:
    parts = unzip(opened.letter())
    parts["content.xml"] = b'<!DOCTYPE x [<!ENTITY a "boom">]>' + parts["content.xml"].replace(b"Grit", b"&a;")
    with pytest.raises(UnreadableDocument, match="declares entities"):
        read_document(opened.zip_parts(dict(parts)), "a.odt", LIMITS)


def test_a_message_cannot_write_headers_of_its_own() -> None:
    data = write_ole(
        old.message_streams(
            "Hello\r\nBcc: evil@example.org\r\n\r\nfake", "<script>x</script>",
            texts={0x0C1A: "Eve\r\nX-Y: z", 0x5D01: "eve@example.org\r\nCc: q"}, files={"../x\r\ny.csv": b"a;b\n1;2\n"},
        )
    )  # fmt: skip
    found = read_document(data, "a.msg", LIMITS)
    assert found.title == "Hello Bcc: evil@example.org fake"
    assert "- Cc" not in found.markdown and "<script>x</script>" in found.markdown
    assert "## Attachment: ../x y.csv\n\n| a | b |" in found.markdown


def test_messages_within_messages_are_read_to_a_depth_and_attached_files_by_their_kind() -> None:
    inner = {name: make() for name, make in FILES.items()}
    data = write_ole(old.message_streams("Files", "See below.", files=inner))
    found = read_document(data, "a.msg", LIMITS)
    for words in ("Mind the heat!", "Note on D2", "Pots and pans", "Costs Planned", "half of it?", "При", "Light it"):
        assert words in found.markdown
    streams: dict[str, bytes] = {}
    prefix = ""
    for number in range(30):
        streams |= old.message_streams(f"Subject {number}", f"body{number}", prefix=prefix)
        at = f"{prefix}__attach_version1.0_#00000000/"
        streams[f"{at}__properties_version1.0"] = old.properties({}, 8)
        prefix = f"{at}__substg1.0_3701000D/"
    deep = read_document(write_ole(streams), "a.msg", LIMITS)
    assert "body20" in deep.markdown and "body25" not in deep.markdown
    assert any("not read" in warning for warning in deep.warnings)


def test_a_meeting_and_compressed_rich_text_are_read() -> None:
    rich = b"{\\rtf1\\ansi Bring the \\b plan\\b0 .\\par}"
    packed = struct.pack("<II4sI", len(rich) + 12, len(rich), b"MELA", 0) + rich
    moment = struct.pack("<q", 133_542_000_000_000_000)
    streams = old.message_streams(
        "Review", "", fixed={0x0060: (0x40, moment)}, texts={0x001A: "IPM.Appointment", 0x8000: "Room 5"}
    )
    streams["__substg1.0_10090102"] = packed
    streams["__nameid_version1.0/__substg1.0_00030102"] = struct.pack("<IHH", 0x8208, 6, 0)
    found = read_document(write_ole(streams), "a.msg", LIMITS).markdown
    assert "Bring the plan." in found and "Room 5" in found and "6 March 2024" in found


def test_formulas_nested_in_formulas_take_no_longer_with_each_level() -> None:
    math = f"<math>{'<semantics><mrow>' * 40}<mi>a</mi>{'</mrow></semantics>' * 40}</math>"
    assert "$a$" in read_document(f"<html><body><p>So {math}.</p>".encode(), "a.html", LIMITS).markdown


def test_a_chart_among_the_sheets_gives_no_sheet_the_header_of_a_hidden_one() -> None:
    import xlwt

    book = xlwt.Workbook()
    for title, revision in (("Plot", 1), ("Off", 7), ("On", 3)):
        sheet = book.add_sheet(title)
        sheet.header_str = f"&LRevision: {revision}".encode()
        sheet.write(0, 0, "Bowls")
    book.get_sheet(1).visibility = 1
    buffer = io.BytesIO()
    book.save(buffer)
    data = buffer.getvalue()
    # The first sheet becomes a chart: the byte of its kind is behind its place and its visibility.
    at = data.index(b"\x04\0Plot")
    parsed = read_document(data[: at - 1] + b"\x02" + data[at:], "a.xls", LIMITS)
    assert parsed.markdown.count("# ") == 1 and parsed.markdown.startswith("# On")
    assert [(one.name.casefold(), one.value) for one in parsed.fields] == [("revision", "3")]
