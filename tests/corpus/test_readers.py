"""Readers on real files of every format, made here, and on files made to break them."""

import io
import re
import struct
import threading
import zipfile
from datetime import datetime

import docx
import openpyxl
import pptx
import pytest
from cutting import cut_passages
from pptx.util import Inches
from reportlab.lib import pdfencrypt
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import SimpleDocTemplate, Table, TableStyle

from argot.corpus.chunking.passages import build_passages
from argot.corpus.readers import SUFFIXES, ReadLimits, read_document, read_with_ledger
from argot.corpus.readers.reader_process import read_in_child
from argot.corpus.readers.reader_protocol import CutDocument
from argot.errors import UnreadableDocument
from argot.settings import Settings
from argot.types import ParsedDocument

LIMITS = ReadLimits()
MAX_CHARS = 1200


def read(data: bytes | str, name: str, limits: ReadLimits = LIMITS) -> ParsedDocument:
    return read_document(data.encode() if isinstance(data, str) else data, name, limits)


def read_isolated(data: bytes, name: str, limits: ReadLimits = LIMITS) -> CutDocument:
    return read_in_child(data, name, limits, MAX_CHARS)


def refusal(data: bytes, name: str, limits: ReadLimits = LIMITS) -> UnreadableDocument:
    with pytest.raises(UnreadableDocument) as caught:
        read_document(data, name, limits)
    assert name in str(caught.value)
    return caught.value


# -- what files say of themselves -----------------------------------------------------------------------------------


def fields_in(parsed: ParsedDocument) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for one in parsed.fields:
        found.setdefault(one.name, []).append(one.value)
    return found


def test_front_matter_gives_a_date_and_fields() -> None:
    front = "title: Leave\ndate: 2023-01-05\nlast-updated: 2025-03-01\nauthor: 'Ann'\ntags: [hr, \"leave\"]\n"
    front += "labels:\n  - eu\n  - de\nnested:\n  region: ignored\nstatus: draft # soon\nlayout: page\n"
    found = read(f"---\n{front}---\n# Head\n\nText.\n", "leave.md")
    assert (found.title, found.date) == ("Leave", "2025-03-01")
    assert fields_in(found)["author"] == ["Ann"]
    assert fields_in(found)["tag"] == ["hr", "leave", "eu", "de"]
    assert "layout" not in fields_in(found) and "title" not in fields_in(found)


def test_properties_of_office_files_give_a_date_and_fields() -> None:
    made = docx.Document()
    made.add_paragraph("Annual leave is 30 days.")
    core = made.core_properties
    core.author, core.keywords, core.content_status = "Ann Other", "hr; leave", "Draft"
    core.modified = datetime(2025, 3, 1)
    stream = io.BytesIO()
    made.save(stream)
    found = read(stream.getvalue(), "leave.docx")
    assert found.date == "2025-03-01"
    assert fields_in(found) == {"author": ["Ann Other"], "tag": ["hr", "leave"], "status": ["Draft"]}
    plain = io.BytesIO()
    docx.Document().add_paragraph("x").part.document.save(plain)
    # Author and date of the template are ignored.
    assert (read(plain.getvalue(), "x.docx").date, read(plain.getvalue(), "x.docx").fields) == (None, ())


def test_properties_of_pdfs_pages_and_mails_give_a_date_and_fields() -> None:
    stream = io.BytesIO()
    canvas = Canvas(stream, pagesize=A4)
    canvas.setAuthor("Ann Other")
    canvas.setKeywords("hr, leave")
    canvas.drawString(72, 700, "Annual leave is 30 days.")
    canvas.save()
    found = read(stream.getvalue(), "leave.pdf")
    assert fields_in(found) == {"author": ["Ann Other"], "tag": ["hr", "leave"]}
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", found.date or "")
    head = "<meta name=Author content=Ann><meta name=keywords content='hr, leave'><meta name=date content=2023-01-05>"
    head += "<meta property='article:modified_time' content='2025-03-01T10:00:00Z'>"
    page = read(f"<html><head>{head}</head><body><h1>Leave</h1><p>30 days.</p></body></html>", "leave.html")
    assert (page.date, fields_in(page)) == ("2025-03-01", {"author": ["Ann"], "tag": ["hr", "leave"]})
    mail = read("From: Ann <ann@example.org>\nSubject: Leave\nDate: Thu, 6 Mar 2025 10:00:00 +0000\n\nHi\n", "a.eml")
    assert (mail.date, fields_in(mail)) == ("2025-03-06", {"author": ["Ann", "ann@example.org"]})
    for sender, author in {
        '"Lee, Ann" <ann@example.org>': ["Lee, Ann", "ann@example.org"],
        "ann@example.org": ["ann@example.org"],
        "Post Office": ["Post Office"],
    }.items():
        assert fields_in(read(f"From: {sender}\nSubject: Leave\n\nHi\n", "a.eml")) == {"author": author}


# -- titles ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("markdown", "title"),
    [
        ("```sh\n# install it first\nmake\n```\n\n# The Pump\n\nText.\n", "The Pump"),
        ("~~~python\n# a comment\n~~~\n\nText.\n", "readme"),
        ("## Sponsors\n\nAcme\n\n# The Pump\n\nText.\n", "The Pump"),
        ("## Sponsors\n\nAcme\n\n## Opinions\n\nText.\n", "readme"),
        ("# Table of Contents\n\n- a\n\n# The Pump\n\nText.\n", "The Pump"),
        ("Contents\n========\n\n- a\n\nThe Pump\n========\n\nText.\n", "The Pump"),
        ("## Our sponsors 💖\n\n# Contents of the Box\n\nText.\n", "Contents of the Box"),
        ("## The Pump\n\nText.\n", "The Pump"),
    ],
)
def test_a_title_is_not_a_comment_or_a_heading_common_to_all_pages(markdown: str, title: str) -> None:
    assert read(markdown, "readme.md").title == title


