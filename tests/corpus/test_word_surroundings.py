"""Content around the text of Word files: headers, comments, text boxes, embedded parts, nested tables."""

import io
import zipfile
from collections.abc import Callable

import docx
import pytest
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers import read_document
from argot.corpus.readers.header_fields import PAGE_NUMBER_MARK, TODAY_MARK, read_header_rows
from argot.types import DocumentField, ParsedDocument

_NAMES = (
    nsdecls("w", "r", "wp", "a")
    + ' xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office"'
    + ' xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    + ' xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"'
)
_REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def packed(document: "docx.document.Document") -> bytes:
    stream = io.BytesIO()
    document.save(stream)
    return stream.getvalue()


def read(document: "docx.document.Document") -> ParsedDocument:
    return read_document(packed(document), "a.docx", ReadLimits())


def rezip(data: bytes, change: Callable[[str, bytes], bytes], **added: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(stream, "w") as new:
        for name in old.namelist():
            new.writestr(name, change(name, old.read(name)))
        for name, content in added.items():
            new.writestr(name, content)
    return stream.getvalue()


def strict(data: bytes) -> bytes:
    """Return the file with the names of Strict Open XML."""

    def rename(name: str, content: bytes) -> bytes:
        for kind in (b"wordprocessingml", b"officeDocument", b"drawingml"):
            content = content.replace(
                b"schemas.openxmlformats.org/" + kind + b"/2006/", b"purl.oclc.org/ooxml/" + kind + b"/"
            )
        return content

    return rezip(data, rename)


def procedure() -> "docx.document.Document":
    document = docx.Document()
    document.add_heading("Incoming inspection", 1)
    document.add_paragraph("Every delivery is inspected within two days.")
    return document


def append(document: "docx.document.Document", xml: str) -> None:
    document.element.body.insert_element_before(parse_xml(xml.replace(">", f" {_NAMES}>", 1)), "w:sectPr")


# -- headers and footers --------------------------------------------------------------------------------------------


def with_header() -> "docx.document.Document":
    document = procedure()
    section = document.sections[0]
    table = section.header.add_table(2, 3, docx.shared.Inches(6))
    for cell, text in zip(
        [*table.rows[0].cells, *table.rows[1].cells],
        ["Document no.", "Effective date", "Approved by", "QP-4471", "1 March 2025", "Head of Quality"],
        strict=True,
    ):
        cell.text = text
    section.footer.paragraphs[0].text = "Confidentiality class: Restricted. Retention: 9 years."
    return document


@pytest.mark.parametrize("change", [bytes, strict])
def test_headers_and_footers_become_fields_and_text(change: Callable[[bytes], bytes]) -> None:
    parsed = read_document(change(packed(with_header())), "a.docx", ReadLimits())
    assert parsed.markdown == (
        "# Incoming inspection\n\nHeader and footer of the document:\n\n- Document no.: QP-4471\n"
        "- Effective date: 1 March 2025\n- Approved by: Head of Quality\n- Confidentiality class: Restricted\n"
        "- Retention: 9 years\n\nEvery delivery is inspected within two days.\n"
    )
    assert {DocumentField("document_number", "QP-4471"), DocumentField("retention", "9 years")} <= set(parsed.fields)


def test_only_visible_headers_are_read_and_each_once() -> None:
    document = procedure()
    document.sections[0].header.paragraphs[0].text = "QP-4471"
    document.sections[0].first_page_header.paragraphs[0].text = "Cover of QP-4471"
    document.sections[0].even_page_header.paragraphs[0].text = "Old even header"
    second = document.add_section()
    second.header.is_linked_to_previous = False
    second.header.paragraphs[0].text = "QP-4471"
    markdown = read(document).markdown
    assert markdown.count("QP-4471") == 1 and "Old" not in markdown
    document.sections[0].different_first_page_header_footer = True
    assert "- Cover of QP-4471" in read(document).markdown


@pytest.mark.parametrize(
    ("rows", "lines"),
    [
        ([[f"Page {PAGE_NUMBER_MARK} of {PAGE_NUMBER_MARK}"]], []),
        ([["Document:", "QP-4471", "Rev. 3"]], ["Document: QP-4471", "Rev.: 3"]),
        ([["QP-4471", "Owner: Ann Lee"], [f"Printed: {TODAY_MARK}"]], ["QP-4471", "Owner: Ann Lee"]),
        ([["Revision", "3"], ["Effective", "2 May 2025"]], ["Revision: 3", "Effective: 2 May 2025"]),
        ([["Page", PAGE_NUMBER_MARK]], []),
    ],
)
def test_header_rows_are_read_as_labels_and_values(rows: list[list[str]], lines: list[str]) -> None:
    assert [one.line for one in read_header_rows(rows)] == lines


def test_page_numbers_in_simple_fields_are_left_out() -> None:
    document = procedure()
    line = document.sections[0].header.paragraphs[0]
    line.text = "QP-4471\tPage "
    line._element.append(parse_xml(f'<w:fldSimple {_NAMES} w:instr=" PAGE "><w:r><w:t>3</w:t></w:r></w:fldSimple>'))
    assert "document:\n\n- QP-4471\n\nEvery" in read(document).markdown


# -- comments and changes -------------------------------------------------------------------------------------------


def test_a_comment_follows_its_paragraph_as_a_note() -> None:
    document = procedure()
    document.add_comment(document.paragraphs[1].runs, text="Is two enough?", author="Ann Lee")
    document.add_paragraph("Losses are reported.")
    assert read(document).markdown.endswith(
        'two days.\n\nComment by Ann Lee on "Every delivery is inspected within two days.": Is two enough?\n\n'
        "Losses are reported.\n"
    )


def test_tracked_changes_are_reported_by_author() -> None:
    document = procedure()
    run = "<w:r><w:t>{}</w:t></w:r>"
    gone = "<w:r><w:delText>eight</w:delText></w:r>"
    append(
        document,
        f'<w:p><w:del w:id="1" w:author="Ann Lee">{gone}</w:del><w:ins w:id="2" w:author="Ann Lee">{run.format("nine")}'
        "</w:ins></w:p>",
    )
    parsed = read(document)
    assert "nine" in parsed.markdown and "eight" not in parsed.markdown
    assert parsed.warnings == ("2 tracked changes by Ann Lee are not accepted yet",)


# -- text boxes and pictures ----------------------------------------------------------------------------------------

_BOX = (
    "<w:txbxContent><w:sdt><w:sdtContent><w:p><w:r><w:t>The limit is 71 kW.</w:t></w:r></w:p></w:sdtContent></w:sdt>"
    "</w:txbxContent>"
)
_NEW = (
    f'<w:drawing><wp:inline><a:graphic><a:graphicData uri="x"><wps:wsp><wps:txbx>{_BOX}</wps:txbx></wps:wsp>'
    "</a:graphicData></a:graphic></wp:inline></w:drawing>"
)
_OLD = f"<w:pict><v:group><v:oval><v:textbox>{_BOX}</v:textbox></v:oval></v:group></w:pict>"
_CHOICE = f'<mc:AlternateContent><mc:Choice Requires="wps">{_NEW}</mc:Choice>'


@pytest.mark.parametrize(
    "box",
    [
        _NEW,
        _OLD,
        f"{_CHOICE}<mc:Fallback>{_OLD}</mc:Fallback></mc:AlternateContent>",
        f"{_CHOICE}</mc:AlternateContent>",
        f"{_CHOICE}<mc:Fallback><w:pict/></mc:Fallback></mc:AlternateContent>",
        '<w:pict><v:shape><v:textpath string="The limit is 71 kW."/></v:shape></w:pict>',
    ],
)
def test_the_text_of_a_text_box_is_read_once(box: str) -> None:
    document = procedure()
    append(document, f"<w:p><w:r>{box}</w:r></w:p>")
    assert read(document).markdown.count("The limit is 71 kW.") == 1


def test_text_in_simple_fields_and_direction_runs_is_read() -> None:
    document = procedure()
    run = "<w:r><w:t>{}</w:t></w:r>"
    append(
        document,
        f'<w:p>{run.format("Figure ")}<w:fldSimple w:instr="SEQ Figure">{run.format("4")}</w:fldSimple>'
        f'<w:dir w:val="rtl">{run.format(" valve")}</w:dir></w:p>',
    )
    assert "Figure 4 valve" in read(document).markdown


@pytest.mark.parametrize(
    ("width", "alternative", "line", "warnings"),
    [
        (3, "A pump", "Picture: A pump", ()),
        (3, "", None, ("1 picture was not read",)),
        (3, "img_1.png", None, ("1 picture was not read",)),
        (1, "", None, ()),
    ],
)
def test_a_picture_is_read_by_its_description_or_counted(
    width: float, alternative: str, line: str | None, warnings: tuple[str, ...]
) -> None:
    from PIL import Image

    picture = io.BytesIO()
    Image.new("RGB", (9, 9)).save(picture, "png")
    document = procedure()
    shape = document.add_picture(picture, width=docx.shared.Cm(width))
    shape._inline.docPr.set("descr", alternative)
    parsed = read(document)
    assert parsed.warnings == warnings
    assert ("Picture:" in parsed.markdown) == bool(line) and (line or "") in parsed.markdown


# -- embedded parts -------------------------------------------------------------------------------------------------


def with_part(name: str, content: bytes, kind: str, xml: str) -> bytes:
    document = procedure()
    append(document, xml)

    def relate(part: str, old: bytes) -> bytes:
        relation = f'<Relationship Id="rIdX" Type="{_REL}/{kind}" Target="{name}"/>'
        return (
            old.replace(b"</Relationships>", relation.encode() + b"</Relationships>")
            if part == "word/_rels/document.xml.rels"
            else old
        )

    return rezip(packed(document), relate, **{f"word/{name}": content})


def word(text: str) -> bytes:
    document = docx.Document()
    document.add_paragraph(text)
    return packed(document)


_WINCH = "The winch pulls 8 tonnes."
_MHT = f"MIME-Version: 1.0\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<p>{_WINCH}</p>\r\n".encode()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.html", f"<p>{_WINCH}</p>".encode()),
        ("a.mht", _MHT),
        ("a.txt", _WINCH.encode()),
        ("a.rtf", f"{{\\rtf1\\ansi {_WINCH}\\par}}".encode()),
        ("a.docx", word(_WINCH)),
    ],
)
def test_an_embedded_part_of_a_word_file_is_read(name: str, content: bytes) -> None:
    parsed = read_document(
        with_part(name, content, "aFChunk", '<w:altChunk r:id="rIdX"></w:altChunk>'), "a.docx", ReadLimits()
    )
    assert parsed.markdown.endswith(f"two days.\n\n{_WINCH}\n") and parsed.warnings == ()


