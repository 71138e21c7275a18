"""Argot's child processes: their start, their messages in both directions, their limits, and the meaning of their exit.

Work that may take unbounded time or memory, or crash, runs in a separate process. A `Child` is that process as seen by
its starter; `Parent` is the other side, in the process itself. Their messages are pairs of bytes: usually JSON, and
data that need not be JSON. Nothing is unpickled.

Such a process runs a module of Argot's by the interpreter's command line and not by `multiprocessing`, which would run
the caller's main module again.
"""

from __future__ import annotations

import os
import selectors
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

START_SECONDS = 60.0
_END_SECONDS = 10.0
"""Time from its last message to its exit: freeing a large process takes a moment."""
_LENGTHS = struct.Struct(">QQ")
_PIECE_BYTES = 1 << 20
_READY_BYTES = 100

How = Literal["start", "time", "memory", "length", "crash"]


class ChildFailed(Exception):
    """A child did not answer, and has ended. `how`: it could not be started, exceeded its time or memory, sent too long
    a reply, or crashed; `code`: its exit code, if it exited by itself.
    """

    def __init__(self, how: How, what: str, code: int | None = None) -> None:
        super().__init__(what)
        self.how = how
        self.code = code


# -- in the process that starts it ------------------------------------------------------------------------------------


class Child:
    """A process that runs one of Argot's modules and communicates through its `Parent`. The first message starts it,
    and after its exit the next one. It is for one thread at a time.

    Args:
        module: its full name.
        arguments: of its command line.
        quiet: its standard error is dropped; otherwise it is this process's.
    """

    def __init__(self, module: str, *arguments: str, quiet: bool = True) -> None:
        self._command = _build_command(module, arguments)
        self._errors = subprocess.DEVNULL if quiet else None
        self._deadline: float | None = None
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start it, unless it already runs.

        Raises:
            ChildFailed: it could not be started.
        """
        if self.process is not None and self.process.poll() is None:
            return
        self.stop()
        try:
            self.process = subprocess.Popen(  # noqa: S603  (no shell, nothing of the user's in it)
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                bufsize=0,
                env=_build_environment(),
            )
            # A child that reads nothing must not delay this process beyond the deadline.
            os.set_blocking(_input(self.process), False)
            # Importing takes time, which does not count for the message.
            self._deadline = time.monotonic() + START_SECONDS
            self.receive(_READY_BYTES)
        except (OSError, ChildFailed) as error:
            raise ChildFailed("start", f"it could not be started: {error}") from error

    def send(self, message: bytes, data: bytes = b"", *, seconds: float | None = None) -> None:
        """Send a message; all replies must arrive within `seconds` (by the clock). None: no deadline.

        Raises:
            ChildFailed
        """
        self.start()
        self._deadline = None if seconds is None else time.monotonic() + seconds
        with self._stop_on_failure() as process:
            write_message(lambda piece: self._write_piece(_input(process), piece), message, data)

    def receive(self, most: int | None = None) -> tuple[bytes, bytes]:
        """Return the next reply, of at most `most` bytes.

        Raises:
            ChildFailed
        """
        with self._stop_on_failure() as process:
            return read_message(lambda size: self._exactly(_output(process), size), most)

    def memory(self) -> int:
        """Return its memory in bytes; 0 if the system does not report it."""
        statm = Path(f"/proc/{self.process.pid}/statm") if self.process else None
        return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if statm and statm.exists() else 0

    def stop(self) -> None:
        """End it, whatever it is doing. The next message starts another."""
        process, self.process = self.process, None
        if process is not None:
            with process:  # closes the pipes, then waits for its end
                process.kill()

    @contextmanager
    def _stop_on_failure(self) -> Iterator[subprocess.Popen[bytes]]:
        """Stop the child after any failure, including external ones such as Ctrl+C."""
        process = self.process
        if process is None:
            raise ChildFailed("crash", "it was stopped")
        try:
            yield process
        except TimeoutError as error:
            self.stop()
            raise ChildFailed("time", "it took too long") from error
        except OverflowError as error:
            self.stop()
            raise ChildFailed("length", f"its answer is too long: {error}") from error
        except (EOFError, BrokenPipeError) as error:
            failure = _explain_end(process)
            self.stop()
            raise failure from error
        # After half a message the start of the next one would be unknown.
        except BaseException:
            self.stop()
            raise

    def _write_piece(self, descriptor: int, piece: memoryview) -> int:
        self._wait(descriptor, selectors.EVENT_WRITE)
        return os.write(descriptor, piece)

    def _exactly(self, descriptor: int, size: int) -> bytes:
        parts, left = [], size
        while left:
            self._wait(descriptor, selectors.EVENT_READ)
            part = os.read(descriptor, min(left, _PIECE_BYTES))
            if not part:
                raise EOFError
            parts.append(part)
            left -= len(part)
        return b"".join(parts)

    def _wait(self, descriptor: int, event: int) -> None:
        # One deadline for the whole answer: a child that sends a byte now and then does not extend it.
        left = None if self._deadline is None else max(0.0, self._deadline - time.monotonic())
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, event)
            if not selector.select(left):
                raise TimeoutError


def run_module(module: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run one of Argot's modules to its end, however long that takes. Its output is in the result.

    Args:
        environment: variables in addition to this process's.
    """
    command = _build_command(module, arguments)
    return subprocess.run(  # noqa: S603  (no shell, nothing of the user's in it)
        command, env=_build_environment() | environment, capture_output=True, text=True, check=False
    )


