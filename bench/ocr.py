"""The quality of reading scans. Run: python bench/ocr.py [--pages 20] [FILE.pdf ...]

Pages of PDFs with a text layer (by default the samples') are rendered at 150 and 300 dots per inch, straight and skewed
by 2 degrees, clean and with noise, put into PDFs as pictures, and read as scans. Word error rate: word edits
(insertions, deletions, replacements) between the Markdown of the page's own text and that of its scan, divided by the
words of the page. Words lost: those of the page that its scan lacks, wherever they stand, so that neither order nor the
division into cells counts. Nothing is random between runs.

Words in pictures: charts, diagrams and photographs with known labels, in several sizes and colours, are drawn, and read
as pictures of documents are. Found: the share of their words. Wrong: the share of what is read that is none of them.

`--rapidocr PYTHON` reads the same with RapidOCR in the place of tesseract, and compares processor time and peak memory
of the two programs. PYTHON names an interpreter that has it (`pip install rapidocr onnxruntime`, in an environment of
its own).

Are questions answered from scans as well as from the original files? `--folder DIR` writes the sample documents there,
with their PDFs as skewed and noisy scans at each resolution, and once unchanged, and the questions that rest on the
PDFs, for `argot evaluate answers --questions DIR/questions.jsonl --documents DIR/150 --glossary samples/glossary.csv`.
"""

from __future__ import annotations

import argparse
import io
import itertools
import json
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import numpy as np
import pypdfium2
from PIL import Image, ImageDraw, ImageFilter
from rapidfuzz.distance import Levenshtein

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers import ocr
from argot.corpus.readers.pdf import read_pdf
from argot.corpus.readers.picture_words import read_picture_words
from argot.errors import UnreadableDocument
from argot.tools.text.words import fold_words

SAMPLES = Path(__file__).parent.parent / "samples" / "documents"
LIMITS = ReadLimits()
LEAST_WORDS = 30
NOISE = 25.0
"""Standard deviation of grey levels (of 255)."""
DRAWINGS_PER_STYLE = 6
NOUNS = ["pressure", "torque", "current", "depth", "rainfall", "noise", "wear", "valve", "bearing", "sensor", "filter"]


@dataclass(frozen=True)
class Scan:
    """A way of scanning a page."""

    dpi: int
    degrees: float
    noise: float

    def __str__(self) -> str:
        return f"{self.dpi} dpi{', askew' if self.degrees else ''}{', noise' if self.noise else ''}"


SCANS = [Scan(dpi, degrees, noise) for dpi, degrees, noise in itertools.product((300, 150), (0.0, 2.0), (0.0, NOISE))]


def split_pages(files: list[Path], most: int) -> Iterator[tuple[str, bytes]]:
    """Yield each page as a PDF of its own, with its name."""
    for file in files:
        whole = pypdfium2.PdfDocument(file)
        for number in range(min(most, len(whole))):
            one = pypdfium2.PdfDocument.new()
            one.import_pages(whole, [number])
            data = io.BytesIO()
            one.save(data)
            yield f"{file.name}, page {number + 1}", data.getvalue()
            one.close()
        whole.close()


def scan_page(page: bytes, scan: Scan) -> bytes:
    document = pypdfium2.PdfDocument(page)
    picture = document[0].render(scale=scan.dpi / 72, grayscale=True).to_pil()
    document.close()
    turned = picture.rotate(scan.degrees, Image.Resampling.BICUBIC, fillcolor=255)
    grey = np.asarray(turned, dtype=np.float32)
    noise = np.random.default_rng(7).normal(0, scan.noise, grey.shape) if scan.noise else 0.0
    data = io.BytesIO()
    Image.fromarray(np.clip(grey + noise, 0, 255).astype(np.uint8)).save(data, "PDF", resolution=scan.dpi)
    return data.getvalue()


def list_words(page: bytes, name: str) -> list[str]:
    try:
        return fold_words(read_pdf(page, name, LIMITS).markdown)
    except UnreadableDocument:
        return []


