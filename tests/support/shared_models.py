"""ONNX sessions that the tests of one process share, and exported models for a cache of a test's own: opening and
exporting take longer than most tests do.
"""

import shutil
from functools import lru_cache
from pathlib import Path
from typing import Any

from argot.corpus.embedding import embedder
from argot.corpus.embedding.exported_models import export_once
from argot.settings import Settings

MOST_SESSIONS = 6


def copy_exported_embedder(cache: Path) -> Path:
    """Put the default embedder, as it is exported, into this new cache, and return the cache."""
    settings = Settings()
    made, _ = export_once(settings.search.embedder, settings.cache)
    shutil.copytree(made, cache / "models" / made.name)
    return cache


def share_sessions() -> None:
    """Open each version of a model file once in this process from now on. A session keeps no state between calls."""
    open_session = embedder.open_cached_model

    @lru_cache(maxsize=MOST_SESSIONS)
    def open_version(model: Path, threads: int, changed_ns: int, size: int) -> Any:
        return open_session(model, threads)

    def open_shared(model: Path, threads: int) -> Any:
        if not model.exists():
            return open_session(model, threads)
        version = model.stat()
        return open_version(model.resolve(), threads, version.st_mtime_ns, version.st_size)

    embedder.open_cached_model = open_shared
