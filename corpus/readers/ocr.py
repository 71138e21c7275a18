"""Text of scanned pages and pictures, by tesseract: an external program, in Debian `tesseract-ocr`.

It returns words with positions and confidences; here they become the lines from which the PDF reader builds blocks.
"""

from __future__ import annotations

import csv
import io
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from statistics import median
from typing import TYPE_CHECKING

from argot.corpus.readers.pdf_lines import HYPHEN, Line, LineSpan
from argot.corpus.readers.skew import level
from argot.errors import NotFound, UnreadableDocument
from argot.types import PageKind

if TYPE_CHECKING:
    from PIL.Image import Image

PROGRAM = "tesseract"
INSTALL_HINT = (
    "Reading scans needs tesseract: apt install tesseract-ocr (Debian, Ubuntu), brew install tesseract (macOS)."
)
SWITCHED_OFF_HINT = "Reading scans is switched off: set ARGOT_OCR_LANGUAGES, e.g. to eng."
DPI = 300
"""The resolution that tesseract reads best."""
SECONDS_PER_PAGE = 60
"""Processor time; an ordinary page takes one to three. Wall-clock time may be far longer on a busy machine, since files
are read at low priority.
"""
_MAX_WAIT_SECONDS = 20 * SECONDS_PER_PAGE
_BOUNDED_COMMAND = f'ulimit -t {SECONDS_PER_PAGE}; exec "$0" "$@"'
_MIN_WORD_CONFIDENCE = 30
"""Confidence, of 100: words below it are usually a smudge, a line or a picture."""
_MIN_PAGE_CONFIDENCE = 85
"""Average confidence of the page's characters, of 100: below it, every other line has a wrong word (a page printed ever
more coarsely, read and compared)."""
_MIN_FORM_LETTERS = 3
"""Letters of a word from which its shape shows whether it is upright."""
_CELL_GAP_HEIGHTS = 1.6
"""Wider gaps than this many heights of a line separate the cells of a table."""
_MIN_HEADING_RATIO = 1.25
"""A line is set larger if it is this many times as high as the page's others; measured heights vary by a tenth."""
_DESCENDERS = re.compile(r"[gjpqyQ,;()\[\]{}|$]")
_DESCENDER_RATIO = 1.27
"""Ratio of a line's height with descenders to that without."""
_WORD_LEVEL = "5"  # level of a row of tesseract's table


@dataclass(frozen=True, slots=True)
class OcrPage:
    """The lines of a picture in reading order, in points from the top left corner; `confidence` from 0 to 100.

    `turned`: it is sideways or upside down, and the positions of the lines refer to it set upright.
    """

    lines: list[Line]
    confidence: float
    turned: bool = False

    @property
    def kind(self) -> PageKind:
        return "scanned page" if self.confidence >= _MIN_PAGE_CONFIDENCE else "hardly legible page"


def is_installed() -> bool:
    return shutil.which(PROGRAM) is not None


def describe_ocr(languages: str) -> str:
    """Return a line for `argot doctor` on how scans are read here.

    Raises:
        NotFound: a language that is set is not installed.
    """
    if not languages:
        return SWITCHED_OFF_HINT
    if not is_installed():
        return f"not read. {INSTALL_HINT}"
    result = subprocess.run(  # noqa: S603  (no shell, nothing of the user's in it)
        [PROGRAM, "--list-langs"], capture_output=True, text=True, timeout=SECONDS_PER_PAGE, check=False
    )
    there = result.stdout.split()
    if missing := [language for language in languages.split("+") if language not in there]:
        raise NotFound(f"tesseract lacks {', '.join(missing)}: {_suggest_languages(missing)}")
    return f"tesseract reads them, in {languages}"


def _suggest_languages(languages: Sequence[str]) -> str:
    packages = " ".join(f"tesseract-ocr-{language.replace('_', '-')}" for language in languages)
    return f"apt install {packages} (Debian, Ubuntu), or set ARGOT_OCR_LANGUAGES to what is installed."


def require_ocr(languages: str, name: str, reason: str) -> None:
    """Check that OCR is switched on and tesseract is installed.

    Raises:
        UnreadableDocument: scans cannot be read here; `reason` names the problem of the file without OCR.
    """
    if not languages:
        raise UnreadableDocument(name, reason, SWITCHED_OFF_HINT)
    if not is_installed():
        raise UnreadableDocument(name, reason, INSTALL_HINT)


def recognize_text(picture: Image, languages: str, name: str, points: float) -> OcrPage:
    """Return the text of a picture.

    Args:
        languages: tesseract's names, e.g. "eng+deu".
        points: size of one pixel.

    Raises:
        UnreadableDocument: tesseract fails, e.g. because a language is missing.
    """
    turn, words = 0, _read_words(picture, languages, name, points)
    # Tesseract reads sideways text, but its lines are then no lines of a page.
    if _is_on_its_side(words):
        turn, words = 90, _read_words(picture.rotate(90, expand=True), languages, name, points)
    # Upside down, letters look like other letters.
    if words and _average_confidence(words) < _MIN_PAGE_CONFIDENCE:
        over = _read_words(picture.rotate(turn + 180, expand=True), languages, name, points)
        if _sum_confidence(over) > _sum_confidence(words):
            turn, words = turn + 180, over
    lines = [Line(tuple(_make_spans(list(of_line)))) for _, of_line in groupby(words, key=lambda word: word.line)]
    return OcrPage(_set_sizes(lines), _average_confidence(words), turned=bool(turn))


