"""Ways of a command to use a knowledge base: it opens it, or calls the process that has it open."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable
from contextlib import aclosing
from copy import copy
from pathlib import Path
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeVar, overload

from pydantic import SecretStr

from argot.errors import ArgotError, InvalidInput, KnowledgeBaseBusy
from argot.results import AskEvent, AskResult
from argot.service.early_loading import EarlyLoading
from argot.service.json_values import convert_to_json
from argot.service.knowledge_base import KnowledgeBase
from argot.service.observability.instrumentation import surface
from argot.service.storage.home_lock import read_owner
from argot.service.transport.socket_peer import is_same_user
from argot.service.usecases.usecase_registry import (
    AskingUseCase,
    Declared,
    Event,
    Finished,
    StreamingUseCase,
    UseCase,
    flatten_parameters,
)
from argot.settings import Settings

OnEvent = Callable[[Any], None]
"""Receives the events of the called use case: an `AskEvent` of one that answers, else an `Event`."""
P = ParamSpec("P")
R = TypeVar("R")


class Client:
    """Runs use cases. Use it as a context manager; closing it closes its resources.

    `client.as_user("ann").watch(bar.move).call(reindex)` runs one on a user's behalf and passes every event before the
    result to a function.
    """

    def __init__(self, *, user: str | None = None, on_event: OnEvent | None = None) -> None:
        self.surface = "command"
        self._user = user
        self._on_event = on_event

    def as_user(self, name: str | None) -> Self:
        """Return the same client on behalf of the named user; None: of the local user."""
        # Not a deep copy: both use the same knowledge base.
        other = copy(self)
        other._user = name
        return other

    def watch(self, on_event: OnEvent | None) -> Self:
        """Return the same client, whose events before the result go to this function."""
        other = copy(self)
        other._on_event = on_event
        return other

    @overload
    def call(self, case: UseCase[P, R], /, *args: P.args, **given: P.kwargs) -> R: ...

    @overload
    def call(self, case: StreamingUseCase[P, R], /, *args: P.args, **given: P.kwargs) -> R: ...

    @overload
    def call(self, case: AskingUseCase[P], /, *args: P.args, **given: P.kwargs) -> AskResult: ...

    def call(self, case: Declared, /, *args: Any, **given: Any) -> Any:
        """Run a use case; return its result. Ctrl-C stops the work, wherever it runs.

        Raises:
            ArgotError: any error of the use case.
        """
        return self._call(case, given)

    def _call(self, case: Declared, given: dict[str, Any]) -> Any:
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Nothing is held between two calls."""


def connect(home: Path, settings: Settings, *, create: bool = False) -> LocalClient | SocketClient:
    """Return a client for the knowledge base in `home`, opened here or through its owner.

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
            # The owner may have ended since, or been killed: then nobody listens on that path.
            return SocketClient(Path(owner.socket))
        except OSError:
            raise busy from None


class LocalClient(Client):
    """Owns the knowledge base itself, for as long as the command runs.

    It is used either by `call`, or by `acall` and `aclose` in one event loop.
    """

    def __init__(self, kb: KnowledgeBase) -> None:
        super().__init__()
        self.kb = kb
        # One event loop for all calls: the base's open resources belong to it.
        self._runner = asyncio.Runner()
        self._loading: EarlyLoading | None = None

    def _call(self, case: Declared, parameters: dict[str, Any]) -> Any:
        return self._runner.run(self._run_case(case, parameters))

    async def _run_case(self, case: Declared, parameters: dict[str, Any]) -> Any:
        surface.set(self.surface)
        principal = self.kb.principal(self._user)
        if isinstance(case, UseCase):
            return await case(self.kb, principal, **parameters)
        if isinstance(case, AskingUseCase) and self._loading is None:
            self._loading = EarlyLoading(self.kb)
        result: Any = None
        # Closed on Ctrl-C as well, which stops the work.
        async with aclosing(case(self.kb, principal, **parameters)) as events:
            async for event in events:
                result = _read_result(event)
                if result is None and self._on_event:
                    self._on_event(event)
        return result

    async def acall(self, case: str, /, *, as_user: str | None = None, **parameters: Any) -> Any:
        """Return the result of the use case of this name, as JSON, in the present event loop. Cancelling it stops the
        work.
        """
        from argot.service.usecases import catalogue

        surface.set(self.surface)
        return await catalogue.get_result(self.kb, self.kb.principal(as_user), case, **parameters)

    async def aclose(self) -> None:
        await self.kb.close()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if self._loading is not None:
                self._loading.wait()
            self._runner.run(self.kb.close())
        finally:
            self._runner.close()


def _read_result(event: object) -> Any:
    """Return the result in the last event; None for an earlier event."""
    return event.data if isinstance(event, Finished | AskEvent) and event.kind == "result" else None


class SocketClient(Client):
    """Goes through the running owner. Each call is one connection; hanging up stops the work."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        # Fails now rather than at the first call, so that `connect` can report that the base is busy.
        self._connect().close()

    def _call(self, case: Declared, parameters: dict[str, Any]) -> Any:
        with self._connect() as connection, connection.makefile("rb") as lines:
            connection.sendall(self._request(case.name, self._user, _dump_parameters(parameters)))
            for line in lines:
                event = _read_event(line)
                if event["kind"] == "result":
                    return case.result_of(event["data"])
                if self._on_event:
                    self._on_event(case.event_of(event))
        raise self._make_stop_error()

    async def acall(self, case: str, /, *, as_user: str | None = None, **parameters: Any) -> Any:
        """Do the same in an event loop, returning JSON. Cancelling it hangs up."""
        from argot.service.transport.wire_format import MAX_LINE

        connection = self._connect()
        connection.setblocking(False)
        # By default asyncio accepts lines up to 64 KiB, less than a whole document.
        reader, writer = await asyncio.open_unix_connection(sock=connection, limit=MAX_LINE)
        try:
            writer.write(self._request(case, as_user, parameters))
            await writer.drain()
            while line := await reader.readline():
                if (event := _read_event(line))["kind"] == "result":
                    return event["data"]
        finally:
            writer.close()
        raise self._make_stop_error()

    async def aclose(self) -> None:
        """Nothing is held between two calls."""

    def _request(self, case: str, as_user: str | None, parameters: dict[str, Any]) -> bytes:
        from argot.service.transport.wire_format import encode

        return encode({"case": case, "parameters": parameters, "as_user": as_user, "surface": self.surface})

    def _make_stop_error(self) -> ArgotError:
        return ArgotError(f"The service on {self._path} stopped before it was done. Start it again: argot serve")

    def _connect(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.connect(os.fspath(self._path))
        except OSError:
            connection.close()
            raise
        # The listener receives questions and passwords, so it has to be a process of the same user.
        if not is_same_user(connection):
            connection.close()
            raise InvalidInput(
                f"The service on {self._path} belongs to another user. Use a knowledge base of your own."
            )
        return connection


def _dump_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return parameters as they are sent: one by one, and passwords in clear text, to a process of the same user."""
    return {
        name: value.get_secret_value() if isinstance(value, SecretStr) else convert_to_json(value)
        for name, value in flatten_parameters(parameters).items()
    }


def _read_event(line: bytes) -> Event:
    """Read an event of the service from a line.

    Raises:
        ArgotError: the event contains it.
    """
    from argot.service.transport.wire_format import decode, restore_error

    event = decode(line)
    if event["kind"] == "error":
        raise restore_error(event)
    return event
