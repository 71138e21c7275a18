"""Packages of Office files and e-books: a bad part loses only itself, and a refusal states the true reason."""

import io
import re
import zipfile
from collections.abc import Callable

import docx
import openpyxl
import pptx
import pytest
from openpyxl.chart import BarChart, Reference
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Cm, Inches

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers import read_document, read_with_ledger
from argot.errors import UnreadableDocument
from argot.types import ParsedDocument

SVG_TYPE = '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">'
LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
BOMB = f'<!DOCTYPE x [<!ENTITY l0 "ha">{LAUGHS}]>'


def read(data: bytes, name: str) -> ParsedDocument:
    return read_document(data, name, ReadLimits())


def refusal(data: bytes, name: str) -> UnreadableDocument:
    with pytest.raises(UnreadableDocument) as refused:
        read(data, name)
    return refused.value


def saved(made: object) -> bytes:
    buffer = io.BytesIO()
    made.save(buffer)  # type: ignore[attr-defined]
    return buffer.getvalue()


def deck(*titles: str) -> bytes:
    made = pptx.Presentation()
    for title in titles:
        made.slides.add_slide(made.slide_layouts[5]).shapes.title.text = title
    return saved(made)


def workbook(*names: str) -> bytes:
    made = openpyxl.Workbook()
    made.remove(made.active)
    for name in names:
        sheet = made.create_sheet(name)
        sheet.append(["Part", "Bar"])
        sheet.append([f"{name} valve", 12])
    return saved(made)


def word_file() -> bytes:
    made = docx.Document()
    made.add_paragraph("The valve opens at 12 bar.")
    return saved(made)


