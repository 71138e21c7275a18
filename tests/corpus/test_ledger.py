"""The ledger of words: it detects text that a reader misses, and does not count text left out by a rule as lost."""

import io
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from email.message import EmailMessage
from typing import Any

import docx
import openpyxl
import pptx
import pypdfium2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl.comments import Comment
from reportlab.pdfgen.canvas import Canvas

from argot.corpus import readers
from argot.corpus.readers import ReadLimits, read_document, read_with_ledger
from argot.corpus.readers.ledger import Ledger, SourceText, compare_words, warn_of_lost_words
from argot.corpus.readers.ledger import source_text as rules
from argot.corpus.readers.ledger.words import split_markdown_symbols, split_markdown_words, split_symbols, split_words
from argot.types import ParsedDocument

LIMITS = ReadLimits()
W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def saved(made: Any) -> bytes:
    buffer = io.BytesIO()
    made.save(buffer)
    return buffer.getvalue()


def build_ledger(data: bytes, name: str) -> Ledger:
    return read_with_ledger(data, name, LIMITS)[1]


def lost_in(ledger: Ledger) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for one in ledger.lost:
        counts[one.kind] += one.words
    return dict(counts)


def with_part(data: bytes, name: str, text: str | Callable[[str], str]) -> bytes:
    """Return the archive with a part added, or changed by a function."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w") as new:
        for member in old.namelist():
            content = old.read(member)
            new.writestr(member, text(content.decode()) if callable(text) and member == name else content)
        if isinstance(text, str):
            new.writestr(name, text)
    return buffer.getvalue()


def word_file(*paragraphs: str, body: str = "") -> bytes:
    document = docx.Document()
    for text in paragraphs:
        document.add_paragraph(text)
    data = saved(document)
    return with_part(data, "word/document.xml", lambda xml: xml.replace("<w:sectPr", f"{body}<w:sectPr", 1))


@pytest.fixture
def blind(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return a function that makes every reader miss a text: it is removed from the Markdown."""
    seeing = readers._read_file

    def make(text: str) -> None:
        def read(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
            parsed = seeing(data, name, limits)
            return replace(parsed, markdown=parsed.markdown.replace(text, ""))

        monkeypatch.setattr(readers, "_read_file", read)

    return make


# -- words ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("in_the_file", "in_markdown"),
    [
        ("Nordvik Harbour", "**Nord**vik Har*bour*"),
        ("a well-\nknown rule", "a well-known rule"),
        ("exam\xadple", "example"),
        ("exam\xad\nple", "example"),
        ("ﬁrst oﬃce", "first office"),
        ("snake_case and C:\\temp", "snake\\_case and C:\\\\temp"),
        ("AT&T <b>", "AT&amp;T &lt;b&gt;"),
        ("3 | 4", "3 \\| 4"),
        ("STRASSE", "Straße"),
        ("cafe\u0301", "café"),
        ("東京都", "東 京 都"),
    ],
)
def test_markup_and_hyphens_do_not_split_words(in_the_file: str, in_markdown: str) -> None:
    assert split_words(in_the_file) == split_markdown_words(in_markdown)


@pytest.mark.parametrize(("right", "wrong"), [("centre Deliver", "centreDeliver"), ("Nordvik", "Nordvi k")])
def test_joined_or_split_words_count_as_lost(right: str, wrong: str) -> None:
    ledger = compare_words(ParsedDocument("", wrong, "text/plain"), [SourceText("page", "text", right)])
    assert ledger.lost_words == len(right.split())


def test_the_symbols_of_an_equation_are_found_in_latex() -> None:
    assert Counter(split_symbols("F=3mgμ/2")) == Counter(split_markdown_symbols(r"so $F=\frac{3 m g\mu}{2}$ holds"))


def test_amounts_of_money_are_not_equations() -> None:
    assert not list(split_markdown_symbols("from $5 to $10"))


words = st.lists(st.from_regex(r"[a-z]{1,8}", fullmatch=True), max_size=30)


