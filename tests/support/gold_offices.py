"""Generated Office files, web pages and a book, each with structures that are easily lost.

Their gold standards are in tests/corpus/gold.
"""

from __future__ import annotations

import io
import zipfile
from typing import Any

from docx import Document
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import nsdecls, qn
from docx.shared import Pt
from openpyxl import Workbook
from PIL import Image
from pptx import Presentation
from pptx.chart.data import CategoryChartData, XyChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

FOOTNOTES_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"
FOOTNOTES_RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"


def saved(document: Any) -> bytes:
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


# -- Word -------------------------------------------------------------------------------------------------------------


def word_report() -> bytes:
    """Make a file with styles, nested lists, a footnote, a text box and a comment, which is not part of the text."""
    document = Document()
    document.add_heading("Report on the winter service", 0)
    document.add_heading("Roads", 1)
    document.add_paragraph("The main roads were cleared on 41 days.")
    document.add_heading("Grit", 2)
    document.add_paragraph("Grit is kept")
    document.add_paragraph("in the old depot", style="List Bullet")
    document.add_paragraph("behind the scales", style="List Bullet 2")
    document.add_paragraph("in the silo", style="List Bullet")
    document.add_heading("Paths", 1)
    document.add_paragraph("Check the spreader", style="List Number")
    document.add_paragraph("Fill it", style="List Number")
    noted = document.add_paragraph("The paths in the park were closed for two weeks")
    footnote(document, noted, "From 3 to 17 January.")
    noted.add_run(".")
    said = document.add_paragraph("Nobody was hurt.")
    document.add_comment(said.runs, text="Is that so?", author="Reviewer", initials="R")
    boxed(document.add_paragraph(), "In an emergency call 4711.")
    document.add_paragraph("The service ended on 20 March.")
    return saved(document)


def footnote(document: Any, paragraph: Any, text: str) -> None:
    """Add a footnote, which python-docx cannot: the part, its relationship and the mark."""
    from docx.opc.packuri import PackURI
    from docx.opc.part import Part

    xml = (
        f'<w:footnotes {nsdecls("w")}><w:footnote w:id="2"><w:p><w:r><w:footnoteRef/></w:r>'
        f"<w:r><w:t> {text}</w:t></w:r></w:p></w:footnote></w:footnotes>"
    )
    part = Part(PackURI("/word/footnotes.xml"), FOOTNOTES_TYPE, xml.encode(), document.part.package)
    document.part.relate_to(part, FOOTNOTES_RELATION)
    mark = OxmlElement("w:footnoteReference")
    mark.set(qn("w:id"), "2")
    run = paragraph.add_run()
    run.font.superscript = True
    run._r.append(mark)


def boxed(paragraph: Any, text: str) -> None:
    """Return a text box as Word writes it: once for new programs, once for old ones."""
    content = f"<w:txbxContent><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:txbxContent>"
    spaces = (
        f'{nsdecls("w", "wp", "a")} xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
        'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
        'xmlns:v="urn:schemas-microsoft-com:vml"'
    )
    uri = "http://schemas.microsoft.com/office/word/2010/wordprocessingShape"
    drawing = (
        '<w:drawing><wp:inline><wp:extent cx="2000000" cy="500000"/><wp:docPr id="7" name="Text Box 1"/><a:graphic>'
        f'<a:graphicData uri="{uri}"><wps:wsp><wps:txbx>{content}</wps:txbx></wps:wsp></a:graphicData>'
        "</a:graphic></wp:inline></w:drawing>"
    )
    old = f"<w:pict><v:shape><v:textbox>{content}</v:textbox></v:shape></w:pict>"
    run = parse_xml(
        f'<w:r {spaces}><mc:AlternateContent><mc:Choice Requires="wps">{drawing}</mc:Choice>'
        f"<mc:Fallback>{old}</mc:Fallback></mc:AlternateContent></w:r>"
    )
    paragraph._p.append(run)


