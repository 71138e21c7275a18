"""Metafiles (EMF, WMF): drawn by LibreOffice where it is installed, otherwise reported as not read."""

import gzip
import io
import os
import struct
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import docx
import pptx
import pytest
from docx.shared import Inches
from PIL import Image
from reportlab.pdfgen.canvas import Canvas

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers import metafile_pictures, pictures, read_document
from argot.corpus.readers.metafile_pictures import describe_drawing, draw_metafile, is_installed, is_metafile
from argot.types import ParsedDocument

UNREAD = ReadLimits(ocr_languages="")
NOT_READ = "1 picture in EMF or WMF was not read"


def make_record(function: int, *numbers: int, rest: bytes = b"") -> bytes:
    data = struct.pack(f"<{len(numbers)}h", *numbers) + rest
    return struct.pack("<IH", (6 + len(data)) // 2, function) + data


def make_wmf() -> bytes:
    """Make a blue bar on 640 by 320 units."""
    window = make_record(0x0103, 8) + make_record(0x020B, 0, 0) + make_record(0x020C, 320, 640)
    brush = make_record(0x02FC, 0, rest=struct.pack("<Ih", 0x00800000, 0)) + make_record(0x012D, 0)
    body = window + brush + make_record(0x041B, 290, 570, 30, 30) + make_record(0)
    return struct.pack("<HHHIHIH", 1, 9, 0x300, (18 + len(body)) // 2, 1, 16, 0) + body


EMF = b"\x01\x00\x00\x00" + bytes(36) + b" EMF" + bytes(64)


def make_page() -> bytes:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(600, 800))
    canvas.setFillColor("navy")
    canvas.rect(100, 500, 360, 72, stroke=0, fill=1)
    canvas.setFillColor("lime")
    canvas.rect(100, 500, 36, 72, stroke=0, fill=1)
    canvas.save()
    return buffer.getvalue()


@pytest.fixture
def office(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Put a program `soffice` in the path that lays a blue bar on a page, whatever it is given."""
    (tmp_path / "page.pdf").write_bytes(make_page())
    program = tmp_path / "bin" / "soffice"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/given\ncp {tmp_path}/page.pdf "$7/picture.pdf"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    return program


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))


def replace_pictures(made: io.BytesIO, picture: bytes) -> bytes:
    """Return an Office file with this picture in the place of each of its own."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(made) as source, zipfile.ZipFile(buffer, "w") as target:
        for name in source.namelist():
            target.writestr(name, picture if "/media/" in name else source.read(name))
    return buffer.getvalue()


def make_png() -> io.BytesIO:
    buffer = io.BytesIO()
    Image.new("RGB", (640, 320), "white").save(buffer, "PNG")
    buffer.seek(0)
    return buffer


def make_docx(picture: bytes = EMF, alternative: str = "", width: float = 4) -> bytes:
    document, buffer = docx.Document(), io.BytesIO()
    document.add_paragraph("The pumps stand below.")
    document.add_picture(make_png(), width=Inches(width))
    document.inline_shapes[0]._inline.docPr.set("descr", alternative)
    document.add_paragraph("Figure 3: Flow of the pump", style="Caption")
    document.save(buffer)
    return replace_pictures(buffer, picture)


def make_pptx(picture: bytes = EMF) -> bytes:
    slides, buffer = pptx.Presentation(), io.BytesIO()
    slide = slides.slides.add_slide(slides.slide_layouts[1])
    slide.shapes.title.text, slide.placeholders[1].text = "Pumps", "They stand below."
    slide.shapes.add_picture(make_png(), 0, 0, Inches(4))
    slides.save(buffer)
    return replace_pictures(buffer, picture)


def make_rtf(picture: bytes = EMF) -> bytes:
    return rb"{\rtf1 The pumps stand below.\par{\pict\emfblip " + picture.hex().encode() + rb"}\par}"


FILES = {"a.docx": make_docx(), "a.pptx": make_pptx(), "a.rtf": make_rtf()}


def read(data: bytes, name: str = "a.docx") -> ParsedDocument:
    return read_document(data, name, UNREAD)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (EMF, True), (make_wmf(), True), (b"\xd7\xcd\xc6\x9a" + make_wmf(), True), (gzip.compress(EMF), True),
        (b"\x01\x00\x00\x00" + bytes(90), False), (gzip.compress(b"<svg/>"), False), (b"\x1f\x8b", False), (b"", False),
    ],
)  # fmt: skip
def test_metafiles_are_told_by_their_bytes(data: bytes, expected: bool) -> None:
    assert is_metafile(data) is expected


@pytest.mark.usefixtures("office")
@pytest.mark.parametrize("name", FILES)
def test_a_metafile_in_a_file_is_a_picture_of_it(name: str) -> None:
    parsed = read(FILES[name], name)
    (picture,) = parsed.pictures
    assert (picture.width, picture.height, picture.media_type) == (1017, 217, "image/png")
    assert not any("EMF" in one for one in parsed.warnings)


