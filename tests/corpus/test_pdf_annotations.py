"""Content of PDF pages beside their text: form fields, free text, notes, attached files, pictures."""

import base64
import io
from collections.abc import Sequence

import pytest
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers import attached_files, read_document
from argot.types import ParsedDocument
from tests.corpus.pdf_writer import stream, text, write_pdf

LIMITS = ReadLimits()
LABELS = text("Claim number:", 60, 700) + text("Cause", 60, 650) + text("Approved", 90, 600) + text("Paid", 90, 560)
FORM = "/AcroForm << /NeedAppearances true /Fields [{}] /DR << /Font << /F1 3 0 R >> >> /DA (/F1 12 Tf) >>"


def read(data: bytes, name: str = "claim.pdf") -> ParsedDocument:
    return read_document(data, name, LIMITS)


def widget(entries: str, box: str, flags: int = 4) -> str:
    return f"<< /Type /Annot /Subtype /Widget /F {flags} /P 10 0 R /Rect [{box}] {entries} >>"


def form(fields: Sequence[str], content: str = LABELS, **more: object) -> bytes:
    numbers = " ".join(f"{50 + number} 0 R" for number in range(len(fields)))
    return write_pdf([content], fields, FORM.format(numbers), **more)  # type: ignore[arg-type]


def claim(number: str, cause: str, approved: str) -> list[str]:
    return [
        widget(f"/FT /Tx /T (n1) /V ({number})", "200 695 400 715"),
        widget(f"/FT /Ch /Ff 131072 /T (n2) /V ({cause}) /Opt [[(F) (Fire)] [(W) (Water)]]", "200 645 400 665"),
        widget(f"/FT /Btn /T (n3) /V /{approved} /AS /{approved} /AP << /N << /Yes 80 0 R >> >>", "60 595 75 610"),
        widget("/FT /Btn /T (n4) /V /Off /AS /Off /AP << /N << /Yes 80 0 R >> >>", "60 555 75 570"),
    ]


BLANK = {80: stream("", "/Type /XObject /Subtype /Form /BBox [0 0 15 15]")}


def test_form_fields_follow_their_labels() -> None:
    markdown = read(form(claim("CL-20931", "W", "Yes"), more=BLANK)).markdown
    assert markdown.split("\n\n")[:2] == ["Claim number: CL-20931", "Cause: Water"]
    assert "- [x] Approved\n- [ ] Paid" in markdown


BOX_DRAWING = "/AP << /N << /On 80 0 R /Off 80 0 R >> >>"


@pytest.mark.parametrize(
    "entries",
    [
        "/V /On",
        "/AS /On",
        f"/V /On {BOX_DRAWING}",
        f"/V /On /AS /Off {BOX_DRAWING}",
        f"/V /1 /AS /1 {BOX_DRAWING}",
        "/V /Yes /AS /Yes /AP << /N 80 0 R >>",
    ],
)
def test_a_box_is_ticked_in_every_state_but_off(entries: str) -> None:
    fields = [widget(f"/FT /Btn /T (n1) {entries}", "60 595 75 610")]
    assert "[x] Approved" in read(form(fields, more=BLANK)).markdown


@pytest.mark.parametrize("entries", ["", "/V /Off /AS /Off", BOX_DRAWING, f"/AS /Off {BOX_DRAWING}"])
def test_a_box_without_a_state_is_not_ticked(entries: str) -> None:
    fields = [*claim("CL-20931", "W", "Yes")[:1], widget(f"/FT /Btn /T (n2) {entries}", "60 595 75 610")]
    assert "[ ] Approved" in read(form(fields, more=BLANK)).markdown


