"""ONNX sessions that the tests of one process share: opening one takes longer than most tests do."""

from functools import lru_cache
from pathlib import Path
from typing import Any

from argot.corpus.embedding import embedder

MOST_SESSIONS = 6


def share_sessions() -> None:
    """Open each version of a model file once in this process from now on. A session keeps no state between calls."""
    open_session = embedder.open_onnx_session

    @lru_cache(maxsize=MOST_SESSIONS)
    def open_version(model: Path, threads: int, changed_ns: int, size: int) -> Any:
        return open_session(model, threads)

    def open_shared(model: Path, threads: int) -> Any:
        if not model.exists():
            return open_session(model, threads)
        version = model.stat()
        return open_version(model.resolve(), threads, version.st_mtime_ns, version.st_size)

    embedder.open_onnx_session = open_shared