def test_a_title_set_by_a_program_is_ignored() -> None:
    for given in ("Microsoft Word - plan_v3.doc", "untitled", "Untitled Document 1", "PowerPoint Presentation"):
        stream = io.BytesIO()
        canvas = Canvas(stream, pagesize=A4)
        canvas.setTitle(given)
        canvas.setFont("Helvetica", 22)
        canvas.drawString(72, 760, "The Cooling Pump")
        canvas.setFont("Helvetica", 11)
        for line in range(12):
            canvas.drawString(72, 700 - 14 * line, f"The pump of line {line} cools the machine all day and night long.")
        canvas.save()
        assert read(stream.getvalue(), "plan.pdf").title == "The Cooling Pump"
        made = docx.Document()
        made.core_properties.title = given
        made.add_heading("The Cooling Pump", 1)
        made.add_paragraph("It cools.")
        word = io.BytesIO()
        made.save(word)
        assert read(word.getvalue(), "plan.docx").title == "The Cooling Pump"
    page = (
        "<html><head><title>Untitled</title></head><body><h1>Contents</h1><h1>The Pump</h1><p>Text.</p></body></html>"
    )
    assert read(page, "page.html").title == "The Pump"


# -- Markdown and text ----------------------------------------------------------------------------------------------


def test_markdown_is_kept_word_for_word() -> None:
    source = "# Title *x*\r\n\r\n| a | b |\r\n|---|---|\r\n| 1 | 2 |\r\n"
    parsed = read(source, "notes.md")
    assert parsed.markdown == source.replace("\r\n", "\n")
    assert parsed.title == "Title x"
    assert parsed.media_type == "text/markdown"


README = """<div align="center">
  <a href="https://example.com/k"><img src="https://img.shields.io/badge/build-passing.svg" alt="Build"></a>
  <h1>Kestrel</h1>
  <p>A small queue for <b>very</b> large jobs.</p>
</div>

<p align="center">
  <a href="#install">Install</a> •
  <a href="docs/faq.md">FAQ</a>
</p>

[![CI](https://example.com/ci.svg)](https://example.com/ci) [![Licence][badge]](LICENSE)

- [Install](#install)
- [Configure](#configure)

[Install](#install) | [Configure](#configure)

<!-- Not to be read: the port is 9999. -->
## Install

<details>
<summary>On Debian</summary>

Run `apt install kestrel`.
</details>

Press <kbd>Ctrl</kbd>+<kbd>C</kbd>.<br>The queue is saved: 10<sup>6</sup> jobs, see
<a href="https://example.com/q">the queue</a> and <a href="q.md">its limits</a>.

<table>
<tr><th>Setting</th><th>Default</th></tr>
<tr><td>workers</td><td>4 <i>workers</i></td></tr>
</table>

<ul><li>one</li><li>two</li></ul>
"""
READ_README = """# Kestrel

A small queue for very large jobs.

## Install

On Debian

Run `apt install kestrel`.

Press Ctrl+C.
The queue is saved: 10^6 jobs, see
[the queue](https://example.com/q) and its limits.

| Setting | Default |
| --- | --- |
| workers | 4 *workers* |

- one

- two
"""


def test_html_in_markdown_becomes_markdown_or_is_removed() -> None:
    parsed = read(README, "README.md")
    lines = "\n".join(line.rstrip() for line in parsed.markdown.splitlines())
    assert re.sub(r"\n{3,}", "\n\n", lines).strip() == READ_README.strip()
    assert parsed.title == "Kestrel"


@pytest.mark.parametrize(
    "markdown",
    [
        "Give the <name>, and x < 5 or y > 3; `<br>` and ``<b>`` stay.",
        "```html\n<div>\n<!-- so -->\n</div>\n```\n\nAfter `it <b>` comes more.",
        "Dear {{ name }}, say {% so, or 5 %, set {:?} and {:>8}; `{% page 'x' %}` stays.",
        "docker tag <label>, press <button> or <time>.",
        "Above:\n\n    <table><tr><td>code</td></tr></table>\n\nBelow.",
        "~~~\n<p>never closed",
        "An <!-- that never ends, and Vec<u8>, List<string>.",
        "![A figure](figure.png) and [a link](page.md) and [one](#below) in words.",
        "- [Alone](https://example.com) stays\n- [Elsewhere](other.md)",
    ],
)
def test_text_that_only_looks_like_html_is_kept(markdown: str) -> None:
    assert read(markdown, "a.md").markdown == markdown


@pytest.mark.parametrize(
    ("source", "markdown"),
    [
        ('See [the editors]({% page "tools/editors/#one" %}).', "See [the editors](tools/editors/#one)."),
        (
            "See [the guide]({{ base.url }}/guide) or [it]({{< ref 'a b.md' >}}).",
            "See [the guide](/guide) or [it](a%20b.md).",
        ),
        ('{% alert "info" %}Ask in {% slack_channel "travel" %}.{% endalert %}', "Ask in travel."),
        ('{%- include "head.html"\n   steps:2 -%}{% if page.x == "y" %}Go.{% endif %}', "Go."),
        ("{{< note >}}Go.{{< /note >}}\n{: .wide}", "Go.\n"),
        ("{% raw %}Write {% page 'x' %}{% endraw %} so.", "Write {% page 'x' %} so."),
        ('<h3><button\n  class="wide" type="button"\n>\nStep 1\n</button></h3>\nGo.', "### Step 1\n\nGo."),
        ("<label>Name</label> is <button>Save</button>.", "Name is Save."),
    ],
)
def test_tags_of_site_generators_and_forms_are_left_out_of_markdown(source: str, markdown: str) -> None:
    parsed, ledger = read_with_ledger(source.encode(), "a.md", LIMITS)
    assert parsed.markdown == markdown
    assert ledger.lost == []


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ('<p><a href="https://x.com"><img src="ci.svg" alt="Build passing"></a> Read on.</p>', "a.html"),
        (".. image:: ci.svg\n   :alt: Build passing\n   :target: https://x.com\n\nRead on.\n", "a.rst"),
        (".. raw:: html\n\n   <b>Build passing</b>\n\nRead on.\n", "a.rst"),
    ],
)
def test_a_badge_is_left_out(source: str, name: str) -> None:
    assert read(source, name).markdown.strip() == "Read on."


