"""Content beside the text of slides and the cells of sheets: SmartArt, equations, comments, text boxes and notes."""

import datetime
import io
import zipfile

import openpyxl
import pptx
import pytest
from lxml import etree
from openpyxl.comments import Comment
from pptx.oxml import parse_xml

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers import read_document
from argot.corpus.readers.moment_formats import format_moment
from argot.corpus.readers.sheet_parts import read_header_texts
from argot.types import DocumentField, ParsedDocument

RELATED = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
A = "http://schemas.openxmlformats.org/drawingml/2006/main"


def read_with(made: object, name: str, owner: str, kind: str, target: str, parts: dict[str, str]) -> ParsedDocument:
    """Read a file after adding `parts` and a relationship from `owner` to `target`."""
    buffer, changed = io.BytesIO(), io.BytesIO()
    made.save(buffer)  # type: ignore[attr-defined]
    folder, _, part = owner.rpartition("/")
    rels = f"{folder}/_rels/{part}.rels"
    joined = f'<Relationship Id="rId90" Type="{kind}" Target="/{target}"/></Relationships>'
    blank = '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"></Relationships>'
    with zipfile.ZipFile(buffer) as old, zipfile.ZipFile(changed, "w") as new:
        for each in old.namelist():
            if each != rels:
                new.writestr(each, old.read(each))
        before = old.read(rels).decode() if rels in old.namelist() else blank
        new.writestr(rels, before.replace("</Relationships>", joined))
        for each, xml in parts.items():
            new.writestr(each, xml)
    return read_document(changed.getvalue(), name, ReadLimits())


def deck() -> pptx.presentation.Presentation:
    made = pptx.Presentation()
    made.slides.add_slide(made.slide_layouts[5]).shapes.title.text = "Plan"
    return made


def test_smartart_of_a_slide_becomes_a_list() -> None:
    made = deck()
    dgm = "http://schemas.openxmlformats.org/drawingml/2006/diagram"
    frame = (
        f'<p:graphicFrame xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:a="{A}">'
        '<p:nvGraphicFramePr><p:cNvPr id="9" name="d"/><p:cNvGraphicFramePr/><p:nvPr/></p:nvGraphicFramePr><p:xfrm/>'
        f'<a:graphic><a:graphicData uri="{dgm}"><dgm:relIds xmlns:dgm="{dgm}" xmlns:r="{RELATED}" r:dm="rId90"/>'
        "</a:graphicData></a:graphic></p:graphicFrame>"
    )
    made.slides[0].shapes._spTree.append(parse_xml(frame))
    box = '<dgm:pt modelId="1"><dgm:t><a:p><a:r><a:t>Check the seals</a:t></a:r></a:p></dgm:t></dgm:pt>'
    data = f'<dgm:dataModel xmlns:dgm="{dgm}" xmlns:a="{A}"><dgm:ptLst>{box}</dgm:ptLst></dgm:dataModel>'
    target = "ppt/diagrams/data1.xml"
    parsed = read_with(made, "a.pptx", "ppt/slides/slide1.xml", f"{RELATED}/diagramData", target, {target: data})
    assert "- Check the seals" in parsed.markdown and parsed.warnings == ()
    broken = read_with(made, "a.pptx", "ppt/slides/slide1.xml", f"{RELATED}/diagramData", target, {target: "<a/>"})
    assert broken.warnings == ("1 diagram was not read",)


def test_equations_of_a_slide_stay_in_their_sentence() -> None:
    made = deck()
    paragraph = made.slides[0].shapes.add_textbox(0, 0, 9, 9).text_frame.paragraphs[0]
    paragraph.text = "The load is "
    math = (
        '<a14:m xmlns:a14="http://schemas.microsoft.com/office/drawing/2010/main"><m:oMath xmlns:m='
        '"http://schemas.openxmlformats.org/officeDocument/2006/math"><m:r><m:t>x=5</m:t></m:r></m:oMath></a14:m>'
    )
    paragraph._p.append(etree.fromstring(math))
    buffer = io.BytesIO()
    made.save(buffer)
    assert "The load is $x = 5$" in read_document(buffer.getvalue(), "a.pptx", ReadLimits()).markdown


