"""Processes of the command `argot` that are forked from a server which has imported Argot and opened nothing.

    process = start_forked(["serve", "--port", "0"], environment, cwd=folder, stderr=write_end)

Such a process has arguments, an environment, a folder, standard streams and an exit of its own, like one that is begun
by the interpreter's command line, and saves the seconds that its imports take. What an import itself does (which
modules a command loads, how a missing package is reported) has to be tested in a process that is begun afresh.

The server has one thread, as a process must that is forked. It imports no Chainlit, which reads its settings meanwhile.
"""

import gc
import importlib
import io
import json
import os
import re
import selectors
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import IO, Any

PRELOADED = (
    "argot.ui.cli.main",
    "argot.ui.server",
    "argot.ui.start_report",
    "argot.ui.api.api_routes",
    "argot.ui.api.scim_routes",
    "argot.ui.chat.chainlit_setup",
    "argot.ui.chat.chat_routes",
    "argot.ui.chat.window_texts",
    "argot.ui.pages.account_pages",
    "argot.ui.pages.page_routes",
    "argot.ui.pages.people_pages",
    "argot.ui.pages.source_pages",
    "argot.ui.web.connection_limits",
    "argot.ui.web.error_pages",
    "argot.ui.web.observability",
    "argot.ui.web.page_templates",
    "argot.evaluate.pages.evaluation_pages",
    "argot.learn.pages.workbench_pages",
    "argot.ratings.pages.rating_pages",
    "argot.service.usecases.catalogue",
    "argot.service.observability.metrics",
    "argot.corpus.corpus",
    "aiofiles",
    "asyncer",
    "babel.messages.mofile",
    "babel.messages.pofile",
    "babel.support",
    "bcrypt",
    "chromadb_rust_bindings",
    "dataclasses_json",
    "fastapi.middleware.gzip",
    "jwt",
    "langgraph.checkpoint.sqlite.aio",
    "literalai",
    "mcp.server.fastmcp",
    "prometheus_client",
    "socketio",
    "starlette.middleware.cors",
    "syncer",
    "tokenizers",
    "tomli",
    "uvicorn.lifespan.off",
    "uvicorn.protocols.http.h11_impl",
    "uvicorn.protocols.websockets.websockets_sansio_impl",
)
LIBRARY_VARIABLES = re.compile(r"(PYTHON|LANG(UAGE)?$|LC_|LD_|OMP_|MALLOC_|GLIBC_|OTEL_|TRACELOOP_)")
"""Beginnings of names that Python and its libraries read when they start: a process for which these differ from the
server's is begun afresh. What Argot itself sets when it is imported (`LANGSMITH_TRACING`) is not among them."""
_SERVER_ENVIRONMENT = {**os.environ, "PYTHONFAULTHANDLER": "1", "OPENBLAS_NUM_THREADS": "1"}
"""As it is when the tests are collected: a test that changes it gets processes that are begun afresh."""
_REQUEST_BYTES = 1 << 20
ARGOT = "from argot.ui.cli.main import main; main()"


