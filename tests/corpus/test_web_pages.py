"""Web pages: text that a reader can see or open is read, and hidden text is not."""

import pytest

from argot.corpus.readers import ReadLimits, read_document
from argot.corpus.readers.plain_text import decode_text

LIMITS = ReadLimits()


def markdown_of(page: str) -> str:
    return read_document(page.encode(), "a.html", LIMITS).markdown.strip()


# -- encodings ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "declared", "text"),
    [
        (b"\x80120 \x96 it isn\x92t", "iso-8859-1", "€120 – it isn’t"),
        (b"\x80120 \x96 it isn\x92t", "us-ascii", "€120 – it isn’t"),
        ("€120 – ä".encode(), "iso-8859-1", "€120 – ä"),
        ("€120\x96".encode(), "utf-8", "€120–"),
        (b"plain words", "utf-16", "plain words"),
        ("日本語です".encode("utf-16-be"), "utf-16be", "日本語です"),
        ("日本".encode("iso2022_jp"), "iso-2022-jp", "日本"),
        ("한국".encode("iso2022_kr"), "iso-2022-kr", "한국"),
        ("联通".encode("gbk"), "gb2312", "联通"),
        ("Жук".encode("cp1251"), "windows-1251", "Жук"),
        (b"+ADw-script+AD4-", "utf-7", "+ADw-script+AD4-"),
        (b"\\u0041", "unicode_escape", "\\u0041"),
        (b"words", "rot13", "words"),
        (b"words", "no\0codec", "words"),
    ],
)
def test_encoding_names_are_interpreted_like_in_browsers(data: bytes, declared: str, text: str) -> None:
    assert decode_text(data, "a.txt", declared) == text


@pytest.mark.parametrize(
    "page",
    [
        b'<meta charset="iso-8859-1"><p>\x93Hall\x94 \x96 \x80310</p>',
        b'<?xml version="1.0" encoding="us-ascii"?><html><body><p>\x93Hall\x94 \x96 \x80310</p></body></html>',
        b"<p>&#147;Hall&#148; &#x96; &#128;310</p>",
    ],
)
def test_pages_in_windows_encodings_keep_their_quotes_and_signs(page: bytes) -> None:
    assert read_document(page, "a.html", LIMITS).markdown == "“Hall” – €310\n"


# -- what is closed and can be opened -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "page",
    [
        "<details><summary>More</summary><p>Held back.</p></details>",
        '<div class="expand-container"><div class="expand-control">More</div>'
        '<div class="expand-content" style="display: none; opacity: 0">Held back.</div></div>',
        '<div class="expand-content expand-hidden" style="display:none">Held back.</div>',
        '<h3><button aria-expanded="false" aria-controls="p">More</button></h3><div id="p" hidden>Held back.</div>',
        '<button aria-expanded="false">More</button><div hidden>Held back.</div>',
        '<div id="t" role="tabpanel" aria-hidden="true">Held back.</div>',
        '<a href="#c" data-bs-toggle="collapse">More</a><div id="c" style="display:none">Held back.</div>',
        """<a onclick="toggle('c')">More</a><div id="c" style="display:none">Held back.</div>""",
        '<div hidden="until-found">Held back.</div>',
        '<x-card><template shadowrootmode="open"><p>Held back.</p></template></x-card>',
        '<iframe srcdoc="&lt;p&gt;Held back.&lt;/p&gt;"></iframe>',
        "<object data='x.swf'><p>Held back.</p></object>",
    ],
)
def test_text_that_a_reader_can_expand_is_read(page: str) -> None:
    assert "Held back." in markdown_of(f"<body><p>Words.</p>{page}</body>")


@pytest.mark.parametrize(
    "page",
    [
        "<div style='display:none'>Unseen.</div>",
        "<div hidden>Unseen.</div>",
        "<template><p>Unseen.</p></template>",
        "<noscript>Unseen.</noscript>",
        "<!-- Unseen. -->",
        "<dialog>Unseen.</dialog>",
        '<button aria-controls="m">Unseen.</button><ul id="m" hidden><li><a href="/a">Unseen.</a></li></ul>',
        "<button>Unseen.</button>",
    ],
)
def test_text_that_no_reader_sees_is_left_out(page: str) -> None:
    assert markdown_of(f"<body><p>Words.</p>{page}</body>") == "Words."


def test_the_name_of_a_tab_is_above_its_panel() -> None:
    tabs = '<button role="tab" aria-controls="a">Linux</button><button role="tab" aria-controls="b">Windows</button>'
    panels = '<div role="tabpanel" id="a">apt</div><div role="tabpanel" id="b" style="display:none">winget</div>'
    assert markdown_of(f"<div>{tabs}</div>{panels}").split("\n\n") == ["**Linux**", "apt", "**Windows**", "winget"]


# -- links ----------------------------------------------------------------------------------------------------------


def test_links_announced_by_the_text_are_kept() -> None:
    links = "<nav><a href='/a'>Slack</a> <a href='/b'>Teams</a></nav>"
    pictures = "<ul><li><a href='/c'><img alt='Docker'></a></li><li><a href='/d' aria-label='Podman'></a></li></ul>"
    page = f"<main><p>You can use:</p>{links}<p>Or:</p>{pictures}<h2>Related:</h2>{links}</main>"
    assert markdown_of(page) == "You can use:\n\nSlack Teams\n\nOr:\n\n- Docker\n- Podman\n\n## Related:"


