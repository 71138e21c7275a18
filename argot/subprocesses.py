"""Processes of our own: how they are started, what is said to them and by them, their bounds, and what their end means.

What may take any time or memory, or crash, runs in a process of its own. A `Child` is that process as whoever starts
it sees it; `Parent` is the other side, in the process itself. What they say to each other are pairs of bytes: mostly
JSON, and data that need not be JSON. Nothing is unpickled.

Such a process runs a module of ours by the interpreter's own command line and not by `multiprocessing`, which would
run the caller's main module again.
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
"""From its last word to its end: a large process takes a moment to be taken apart."""
_LENGTHS = struct.Struct(">QQ")
_PIECE_BYTES = 1 << 20
_READY_BYTES = 100

How = Literal["start", "time", "memory", "length", "crash"]


class ChildFailed(Exception):
    """A child did not answer, and is gone. `how`: it could not be started, took too long, took too much memory,
    answered at too great a length, or crashed; `code`: its exit code, if it ended by itself.
    """

    def __init__(self, how: How, what: str, code: int | None = None) -> None:
        super().__init__(what)
        self.how = how
        self.code = code


# -- in the process that starts it ------------------------------------------------------------------------------------


class Child:
    """A process that runs a module of ours, which talks to its `Parent`. It is started by the first message, and once
    it has ended by the next. For one thread at a time.

    Args:
        module: its full name.
        arguments: of its command line.
        quiet: what it writes to the standard error is dropped; else it goes where ours goes.
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
        """Have it run, if it does not already.

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
            # A child that reads nothing must not hold us up beyond the deadline.
            os.set_blocking(_input(self.process), False)
            # Importing takes its time, which is not the message's.
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
        """The next reply, of at most `most` bytes.

        Raises:
            ChildFailed
        """
        with self._stop_on_failure() as process:
            return read_message(lambda size: self._exactly(_output(process), size), most)

    def memory(self) -> int:
        """Bytes it has; 0 where the system does not say."""
        statm = Path(f"/proc/{self.process.pid}/statm") if self.process else None
        return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if statm and statm.exists() else 0

    def stop(self) -> None:
        """End it, whatever it is at. The next message starts another."""
        process, self.process = self.process, None
        if process is not None:
            with process:  # closes the pipes, then waits for its end
                process.kill()

    @contextmanager
    def _stop_on_failure(self) -> Iterator[subprocess.Popen[bytes]]:
        """Stop the child after any failure, also one that is not its own, such as Ctrl+C."""
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
        # After half a message nobody could tell where the next one begins.
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
    """Run a module of ours to its end, however long that takes. What it writes is in the result.

    Args:
        environment: variables it has beside ours.
    """
    command = _build_command(module, arguments)
    return subprocess.run(  # noqa: S603  (no shell, nothing of the user's in it)
        command, env=_build_environment() | environment, capture_output=True, text=True, check=False
    )


def start_module(
    module: str, *arguments: str, environment: Mapping[str, str] | None = None, handles: Sequence[int] = ()
) -> subprocess.Popen[bytes]:
    """Start a module of ours, and go on. What it writes goes where ours does; Ctrl+C reaches us alone.

    Args:
        environment: variables it has beside ours.
        handles: files of ours that it has open too, under the same numbers.
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
    # -P: a file named like a library, in the folder Argot is started in, must not be imported.
    return [sys.executable, "-P", "-m", module, *arguments]


def _build_environment() -> dict[str, str]:
    # Without the settings, keys among them: a child may read files of strangers, and is told what it needs.
    from argot.settings import ENV_PREFIX  # costs the children, which need none of it, a quarter of a second

    return {name: value for name, value in os.environ.items() if not name.startswith(ENV_PREFIX)}


def _input(process: subprocess.Popen[bytes]) -> int:
    assert process.stdin is not None
    return process.stdin.fileno()


def _output(process: subprocess.Popen[bytes]) -> int:
    assert process.stdout is not None
    return process.stdout.fileno()


def _explain_end(process: subprocess.Popen[bytes]) -> ChildFailed:
    """Return the failure that the end of a process stands for."""
    try:
        code = process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        return ChildFailed("crash", "it closed its output")
    if code == -signal.SIGPROF:
        return ChildFailed("time", "it took too much of the processor's time", code)
    # A library in C ends itself where it gets no memory; the kernel kills who takes the last of the machine's.
    if code in (-signal.SIGABRT, -signal.SIGKILL, -signal.SIGTRAP, -signal.SIGILL):
        return ChildFailed("memory", f"it was ended by signal {-code}, as when memory is short", code)
    return ChildFailed("crash", f"it ended with exit code {code}", code)


# -- in the child -----------------------------------------------------------------------------------------------------


class Parent:
    """Whoever started this process. To be made before anything is printed: from then on that goes nowhere.

    Args:
        nice: how far this process stands back behind others (0 to 19).
    """

    def __init__(self, nice: int = 0) -> None:
        incoming, self._outgoing = os.dup(0), os.dup(1)
        # A library that prints must not write into the answers.
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, 0)
        os.dup2(nowhere, 1)
        self._incoming = os.fdopen(incoming, "rb")
        os.nice(nice)
        self.send(b"")  # it is ready

    def messages(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield the parent's messages until it is gone."""
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
            raise SystemExit from None  # nobody is left to answer to

    def _exactly(self, size: int) -> bytes:
        part = self._incoming.read(size)
        if len(part) < size:
            raise EOFError
        return part


@contextmanager
def limit_resources(seconds: float, memory: int) -> Iterator[None]:
    """Limit the block's CPU time and additional memory.

    The process is ended when it takes more `seconds` of the processor's time, so other work on the machine makes
    nothing too slow. `memory`: bytes above what the process has now. Systems without such limits go without.

    Raises:
        MemoryError: more was needed. By then the limits are lifted, so that the error can be reported.
    """
    with _limit_time(seconds), _limit_memory(memory):
        yield


@contextmanager
def _limit_time(seconds: float) -> Iterator[None]:
    if not hasattr(signal, "setitimer"):
        yield
        return
    # Its signal, SIGPROF, ends the process, also in the middle of a library's C code; `_explain_end` knows it.
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
    # What it has now counts too: a limit below that would fail the very next allocation.
    most = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() + memory
    resource.setrlimit(resource.RLIMIT_AS, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


# -- on both sides ----------------------------------------------------------------------------------------------------


def write_message(write: Callable[[memoryview], int], message: bytes, data: bytes) -> None:
    """Write both lengths, then both parts of a message. `write(piece)` returns how many bytes of it went."""
    for part in (_LENGTHS.pack(len(message), len(data)), message, data):
        left = memoryview(part)
        while left:
            left = left[write(left[:_PIECE_BYTES]) :]


def read_message(exactly: Callable[[int], bytes], most: int | None = None) -> tuple[bytes, bytes]:
    """Both parts of a message. `exactly(size)` gives that many bytes or raises EOFError.

    Raises:
        OverflowError: more than `most` bytes are to come.
    """
    message, data = _LENGTHS.unpack(exactly(_LENGTHS.size))
    if most is not None and message + data > most:
        raise OverflowError(f"{message + data:,} bytes")
    return exactly(message), exactly(data)
