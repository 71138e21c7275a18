"""A cross-encoder of sentence-transformers as re-ranker: it reads question and passage together, one pair at a time."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from argot.corpus.embedding.exported_models import find_downloaded
from argot.errors import UnusableModel

BATCH_PAIRS = 8


class CrossEncoderScorer:
    """A `Scorer`. Its model, and torch with it, is loaded when it first scores. Safe to use from several threads."""

    def __init__(self, name: str) -> None:
        """
        Args:
            name: the folder of a model, or the name of one that was downloaded before. It never downloads anything.
        """
        self.name = name
        self._model: Any = None
        self._loading = threading.Lock()

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        if not texts:
            return []
        model = self.load()
        from torch import nn

        # Whatever the model's own last function is: scores are mixed with others, which are in [0, 1].
        scores = model.predict(
            [(query, text) for text in texts],
            activation_fn=nn.Sigmoid(),
            batch_size=BATCH_PAIRS,
            show_progress_bar=False,
        )
        return [float(score) for score in scores]

    def load(self) -> Any:
        """Return the model, loaded at the first use.

        Raises:
            UnusableModel: there is no such model, or it returns several scores for a pair.
        """
        with self._loading:
            if self._model is None:
                self._model = _open_model(self.name)
            return self._model


def _open_model(name: str) -> Any:
    given = Path(name).expanduser()
    # Checked here: sentence-transformers would report a network error instead.
    folder = given if given.is_dir() else find_downloaded(name)
    if folder is None:
        raise _describe_missing(name, "there is no such folder, and none of that name was downloaded")
    from sentence_transformers import CrossEncoder

    try:
        # Never with code from a model: it would run with Argot's rights.
        model = CrossEncoder(str(folder), device="cpu", trust_remote_code=False, local_files_only=True)
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
        raise _describe_missing(name, reason) from error
    if model.num_labels != 1:
        raise UnusableModel(
            f"Setting 'reranker' is {name!r}, which gives {model.num_labels} scores for a question and a passage, not "
            "one. Choose a cross-encoder that ranks, or 'reader', which comes with Argot."
        )
    return model


def _describe_missing(name: str, reason: str) -> UnusableModel:
    return UnusableModel(
        f"Setting 'reranker' is {name!r}, which is neither 'reader' nor 'lexical' nor the folder or name of a "
        f"cross-encoder on this machine ({reason}). Set 'reader', which comes with Argot."
    )