@given(words, words)
def test_each_word_counts_as_kept_left_out_or_lost(held: list[str], read: list[str]) -> None:
    texts = [SourceText("page", "text", " ".join(held)), SourceText("page", "text", " ".join(read), "a rule")]
    ledger = compare_words(ParsedDocument("", " ".join(read), "text/plain"), texts)
    assert ledger.held == ledger.kept + ledger.left_out.total() + ledger.lost_words
    assert ledger.lost_words == (Counter(held) - Counter(read)).total()


@given(words, st.randoms(use_true_random=False))
def test_the_order_of_words_does_not_matter(held: list[str], random: Any) -> None:
    read = random.sample(held, len(held))
    ledger = compare_words(ParsedDocument("", " ".join(read), "text/plain"), [SourceText("p", "text", " ".join(held))])
    assert (ledger.kept, ledger.lost) == (len(held), [])


@given(st.text(max_size=200))
def test_a_text_has_the_same_words_in_markdown_and_in_the_file(text: str) -> None:
    ledger = compare_words(ParsedDocument("", text, "text/plain"), [SourceText("page", "note", text)])
    assert ledger.lost_words == 0 or "&" in text


# -- warnings ---------------------------------------------------------------------------------------------------------


def struck(texts: Iterator[SourceText] | list[SourceText], read: str = "", warnings: tuple[str, ...] = ()) -> Ledger:
    return compare_words(ParsedDocument("", read, "text/plain", warnings=warnings), texts)


def test_one_warning_lists_the_lost_words_by_place() -> None:
    texts = [SourceText("a", "comment", "one two three"), SourceText("b", "text box", "four five")]
    assert warn_of_lost_words(struck(texts)) == "5 words were not read: 3 in comments, 2 in text boxes"


def test_losses_reported_by_the_reader_are_not_reported_twice() -> None:
    texts = [SourceText("a", "comment", "one two three"), SourceText("b", "text box", "four five")]
    told = struck(texts, warnings=("2 pictures and 1 comment were not read",))
    assert warn_of_lost_words(told) == "2 words were not read: 2 in text boxes"
    assert told.count_lost_by_kind("reader") == {"comment": 3}


def test_a_few_lost_words_of_a_long_text_give_no_warning() -> None:
    text = " ".join(f"w{number}" for number in range(5000))
    assert warn_of_lost_words(struck([SourceText("a", "text", f"{text} lost words here")], text)) == ""
    assert warn_of_lost_words(struck([SourceText("a", "text", f"{text} {' lost' * 6}")], text))


# -- each format ------------------------------------------------------------------------------------------------------


def test_unknown_parts_of_a_word_file_are_counted() -> None:
    data = with_part(word_file("The pump runs."), "word/novel/part1.xml", "<x><y>Gate two is closed until May</y></x>")
    assert lost_in(build_ledger(data, "a.docx")) == {"unknown part": 6}
    assert "6 words were not read: 6 in unknown parts" in read_document(data, "a.docx", LIMITS).warnings


def test_text_missed_by_the_word_reader_is_reported(blind: Callable[[str], None]) -> None:
    blind("The crane lifts nine tonnes.")
    data = word_file("The pump runs.", "The crane lifts nine tonnes.")
    assert lost_in(build_ledger(data, "a.docx")) == {"text": 5}
    assert read_document(data, "a.docx", LIMITS).warnings == ("5 words were not read: 5 in the running text",)


def test_words_in_several_runs_are_one_word() -> None:
    body = "<w:p><w:r><w:t>Nord</w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>vik</w:t></w:r></w:p>"
    assert build_ledger(word_file("Text.", body=body), "a.docx").lost == []


