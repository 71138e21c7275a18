"""Preparation of the search models ahead of the first start: `python -m argot.tools.retrieval.model_preparation`."""

from __future__ import annotations

import sys

from argot.corpus.embedding.embedder import load_embedder
from argot.errors import ArgotError
from argot.settings import load_settings
from argot.tools.retrieval.scorer_choice import load_scorer


def prepare_models() -> None:
    """Make the re-ranker and the embedding model of the settings in the cache (`ARGOT_CACHE`) where they are missing,
    and the graph by which questions are embedded.

    Raises:
        InvalidSettings: a model is not installed, or cannot be exported.
    """
    settings = load_settings()
    load_scorer(settings)
    load_embedder(settings).embed_searches(["how long is the warranty?"])


if __name__ == "__main__":
    try:
        prepare_models()
    except ArgotError as error:
        sys.exit(f"argot: {error}")