def test_a_line_break_in_a_table_row_keeps_the_row() -> None:
    assert "| a b | c |" in read("| x | y |\n|---|---|\n| a<br>b | c |\n", "a.md").markdown


def test_many_unclosed_tags_are_read_and_too_many_tables_refused() -> None:
    assert read("Text " + "<a href='x'>" * 20_000 + "end", "a.md").markdown == "Text end"
    assert "too large" in refusal(b"<table></table>" * 60_000, "a.md", ReadLimits(seconds=1)).reason


def test_front_matter_gives_title_and_date() -> None:
    parsed = read("---\ntitle: 'Real title'\ndate: 2024-05-06\n---\n\n# Heading\n", "a.md")
    assert (parsed.title, parsed.date) == ("Real title", "2024-05-06")
    assert parsed.markdown.strip() == "# Heading"


def test_text_between_two_rules_is_not_front_matter() -> None:
    source = "---\nThis is said between rules.\n---\n\nMore.\n"
    assert read(source, "a.md").markdown == source


def test_title_falls_back_to_the_file_name() -> None:
    assert read("no heading here", "folder/expense policy.md").title == "expense policy"
    assert read("no heading here", "folder\\notes.txt").title == "notes"


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("utf-8", "Prüfung – tCCS ≥ 3 µs"),
        ("utf-8-sig", "Prüfung – tCCS ≥ 3 µs"),
        ("utf-16", "Prüfung – tCCS ≥ 3 µs"),
        ("utf-16-le", "A longer line of Western text without a mark: Prüfung"),
        ("utf-16-be", "A longer line of Western text without a mark: Prüfung"),
        ("utf-16-le", "A line of plain English."),
        ("utf-16-be", "A line of plain English."),
        ("cp1252", "Prüfung – “quoted”, 5 € for a café"),
        ("shift_jis", "これは日本語の文書です。検査の手順を説明します。" * 5),
        ("cp1251", "Это русский документ, который описывает порядок проверки изделий. " * 5),
    ],
)
def test_text_in_every_supported_encoding_is_read(encoding: str, text: str) -> None:
    assert read(text.encode(encoding), "a.txt").markdown == text


def test_a_stray_byte_garbles_no_text_in_utf8() -> None:
    lines = "WARN Überdruck am Kühlventil geprüft\n".encode() * 3
    parsed = read(lines + b"broken \xff here\n", "uml.log")
    assert "Überdruck am Kühlventil" in parsed.markdown and "broken \ufffd here" in parsed.markdown
    assert parsed.warnings == ("1 unreadable character",)
    # In windows-1252 two letters may look like one of UTF-8.
    mixed = "Ã¼ is garbled; “Prüfung” at 5 € – für Überdruck"
    assert read(mixed.encode("cp1252"), "a.txt").markdown == mixed


def test_binary_in_disguise_is_refused() -> None:
    assert "binary" in refusal(bytes(range(256)) * 40, "a.txt").reason
    assert "image" in refusal(b"\x89PNG\r\n\x1a\n" + b"\x00" * 50, "a.md").reason
    assert "PDF" in refusal(pdf_of(["text"]), "a.txt").reason


@pytest.mark.parametrize("suffix", sorted(SUFFIXES))
def test_an_empty_file_is_refused_as_empty(suffix: str) -> None:
    assert refusal(b"", f"a{suffix}").reason == "empty"


@pytest.mark.parametrize("name", ["a.md", "a.txt", "a.html", "a.rst", "a.csv"])
def test_a_blank_file_is_refused_as_empty(name: str) -> None:
    assert "empty" in refusal(b" \n\n \n", name).reason


def test_an_oversized_file_is_refused_with_limit_and_setting() -> None:
    error = refusal(b"x" * 2_000_000, "a.txt", ReadLimits(max_bytes=1_000_000))
    assert "1 MB" in error.reason
    assert "ARGOT_MAX_FILE_MB" in error.remedy


def test_too_much_text_is_refused_with_the_setting() -> None:
    assert "ARGOT_MAX_TEXT_CHARS" in refusal(b"x" * 2000, "a.txt", ReadLimits(max_text_chars=1000)).remedy


def test_limits_come_from_the_settings() -> None:
    limits = ReadLimits.from_settings(Settings(max_file_mb=0.5, parse_seconds=3, parse_memory_mb=300))
    assert (limits.max_bytes, limits.seconds, limits.memory_mb) == (500_000, 3, 300)


def test_unknown_formats_are_sniffed_then_refused() -> None:
    assert read(pdf_of(["Sniffed text of a page"]), "download").media_type == "application/pdf"
    assert read(b"<!DOCTYPE html><p>Hi</p>", "page").markdown == "Hi\n"
    assert read(docx_bytes(), "letter.bin").media_type == SUFFIXES[".docx"]
    assert ".xyz" in refusal(b"whatever", "a.xyz").reason


# -- HTML -----------------------------------------------------------------------------------------------------------

PAGE = """<!DOCTYPE html><html><head><title>Site | Page</title><style>b{}</style><script>evil()</script></head><body>
<nav>Home About</nav><h1>Valve guide</h1><p>Open the
valve <b>slowly</b>, as_in_this *case*.</p><ul><li>one<ul><li>inner</li></ul></li><li>two</li></ul>
<table><caption>Limits</caption><thead><tr><th rowspan=2>Part</th><th colspan=2>Bar</th></tr>
<tr><th>min</th><th>max</th></tr></thead><tr><td>A|B</td><td rowspan=2>1</td><td>2</td></tr>
<tr><td>C</td><td><ul><li>x</li><li>y</li></ul></td></tr></table>
<p style="display: none">hidden</p><p>10<sup>-6</sup>, see <a href="#there">there</a> and
<a href="https://e.org/a_b">the site</a></p><dl><dt>PUC</dt><dd>Peripheral Under Cell</dd></dl>
<pre><code class="language-c">int a;

  int b;</code></pre><footer>Imprint</footer></body></html>"""


