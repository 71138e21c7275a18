"""`argot work` in processes of their own, with kinds of jobs that only tests have.

    with Working(home, ARGOT_STORE=url, ARGOT_CHROMA_URL=chroma) as worker:
        worker.kill()

Of those kinds, `log` writes when it begins and ends, and `poison` ends its process.
"""

import asyncio
import json
import os
import signal
import threading
from pathlib import Path
from typing import Any

from fork_server import ARGOT
from serving import PATIENCE, environment, start_process

from argot.work.job_kinds import job_kind
from argot.work.job_types import JobRun

CODE = f"import sys; sys.path.insert(1, {str(Path(__file__).parent)!r}); import job_workers; {ARGOT}"


@job_kind("log", busy="'{label}' is under way.")
async def log(run: JobRun) -> Any:
    """Write a line at the beginning and one at the end, atomically, since several jobs may write at once."""
    path = run.parameters["path"]
    _write(path, "begin", run)
    run.tell(1, 2, "half")
    while not os.path.exists(run.parameters["until"]):  # noqa: ASYNC110, PTH110, ASYNC240  another process makes it
        await asyncio.sleep(0.05)
    _write(path, "end", run)
    return os.getpid()


@job_kind("poison", busy="'{label}' is under way.")
async def poison(run: JobRun) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


def _write(path: str, what: str, run: JobRun) -> None:
    line = json.dumps([what, run.parameters["number"], os.getpid()]) + "\n"
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(descriptor, line.encode())
    os.close(descriptor)


class Working:
    """A started worker."""

    def __init__(self, home: Path, *options: str, **settings: str) -> None:
        self.said: list[str] = []
        words = ["work", "--home", str(home), *options]
        self.process, self._output = start_process(words, environment(**settings), cwd=home.parent, code=CODE)
        self._ready = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        assert self._ready.wait(PATIENCE) and self.process.poll() is None, "".join(self.said)

    def kill(self) -> None:
        self.process.kill()
        self.ended()

    def stop(self) -> int:
        """Stop the worker and return its exit code."""
        self.process.terminate()
        return self.ended()

    def ended(self) -> int:
        code = self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        return code

    def __enter__(self) -> "Working":
        return self

    def __exit__(self, *error: object) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.kill()

    def _read(self) -> None:
        with self._output:
            for line in self._output:
                self.said.append(line)
                if line.startswith("Taking jobs"):
                    self._ready.set()
        self._ready.set()