def read_reason(outcome: subprocess.CompletedProcess[str]) -> str:
    """Return the reason that a module gave for its failure: the last line of its standard error."""
    return (outcome.stderr.strip().splitlines() or ["no reason given"])[-1]


def start_module(
    module: str, *arguments: str, environment: Mapping[str, str] | None = None, handles: Sequence[int] = ()
) -> subprocess.Popen[bytes]:
    """Start one of Argot's modules, without waiting. Its output goes to this process's; Ctrl+C reaches only this
    process.

    Args:
        environment: variables in addition to this process's.
        handles: open files that it inherits, under the same numbers.
    """
    return subprocess.Popen(  # noqa: S603  (no shell, nothing of the user's in it)
        _build_command(module, arguments),
        env=_build_environment() | dict(environment or {}),
        pass_fds=handles,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )


def _build_command(module: str, arguments: Sequence[str]) -> list[str]:
    # -P: a file named like a library, in the folder where Argot is started, must not be imported.
    return [sys.executable, "-P", "-m", module, *arguments]


def _build_environment() -> dict[str, str]:
    # Without the settings, which include keys: a child may read untrusted files, and receives what it needs.
    from argot.settings import ENV_PREFIX  # costs the children, which do not need it, a quarter of a second

    return {name: value for name, value in os.environ.items() if not name.startswith(ENV_PREFIX)}


def _input(process: subprocess.Popen[bytes]) -> int:
    assert process.stdin is not None
    return process.stdin.fileno()


def _output(process: subprocess.Popen[bytes]) -> int:
    assert process.stdout is not None
    return process.stdout.fileno()


def _explain_end(process: subprocess.Popen[bytes]) -> ChildFailed:
    """Return the failure that corresponds to the end of a process."""
    try:
        code = process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        return ChildFailed("crash", "it closed its output")
    if code == -signal.SIGPROF:
        return ChildFailed("time", "it took too much of the processor's time", code)
    # A C library aborts when it gets no memory; the kernel kills a process that uses up the machine's.
    if code in (-signal.SIGABRT, -signal.SIGKILL, -signal.SIGTRAP, -signal.SIGILL):
        return ChildFailed("memory", f"it was ended by signal {-code}, as when memory is short", code)
    return ChildFailed("crash", f"it ended with exit code {code}", code)


# -- in the child -----------------------------------------------------------------------------------------------------


class Parent:
    """The process that started this one. It must be created before anything is printed: from then on output is
    discarded.

    Args:
        nice: how far this process yields to others (0 to 19).
    """

    def __init__(self, nice: int = 0) -> None:
        incoming, self._outgoing = os.dup(0), os.dup(1)
        # A library that prints must not write into the replies.
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, 0)
        os.dup2(nowhere, 1)
        self._incoming = os.fdopen(incoming, "rb")
        os.nice(nice)
        self.send(b"")  # it is ready

    def messages(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield the parent's messages until it has ended."""
        while True:
            try:
                message = read_message(self._exactly)
            except EOFError:
                return
            yield message

    def send(self, message: bytes, data: bytes = b"") -> None:
        try:
            write_message(lambda piece: os.write(self._outgoing, piece), message, data)
        except BrokenPipeError:
            raise SystemExit from None  # the parent has ended

    def _exactly(self, size: int) -> bytes:
        part = self._incoming.read(size)
        if len(part) < size:
            raise EOFError
        return part


@contextmanager
def limit_resources(seconds: float, memory: int) -> Iterator[None]:
    """Limit the block's CPU time and additional memory.

    The process is killed when it uses more than `seconds` of processor time, so that other work on the machine does not
    count. `memory`: bytes above the process's present use. Systems without such limits skip them.

    Raises:
        MemoryError: more was needed. The limits are lifted by then, so that the error can be reported.
    """
    with _limit_time(seconds), _limit_memory(memory):
        yield


@contextmanager
def _limit_time(seconds: float) -> Iterator[None]:
    if not hasattr(signal, "setitimer"):
        yield
        return
    # Its signal, SIGPROF, ends the process, even within a library's C code; `_explain_end` recognises it.
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


@contextmanager
def _limit_memory(memory: int) -> Iterator[None]:
    if not sys.platform.startswith("linux"):
        yield
        return
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    # The present use counts too: a lower limit would fail the very next allocation.
    most = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() + memory
    resource.setrlimit(resource.RLIMIT_AS, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


# -- on both sides ----------------------------------------------------------------------------------------------------


def write_message(write: Callable[[memoryview], int], message: bytes, data: bytes) -> None:
    """Write both lengths, then both parts of a message. `write(piece)` returns how many bytes of it were written."""
    for part in (_LENGTHS.pack(len(message), len(data)), message, data):
        left = memoryview(part)
        while left:
            left = left[write(left[:_PIECE_BYTES]) :]


def read_message(exactly: Callable[[int], bytes], most: int | None = None) -> tuple[bytes, bytes]:
    """Return both parts of a message. `exactly(size)` returns that many bytes or raises EOFError.

    Raises:
        OverflowError: more than `most` bytes are announced.
    """
    message, data = _LENGTHS.unpack(exactly(_LENGTHS.size))
    if most is not None and message + data > most:
        raise OverflowError(f"{message + data:,} bytes")
    return exactly(message), exactly(data)