def word_tables() -> bytes:
    """Make tables with merged cells: a heading over two columns, a name over two rows."""
    document = Document()
    document.add_heading("Shifts", 1)
    rows = [
        ["Team", "Hours", ""],
        ["", "from", "to"],
        ["Early", "06:00", "14:00"],
        ["Late", "14:00", "22:00"],
        ["", "15:00", "23:00"],
    ]
    table = document.add_table(rows=len(rows), cols=3)
    table.style = "Table Grid"
    for row, texts in enumerate(rows):
        for column, text in enumerate(texts):
            table.cell(row, column).text = text
    table.cell(0, 1).merge(table.cell(0, 2)).text = "Hours"
    table.cell(0, 0).merge(table.cell(1, 0)).text = "Team"
    table.cell(3, 0).merge(table.cell(4, 0)).text = "Late"
    for row in table.rows[:2]:
        properties = row._tr.get_or_add_trPr()
        properties.append(OxmlElement("w:tblHeader"))
    document.add_paragraph("On holidays only the early team works.")
    return saved(document)


def word_by_hand() -> bytes:
    """Make a file without heading styles: headings are large bold lines, and code is in a monospaced font."""
    document = Document()
    for text, size in (("Rules for the workshop", 20), ("Machines", 15)):
        run = document.add_paragraph().add_run(text)
        run.bold, run.font.size = True, Pt(size)
    document.add_paragraph("Nobody works alone at the lathe. The key stays with the foreman over night.")
    run = document.add_paragraph().add_run("Air")
    run.bold, run.font.size = True, Pt(15)
    document.add_paragraph("The compressor runs from six to six. Its tank is drained on Fridays.")
    return saved(document)


# -- slides -----------------------------------------------------------------------------------------------------------


def slides() -> bytes:
    deck = Presentation()
    first = deck.slides.add_slide(deck.slide_layouts[0])
    first.shapes.title.text = "Energy review"
    first.placeholders[1].text = "Works council, May"
    points = deck.slides.add_slide(deck.slide_layouts[1])
    points.shapes.title.text = "What we saved"
    frame = points.placeholders[1].text_frame
    frame.text = "Heating"
    for text, level in (("lower at night", 1), ("off in the halls", 1), ("Light", 0)):
        paragraph = frame.add_paragraph()
        paragraph.text, paragraph.level = text, level
    points.notes_slide.notes_text_frame.text = "Say that the halls were warm enough.\nAsk for questions."
    table = deck.slides.add_slide(deck.slide_layouts[5])
    table.shapes.title.text = "Meters"
    cells = table.shapes.add_table(4, 3, Inches(1), Inches(2), Inches(6), Inches(2)).table
    rows = [["Meter", "kWh", ""], ["", "2023", "2024"], ["North", "410", "380"], ["South", "295", "301"]]
    for row, texts in enumerate(rows):
        for column, text in enumerate(texts):
            cells.cell(row, column).text = text
    cells.cell(0, 1).merge(cells.cell(0, 2))
    cells.cell(0, 0).merge(cells.cell(1, 0))
    return saved(deck)


def slides_with_charts() -> bytes:
    """Make slides with a column chart, a scatter chart, a picture with an alternative text, and a picture alone."""
    deck = Presentation()
    bars = deck.slides.add_slide(deck.slide_layouts[5])
    bars.shapes.title.text = "Visitors"
    data = CategoryChartData()
    data.categories = ["Spring", "Summer", "Autumn"]
    data.add_series("Museum", (1200, 3400.5, None))
    data.add_series("Tower", (300, 950, 410))
    place = (Inches(1), Inches(2), Inches(6), Inches(4))
    chart = bars.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *place, data).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = "Visitors by season"
    points = deck.slides.add_slide(deck.slide_layouts[5])
    points.shapes.title.text = "Flow and pressure"
    pairs = XyChartData()
    series = pairs.add_series("Pump P1")
    for flow, pressure in ((10, 6.5), (20, 6.0), (30, 4.75)):
        series.add_data_point(flow, pressure)
    points.shapes.add_chart(XL_CHART_TYPE.XY_SCATTER, *place, pairs)
    pictured = deck.slides.add_slide(deck.slide_layouts[5])
    pictured.shapes.title.text = "The hall"
    shown = pictured.shapes.add_picture(io.BytesIO(grey()), Inches(1), Inches(2))
    shown._element._nvXxPr.cNvPr.set("descr", "The hall from the north, with three cranes")
    alone = deck.slides.add_slide(deck.slide_layouts[6])
    alone.shapes.add_picture(io.BytesIO(grey()), Inches(1), Inches(2))
    return saved(deck)


