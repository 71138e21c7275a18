"""Mail, e-books, notebooks and JSON: read as people see them, and refused with a reason where they are broken."""

import io
import json
import mailbox
import zipfile
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest

from argot.corpus.ingestion.sources import list_sources
from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers import read_document
from argot.errors import UnreadableDocument
from argot.types import ParsedDocument

LIMITS = ReadLimits()


def read(data: bytes | str, name: str, limits: ReadLimits = LIMITS) -> ParsedDocument:
    return read_document(data.encode() if isinstance(data, str) else data, name, limits)


def refusal(data: bytes | str, name: str, limits: ReadLimits = LIMITS) -> str:
    with pytest.raises(UnreadableDocument) as caught:
        read(data, name, limits)
    return str(caught.value)


# -- mail -------------------------------------------------------------------------------------------------------------


def mail(
    subject: str = "Freeze of release 7", body: str = "The freeze begins on Monday.\n", **fields: str
) -> EmailMessage:
    message = EmailMessage()
    message["Subject"], message["From"], message["To"] = subject, "Ann Lee <ann@example.org>", "team@example.org"
    message["Date"] = "Thu, 05 Mar 2026 10:12:00 +0100"
    message.set_content(body)
    return message


def test_a_message_is_read_with_sender_recipient_and_date() -> None:
    parsed = read(mail().as_bytes(), "freeze.eml")
    assert (parsed.title, parsed.date, parsed.media_type) == ("Freeze of release 7", "2026-03-05", "message/rfc822")
    assert parsed.markdown.startswith("- From: Ann Lee <ann@example.org>\n- To: team@example.org\n- Date: Thu, 05 Mar")
    assert parsed.markdown.endswith("\n\nThe freeze begins on Monday.\n")


def test_encoded_subjects_and_other_alphabets_are_read() -> None:
    parsed = read(mail("Prüfung der Ätzrate", "Die Ätzrate beträgt 12 nm/s.\n").as_bytes(), "a.eml")
    assert parsed.title == "Prüfung der Ätzrate"
    assert "Die Ätzrate beträgt 12 nm/s." in parsed.markdown


def test_plain_text_is_preferred_to_html() -> None:
    both = mail()
    both.add_alternative("<p>The freeze begins on <b>Tuesday</b>.</p>", subtype="html")
    assert "Tuesday" not in read(both.as_bytes(), "a.eml").markdown
    page = mail()
    page.set_content("<table><tr><th>Part</th><th>Bar</th></tr><tr><td>Valve</td><td>12</td></tr></table>", "html")
    assert "| Part | Bar |\n| --- | --- |\n| Valve | 12 |" in read(page.as_bytes(), "a.eml").markdown


def test_attachments_are_read_below_the_message_or_named_in_a_warning(tmp_path: Path) -> None:
    message = mail()
    message.add_attachment(b"%PDF-1.7", maintype="application", subtype="pdf", filename="limits.pdf")
    notes = b"# Limits\n\nThe valve opens at 12 bar.\n\n```\n# code\n```\n\n## Below\n\nText.\n"
    message.add_attachment(notes, maintype="text", subtype="markdown", filename="notes.md")
    message.add_attachment(b"part,bar\nvalve,12\n", maintype="text", subtype="csv", filename="parts.csv")
    message.add_attachment(b"\x89PNG", maintype="image", subtype="png", filename="logo.png")
    message.add_attachment(b"PK", maintype="application", subtype="zip", filename="all.zip")
    parsed = read(message.as_bytes(), "a.eml")
    assert "- Attachments: limits.pdf, notes.md, parts.csv, logo.png, all.zip" in parsed.markdown
    assert "\n\n## Attachment: notes.md\n\n### Limits\n\nThe valve opens" in parsed.markdown
    assert "\n# code\n" in parsed.markdown and "\n#### Below\n" in parsed.markdown
    assert "## Attachment: parts.csv\n\n| part | bar |" in parsed.markdown
    (warning,) = parsed.warnings
    assert warning.startswith(
        "attachments are not read: limits.pdf (damaged or cut off: not a complete PDF), logo.png, "
    )
    assert "all.zip (unknown format '.zip')" in warning
    box = mailbox.mbox(tmp_path / "team.mbox")
    box.add(message)
    box.close()
    assert (
        "\n\n### Attachment: notes.md\n\n#### Limits\n"
        in read((tmp_path / "team.mbox").read_bytes(), "a.mbox").markdown
    )