def test_html_keeps_structure_and_drops_chrome() -> None:
    parsed = read(PAGE, "page.html")
    assert parsed.title == "Valve guide"
    for expected in (
        "# Valve guide\n\nOpen the valve **slowly**, as_in_this *case*.",
        "- one\n  - inner\n- two",
        "**Limits**\n\n| Part | Bar min | Bar max |\n| --- | --- | --- |\n| A\\|B | 1 | 2 |\n| C | 1 | x; y |",
        "10^-6, see there and [the site](https://e.org/a_b)",
        "**PUC**: Peripheral Under Cell",
        "```c\nint a;\n\n  int b;\n```",
    ):
        assert expected in parsed.markdown
    for dropped in ("evil", "Home About", "hidden", "Imprint", "b{}"):
        assert dropped not in parsed.markdown


def test_a_nested_html_table_and_the_cells_around_it_are_read() -> None:
    inner = "<table><tr><th>Part</th><th>Limit</th></tr><tr><td>Valve</td><td>12 bar</td></tr></table>"
    rows = f"<tr><td>Left</td><td>Right</td></tr><tr><td>{inner}</td><td>Beside</td></tr>"
    markdown = read(f"<html><body><p>Before</p><table>{rows}</table></body></html>", "a.html").markdown
    table = "| Part | Limit |\n| --- | --- |\n| Valve | 12 bar |"
    assert markdown == f"Before\n\nLeft\n\nRight\n\n{table}\n\nBeside\n"


@pytest.mark.parametrize("first", ["sep=;", "SEP=;", '"sep=;"', "sep=;;;"])
def test_the_sep_line_of_a_csv_file_is_not_a_row(first: str) -> None:
    markdown = read(f"{first}\r\nPart;Bay\r\nFuse, slow;K-7\r\n", "a.csv").markdown
    assert markdown.strip() == "| Part | Bay |\n| --- | --- |\n| Fuse, slow | K-7 |"
    assert read("sep=\t\nPart\tBay\nFuse\tK-7\n", "a.csv").markdown.startswith("| Part | Bay |")


def test_html_declared_encoding_is_honoured() -> None:
    page = '<html><head><meta charset="iso-8859-2"></head><body><p>Łódź</p></body></html>'.encode("iso-8859-2")
    assert read(page, "a.html").markdown == "Łódź\n"


def test_html_entities_are_not_expanded() -> None:
    bomb = '<!DOCTYPE html [<!ENTITY x SYSTEM "file:///etc/hostname"><!ENTITY y "BOOM">]><p>a &x; &y; b</p>'
    assert "BOOM" not in read(bomb, "a.html").markdown


def test_deeply_nested_html_is_read_or_refused() -> None:
    deep = "<div>" * 20_000 + "text" + "</div>" * 20_000
    try:
        assert "text" in read(deep, "a.html").markdown
    except UnreadableDocument as error:
        assert "nested" in error.reason or "empty" in error.reason


def test_huge_cell_spans_are_bounded() -> None:
    page = "<table>" + "<tr><td colspan=99999 rowspan=99999>a</td><td>b</td></tr>" * 20 + "</table>"
    assert len(read(page, "a.html").markdown) < 1_000_000


# -- reStructuredText -----------------------------------------------------------------------------------------------

SPHINX = """.. _guide:

Boot guide
==========

.. contents::

See :ref:`guide`, :ref:`the flow <flow>`, :term:`PUC`, :py:func:`~os.path.join`, |TF-A| and ``tCCS_x``.

.. glossary::
   :sorted:

   PUC
      Peripheral Under Cell, the logic
      below the array.

   CoT
   COT
      Chain of Trust

.. toctree::
   :maxdepth: 1

   Design notes <design/index>
   plat/arm

.. uml:: flow.puml

.. uml::

   a -> b : hello

.. code-block:: c
   :emphasize-lines: 1

   int x_1;

.. custom-box:: Careful *here*
   :weird-option: yes

   Body of the box.

.. py:function:: start(device)

   Starts the device.

.. versionadded:: 2.1
   The fast path.

.. _flow:

Flow
----

.. csv-table:: Codes
   :header: "Name", "Value"

   ``OK``,0
   FAIL,-1

+-----+-----+
| a   | b   |
+=====+=====+
| 1   | 2   |
+-----+-----+

.. csv-table:: From elsewhere
   :file: data.csv

.. include:: /etc/hostname

.. raw:: html

   <b>raw</b>

.. note:: Mind the gap.

``FLAG_A`` : This applies the workaround to the core,
   needed for r0p0.

.. image:: a.png
   :alt: The state machine
"""


def test_sphinx_constructs_keep_their_text() -> None:
    parsed = read(SPHINX, "guide.rst")
    assert parsed.title == "Boot guide"
    for expected in (
        "# Boot guide",
        "See Boot guide, the flow, PUC, `os.path.join`, TF-A and `tCCS_x`.",
        "**PUC**: Peripheral Under Cell, the logic below the array.",
        "**CoT, COT**: Chain of Trust",
        "- Design notes\n- plat/arm",
        "a -> b : hello",
        "```c\nint x_1;\n```",
        "Careful *here*",
        "Body of the box.",
        "`start(device)`",
        "Starts the device.",
        "Added in version 2.1",
        "## Flow",
        "| Name | Value |\n| --- | --- |\n| `OK` | 0 |\n| FAIL | -1 |",
        "| a | b |\n| --- | --- |\n| 1 | 2 |",
        "From elsewhere",
        "**Note:**\n\nMind the gap.",
        "**`FLAG_A`**: This applies the workaround to the core, needed for r0p0.",
        "The state machine",
    ):
        assert expected in parsed.markdown
    assert "system-message" not in parsed.markdown
    assert "Unknown" not in parsed.markdown
    assert any("/etc/hostname" in warning for warning in parsed.warnings)


