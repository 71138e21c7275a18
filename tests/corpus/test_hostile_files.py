"""Files made to break a reader, to make it fetch something, or to be written outside of their folder.

Numbers are those of the reliability checks: 13 bombs, 14 names, 15 entities, 30 uploads. What they leave out stands
in test_readers.py (Office files), test_costly_files.py (bounds of the reading process) and test_archive_members.py.
"""

import io
import os
import signal
import struct
import tarfile
import threading
import zipfile
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pptx
import pytest
from network_listener import Listener
from reportlab.lib import pdfencrypt
from reportlab.pdfgen.canvas import Canvas

from argot.corpus.corpus import Corpus, Source
from argot.corpus.ingestion.ingest_job import IngestEvent
from argot.corpus.ingestion.sources import list_sources
from argot.corpus.readers import SUFFIXES, ReadLimits
from argot.corpus.readers.ocr import is_installed
from argot.corpus.readers.reader_process import _HOSTS, read_in_child
from argot.corpus.readers.reader_protocol import CutDocument
from argot.errors import UnreadableDocument
from argot.settings import Settings
from argot.types import Principal

ROOT = Principal("root", sees_all=True)
CANARY = "canary-7f3a-of-a-file-nobody-named"


def read(data: bytes, name: str, **limits: Any) -> CutDocument:
    return read_in_child(data, name, ReadLimits(**limits), 1200)


def refusal(data: bytes, name: str, **limits: Any) -> str:
    with pytest.raises(UnreadableDocument) as refused:
        read(data, name, **limits)
    return refused.value.reason


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[Corpus]:
    opened = Corpus.open(tmp_path / "kb", Settings(threads=1))
    yield opened
    opened.close()


def add(corpus: Corpus, *sources: Source, **how: Any) -> list[IngestEvent]:
    return [one for one in corpus.add(sources, **how) if one.kind not in ("found", "progress", "done")]


# -- PDF (13) ---------------------------------------------------------------------------------------------------------


def pdf(pages: int, lines: int = 3, **how: Any) -> bytes:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, **how)
    for page in range(pages):
        for line in range(lines):
            # Lines that differ only in numbers would be taken for running headers.
            name = "".join(chr(97 + int(digit)) for digit in str(page))
            canvas.drawString(60, 750 - 14 * line, f"Valve {name}-{line} of the plant opens at {line % 97} bar.")
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def of_pictures(pages: int) -> bytes:
    from PIL import Image, ImageDraw
    from reportlab.lib.utils import ImageReader

    buffer = io.BytesIO()
    canvas = Canvas(buffer)
    for page in range(pages):
        picture = Image.new("L", (1200, 300), 255)
        ImageDraw.Draw(picture).text((60, 100), f"The valve number {page} opens at 12 bar.", fill=0, font_size=48)
        canvas.drawImage(ImageReader(picture), 40, 500, 500, 125)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


EMPTY_PDF = b"""%PDF-1.4
1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj
2 0 obj <</Type/Pages/Kids[]/Count 0>> endobj
trailer <</Root 1 0 R/Size 3>>
%%EOF
"""
CIRCLE_PDF = EMPTY_PDF.replace(b"/Kids[]/Count 0", b"/Kids[2 0 R 2 0 R]/Count 99999999")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (pdf(2, encrypt=pdfencrypt.StandardEncryption("password", canPrint=0)), "encrypted"),
        (pdf(20)[:4000], "damaged"),
        (pdf(20)[:-30], "damaged"),
        (EMPTY_PDF, "damaged"),
        (CIRCLE_PDF, "damaged|no text|empty"),
        (b"%PDF-1.7\n" + os.urandom(5000), "damaged"),
    ],
    ids=["encrypted", "half", "cut off", "no pages", "a page of itself", "noise"],
)
def test_an_unreadable_pdf_is_refused_with_the_reason(data: bytes, said: str) -> None:
    with pytest.raises(AssertionError, match=said):
        raise AssertionError(refusal(data, "a.pdf", ocr_languages=""))
    assert "opens at" in read(pdf(1), "next.pdf").markdown


