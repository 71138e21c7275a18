"""The losses when processes are killed under load: repeated `kill -9` of a worker, a service or a store.

    python bench/kills.py [--kills 50] [--engine postgresql|sqlite] [--seed 1] [--json]

PostgreSQL: two services with an answer worker each, PostgreSQL, a Chroma server and `argot work`, all on this machine.
SQLite: one service with two answer workers, and a Chroma server. The whole time people ask, upload documents, write
terms and judge answers over HTTP, at any service that answers. Every few seconds one process, chosen at random, is
killed and started again a moment later (PostgreSQL is stopped as by a crash); the service itself replaces answer
workers.

The benchmark records everything that was acknowledged, and every answer that was shown as complete. At the end, when
everything runs again, it counts:

- lost: acknowledged documents, terms, turns and judgements that are missing or different.
- twice: documents and terms that exist more than once.
- half: answers of the model that were shown as complete, but lack words that it wrote.
- wrong: faults that `argot doctor` finds.

It needs PostgreSQL as Debian installs it. The model server is `model_stub.py`. The exit code is 1 if anything is wrong.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from kills_people import WORDS, AcknowledgedWork, People, find_faults
from load_applications import ARGOT, prepare_base, run_chroma_server, run_model_server, run_postgresql

PEOPLE = 4
START_SECONDS = 120.0
DOWN_SECONDS = (0.3, 2.0)
"""Least and greatest time before a killed process is started again."""
BETWEEN_SECONDS = (2.0, 6.0)
WORKER_MODULE = "answer_worker"


# -- what is killed ---------------------------------------------------------------------------------------------------


@dataclass
class Service:
    """`argot serve`, which is always started again on the same port."""

    home: Path
    settings: dict[str, str]
    port: int = 0
    process: subprocess.Popen[str] | None = None
    said: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        command = [*ARGOT, "serve", "--home", str(self.home), "--port", str(self.port)]
        environment = {**os.environ, **self.settings}
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
        assert self.process.stderr
        opened = threading.Event()
        threading.Thread(target=self._read_output, args=(self.process, opened), daemon=True).start()
        if not opened.wait(START_SECONDS) or self.process.poll() is not None:
            raise SystemExit(f"a service did not start:\n{''.join(self.said[-30:])}")

    def _read_output(self, process: subprocess.Popen[str], opened: threading.Event) -> None:
        assert process.stderr
        for line in process.stderr:
            self.said.append(line)
            if "is open at" in line:
                self.port = int(line.rsplit(":", 1)[1].split()[0].rstrip("/"))
                opened.set()
        opened.set()

    def kill(self) -> None:
        assert self.process
        self.process.kill()
        self.process.wait()

    def list_workers(self) -> list[int]:
        assert self.process
        return [one for one in _list_children(self.process.pid) if WORKER_MODULE in _read_command(one)]


@dataclass
class JobWorker:
    """A process of `argot work`."""

    home: Path
    settings: dict[str, str]
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [*ARGOT, "work", "--home", str(self.home)]
        self.process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **self.settings}
        )

    def kill(self) -> None:
        assert self.process
        self.process.kill()
        self.process.wait()


def _list_children(process: int) -> list[int]:
    with contextlib.suppress(OSError):
        return [int(one) for one in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    return []


def _read_command(process: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_bytes().decode("utf-8", "replace")
    return ""


class Killer:
    """Kills one process after the other, and starts those again that do not start by themselves."""

    def __init__(self, targets: dict[str, tuple[Callable[[], None], Callable[[], None]]], seed: int) -> None:
        """`targets`: for each name the functions that kill the process and that start it again."""
        self.targets = targets
        self.random = random.Random(seed)
        self.done: Counter[str] = Counter()

    def run(self, kills: int, beside: Callable[[str], None]) -> None:
        for number in range(kills):
            time.sleep(self.random.uniform(*BETWEEN_SECONDS))
            name = self.random.choice(sorted(self.targets))
            kill, start = self.targets[name]
            kill()
            self.done[name] += 1
            beside(f"{number + 1}/{kills}: {name}")
            time.sleep(self.random.uniform(*DOWN_SECONDS))
            start()


def kill_worker(service: Service, chosen: random.Random) -> None:
    if workers := service.list_workers():
        with contextlib.suppress(ProcessLookupError):
            os.kill(chosen.choice(workers), signal.SIGKILL)


# -- the whole --------------------------------------------------------------------------------------------------------


def main() -> None:
    os.environ["LC_ALL"] = "C.UTF-8"  # a service says in the language of the terminal that it is open
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--engine", choices=("postgresql", "sqlite"), default="postgresql")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        report = measure_losses(Path(name), given)
    print(json.dumps(report, indent=2) if given.json else format_report(report))
    sys.exit(1 if any(report["faults"].values()) else 0)


def measure_losses(folder: Path, given: argparse.Namespace) -> dict[str, Any]:
    with contextlib.ExitStack() as stack:
        model = stack.enter_context(run_model_server(0.2, 0.15, 60, WORDS))
        chroma, vectors = stack.enter_context(run_chroma_server(folder))
        settings = {
            "ARGOT_MODEL_URL": model,
            **vectors,
            "ARGOT_DERIVE_IN_BACKGROUND": "off",
            "ARGOT_QUESTIONS_PER_MINUTE": "0",
            "ARGOT_QUESTIONS_AT_ONCE": "0",
            "ARGOT_WORKERS": "1" if given.engine == "postgresql" else "2",
        }
        targets: dict[str, tuple[Callable[[], None], Callable[[], None]]] = {"Chroma": (chroma.stop, chroma.start)}
        if given.engine == "postgresql":
            server, store = stack.enter_context(run_postgresql(folder))
            settings |= store
            targets["PostgreSQL"] = (server.stop, server.start)
        services, people = _start_services(folder, settings, given, stack)
        for number, service in enumerate(services):
            targets[f"service {number}"] = (service.kill, service.start)
        chosen = random.Random(given.seed)
        targets["answer worker"] = (lambda: kill_worker(chosen.choice(services), chosen), lambda: None)
        if given.engine == "postgresql":
            worker = JobWorker(_make_base(folder / "work"), settings)
            worker.start()
            stack.callback(worker.kill)
            targets["argot work"] = (worker.kill, worker.start)
        killer = Killer(targets, given.seed)
        with people.run_while():
            killer.run(given.kills, lambda text: print(text, file=sys.stderr, flush=True))
        _await_ready(services)
        return build_report(people.kept, killer, find_faults(people.kept, services[0], people.keys))


def _start_services(
    folder: Path, settings: dict[str, str], given: argparse.Namespace, stack: contextlib.ExitStack
) -> tuple[list[Service], People]:
    home = folder / "kb"
    os.environ.update({name: value for name, value in settings.items() if name != "ARGOT_MODEL_URL"})
    found = prepare_base(home, PEOPLE)
    # Everybody may write; otherwise only the first user could change documents.
    for number in range(PEOPLE):
        subprocess.run(
            [*ARGOT, "user", "roles", f"person{number}", "--role", "manager", "--home", str(home)],
            check=True,
            stdout=subprocess.DEVNULL,
        )
    services = [Service(home, settings)]
    if given.engine == "postgresql":
        services.append(Service(_make_base(folder / "kb2"), settings))
    for service in services:
        service.start()
        stack.callback(service.kill)
    return services, People(services, found["keys"], found["questions"][:12], given.seed)


def _await_ready(services: list[Service]) -> None:
    """Wait until every service is ready."""
    deadline = time.monotonic() + START_SECONDS
    for service in services:
        while time.monotonic() < deadline:
            with contextlib.suppress(httpx.HTTPError):
                if httpx.get(f"{service.url}/ready", timeout=10).is_success:
                    break
            time.sleep(0.3)
        else:
            raise SystemExit(f"{service.url} is not ready again:\n{''.join(service.said[-30:])}")


def _make_base(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


def build_report(kept: AcknowledgedWork, killer: Killer, found: dict[str, list[str]]) -> dict[str, Any]:
    return {
        "killed": dict(killer.done),
        "acknowledged": {
            "answers": len(kept.turns),
            "of the model": len(kept.written),
            "judgements": len(kept.judged),
            "documents": len(kept.documents),
            "terms": len(kept.terms),
        },
        "refused or broken off": dict(kept.failed),
        "faults": found,
    }


def format_report(report: dict[str, Any]) -> str:
    lines = [f"killed: {report['killed']}", f"acknowledged: {report['acknowledged']}"]
    lines.append(f"refused or broken off: {report['refused or broken off']}")
    for kind, found in report["faults"].items():
        lines.append(f"{kind}: {len(found)}")
        lines += [f"  {one[:400]}" for one in found[:10]]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
