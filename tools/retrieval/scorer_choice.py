"""Which scorer puts the found passages in order: words alone, or the reader."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from argot.errors import InvalidSettings
from argot.protocols import Scorer
from argot.settings import Settings
from argot.tools.retrieval.reader_scorer import MODEL_FILES, ReaderScorer
from argot.tools.retrieval.reranker import LexicalScorer


def scorer_for(settings: Settings | None) -> Scorer:
    """The scorer of the setting `reranker`; one reader serves all questions.

    Raises:
        InvalidSettings: the reader is wanted, and was not prepared.
    """
    if settings is None or settings.reranker == "lexical":
        return LexicalScorer()
    folder = reader_folder(settings)
    if not all((folder / name).is_file() for name in MODEL_FILES):
        raise InvalidSettings(
            f"Setting 'reranker' is 'reader', and {folder} does not hold it. Prepare it with "
            "`python -m argot.learn.reader export`, once, or set 'lexical'."
        )
    return _reader(folder, settings.threads)


def reader_folder(settings: Settings) -> Path:
    """Where the reader is looked for."""
    return settings.cache / "reader"


@lru_cache(maxsize=1)
def _reader(folder: Path, threads: int) -> ReaderScorer:
    return ReaderScorer(folder, LexicalScorer(), threads=threads)