@pytest.mark.usefixtures("office")
def test_a_metafile_has_its_caption_and_alternative_text_and_no_white_around_it() -> None:
    parsed = read(make_docx(gzip.compress(EMF), "Bars"))
    assert [(one.place, one.caption, one.alternative) for one in parsed.pictures] == [
        ("Figure 3", "Figure 3: Flow of the pump", "Bars")
    ]
    (data,) = parsed.picture_data.values()
    drawn = Image.open(io.BytesIO(data)).convert("RGB")
    assert (drawn.getpixel((2, 2)), drawn.getpixel((40, 100))) == ((255, 255, 255), (0, 255, 0))


def test_the_program_gets_a_profile_of_its_own_and_no_secrets(office: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARGOT_MODEL_KEY", "secret")
    office.write_text(f"{office.read_text()}env > {office.parent.parent}/environment\n")
    assert draw_metafile(make_wmf()) is not None
    given = (office.parent.parent / "given").read_text()
    assert "--headless" in given and "-env:UserInstallation=file:///" in given and given.endswith("picture.wmf\n")
    folder = Path(given.split()[-1]).parent
    assert not folder.exists()
    environment = (office.parent.parent / "environment").read_text()
    assert f"HOME={folder}" in environment and "secret" not in environment


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize("name", FILES)
def test_without_the_program_a_metafile_counts_as_not_read_once(name: str) -> None:
    parsed = read(FILES[name], name)
    (warning,) = parsed.warnings
    assert warning.startswith(NOT_READ) and "apt install libreoffice-draw-nogui" in warning
    assert not parsed.pictures


@pytest.mark.usefixtures("bare")
def test_a_metafile_with_alternative_text_counts_as_not_read_and_a_symbol_does_not() -> None:
    described = read(make_docx(alternative="Flow of the pump"))
    assert "Picture: Flow of the pump" in described.markdown and described.warnings[0].startswith(NOT_READ)
    assert not read(make_docx(width=0.5)).warnings


def test_a_metafile_that_the_program_cannot_draw_counts_as_not_read(office: Path) -> None:
    for script in ("exit 1", "exit 0", 'echo damaged > "$7/picture.pdf"'):
        office.write_text(f"#!/bin/sh\n{script}\n")
        assert read(make_docx()).warnings == (NOT_READ,)


def test_a_drawing_that_takes_too_much_processor_time_is_ended(office: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    office.write_text("#!/bin/sh\nwhile :; do :; done\n")
    monkeypatch.setattr(
        metafile_pictures, "_BOUNDED_COMMAND", metafile_pictures._BOUNDED_COMMAND.replace("-t 30", "-t 1")
    )
    assert draw_metafile(EMF) is None


DRAWING = """
import sys
from argot.corpus.readers.metafile_pictures import draw_metafile
draw_metafile(sys.stdin.buffer.read())
"""


def is_running(process: str) -> bool:
    state = Path(f"/proc/{process}/stat")
    return state.exists() and state.read_text().rpartition(")")[2].split()[0] != "Z"


def wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="this system has no /proc")
def test_the_program_and_its_folder_end_with_a_reader_that_is_killed(office: Path, tmp_path: Path) -> None:
    told = tmp_path / "told"
    # In a process of its own, as LibreOffice draws.
    office.write_text(f'#!/bin/sh\nsleep 600 &\necho "$! $HOME" > {told}.part\nmv {told}.part {told}\nwait\n')
    with subprocess.Popen([sys.executable, "-c", DRAWING], stdin=subprocess.PIPE) as reader:
        assert reader.stdin is not None
        reader.stdin.write(EMF)
        reader.stdin.close()
        wait_until(told.exists)
        process, folder = told.read_text().split()
        assert is_running(process) and Path(folder).is_dir()
        reader.kill()
    wait_until(lambda: not is_running(process))
    assert not Path(folder).exists()


@pytest.mark.usefixtures("office")
def test_without_room_for_it_a_metafile_counts_as_not_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    assert read(make_docx()).warnings == (NOT_READ,)


@pytest.mark.usefixtures("office")
def test_only_so_many_metafiles_of_a_file_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "_MAX_DRAWN", 0)
    assert read(make_docx()).warnings == (NOT_READ,)


def test_the_doctor_says_whether_metafiles_are_drawn(office: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert describe_drawing() == "LibreOffice draws them"
    monkeypatch.setenv("PATH", str(office.parent.parent))
    assert "apt install libreoffice-draw-nogui" in describe_drawing()


@pytest.mark.skipif(not is_installed(), reason="LibreOffice is not installed")
def test_libreoffice_draws_a_metafile() -> None:
    drawn = draw_metafile(make_wmf())
    assert drawn is not None and drawn.width > drawn.height
    assert drawn.getpixel((drawn.width // 2, drawn.height // 2)) == (0, 0, 128)