def test_deeply_nested_attachments_are_read() -> None:
    inner = mail("Core", "The valve opens at 12 bar.\n")
    for depth in range(30):
        outer = mail(f"Level {depth}", "See below.\n")
        outer.add_attachment(inner.as_bytes(), maintype="application", subtype="octet-stream", filename="in.eml")
        inner = outer
    assert "The valve opens at 12 bar." in read(inner.as_bytes(), "a.eml").markdown


def test_a_forwarded_message_is_read() -> None:
    outer = mail("Fwd: limits", "See below.\n")
    outer.add_attachment(mail("Limits", "The valve opens at 12 bar.\n"))
    markdown = read(outer.as_bytes(), "a.eml").markdown
    assert "See below." in markdown
    assert "Passed on: Limits" in markdown
    assert "The valve opens at 12 bar." in markdown


def test_attachments_of_a_forwarded_message_are_read() -> None:
    inner, between, outer = mail("Limits"), mail("Fwd: limits"), mail("Fwd: Fwd: limits")
    inner.add_attachment(b"part,bar\nvalve,12\n", maintype="text", subtype="csv", filename="parts.csv")
    inner.add_attachment(b"PK", maintype="application", subtype="zip", filename="all.zip")
    between.add_attachment(inner)
    outer.add_attachment(between)
    parsed = read(outer.as_bytes(), "a.eml")
    assert "## Attachment: parts.csv\n\n| part | bar |\n| --- | --- |\n| valve | 12 |" in parsed.markdown
    assert parsed.warnings == ("attachments are not read: all.zip (unknown format '.zip')",)


QUOTED = "> the drill takes place on 18 September at 14:00.\n> Muster station is deck 4.\n"
ANSWER = "The drill takes place on 25 September at 16:00.\n\nKari\n"
COPIED = "From: Ann Lee\nSent: Tuesday, 9 September 2025 10:02\nTo: crew\nSubject: Drill\n\nIt is on 18 September.\n"


@pytest.mark.parametrize(
    "quotation",
    [
        f"On Tue, 9 Sep 2025 Ann Lee wrote:\n{QUOTED}",
        f"On Tuesday, 9 September 2025 at 10:02, Ann Lee of the crewing office\n<ann@example.org> wrote:\n\n{QUOTED}",
        f"Am 09.09.2025 um 10:02 schrieb Ann Lee:\n{QUOTED}\n",
        QUOTED,
        f"-----Original Message-----\n{COPIED}",
        f"________________________________\n{COPIED}",
        COPIED,
        "On Tue, 9 Sep 2025 at 10:02 Ann Lee wrote:\n\nthe drill takes place on 18 September at 14:00.\n",
    ],
)
def test_a_reply_is_read_without_the_quoted_message(quotation: str) -> None:
    markdown = read(mail("Re: Drill", f"{ANSWER}\n{quotation}").as_bytes(), "a.eml").markdown
    assert markdown.endswith(f"\n\n{ANSWER}")


def test_a_signature_below_a_quotation_is_kept() -> None:
    body = f"{ANSWER}\nOn Tue, 9 Sep 2025 Ann Lee wrote:\n{QUOTED}\n-- \nKari Vik, extension 5512\n"
    markdown = read(mail("Re: Drill", body).as_bytes(), "a.eml").markdown
    assert "18 September" not in markdown and "extension 5512" in markdown and "25 September" in markdown


@pytest.mark.parametrize(
    ("subject", "body"),
    [
        ("Re: Drill", f"On Tue, 9 Sep 2025 Ann Lee wrote:\n{QUOTED}"),  # nothing else
        ("Fwd: Drill", f"See below.\n\n-------- Forwarded Message --------\n{COPIED}"),
        ("FW: Drill", f"See below.\n\n{COPIED}"),
        ("Re: Drill", f"> When is the drill?\n{ANSWER}"),  # between the lines
        ("Re: Drill", f"The rule says:\n{QUOTED}"),
        ("Drill", f"Muster rules\n\n{QUOTED}"),  # answers nothing
    ],
)
def test_quotations_that_are_not_a_reply_are_kept(subject: str, body: str) -> None:
    assert read(mail(subject, body).as_bytes(), "a.eml").markdown.endswith(f"\n\n{body}")