def grey() -> bytes:
    data = io.BytesIO()
    Image.new("L", (60, 40), 128).save(data, "PNG")
    return data.getvalue()


# -- sheets -----------------------------------------------------------------------------------------------------------


def workbook() -> bytes:
    """Make a workbook with a heading over two columns, percentages, dates, and a formula without a value."""
    book = Workbook()
    sheet = book.active
    sheet.title = "Budget"
    for row in (
        ["Budget of the workshop"],
        [],
        ["Item", "Planned", None, "Share"],
        [None, "2023", "2024", "2024"],
        ["Tools", 1200, 1350, 0.45],
        ["Oil", 310.5, 290, 0.1],
        ["Sum", "=SUM(B5:B6)", "=SUM(C5:C6)", None],
    ):
        sheet.append(row)
    sheet.merge_cells("B3:C3")
    sheet.merge_cells("A3:A4")
    for row in (5, 6):
        sheet.cell(row, 4).number_format = "0%"
    other = book.create_sheet("Dates")
    other.append(["Task", "Done"])
    import datetime

    other.append(["Inventory", datetime.date(2024, 3, 1)])
    return saved(book)


# -- web pages and books ----------------------------------------------------------------------------------------------


def web_page() -> bytes:
    return b"""<!DOCTYPE html><html><head><title>Tide tables | Harbour office</title>
<style>p { color: red }</style><script>track()</script></head><body>
<header><a href="/">Harbour office</a></header>
<nav><ul><li><a href="/a">Home</a></li><li><a href="/b">Contact</a></li></ul></nav>
<main><h1>Tide tables</h1>
<p>Times are local. Heights are in metres above chart datum, and hold for calm weather with a pressure of 1013 hPa.
Strong winds from the west raise the water by half a metre, and those from the east lower it.</p>
<aside class="sidebar"><h2>Related</h2><ul><li><a href="/w">Weather</a></li></ul></aside>
<h2>Today</h2>
<table><thead><tr><th rowspan="2">Place</th><th colspan="2">High water</th></tr><tr><th>time</th><th>height</th></tr>
</thead><tbody><tr><td>Quay</td><td>04:12</td><td>3.1</td></tr><tr><td>Lock</td><td>04:40</td><td>2.9</td></tr></tbody>
</table>
<aside class="note"><p>Heights at the lock hold for open gates.</p></aside>
<h2>How to read them</h2>
<ol><li>Find the place<ul><li>north of the lock</li><li>south of it</li></ul></li><li>Add an hour in summer</li></ol>
<pre><code class="language-sh">tide --place quay
tide --json</code></pre>
<dl><dt>Datum</dt><dd>The lowest tide there can be.</dd></dl>
</main><footer>Imprint</footer></body></html>"""


def book() -> bytes:
    chapter = '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head><body><h1>{}</h1><p>{}</p></body></html>'
    parts = {
        "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OEBPS/content.opf"/></rootfiles></container>',
        "OEBPS/content.opf": '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        "<metadata><dc:title>Keeping bees</dc:title><dc:date>2021-05-04</dc:date></metadata><manifest>"
        '<item id="n" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
        '<item id="b" href="two.xhtml" media-type="application/xhtml+xml"/>'
        '<item id="a" href="one.xhtml" media-type="application/xhtml+xml"/></manifest>'
        '<spine><itemref idref="n"/><itemref idref="a"/><itemref idref="b"/></spine></package>',
        "OEBPS/nav.xhtml": chapter.format("Contents", "One, Two"),
        "OEBPS/one.xhtml": chapter.format("The hive", "A hive holds 40,000 bees in June, and 8,000 in January."),
        "OEBPS/two.xhtml": chapter.format("The honey", "A frame gives two kilograms. Leave the bees fifteen."),
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        for name, text in parts.items():
            archive.writestr(name, text)
    return buffer.getvalue()
