"""The applications that a load test compares: starting them with a knowledge base, and adding documents."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

HERE = Path(__file__).parent
# How the tests start servers of their own.
sys.path.append(str(HERE.parent / "tests" / "support"))
if TYPE_CHECKING:
    from chroma_server import ChromaRun
    from postgresql_server import PostgresqlServer
ARGOT = (sys.executable, "-c", "from argot.ui.cli.main import main; main()")
ARGOT_NAME = "argot"
START_SECONDS = 180.0
DOCUMENTS = 20
"""Documents of a folder, which are added together."""
PASSAGES = 10
"""Passages of each document."""
PAGE = os.sysconf("SC_PAGE_SIZE")
PREPARE = """
import asyncio, json, sys
from importlib import resources
from pathlib import Path
from argot.service.usecases import catalogue
from argot.service.knowledge_base import KnowledgeBase
from argot.service.identity.people import make_local_principal
from argot.service.operations.sample_base import build
from argot.settings import load_settings

async def main(home, people):
    lines = resources.files("argot.samples").joinpath("questions.jsonl").read_text("utf-8").splitlines()
    found, keys, who = [], [], make_local_principal()
    async with KnowledgeBase.open(home, load_settings(home=home, model_url=""), patience=30) as kb:
        for entry in map(json.loads, lines):
            if (await catalogue.get_result(kb, who, "ask", question=entry["question"]))["status"] == "answered":
                found.append(entry["question"])
        for number in range(people):
            await catalogue.get_result(kb, who, "user_add", name=f"person{number}")
            principal = kb.people.user(f"person{number}").principal
            keys.append((await catalogue.get_result(kb, principal, "key_add", name="load"))["key"])
    print(json.dumps({"questions": found, "keys": keys}))

home = Path(sys.argv[1])
build(home, load_settings(home=home))
asyncio.run(main(home, int(sys.argv[2])))
"""


@dataclass(frozen=True)
class Sample:
    """Resident memory in bytes of service and helpers, after `at` seconds of load, `into` seconds of the block."""

    at: float
    into: float
    service: int
    helpers: int


@dataclass
class Application:
    """One of the two applications, running. `documents`: how many were added, new or changed."""

    name: str
    url: str
    process: subprocess.Popen[str]
    home: Path
    said: deque[str]
    answers: list[dict[str, Any]] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    loaded: float = 0.0
    documents: int = 0
    refused: list[str] = field(default_factory=list)
    search: list[dict[str, Any]] = field(default_factory=list)
    people: dict[str, Any] = field(default_factory=dict)
    """The keys of the askers, and the questions."""
    others: list[Application] = field(default_factory=list)
    """Further services on the same stores."""
    settings: dict[str, str] = field(default_factory=dict)
    """The settings by which other commands find its stores."""

    @property
    def urls(self) -> list[str]:
        return [self.url, *(one.url for one in self.others)]

    def measure_memory(self) -> tuple[int, int]:
        """Return the bytes in memory of its services, and of all processes they started."""
        sizes = [measure_resident(one.process.pid) for one in (self, *self.others)]
        return sum(one for one, _ in sizes), sum(helpers for _, helpers in sizes)

    def require_alive(self) -> None:
        if self.process.poll() is not None:
            raise SystemExit(f"{self.name} ended ({self.process.returncode}). It last said:\n{''.join(self.said)}")


def prepare_base(home: Path, people: int, settings: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Build the sample knowledge base with people; return their keys, and questions that have an answer."""
    command = [sys.executable, "-c", PREPARE, str(home), str(people)]
    environment = {**os.environ, **(settings or {})}
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@contextmanager
def run_model_server(first: float, reply: float, speed: float, tokens: int) -> Iterator[str]:
    waits = ["--first", str(first), "--reply", str(reply), "--speed", str(speed), "--tokens", str(tokens)]
    command = [sys.executable, str(HERE / "model_stub.py"), *waits]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


@contextmanager
def run_argot_service(
    scratch: Path, home: Path, model: str, people: dict[str, Any], workers: int | None = None
) -> Iterator[Application]:
    """Run a service with this many answer workers (None: the default) on a knowledge base of its own."""
    name, settings = ARGOT_NAME, {**UNBOUNDED, "ARGOT_MODEL_URL": model}
    if workers is not None:
        name, home = f"{name}, {workers} workers", Path(shutil.copytree(home, scratch / f"kb-{workers}"))
        settings["ARGOT_WORKERS"] = str(workers)
    with start_application(name, _list_serve_words(home), home, settings) as application:
        application.people = people
        yield application


@contextmanager
def run_postgresql(scratch: Path, memory: str = "32MB") -> Iterator[tuple[PostgresqlServer, dict[str, str]]]:
    """Run PostgreSQL; yield it and the setting that names its database for an ordinary user, to whom row-level security
    applies.

    Args:
        memory: the size of `shared_buffers`.
    """
    from postgresql_server import running

    # PostgreSQL does not run as root: its own user must be able to enter the folder.
    scratch.chmod(0o755)
    with running(scratch / "postgresql", durable=True, memory=memory) as server:
        server.execute("CREATE ROLE keeper LOGIN")
        server.execute("CREATE DATABASE argot OWNER keeper")
        yield server, {"ARGOT_STORE": server.url("argot").replace("argot:secret-of-tests@", "keeper@")}


@contextmanager
def run_chroma_server(scratch: Path) -> Iterator[tuple[ChromaRun, dict[str, str]]]:
    """Run a Chroma server; yield it and the setting that names it."""
    from chroma_server import ChromaRun

    (scratch / "chroma").mkdir(exist_ok=True)
    with ChromaRun(scratch / "chroma") as server:
        yield server, {"ARGOT_CHROMA_URL": server.url}