def changed(data: bytes, change: Callable[[str, bytes], bytes | None], **more: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            if (content := change(name, old.read(name))) is not None:
                new.writestr(name, content)
        for name, content in more.items():
            new.writestr(name, content)
    return buffer.getvalue()


def with_type(declaration: str, *endings: str) -> Callable[[str, bytes], bytes]:
    def change(name: str, xml: bytes) -> bytes:
        if not name.endswith(endings):
            return xml
        head, mark, rest = xml.partition(b"?>") if xml.startswith(b"<?xml") else (b"", b"", xml)
        return head + mark + declaration.encode() + rest

    return change


FILES = {".docx": word_file(), ".pptx": deck("Valve 12 bar"), ".xlsx": workbook("Valve 12 bar")}
SECOND = {".docx": "word/styles.xml", ".pptx": "ppt/theme/theme1.xml", ".xlsx": "xl/styles.xml"}
MAIN = {".docx": "word/document.xml", ".pptx": "ppt/presentation.xml", ".xlsx": "xl/workbook.xml"}


@pytest.mark.parametrize("suffix", FILES)
def test_a_document_type_that_declares_nothing_is_harmless(suffix: str) -> None:
    every_part = changed(FILES[suffix], with_type('<!DOCTYPE x SYSTEM "http://127.0.0.1:9/x.dtd">', ".xml", ".rels"))
    assert "12" in read(every_part, f"a{suffix}").markdown
    picture = f'<?xml version="1.0"?>{SVG_TYPE}<svg/>'.encode()
    parsed = read(changed(FILES[suffix], lambda name, xml: xml, **{"media/image1.svg": picture}), f"a{suffix}")
    assert "12" in parsed.markdown and parsed.warnings == ()


@pytest.mark.parametrize("suffix", FILES)
def test_a_part_that_declares_entities_is_left_out_alone(suffix: str) -> None:
    parsed = read(changed(FILES[suffix], with_type(BOMB, SECOND[suffix])), f"a{suffix}")
    assert "12" in parsed.markdown
    assert any("unsafe" in one and SECOND[suffix] in one for one in parsed.warnings)
    refused = refusal(changed(FILES[suffix], with_type(BOMB, MAIN[suffix])), f"a{suffix}")
    assert "unsafe" in refused.reason and MAIN[suffix] in refused.remedy


@pytest.mark.parametrize("suffix", FILES)
def test_a_part_in_an_encoding_that_could_hide_a_declaration_is_not_parsed(suffix: str) -> None:
    hidden = b'<?xml version="1.0" encoding="UTF-7"?>+ADwAIQ-DOCTYPE x [+ADwAIQ-ENTITY l0 "ha"]+AD4-<x/>'
    parsed = read(changed(FILES[suffix], lambda n, x: hidden if n == SECOND[suffix] else x), f"a{suffix}")
    assert any(SECOND[suffix] in one for one in parsed.warnings)


def corrupt(data: bytes, part: str, method: int | None = None) -> bytes:
    """Give `part` a wrong checksum, or another method of compression."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        member = archive.getinfo(part)
        start = archive.start_dir
    at = data.index(part.encode(), start) - 46
    changed_bytes = bytearray(data)
    if method is None:
        changed_bytes[at + 16] ^= 0xFF
    else:
        changed_bytes[at + 10] = method
        changed_bytes[member.header_offset + 8] = method
    return bytes(changed_bytes)


@pytest.mark.parametrize("method", [None, 9])
@pytest.mark.parametrize("suffix", FILES)
def test_a_part_that_cannot_be_unpacked_is_left_out_alone(suffix: str, method: int | None) -> None:
    parsed = read(corrupt(FILES[suffix], SECOND[suffix], method), f"a{suffix}")
    assert "12" in parsed.markdown
    assert any("cannot be unpacked" in one and SECOND[suffix] in one for one in parsed.warnings)
    refused = refusal(corrupt(FILES[suffix], MAIN[suffix], method), f"a{suffix}")
    assert f"'{MAIN[suffix]}' cannot be unpacked" in refused.reason


def test_duplicate_parts_are_reported_and_backslash_paths_are_read() -> None:
    twice = io.BytesIO(FILES[".docx"])
    with pytest.warns(UserWarning), zipfile.ZipFile(twice, "a") as archive:
        archive.writestr("word/document.xml", zipfile.ZipFile(io.BytesIO(FILES[".docx"])).read("word/document.xml"))
    assert "several parts of one name" in read(twice.getvalue(), "a.docx").warnings[0]
    windows = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(FILES[".docx"])) as old, zipfile.ZipFile(windows, "w") as new:
        for name in old.namelist():
            new.writestr(name.replace("/", "\\"), old.read(name))
    assert "12 bar" in read(windows.getvalue(), "a.docx").markdown
    ledger = read_with_ledger(windows.getvalue(), "a.docx", ReadLimits())[1]
    assert ledger.kept > 0 and not ledger.lost


def without(data: bytes, *ends: str) -> bytes:
    return changed(data, lambda name, xml: None if name.endswith(ends) else xml)


def test_a_missing_part_without_text_gives_no_warning() -> None:
    harmless = ("theme1.xml", "presProps.xml", "viewProps.xml", "core.xml", "app.xml")
    for suffix, data in FILES.items():
        assert read(without(data, *harmless), f"a{suffix}").warnings == ()


@pytest.mark.parametrize("part", ["word/header1.xml", "word/numbering.xml"])
def test_a_missing_part_of_a_word_file_is_named(part: str) -> None:
    made = docx.Document()
    made.sections[0].header.paragraphs[0].text = "Document no. QP-4471"
    made.add_paragraph("Close the valve.", style="List Number")
    assert read(saved(made), "a.docx").warnings == ()
    assert read(without(saved(made), part), "a.docx").warnings == (f"missing from the file: {part}",)


@pytest.mark.parametrize("breaks", ["missing", "cut off", "entities"])
def test_a_slide_or_sheet_that_fails_is_left_out_alone(breaks: str) -> None:
    def change(name: str, xml: bytes) -> bytes | None:
        if not name.endswith(("slides/slide2.xml", "worksheets/sheet2.xml")):
            return xml
        return {"missing": None, "cut off": xml[:40], "entities": with_type(BOMB, ".xml")(name, xml)}[breaks]

    slides = read(changed(deck("Pump", "Valve", "Seal"), change), "a.pptx")
    assert "# Pump" in slides.markdown and "# Seal" in slides.markdown and "slide2.xml" in " ".join(slides.warnings)
    assert [page.number for page in slides.pages][-1] == 3
    sheets = read(changed(workbook("Pump", "Valve", "Seal"), change), "a.xlsx")
    assert "Pump valve" in sheets.markdown and "Seal valve" in sheets.markdown and sheets.warnings


@pytest.mark.parametrize("breaks", ["no reference", "missing", "no chart", "cut off"])
def test_a_broken_chart_sheet_is_left_out_alone(breaks: str) -> None:
    def change(name: str, xml: bytes) -> bytes | None:
        match breaks:
            case "no reference" if name == "xl/_rels/workbook.xml.rels":
                return re.sub(rb"<Relationship [^>]*/chartsheets/[^>]*/>", b"", xml)
            case "missing" if "chartsheets/" in name:
                return None
            case "no chart" if "chartsheets/_rels" in name:
                return None
            case "no chart" if "chartsheets/" in name:
                return re.sub(rb"<drawing[^>]*/>", b"", xml)
            case "cut off" if name.startswith("xl/drawings/drawing"):
                return xml[:60]
        return xml

    made = openpyxl.Workbook()
    made.active.append(["Quay", "Ships"])
    made.active.append(["North", 12])
    chart = BarChart()
    chart.add_data(Reference(made.active, min_col=2, min_row=1, max_row=2), titles_from_data=True)
    made.create_chartsheet("Plot").add_chart(chart)
    parsed = read(changed(saved(made), change), "a.xlsx")
    assert "| North | 12 |" in parsed.markdown
    assert bool(parsed.warnings) is (breaks != "no chart")


def test_an_empty_sheet_gives_no_warning() -> None:
    made = openpyxl.Workbook()
    made.active.append(["Quay", "Ships"])
    made.create_sheet("Notes of the year")
    assert read(saved(made), "a.xlsx").warnings == ()


def test_invalid_styles_lose_only_the_formats() -> None:
    bad = changed(FILES[".xlsx"], lambda n, x: x.replace(b"<fonts", b'<fonts wrong="1"') if n == "xl/styles.xml" else x)
    assert "12" in read(bad, "a.xlsx").markdown
    refused = b"<styleSheet><fonts><font><family val='99'/></font></fonts></styleSheet>"
    worse = changed(FILES[".xlsx"], lambda n, x: refused if n == "xl/styles.xml" else x)
    assert "12" in read(worse, "a.xlsx").markdown


STRICT = {
    b"http://schemas.openxmlformats.org/officeDocument/2006/": b"http://purl.oclc.org/ooxml/officeDocument/",
    b"http://schemas.openxmlformats.org/presentationml/2006/": b"http://purl.oclc.org/ooxml/presentationml/",
    b"http://schemas.openxmlformats.org/spreadsheetml/2006/": b"http://purl.oclc.org/ooxml/spreadsheetml/",
    b"http://schemas.openxmlformats.org/drawingml/2006/": b"http://purl.oclc.org/ooxml/drawingml/",
}


@pytest.mark.parametrize("suffix", [".pptx", ".xlsx"])
def test_strict_open_xml_is_read(suffix: str) -> None:
    def strict(name: str, xml: bytes) -> bytes:
        for usual, other in STRICT.items():
            xml = xml if name == "[Content_Types].xml" else xml.replace(usual, other)
        return xml.replace(b"c:barChart>", b"c:bar3DChart>")

    made = pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[5])
    slide.shapes.title.text = "Valve 12 bar"
    data = CategoryChartData()
    data.categories = ["Oslo"]
    data.add_series("Trips", (7,))
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, Inches(4), Inches(4), data)
    parsed = read(changed(saved(made) if suffix == ".pptx" else FILES[suffix], strict), f"a{suffix}")
    assert "12" in parsed.markdown and parsed.warnings == ()
    assert suffix == ".xlsx" or "| Oslo | 7 |" in parsed.markdown


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage\0".encode("utf-16-le"), "password"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "WordDocument\0".encode("utf-16-le"), "Word before 2007"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "Workbook\0".encode("utf-16-le"), "Excel before 2007"),
        (b"<?xml version='1.0'?><w:wordDocument/>", "Office 2003"),
        (b"\0" * 100, "empty"),
    ],
)
def test_other_files_with_an_office_suffix_are_refused_by_kind(data: bytes, reason: str) -> None:
    refused = refusal(data, "a.docx")
    assert reason in refused.reason and refused.remedy


def test_only_large_pictures_without_a_description_are_counted(tmp_path) -> None:
    from PIL import Image

    path = tmp_path / "a.png"
    Image.new("RGB", (20, 20)).save(path)
    made = pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[5])
    slide.shapes.title.text = "Plan"
    slide.shapes.add_picture(str(path), 0, 0, Cm(3), Cm(3))
    slide.shapes.add_picture(str(path), 0, 0, Cm(2), Cm(3))
    named = slide.shapes.add_picture(str(path), 0, 0, Cm(3), Cm(3))
    named._element.nvPicPr.cNvPr.set("descr", "The quay from above")
    for picture in list(slide.shapes)[1:3]:
        picture._element.nvPicPr.cNvPr.set("descr", "")
    parsed = read(saved(made), "a.pptx")
    assert parsed.warnings == ("1 picture was not read",) and "Picture: The quay from above" in parsed.markdown