def test_quoted_messages_in_html_are_left_out() -> None:
    message = mail("Re: Drill")
    quoted = "On 9 Sep 2025, Ann wrote:<br><blockquote type='cite'><p>It is on 18 September.</p></blockquote>"
    message.set_content(f"<p>It is on 25 September.</p><div>{quoted}</div>", subtype="html")
    markdown = read(message.as_bytes(), "a.eml").markdown
    assert "25 September" in markdown
    assert "18 September" not in markdown and "wrote" not in markdown


def test_a_hash_in_plain_text_is_not_a_heading() -> None:
    assert "\\# of parts: 12" in read(mail(body="# of parts: 12\n").as_bytes(), "a.eml").markdown


def test_a_file_that_is_not_mail_is_refused() -> None:
    assert "neither sender, date nor subject" in refusal("just words\n", "a.eml")
    assert "no line in it begins a message" in refusal("just words\n", "a.mbox")


@pytest.mark.parametrize("charset", ["x-unknown", "utf-16", "ascii"])
def test_a_wrong_charset_does_not_lose_the_message(charset: str) -> None:
    raw = b"From: a@example.org\nContent-Type: text/plain; charset=" + charset.encode() + b"\n\nCaf\xc3\xa9 at noon.\n"
    assert "at noon" in read(raw, "a.eml").markdown or charset == "utf-16"


def test_a_mailbox_has_a_section_for_each_message(tmp_path: Path) -> None:
    box = mailbox.mbox(tmp_path / "team.mbox")
    box.add(mail())
    box.add(mail("Limits", "From 2019 on the valve opens at 12 bar.\n\nFrom here on it is 14 bar in 2026\n"))
    box.close()
    parsed = read((tmp_path / "team.mbox").read_bytes(), "team.mbox")
    assert parsed.title == "team"
    assert [line for line in parsed.markdown.splitlines() if line.startswith("#")] == [
        "## Freeze of release 7",
        "## Limits",
    ]
    assert "\nFrom 2019 on the valve opens at 12 bar." in parsed.markdown
    assert "\nFrom here on it is 14 bar in 2026" in parsed.markdown


def test_a_mailbox_of_too_many_messages_is_refused() -> None:
    one = b"From a@b Thu Mar  5 10:12:00 2026\nSubject: x\n\nx\n\n"
    assert "ARGOT_PARSE_SECONDS" in refusal(one * 50_100, "a.mbox", ReadLimits(seconds=0.01))


# -- e-books ----------------------------------------------------------------------------------------------------------

PACKAGE = """<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Valve handbook</dc:title><dc:date>2024-05-01</dc:date>
</metadata><manifest>
<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
<item id="two" href="text/two.xhtml" media-type="application/xhtml+xml"/>
<item id="one" href="text/one%201.xhtml" media-type="application/xhtml+xml"/>
<item id="font" href="font.otf" media-type="font/otf"/></manifest>
<spine><itemref idref="nav"/><itemref idref="one"/><itemref idref="two"/></spine></package>"""
CONTAINER = """<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>
<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>"""
DOCTYPE = '<?xml version="1.0"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"><body>'


def book(**more: str) -> bytes:
    members = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "OEBPS/book.opf": PACKAGE,
        "OEBPS/nav.xhtml": f"{DOCTYPE}<h1>Contents</h1></body></html>",
        "OEBPS/text/one 1.xhtml": f"{DOCTYPE}<h1>Opening</h1><p>Turn it left.</p></body></html>",
        "OEBPS/text/two.xhtml": f"{DOCTYPE}<h1>Limits</h1><p>It opens at 12 bar.</p></body></html>",
        **more,
    }
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return data.getvalue()


@pytest.mark.parametrize("name", ["handbook.epub", "download"])
def test_an_e_book_is_read_in_reading_order(name: str) -> None:
    parsed = read(book(), name)
    assert (parsed.title, parsed.date, parsed.media_type) == ("Valve handbook", "2024-05-01", "application/epub+zip")
    assert parsed.markdown == "# Opening\n\nTurn it left.\n\n# Limits\n\nIt opens at 12 bar.\n"


