"""Which scorer puts the found passages in order: the reader where its files are there, else words alone."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from argot.protocols import Scorer
from argot.settings import Settings
from argot.tools.retrieval.reader_scorer import MODEL_FILES, ReaderScorer
from argot.tools.retrieval.reranker import LexicalScorer

READER_FOLDER = Path(__file__).parent / "reader"
"""Where the package holds the reader's files."""


def scorer_for(settings: Settings | None) -> Scorer:
    """The scorer of the setting `reranker`; one reader serves all questions."""
    if settings is None or settings.reranker == "lexical" or not reader_is_there(READER_FOLDER):
        return LexicalScorer()
    return _reader(READER_FOLDER, settings.threads)


def reader_is_there(folder: Path) -> bool:
    return all((folder / name).is_file() for name in MODEL_FILES)


@lru_cache(maxsize=1)
def _reader(folder: Path, threads: int) -> ReaderScorer:
    return ReaderScorer(folder, LexicalScorer(), threads=threads)