@pytest.mark.slow
def test_a_pdf_of_two_thousand_pages_is_read_to_the_end() -> None:
    data = pdf(2000, lines=4)
    found = read(data, "long.pdf", seconds=600)
    assert "Valve a-0 of" in found.markdown and "Valve bjjj-3 of" in found.markdown
    assert found.cuts[-1].page == 2000
    assert "took longer" in refusal(data, "long.pdf", seconds=0.2)


def test_pages_of_a_single_line_keep_it() -> None:
    buffer = io.BytesIO()
    canvas = Canvas(buffer)
    for number in range(20):
        canvas.drawString(60, 750, f"Certificate {number}")
        canvas.showPage()
    canvas.save()
    assert "Certificate 7" in read(buffer.getvalue(), "labels.pdf").markdown


def test_a_pdf_of_pictures_is_recognised_within_limits_or_called_scanned() -> None:
    data = of_pictures(3)
    assert "scanned" in refusal(data, "scan.pdf", ocr_languages="")
    if not is_installed():
        pytest.skip("tesseract is not installed")
    found = read(data, "scan.pdf", ocr_pages=2)
    assert "number 1 opens" in found.markdown and "number 2" not in found.markdown
    assert any("scanned page 3 not read" in one for one in found.warnings)


# -- pictures (13) ----------------------------------------------------------------------------------------------------


def png(width: int, height: int) -> bytes:
    """Make a picture of one colour, which compresses to almost nothing."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    packer = zlib.compressobj(9)
    row = bytes(1 + (width + 7) // 8)
    body = b"".join(packer.compress(row * 100) for _ in range(height // 100)) + packer.flush()
    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
@pytest.mark.parametrize("side", [10_100, 20_000, 100_000])
def test_pictures_above_a_hundred_million_pixels_are_not_decoded(side: int) -> None:
    if not is_installed():
        pytest.skip("tesseract is not installed")
    data = (
        png(side, side)
        if side < 50_000
        else png(100, 100).replace(struct.pack(">II", 100, 100), struct.pack(">II", side, side))
    )
    assert len(data) < 1_000_000
    assert "pixels" in refusal(data, "bomb.png") or "damaged" in refusal(data, "bomb.png")
    # In a slide deck the picture is skipped, and the text is read.
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "Valves open at 12 bar"
    if side < 15_000:
        slide.shapes.add_picture(io.BytesIO(data), 0, 0)
    buffer = io.BytesIO()
    deck.save(buffer)
    assert "12 bar" in read(buffer.getvalue(), "a.pptx").markdown


# -- archives (13) ----------------------------------------------------------------------------------------------------


def zipped(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


CONTAINER = b"""<?xml version="1.0"?><container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0">
<rootfiles><rootfile full-path="book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>"""
PACKAGE = b"""<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata/>
<manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest>
<spine><itemref idref="a"/></spine></package>"""


def book(chapter: bytes) -> bytes:
    files = {"mimetype": b"application/epub+zip", "META-INF/container.xml": CONTAINER, "book.opf": PACKAGE}
    return zipped({**files, "a.xhtml": chapter})


def test_an_e_book_that_unpacks_beyond_the_limit_is_refused() -> None:
    data = book(b"<html><body>" + b"<p>x</p>" * 4_000_000)
    assert len(data) < 200_000
    assert "unpacks to more than 10 MB" in refusal(data, "a.epub", max_bytes=1_000_000)