def test_comments_on_a_slide_become_notes() -> None:
    made = deck()
    xml = '<p:cmLst xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"><p:cm authorId="0"><p:text>Use berth 4.</p:text></p:cm></p:cmLst>'  # noqa: E501
    target = "ppt/comments/comment1.xml"
    parsed = read_with(made, "a.pptx", "ppt/slides/slide1.xml", f"{RELATED}/comments", target, {target: xml})
    assert "**Note:** Use berth 4." in parsed.markdown


def book() -> openpyxl.Workbook:
    made = openpyxl.Workbook()
    made.active.append(["Part", "Stock"])
    made.active.append(["Gasket", 40])
    return made


def test_text_boxes_of_a_sheet_are_read() -> None:
    xdr = "http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing"
    body = f"<xdr:txBody><a:p xmlns:a='{A}'><a:r><a:t>The store closes at 16:30.</a:t></a:r></a:p></xdr:txBody>"
    xml = f'<xdr:wsDr xmlns:xdr="{xdr}"><xdr:twoCellAnchor><xdr:sp>{body}</xdr:sp></xdr:twoCellAnchor></xdr:wsDr>'
    target = "xl/drawings/drawing9.xml"
    for made in (book(), openpyxl.Workbook()):
        parsed = read_with(made, "a.xlsx", "xl/worksheets/sheet1.xml", f"{RELATED}/drawing", target, {target: xml})
        assert "The store closes at 16:30." in parsed.markdown


def test_notes_on_visible_cells_alone_are_read() -> None:
    made = book()
    made.active["B2"].comment = Comment("Reorder at 15 pieces.", "Ann")
    made.active["D2"].comment = Comment("Secret price", "Ann")
    made.active.column_dimensions["D"].hidden = True
    made.active.oddFooter.left.text = "Document no. QP-4471 Rev. 3 Approved by: Ann Lee"
    buffer = io.BytesIO()
    made.save(buffer)
    parsed = read_document(buffer.getvalue(), "a.xlsx", ReadLimits())
    assert "Note on B2 (Ann): Reorder at 15 pieces." in parsed.markdown and "Secret" not in parsed.markdown
    assert (
        DocumentField("document_number", "QP-4471") in parsed.fields
        and DocumentField("revision", "3") in parsed.fields
        # As in Word files.
        and DocumentField("approved_by", "Ann Lee") in parsed.fields
    )


def test_threads_of_comments_are_read_with_their_authors() -> None:
    xml = '<T xmlns="x"><threadedComment ref="A2" personId="p"><text>Is this right?</text></threadedComment></T>'
    target = "xl/threadedComments/threadedComment1.xml"
    kind = "http://schemas.microsoft.com/office/2017/10/relationships/threadedComment"
    parsed = read_with(book(), "a.xlsx", "xl/worksheets/sheet1.xml", kind, target, {target: xml})
    assert "Note on A2: Is this right?" in parsed.markdown


def test_format_codes_are_removed_from_sheet_headers() -> None:
    xml = (
        b'<headerFooter><oddHeader>&amp;L&amp;"Arial,Bold"&amp;12Stock list&amp;RPage &amp;P</oddHeader></headerFooter>'
    )
    assert read_header_texts(xml) == ["Stock list", "Page"]


@pytest.mark.parametrize(
    ("value", "number_format", "shown"),
    [
        (datetime.timedelta(hours=31, minutes=20), "[h]:mm", "31:20"),
        (datetime.timedelta(minutes=95), "[mm]:ss", "95:00"),
        (datetime.datetime(1992, 12, 28, 6, 15, 0, 687), "h:mm AM/PM", "6:15 AM"),
        (datetime.time(18, 5), "h:mm AM/PM", "6:05 PM"),
        (datetime.datetime(2024, 5, 1), "dd/mm/yyyy", "2024-05-01"),
        (datetime.datetime(2024, 5, 1, 17, 30), "dd/mm/yyyy h:mm", "2024-05-01 17:30:00"),
    ],
)
def test_dates_and_times_are_read_as_they_are_shown(value: datetime.datetime, number_format: str, shown: str) -> None:
    assert format_moment(value, number_format) == shown