def test_a_value_is_not_attached_to_the_label_of_a_tick_box() -> None:
    content = text("Fragile", 80, 700) + text("Instructions", 200, 716) + text("Other:", 80, 600)
    fields = [
        widget("/FT /Btn /T (n1) /V /On /AS /On", "60 698 72 710"),
        widget("/FT /Tx /T (n2) /V (Ring twice)", "200 693 400 713"),
        widget("/FT /Btn /T (n3) /V /On /AS /On", "60 598 72 610"),
        widget("/FT /Tx /T (n4) /V (Cold)", "150 595 300 615"),
    ]
    markdown = read(form(fields, content)).markdown
    assert "[x] Fragile" in markdown
    assert "Fragile: Ring" not in markdown
    assert "Instructions: Ring twice" in markdown
    assert "[x] Other: Cold" in markdown


def test_a_blank_form_reads_like_its_labels() -> None:
    blank = read(form(claim("", "", "Off"), more=BLANK)).markdown
    assert blank == read(write_pdf([LABELS])).markdown


def test_a_field_without_a_label_is_named_by_its_tooltip() -> None:
    fields = [widget("/FT /Tx /T (n1) /TU (Policy holder) /V (Ann Lee)", "200 95 400 115")]
    assert "Policy holder: Ann Lee" in read(form(fields)).markdown


def test_hidden_fields_and_passwords_are_left_out() -> None:
    fields = [
        widget("/FT /Tx /T (n1) /V (kept)", "200 695 400 715"),
        widget("/FT /Tx /T (n2) /V (unseen)", "200 645 400 665", flags=2),
        widget("/FT /Tx /Ff 8192 /T (n3) /V (secret)", "200 595 400 615"),
    ]
    markdown = read(form(fields)).markdown
    assert "kept" in markdown
    assert "unseen" not in markdown
    assert "secret" not in markdown


def test_values_are_placed_in_the_gaps_of_the_line() -> None:
    content = text("Name: ____________ Date: ____________", 60, 700)
    fields = [
        widget("/FT /Tx /T (a) /V (Ann)", "100 695 170 715"),
        widget("/FT /Tx /T (b) /V (5 May)", "215 695 290 715"),
    ]
    assert read(form(fields, content)).markdown.strip() == "Name: Ann Date: 5 May"


def test_the_values_of_an_xfa_form_are_read() -> None:
    data = "<xfa:datasets xmlns:xfa='http://www.xfa.org/schema/xfa-data/1.0/'><Total>612 euros</Total></xfa:datasets>"
    catalog = "/AcroForm << /Fields [] /XFA [(datasets) 90 0 R] >>"
    found = read(write_pdf([text("Please wait...", 60, 700)], catalog=catalog, more={90: stream(data)}))
    assert "## Form fields\n\nTotal: 612 euros" in found.markdown
    assert any("XFA form" in warning for warning in found.warnings)


def note(kind: str, contents: str, entries: str = "/T (Ann)", flags: int = 4) -> str:
    rect = "60 590 300 620"
    return f"<< /Type /Annot /Subtype /{kind} /F {flags} /Rect [{rect}] /Contents ({contents}) {entries} >>"


PLAN = text("The hall has two gates.", 60, 700) + text("Gates are locked at night.", 60, 400)


def test_free_text_annotations_are_read_at_their_place() -> None:
    markdown = read(write_pdf([PLAN], [note("FreeText", "Gate 2 is closed.")])).markdown
    assert markdown.split("\n\n")[:3] == ["The hall has two gates.", "Gate 2 is closed.", "Gates are locked at night."]


def test_notes_are_read_once_with_their_author() -> None:
    notes = [
        note("Text", "Ask the fire brigade.", "/T (Ann) /Popup 51 0 R"),
        "<< /Type /Annot /Subtype /Popup /Parent 50 0 R /Rect [0 0 10 10] /Contents (Ask the fire brigade.) >>",
        note("Highlight", "Gates are locked at night.", "/T (Bob)"),
        note("Stamp", "Approved on 3 May", ""),
        note("Link", "a link"),
        note("Text", "unseen", flags=2),
    ]
    markdown = read(write_pdf([PLAN], notes)).markdown
    assert markdown.count("Ask the fire brigade.") == 1
    assert "**Note (Ann):** Ask the fire brigade." in markdown
    assert "**Note:** Approved on 3 May" in markdown
    # A highlight whose note repeats the highlighted words adds nothing.
    assert "Bob" not in markdown
    assert "a link" not in markdown
    assert "unseen" not in markdown


