"""OpenDocument files and a drawing of Visio, written as XML by hand, each with structures that are easily lost.

Their gold standards are in tests/corpus/gold.
"""

from __future__ import annotations

import io
import zipfile

_NAMES = " ".join(
    f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for prefix, name in {
        "office": "office", "text": "text", "table": "table", "draw": "drawing", "style": "style", "chart": "chart",
        "presentation": "presentation", "svg": "svg-compatible", "meta": "meta",
    }.items()
)  # fmt: skip
_NAMES += ' xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xlink="http://www.w3.org/1999/xlink"'
_OUTLINE = """<text:outline-style style:name="Outline">
<text:outline-level-style text:level="1" style:num-format="1"/>
<text:outline-level-style text:level="2" style:num-format="1" text:display-levels="2"/></text:outline-style>"""


def zip_parts(parts: dict[str, str | bytes], mimetype: str = "") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        if mimetype:
            archive.writestr("mimetype", mimetype)
        for name, content in parts.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def open_document(
    kind: str, body: str, styles: str = "", *, common: str = "", meta: str = "", parts: dict[str, str] | None = None
) -> bytes:
    """Return an OpenDocument file.

    Args:
        kind: "text", "spreadsheet" or "presentation".
        styles: the automatic styles of its content; `common`: those of `styles.xml`.
    """
    content = (
        f"<office:document-content {_NAMES}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    )
    written = {
        "content.xml": content,
        "styles.xml": f"<office:document-styles {_NAMES}>{common}</office:document-styles>",
        "meta.xml": f"<office:document-meta {_NAMES}><office:meta>{meta}</office:meta></office:document-meta>",
        **(parts or {}),
    }
    return zip_parts(dict(written), f"application/vnd.oasis.opendocument.{kind}")


def paragraph(text: str, style: str = "Standard") -> str:
    return f'<text:p text:style-name="{style}">{text}</text:p>'


def letter() -> bytes:
    """Make a text with numbered headings, nested lists, a note, a comment, hidden and deleted text, and a formula."""
    styles = """
<style:style style:name="Low" style:family="text"><style:text-properties style:text-position="sub 58%"/></style:style>
<style:style style:name="Gone" style:family="text"><style:text-properties text:display="none"/></style:style>
<text:list-style style:name="L1"><text:list-level-style-number text:level="1" style:num-format="1"/>
<text:list-level-style-bullet text:level="2" text:bullet-char="-"/></text:list-style>"""
    body = f"""
<text:tracked-changes><text:changed-region><text:deletion>{paragraph("A sentence that was deleted.")}</text:deletion>
</text:changed-region></text:tracked-changes>
{paragraph("Rules of the kiln", "Title")}
<text:h text:outline-level="1">Firing</text:h>
<text:h text:outline-level="2">Before</text:h>
<text:p>Heat it to 900&#160;°C<text:note text:note-class="footnote"><text:note-citation>7</text:note-citation>
<text:note-body>{paragraph("Measured at the door.")}</text:note-body></text:note> and keep
<office:annotation office:name="a1"><dc:creator>Ann Lee</dc:creator>{paragraph("Is that enough?")}
</office:annotation>two hours<office:annotation-end office:name="a1"/><text:span text:style-name="Gone">
secretly</text:span>.</text:p>
<text:p>H<text:span text:style-name="Low">2</text:span>O<text:s text:c="2"/>steams &lt;b&gt;off&lt;/b&gt;.</text:p>
<text:list text:style-name="L1"><text:list-item>{paragraph("Open the flap")}<text:list><text:list-item>
{paragraph("slowly")}</text:list-item></text:list></text:list-item><text:list-item>{paragraph("Light it")}
</text:list-item></text:list>
<text:h text:outline-level="2">After</text:h>
<table:table><table:table-header-rows><table:table-row><table:table-cell>{paragraph("Ware")}</table:table-cell>
<table:table-cell table:number-columns-spanned="2">{paragraph("Days")}</table:table-cell><table:covered-table-cell/>
</table:table-row></table:table-header-rows>
<table:table-row><table:table-cell>{paragraph("Bowls")}</table:table-cell><table:table-cell>{paragraph("2")}
</table:table-cell><table:table-cell>{paragraph("3")}</table:table-cell></table:table-row></table:table>
<text:p>As in <draw:frame><draw:object xlink:href="./Object 1"/></draw:frame> shown.
<draw:frame><draw:text-box>{paragraph("Mind the heat!")}</draw:text-box></draw:frame></text:p>
<text:section text:display="none">{paragraph("A hidden section.")}</text:section>"""
    formula = (
        '<math xmlns="http://www.w3.org/1998/Math/MathML"><semantics><mrow><mi>a</mi><mo>=</mo><mi>b</mi></mrow>'
        '<annotation encoding="StarMath 5.0">a = b</annotation></semantics></math>'
    )
    footer = f"<style:footer>{paragraph('Document no. K-17')}</style:footer>"
    return open_document(
        "text", body, styles,
        common=f"<office:styles>{_OUTLINE}</office:styles><office:master-styles><style:master-page>{footer}"
        "</style:master-page></office:master-styles>",
        meta="<dc:title>Kiln rules</dc:title><meta:initial-creator>Bo Berg</meta:initial-creator>"
        "<dc:date>2024-03-05T10:00:00</dc:date><meta:keyword>kiln</meta:keyword>",
        parts={"Object 1/content.xml": formula},
    )  # fmt: skip


def cell(text: str, more: str = "") -> str:
    return f"<table:table-cell {more}>{paragraph(text)}</table:table-cell>"


def spreadsheet() -> bytes:
    """Make sheets with formats, merged, repeated and hidden cells, a note, and markup in a cell."""
    styles = (
        '<style:style style:name="Off" style:family="table">'
        '<style:table-properties table:display="false"/></style:style>'
    )
    note = f"<office:annotation><dc:creator>Ann</dc:creator>{paragraph('Checked twice')}</office:annotation>"
    blank = '<table:table-cell table:number-columns-repeated="16380"/>'
    body = f"""
<table:table table:name="Stock"><table:table-column/><table:table-column table:visibility="collapse"/>
<table:table-column table:number-columns-repeated="3"/>
<table:table-row>{cell("Item")}{cell("Cost price")}{cell("Price")}{cell("Share")}{blank}</table:table-row>
<table:table-row>{cell("Bowl &lt;b&gt;", 'table:number-rows-spanned="2"')}{cell("secret 1")}{cell("1,234.50 €")}
<table:table-cell office:value-type="percentage" office:value="0.075">{note}{paragraph("7.5%")}</table:table-cell>
</table:table-row>
<table:table-row><table:covered-table-cell/>{cell("secret 2")}{cell("=SUM(A1)")}{cell("2024-05-01")}</table:table-row>
<table:table-row table:visibility="filter">{cell("filtered row")}</table:table-row>
<table:table-row>{cell("Jug")}<table:table-cell/>{cell("9", 'table:number-columns-repeated="2"')}</table:table-row>
<table:table-row table:number-rows-repeated="1048570">{blank}</table:table-row></table:table>
<table:table table:name="Notes" table:style-name="Off"><table:table-row>{cell("hidden sheet")}</table:table-row>
</table:table>"""
    return open_document("spreadsheet", body, styles)


def open_slides() -> bytes:
    """Make slides with a title, bullets, a table, notes and an empty placeholder; one slide is hidden."""
    styles = (
        '<style:style style:name="No" style:family="drawing-page">'
        '<style:drawing-page-properties presentation:visibility="hidden"/></style:style>'
    )
    bullets = f"<text:list><text:list-item>{paragraph('Clay')}</text:list-item></text:list>"

    def frame(kind: str, text: str, more: str = "") -> str:
        return f'<draw:frame presentation:class="{kind}" {more}><draw:text-box>{text}</draw:text-box></draw:frame>'

    body = f"""
<draw:page draw:name="page1">{frame("title", paragraph("Pots and pans"))}{frame("outline", bullets)}
{frame("page-number", paragraph("<text:page-number>1</text:page-number>"))}
<draw:custom-shape>{paragraph("In a star")}</draw:custom-shape>
<presentation:notes>{frame("notes", paragraph("Say it slowly."))}</presentation:notes></draw:page>
<draw:page draw:style-name="No">{frame("title", paragraph("Not for everyone"))}</draw:page>
<draw:page>{frame("title", paragraph("Click to add"), 'presentation:placeholder="true"')}<draw:frame><table:table>
<table:table-row>{cell("Pot")}{cell("Litres")}</table:table-row><table:table-row>{cell("Small")}{cell("2")}
</table:table-row></table:table></draw:frame></draw:page>"""
    return open_document("presentation", body, styles)


# -- Visio ------------------------------------------------------------------------------------------------------------

_VISIO = 'xmlns="http://schemas.microsoft.com/office/visio/2012/main"'
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def relations(*targets: tuple[str, str, str]) -> str:
    """Return the relationships of a part: id, kind and target of each."""
    listed = "".join(
        f'<Relationship Id="{id_}" Type="{_RELATIONS}/{kind}" Target="{target}"/>' for id_, kind, target in targets
    )
    return (
        f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{listed}</Relationships>'
    )


def shape(number: int, place: tuple[float, float], text: str = "", more: str = "") -> str:
    x, y = place
    words = f"<Text>{text}</Text>" if text else ""
    return f'<Shape ID="{number}" {more}><Cell N="PinX" V="{x}"/><Cell N="PinY" V="{y}"/>{words}</Shape>'


def drawing() -> bytes:
    """Make pages with shapes out of order, a connector, shape data, a master's text and a comment."""
    data = (
        '<Shape ID="3"><Cell N="PinX" V="1"/><Cell N="PinY" V="2"/><Section N="Property"><Row N="a">'
        '<Cell N="Label" V="Owner"/>'
        '<Cell N="Value" V="Bo Berg"/></Row></Section><Text>Store</Text></Shape>'
    )
    stop = shape(5, (6, 2), more='Master="9"')
    page = (
        f"<PageContents {_VISIO}><Shapes>{data}{shape(2, (4, 8), 'Kiln &lt;hot&gt;')}"
        f"{shape(1, (1, 8.05), 'Clay <fld>5</fld> kg')}{shape(4, (2, 6), 'fires')}{stop}</Shapes><Connects>"
        '<Connect FromSheet="4" FromCell="BeginX" ToSheet="1"/><Connect FromSheet="4" FromCell="EndX" ToSheet="2"/>'
        "</Connects></PageContents>"
    )
    rel = '<Rel xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" r:id="rId1"/>'
    return zip_parts({
        "[Content_Types].xml": "<Types/>",
        "_rels/.rels": relations(("rId1", "officeDocument", "visio/document.xml")),
        "visio/document.xml": f"<VisioDocument {_VISIO}/>",
        "visio/_rels/document.xml.rels": relations(
            ("rId1", "pages", "pages/pages.xml"), ("rId2", "masters", "masters/masters.xml"),
            ("rId3", "comments", "comments.xml"),
        ),
        "visio/pages/pages.xml": f'<Pages {_VISIO}><Page ID="0" Name="From clay to pot">{rel}</Page></Pages>',
        "visio/pages/_rels/pages.xml.rels": relations(("rId1", "page", "page1.xml")),
        "visio/pages/page1.xml": page,
        "visio/masters/masters.xml": f'<Masters {_VISIO}><Master ID="9">{rel}</Master></Masters>',
        "visio/masters/_rels/masters.xml.rels": relations(("rId1", "master", "master1.xml")),
        "visio/masters/master1.xml": f'<MasterContents {_VISIO}><Shapes>{shape(5, (0, 0), "Stop sign")}</Shapes>'
        "</MasterContents>",
        "visio/comments.xml": f'<Comments {_VISIO}><AuthorList><AuthorEntry ID="1" Name="Ann"/></AuthorList>'
        '<CommentList><CommentEntry AuthorID="1" PageID="0">Too hot?</CommentEntry></CommentList></Comments>',
    })  # fmt: skip