def test_deleted_and_hidden_text_and_field_codes_are_left_out_by_rule() -> None:
    body = (
        "<w:p><w:del w:id='1' w:author='a'><w:r><w:delText>deleted words</w:delText></w:r></w:del>"
        "<w:r><w:rPr><w:vanish/></w:rPr><w:t>concealed matter</w:t></w:r>"
        "<w:r><w:instrText>PAGEREF bookmark</w:instrText></w:r><w:r><w:t>Seen.</w:t></w:r></w:p>"
    )
    ledger = build_ledger(word_file(body=body), "a.docx")
    assert ledger.lost == []
    assert [ledger.left_out[rule] for rule in (rules.DELETED, rules.HIDDEN, rules.FIELD_CODE)] == [2, 2, 2]


def test_the_cells_notes_and_text_boxes_of_a_workbook_are_counted(blind: Callable[[str], None]) -> None:
    book = openpyxl.Workbook()
    book.active.append(["Part", "Valve"])
    book.active["A1"].comment = Comment("Reorder when fifteen remain", "Store")
    data = saved(book)
    assert words_lost_of_kind(data, "comment") in (0, 4)  # read some day
    blind("Valve")
    assert words_lost_of_kind(data, "cell") == 1


def words_lost_of_kind(data: bytes, kind: str) -> int:
    return lost_in(build_ledger(data, "a.xlsx")).get(kind, 0)


def test_hidden_sheets_rows_and_columns_are_left_out_by_rule() -> None:
    book = openpyxl.Workbook()
    book.active.append(["Part", "Secret"])
    book.active.append(["Valve", "sum"])
    book.active.append(["Hidden row", ""])
    book.active.column_dimensions["B"].hidden = True
    book.active.row_dimensions[3].hidden = True
    other = book.create_sheet("Costs")
    other.append(["Margin"])
    other.sheet_state = "hidden"
    ledger = build_ledger(saved(book), "a.xlsx")
    assert ledger.lost == []
    # The reader's warnings name the sheet, the row and the column.
    assert ledger.left_out[rules.HIDDEN_CELL] >= 3


def deck(*, hidden: bool = False) -> bytes:
    made = pptx.Presentation()
    for text in ("The pump runs", "The crane lifts"):
        slide = made.slides.add_slide(made.slide_layouts[5])
        slide.shapes.title.text = text
        slide.notes_slide.notes_text_frame.text = f"Say why {text.lower()} daily"
    if hidden:
        made.slides[1]._element.set("show", "0")
    return saved(made)


def test_text_missed_by_the_slide_reader_is_reported(blind: Callable[[str], None]) -> None:
    assert build_ledger(deck(), "a.pptx").lost == []
    blind("**Notes:** Say why the crane lifts daily")
    assert lost_in(build_ledger(deck(), "a.pptx")).get("note", 0) >= 4


def test_hidden_slides_and_layouts_are_left_out_by_rule() -> None:
    ledger = build_ledger(deck(hidden=True), "a.pptx")
    assert ledger.lost == []
    assert ledger.left_out[rules.HIDDEN_SLIDE] >= 5
    assert ledger.left_out[rules.LAYOUT] > 0


def paper(*pages: list[str]) -> bytes:
    buffer = io.BytesIO()
    canvas = Canvas(buffer)
    for lines in pages:
        for number, line in enumerate(lines):
            canvas.drawString(72, 800 - 40 * number, line)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def test_text_missed_by_the_pdf_reader_is_reported(blind: Callable[[str], None]) -> None:
    data = paper(["The pump runs at nine bar.", "Valves close within two seconds."])
    assert build_ledger(data, "a.pdf").lost == []
    blind("Valves close within two seconds.")
    assert lost_in(build_ledger(data, "a.pdf")) == {"text": 5}


def test_running_headers_are_left_out_by_rule() -> None:
    pages = [["Operating manual", *(f"{one} {n} of chapter {n}" for one in ("Rule", "Note", "Hint"))] for n in range(4)]
    ledger = build_ledger(paper(*pages), "a.pdf")
    assert ledger.lost == []
    assert ledger.left_out[rules.RUNNING] > 0


