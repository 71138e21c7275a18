"""The Unix socket of the process that owns a knowledge base: a second command goes through it.

One request per connection: `{"case", "parameters", "as_user", "surface"}` on one line; the answer is a line for every
event, the last of kind `result` or `error`. Hanging up cancels the work. Only processes of the same user have access:
by the permissions of the file, and by asking the kernel for the caller.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import socket
import tempfile
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress
from pathlib import Path

from argot.errors import ArgotError, InvalidInput
from argot.service.knowledge_base import KnowledgeBase
from argot.service.observability.instrumentation import surface
from argot.service.transport.socket_peer import is_same_user
from argot.service.transport.wire_format import MAX_LINE, decode, encode, make_error_event
from argot.service.usecases import catalogue

logger = logging.getLogger(__name__)

SOCKET = "socket"
MAX_PATH = 100
"""Bytes; the kernel takes 107 in a Unix socket's address."""


@asynccontextmanager
async def serve_socket(kb: KnowledgeBase) -> AsyncIterator[Path]:
    """Answer other commands on a socket as long as this is open. Yields the socket's path."""
    with _socket_path(kb.home) as path:
        listener = _open_listener(path)
        connections: set[asyncio.Task[None]] = set()

        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            if task is not None:
                connections.add(task)
                task.add_done_callback(connections.discard)
            # Cancelled only below, when serving ends: asyncio (3.11) would log that as an error.
            with suppress(asyncio.CancelledError):
                await _serve_one(kb, reader, writer)

        server = await asyncio.start_unix_server(handle, sock=listener, limit=MAX_LINE)
        # Only once it listens: the lock file is where other commands find the path.
        if kb.lock:
            kb.lock.announce(str(path))
        try:
            yield path
        finally:
            server.close()
            # A copy, since each task removes itself from the set when it ends.
            for task in list(connections):
                task.cancel()
            await asyncio.gather(*connections, return_exceptions=True)
            path.unlink(missing_ok=True)


class _socket_path:
    """Return the path of the socket: in the knowledge base, or, if that path is too long for an address, in a separate
    folder of Argot's.
    """

    def __init__(self, home: Path) -> None:
        self._scratch: Path | None = None
        path = home / SOCKET
        if len(os.fsencode(path)) > MAX_PATH:
            self._scratch = Path(tempfile.mkdtemp(prefix="argot-", dir=os.environ.get("XDG_RUNTIME_DIR") or None))
            path = self._scratch / SOCKET
        self._path = path

    def __enter__(self) -> Path:
        return self._path

    def __exit__(self, *_: object) -> None:
        if self._scratch:
            shutil.rmtree(self._scratch, ignore_errors=True)


def _open_listener(path: Path) -> socket.socket:
    """Return a listening socket that only its owner can reach."""
    # The remains of a killed process at this path are unused.
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    # Nobody can connect between bind and chmod: it does not listen yet.
    listener.bind(str(path))
    path.chmod(0o600)
    listener.listen(64)
    listener.setblocking(False)
    return listener


async def _serve_one(kb: KnowledgeBase, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Run one request, and give it up when the caller hangs up."""
    try:
        caller = writer.get_extra_info("socket")
        if not is_same_user(caller):
            return
        line = await reader.readline()
        work = asyncio.create_task(_answer(kb, line, writer))
        # A caller sends a single line, so anything readable from now on means that it hung up.
        hung_up = asyncio.create_task(reader.read(1))
        try:
            await asyncio.wait((work, hung_up), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (work, hung_up):
                task.cancel()
            await asyncio.gather(work, hung_up, return_exceptions=True)
    except (ConnectionError, ValueError) as error:
        logger.warning("a command on the local socket was cut off: %s", error)
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


async def _answer(kb: KnowledgeBase, line: bytes, writer: asyncio.StreamWriter) -> None:
    try:
        try:
            request = decode(line)
            name, parameters, user = str(request["case"]), dict(request["parameters"]), request.get("as_user")
        except (ValueError, KeyError, TypeError) as error:
            raise InvalidInput(
                f"This is not a request: {error!r}. Use the same version of argot on both sides."
            ) from error
        surface.set(str(request.get("surface", "command")))
        principal = kb.principal(user)
        async with aclosing(catalogue.dispatch(kb, principal, name, parameters)) as events:
            async for event in events:
                writer.write(encode(event))
                await writer.drain()
    except ArgotError as error:
        writer.write(encode(make_error_event(error)))
        await writer.drain()
    # Nobody is left to answer.
    except (ConnectionError, asyncio.CancelledError):
        raise
    except Exception as error:
        logger.exception("a command on the local socket failed")
        unexpected = ArgotError(f"Unexpected {type(error).__name__} in the service: {error}. Its log has the details.")
        writer.write(encode(make_error_event(unexpected)))
        await writer.drain()