def test_a_copy_protected_book_is_refused_unless_only_fonts_are_locked() -> None:
    locked = '<encryption><EncryptedData><CipherReference URI="OEBPS/{}"/></EncryptedData></encryption>'
    assert "copy-protected" in refusal(book(**{"META-INF/encryption.xml": locked.format("text/two.xhtml")}), "a.epub")
    assert "12 bar" in read(book(**{"META-INF/encryption.xml": locked.format("font.otf")}), "a.epub").markdown


def test_broken_and_dangerous_books_are_refused() -> None:
    assert "not a complete e-book" in refusal(book()[:400], "a.epub")
    assert "lacks the list of its parts" in refusal(book(**{"META-INF/container.xml": "<container/>"}), "a.epub")
    bomb = '<!DOCTYPE package [<!ENTITY a "BOOM">]>' + PACKAGE
    assert "declares entities" in refusal(book(**{"OEBPS/book.opf": bomb}), "a.epub")


def test_document_types_and_missing_pages_do_not_lose_the_book() -> None:
    ncx = '<!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" "http://www.daisy.org/z3986/2005/ncx-2005-1.dtd"><ncx/>'
    typed = PACKAGE.replace("?>", '?><!DOCTYPE package SYSTEM "book.dtd">', 1)
    parsed = read(book(**{"OEBPS/toc.ncx": ncx, "OEBPS/book.opf": typed}), "a.epub")
    assert "12 bar" in parsed.markdown and parsed.warnings == ()
    bomb = '<!DOCTYPE ncx [<!ENTITY a "BOOM">]><ncx>&a;</ncx>'
    parsed = read(book(**{"OEBPS/toc.ncx": bomb}), "a.epub")
    assert "12 bar" in parsed.markdown and "OEBPS/toc.ncx" in parsed.warnings[0]
    lost = PACKAGE.replace("text/two.xhtml", "text/lost.xhtml")
    parsed = read(book(**{"OEBPS/book.opf": lost}), "a.epub")
    assert parsed.warnings == ("pages that are missing or cannot be read: OEBPS/text/lost.xhtml",)


def test_entities_in_a_chapter_are_not_expanded() -> None:
    page = '<!DOCTYPE html [<!ENTITY x SYSTEM "file:///etc/hostname"><!ENTITY y "BOOM">]><p>a &x; &y; b</p>'
    assert "BOOM" not in read(book(**{"OEBPS/text/two.xhtml": page}), "a.epub").markdown


# -- notebooks --------------------------------------------------------------------------------------------------------


