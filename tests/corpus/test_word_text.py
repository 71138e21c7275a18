"""The running text of Word files: equations, forms, symbols and the numbers that Word prints."""

from __future__ import annotations

import io

import docx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import qn

from argot.corpus.readers import ReadLimits, read_document
from argot.corpus.readers.docx_numbering import format_number
from argot.types import ParsedDocument

_NAMESPACES = " ".join(
    f'xmlns:{prefix}="{uri}"'
    for prefix, uri in {
        "w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
        "w14": "http://schemas.microsoft.com/office/word/2010/wordml",
        "m": "http://schemas.openxmlformats.org/officeDocument/2006/math",
        "mc": "http://schemas.openxmlformats.org/markup-compatibility/2006",
        "o": "urn:schemas-microsoft-com:office:office",
        "v": "urn:schemas-microsoft-com:vml",
    }.items()
)


def _element(xml: str) -> object:
    """Parse XML whose first element gets the namespaces."""
    end = min(place for mark in (" ", ">", "/") if (place := xml.find(mark)) > 0)
    return parse_xml(f"{xml[:end]} {_NAMESPACES}{xml[end:]}")


def _read(document: docx.document.Document) -> ParsedDocument:
    stream = io.BytesIO()
    document.save(stream)
    return read_document(stream.getvalue(), "made.docx", ReadLimits())


def _read_body(*blocks: str, numbering: str = "", styles: str = "") -> ParsedDocument:
    document = docx.Document()
    for one in (f"<w:root>{styles}</w:root>", f"<w:root>{numbering}</w:root>"):
        part = document.styles.element if "w:style" in one else document.part.numbering_part.element
        for child in list(_element(one)):  # type: ignore[call-overload]
            # A definition must stand before the lists that name it.
            part.insert(0, child) if child.tag == qn("w:abstractNum") else part.append(child)
    for block in blocks:
        document.element.body.insert(len(document.element.body) - 1, _element(block))
    return _read(document)


def _run(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


def _paragraph(inner: str, properties: str = "") -> str:
    return f"<w:p>{f'<w:pPr>{properties}</w:pPr>' if properties else ''}{inner}</w:p>"


# -- equations ------------------------------------------------------------------------------------------------------

_EQUATION = "<m:oMath><m:r><m:t>S≥2.5</m:t></m:r></m:oMath>"


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (_paragraph(f"{_run('It must be ')}{_EQUATION}{_run(' now.')}"), r"It must be $S \geq 2.5$ now."),
        (_paragraph(f"<m:oMathPara>{_EQUATION}</m:oMathPara>"), r"$$S \geq 2.5$$"),
        (f"<m:oMathPara>{_EQUATION}</m:oMathPara>", r"$$S \geq 2.5$$"),
        (_paragraph(_EQUATION, '<w:pStyle w:val="Heading2"/>'), r"## $S \geq 2.5$"),
        (_paragraph(_EQUATION, '<w:pStyle w:val="ListBullet"/>'), r"- $S \geq 2.5$"),
        (
            f"<w:tbl><w:tr><w:tc>{_paragraph(_run('S'))}</w:tc><w:tc>{_paragraph(_EQUATION)}</w:tc></w:tr></w:tbl>",
            r"| S | $S \geq 2.5$ |",
        ),
        (_paragraph(f"<w:ins>{_EQUATION}</w:ins>"), r"$S \geq 2.5$"),
        (
            _paragraph(f"<w:r><w:pict><v:shape><v:textbox><w:txbxContent>{_paragraph(_EQUATION)}</w:txbxContent>"
                       "</v:textbox></v:shape></w:pict></w:r>"),
            r"$S \geq 2.5$",
        ),
    ],
)  # fmt: skip
def test_an_equation_keeps_its_place(block: str, expected: str) -> None:
    assert expected in _read_body(block).markdown


def test_an_equation_of_an_older_word_is_marked_and_counted() -> None:
    old = '<w:r><w:object><v:shape/><o:OLEObject ProgID="Equation.3"/></w:object></w:r>'
    parsed = _read_body(_paragraph(f"{_run('It must be ')}{old}{_run(' for lifting.')}"))
    assert parsed.markdown == "It must be [equation] for lifting.\n"
    assert parsed.warnings == ("1 equation was not read",)