class ForkedProcess:
    """A process of the server's, with the methods of `subprocess.Popen` that tests need."""

    def __init__(self, pid: int, ended: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self.stderr: IO[str] | None = None
        self._ended = ended
        self._waiting = threading.Lock()

    def poll(self) -> int | None:
        return self._read_code(0)

    def wait(self, timeout: float | None = None) -> int:
        code = self._read_code(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0.0)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def _read_code(self, seconds: float | None) -> int | None:
        with self._waiting:
            if self.returncode is None:
                with selectors.DefaultSelector() as selector:
                    selector.register(self._ended, selectors.EVENT_READ)
                    if not selector.select(seconds):
                        return None
                told = os.read(self._ended, 20)
                os.close(self._ended)
                self.returncode = int(told) if told else -signal.SIGKILL  # the server itself was killed
            return self.returncode


def can_fork(environment: Mapping[str, str]) -> bool:
    """Tell whether a process with this environment may be forked from the server."""
    expected = _select_library_variables(_SERVER_ENVIRONMENT)
    return hasattr(os, "pidfd_open") and _select_library_variables(environment) == expected


def start_forked(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    *,
    code: str = ARGOT,
    afresh: bool = False,
    cwd: Path | None = None,
    stdin: int,
    stdout: int,
    stderr: int,
) -> ForkedProcess:
    """Start `argot` with these arguments, and return its process.

    Args:
        code: run in the place of `argot`.
        afresh: the process imports Argot's own modules itself.
    """
    return _open_server().start(
        {
            "arguments": list(arguments),
            "environment": dict(environment),
            "code": code,
            "afresh": afresh,
            "cwd": str(cwd or Path.cwd()),
        },
        [stdin, stdout, stderr],
    )


def _select_library_variables(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if LIBRARY_VARIABLES.match(name)}


class _Server:
    """The server as its user sees it."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _REQUEST_BYTES)
        self._asking = threading.Lock()
        code = f"import sys; sys.path.insert(1, {str(Path(__file__).parent)!r}); import fork_server"
        with theirs:
            command = [sys.executable, "-c", f"{code}; fork_server.serve({theirs.fileno()})"]
            self.process = subprocess.Popen(
                command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, env=_SERVER_ENVIRONMENT
            )

    def start(self, request: dict[str, Any], streams: list[int]) -> ForkedProcess:
        ended, tell = os.pipe()
        try:
            with self._asking:
                socket.send_fds(self._socket, [json.dumps(request).encode()], [*streams, tell])
                pid = int(self._socket.recv(20))
        finally:
            os.close(tell)
        return ForkedProcess(pid, ended)


@cache
def _open_server() -> _Server:
    return _Server()


# -- in the server ----------------------------------------------------------------------------------------------------


def serve(descriptor: int) -> None:
    """Fork a process for each request, until the other side is closed. Returns in no process but the server's own."""
    before = dict(os.environ)
    for name in PRELOADED:
        importlib.import_module(name)
    load_catalogues()
    set_by_imports = {name: value for name, value in os.environ.items() if before.get(name) != value}
    threads = len(os.listdir("/proc/self/task"))  # noqa: PTH208
    assert threads == 1, f"{threads} threads, after importing what is preloaded: it cannot be forked"
    gc.collect()
    gc.freeze()
    requests = socket.socket(fileno=descriptor)
    running: dict[int, tuple[int, int]] = {}
    with selectors.DefaultSelector() as selector:
        selector.register(requests, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj is not requests:
                    selector.unregister(key.fileobj)
                    _report_end(key.fd, *running.pop(key.fd))
                    continue
                message, handles, _, _ = socket.recv_fds(requests, _REQUEST_BYTES, 4)
                if not message:
                    return
                pid = os.fork()
                if not pid:
                    selector.close()
                    requests.close()
                    for number in [*running, *(tell for _, tell in running.values()), handles.pop()]:
                        os.close(number)
                    _become(json.loads(message), handles, set_by_imports)
                    return
                for stream in handles[:3]:
                    os.close(stream)
                watch = os.pidfd_open(pid)
                running[watch] = pid, handles[3]
                selector.register(watch, selectors.EVENT_READ)
                requests.send(str(pid).encode())


def load_catalogues() -> None:
    """Load the translations that each service reads when it starts, and keeps."""
    from argot.languages.catalogues import LANGUAGE_NAMES, load_translations

    for language in LANGUAGE_NAMES:
        load_translations(language)


def _report_end(watch: int, pid: int, tell: int) -> None:
    _, status = os.waitpid(pid, 0)
    os.write(tell, str(os.waitstatus_to_exitcode(status)).encode())
    os.close(tell)
    os.close(watch)


def _become(request: dict[str, Any], streams: list[int], set_by_imports: Mapping[str, str]) -> None:
    """Run what was asked for, in a process that was just forked."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin, sys.stdout, sys.stderr = os.fdopen(0, closefd=False), _open_output(1), _open_output(2)
    os.environ.clear()
    os.environ.update({**request["environment"], **set_by_imports})
    os.chdir(request["cwd"])
    sys.argv = ["-c", *request["arguments"]]
    sys.path.remove(str(Path(__file__).parent))
    if request["afresh"]:
        for name in [one for one in sys.modules if one.split(".")[0] == "argot"]:
            del sys.modules[name]
    sys.modules["__main__"] = program = ModuleType("__main__")
    exec(request["code"], program.__dict__)


def _open_output(number: int) -> IO[str]:
    is_errors = number == 2
    return io.TextIOWrapper(
        os.fdopen(number, "wb", closefd=False),
        errors="backslashreplace" if is_errors else "strict",
        line_buffering=is_errors or os.isatty(number),
    )