def notebook(*cells: dict[str, Any]) -> str:
    return json.dumps({"metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "cells": list(cells)})


def test_a_notebook_is_read_with_text_code_and_output() -> None:
    table = "<table><tr><th>die</th><th>mm</th></tr><tr><td>x4</td><td>12</td></tr></table>"
    data = notebook(
        {"cell_type": "markdown", "source": ["# Yield of the x4\n", "Measured in March."]},
        {
            "cell_type": "code",
            "source": ["# not a title\n", "show(frame)"],
            "outputs": [
                {"output_type": "stream", "text": ["\x1b[31m3 dies\x1b[0m\n"]},
                {"output_type": "display_data", "data": {"text/html": [table], "text/plain": ["die mm"]}},
                {"output_type": "display_data", "data": {"image/png": "iVBORw0KGgo="}},
                {"output_type": "error", "ename": "KeyError", "evalue": "'x8'", "traceback": ["long"]},
            ],
        },
        {"cell_type": "raw", "source": "Read for its words."},
    )
    parsed = read(data, "yield.ipynb")
    assert parsed.title == "Yield of the x4"
    assert parsed.markdown == (
        "# Yield of the x4\nMeasured in March.\n\n```python\n# not a title\nshow(frame)\n```\n\n```\n3 dies\n```\n\n"
        "| die | mm |\n| --- | --- |\n| x4 | 12 |\n\n\n```\nKeyError: 'x8'\n```\n\nRead for its words.\n"
    )


def test_code_with_fences_stays_one_block_and_long_output_is_cut() -> None:
    fenced = {"cell_type": "code", "source": 'print("""```""")', "outputs": []}
    assert "````python\n" in read(notebook(fenced), "a.ipynb").markdown
    long = {"cell_type": "code", "source": "x", "outputs": [{"output_type": "stream", "text": "y" * 10_000}]}
    assert len(read(notebook(long), "a.ipynb").markdown) < 4_100


def test_a_notebook_of_format_3_is_read() -> None:
    cells = [{"cell_type": "heading", "level": 2, "source": "Limits"}, {"cell_type": "code", "input": "x = 1"}]
    markdown = read(json.dumps({"worksheets": [{"cells": cells}]}), "a.ipynb").markdown
    assert markdown == "## Limits\n\n```\nx = 1\n```\n"


@pytest.mark.parametrize("data", ["{", "[]", '{"a": 1}', '{"cells": 3}'])
def test_a_file_that_is_not_a_notebook_is_refused(data: str) -> None:
    assert "notebook" in refusal(data, "a.ipynb")


# -- JSON -------------------------------------------------------------------------------------------------------------


def test_a_json_object_becomes_a_list_of_fields_and_sections() -> None:
    value = {
        "name": "Valve V7",
        "limits": {"opens": "12 bar", "closes": 9.5, "checked": True, "by": None},
        "parts": [{"part": "Seal", "pieces": 2}, {"part": "Spring", "pieces": 1}],
        "colours": ["red", "blue"],
    }
    parsed = read(json.dumps(value), "v7.json")
    assert parsed.title == "Valve V7"
    assert parsed.markdown == (
        "- name: Valve V7\n- colours: red, blue\n\n## limits\n\n- opens: 12 bar\n- closes: 9.5\n- checked: yes\n\n"
        "## parts\n\n| part | pieces |\n| --- | --- |\n| Seal | 2 |\n| Spring | 1 |\n"
    )


def test_different_json_objects_become_sections_with_headings() -> None:
    value = [{"title": "Reset", "steps": [{"do": "Hold the button", "for": {"seconds": 5}}]}, {"id": 7, "text": "x\ny"}]
    headings = [line for line in read(json.dumps(value), "a.json").markdown.splitlines() if line.startswith("#")]
    assert headings == ["## Reset", "### steps", "#### Entry 1", "##### for", "## 7", "### text"]


def test_json_numbers_keep_their_written_form() -> None:
    assert read('{"version": 1.10, "price": 9.50, "serial": 000}'.replace("000", "9" * 5_000), "a.json").markdown == (
        f"- version: 1.10\n- price: 9.50\n\n## serial\n\n{'9' * 5_000}\n"
    )
    assert "| x4 | 1.10 |" in read('{"die": "x4", "rev": 1.10}\n{"die": "x8", "rev": 2}\n', "dies.jsonl").markdown


def test_json_lines_are_read_and_invalid_ones_are_reported() -> None:
    lines = '{"die": "x4", "mm": 12}\nnot json\n\n{"die": "x8", "mm": 14}\n'
    parsed = read(lines, "dies.jsonl")
    assert parsed.markdown == "| die | mm |\n| --- | --- |\n| x4 | 12 |\n| x8 | 14 |\n"
    assert parsed.warnings == ("no JSON, left out: line 2",)


def test_invalid_json_is_refused_with_the_place() -> None:
    assert "line 1 column 7" in refusal('{"a": }', "a.json")
    assert "nested too deeply" in refusal("[" * 100_000, "a.json")
    assert "no line of it is JSON" in refusal("a\nb\n", "a.jsonl")
    assert "ARGOT_PARSE_SECONDS" in refusal(json.dumps([1] * 60_000), "a.json", ReadLimits(seconds=0.01))


# -- files without a suffix -------------------------------------------------------------------------------------------


def test_files_without_a_suffix_are_read_by_their_content(tmp_path: Path) -> None:
    (tmp_path / "README").write_text("# Valves\n\nThey open at 12 bar.\n")
    (tmp_path / "program").write_bytes(b"\x7fELF" + bytes(range(256)) * 20)
    (tmp_path / "notes.xyz").write_text("words")
    found = {source.name: source.skip for source in list_sources([tmp_path])}
    assert found == {
        "README": "",
        "program": "unknown kind of file (no suffix, and no text)",
        "notes.xyz": "unknown kind of file (.xyz)",
    }
    assert read((tmp_path / "README").read_bytes(), "README").media_type == "text/plain"
