"""Searches of vectors for an answer worker, by the process that has the index open.

Chroma's embedded index may be open in one process only, the one that writes it. A search takes a connection of its own
and a thread at both ends, and no event loop: Chroma lets other threads run while it searches.
"""

from __future__ import annotations

import json
import logging
import socket
import threading
from collections.abc import Callable, Collection, Sequence

import numpy as np

from argot.corpus.corpus import VectorSearch
from argot.corpus.vector_ids import VectorKind
from argot.errors import ArgotError
from argot.protocols import Vectors
from argot.service.transport.wire_format import make_error_event, restore_error
from argot.subprocesses import read_message, write_message
from argot.types import Audience

logger = logging.getLogger(__name__)


class VectorClient:
    """Vector search of a worker (a `VectorSearch`), for any thread, one search after the other."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._exactly = _make_reader(connection)
        self._turn = threading.Lock()

    def __call__(
        self,
        kind: VectorKind,
        vectors: Vectors,
        audiences: Sequence[Audience],
        limit: int,
        documents: Collection[str] | None,
        /,
    ) -> list[list[tuple[str, float]]]:
        """Search by the service, over the socket.

        Raises:
            DamagedStore, StoreUnavailable: as the index raises them.
            EOFError, ConnectionError: the service is gone.
        """
        asked = {
            "kind": kind,
            "audiences": [sorted(audience) for audience in audiences],
            "limit": limit,
            "documents": None if documents is None else list(documents),
            "shape": vectors.shape,
        }
        with self._turn:
            write_message(self._connection.send, json.dumps(asked).encode(), vectors.astype(np.float32).tobytes())
            reply, _ = read_message(self._exactly)
        answer = json.loads(reply)
        if "error" in answer:
            raise restore_error(answer["error"])
        return [[(item, similarity) for item, similarity in ranked] for ranked in answer["found"]]


def serve_vectors(connection: socket.socket, search: Callable[[], VectorSearch]) -> None:
    """Answer searches in a separate thread of the service until the other end is closed.

    Args:
        search: the index that is currently open.
    """
    exactly = _make_reader(connection)
    with connection:
        try:
            while True:
                asked, data = read_message(exactly)
                write_message(connection.send, json.dumps(_find_vectors(asked, data, search)).encode(), b"")
        except (EOFError, OSError):
            return


def _find_vectors(request: bytes, data: bytes, search: Callable[[], VectorSearch]) -> dict[str, object]:
    said = json.loads(request)
    vectors = np.frombuffer(data, np.float32).reshape(said["shape"])
    audiences = [frozenset(tokens) for tokens in said["audiences"]]
    try:
        return {"found": search()(said["kind"], vectors, audiences, said["limit"], said["documents"])}
    except ArgotError as error:
        return {"error": make_error_event(error)}
    # Only the worker's question fails, not the thread that serves all of them.
    except Exception as error:
        logger.exception("a search for an answer worker failed")
        return {"error": make_error_event(ArgotError(f"The search failed: {type(error).__name__}."))}


def _make_reader(connection: socket.socket) -> Callable[[int], bytes]:
    file = connection.makefile("rb")

    def exactly(size: int) -> bytes:
        part = file.read(size)
        if len(part) < size:
            raise EOFError
        return part

    return exactly