def test_nested_archives_and_bombs_are_reported_and_not_unpacked(corpus: Corpus, tmp_path: Path) -> None:
    inner = zipped({"x.txt": b"0" * 250_000_000})
    files = {"nested.zip": inner, "nested.tar.gz": b"\x1f\x8b", "a.txt": b"The valve opens at 12 bar.\n"}
    (tmp_path / "outer.zip").write_bytes(zipped(files))
    (tmp_path / "bomb.zip").write_bytes(inner)
    (tmp_path / "liar.zip").write_bytes(inner.replace(struct.pack("<I", 250_000_000), struct.pack("<I", 100)))
    with tarfile.open(tmp_path / "bomb.tar.gz", "w:gz") as archive:
        member = tarfile.TarInfo("x.txt")
        member.size = 250_000_000
        archive.addfile(member, io.BytesIO(b"0" * member.size))
    found = {}
    for name in ("outer", "bomb", "liar"):
        found |= {
            one.uri.rpartition("/")[2] + name: one for one in add(corpus, *list_sources([tmp_path / f"{name}.zip"]))
        }
    (of_tar,) = add(corpus, *list_sources([tmp_path / "bomb.tar.gz"]))
    assert found["nested.zipouter"].kind == found["nested.tar.gzouter"].kind == "skipped"
    assert "archive in an archive" in found["nested.zipouter"].detail
    assert found["a.txtouter"].kind == "added"
    assert found["x.txtbomb"].kind == "failed" and "too large" in found["x.txtbomb"].detail
    assert found["x.txtliar"].kind == "failed"
    assert of_tar.kind == "failed" and "more than 100 times its size" in of_tar.detail


# -- entities and addresses (13, 15) ----------------------------------------------------------------------------------


def office(kind: str) -> bytes:
    buffer = io.BytesIO()
    made: Any
    if kind == ".docx":
        made = docx.Document()
        made.add_paragraph("The valve opens at 12 bar.")
    elif kind == ".pptx":
        made = pptx.Presentation()
        made.slides.add_slide(made.slide_layouts[5]).shapes.title.text = "The valve opens at 12 bar."
    else:
        made = openpyxl.Workbook()
        made.active.append(["valve", "12 bar"])
        made.active.append(["The valve opens at 12 bar.", "x"])
    made.save(buffer)
    return buffer.getvalue()


MAIN = {".docx": "word/document.xml", ".pptx": "ppt/slides/slide1.xml", ".xlsx": "xl/worksheets/sheet1.xml"}


