"""The quality of reading and searching whole filings. Run: ARGOT_DATASETS=DIR python bench/filings.py [--home DIR]

FinanceBench's available PDFs are read whole by Argot's reader, as PDFium's plain text, and by markitdown if installed
(page by page, since its output names no pages). The first measure is the share of the numbers in a question's evidence
that are found on the page it names. The second is how often one of the three best passages is from that page.
Splitting, embedder, search and re-ranker are the same for each reading; the search is within the question's filing, and
over all filings. Argot's reader does not treat numbers in a running header or footer (such as the page's own) as
content.

`--home` keeps the embeddings (some minutes for each reading) for another run. Nothing is random between runs.
"""

from __future__ import annotations

import argparse
import io
import json
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import numpy as np
import pypdfium2

from argot.corpus.chunking.passages import cut_document
from argot.corpus.corpus import Corpus, Source
from argot.corpus.ingestion import reading
from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.pdf import read_pdf
from argot.corpus.readers.reader_protocol import CutDocument
from argot.evaluate.temporary_base import EVALUATOR
from argot.profile import Profile
from argot.protocols import Vectors
from argot.settings import Settings
from argot.tools.retrieval.hybrid_search import WeightedQuery, hybrid_search
from argot.tools.retrieval.reranker import rerank
from argot.tools.retrieval.scorer_choice import load_scorer
from argot.types import EVERYONE, PageMark, ParsedDocument

FOLDER = Path("financebench")
BEST = 3
_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
_LEAST_DIGITS = 2
"""Minimum length of a number: single digits are on every page."""
Reader = Callable[[bytes, str, ReadLimits], ParsedDocument]


@dataclass(frozen=True)
class Question:
    text: str
    document: str
    evidence: Sequence[tuple[int, str]]
    """Pages, from 1, each with the text that is quoted from it."""

    @property
    def pages(self) -> frozenset[int]:
        return frozenset(page for page, _ in self.evidence)


def load_questions(folder: Path) -> list[Question]:
    """Return the questions about filings whose PDF is in the folder."""
    rows = map(json.loads, (folder / "financebench_open_source.jsonl").read_text("utf-8").splitlines())
    return [
        Question(
            row["question"],
            row["doc_name"],
            [(one["evidence_page_num"] + 1, one["evidence_text"]) for one in row["evidence"]],
        )
        for row in rows
        if (folder / "pdfs" / f"{row['doc_name']}.pdf").is_file()
    ]


# -- readings ---------------------------------------------------------------------------------------------------------