# -- forms ----------------------------------------------------------------------------------------------------------


def _control(properties: str, content: str) -> str:
    return f"<w:sdt><w:sdtPr>{properties}</w:sdtPr><w:sdtContent>{content}</w:sdtContent></w:sdt>"


def _box(value: str) -> str:
    return f'<w14:checkbox><w14:checked w14:val="{value}"/></w14:checkbox>'


def _old_field(data: str, code: str, result: str = "") -> str:
    marks = (f'<w:fldChar w:fldCharType="begin"><w:ffData>{data}</w:ffData></w:fldChar>',
             f"<w:instrText>{code}</w:instrText>", '<w:fldChar w:fldCharType="separate"/>',
             f"<w:t>{result}</w:t>", '<w:fldChar w:fldCharType="end"/>')  # fmt: skip
    return "".join(f"<w:r>{mark}</w:r>" for mark in marks)


@pytest.mark.parametrize(
    ("inner", "expected"),
    [
        (_control(_box("1"), _run("☒")) + _run(" Load test"), "[x] Load test"),
        (_control(_box("0"), _run("☐")) + _run(" Load test"), "[ ] Load test"),
        (_control("<w14:checkbox/>", _run("☒")) + _run(" Load test"), "[x] Load test"),
        (_control(_box("true"), "") + _run(" Load test"), "[x] Load test"),
        (_old_field('<w:checkBox><w:default w:val="1"/></w:checkBox>', "FORMCHECKBOX") + _run(" Done"), "[x] Done"),
        (
            _old_field('<w:checkBox><w:default w:val="1"/><w:checked w:val="0"/></w:checkBox>', "FORMCHECKBOX")
            + _run(" Done"),
            "[ ] Done",
        ),
        (
            _old_field('<w:ddList><w:result w:val="1"/><w:listEntry w:val="a"/><w:listEntry w:val="blue"/></w:ddList>',
                       "FORMDROPDOWN"),
            "blue",
        ),
        (_old_field("<w:textInput/>", "FORMTEXT", "Halden"), "Halden"),
        ('<w:r><w:sym w:font="Wingdings" w:char="F0FE"/></w:r>' + _run(" Done"), "[x] Done"),
        ('<w:r><w:sym w:font="Wingdings" w:char="F0A8"/></w:r>' + _run(" Done"), "[ ] Done"),
        ('<w:r><w:rPr><w:rFonts w:ascii="Wingdings"/></w:rPr><w:t>\uf0fe</w:t></w:r>' + _run(" Done"), "[x] Done"),
        (_run("☑ Done"), "[x] Done"),
        (_control("<w:dropDownList/>", _run("Norvik")), "Norvik"),
        (_control("<w:date/>", _run("1 May 2024")), "1 May 2024"),
        (_run("Owner: ") + _control("<w:showingPlcHdr/>", _run("Click here to enter text.")), "Owner:"),
    ],
)  # fmt: skip
def test_form_values_are_read(inner: str, expected: str) -> None:
    assert _read_body(_paragraph(inner)).markdown.strip() == expected


def test_a_check_box_around_a_cell_stays_in_its_cell() -> None:
    cell = _control(_box("1"), f"<w:tc>{_paragraph(_run('☒'))}</w:tc>")
    table = f"<w:tbl><w:tr><w:tc>{_paragraph(_run('Done'))}</w:tc>{cell}</w:tr></w:tbl>"
    assert "| Done | [x] |" in _read_body(table).markdown