def test_rst_reads_no_other_file(tmp_path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("canary-7f3a")
    tried = [f".. include:: {secret}", f".. csv-table::\n   :file: {secret}", f".. raw:: html\n   :file: {secret}"]
    source = "\n\n".join(["Title\n=====", *tried, "End."])
    assert "canary" not in read(source, "a.rst").markdown


def test_broken_rst_keeps_its_text() -> None:
    source = "Title\n==\n\n*unclosed and `also\n\n.. image::\n\n+--+--+\n| torn table |\n+--\n\nText_ |x| end.\n"
    markdown = read(source, "a.rst").markdown
    for word in ("Title", "unclosed", "also", "torn table", "end."):
        assert word in markdown


def test_reading_rst_prints_nothing(capfd) -> None:
    read("Title\n==\n\n:nope:`x` |y| `z <\n\n.. nope::\n", "a.rst")
    assert capfd.readouterr() == ("", "")


# -- PDF ------------------------------------------------------------------------------------------------------------

PROSE = (
    "The recovery team restores services in the order of their tiers, and reports",
    "every hour to the duty manager, who keeps the log and calls the carrier if a re-",
    "placement is needed.",
)


def pdf_of(pages: list[str] | list[list[str]], **options) -> bytes:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, **options)
    for number, page in enumerate(pages, start=1):
        canvas.setFont("Helvetica", 8)
        canvas.drawString(60, 810, f"Keldra handbook - page {number}")
        y = 760
        for line in [page] if isinstance(page, str) else page:
            big = line.startswith("#")
            canvas.setFont("Helvetica-Bold" if big else "Helvetica", 18 if big else 10)
            canvas.drawString(60, y, line.lstrip("# "))
            y -= 40 if big else 12
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def test_pdf_headings_paragraphs_and_hyphens_are_read() -> None:
    data = pdf_of([["# First heading", *PROSE], ["# Second heading", "Other text on page two."], ["Third page text."]])
    parsed = read(data, "a.pdf")
    assert "# First heading\n\nThe recovery team restores" in parsed.markdown
    assert "and reports every hour" in parsed.markdown
    assert "if a replacement is needed." in parsed.markdown
    assert "Keldra handbook" not in parsed.markdown
    assert parsed.title == "First heading"
    assert [(mark.number, mark.kind) for mark in parsed.pages] == [(1, "page"), (2, "page"), (3, "page")]
    assert parsed.markdown[parsed.pages[1].start :].startswith("# Second heading")


def test_pdf_steps_numbered_without_a_dot_become_a_list() -> None:
    steps = ("Stop the engine and let it cool.", "Lock out the starting air.", "Drain the sump.")

    def draw(canvas: Canvas, x: float) -> None:
        canvas.setFont("Helvetica-Bold", 18)
        canvas.drawString(60, 780, "2 Changing the oil")
        for number, step in enumerate(steps, start=1):
            canvas.setFont("Helvetica", 12)  # larger than the step, as some programs do
            canvas.drawString(60, 760 - 16 * number, str(number))
            canvas.setFont("Helvetica", 10)
            canvas.drawString(x, 760 - 16 * number, step)

    for x in (70, 77):  # close to the number, or apart from it
        buffer = io.BytesIO()
        canvas = Canvas(buffer, pagesize=A4)
        draw(canvas, x)
        canvas.save()
        markdown = read(buffer.getvalue(), "a.pdf").markdown
        assert markdown == "# 2 Changing the oil\n\n" + "".join(
            f"{number}. {step}\n\n" for number, step in enumerate(steps, start=1)
        )


def test_pdf_lines_that_begin_with_numbers_are_not_steps() -> None:
    markdown = read(pdf_of([["1 Bar is the least.", "2 Bar are the most.", "Other text."]]), "a.pdf").markdown
    assert "1." not in markdown


def test_pdf_boxes_match_the_place_of_the_text() -> None:
    parsed = read(pdf_of([["# First heading", *PROSE], ["Page two text is here."]]), "a.pdf")
    place = parsed.markdown.index("The recovery team")
    box = next(mark.box for mark in parsed.boxes if mark.start <= place < mark.end)
    top = A4[1] - 720 - 10  # the line is drawn with its base 720 points above the bottom
    assert box.page == 1
    assert 58 < box.x0 < 63
    assert box.y0 == pytest.approx(top, abs=4)
    assert 20 < box.y1 - box.y0 < 45
    passages = cut_passages(parsed, document_id="d", revision_id="r", max_chars=1200)
    assert [passage.page for passage in passages] == [1, 2]
    assert passages[1].boxes[0].page == 2


def test_pdf_paragraph_continues_on_the_next_page() -> None:
    parsed = read(pdf_of([["A sentence that begins on this page and"], ["ends on the next one."]]), "a.pdf")
    assert "begins on this page and ends on the next one." in parsed.markdown
    assert {mark.box.page for mark in parsed.boxes} == {1, 2}
    assert [mark.number for mark in parsed.pages] == [1, 2]


ROWS = [
    ["Part", "Limit (bar)", "Note"],
    ["Valve A", "12.5", "tested"],
    ["Valve B", "14.0", "tested"],
    ["Seal", "9", "old"],
]


def test_pdf_table_with_rules_is_read() -> None:
    buffer = io.BytesIO()
    table = Table(ROWS, style=TableStyle([("GRID", (0, 0), (-1, -1), 1, "black")]))
    SimpleDocTemplate(buffer).build([table])
    expected = "| Part | Limit (bar) | Note |\n| --- | --- | --- |\n| Valve A | 12.5 | tested |"
    assert expected in read(buffer.getvalue(), "a.pdf").markdown


