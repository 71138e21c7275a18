"""Files made to cost much for few bytes, of every format: what does each cost, and what becomes of it?

    python bench/costly_files.py                              # all of them, as a manager's and as an asker's; an hour
    python bench/costly_files.py --lane attachments           # as an asker puts them into a conversation
    python bench/costly_files.py --kind "md headings" xlsx    # those whose names begin so
    python bench/costly_files.py --list

Each goes in by `Corpus.add` in a process of its own, with the limits as they come: read, cut, triples made by rules,
windows, rows, keyword index, vectors. Vectors are drawn by a hash instead of embedded, which takes minutes and no
memory to speak of. Peaks are of resident memory: the service's own beyond what it has without a file, and that of the
process that reads. "refused" comes with the reason; a process that ends otherwise is a FAULT.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import resource
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

MB = 1_000_000
LANES = ("documents", "attachments")


def repeat_text(unit: str, size: float) -> bytes:
    data = unit.encode()
    return data * int(size // len(data))


# -- files ------------------------------------------------------------------------------------------------------------


def make_long_headings(size: float) -> bytes:
    """Return Markdown whose every passage carries six headings as long as they may be."""
    path = "".join(f"{'#' * level} {'h' * 158}\n" for level in range(1, 7))
    return (path + "\n" + repeat_text("###### a\n\n" + "x" * 400 + "\n\n", size).decode()).encode()


def make_deep_html(tag: str, depth: int) -> bytes:
    return (f"<{tag}>" * depth + "x").encode()


def make_spans() -> bytes:
    cell = f"<td colspan=50 rowspan=50>{'x' * 2000}</td>"
    return ("<table>" + f"<tr>{cell * 20}</tr>" * 200 + "</table>").encode()


def make_office(kind: str, replaced: dict[str, Callable[[str], str]], more: dict[str, str] | None = None) -> bytes:
    """Return a small file of the format with some of its parts changed, packed as tightly as can be."""
    made, packed = io.BytesIO(), io.BytesIO()
    if kind == "docx":
        import docx

        document = docx.Document()
        document.add_paragraph("here")
        document.save(made)
    elif kind == "pptx":
        from pptx import Presentation

        deck = Presentation()
        deck.slides.add_slide(deck.slide_layouts[1]).shapes.title.text = "here"
        deck.save(made)
    else:
        from openpyxl import Workbook

        book = Workbook()
        book.active.append(["here"])
        book.save(made)
    with zipfile.ZipFile(made) as old, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as new:
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, replaced[name](data.decode()) if name in replaced else data)
        for name, content in (more or {}).items():
            new.writestr(name, content)
    return packed.getvalue()


def make_docx(body: str) -> bytes:
    return make_office("docx", {"word/document.xml": lambda xml: xml.replace("<w:sectPr", body + "<w:sectPr", 1)})


def nest_tables(depth: int) -> str:
    before = "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>x</w:t></w:r></w:p>"
    return before * depth + "<w:p/></w:tc></w:tr></w:tbl>" * depth


def make_xlsx(rows: str) -> bytes:
    sheet = "xl/worksheets/sheet1.xml"
    return make_office("xlsx", {sheet: lambda xml: xml.replace("</sheetData>", rows + "</sheetData>", 1)})


def share_string(times: int) -> bytes:
    """Put one long text into many cells."""
    cells = "".join(f'<row r="{n}"><c r="A{n}" t="s"><v>0</v></c></row>' for n in range(2, times))
    return make_office(
        "xlsx",
        {
            "xl/worksheets/sheet1.xml": lambda xml: xml.replace("</sheetData>", cells + "</sheetData>", 1),
            "xl/sharedStrings.xml": lambda _: (
                '<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" count="1" uniqueCount="1">'
                f"<si><t>{'word ' * 6000}</t></si></sst>"
            ),
        },
    )


def make_pptx(shape: str, times: int) -> bytes:
    return make_office(
        "pptx", {"ppt/slides/slide1.xml": lambda xml: xml.replace("</p:spTree>", shape * times + "</p:spTree>")}
    )


SHAPE = (
    '<p:sp><p:nvSpPr><p:cNvPr id="9" name="x"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/>'
    "<a:p><a:r><a:t>x</a:t></a:r></a:p></p:txBody></p:sp>"
)


def make_pdf(pages: int, content: bytes, objects: Sequence[bytes] = ()) -> bytes:
    """Return pages that all show the same content; `objects` begin at number 5 and can be named in it as /X5 and so
    on.
    """
    names = b" ".join(b"/X%d %d 0 R" % (5 + n, 5 + n) for n in range(len(objects)))
    resources = b"<< /Font << /F1 4 0 R >> /XObject << %s >> >>" % names
    first = 5 + len(objects)
    kids = b" ".join(b"%d 0 R" % (first + n) for n in range(pages))
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources %s /Contents 3 0 R >>" % resources
    bodies = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Count %d /Kids [%s] >>" % (pages, kids),
        stream(content),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        *(one.replace(b"RESOURCES", resources) for one in objects),
        *([page] * pages),
    ]
    out, offsets = bytearray(b"%PDF-1.7\n"), []
    for number, body in enumerate(bodies, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(bodies) + 1, table)
    out += b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (len(bodies) + 1, out.rindex(b"xref\n0"))
    return bytes(out)


def stream(content: bytes, head: bytes = b"") -> bytes:
    packed = zlib.compress(content, 9)
    return b"<< %s /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream" % (head, len(packed), packed)


def nest_forms(levels: int, each: int) -> bytes:
    """Return forms that show forms: a few kilobytes, shown `each` to the power of `levels` times."""
    head = b"/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources RESOURCES"
    made = [stream(b"/X%d Do " % (6 + n) * each, head) for n in range(levels)]
    return make_pdf(1, b"/X5 Do", [*made, stream(b"BT /F1 9 Tf 9 9 Td (word) Tj ET", head)])


FONT = b"BT /F1 9 Tf 9 700 Td (word and word) Tj ET\n"

FILES: dict[str, tuple[str, Callable[[], bytes]]] = {
    "md headings, 5 MB": (".md", lambda: repeat_text("# h\n", 5 * MB)),
    "md headings, 19 MB": (".md", lambda: repeat_text("# h\n", 19 * MB)),
    "md headings apart": (".md", lambda: repeat_text("# h\n\n", 5 * MB)),
    "md long headings": (".md", lambda: make_long_headings(19 * MB)),
    "md newlines": (".md", lambda: b"x" + repeat_text("\n", 20 * MB - 2)),
    "md short lines": (".md", lambda: repeat_text("a\n", 5 * MB)),
    "md short paragraphs": (".md", lambda: repeat_text("a\n\n", 19 * MB)),
    "md underlined headings": (".md", lambda: repeat_text("h\n-\n", 5 * MB)),
    "md list": (".md", lambda: repeat_text("- a\n", 5 * MB)),
    "md lists in lists": (".md", lambda: repeat_text("- - - - - - - -\n", 5 * MB)),
    "md quotes in quotes": (".md", lambda: repeat_text("> > > > > > > a\n", 5 * MB)),
    "md table of rows": (".md", lambda: b"|a|b|\n|-|-|\n" + repeat_text("|a|b|\n", 19 * MB)),
    "md table of columns": (".md", lambda: repeat_text("|a", 2 * MB) + b"\n" + repeat_text("|-", 2 * MB) + b"\n"),
    "md code": (".md", lambda: b"```\n" + repeat_text("x\n", 19 * MB)),
    "md open brackets": (".md", lambda: repeat_text("[", 5 * MB)),
    "md stars": (".md", lambda: repeat_text("*a **b ", 5 * MB)),
    "md tags": (".md", lambda: repeat_text("<b>\n\n", 5 * MB)),
    "md title": (
        ".md",
        lambda: b"---\ntitle: " + repeat_text("x", 10 * MB) + b"\n---\n\n" + repeat_text("word ", 2 * MB),
    ),
    "md instructions": (".md", lambda: repeat_text("To cut an arm, press key. ", 5 * MB)),
    "md instructions, 3 MB": (".md", lambda: repeat_text("To cut an arm, press key. ", 3 * MB)),
    "txt one line": (".txt", lambda: repeat_text("x", 19 * MB)),
    "txt sentences": (".txt", lambda: repeat_text("A. ", 19 * MB)),
    "txt Chinese": (".txt", lambda: repeat_text("漢字", 19 * MB)),
    "txt Chinese, 9 MB": (".txt", lambda: repeat_text("漢字", 9 * MB)),
    "txt marks on letters": (".txt", lambda: repeat_text("a" + "\u0301" * 50 + " ", 19 * MB)),
    "txt identifiers": (".txt", lambda: repeat_text("A1-b2 ", 5 * MB)),
    "html open tags": (".html", lambda: make_deep_html("b", 1_000_000)),
    "html blocks in blocks": (".html", lambda: make_deep_html("div", 1_000_000)),
    "html lists in lists": (".html", lambda: make_deep_html("ul><li", 500_000)),
    "html tables in tables": (".html", lambda: make_deep_html("table><tr><td", 200_000)),
    "html spans": (".html", make_spans),
    "html cells": (".html", lambda: b"<table><tr>" + repeat_text("<td>a", 10 * MB)),
    "html paragraphs": (".html", lambda: repeat_text("<p>a", 10 * MB)),
    "html attributes": (".html", lambda: b"<p " + b" ".join(b"a%d=1" % n for n in range(500_000)) + b">x"),
    "html definitions": (".html", lambda: b"<dl>" + repeat_text("<dt>a<dd>b", 10 * MB)),
    "rst headings": (".rst", lambda: repeat_text("h\n=\n\n", 2 * MB)),
    "rst quotes in quotes": (".rst", lambda: "".join(" " * n + "a\n\n" for n in range(2000)).encode()),
    "rst marks": (".rst", lambda: repeat_text("*a* `b`_ |c| ", 2 * MB)),
    "rst directives": (".rst", lambda: repeat_text(".. note:: a\n\n", 2 * MB)),
    "rst substitutions": (
        ".rst",
        lambda: b"".join(b".. |a%d| replace:: %s\n" % (n, b"|a%d| " % (n + 1) * 10) for n in range(12)) + b"\n|a0|\n",
    ),
    "csv columns": (".csv", lambda: repeat_text("a,", 10 * MB) + b"\n" + repeat_text("1,", 10 * MB)),
    "csv empty cells": (".csv", lambda: b"a,b\n" + repeat_text(",", 19 * MB)),
    "csv wide after narrow": (
        ".csv",
        lambda: repeat_text("a,b\n", MB) + repeat_text("1,", 2 * MB) + b"\n" + repeat_text("a,b\n", MB),
    ),
    "csv short rows": (".csv", lambda: repeat_text("a,b\n", 19 * MB)),
    "csv blank rows": (".csv", lambda: repeat_text("a,b\n\n", 19 * MB)),
    "csv long header": (".csv", lambda: ("x" * 250 + "," + "y" * 250 + "\n").encode() + repeat_text("a,b\n", 5 * MB)),
    "xlsx far cell": (".xlsx", lambda: make_xlsx('<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>')),
    "xlsx far cells": (
        ".xlsx",
        lambda: make_xlsx("".join(f'<row r="{n}"><c r="XFD{n}"><v>1</v></c></row>' for n in range(2, 200_000))),
    ),
    "xlsx shared string": (".xlsx", lambda: share_string(100_000)),
    "xlsx empty rows": (".xlsx", lambda: make_xlsx("<row/>" * 5_000_000)),
    "docx empty paragraphs": (".docx", lambda: make_docx("<w:p/>" * 600_000)),
    "docx runs": (".docx", lambda: make_docx("<w:p>" + "<w:r><w:t>a</w:t></w:r>" * 300_000 + "</w:p>")),
    "docx paragraphs": (".docx", lambda: make_docx("<w:p><w:r><w:t>a</w:t></w:r></w:p>" * 200_000)),
    "docx tables in tables": (".docx", lambda: make_docx(nest_tables(100))),
    "docx tables in tables, deep": (".docx", lambda: make_docx(nest_tables(3000))),
    "docx cells": (".docx", lambda: make_docx("<w:tbl><w:tr>" + "<w:tc><w:p/></w:tc>" * 200_000 + "</w:tr></w:tbl>")),
    "docx attributes": (
        ".docx",
        lambda: make_docx("<w:p " + " ".join(f'w:a{n}="1"' for n in range(500_000)) + "/>"),
    ),
    "docx text": (".docx", lambda: make_docx(f"<w:p><w:r><w:t>{'a ' * 100_000_000}</w:t></w:r></w:p>")),
    "docx zip bomb": (".docx", lambda: make_office("docx", {}, {"word/media/x.xml": " " * 1_100_000_000})),
    "pptx shapes": (".pptx", lambda: make_pptx(SHAPE, 150_000)),
    "pptx groups in groups": (".pptx", lambda: make_pptx("<p:grpSp>" * 3000 + "</p:grpSp>" * 3000, 1)),
    "pdf empty pages": (".pdf", lambda: make_pdf(50_000, b"")),
    "pdf pages": (".pdf", lambda: make_pdf(50_000, FONT)),
    "pdf nothing drawn": (".pdf", lambda: make_pdf(1, b"q Q " * 50_000_000)),
    "pdf one page": (".pdf", lambda: make_pdf(1, FONT * 500_000)),
    "pdf rules": (".pdf", lambda: make_pdf(3000, b"9 9 m 9 99 l S 9 9 m 99 9 l S " * 100 + FONT)),
    "pdf forms in forms": (".pdf", lambda: nest_forms(10, 10)),
    "pdf stream in streams": (".pdf", lambda: make_pdf(1000, FONT + b" " * 20_000_000)),
}


# -- one file ---------------------------------------------------------------------------------------------------------


class HashingEmbedder:
    """The real embedder's windows, with vectors drawn by a hash."""

    def __init__(self, embedder: Any) -> None:
        self._embedder = embedder

    def __getattr__(self, name: str) -> Any:
        return getattr(self._embedder, name)

    def embed_passages(self, texts: Sequence[str], progress: Any = None) -> Any:
        rows = np.empty((len(texts), self._embedder.dimensions), np.float32)
        for row, one in zip(rows, texts, strict=True):
            seed = int.from_bytes(hashlib.blake2b(one.encode(), digest_size=8).digest(), "big")
            row[:] = np.random.default_rng(seed).standard_normal(len(row))
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def add_file(kind: str, lane: str) -> dict[str, Any]:
    """Add a file in this process, and return its cost and its outcome."""
    from argot.corpus.corpus import Corpus, Source
    from argot.corpus.embedding.embedder import load_embedder
    from argot.corpus.readers import reader_process
    from argot.settings import Settings

    suffix, _ = FILES[kind]
    with tempfile.TemporaryDirectory(prefix="argot-costly-") as folder:
        (Path(folder) / "file").write_bytes(subprocess.check_output([sys.executable, __file__, "--make", kind]))
        corpus = Corpus.open(Path(folder) / "kb", Settings(), embedder=HashingEmbedder(load_embedder(Settings())))  # type: ignore[arg-type]

        def add(name: str, data: bytes) -> Any:
            return list(corpus.add([Source(f"x:/{name}", name, lambda: data)], lane=lane))[-2]  # type: ignore[arg-type]

        add("warm.md", b"# Warm\n\nText.\n")
        data = (Path(folder) / "file").read_bytes()
        before = measure_peak()
        start = time.perf_counter()
        with watch_readers(reader_process.choose_host(lane, len(data)).child) as peaks:
            event = add(f"file{suffix}", data)
        seconds = time.perf_counter() - start
        service, reader = measure_peak() - before, max(peaks)
        corpus.close()
    verdict = event.detail if event.kind == "added" else f"refused: {event.detail}"
    return {"bytes": len(data), "service": service, "reader": reader, "seconds": seconds, "verdict": verdict}


