"""A measurement of how well tables of PDFs are read, beside other readers, on files whose cells people marked.

The data is PDFs, each with a `*-str.xml` beside it as in the ICDAR 2013 table competition. If a table can be understood
in several ways, the competition gives several files (`us-031a-str.xml`, `us-031b-str.xml`), and the one that fits best
counts.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.pdf import read_pdf, read_pdf_tables
from argot.corpus.readers.table_grid import GridCell
from argot.errors import InvalidInput
from argot.evaluate.experiments.table_structure import (
    Relations,
    RelationScore,
    group_by_page,
    load_structure,
    pool_scores,
    score_relations,
)

HALVES = ("choosing", "reporting")
HOW_TO_GET = (
    "Set ARGOT_DATASETS to the folder that holds icdar2013 (the table competition's PDFs and *-str.xml, "
    "tamirhassan.com/html/dataset.html), or name a folder of your own with --pdf-dir."
)
_LIMITS = ReadLimits(seconds=600)
_BAR = re.compile(r"(?<!\\)\|")
Tables = Iterable[tuple[int, Sequence[GridCell]]]
"""Tables, each with its page, counted from 1."""


@dataclass(frozen=True, slots=True)
class MarkedDocument:
    """A PDF and the relations of its tables, for each way to understand them."""

    path: Path
    half: str
    gold: Sequence[Relations]


@dataclass(frozen=True, slots=True)
class ReaderScore:
    """The score of one reader. In `pooled` each relation has the same weight, in `mean_f1` each document."""

    documents: int
    pooled: RelationScore
    mean_precision: float
    mean_recall: float
    mean_f1: float


@dataclass(frozen=True, slots=True)
class TablesReport:
    name: str
    scores: dict[str, dict[str, ReaderScore]]
    """By reader and half, and "all"."""
    by_document: dict[str, dict[str, RelationScore]]
    """By reader and file."""
    seconds: dict[str, float]

    def to_json(self) -> dict[str, Any]:
        def describe_score(score: RelationScore) -> dict[str, float]:
            return {**asdict(score), "precision": score.precision, "recall": score.recall, "f1": score.f1}

        return {
            "name": self.name,
            "readers": {
                reader: {
                    half: {**asdict(score), "pooled": describe_score(score.pooled)} for half, score in halves.items()
                }
                for reader, halves in self.scores.items()
            },
            "documents": {
                reader: {name: describe_score(score) for name, score in documents.items()}
                for reader, documents in self.by_document.items()
            },
            "seconds": self.seconds,
        }


def evaluate_tables(folder: Path, progress: Callable[[str, int, int], None]) -> TablesReport:
    """Run every reader on every document of the folder.

    Raises:
        InvalidInput: no PDF in the folder has its structure beside it.
        UnreadableDocument: a PDF cannot be read.
    """
    documents = load_marked(folder)
    by_document: dict[str, dict[str, RelationScore]] = {}
    seconds: dict[str, float] = {}
    for reader, read in READERS.items():
        started = time.perf_counter()
        found: dict[str, RelationScore] = {}
        for number, document in enumerate(documents):
            progress(reader, number, len(documents))
            relations = group_by_page(read(document.path))
            measured = [score_relations(gold, relations) for gold in document.gold]
            found[document.path.stem] = max(measured, key=lambda score: score.f1)
        progress(reader, len(documents), len(documents))
        by_document[reader], seconds[reader] = found, time.perf_counter() - started
    scores = {reader: _score_halves(documents, found) for reader, found in by_document.items()}
    return TablesReport(folder.name, scores, by_document, seconds)


def _score_halves(documents: Sequence[MarkedDocument], found: dict[str, RelationScore]) -> dict[str, ReaderScore]:
    halves = {
        half: [found[document.path.stem] for document in documents if half in ("all", document.half)]
        for half in ("all", *HALVES)
    }
    return {half: _score(scores) for half, scores in halves.items() if scores}


def _score(scores: Sequence[RelationScore]) -> ReaderScore:
    def compute_mean(values: Iterable[float]) -> float:
        return sum(values) / len(scores)

    return ReaderScore(
        len(scores),
        pool_scores(scores),
        compute_mean(score.precision for score in scores),
        compute_mean(score.recall for score in scores),
        compute_mean(score.f1 for score in scores),
    )


# -- documents ------------------------------------------------------------------------------------------------------


def load_marked(folder: Path) -> list[MarkedDocument]:
    """Load the documents of a folder with their marked tables.

    Raises:
        InvalidInput: no PDF has its structure beside it, or a structure file is malformed.
    """
    marked = []
    for path in sorted(folder.glob("*.pdf")):
        # The other structures of `us-031a.pdf` are `us-031b-str.xml` and so on.
        pattern = f"{path.stem[:-1]}[a-z]-str.xml" if re.search(r"\d[a-z]$", path.stem) else f"{path.stem}-str.xml"
        gold = [group_by_page(load_structure(structure)) for structure in sorted(folder.glob(pattern))]
        if gold:
            marked.append(MarkedDocument(path, _choose_half(path.stem), gold))
    if not marked:
        raise InvalidInput(f"{folder} holds no PDF with its *-str.xml beside it. {HOW_TO_GET}")
    return marked


def _choose_half(name: str) -> str:
    return HALVES[hashlib.sha256(name.encode()).digest()[0] % 2]


# -- readers --------------------------------------------------------------------------------------------------------


def _read_by_argot(path: Path) -> Tables:
    pages = read_pdf_tables(path.read_bytes(), path.name, _LIMITS)
    return [(number, table.cells) for number, tables in enumerate(pages, start=1) for table in tables]


def _read_markdown_tables(path: Path) -> Tables:
    """Yield the pipe tables of the Markdown, with one header row and merged cells repeated."""
    parsed = read_pdf(path.read_bytes(), path.name, _LIMITS)
    for match in re.finditer(r"(?:^\|.*\n?)+", parsed.markdown, re.MULTILINE):
        lines = match[0].splitlines()
        page = max((mark.number for mark in parsed.pages if mark.start <= match.start()), default=1)
        # The second line separates the header from the rows.
        yield page, build_cells([_BAR.split(line.strip())[1:-1] for line in (lines[0], *lines[2:])])


def _make_plumber(**settings: str) -> Callable[[Path], Tables]:
    def read_tables(path: Path) -> Tables:
        import pdfplumber

        with pdfplumber.open(path) as pdf:
            for page in pdf.pages:
                yield from ((page.page_number, build_cells(rows)) for rows in page.extract_tables(settings))
                page.close()

    return read_tables


def build_cells(rows: Iterable[Sequence[str | None]]) -> list[GridCell]:
    return [
        GridCell(row, column, (text or "").replace("\\|", "|"), row, column)
        for row, texts in enumerate(rows)
        for column, text in enumerate(texts)
    ]


READERS: dict[str, Callable[[Path], Tables]] = {
    "Argot": _read_by_argot,
    "Argot, its Markdown": _read_markdown_tables,
    "pdfplumber": _make_plumber(),
    "pdfplumber, by text": _make_plumber(vertical_strategy="text", horizontal_strategy="text"),
}
"""The readers. pdfplumber's `extract_tables` runs with its defaults, which use ruling lines, and by the text alone."""