def write_folders(folder: Path) -> None:
    questions = map(json.loads, (SAMPLES.parent / "employee_questions.jsonl").read_text("utf-8").splitlines())
    # A scan may not contain the gold quote word for word: answers are judged by what they must contain.
    rest_on = [
        {**one, "gold": [{**gold, "quote": ""} for gold in one["gold"]]}
        for one in questions
        if one.get("must") and any(gold["document"].endswith(".pdf") for gold in one["gold"])
    ]
    shutil.copytree(SAMPLES, folder / "clean")
    (folder / "questions.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in rest_on), "utf-8")
    for dpi in (300, 150):
        shutil.copytree(SAMPLES, folder / str(dpi))
        for file in (folder / str(dpi)).rglob("*.pdf"):
            whole = pypdfium2.PdfDocument.new()
            for _, page in split_pages([file], sys.maxsize):
                scan = pypdfium2.PdfDocument(scan_page(page, Scan(dpi, 2.0, NOISE)))
                whole.import_pages(scan)
                scan.close()
            whole.save(file)
            whole.close()
    print(f"{len(rest_on)} questions; documents in {folder}/clean, /300 and /150")


@dataclass(frozen=True)
class DrawingStyle:
    """How the labels of a drawing look."""

    name: str
    letter_pixels: int
    ink: str = "black"
    ground: str = "white"
    boxes: tuple[str, ...] = ()
    """Colours of the boxes behind labels."""
    photograph: bool = False
    jpeg_quality: int = 0
    """0: kept as drawn."""
    upwards: bool = False
    """Labels run up the page, like those of a vertical axis."""


STYLES = [
    DrawingStyle("labels of 24 pixels", 24),
    DrawingStyle("labels of 16 pixels", 16),
    DrawingStyle("labels of 11 pixels", 11),
    DrawingStyle("labels of 8 pixels", 8),
    DrawingStyle("pale grey", 16, "#b8b8b8"),
    DrawingStyle("JPEG, quality 15", 14, jpeg_quality=15),
    DrawingStyle("up the page", 20, upwards=True),
    DrawingStyle("white on dark", 20, "white", "#1b2a41"),
    DrawingStyle("in coloured boxes", 20, "white", "white", ("#c0392b", "#27ae60", "#2471a3", "#7d3c98")),
    DrawingStyle("white over a photograph", 24, "white", photograph=True),
    DrawingStyle("red over a photograph", 24, "#ff5040", photograph=True),
]


def draw_labels(style: DrawingStyle, seed: int) -> tuple[Image.Image, list[str]]:
    """Draw a picture with labels of two words and a number each; return it with its words."""
    pick = random.Random(seed)
    picture = Image.new("RGB", (800, 480), style.ground)
    if style.photograph:
        grains = np.random.default_rng(seed).integers(0, 140, (48, 80, 3), dtype=np.uint8)
        picture = Image.fromarray(grains).resize(picture.size).filter(ImageFilter.GaussianBlur(3))
    pen, words = ImageDraw.Draw(picture), []
    for place in range(10):
        x, y = 40 + place % 2 * 390, 30 + place // 2 * 90
        label = f"{pick.choice(NOUNS)} {pick.choice(NOUNS)} {pick.randrange(10, 9000)}"
        if style.boxes:
            pen.rectangle((x - 12, y - 14, x + 330, y + 44), fill=pick.choice(style.boxes))
        elif not style.photograph:
            pen.line((x, y + 50, x + 300, y + 50 - pick.randrange(14)), fill="#2471a3", width=4)
        pen.text((x, y), label, fill=style.ink, font_size=style.letter_pixels)
        words += label.split()
    if style.upwards:
        picture = picture.rotate(90, expand=True)
    if style.jpeg_quality:
        data = io.BytesIO()
        picture.save(data, "JPEG", quality=style.jpeg_quality)
        picture = Image.open(data)
    return picture, words


def measure_drawings() -> None:
    for style in STYLES:
        found = drawn = read = 0
        started = time.monotonic()
        for seed in range(DRAWINGS_PER_STYLE):
            picture, words = draw_labels(style, seed)
            seen = fold_words(read_picture_words(picture, "drawing.png", LIMITS))
            found += (Counter(words) & Counter(seen)).total()
            drawn, read = drawn + len(words), read + len(seen)
        seconds = (time.monotonic() - started) / DRAWINGS_PER_STYLE
        wrong = (read - found) / max(read, 1)
        print(f"{style.name:26} found {found / drawn:.3f}   wrong {wrong:.3f}   {seconds:.1f} s each", flush=True)


def measure_scans(pages: list[tuple[str, bytes]], own: dict[str, list[str]]) -> None:
    whole = sum(map(len, own.values()))
    for scan in SCANS:
        edits, lost, begun = 0, 0, time.monotonic()
        for name, data in pages:
            if name in own:
                seen = list_words(scan_page(data, scan), name)
                edits += Levenshtein.distance(own[name], seen)
                lost += (Counter(own[name]) - Counter(seen)).total()
        seconds = (time.monotonic() - begun) / len(own)
        print(
            f"{scan!s:26} word error rate {edits / whole:.3f}   lost {lost / whole:.3f}   {seconds:.1f} s a page",
            flush=True,
        )


def print_costs(memory_bytes: float, seconds: float) -> None:
    print(f"peak memory {memory_bytes / 1e6:.0f} MB, processor time {seconds:.0f} s")


@contextmanager
def read_by_rapidocr(python: str) -> Iterator[dict[str, float]]:
    """Let RapidOCR find the words that the readers build lines from; yield its peak memory (bytes) and seconds."""
    worker = Path(__file__).with_name("rapidocr_worker.py")
    used = {"memory": 0.0, "seconds": 0.0}
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen([python, worker], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process,
    ):
        assert process.stdin and process.stdout
        picture_file = Path(folder) / "picture.ppm"

        def find_words(picture: Image.Image, _languages: str, _name: str) -> str:
            assert process.stdin and process.stdout
            picture.save(picture_file)
            process.stdin.write(f"{picture_file}\n")
            process.stdin.flush()
            found = json.loads(process.stdout.readline())
            used["memory"] = found["memory"]
            used["seconds"] += found["seconds"]
            return str(found["table"])

        with mock.patch.object(ocr, "_run_tesseract", find_words):
            yield used
        process.stdin.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--pages", type=int, default=20, help="at most, of each file")
    parser.add_argument("--folder", type=Path, help="write scans of the samples there, and measure nothing")
    parser.add_argument("--rapidocr", metavar="PYTHON", help="measure RapidOCR, too, which this interpreter has")
    given = parser.parse_args()
    if given.folder:
        write_folders(given.folder)
        return
    if not ocr.is_installed():
        sys.exit(ocr.INSTALL_HINT)
    pages = list(split_pages(given.files or sorted(SAMPLES.rglob("*.pdf")), given.pages))
    own = {name: words for name, data in pages if len(words := list_words(data, name)) >= LEAST_WORDS}
    print(f"{len(own)} pages, {sum(map(len, own.values())):,} words; tesseract")
    measure_scans(pages, own)
    measure_drawings()
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    print_costs(spent.ru_maxrss * 1024, spent.ru_utime + spent.ru_stime)
    if given.rapidocr:
        print("RapidOCR")
        with read_by_rapidocr(given.rapidocr) as used:
            measure_scans(pages, own)
            measure_drawings()
            print_costs(used["memory"], used["seconds"])


if __name__ == "__main__":
    main()