def test_only_announced_links_within_a_markdown_page_are_kept() -> None:
    links = "- [Slack](#slack)\n- [Teams](#teams)\n"
    markdown = f"# Channels\n\n{links}\nYou can use:\n\n{links}\nWords.\n"
    parsed = read_document(markdown.encode(), "a.md", LIMITS)
    assert parsed.markdown.count("[Slack]") == parsed.markdown.count("[Teams]") == 1
    assert parsed.markdown.index("You can use:") < parsed.markdown.index("[Slack]")


# -- forms, tables, formulas ----------------------------------------------------------------------------------------


def test_a_form_is_read_as_labels_and_values() -> None:
    page = """<form><label>Cost centre</label><input value="CC-778"><select><option>Red</option>
        <option selected>Blue</option></select><textarea>To gate 4.</textarea>
        <label><input type="checkbox" checked> Insured</label><label><input type="checkbox"> Fragile</label>
        <label for="n">Name:</label><input id="n" value="Ida"><label>Phone <input value="12"></label>
        <input type="radio" id="s" checked><label for="s">Small</label><input type="hidden" value="token">
        <div role="checkbox" aria-checked="true">Signed</div><input type="submit" value="Send"></form>"""
    assert markdown_of(page).split("\n\n") == [
        "Cost centre: CC-778", "Blue", "To gate 4.", "[x] Insured", "[ ] Fragile", "Name: Ida", "Phone: 12",
        "[x] Small", "[x] Signed",
    ]  # fmt: skip


def test_check_boxes_that_control_the_page_are_left_out() -> None:
    assert markdown_of('<input type="checkbox" class="toggle" id="d"><label for="d"></label><p>Words.</p>') == "Words."
    assert markdown_of("<ul><li><input type='checkbox' checked disabled> Tested</li></ul>") == "- [x] Tested"


def test_a_rowspan_of_0_fills_its_group_and_the_table_foot_comes_last() -> None:
    page = """<table><thead><tr><th>Region<th>Units</tr></thead><tfoot><tr><td>All<td>19</tfoot>
        <tbody><tr><td rowspan="0">EU<td>12<tr><td>7</tbody><tbody><tr><td>US<td>0</tbody></table>"""
    assert markdown_of(page).split("\n")[2:] == ["| EU | 12 |", "| EU | 7 |", "| US | 0 |", "| All | 19 |"]


def test_a_cell_over_many_rows_is_repeated_in_each() -> None:
    rows = "<tr>".join(f"<td>{number}</td></tr>" for number in range(80))
    markdown = markdown_of(f"<table><tr><th>A<th>B</tr><tr><td rowspan='80'>Hub</td>{rows}</table>")
    assert markdown.split("\n")[2:] == [f"| Hub | {number} |" for number in range(80)]


def test_a_colspan_beyond_the_table_fills_its_columns() -> None:
    markdown = markdown_of("<table><tr><td colspan='40'>Hours<tr><td>Monday<td>9</table>")
    assert markdown.split("\n")[0] == "| Hours | Hours |"


@pytest.mark.parametrize(
    ("math", "latex"),
    [
        ("<math><mi>F</mi><mo>=</mo><mn>4.2</mn><mi>kN</mi></math>", r"F=4.2\mathrm{kN}"),
        ("<math><mfrac><mi>a</mi><mrow><mn>2</mn><mi>b</mi></mrow></mfrac></math>", r"\frac{a}{2b}"),
        ("<math><msqrt><mi>x</mi><mo>+</mo><mn>1</mn></msqrt></math>", r"\sqrt{x+1}"),
        ("<math><msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup></math>", "x_{i}^{2}"),
        ("<math><mover><mi>x</mi><mo>¯</mo></mover></math>", r"\bar{x}"),
        ("<math><mi>sin</mi><mo>&#x2061;</mo><mi>α</mi></math>", r"\sin α"),
        ("<math><mfrac><mi>q</mi></mfrac><unknown>7</unknown></math>", "q7"),
        (
            "<math><semantics><mi>E</mi><annotation encoding='application/x-tex'>E=mc^2</annotation>"
            "</semantics></math>",
            "E=mc^2",
        ),
        (
            "<span class='katex'><span class='katex-mathml'><math><mi>E</mi></math></span>"
            "<span class='katex-html' aria-hidden='true'>E</span></span>",
            "E",
        ),
        ("<span class='MathJax'>a+b</span><script type='math/tex'>a+b</script>", "a+b"),
        (
            "<span class='mwe-math-element'><span class='mwe-math-mathml-a11y' style='display: none'><math "
            r"alttext='{\displaystyle x^{2}}'><mi>x</mi></math></span><img alt='{\displaystyle x^{2}}'></span>",
            "x^{2}",
        ),
    ],
)
def test_formulas_become_latex_once(math: str, latex: str) -> None:
    assert markdown_of(f"<p>Take {math} now.</p>") == f"Take ${latex}$ now."


def test_abbreviations_ruby_text_and_drawings_are_read() -> None:
    abbreviation = "<abbr title='Key Performance Indicator'>KPI</abbr>"
    assert markdown_of(f"<p>{abbreviation}, {abbreviation}</p>") == "KPI (Key Performance Indicator), KPI"
    assert markdown_of("<p><ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby> <ruby>字<rt>ji</rt></ruby></p>") == (
        "漢(kan) 字(ji)"
    )
    assert markdown_of("<p>foo<wbr>bar so&shy;ft</p>") == "foobar soft"
    assert markdown_of("<svg><title>Flow</title><text>Valve</text><text>Tank</text></svg>") == "Flow; Valve; Tank"


def test_audio_and_video_are_reported_as_not_read() -> None:
    parsed = read_document(b"<p>Words.</p><video title='Tour'></video><audio></audio>", "a.html", LIMITS)
    assert parsed.markdown == "Words.\n\nTour\n"
    assert parsed.warnings == ("1 video and 1 sound recording were not read",)