# -- other text that was dropped ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("inner", "expected"),
    [
        (f'<w:fldSimple w:instr="REF a">{_run("Figure 3")}</w:fldSimple>', "Figure 3"),
        (f'<w:dir w:val="rtl">{_run("first")}</w:dir><w:bdo w:val="rtl">{_run(" second")}</w:bdo>', "first second"),
        (f'<w:r><w:ruby><w:rubyPr/><w:rt>{_run("kana")}</w:rt><w:rubyBase>{_run("kanji")}</w:rubyBase></w:ruby></w:r>',
         "kanji (kana)"),
        ("<w:r><w:t>RX</w:t><w:noBreakHyphen/><w:t>450</w:t></w:r>", "RX-450"),
        ("<w:r><w:t>tempera</w:t><w:softHyphen/><w:t>ture</w:t></w:r>", "temperature"),
        ('<w:r><w:t>a</w:t><w:ptab w:alignment="right"/><w:t>b</w:t></w:r>', "a b"),
        (f"<mc:AlternateContent><mc:Choice Requires='w14'>{_run('kept')}</mc:Choice></mc:AlternateContent>", "kept"),
        (f'<w:smartTag w:element="place">{_run("Trondheim")}</w:smartTag>', "Trondheim"),
        ('<w:r><w:sym w:font="Symbol" w:char="F0B1"/><w:t>3 mm</w:t></w:r>', "±3 mm"),
        ('<w:r><w:sym w:font="Arial" w:char="2264"/><w:t>9 mm</w:t></w:r>', "≤9 mm"),
    ],
)  # fmt: skip
def test_text_unknown_to_mammoth_is_kept(inner: str, expected: str) -> None:
    assert " ".join(_read_body(_paragraph(inner)).markdown.split()) == expected


def test_a_symbol_of_an_unknown_font_is_counted() -> None:
    parsed = _read_body(_paragraph('<w:r><w:sym w:font="Company Signs" w:char="F0FE"/></w:r>'))
    assert parsed.markdown == "[symbol]\n"
    assert parsed.warnings == ("1 symbol was not read",)


# -- numbers --------------------------------------------------------------------------------------------------------


def _level(index: int, kind: str = "decimal", text: str = "", extra: str = "", start: int = 1) -> str:
    return (f'<w:lvl w:ilvl="{index}"><w:start w:val="{start}"/><w:numFmt w:val="{kind}"/>{extra}'
            f'<w:lvlText w:val="{text or f"%{index + 1}."}"/></w:lvl>')  # fmt: skip


def _definition(*levels: str, name: int = 90) -> str:
    return f'<w:abstractNum w:abstractNumId="{name}">{"".join(levels)}</w:abstractNum>'


def _list(number: int, definition: int = 90, override: str = "") -> str:
    return f'<w:num w:numId="{number}"><w:abstractNumId w:val="{definition}"/>{override}</w:num>'


def _item(text: str, number: int = 91, level: int = 0, style: str = "") -> str:
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    return _paragraph(_run(text), f'{named}<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>')


_RESTART = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="{}"/></w:lvlOverride>'
_CLAUSES = _definition(_level(0, text="%1"), _level(1, text="%1.%2"), _level(2, "lowerLetter", "(%3)"))


def test_an_interrupted_list_continues_its_numbers() -> None:
    blocks = (_item("open"), _item("vent"), _paragraph(_run("Wait.")), _item("set"), _item("close"))
    assert _read_body(*blocks, numbering=_definition(_level(0)) + _list(91)).markdown == (
        "1. open\n2. vent\n\nWait.\n\n3. set\n4. close\n"
    )


def test_lists_keep_their_start_and_restart_numbers() -> None:
    numbering = _definition(_level(0, start=6)) + _list(91) + _list(92, override=_RESTART.format(3))
    markdown = _read_body(_item("a"), _item("b"), _item("c", 92), _item("d", 92), numbering=numbering).markdown
    assert markdown.split() == ["6.", "a", "7.", "b", "-", "3.", "c", "4.", "d"]


@pytest.mark.parametrize(
    ("kind", "text", "label"),
    [
        ("lowerLetter", "(%1)", "- (b) two"),
        ("upperRoman", "%1.", "- II. two"),
        ("decimal", "%1)", "2) two"),
        ("decimalZero", "%1", "- 02 two"),
        ("ordinal", "%1", "- 2nd two"),
        ("decimal", "Step %1:", "- Step 2: two"),
        ("bullet", "o", "- two"),
        ("none", "", "two"),
    ],
)
def test_every_kind_of_list_label_is_written(kind: str, text: str, label: str) -> None:
    level = _level(0, kind, text or " ")
    assert label in _read_body(_item("one"), _item("two"), numbering=_definition(level) + _list(91)).markdown.split(
        "\n"
    )