def test_pdf_table_without_rules_is_read() -> None:
    buffer = io.BytesIO()
    canvas = Canvas(buffer)
    for row, cells in enumerate(
        [["(in millions)", "2018", "2017"], ["Sales", "$ 90,229", "$ 83,740"], ["Costs", "(72)", "(68)"]]
    ):
        for column, text in enumerate(cells):
            canvas.drawString(60 + 150 * column, 700 - 16 * row, text)
    canvas.save()
    expected = (
        "| (in millions) | 2018 | 2017 |\n| --- | --- | --- |\n| Sales | $ 90,229 | $ 83,740 |\n| Costs | (72) | (68) |"
    )
    assert expected in read(buffer.getvalue(), "a.pdf").markdown


def test_an_encrypted_pdf_is_refused() -> None:
    data = pdf_of(["secret"], encrypt=pdfencrypt.StandardEncryption("password"))
    assert refusal(data, "a.pdf").reason == "encrypted"


def test_pdf_without_text_looks_scanned() -> None:
    buffer = io.BytesIO()
    canvas = Canvas(buffer)
    canvas.rect(50, 50, 200, 200)
    canvas.save()
    assert "scanned" in refusal(buffer.getvalue(), "a.pdf").reason


def test_a_truncated_or_false_pdf_is_refused_as_damaged() -> None:
    assert "damaged" in refusal(b"%PDF-1.4 nonsense", "a.pdf").reason
    assert "damaged" in refusal(b"<html>not a pdf</html>", "a.pdf").reason


# -- Office ---------------------------------------------------------------------------------------------------------


