"""Embedding of passages in a separate low-priority process, so that ingestion does not delay questions.

Embedding takes nearly all the time of an ingest (24 of 25 s of processor time, for 300 passages on two processors). In
the service's own process it would take the processors from questions that are being read at the same time. The child
yields to everything else, and exits after some idle time.
"""

from __future__ import annotations

import contextlib
import json
import logging
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np

from argot.corpus.read_limits import Lane
from argot.machine_limits import count_processors
from argot.protocols import Embedder, Vectors
from argot.settings import Settings
from argot.subprocesses import Child, ChildFailed, Parent

logger = logging.getLogger(__name__)

NICE = 15
IDLE_SECONDS = 30.0
BATCH_TEXTS = 8
"""Number embedded together. Four times as many take no less time on a few processors, and half a gigabyte of memory."""

Progress = Callable[[int, int], None]


class BackgroundEmbedder:
    """An embedder whose passages are embedded by a child. If no child can run, they are embedded here.

    Args:
        here: the embedder it wraps, which still handles questions and windows.
        settings: name the model for the child.
    """

    def __init__(self, here: Embedder, settings: Settings) -> None:
        self._here = here
        self._child = _build_child(settings)
        self._turns = _FairLock()
        self._idle: threading.Timer | None = None

    @property
    def fingerprint(self) -> str:
        return self._here.fingerprint

    @property
    def dimensions(self) -> int:
        return self._here.dimensions

    @property
    def cosine_gain(self) -> float:
        return self._here.cosine_gain

    def windows(self, text: str) -> list[str]:
        return self._here.windows(text)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._here.embed_queries(texts)

    def embed_searches(self, texts: Sequence[str]) -> Vectors:
        return self._here.embed_searches(texts)

    def embed_passages(
        self, texts: Sequence[str], progress: Progress | None = None, lane: Lane = "documents"
    ) -> Vectors:
        """Embed in small batches, so that a new caller soon has its turn, however much there is to embed."""
        # No child is started for nothing; the result still has the right shape.
        if not texts:
            return self._here.embed_passages(texts)
        parts = []
        for start in range(0, len(texts), BATCH_TEXTS):
            # A turn for every few texts, so that another lane waits at most for these.
            with self._turns.turn(lane):
                parts.append(self._embed_in_child(texts[start : start + BATCH_TEXTS]))
                self._rest()
            if progress:
                progress(min(start + BATCH_TEXTS, len(texts)), len(texts))
        return np.concatenate(parts)

    def close(self) -> None:
        """End the child. The next passages begin another."""
        # With a turn, so that the child is not ended while it embeds.
        with self._turns.turn("documents"):
            self._stop()

    def _embed_in_child(self, texts: Sequence[str]) -> Vectors:
        self._cancel_idle()
        try:
            self._child.send(json.dumps(list(texts)).encode())
            _, data = self._child.receive(len(texts) * self.dimensions * np.float32().itemsize)
            vectors = np.frombuffer(data, np.float32).reshape(len(texts), self.dimensions)
        except (ChildFailed, ValueError) as error:
            # Slower for questions, but the documents to add are not lost.
            logger.warning("passages are embedded beside the questions: the process for it ended (%s)", error)
            self._stop()
            return self._here.embed_passages(texts)
        return vectors

    def _rest(self) -> None:
        if self._child.process is None:
            return
        self._idle = threading.Timer(IDLE_SECONDS, self.close)
        # A waiting timer must not keep the service from ending.
        self._idle.daemon = True
        self._idle.start()

    def _stop(self) -> None:
        self._cancel_idle()
        self._child.stop()

    def _cancel_idle(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None


def _build_child(settings: Settings) -> Child:
    # Half of the processors, so that questions have the others.
    threads = settings.search.threads or max(1, count_processors() // 2)
    names = (
        settings.search.embedder,
        str(settings.cache.absolute()),
        str(threads),
        settings.search.embedding_precision,
    )
    # Not quiet: why a model cannot be loaded belongs into the log.
    return Child("argot.corpus.embedding.embedding_process", *names, quiet=False)


@dataclass(frozen=True, slots=True)
class LaneEmbedder:
    """A background embedder as seen by one lane."""

    embedder: BackgroundEmbedder
    lane: Lane

    @property
    def fingerprint(self) -> str:
        return self.embedder.fingerprint

    @property
    def dimensions(self) -> int:
        return self.embedder.dimensions

    @property
    def cosine_gain(self) -> float:
        return self.embedder.cosine_gain

    def windows(self, text: str) -> list[str]:
        return self.embedder.windows(text)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self.embedder.embed_queries(texts)

    def embed_searches(self, texts: Sequence[str]) -> Vectors:
        return self.embedder.embed_searches(texts)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self.embedder.embed_passages(texts, lane=self.lane)


class _FairLock:
    """A lock that alternates between the lanes, and within a lane is first-come, first-served. `threading.Lock` is
    unfair: a thread that releases and reacquires at once would get it again.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: dict[Lane, deque[object]] = {lane: deque() for lane in get_args(Lane)}
        self._held = False
        self._last: Lane | None = None

    @contextlib.contextmanager
    def turn(self, lane: Lane) -> Iterator[None]:
        ticket = object()
        with self._changed:
            self._waiting[lane].append(ticket)
            self._changed.wait_for(lambda: not self._held and self._is_next(lane, ticket))
            self._waiting[lane].popleft()
            self._held, self._last = True, lane
        try:
            yield
        finally:
            with self._changed:
                self._held = False
                self._changed.notify_all()

    def _is_next(self, lane: Lane, ticket: object) -> bool:
        others = any(waiting for other, waiting in self._waiting.items() if other != lane)
        # A lane that just had its turn waits if another has work.
        return self._waiting[lane][0] is ticket and (lane != self._last or not others)


def main(model: str, cache: str, threads: str, precision: str) -> None:
    """Run the child: embed incoming texts until none arrive."""
    from argot.corpus.embedding.embedder import load_embedder

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C stops the service, which then stops this
    parent = Parent(NICE)
    chosen = Settings(embedder=model, cache=cache, threads=threads, embedding_precision=precision)
    embedder = load_embedder(chosen)
    for message, _ in parent.messages():
        parent.send(b"", embedder.embed_passages(json.loads(message)).tobytes())


if __name__ == "__main__":
    main(*sys.argv[1:])