def test_headings_and_clauses_keep_their_numbers() -> None:
    blocks = (
        _item("Scope", style="Heading1"), _item("Duties", style="Heading1"), _item("Of the hirer", 91, 1, "Heading2"),
        _item("Of the lessor", 91, 1, "Heading2"), _item("in writing", 91, 2), _item("by post", 91, 2),
        _item("Costs", style="Heading1"), _item("Interest is due.", 91, 1),
    )  # fmt: skip
    markdown = _read_body(*blocks, numbering=_CLAUSES + _list(91)).markdown
    assert markdown.split("\n\n") == [
        "# 1 Scope", "# 2 Duties", "## 2.1 Of the hirer", "## 2.2 Of the lessor", "- (a) in writing\n- (b) by post",
        "# 3 Costs", "- 3.1 Interest is due.\n",
    ]  # fmt: skip


def test_numbers_by_style_are_read_and_can_be_switched_off() -> None:
    styles = (
        '<w:style w:type="paragraph" w:styleId="Clause"><w:name w:val="Clause"/><w:pPr><w:numPr><w:numId w:val="91"/>'
        '</w:numPr></w:pPr></w:style><w:style w:type="paragraph" w:styleId="Sub"><w:name w:val="Sub"/>'
        '<w:basedOn w:val="Clause"/></w:style>'
    )
    linked = _definition(_level(0), _level(1, text="%1.%2", extra='<w:pStyle w:val="Sub"/>'))
    none = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="0"/></w:numPr>'
    items = (("one", "Clause", ""), ("plain", "Clause", none), ("sub", "Sub", ""))
    blocks = [_paragraph(_run(text), f'<w:pStyle w:val="{style}"/>{extra}') for text, style, extra in items]
    markdown = _read_body(*blocks, numbering=linked + _list(91), styles=styles).markdown
    assert markdown.split("\n\n") == ["1. one", "plain", "- 1.1 sub\n"]


def test_legal_numbering_and_levels_without_restart_are_read() -> None:
    levels = (
        _level(0, "upperRoman", "%1."),
        _level(1, text="%1.%2", extra='<w:lvlRestart w:val="0"/><w:isLgl/>'),
    )
    blocks = (_item("A"), _item("a", level=1), _item("B"), _item("b", level=1))
    markdown = _read_body(*blocks, numbering=_definition(*levels) + _list(91)).markdown
    assert [line.strip(" -") for line in markdown.split("\n") if line] == ["I. A", "1.1 a", "II. B", "2.2 b"]


def test_a_deleted_paragraph_is_not_numbered() -> None:
    gone = _item("gone").replace("</w:pPr>", "<w:rPr><w:del/></w:rPr></w:pPr>").replace("<w:r>", "<w:del><w:r>")
    gone = gone.replace("</w:r></w:p>", "</w:r></w:del></w:p>").replace("w:t", "w:delText")
    markdown = _read_body(_item("a"), gone, _item("b"), numbering=_definition(_level(0)) + _list(91)).markdown
    assert markdown.strip() == "1. a\n2. b"


@pytest.mark.parametrize(
    ("number", "kind", "written"),
    [(27, "lowerLetter", "aa"), (4, "lowerRoman", "iv"), (1994, "upperRoman", "MCMXCIV"), (11, "ordinal", "11th"),
     (10**6, "lowerRoman", "1000000"), (10**7, "lowerLetter", "10000000"), (0, "upperLetter", "0")],
)  # fmt: skip
def test_numbers_are_written_in_every_format(number: int, kind: str, written: str) -> None:
    assert format_number(number, kind) == written


@pytest.mark.parametrize(
    "damage", ["", '<w:num w:numId="91"/>', "<w:num/><w:abstractNum/><w:abstractNum><w:lvl/></w:abstractNum>"]
)
def test_an_undefined_list_keeps_its_text(damage: str) -> None:
    assert "kept" in _read_body(_item("kept"), numbering=damage).markdown
