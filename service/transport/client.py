"""How a command reaches a knowledge base: it opens it, or goes through the process that has it open."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from argot.errors import ArgotError, InvalidInput, KnowledgeBaseBusy
from argot.service.home_lock import read_owner
from argot.service.instrumentation import surface
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.registry import Event
from argot.settings import Settings

OnEvent = Callable[[Event], None]


class Client(Protocol):
    """Runs use cases. To be used as a context manager; closing it closes what was opened."""

    def call(
        self, case: str, /, *, as_user: str | None = None, on_event: OnEvent | None = None, **parameters: Any
    ) -> Any:
        """Run a use case; its result. Every event before goes to `on_event` as it comes.

        Ctrl-C in between stops the work, wherever it is done.

        Raises:
            ArgotError: whatever the use case raises.
        """
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...


def connect(home: Path, settings: Settings, *, create: bool = False) -> LocalClient | SocketClient:
    """The knowledge base in `home`, opened here or through its owner.

    Raises:
        NotFound, DamagedStore, InvalidInput
        KnowledgeBaseBusy: another process has it and does not answer.
    """
    try:
        return LocalClient(KnowledgeBase.open(home, settings, create=create))
    except KnowledgeBaseBusy as busy:
        owner = read_owner(home.expanduser().absolute())
        if owner is None or not owner.socket:
            raise
        try:
            return SocketClient(Path(owner.socket))
        except OSError:
            raise busy from None


class LocalClient:
    """Owns the knowledge base itself, for as long as the command runs.

    It is used either by `call`, or by `acall` and `aclose` in one event loop.
    """

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb
        self.surface = "command"
        self._runner = asyncio.Runner()

    def call(
        self, case: str, /, *, as_user: str | None = None, on_event: OnEvent | None = None, **parameters: Any
    ) -> Any:
        return self._runner.run(self._run(case, as_user, on_event, parameters))

    async def acall(self, case: str, /, *, as_user: str | None = None, **parameters: Any) -> Any:
        """The same in the event loop at hand. Cancelling it stops the work."""
        return await self._run(case, as_user, None, parameters)

    async def aclose(self) -> None:
        await self.kb.close()

    async def _run(self, name: str, as_user: str | None, on_event: OnEvent | None, parameters: dict[str, Any]) -> Any:
        from argot.service.usecases import catalogue

        surface.set(self.surface)
        data = None
        async with aclosing(catalogue.run(self.kb, self.kb.principal(as_user), name, parameters)) as events:
            async for event in events:
                if event["kind"] == "result":
                    data = event["data"]
                elif on_event:
                    on_event(event)
        return data

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            self._runner.run(self.kb.close())
        finally:
            self._runner.close()


class SocketClient:
    """Goes through the running owner. Each call is one connection; hanging up stops the work."""

    def __init__(self, path: Path) -> None:
        self.surface = "command"
        self._path = path
        self._connect().close()

    def call(
        self, case: str, /, *, as_user: str | None = None, on_event: OnEvent | None = None, **parameters: Any
    ) -> Any:
        with self._connect() as connection, connection.makefile("rb") as lines:
            connection.sendall(self._request(case, as_user, parameters))
            for line in lines:
                if (event := _event(line))["kind"] == "result":
                    return event["data"]
                if on_event:
                    on_event(event)
        raise self._stopped()

    async def acall(self, case: str, /, *, as_user: str | None = None, **parameters: Any) -> Any:
        """The same in an event loop. Cancelling it hangs up."""
        from argot.service.transport.wire_format import MAX_LINE

        connection = self._connect()
        connection.setblocking(False)
        reader, writer = await asyncio.open_unix_connection(sock=connection, limit=MAX_LINE)
        try:
            writer.write(self._request(case, as_user, parameters))
            await writer.drain()
            while line := await reader.readline():
                if (event := _event(line))["kind"] == "result":
                    return event["data"]
        finally:
            writer.close()
        raise self._stopped()

    async def aclose(self) -> None:
        """Nothing is held between two calls."""

    def _request(self, case: str, as_user: str | None, parameters: dict[str, Any]) -> bytes:
        from argot.service.transport.wire_format import encode

        return encode({"case": case, "parameters": parameters, "as_user": as_user, "surface": self.surface})

    def _stopped(self) -> ArgotError:
        return ArgotError(f"The service on {self._path} stopped before it was done. Start it again: argot serve")

    def _connect(self) -> socket.socket:
        from argot.service.transport.local_socket import same_user

        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.connect(os.fspath(self._path))
        except OSError:
            connection.close()
            raise
        if not same_user(connection):
            connection.close()
            raise InvalidInput(
                f"The service on {self._path} belongs to another user. Use a knowledge base of your own."
            )
        return connection

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Nothing is held between two calls."""


def _event(line: bytes) -> Event:
    """What the service says.

    Raises:
        ArgotError: it says that something went wrong.
    """
    from argot.service.transport.wire_format import decode, error_of

    event = decode(line)
    if event["kind"] == "error":
        raise error_of(event)
    return event
