"""A Chroma server in a process of its own, on a free port of 127.0.0.1: `chroma run`, which the package contains.

    with ChromaRun(tmp_path_factory.mktemp("chroma")) as server:
        Settings(chroma_url=server.url)

It may be stopped and started again; its address and its folder stay the same.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType

import httpx
from fork_server import ForkedProcess, can_fork, start_forked
from serving import environment

CODE = "from chromadb.cli.cli import app; app()"
PATIENCE = 300
"""Seconds; no measure of anything, as in `serving`."""


class ChromaRun:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = 0
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        return self._process.pid

    def start(self) -> None:
        deadline = time.monotonic() + PATIENCE
        while True:
            # Another process may take the port before Chroma does; Chroma then ends.
            self.port = self.port or _free_port()
            self._process = self._start_process()
            if self._answers(deadline):
                return
            assert time.monotonic() < deadline, (self.folder / "chroma.log").read_text()
            self.port = 0

    def _start_process(self) -> "subprocess.Popen[bytes] | ForkedProcess":
        words = ["run", "--host", "127.0.0.1", "--path", str(self.folder / "data"), "--port", str(self.port)]
        variables = environment(ANONYMIZED_TELEMETRY="False")
        with (self.folder / "chroma.log").open("a") as log, Path(os.devnull).open() as nothing:
            streams = {"stdin": nothing.fileno(), "stdout": log.fileno(), "stderr": log.fileno()}
            if can_fork(variables):
                return start_forked(words, variables, code=CODE, cwd=self.folder, **streams)
            return subprocess.Popen([sys.executable, "-c", CODE, *words], cwd=self.folder, env=variables, **streams)

    def stop(self, how: signal.Signals = signal.SIGKILL) -> None:
        self._process.send_signal(signal.SIGCONT)
        self._process.send_signal(how)
        self._process.wait(PATIENCE)

    def freeze(self) -> None:
        """Make the server accept connections without answering, until `thaw`."""
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def __enter__(self) -> "ChromaRun":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def _answers(self, deadline: float) -> bool:
        while self._process.poll() is None and time.monotonic() < deadline:
            try:
                if httpx.get(f"{self.url}/api/v2/heartbeat", timeout=5).is_success:
                    return True
            except httpx.TransportError:
                time.sleep(0.05)
        return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