def test_form_fields_and_attached_files_of_a_pdf_are_counted() -> None:
    buffer = io.BytesIO()
    canvas = Canvas(buffer)
    canvas.drawString(72, 700, "Claim number")
    canvas.acroForm.textfield(name="number", value="Heron seventeen", x=200, y=690)
    canvas.save()
    document = pypdfium2.PdfDocument(buffer.getvalue())
    document.new_attachment("annexure.txt").set_data(b"text")
    attached = io.BytesIO()
    document.save(attached)
    from argot.corpus.readers.ledger import take_census

    found = {one.kind: one.text for one in take_census(attached.getvalue(), "a.pdf", "application/pdf", LIMITS)}
    assert found["form field"] == "Heron seventeen"
    assert found["attached file"] == "annexure.txt"


def test_spaces_in_the_file_separate_words_of_spaced_letters() -> None:
    buffer = io.BytesIO()
    canvas = Canvas(buffer)
    text = canvas.beginText(72, 700)
    text.setCharSpace(6)
    text.textLine("Nordvik Harbour charges eleven percent for each night at the quay")
    canvas.drawText(text)
    canvas.save()
    from argot.corpus.readers.ledger import take_census

    (page,) = take_census(buffer.getvalue(), "a.pdf", "application/pdf", LIMITS)
    assert split_words(page.text)[:3] == ["nordvik", "harbour", "charges"]


def test_text_missed_by_the_html_reader_is_reported(blind: Callable[[str], None]) -> None:
    data = b"<html><body><p>The pump runs.</p><p>Failover takes ninety seconds.</p></body></html>"
    blind("Failover takes ninety seconds.")
    assert lost_in(build_ledger(data, "a.html")) == {"text": 4}


@pytest.mark.parametrize(
    "unseen",
    [
        "<noscript><p>Enable scripts to see this page</p></noscript>",
        "<p hidden>Hidden words that nobody sees</p>",
        "<video src=a.mp4><p>Your browser cannot play this video</p></video>",
        "<audio src=a.mp3>Your browser cannot play this recording</audio>",
        "<svg aria-hidden=true><title>Plan of the large hall</title></svg>",
        "<svg><title>Arrow that points to the left</title><path/></svg>",
    ],
)
def test_text_that_a_browser_hides_does_not_count_as_lost(unseen: str) -> None:
    parsed, ledger = read_with_ledger(f"<body><p>The gate opens.</p>{unseen}</body>".encode(), "a.html", LIMITS)
    assert ledger.lost == [] and "words were not read" not in " ".join(parsed.warnings)


def test_a_drawing_description_is_read_and_a_summary_is_a_paragraph() -> None:
    drawing = "<svg><title>Hall</title><desc>Gates on both sides</desc><text>Gate seven</text></svg>"
    folded = "<details><summary>More</summary>The gate opens.</details>"
    markdown = read_document(f"<body>{drawing}{folded}</body>".encode(), "a.html", LIMITS).markdown
    assert "Hall; Gates on both sides; Gate seven" in markdown
    assert "More\n\nThe gate opens." in markdown


def test_the_words_of_a_drawing_in_markdown_count() -> None:
    drawing = "<svg><title>Hall</title>\n<text>Gate seven opens</text>\n</svg>"
    icon = "<svg><title>Arrow</title><path/></svg>"
    _, ledger = read_with_ledger(f"# Gates\n\n{drawing}\n\n{icon}\n\nThey open.\n".encode(), "a.md", LIMITS)
    assert ledger.lost == [] and ledger.kept == len(["Gates", "Hall", "Gate", "seven", "opens", "They", "open"])


def test_code_navigation_and_hidden_text_of_a_page_are_left_out_by_rule() -> None:
    data = b"""<html><head><style>p {color: red}</style></head><body><nav>Home Products</nav><script>run()</script>
    <p>The pump runs.</p><p style="display: none">Concealed matter</p>
    <footer>All rights reserved</footer></body></html>"""
    ledger = build_ledger(data, "a.html")
    assert ledger.lost == []
    assert {rules.CODE, rules.CLICKABLE, rules.HIDDEN, rules.OUTSIDE} <= set(ledger.left_out)