def _read_words(picture: Image, languages: str, name: str, points: float) -> list[_Word]:
    straight = level(picture)
    # Rotated about its centre, the picture has grown on all sides.
    left, top = (straight.width - picture.width) // 2, (straight.height - picture.height) // 2
    return list(_parse_words(_run_tesseract(straight, languages, name), points, left, top))


def _is_on_its_side(words: Sequence[_Word]) -> bool:
    """Return True where most words are higher than wide: their lines run up or down the page."""
    long = [word for word in words if len(word.text) >= _MIN_FORM_LETTERS]
    return sum(word.y1 - word.y0 > word.x1 - word.x0 for word in long) > len(long) / 2


def _average_confidence(words: Sequence[_Word]) -> float:
    """Return the average confidence of the characters, from 0 to 100."""
    return _sum_confidence(words) / max(1, sum(len(word.text) for word in words))


def _sum_confidence(words: Sequence[_Word]) -> float:
    return sum(len(word.text) * word.confidence for word in words)


def _run_tesseract(picture: Image, languages: str, name: str) -> str:
    data = io.BytesIO()
    picture.save(data, "PPM")
    command = ["/bin/sh", "-c", _BOUNDED_COMMAND, PROGRAM, "stdin", "stdout", "-l", languages, "--dpi", str(DPI), "tsv"]
    try:
        # One thread: several wait for each other longer than they save.
        done = subprocess.run(  # noqa: S603  (the shell only sets the bound; the languages are arguments, and checked)
            command,
            input=data.getvalue(),
            capture_output=True,
            timeout=_MAX_WAIT_SECONDS,
            check=False,
            env={**os.environ, "OMP_THREAD_LIMIT": "1"},
        )
    except subprocess.TimeoutExpired as error:
        raise _refuse_slow_page(name) from error
    except OSError as error:
        raise UnreadableDocument(name, f"tesseract cannot be started: {error.strerror}", INSTALL_HINT) from error
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        raise _refuse_slow_page(name)
    if done.returncode:
        message = " ".join(done.stderr.decode("utf-8", "replace").split())[:200]
        raise UnreadableDocument(name, f"tesseract failed: {message}", _suggest_languages(languages.split("+")))
    return done.stdout.decode("utf-8", "replace")


def _refuse_slow_page(name: str) -> UnreadableDocument:
    return UnreadableDocument(name, f"a page of it took tesseract more than {SECONDS_PER_PAGE} seconds")


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    line: tuple[str, ...]
    confidence: float
    x0: float
    y0: float
    x1: float
    y1: float


def _parse_words(table: str, points: float, first_column: int, first_row: int) -> Iterator[_Word]:
    for row in csv.DictReader(io.StringIO(table), delimiter="\t", quoting=csv.QUOTE_NONE):
        text, confidence = (row["text"] or "").strip(), float(row["conf"])
        if row["level"] != _WORD_LEVEL or not text or confidence < _MIN_WORD_CONFIDENCE:
            continue
        left, top = (int(row["left"]) - first_column) * points, (int(row["top"]) - first_row) * points
        width, height = int(row["width"]) * points, int(row["height"]) * points
        line = (row["block_num"], row["par_num"], row["line_num"])
        yield _Word(text, line, confidence, left, top, left + width, top + height)


def _make_spans(words: list[_Word]) -> Iterator[LineSpan]:
    """Yield the words of a line as one span, or as cells if wide gaps separate them."""
    height = max(word.y1 - word.y0 for word in words)
    cell: list[_Word] = []
    for word in words:
        if cell and word.x0 - cell[-1].x1 > _CELL_GAP_HEIGHTS * height:
            yield _make_span(cell, height)
            cell = []
        cell.append(word)
    last = _make_span(cell, height)
    # At a line's end it usually splits a word; the PDF reader checks whether the document contains the whole one.
    parted = re.search(r"[a-z]-$", last.text)
    yield replace(last, text=last.text[:-1] + HYPHEN) if parted else last


def _make_span(words: list[_Word], height: float) -> LineSpan:
    text = " ".join(word.text for word in words)
    return LineSpan(
        text,
        words[0].x0,
        min(word.y0 for word in words),
        words[-1].x1,
        max(word.y1 for word in words),
        spaces=tuple(zip(_iter_word_starts(words), (w.x1 for w in words), (w.x0 for w in words[1:]), strict=False)),
        size=height * (1.0 if _DESCENDERS.search(text) else _DESCENDER_RATIO),
    )


def _iter_word_starts(words: list[_Word]) -> Iterator[int]:
    """Yield the offset of each word except the first in the joined text."""
    place = 0
    for word in words[:-1]:
        place += len(word.text) + 1
        yield place


def _set_sizes(lines: list[Line]) -> list[Line]:
    """Return the lines with sizes in whole points; lines that are not clearly larger get the body's size."""
    if not lines:
        return []
    body = median(line.size for line in lines)
    return [Line(tuple(_resize_spans(line.spans, _round_size(line.size, body)))) for line in lines]


def _round_size(height: float, body: float) -> float:
    return float(round(height if height > _MIN_HEADING_RATIO * body else body))


def _resize_spans(spans: Iterable[LineSpan], size: float) -> Iterator[LineSpan]:
    return (replace(span, size=size) for span in spans)
