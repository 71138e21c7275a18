"""Equations of Office files become LaTeX and lose no characters."""

from __future__ import annotations

import pytest
from lxml import etree

from argot.corpus.readers.equations import read_omml

_TRANSITIONAL = "http://schemas.openxmlformats.org/officeDocument/2006/math"
_STRICT = "http://purl.oclc.org/ooxml/officeDocument/math"


def _run(text: str, properties: str = "") -> str:
    return f"<m:r>{f'<m:rPr>{properties}</m:rPr>' if properties else ''}<m:t>{text}</m:t></m:r>"


def _read(inner: str, namespace: str = _TRANSITIONAL, name: str = "oMath") -> str:
    return read_omml(etree.fromstring(f'<m:{name} xmlns:m="{namespace}">{inner}</m:{name}>'))


def _part(name: str, inner: str) -> str:
    return f"<m:{name}>{inner}</m:{name}>"


_X, _N = _part("e", _run("x")), _part("sup", _run("n"))
_SIN = _run("sin", '<m:sty m:val="p"/>')
_FRACTION = f"<m:f><m:num>{_run('3·m')}</m:num><m:den>{_run('μ')}</m:den></m:f>"


@pytest.mark.parametrize(
    ("inner", "latex"),
    [
        (_run("S≥2.5"), r"S \geq 2.5"),
        (_run("𝛼x+πr"), r"\alpha x+\pi r"),
        (_run("5%_a"), r"5\%\_a"),
        (_FRACTION, r"\frac{3 \cdot m}{\mu}"),
        (_FRACTION.replace("<m:num>", '<m:fPr><m:type m:val="lin"/></m:fPr><m:num>'), r"{3 \cdot m}/{\mu}"),
        (f"<m:sSup>{_X}{_N}</m:sSup>", "x^{n}"),
        (f"<m:sSub>{_part('e', _run('xy'))}{_part('sub', _run('max'))}</m:sSub>", r"{xy}_{\max}"),
        (f"<m:sSubSup>{_X}{_part('sub', _run('i'))}{_N}</m:sSubSup>", "x_{i}^{n}"),
        (f"<m:rad><m:deg>{_run('3')}</m:deg>{_X}</m:rad>", r"\sqrt[3]{x}"),
        (f"<m:rad><m:radPr><m:degHide/></m:radPr><m:deg/>{_X}</m:rad>", r"\sqrt{x}"),
        (
            f'<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr>{_part("sub", _run("i=1"))}{_N}{_X}</m:nary>',
            r"\sum_{i = 1}^{n} x",
        ),
        (f"<m:d>{_X}{_part('e', _run('y'))}</m:d>", r"(x \vert y)"),
        (f"<m:d>{_part('e', _FRACTION)}</m:d>", r"\left( \frac{3 \cdot m}{\mu} \right)"),
        (f"<m:m><m:mr>{_X}{_X}</m:mr><m:mr>{_X}{_X}</m:mr></m:m>", r"\begin{matrix} x & x \\ x & x \end{matrix}"),
        (
            f"<m:eqArr>{_part('e', _run('x&amp;=1'))}{_part('e', _run('y&amp;=2#(4)'))}</m:eqArr>",
            r"\begin{aligned} x& = 1 \\ y& = 2 \quad (4) \end{aligned}",
        ),
        (f"<m:func>{_part('fName', _SIN)}{_X}</m:func>", r"\sin x"),
        (f"<m:func>{_part('fName', _run('lift'))}{_X}</m:func>", r"\operatorname{lift} x"),
        (f"<m:limLow>{_part('e', _run('lim'))}{_part('lim', _run('n→∞'))}</m:limLow>", r"\lim_{n \rightarrow \infty}"),
        (f'<m:acc><m:accPr><m:chr m:val="&#x20D7;"/></m:accPr>{_X}</m:acc>', r"\vec{x}"),
        (f'<m:bar><m:barPr><m:pos m:val="top"/></m:barPr>{_X}</m:bar>', r"\overline{x}"),
        (f"<m:groupChr>{_X}</m:groupChr>", r"\underbrace{x}"),
        (f"<m:borderBox>{_X}</m:borderBox>", r"\boxed{x}"),
        (_run("if lifting 5 %", "<m:nor/>"), r"\text{if lifting 5 \%}"),
        (_run("R", '<m:scr m:val="double-struck"/>'), r"\mathbb{R}"),
        (f"<m:newerThanWeKnow>{_X}</m:newerThanWeKnow>", "x"),
    ],
)
def test_an_equation_becomes_latex(inner: str, latex: str) -> None:
    assert _read(inner) == latex
    assert _read(inner, _STRICT) == latex


def test_lines_of_a_displayed_equation_are_kept_apart() -> None:
    lines = _part("oMath", _run("a=b")) + _part("oMath", _run("c=d"))
    assert _read(lines, name="oMathPara") == r"\begin{gathered} a = b \\ c = d \end{gathered}"


def test_a_deeply_nested_equation_keeps_its_characters() -> None:
    deep = "<m:box><m:e>" * 900 + _run("x") + "</m:e></m:box>" * 900
    xml = f'<m:oMath xmlns:m="{_TRANSITIONAL}">{deep}</m:oMath>'
    assert read_omml(etree.fromstring(xml, etree.XMLParser(huge_tree=True))) == "x"


def test_deleted_text_is_left_out_of_an_equation() -> None:
    assert _read(f'{_run("x")}<w:del xmlns:w="urn:w">{_run("y")}</w:del>') == "x"