def mail(*, html: str = "") -> EmailMessage:
    message = EmailMessage()
    message["From"], message["Subject"], message["Date"] = (
        "Ann <ann@example.org>",
        "Pump",
        "Mon, 3 Mar 2025 09:00:00 +0000",
    )
    message.set_content("The pump runs.")
    if html:
        message.add_alternative(html, subtype="html")
    return message


def test_text_missed_by_the_mail_reader_is_reported(blind: Callable[[str], None]) -> None:
    message = mail()
    message.add_attachment("Valves close within seconds.", filename="valves.txt")
    assert build_ledger(bytes(message), "a.eml").lost == []
    blind("Valves close within seconds.")
    assert lost_in(build_ledger(bytes(message), "a.eml"))["attachment"] >= 3


def test_the_alternative_form_of_a_mail_is_left_out_by_rule() -> None:
    ledger = build_ledger(bytes(mail(html="<p>The engine hums loudly</p>")), "a.eml")
    assert ledger.lost == []
    assert ledger.left_out[rules.OTHER_FORM] == 4


def test_losses_in_an_attachment_are_counted_once() -> None:
    message = mail()
    attached = with_part(word_file("Annex."), "word/novel/part1.xml", "<x><y>Gate two is closed until May</y></x>")
    message.add_attachment(attached, maintype="application", subtype="octet-stream", filename="annex.docx")
    (warning,) = read_document(bytes(message), "a.eml", LIMITS).warnings
    assert warning == "6 words were not read: 6 in unknown parts"


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.md", b"---\ntitle: Pump\n---\n# Pump\n\n<!-- note to self -->The **pump** runs. <b>Fast</b>er\n"),
        ("a.txt", "Die Pumpe läuft, sagt „Ann“.\n".encode("cp1252")),
        ("a.csv", b"part;state\nvalve;shut\n"),
        ("a.json", b'[{"part": "valve", "state": "shut"}, {"part": "pump", "state": "on"}]'),
        ("a.rst", b"Pump\n====\n\n.. note:: Mind the :ref:`valve <valves>`.\n\nIt runs.\n"),
        ("a.ipynb", b'{"cells": [{"cell_type": "markdown", "source": ["# Pump\\n", "It runs."]}]}'),
    ],
)
def test_text_files_lose_no_words(name: str, data: bytes) -> None:
    ledger = build_ledger(data, name)
    assert ledger.held > 0
    assert (lost_in(ledger), ledger.shortfall) == ({}, "")


# -- bounds -----------------------------------------------------------------------------------------------------------


def test_a_failed_word_count_does_not_lose_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ValueError("odd part")

    monkeypatch.setattr("argot.corpus.readers.ledger.take_census", fail)
    parsed, ledger = read_with_ledger(b"The pump runs.", "a.txt", LIMITS)
    assert parsed.markdown == "The pump runs."
    assert parsed.warnings == (readers.NOT_COUNTED_WARNING,)
    assert ledger.shortfall == "ValueError: odd part"


def test_a_word_count_stops_at_its_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "_MIN_COUNTING_SECONDS", -1.0)
    monkeypatch.setattr(readers, "_MAX_COUNTING_SHARE", -1e9)
    parsed, ledger = read_with_ledger(b"<p>The pump runs.</p>", "a.html", LIMITS)
    assert "The pump runs." in parsed.markdown
    assert ledger.shortfall.startswith("CensusOver")


def test_unclosed_markup_is_counted_in_bounded_time() -> None:
    for hostile in (
        "<script " * 60_000,
        "<!-- " * 60_000,
        "$$ " * 60_000,
        "_" * 300_000,
        "a-" * 150_000,
        "\n" * 300_000,
    ):
        data = f"Pump.\n{hostile}\n".encode()
        assert build_ledger(data, "a.md").shortfall == ""
        assert build_ledger(data, "a.rst" if "\n\n" in hostile else "a.txt").shortfall == ""