def test_a_page_of_free_text_annotations_alone_is_read() -> None:
    assert read(write_pdf([""], [note("FreeText", "Gate 2 is closed.")])).markdown.strip() == "Gate 2 is closed."


def with_file(name: str, data: bytes, *, pinned: bool = False) -> bytes:
    files = {
        90: f"<< /Type /Filespec /F ({name}) /UF ({name}) /EF << /F 91 0 R >> >>",
        91: stream(data, "/Type /EmbeddedFile"),
    }
    if pinned:
        return write_pdf([PLAN], [note("FileAttachment", "", "/FS 90 0 R")], more=files)
    catalog = f"/Names << /EmbeddedFiles << /Names [({name}) 90 0 R] >> >>"
    return write_pdf([PLAN], catalog=catalog, more=files)


def test_attached_files_become_sections() -> None:
    for pinned in (False, True):
        markdown = read(with_file("annex.txt", b"The fire door is tested every 11 weeks.", pinned=pinned)).markdown
        assert markdown.endswith("## Attachment: annex.txt\n\nThe fire door is tested every 11 weeks.\n\n")


def test_nested_attached_files_are_read_up_to_a_depth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attached_files, "MAX_ATTACHED_DEPTH", 3)
    data = b"The innermost word."
    for number in range(6):
        data = with_file("deeper.pdf" if number else "deeper.txt", data)
    found = read(data)
    assert "The innermost word." not in found.markdown
    assert found.markdown.count("Attachment: deeper.pdf") == 3
    assert any("attachments are not read: deeper.pdf" in warning for warning in found.warnings)


def test_an_attached_file_that_cannot_be_read_is_named() -> None:
    (warning,) = read(with_file("film.xyz", b"\x00\x01\x02")).warnings
    assert warning.startswith("attachments are not read: film.xyz")


def with_pictures(pages: int, size: float, *, place: float = 100) -> bytes:
    buffer = io.BytesIO()
    canvas = Canvas(buffer)
    for number in range(pages):
        canvas.drawString(60, 780, f"Report of week {number}: all is well with the pumps.")
        picture = Image.new("RGB", (40, 40), (number * 9 + 1, 90, 200))
        canvas.drawImage(ImageReader(picture), place, 100, size, size)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def test_unread_large_pictures_are_counted() -> None:
    assert read(with_pictures(2, 300)).warnings == ("2 pictures were not read",)


def test_small_and_repeated_pictures_are_ignored() -> None:
    assert read(with_pictures(1, 60)).warnings == ()
    assert read(with_pictures(5, 300)).warnings == ()


def test_a_background_behind_text_is_not_a_picture() -> None:
    buffer = io.BytesIO()
    canvas = Canvas(buffer)
    canvas.drawImage(ImageReader(Image.new("RGB", (40, 40), "white")), 50, 500, 450, 300)
    for number in range(8):
        canvas.drawString(60, 780 - 20 * number, f"Line {number} of the text that stands on the picture.")
    canvas.save()
    assert read(buffer.getvalue()).warnings == ()


def test_a_file_in_a_pdf_in_a_mail_is_read() -> None:
    inner = base64.encodebytes(with_file("annex.txt", b"Tested every 11 weeks.")).decode()
    mail = (
        "From: ann@example.org\nSubject: Plan\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n"
        "--b\nContent-Type: text/plain\n\nHere it is.\n--b\nContent-Type: application/pdf\n"
        'Content-Disposition: attachment; filename="plan.pdf"\nContent-Transfer-Encoding: base64\n\n'
        + inner
        + "--b--\n"
    )
    markdown = read(mail.encode(), "plan.eml").markdown
    assert "## Attachment: plan.pdf" in markdown
    assert "Attachment: annex.txt\n\nTested every 11 weeks." in markdown