def test_too_deeply_embedded_parts_give_a_warning() -> None:
    data = word(_WINCH)
    for _ in range(4):
        data = with_part("a.docx", data, "aFChunk", '<w:altChunk r:id="rIdX"></w:altChunk>')
    parsed = read_document(data, "a.docx", ReadLimits())
    assert parsed.markdown.count("Every delivery") == 3 and _WINCH not in parsed.markdown
    assert parsed.warnings == ("a.docx: a.docx: 1 embedded part was not read",)


def test_a_part_that_cannot_be_read_is_counted() -> None:
    data = with_part("a.docx", b"PK no archive", "aFChunk", '<w:altChunk r:id="rIdX"></w:altChunk>')
    assert read_document(data, "a.docx", ReadLimits()).warnings == ("1 embedded part was not read",)


@pytest.mark.parametrize(("name", "is_read"), [("a.docx", True), ("a.bin", False)])
def test_embedded_office_files_become_sections(name: str, is_read: bool) -> None:
    xml = '<w:p><w:r><w:object><o:OLEObject ProgID="Word.Document.12" r:id="rIdX"/></w:object></w:r></w:p>'
    parsed = read_document(with_part(name, word(_WINCH), "package", xml), "a.docx", ReadLimits())
    assert parsed.markdown.endswith(f"\n## Embedded: a.docx\n\n{_WINCH}\n") == is_read
    assert parsed.warnings == (() if is_read else ("1 embedded file was not read",))