def docx_bytes() -> bytes:
    document = docx.Document()
    document.add_heading("Leave handbook", 0)
    document.add_heading("Days", 1)
    document.add_paragraph("Everyone has 30 days.")
    document.add_paragraph("ask early", style="List Bullet")
    document.add_paragraph("ask in writing", style="List Bullet")
    table = document.add_table(rows=2, cols=2)
    for index, text in enumerate(["Years", "Days", "5", "32"]):
        table.cell(index // 2, index % 2).text = text
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def test_a_word_file_is_read_with_headings_lists_and_tables() -> None:
    parsed = read(docx_bytes(), "leave.docx")
    assert parsed.title == "Leave handbook"
    assert "# Days\n\nEveryone has 30 days.\n\n- ask early\n- ask in writing\n" in parsed.markdown
    assert "| Years | Days |\n| --- | --- |\n| 5 | 32 |" in parsed.markdown


def pptx_bytes() -> bytes:
    deck = pptx.Presentation()
    first = deck.slides.add_slide(deck.slide_layouts[1])
    first.shapes.title.text = "Process control"
    frame = first.placeholders[1].text_frame
    frame.text = "Charts"
    inner = frame.add_paragraph()
    inner.text, inner.level = "one per tool", 1
    first.notes_slide.notes_text_frame.text = "Say why."
    second = deck.slides.add_slide(deck.slide_layouts[5])
    second.shapes.title.text = "Limits"
    table = second.shapes.add_table(2, 2, Inches(1), Inches(2), Inches(4), Inches(1)).table
    for index, text in enumerate(["Tool", "Sigma", "Etch", "1.33"]):
        table.cell(index // 2, index % 2).text = text
    buffer = io.BytesIO()
    deck.save(buffer)
    return buffer.getvalue()


def test_a_deck_is_read_with_slides_lists_and_notes() -> None:
    parsed = read(pptx_bytes(), "control.pptx")
    assert parsed.title == "Process control"
    assert "# Process control\n\n- Charts\n  - one per tool\n\n**Notes:** Say why." in parsed.markdown
    assert "# Limits\n\n| Tool | Sigma |\n| --- | --- |\n| Etch | 1.33 |" in parsed.markdown
    assert [(mark.number, mark.kind) for mark in parsed.pages] == [(1, "slide"), (2, "slide")]
    passages = cut_passages(parsed, document_id="d", revision_id="r", max_chars=1200)
    assert [passage.header for passage in passages] == [
        "Process control (slide 1)",
        "Process control > Limits (slide 2)",
    ]


def xlsx_bytes() -> bytes:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Timing"
    sheet.append(["Timing of all parts"])
    sheet.append(["Name", "ns", "share"])
    for number in range(60):
        sheet.append([f"t{number}", number + 0.5, number / 100])
        sheet.cell(sheet.max_row, 3).number_format = "0%"
    book.create_sheet("Empty")
    book.create_sheet("Other").append(["a", "b"])
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def test_a_workbook_repeats_its_header_in_every_passage() -> None:
    parsed = read(xlsx_bytes(), "timing.xlsx")
    assert parsed.markdown.startswith("# Timing\n\nTiming of all parts\n\n| Name | ns | share |\n| --- | --- | --- |\n")
    assert parsed.markdown.count("| Name | ns | share |") == 3
    assert "| t59 | 59.5 | 59% |" in parsed.markdown
    assert [(mark.number, mark.kind) for mark in parsed.pages] == [(1, "sheet"), (3, "sheet")]
    passages = cut_passages(parsed, document_id="d", revision_id="r", max_chars=400)
    assert all("| Name | ns | share |" in passage.with_header for passage in passages if passage.page == 1)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_csv_files_of_every_delimiter_and_encoding_are_read(delimiter: str) -> None:
    lines = [["Term", "Meaning, short"], ["PUC", 'say "hi"'], ["tCCS", "two\nlines"]]
    text = "\r\n".join(delimiter.join('"' + cell.replace('"', '""') + '"' for cell in row) for row in lines)
    expected = '| Term | Meaning, short |\n| --- | --- |\n| PUC | say "hi" |\n| tCCS | two lines |'
    assert read(text.encode("utf-8-sig"), "a.csv").markdown == expected
    assert read(text.encode("utf-16"), "a.csv").markdown == expected


def test_long_csv_names_its_columns_in_every_passage() -> None:
    text = "part,pressure\n" + "".join(f"valve {n},{n} bar | max\n" for n in range(500))
    parsed = read(text, "limits.csv")
    passages = cut_passages(parsed, document_id="d", revision_id="r", max_chars=500)
    assert len(passages) > 20
    assert all("| part | pressure |" in passage.with_header for passage in passages)
    assert "| valve 499 | 499 bar \\| max |" in parsed.markdown


def test_a_csv_file_of_one_column_is_read() -> None:
    assert read("name\nalpha\nbeta\n", "a.csv").markdown == "| name |\n| --- |\n| alpha |\n| beta |"


# -- files made to break things -------------------------------------------------------------------------------------

OFFICE = {".docx": docx_bytes, ".pptx": pptx_bytes, ".xlsx": xlsx_bytes}


def rezip(data: bytes, change) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new:
        for member in old.namelist():
            new.writestr(member, change(member, old.read(member)))
    return buffer.getvalue()


@pytest.mark.parametrize("suffix", OFFICE)
def test_a_truncated_office_file_is_refused_as_damaged(suffix: str) -> None:
    data = OFFICE[suffix]()
    assert "damaged" in refusal(data[: len(data) // 2], f"a{suffix}").reason


@pytest.mark.parametrize("suffix", OFFICE)
def test_an_office_file_with_broken_xml_is_refused(suffix: str) -> None:
    assert refusal(rezip(OFFICE[suffix](), lambda name, data: b"<broken"), f"a{suffix}").reason


@pytest.mark.parametrize("suffix", OFFICE)
def test_an_office_file_that_is_a_zip_bomb_is_refused(suffix: str) -> None:
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b"0" * 30_000_000)
    error = refusal(bomb.getvalue(), f"a{suffix}", ReadLimits(max_bytes=1_000_000))
    assert "unpacks to more than 10 MB" in error.reason
    assert "ARGOT_MAX_FILE_MB" in error.remedy


def crowded(suffix: str, elements: int) -> bytes:
    """Make an Office file of some kilobytes that unpacks to this many empty elements and one with text."""
    member, before, element = {
        ".docx": ("word/document.xml", b"<w:sectPr", b"<w:p/>"),
        ".pptx": ("ppt/slides/slide1.xml", b"</p:spTree>", b"<p:sp/>"),
        ".xlsx": ("xl/worksheets/sheet1.xml", b"</sheetData>", b"<row/>"),
    }[suffix]

    def crowd(name: str, data: bytes) -> bytes:
        return data.replace(before, element * elements + before, 1) if name == member else data

    return rezip(OFFICE[suffix](), crowd)


@pytest.mark.parametrize("suffix", OFFICE)
def test_a_small_file_with_too_many_elements_is_refused_before_parsing(suffix: str) -> None:
    data = crowded(suffix, 300_000)
    assert len(data) < 100_000
    error = refusal(data, f"a{suffix}", ReadLimits(seconds=1))
    assert "XML elements" in error.reason
    assert "ARGOT_PARSE_SECONDS" in error.remedy


def test_a_small_file_with_too_much_text_is_refused_before_parsing() -> None:
    def lengthen(name: str, data: bytes) -> bytes:
        return data.replace(b"30 days", b"30 days" + b" and a" * 3_000_000) if name == "word/document.xml" else data

    error = refusal(rezip(OFFICE[".docx"](), lengthen), "a.docx", ReadLimits(seconds=1))
    assert "MB of XML" in error.reason
    assert "ARGOT_PARSE_SECONDS" in error.remedy


def test_a_file_that_is_nested_too_deeply_is_refused() -> None:
    opened, closed = b"<w:sdt><w:sdtContent>" * 3_000, b"</w:sdtContent></w:sdt>" * 3_000

    def nest(name: str, data: bytes) -> bytes:
        return data.replace(b"<w:sectPr", opened + closed + b"<w:sectPr", 1) if name == "word/document.xml" else data

    assert refusal(rezip(OFFICE[".docx"](), nest), "a.docx").reason == "nested too deeply"


SHARED_STRINGS = {
    "[Content_Types].xml": (
        b"</Types>",
        b'<Override PartName="/xl/sharedStrings.xml" ContentType="application/vnd.openxmlformats-officedocument'
        b'.spreadsheetml.sharedStrings+xml"/></Types>',
    ),
    "xl/_rels/workbook.xml.rels": (
        b"</Relationships>",
        b'<Relationship Id="shared" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/'
        b'sharedStrings" Target="sharedStrings.xml"/></Relationships>',
    ),
}
"""What a workbook with shared strings says of them in other parts: the end of each part, and what takes its place."""


def share_string(text: str, cells: int) -> bytes:
    """Make a workbook in which so many cells refer to one string; openpyxl would write it into each of them."""
    saved, rows = io.BytesIO(), b"".join(b'<row r="%d"><c t="s"><v>0</v></c></row>' % n for n in range(1, cells + 1))
    openpyxl.Workbook().save(saved)

    def change(name: str, part: bytes) -> bytes:
        if name.endswith("sheet1.xml"):
            return part.replace(b"<sheetData>", b"<sheetData>" + rows)
        return part.replace(*SHARED_STRINGS[name]) if name in SHARED_STRINGS else part

    book = io.BytesIO(rezip(saved.getvalue(), change))
    with zipfile.ZipFile(book, "a", zipfile.ZIP_DEFLATED) as archive:
        namespace = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
        archive.writestr("xl/sharedStrings.xml", f'<sst xmlns="{namespace}"><si><t>{text}</t></si></sst>')
    return book.getvalue()


def test_a_shared_string_in_many_cells_is_counted_before_joining() -> None:
    assert read(share_string("alpha", 2), "a.xlsx").markdown.count("alpha") == 2
    data = share_string("word " * 6000, 12_000)
    assert len(data) < 1_000_000
    with pytest.raises(UnreadableDocument, match="more than 20,000,000 characters"):
        read_isolated(data, "a.xlsx", ReadLimits(memory_mb=256, seconds=600))


def test_columns_beyond_the_limit_are_named_in_a_warning() -> None:
    from openpyxl import Workbook

    book = Workbook()
    book.active["A1"], book.active["B1"], book.active["XFD9"] = "term", "meaning", "far away"
    data = io.BytesIO()
    book.save(data)
    parsed = read_document(data.getvalue(), "a.xlsx", ReadLimits())
    assert "far away" not in parsed.markdown
    assert parsed.warnings == ("not read: columns behind the 500th in Sheet",)


def test_a_workbook_may_hold_more_elements_than_a_document() -> None:
    limits = ReadLimits(seconds=1)
    assert "XML elements" in refusal(crowded(".docx", 70_000), "a.docx", limits).reason
    assert "t59" in read_document(crowded(".xlsx", 70_000), "a.xlsx", limits).markdown


def test_elements_are_counted_in_parts_of_any_name() -> None:
    def hidden(name: str, data: bytes) -> bytes:
        return data.replace(b"word/document.xml", b"word/document.png") if name.startswith(("_rels", "[")) else data

    renamed = io.BytesIO()
    crowd = rezip(crowded(".docx", 100_000), hidden)
    with zipfile.ZipFile(io.BytesIO(crowd)) as old, zipfile.ZipFile(renamed, "w", zipfile.ZIP_DEFLATED) as new:
        for member in old.namelist():
            new.writestr(member.replace("document.xml", "document.png"), old.read(member))
    assert "XML elements" in refusal(renamed.getvalue(), "a.docx", ReadLimits(seconds=1)).reason


def test_an_office_file_with_false_zip_sizes_is_refused() -> None:
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b"0" * 30_000_000)
    data = bomb.getvalue().replace(struct.pack("<I", 30_000_000), struct.pack("<I", 1000))
    assert refusal(data, "a.docx", ReadLimits(max_bytes=1_000_000)).reason


@pytest.mark.parametrize("suffix", OFFICE)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_external_entities_are_not_read(suffix: str, encoding: str, tmp_path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("canary-7f3a")

    def poison(name: str, data: bytes) -> bytes:
        if not name.endswith(("document.xml", "slide1.xml", "sheet1.xml")):
            return data
        text = re.sub(r"<\?xml.*?\?>", "", data.decode())
        declared = f'<?xml version="1.0" encoding="{encoding}"?><!DOCTYPE x [<!ENTITY c SYSTEM "{secret.as_uri()}">]>'
        return (declared + text.replace("30 days", "&c;")).encode(encoding)

    data = rezip(OFFICE[suffix](), poison)
    if suffix == ".docx":
        assert "unsafe" in refusal(data, f"a{suffix}").reason
        return
    # The other slides and sheets are harmless.
    parsed = read(data, f"a{suffix}")
    assert "unsafe" in parsed.warnings[0] and "canary" not in parsed.markdown


def test_an_old_or_encrypted_office_file_is_refused() -> None:
    assert "encrypted" in refusal(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "a.docx").reason


def test_a_text_of_one_huge_line_is_read() -> None:
    parsed = read("word" * 250_000, "a.txt")
    assert len(parsed.markdown) == 1_000_000


def test_readers_return_no_nul_or_surrogate_characters() -> None:
    assert "\x00" not in read("<p>a&#0;b</p>", "a.html").markdown
    assert not re.search("[\ud800-\udfff]", read("<p>a&#xD800;b</p>", "a.html").markdown)


# -- the child process ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [*OFFICE, ".pdf", ".md"])
def test_isolated_reading_gives_the_same_result(suffix: str) -> None:
    makers = {**OFFICE, ".pdf": lambda: pdf_of([["# Heading", *PROSE]]), ".md": lambda: b"# Heading\n\nText.\n"}
    data = makers[suffix]()
    isolated, here = read_isolated(data, f"a{suffix}"), read_document(data, f"a{suffix}", LIMITS)
    for name in ("title", "markdown", "media_type", "date", "warnings"):
        assert getattr(isolated, name) == getattr(here, name)
    names = {"document_id": "d", "revision_id": "r"}
    cut = cut_passages(here, **names, max_chars=MAX_CHARS)
    assert build_passages(isolated.title, isolated.markdown, isolated.cuts, **names) == cut != []


def test_a_refusal_in_the_isolated_process_is_raised_here() -> None:
    with pytest.raises(UnreadableDocument, match=r"a\.pdf: encrypted"):
        read_isolated(pdf_of(["x"], encrypt=pdfencrypt.StandardEncryption("p")), "a.pdf", LIMITS)


def test_isolated_reading_stops_at_its_time_limit_and_reads_the_next_file() -> None:
    slow = b"<div><p>text" * 300_000
    with pytest.raises(UnreadableDocument, match="ARGOT_PARSE_SECONDS"):
        read_isolated(slow, "slow.html", ReadLimits(seconds=0.3))
    assert read_isolated(b"<p>next</p>", "next.html").markdown == "next\n"


def test_isolated_reading_bounds_memory_and_reads_the_next_file() -> None:
    big = b"<p>some text</p>" * 1_500_000
    with pytest.raises(UnreadableDocument, match="ARGOT_PARSE_MEMORY_MB"):
        read_isolated(big, "big.html", ReadLimits(memory_mb=64, seconds=600))
    assert read_isolated(b"<p>next</p>", "next.html").markdown == "next\n"


def test_isolated_reading_works_from_several_threads() -> None:
    results: dict[int, str] = {}

    def run(number: int) -> None:
        results[number] = read_isolated(f"<p>text {number}</p>".encode(), "a.html", LIMITS).markdown

    threads = [threading.Thread(target=run, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {number: f"text {number}\n" for number in range(8)}


def test_a_text_file_with_html_content_is_read_as_html() -> None:
    page = "\n<!DOCTYPE html>\n<html><body><h1>Kiln</h1><p>It is <b>hot</b>.</p></body></html>"
    parsed = read(page, "kiln.txt")
    assert (parsed.title, parsed.markdown.strip()) == ("Kiln", "# Kiln\n\nIt is **hot**.")
    assert parsed.media_type == "text/html"
    spoken_of = "Each page begins with <html> and has a <body>."
    assert read(spoken_of, "html.txt").markdown == spoken_of
