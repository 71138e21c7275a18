"""The quality of reading scans. Run: python bench/ocr.py [--pages 20] [FILE.pdf ...]

Pages of PDFs with a text layer (by default the samples') are rendered at 150 and 300 dots per inch, straight and skewed
by 2 degrees, clean and with noise, put into PDFs as pictures, and read as scans. Word error rate: word edits
(insertions, deletions, replacements) between the Markdown of the page's own text and that of its scan, divided by the
words of the page. Nothing is random between runs.

Are questions answered from scans as well as from the original files? `--folder DIR` writes the sample documents there,
with their PDFs as skewed and noisy scans at each resolution, and once unchanged, and the questions that rest on the
PDFs, for `argot evaluate answers --questions DIR/questions.jsonl --documents DIR/150 --glossary samples/glossary.csv`.
"""

from __future__ import annotations

import argparse
import io
import itertools
import json
import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pypdfium2
from PIL import Image
from rapidfuzz.distance import Levenshtein

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.ocr import INSTALL_HINT, is_installed
from argot.corpus.readers.pdf import read_pdf
from argot.errors import UnreadableDocument
from argot.tools.text.words import fold_words

SAMPLES = Path(__file__).parent.parent / "samples" / "documents"
LIMITS = ReadLimits()
LEAST_WORDS = 30
NOISE = 25.0
"""Standard deviation of grey levels (of 255)."""


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--pages", type=int, default=20, help="at most, of each file")
    parser.add_argument("--folder", type=Path, help="write scans of the samples there, and measure nothing")
    given = parser.parse_args()
    if given.folder:
        write_folders(given.folder)
        return
    if not is_installed():
        sys.exit(INSTALL_HINT)
    pages = list(split_pages(given.files or sorted(SAMPLES.rglob("*.pdf")), given.pages))
    own = {name: words for name, data in pages if len(words := list_words(data, name)) >= LEAST_WORDS}
    print(f"{len(own)} pages, {sum(map(len, own.values())):,} words")
    for scan in SCANS:
        edits, begun = 0, time.monotonic()
        for name, data in pages:
            if name in own:
                edits += Levenshtein.distance(own[name], list_words(scan_page(data, scan), name))
        seconds = (time.monotonic() - begun) / len(own)
        print(f"{scan!s:26} word error rate {edits / sum(map(len, own.values())):.3f}   {seconds:.1f} s a page")


if __name__ == "__main__":
    main()