def read_plain_text(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    """Return the text of each page as PDFium extracts it, under the file's name."""
    return _join_pages(_list_page_texts(data), name)


def read_by_markitdown(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    from markitdown import MarkItDown, StreamInfo

    convert, pages = MarkItDown().convert_stream, []
    for page in _split_pages(data):
        pages.append(convert(io.BytesIO(page), stream_info=StreamInfo(extension=".pdf")).markdown)
    return _join_pages(pages, name)


def _split_pages(data: bytes) -> Iterator[bytes]:
    document = pypdfium2.PdfDocument(data)
    try:
        for number in range(len(document)):
            single, file = pypdfium2.PdfDocument.new(), io.BytesIO()
            single.import_pages(document, [number])
            single.save(file)
            single.close()
            yield file.getvalue()
    finally:
        document.close()


def _list_page_texts(data: bytes) -> list[str]:
    document = pypdfium2.PdfDocument(data)
    try:
        return [page.get_textpage().get_text_range().replace("\r\n", "\n") for page in document]
    finally:
        document.close()


def _join_pages(texts: Sequence[str], name: str) -> ParsedDocument:
    marks, markdown = [], ""
    for number, text in enumerate(texts, start=1):
        marks.append(PageMark(len(markdown), number, "page"))
        markdown += f"{text}\n\n"
    return ParsedDocument(Path(name).stem, markdown, "text/plain", pages=tuple(marks))


READERS: Mapping[str, Reader] = {
    "Argot": read_pdf,
    "PDFium's plain text": read_plain_text,
    "markitdown": read_by_markitdown,
}


# -- numbers on the page ----------------------------------------------------------------------------------------------


def find_numbers(text: str) -> frozenset[str]:
    found = (match[0].replace(",", "") for match in _NUMBER.finditer(text))
    return frozenset(number for number in found if len(number) >= _LEAST_DIGITS)


def cut_page_text(parsed: ParsedDocument, page: int) -> str:
    """Return the text from the page's mark to the next page's; empty if the page has none."""
    starts = [*parsed.pages, PageMark(len(parsed.markdown), 0, "page")]
    return "".join(parsed.markdown[mark.start : after.start] for mark, after in pairwise(starts) if mark.number == page)


def count_numbers(parsed: Mapping[str, ParsedDocument], questions: Sequence[Question]) -> tuple[int, int]:
    """Return how many of the numbers in all evidence are on the pages it names, and how many numbers there are."""
    found = total = 0
    for question in questions:
        for page, quoted in question.evidence:
            wanted = find_numbers(quoted)
            found += len(wanted & find_numbers(cut_page_text(parsed[question.document], page)))
            total += len(wanted)
    return found, total


# -- retrieval --------------------------------------------------------------------------------------------------------


class ConstantEmbedder:
    """An embedder with one vector for all texts: a search by words is prepared in seconds, not in half an hour."""

    fingerprint = "none"
    dimensions = 1

    def windows(self, text: str) -> list[str]:
        return [text]

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return np.ones((len(texts), 1), np.float32)

    embed_queries = embed_searches = embed_passages


def open_corpus(folder: Path, parsed: Mapping[str, ParsedDocument], settings: Settings, *, words: bool) -> Corpus:
    """Return the corpus of the filings as they were read; an existing one in the folder is used as it is."""
    there = folder.is_dir()
    folder.mkdir(parents=True, exist_ok=True)
    corpus = Corpus.open(folder, settings, embedder=ConstantEmbedder() if words else None)
    if there:
        return corpus

    def read_document(data: bytes, name: str, limits: ReadLimits, max_chars: int) -> CutDocument:
        one = parsed[Path(name).stem]
        cuts = cut_document(one, max_chars=max_chars, limits=limits, name=name)
        return CutDocument(one.title, one.markdown, one.media_type, tuple(cuts), one.date, one.warnings)

    before, reading.read_in_child = reading.read_in_child, read_document  # everything else works as in an ingest
    try:
        sources = [Source(f"filing:{name}", f"{name}.pdf", lambda name=name: name.encode()) for name in parsed]  # type: ignore[misc]
        failed = [event for event in corpus.add(sources, audience=EVERYONE, tags=()) if event.kind == "failed"]
    finally:
        reading.read_in_child = before
    assert not failed, failed
    return corpus


def find_hits(
    corpus: Corpus, questions: Sequence[Question], profile: Profile, settings: Settings, *, within: bool
) -> list[bool]:
    """Return for each question true if one of the best passages is of a page of its evidence."""
    scorer = load_scorer(settings)
    found = []
    for question in questions:
        document = corpus.store.document(EVALUATOR, f"filing:{question.document}").id
        query = [WeightedQuery(question.text)]
        scope = [document] if within else []
        best = rerank(query, hybrid_search(corpus, EVALUATOR, query, profile, documents=scope), scorer, profile)
        found.append(any(_is_evidence(corpus, hit.passage.id, document, question.pages) for hit in best[:BEST]))
    return found


def _is_evidence(corpus: Corpus, passage: str, document: str, pages: frozenset[int]) -> bool:
    one, of = corpus.store.passages(EVALUATOR, [passage])[passage]
    return of.id == document and one.page in pages


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, help="a folder to keep the embeddings in")
    parser.add_argument("--numbers", action="store_true", help="only the shares of numbers, without searching")
    parser.add_argument("--reader", action="append", choices=READERS, help="only this reader; may be repeated")
    parser.add_argument("--words", action="store_true", help="search by words alone, without embedding")
    given = parser.parse_args()
    profile = Profile(search_semantic=not given.words)
    settings = Settings()
    folder = settings.datasets / FOLDER
    questions = load_questions(folder)
    files = sorted((folder / "pdfs").glob("*.pdf"))
    print(f"{len(questions)} questions on {len({q.document for q in questions})} of {len(files)} filings")
    limits = ReadLimits(seconds=600)
    with tempfile.TemporaryDirectory() as temporary:
        for name in given.reader or [one for one in READERS if one != "markitdown" or find_spec(one)]:
            reader = READERS[name]
            begun = time.process_time()
            parsed = {path.stem: reader(path.read_bytes(), path.name, limits) for path in files}
            seconds = time.process_time() - begun
            found, total = count_numbers(parsed, questions)
            print(f"{name:20} {found}/{total} = {found / total:.3f} of the numbers on their page   {seconds:.0f} s")
            if given.numbers:
                continue
            home = (given.home or Path(temporary)) / name.split()[0]
            corpus = open_corpus(home, parsed, settings, words=given.words)
            inside, everywhere = (
                find_hits(corpus, questions, profile, settings, within=within) for within in (True, False)
            )
            corpus.close()
            print(
                f"{'':20} hit@{BEST} {sum(inside)}/{len(inside)} = {sum(inside) / len(inside):.3f} within the filing, "
                f"{sum(everywhere)}/{len(everywhere)} = {sum(everywhere) / len(everywhere):.3f} over all",
                flush=True,
            )


if __name__ == "__main__":
    main()