@contextmanager
def run_argot_services(scratch: Path, model: str, people: int, count: int) -> Iterator[Application]:
    """Run this many services on one PostgreSQL and one Chroma server, which are started, too."""
    with ExitStack() as stack:
        _, store = stack.enter_context(run_postgresql(scratch))
        _, vectors = stack.enter_context(run_chroma_server(scratch))
        stores = {**store, **vectors}
        homes = [scratch / f"service-{number}" for number in range(count)]
        known = prepare_base(homes[0], people, stores)
        settings = {**UNBOUNDED, **stores, "ARGOT_MODEL_URL": model, "ARGOT_WORKERS": "0"}
        services = [
            stack.enter_context(
                start_application(f"{ARGOT_NAME}, {count} services", _list_serve_words(home), home, settings)
            )
            for home in homes
        ]
        services[0].people, services[0].others, services[0].settings = known, services[1:], stores
        yield services[0]


UNBOUNDED = {
    "ARGOT_QUESTIONS_PER_MINUTE": "0",
    "ARGOT_QUESTIONS_AT_ONCE": "0",
    "ARGOT_RUNNING_QUESTIONS": "0",
    # Only people's questions are measured.
    "ARGOT_DERIVE_IN_BACKGROUND": "off",
}


def _list_serve_words(home: Path) -> list[str]:
    return [*ARGOT, "serve", "--home", str(home), "--port", "0"]


@contextmanager
def run_minimal_service(scratch: Path, model: str, people: dict[str, Any]) -> Iterator[Application]:
    from importlib import resources

    with resources.as_file(resources.files("argot.samples")) as samples:
        folders = ["--documents", str(samples / "documents"), "--store", str(scratch / "minimal")]
        command = [sys.executable, str(HERE / "minimal_app.py"), *folders]
        with start_application("minimal", command, scratch, {"ARGOT_MODEL_URL": model}) as application:
            application.people = people
            yield application


@contextmanager
def start_application(name: str, command: Sequence[str], home: Path, settings: dict[str, str]) -> Iterator[Application]:
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env={**os.environ, "LC_ALL": "C.UTF-8", **settings}
    )
    assert process.stderr
    said: deque[str] = deque(maxlen=30)
    late = threading.Timer(START_SECONDS, process.kill)
    late.start()
    url = ""
    for line in process.stderr:
        said.append(line)
        if found := re.search(r"is open at (http://\S+?)/? ", line):
            url = found[1]
            break
    late.cancel()
    if not url:
        process.kill()
        raise SystemExit(f"{name} did not start:\n{''.join(said)}")
    threading.Thread(target=said.extend, args=(process.stderr,), daemon=True).start()
    try:
        yield Application(name, url, process, home, said)
    finally:
        process.terminate()
        process.wait(START_SECONDS)


# -- documents --------------------------------------------------------------------------------------------------------


def ingest_folder(application: Application, folder: Path, stop: threading.Event) -> None:
    """Add the documents of a folder by the application's own upload, and count them."""
    if application.name.startswith(ARGOT_NAME):
        _add_by_command(application, folder, stop)
    else:
        _post(application, folder, stop)


def _add_by_command(application: Application, folder: Path, stop: threading.Event) -> None:
    command = [*ARGOT, "add", str(folder), "--home", str(application.home)]
    environment = {**os.environ, **application.settings}
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment
    ) as adding:
        while adding.poll() is None:
            if stop.wait(0.2):
                adding.terminate()
        if adding.returncode == 0:
            application.documents += DOCUMENTS
        elif not stop.is_set():
            assert adding.stderr
            application.refused.append(adding.stderr.read()[-300:].strip())
            stop.wait(1.0)


def _post(application: Application, folder: Path, stop: threading.Event) -> None:
    import httpx

    with httpx.Client(timeout=120) as client:
        for path in sorted(folder.iterdir()):
            if stop.is_set():
                return
            try:
                body = {"name": path.name, "text": path.read_text("utf-8")}
                client.post(f"{application.url}/add", json=body).raise_for_status()
            except httpx.HTTPError as error:
                application.refused.append(f"{type(error).__name__}: {error}")
                stop.wait(1.0)
            else:
                application.documents += 1


def write_documents(folder: Path) -> None:
    """Write documents of ten passages each, in words that also occur in questions; each call writes different ones."""
    folder.mkdir(exist_ok=True)
    stamp = time.monotonic_ns()
    for number in range(DOCUMENTS):
        sections = [f"# Report {stamp}-{number}\n"]
        for section in range(PASSAGES):
            line = (
                f"Valve {stamp % 9973 + section} of line {number} was set to {section * number % 17} bar and checked."
            )
            sections.append(f"## Section {section}\n\n" + " ".join(f"{line} Entry {entry}." for entry in range(10)))
        (folder / f"{folder.name}-{number}.md").write_text("\n\n".join(sections), encoding="utf-8")


# -- memory -----------------------------------------------------------------------------------------------------------


def measure_resident(pid: int) -> tuple[int, int]:
    """Return the bytes in memory of a process, and of all processes it started."""
    sizes, pids = [], [pid]
    while pids:
        one = pids.pop(0)
        size = 0
        try:
            size = int(Path(f"/proc/{one}/statm").read_text("ascii").split()[1]) * PAGE
            for task in Path(f"/proc/{one}/task").iterdir():
                pids += map(int, (task / "children").read_text("ascii").split())
        except OSError:  # it has just ended
            pass
        sizes.append(size)
    return sizes[0], sum(sizes[1:])
