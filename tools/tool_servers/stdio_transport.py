"""An MCP server as a child process, whose messages have a greatest size.

The SDK's own transport collects a line of any length in memory, with a cost that grows by the square of its length.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anyio.abc import Process
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.shared.message import SessionMessage

    Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]

Fail = Callable[[str], None]
"""Ends a connection, for the reason given: "unreachable", "refused", "malformed" or "oversized"."""
EXIT_SECONDS = 1.0
"""Time that a server has to end by itself after its input was closed."""


@asynccontextmanager
async def run_server(
    command: Sequence[str], variables: dict[str, str], most: int, fail: Fail
) -> AsyncIterator[Streams]:
    """Run a server, and yield the streams of its messages. It and its children end with this.

    Args:
        command: the program and its arguments, without a shell.
        variables: environment variables beside the harmless ones (`PATH`, `HOME`, ...).
        most: bytes of all its messages together.
        fail: is called when the server sends more ("oversized"), or ends ("unreachable").

    Raises:
        OSError: the program cannot be started.
    """
    import anyio
    from mcp.client.stdio import get_default_environment
    from mcp.os.posix.utilities import terminate_posix_process_tree
    from mcp.shared.message import SessionMessage

    process = await anyio.open_process(
        [*command],
        env={**get_default_environment(), **variables},
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    into, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    sent, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as group, process:
        group.start_soon(_read_messages, process, into, most, fail)
        group.start_soon(_write_messages, process, outgoing)
        try:
            yield received, sent
        finally:
            with anyio.CancelScope(shield=True):
                if process.stdin:
                    await process.stdin.aclose()
                with anyio.move_on_after(EXIT_SECONDS):
                    await process.wait()
                if process.returncode is None:
                    await terminate_posix_process_tree(process, EXIT_SECONDS)
                _kill_children(process.pid)
                for stream in (into, received, sent, outgoing):
                    stream.close()
            group.cancel_scope.cancel()


def _kill_children(leader: int) -> None:
    """Kill the processes that an ended server left in its process group."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


async def _read_messages(
    process: Process, into: MemoryObjectSendStream[SessionMessage | Exception], most: int, fail: Fail
) -> None:
    import anyio
    from anyio.streams.buffered import BufferedByteReceiveStream
    from mcp.shared.message import SessionMessage
    from mcp.types import JSONRPCMessage

    assert process.stdout is not None
    lines = BufferedByteReceiveStream(process.stdout)
    try:
        while True:
            line = await lines.receive_until(b"\n", most)
            most -= len(line)
            try:
                message: SessionMessage | Exception = SessionMessage(JSONRPCMessage.model_validate_json(line))
            except ValueError as error:
                message = error
            await into.send(message)
    except anyio.DelimiterNotFound:
        fail("oversized")
    except (anyio.IncompleteRead, anyio.EndOfStream):
        fail("unreachable")
    except (anyio.ClosedResourceError, anyio.BrokenResourceError):
        return  # the caller has what it wanted


async def _write_messages(process: Process, outgoing: MemoryObjectReceiveStream[SessionMessage]) -> None:
    import anyio

    assert process.stdin is not None
    try:
        async for message in outgoing:
            text = message.message.model_dump_json(by_alias=True, exclude_none=True)
            await process.stdin.send(f"{text}\n".encode())
    except (anyio.ClosedResourceError, anyio.BrokenResourceError):
        return  # the server has ended, which the other stream tells