def measure_peak() -> float:
    """Return the peak memory of this process, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MB


@contextmanager
def watch_readers(child: Any) -> Iterator[list[float]]:
    """Yield the peaks of the reading processes, in MB, seen every 20 ms: one may be killed, and is silent then."""
    peaks, done = [0.0], threading.Event()

    def watch() -> None:
        while not done.wait(0.02):
            process = child.process
            with suppress(OSError, ValueError):
                status = Path(f"/proc/{process.pid}/status").read_text() if process else ""
                peaks.append(int(status.partition("VmHWM:")[2].split()[0]) * 1024 / MB if "VmHWM:" in status else 0.0)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield peaks
    finally:
        done.set()
        thread.join()


# -- all of them ------------------------------------------------------------------------------------------------------


def main() -> None:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").splitlines()[0],
        epilog='examples: costly_files.py --lane attachments --kind md; costly_files.py --kind "docx runs" --out it.md',
    )
    parser.add_argument("--kind", nargs="*", default=[""], help="those whose names begin so")
    parser.add_argument("--lane", nargs="*", choices=LANES, default=list(LANES))
    parser.add_argument("--list", action="store_true", help="the names of all kinds")
    parser.add_argument("--out", type=Path, help="write the table here, too")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--make", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.make:
        sys.stdout.buffer.write(FILES[arguments.make][1]())
        return
    if arguments.one:
        print(json.dumps(add_file(*arguments.one)))
        return
    kinds = [kind for kind in FILES if kind.startswith(tuple(arguments.kind))]
    if arguments.list:
        print("\n".join(kinds))
        return
    lines = ["| file | lane | bytes | service MB | reader MB | seconds | verdict |", "|---|---|--:|--:|--:|--:|---|"]
    print("\n".join(lines), flush=True)
    for kind in kinds:
        for lane in arguments.lane:
            lines.append(format_row(kind, lane))
            print(lines[-1], flush=True)
    if arguments.out:
        arguments.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


def format_row(kind: str, lane: str) -> str:
    done = subprocess.run([sys.executable, __file__, "--one", kind, lane], capture_output=True, text=True, check=False)
    if done.returncode:
        return f"| {kind} | {lane} | | | | | FAULT {done.returncode}: {(done.stderr.splitlines() or [''])[-1]} |"
    found = json.loads(done.stdout.splitlines()[-1])
    sizes = f"{found['bytes']:,} | {found['service']:.0f} | {found['reader']:.0f} | {found['seconds']:.1f}"
    return f"| {kind} | {lane} | {sizes} | {found['verdict']} |"


if __name__ == "__main__":
    main()
