"""Preparation of the search models ahead of the first start: `python -m argot.tools.retrieval.model_preparation`."""

from __future__ import annotations

import sys

from argot.errors import ArgotError
from argot.settings import load_settings
from argot.tools.retrieval.scorer_choice import load_scorer


def prepare_models() -> None:
    """Make the re-ranker of the settings in the cache (`ARGOT_CACHE`) where it is missing, and with it the default
    embedding model, from which it is made.

    Raises:
        InvalidSettings: a model is not installed, or cannot be exported.
    """
    load_scorer(load_settings())


if __name__ == "__main__":
    try:
        prepare_models()
    except ArgotError as error:
        sys.exit(f"argot: {error}")
