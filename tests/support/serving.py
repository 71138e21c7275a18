"""`argot serve` in a process of its own, for tests of what only a running service shows.

    with Served(home, ARGOT_MODEL_URL=scripted_model.url) as server:
        httpx.get(server.url + "/health")

Its output is read all the time (a full pipe would stop it) and kept in `said`. A service that does not start or stop
within `PATIENCE` prints the stack of each of its threads, and the test fails with that.

Services and commands are forked from a server that has imported Argot (`fork_server.py`), which saves half of their
start. With another `COMMAND` in place they are begun by that command line.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import IO

import pytest
from fork_server import ARGOT, ForkedProcess, can_fork, start_forked

COMMAND = [sys.executable, "-c", ARGOT]
_FORKED_COMMAND = COMMAND
CHROMIUM = next((path for path in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if path), None)
LEFT_OPEN = {"socket", "owner.json", "corpus.db-wal", "threads.db-wal"}
PATIENCE = 300
"""Seconds; no measure of anything: how long a hanging service may hold up the tests, on however busy a machine."""

Started = tuple["subprocess.Popen[bytes] | ForkedProcess", IO[str]]


def environment(**settings: str) -> dict[str, str]:
    """Return the environment of the tests with these settings, for an Argot process."""
    kept = {name: value for name, value in os.environ.items() if name != "ARGOT_SCREENSHOTS"}
    # Automatic derivation would send the scripted model requests that no test expects.
    return {**kept, "PYTHONFAULTHANDLER": "1", "ARGOT_DERIVE_IN_BACKGROUND": "off", **settings}


class Served:
    """A started service on a free port. It may be stopped and started again; the address stays the same."""

    def __init__(self, home: Path, *options: str, **settings: str) -> None:
        self.home = home
        self.settings = settings
        self.port = 0
        self.said: list[str] = []
        self.start(*options)

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}"

    @property
    def running(self) -> bool:
        return self.process.poll() is None

    def start(self, *options: str) -> None:
        arguments = ["serve", "--home", str(self.home), "--port", str(self.port), *options]
        self.process, output = self.start_process(arguments, environment(**self.settings))
        told, self._open = threading.Event(), False
        self._reader = threading.Thread(target=self._read, args=(output, told), daemon=True)
        self._reader.start()
        if not told.wait(PATIENCE):
            self._abort("did not start")
        if not self._open:
            self._abort("ended before it was open")

    def wait_for_lines(self, holding: str, after: int = 0) -> list[str]:
        """Wait for a line with this text among those `after` so many; return those there are.

        A line arrives through a pipe, so it can be later than the answer to the request that caused it.
        """
        deadline = time.monotonic() + PATIENCE
        while not (found := [line for line in self.said[after:] if holding in line]):
            assert time.monotonic() < deadline, f"no line with {holding!r} in:\n{''.join(self.said[after:])}"
            time.sleep(0.02)
        return found

    def stop(self, how: signal.Signals = signal.SIGINT) -> int:
        """Stop the service and return its exit code; check that it left nothing open."""
        if self.running:
            self.process.send_signal(how)
        try:
            code = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._abort("did not stop")
        self._reader.join(PATIENCE)
        if code == 0:
            left = LEFT_OPEN & {path.name for path in self.home.iterdir()}
            assert not left, f"left open: {sorted(left)}"
        return code

    def __enter__(self) -> "Served":
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def start_process(self, arguments: list[str], variables: dict[str, str]) -> "Started":
        return start_process(arguments, variables, cwd=self.home.parent)

    def _read(self, output: IO[str], told: threading.Event) -> None:
        """Read the output to its end; set `told` when the service says that it is open, or ends."""
        with output:
            for line in output:
                self.said.append(line)
                if "is open at" in line:
                    found = re.search(r"is open at http://\S*?:(\d+) ", line)
                    self.port = int(found[1]) if found else self.port
                    self._open = True
                    told.set()
        told.set()

    def _abort(self, why: str) -> None:
        self.process.send_signal(signal.SIGABRT)
        self.process.wait()
        self._reader.join(PATIENCE)
        pytest.fail(f"the service {why}; it said:\n{''.join(self.said)}")


def start_process(
    arguments: list[str], variables: dict[str, str], *, cwd: Path, code: str = ARGOT, afresh: bool = False
) -> Started:
    """Start `argot`, or this code, and return its process and what it writes; see `start_forked`."""
    ours, theirs = os.pipe()
    nothing = os.open(os.devnull, os.O_RDWR)
    streams = {"stdin": nothing, "stdout": nothing, "stderr": theirs}
    try:
        if COMMAND is _FORKED_COMMAND and can_fork(variables):
            process = start_forked(arguments, variables, code=code, afresh=afresh, cwd=cwd, **streams)
            return process, os.fdopen(ours)
        command = COMMAND if code is ARGOT else [sys.executable, "-c", code]
        return subprocess.Popen([*command, *arguments], cwd=cwd, env=variables, **streams), os.fdopen(ours)
    finally:
        os.close(theirs)
        os.close(nothing)


def run(
    *arguments: object, typed: str = "", seconds: float | None = None, **settings: str
) -> "subprocess.CompletedProcess[str]":
    """Runs a command as a user does, in a process of its own.

    Also where Playwright runs an event loop, which a command in this process would not stand.
    """
    return run_code(ARGOT, *arguments, typed=typed, seconds=seconds, **settings)


def run_code(
    code: str,
    *arguments: object,
    typed: str = "",
    afresh: bool = False,
    seconds: float | None = None,
    **settings: str,
) -> "subprocess.CompletedProcess[str]":
    """Runs code in a process of its own; see `start_forked`. One that hangs is killed after `seconds`.

    Raises:
        subprocess.TimeoutExpired: it was killed.
    """
    words, variables = [str(word) for word in arguments], environment(**settings)
    command = [*(COMMAND if code is ARGOT else [sys.executable, "-c", code]), *words]
    if COMMAND is not _FORKED_COMMAND or not can_fork(variables):
        return subprocess.run(
            command, check=False, capture_output=True, text=True, input=typed, env=variables, timeout=seconds
        )
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        stdin.write(typed.encode())
        stdin.seek(0)
        streams = {"stdin": stdin.fileno(), "stdout": stdout.fileno(), "stderr": stderr.fileno()}
        process = start_forked(words, variables, code=code, afresh=afresh, **streams)
        try:
            returned = process.wait(seconds)
        finally:
            process.kill()
        said, complained = (_read_text(file) for file in (stdout, stderr))
    return subprocess.CompletedProcess(command, returned, said, complained)


def _read_text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode().replace("\r\n", "\n")


def argot(*arguments: object, typed: str = "") -> str:
    """Run a command that must succeed, and return its output."""
    done = run(*arguments, typed=typed)
    assert done.returncode == 0, done.stderr
    return done.stdout