def rewritten(data: bytes, change: Callable[[str, bytes], bytes], **more: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as old:
        return zipped({**{name: change(name, old.read(name)) for name in old.namelist()}, **more})


def declared(kind: str, url: str, secret: Path) -> str:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    return {
        "a file": f'<!DOCTYPE x [<!ENTITY c SYSTEM "{secret.as_uri()}">]>',
        "an address": f'<!DOCTYPE x [<!ENTITY c SYSTEM "{url}">]>',
        "a parameter": f'<!DOCTYPE x [<!ENTITY % p SYSTEM "{url}"> %p; <!ENTITY c "x">]>',
        "a document type": f'<!DOCTYPE x SYSTEM "{url}" [<!ENTITY c "x">]>',
        "a billion laughs": f'<!DOCTYPE x [<!ENTITY l0 "ha">{laughs}<!ENTITY c "&l11;">]>',
    }[kind]


KINDS = ["a file", "an address", "a parameter", "a document type", "a billion laughs"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("suffix", [*MAIN, ".epub", ".html", ".xhtml", ".svg", ".md", ".eml", ".ipynb"])
def test_entities_are_not_expanded(suffix: str, kind: str, listener: Listener, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text(CANARY)
    said = declared(kind, listener.url, secret)

    def poisoned(name: str, data: bytes) -> bytes:
        if not (name == MAIN.get(suffix) or (name.endswith((".rels", "core.xml")) and suffix == ".docx")):
            return data
        head, _, rest = data.decode().partition("?>")
        return f"{head}?>{said}{rest.replace('12 bar', '12 bar &c;')}".encode()

    page = f'<?xml version="1.0"?>{said}<html xmlns="http://www.w3.org/1999/xhtml"><body><p>12 bar &c;</p>'
    inline = f'{page}<svg xmlns="http://www.w3.org/2000/svg"><text>&c;</text></svg></body></html>'.encode()
    data = {
        ".epub": lambda: book(inline),
        ".html": lambda: inline,
        ".xhtml": lambda: inline,
        ".svg": f'<?xml version="1.0"?>{said}<svg xmlns="http://www.w3.org/2000/svg">&c;</svg>'.encode,
        ".md": lambda: b"# A\n\n" + inline,
        ".eml": lambda: b"From: a@b.c\nSubject: x\nContent-Type: text/html\n\n" + inline,
        ".ipynb": lambda: b'{"cells": [{"cell_type": "markdown", "source": ["12 bar <svg>&c;</svg>"]}], "nbformat": 4}',
    }.get(suffix, lambda: rewritten(office(suffix), poisoned))()
    try:
        found = read(data, f"a{suffix}", seconds=30, memory_mb=1024)
    except UnreadableDocument as error:
        assert "took" not in error.reason, error.reason
    else:
        assert "12 bar" in found.markdown
        assert CANARY not in found.markdown and found.markdown.count("ha") < 50
    assert listener.hits == []


@pytest.mark.parametrize("suffix", [*MAIN, ".epub", ".html", ".md", ".rst", ".eml", ".ipynb", ".csv"])
def test_links_in_a_file_are_not_fetched(suffix: str, listener: Listener, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text(CANARY)
    url = listener.url

    def linked(name: str, data: bytes) -> bytes:
        if not name.endswith(".rels"):
            return data
        more = "".join(
            f'<Relationship Id="evil{n}" TargetMode="External" Target="{target}" Type="http://schemas.openxmlformats.org'
            f'/officeDocument/2006/relationships/{kind}"/>'
            for n, (kind, target) in enumerate(
                [("image", url), ("attachedTemplate", url), ("oleObject", secret.as_uri()), ("externalLink", url)]
            )
        )
        return data.replace(b"</Relationships>", more.encode() + b"</Relationships>")

    page = (
        f'<html><head><link rel="stylesheet" href="{url}"><base href="{url}"><meta http-equiv="refresh" '
        f'content="0;{url}"></head><body><p>12 bar</p><img src="{url}"><iframe src="{secret.as_uri()}"></iframe>'
        f'<object data="{url}"></object><svg><image href="{url}"/><use href="{secret.as_uri()}"/></svg>'
        f'<script src="{url}"></script></body>'
    ).encode()
    rst = f"Head\n====\n\n12 bar\n\n.. include:: {secret}\n.. image:: {url}\n.. raw:: html\n   :url: {url}\n\n"
    rst += (
        f".. raw:: html\n   :file: {secret}\n\n.. csv-table::\n   :url: {url}\n\n.. csv-table::\n   :file: {secret}\n"
    )
    data = {
        ".epub": lambda: book(page),
        ".html": lambda: page,
        ".md": lambda: b"# A\n\n" + page + f"\n\n![x]({url})\n".encode(),
        ".rst": rst.encode,
        ".eml": lambda: b"From: a@b.c\nSubject: x\nContent-Type: text/html\n\n" + page,
        ".ipynb": f'{{"cells": [{{"cell_type": "markdown", "source": ["12 bar ![x]({url})"]}}]}}'.encode,
        ".csv": f'a,b\n12 bar,"=WEBSERVICE(""{url}"")"\n'.encode,
    }.get(suffix, lambda: rewritten(office(suffix), linked))()
    found = read(data, f"a{suffix}", seconds=30)
    assert "12 bar" in found.markdown and CANARY not in found.markdown
    assert listener.hits == []


# -- macros -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("suffix", "plain", "kind"),
    [
        (".docm", ".docx", b"application/vnd.ms-word.document.macroEnabled.main+xml"),
        (".xlsm", ".xlsx", b"application/vnd.ms-excel.sheet.macroEnabled.main+xml"),
        (".pptm", ".pptx", b"application/vnd.ms-powerpoint.presentation.macroEnabled.main+xml"),
    ],
)
def test_macros_are_left_out_with_a_warning(suffix: str, plain: str, kind: bytes) -> None:
    folder = {".docm": "word", ".xlsm": "xl", ".pptm": "ppt"}[suffix]
    main = SUFFIXES[plain].encode() + b".main+xml"

    def enabled(name: str, data: bytes) -> bytes:
        return data.replace(main, kind) if name == "[Content_Types].xml" else data

    code = b"Sub AutoOpen(): Shell " + CANARY.encode() + b": End Sub"
    data = rewritten(office(plain), enabled, **{f"{folder}/vbaProject.bin": code})
    for name in (f"a{suffix}", f"a{plain}", "without-suffix"):
        found = read(data, name)
        assert "12 bar" in found.markdown and CANARY not in found.markdown
        assert found.warnings == ("its macros are left out and were not run",)
    assert read(office(plain), f"a{suffix}").warnings == ()


# -- names (14) -------------------------------------------------------------------------------------------------------

NAMES = [
    *("../../escape.md", "/etc/escape.md", "C:\\temp\\escape.md", "..\\..\\escape.md", "a/../../escape.md"),
    *(f"{'n' * 300}.md", f"{'d/' * 100}{'ü' * 120}.md", "con.md", "a\nb.md", "\u202egnp.md", "-rf.md", "a;b|c.md"),
]


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_member_names_cannot_leave_the_knowledge_base(kind: str, corpus: Corpus, tmp_path: Path) -> None:
    path = tmp_path / f"in.{kind}"
    pages = {name: f"# Page {n}\n\nThe valve number {n}.\n".encode() for n, name in enumerate(NAMES)}
    if kind == "zip":
        path.write_bytes(zipped(pages))
    else:
        with tarfile.open(path, "w") as archive:
            for name, data in pages.items():
                member = tarfile.TarInfo(name)
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
            for link in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE):
                special = tarfile.TarInfo(f"special{link!r}.md")
                special.type, special.linkname = link, "/etc/passwd"
                archive.addfile(special)
    before = {one for one in tmp_path.rglob("*") if tmp_path / "kb" not in one.parents}
    events = add(corpus, *list_sources([path]))
    special = [one for one in events if one.detail in ("a link", "a device or a pipe")]
    assert len(events) - len(special) == len(NAMES)
    assert {(one.kind, len(special)) for one in special} == ({("skipped", 4)} if kind == "tar" else set())
    # Parent folders are removed from member names, after which several names may be equal.
    assert {(one.kind, one.detail) for one in events if one.kind != "added" and one not in special} == {
        ("skipped", "another file in the archive has its name")
    }
    assert {one for one in tmp_path.rglob("*") if tmp_path / "kb" not in one.parents} == before
    assert not [one for one in (tmp_path / "kb").rglob("*") if "escape" in one.name or "nnn" in one.name]
    for document in corpus.store.documents(ROOT):
        assert corpus.store.document(ROOT, document.uri).id == document.id
    assert corpus.check() == []


def test_a_nul_in_a_member_name_cannot_disguise_its_suffix(corpus: Corpus, tmp_path: Path) -> None:
    data = zipped({"evilX.exe.md": b"# Evil\n\nText.\n"}).replace(b"evilX", b"evil\x00")
    (tmp_path / "in.zip").write_bytes(data)
    (event,) = add(corpus, *list_sources([tmp_path / "in.zip"]))
    # zipfile ends a name at the NUL: the rest has no suffix, so the file is read as plain text.
    assert event.name == "evil" and event.kind in ("added", "failed")


# -- many at once, and copies (19, 30) --------------------------------------------------------------------------------


def test_concurrent_adds_of_one_file_store_it_once(corpus: Corpus) -> None:
    data = b"# Valves\n\n" + b"The valve opens at 12 bar and closes at 9.\n\n" * 60
    barrier = threading.Barrier(4)

    def run(name: str) -> list[str]:
        def load() -> bytes:
            barrier.wait(timeout=60)
            return data

        return [one.kind for one in add(corpus, Source(f"test:///{name}", name, load))]

    with ThreadPoolExecutor(4) as pool:
        kinds = [kind for one in pool.map(run, ["a.md", "a.md", "a.md", "b.md"]) for kind in one]
    assert kinds.count("added") == 1 and set(kinds) <= {"added", "unchanged", "duplicate"}
    (document,) = corpus.store.documents(ROOT)
    connection = corpus.store.database.connection()
    assert connection.execute("SELECT count(*) FROM revisions").fetchone() == (1,)
    assert connection.execute("SELECT count(*), count(DISTINCT id) FROM passages").fetchone() == (
        document.passages,
        document.passages,
    )
    assert corpus.check() == []


def test_a_removed_document_leaves_no_rows(corpus: Corpus) -> None:
    from argot.corpus.store.source_metadata import SourceMetadata

    metadata = SourceMetadata("Valves", "2026-03-05", "Ann Ames", ("plant",))
    source = Source("test:///a.md", "a.md", lambda: b"# A\n\nThe quoxtrabling valve.\n", metadata=metadata)
    (event,) = add(corpus, source)
    assert event.document is not None
    assert (event.document.title, event.document.date, event.document.tags) == ("Valves", "2026-03-05", ("plant",))
    assert corpus.store.phrase_count(ROOT, "quoxtrabling") == 1
    corpus.remove(ROOT, "a.md")
    connection = corpus.store.database.connection()
    tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    holding = [
        name
        for name in tables
        if "document" in {row[1] for row in connection.execute(f"PRAGMA table_info({name})")} and name != "ledger"
    ]
    assert {"revisions", "passages", "derived", "triples", "vectors", "source_metadata"} <= set(holding)
    for name in (*holding, "documents"):
        column = "id" if name == "documents" else "document"
        rows = connection.execute(f"SELECT count(*) FROM {name} WHERE {column} = ?", (event.document.id,)).fetchone()
        assert rows == (0,), name
    assert corpus.store.phrase_count(ROOT, "quoxtrabling") == 0
    assert sum(corpus.vectors.counts().values()) == 0
    assert corpus.check() == []


def test_metadata_of_a_source_stays_when_a_document_is_read_again(corpus: Corpus) -> None:
    from argot.corpus.store.source_metadata import SourceMetadata

    first = SourceMetadata("Valves", "2026-03-05", "Ann Ames", ("plant", "old"))
    text = b"# From the file\n\nThe valve.\n"

    def source(metadata: SourceMetadata | None, data: bytes = text) -> Source:
        return Source("test:///a.md", "a.md", lambda: data, metadata=metadata)

    def told(*sources: Source) -> tuple[str, tuple[str, ...]]:
        add(corpus, *sources)
        (document,) = corpus.store.documents(ROOT)
        return document.title, document.tags

    assert told(source(first)) == ("Valves", ("old", "plant"))
    # Added by hand without metadata: the new revision keeps the metadata of the source.
    assert told(source(None, b"# Other\n\nThe pump.\n")) == ("Valves", ("old", "plant"))
    list(corpus.add([source(None)], tags=["mine", "plant"]))
    assert told(source(SourceMetadata("Pumps", labels=("plant", "new")))) == ("Pumps", ("mine", "new", "plant"))
    assert told(source(SourceMetadata())) == ("From the file", ("mine",))


# -- a reader that hangs ----------------------------------------------------------------------------------------------


def test_a_reader_that_hangs_is_killed_and_the_next_file_is_read(corpus: Corpus) -> None:
    read(b"text", "a.txt")
    process = _HOSTS["documents"].child.process
    assert process
    os.kill(process.pid, signal.SIGSTOP)
    assert "took longer than 0.2 seconds" in refusal(b"text", "a.txt", seconds=0.2, ocr_languages="")
    assert process.poll() is not None
    assert read(b"text", "a.txt").markdown == "text"


def test_files_that_need_too_much_memory_or_time_fail_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Readers yield to all other processes: on a machine that is busy with tests the third file would wait too long.
    monkeypatch.setattr("argot.corpus.readers.reader_process._PATIENCE_FACTOR", 60)
    corpus = Corpus.open(tmp_path / "kb", Settings(threads=1, parse_seconds=1))
    greedy = Source("test:///m.html", "m.html", lambda: b"<p>some text</p>" * 55_000)
    slow = Source("test:///s.html", "s.html", lambda: b"<div><p>text" * 20_000)
    fine = Source("test:///a.md", "a.md", lambda: b"# A\n\nThe valve opens at 12 bar.\n")
    found = {one.name: one for one in add(corpus, greedy, slow, fine)}
    assert "took longer than 1 seconds" in found["m.html"].detail
    assert found["s.html"].kind == "failed"
    assert found["a.md"].kind == "added", found["a.md"].detail
    assert corpus.store.phrase_count(ROOT, "12 bar") == 1 and corpus.check() == []
    corpus.close()