def test_a_damaged_part_is_left_out_alone() -> None:
    document = procedure()
    document.add_comment(document.paragraphs[1].runs, text="Is two enough?", author="Ann Lee")
    data = rezip(
        packed(document), lambda name, old: old[:-9] if name in ("word/comments.xml", "word/styles.xml") else old
    )
    parsed = read_document(data, "a.docx", ReadLimits())
    assert "Every delivery" in parsed.markdown
    assert parsed.warnings == ("damaged parts were left out: word/comments.xml, word/styles.xml",)


# -- tables in tables -----------------------------------------------------------------------------------------------


def test_a_small_nested_table_is_written_into_its_cell() -> None:
    document = docx.Document()
    table = document.add_table(3, 2)
    for row, texts in zip(table.rows, [("Hall", "Phone"), ("A", "4401"), ("B", "")], strict=True):
        for cell, text in zip(row.cells, texts, strict=True):
            cell.text = text
    inner = table.cell(2, 1).add_table(2, 2)
    for cell, text in zip(inner._cells, ("day", "4403", "night", "4499"), strict=True):
        cell.text = text
    assert read(document).markdown == (
        "| Hall | Phone |\n| --- | --- |\n| A | 4401 |\n| B | day: 4403; night: 4499 |\n"
    )


def test_a_long_nested_table_is_placed_below_the_table() -> None:
    inner = "".join(f"<tr><td>Person {number} of the duty</td><td>44{number}</td></tr>" for number in range(20))
    rows = "<tr><th>Hall</th><th>Phone</th></tr><tr><td>A</td><td>4401</td></tr>"
    page = f"<table>{rows}<tr><td>B</td><td><table>{inner}</table></td></tr></table><p>End.</p>"
    markdown = read_document(page.encode(), "a.html", ReadLimits()).markdown
    assert "| A | 4401 |\n| B | (table 1 below) |\n\nTable 1 of the table above:\n\n| Person 0" in markdown
    assert markdown.endswith("| Person 19 of the duty | 4419 |\n\nEnd.\n")


# -- form controls ---------------------------------------------------------------------------------------------------


_TEXT_CONTROL = "8BD21D10-EC42-11CE-9E0D-00AA006002F3"
_BUTTON = "d7053240-ce69-11cd-a777-00dd01143c57"


def test_form_controls_that_cannot_be_read_are_counted() -> None:
    document = procedure()
    controls = "".join(
        f'<w:r><w:object><w:control r:id="{document.part.relate_to(_control(number, class_), f"{_REL}/control")}"'
        f' w:name="c{number}"/></w:object></w:r>'
        for number, class_ in enumerate(
            ("8BD21D40-EC42-11CE-9E0D-00AA006002F3", "d7053240-ce69-11cd-a777-00dd01143c57")
        )
    )
    append(document, f"<w:p>{controls}</w:p>")
    assert read(document).warnings == ("1 form control was not read",)


def _control(number: int, class_: str) -> Part:
    xml = f'<ax:ocx xmlns:ax="http://schemas.microsoft.com/office/2006/activeX" ax:classid="{{{class_}}}"/>'
    return Part(PackURI(f"/word/activeX/activeX{number}.xml"), "application/vnd.ms-office.activeX+xml", xml.encode())
