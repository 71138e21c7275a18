"""The time that a command and a question take, and its parts. This is a measurement on one machine, not a test.

    python bench/startup.py [--home DIR] [--runs 5] [--questions 40]

Without --home the sample knowledge base is built in a temporary folder. Cold: a process of its own, from start to end
(the files are in the system's cache, as on a machine in use). Service: until its window is sent; the first start makes
a new sample knowledge base, as `make chat` does: a copy, if `python -m argot.service.operations.sample_preparation` was
run with the same code and settings. Warm: in one process, after one question. Processor time is of all threads and
child processes, and more reliable than wall time on a busy machine.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import defaultdict
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from argot.service.identity.people import make_local_principal
from argot.service.knowledge_base import KnowledgeBase
from argot.service.operations.sample_base import build
from argot.service.usecases import catalogue
from argot.settings import load_settings

QUESTION = "What is the height limit for poles?"


def main() -> None:
    os.environ["LC_ALL"] = "C.UTF-8"  # a service says in the language of the terminal that it is open
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--home", type=Path, help="a knowledge base (its threads grow by the questions asked)")
    parser.add_argument("--runs", type=int, default=5, help="cold runs of each command")
    parser.add_argument("--questions", type=int, default=40, help="warm questions")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        home = arguments.home or Path(scratch) / "kb"
        if not arguments.home:
            began = time.perf_counter()
            print(
                f"sample knowledge base: {build(home, load_settings(home=home))}, {time.perf_counter() - began:.1f} s"
            )
        print(f"load of the machine before: {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors\n")
        measure_cold(home, arguments.runs)
        report_cold_parts(home)
        measure_service("first start", [Path(scratch) / f"new{number}" for number in range(arguments.runs)])
        measure_service("restart", [home] * arguments.runs)
        asyncio.run(measure_warm(home, arguments.questions))


def measure_cold(home: Path, runs: int) -> None:
    for words in (["--help"], ["glossary", "list"], ["list"], ["ask", QUESTION]):
        command = [*words, *([] if words == ["--help"] else ["--home", str(home)])]
        _run_command(command)  # writes the compiled modules
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = [_run_command(command) for _ in range(runs)]
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        work = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / runs
        print(
            f"cold argot {words[0]:<9} median {statistics.median(seconds):.2f} s, worst {max(seconds):.2f} s,"
            f" of it processor time {work:.2f} s"
        )


def _run_command(words: Sequence[str]) -> float:
    began = time.perf_counter()
    # With compiled modules, as installed: without them each process compiles hundreds of our modules again.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(
        [sys.executable, "-m", "argot.ui.cli.main", *words], check=True, capture_output=True, env=environment
    )
    return time.perf_counter() - began


STEPS = """
import sys, time
began = last = time.perf_counter()
steps = []
def step(name):
    global last
    now = time.perf_counter()
    steps.append((name, now - last))
    last = now
import argot.ui.cli.main; step("import the command line")
from pathlib import Path
from argot.settings import load_settings
settings = load_settings(home=Path(sys.argv[1])); step("import and read settings")
from argot.service.usecases.questions.questions import ask
from argot.service.transport.knowledge_base_client import connect
client = connect(settings.home, settings); step("open: lock, check of the stores")
import chromadb_rust_bindings; step("import chromadb_rust_bindings")
import onnxruntime, tokenizers; step("import onnxruntime, tokenizers")
client.kb.corpus; step("open corpus, vectors, embedder")
client.kb.glossary; step("open glossary")
import langgraph.graph, langgraph.checkpoint.sqlite.aio; step("import langgraph")
import argot.graph.run, argot.graph.run_context; step("import the journey")
result = client.call(ask, question=sys.argv[2]); step("the first question")
client.__exit__(None, None, None); step("close")
import json
print(json.dumps(steps))
"""


def report_cold_parts(home: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", STEPS, str(home), QUESTION], check=True, capture_output=True, text=True
    )
    steps = json.loads(done.stdout.splitlines()[-1])
    print(f"\nwhere a cold question goes ({sum(seconds for _, seconds in steps):.2f} s after Python's own start)")
    for name, seconds in steps:
        print(f"  {name:<36} {seconds * 1000:6.0f} ms")


def measure_service(name: str, homes: Sequence[Path]) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    words, windows = zip(*(_start_service(home) for home in homes), strict=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    work = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / len(homes)
    print(
        f"service, {name:<11} first words median {statistics.median(words):.2f} s, window"
        f" {statistics.median(windows):.2f} s, worst {max(windows):.2f} s; processor time until its end {work:.2f} s"
    )


def _start_service(home: Path) -> tuple[float, float]:
    """Return the seconds until a service says something, and until it sends its window; then stop it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    began = time.perf_counter()
    service = subprocess.Popen(
        [sys.executable, "-m", "argot.ui.cli.main", "serve", "--samples", "--home", str(home), "--port", str(port)],
        stderr=subprocess.PIPE,
        env=environment,
    )
    assert service.stderr
    try:
        service.stderr.readline()
        words = time.perf_counter() - began
        for line in service.stderr:
            if b"is open at" in line:
                break
        request = urllib.request.Request(f"http://localhost:{port}/", headers={"Accept": "text/html"})
        with urllib.request.urlopen(request, timeout=60) as window:
            window.read()
        return words, time.perf_counter() - began
    finally:
        service.terminate()
        service.communicate()


async def measure_warm(home: Path, count: int) -> None:
    questions = _load_questions(count)
    took: list[float] = []
    stages: dict[str, list[float]] = defaultdict(list)
    async with KnowledgeBase.open(home, load_settings(home=home)) as kb:
        await catalogue.get_result(kb, make_local_principal(), "ask", question=QUESTION)
        work = time.process_time()
        for question in questions:
            began = time.perf_counter()
            result: dict[str, Any] = await catalogue.get_result(kb, make_local_principal(), "ask", question=question)
            took.append(time.perf_counter() - began)
            for stage, seconds in result["timings"].items():
                stages[stage].append(seconds)
        work = (time.process_time() - work) / len(questions) * 1000
    took.sort()
    p50, p95 = _compute_percentile(took, 50), _compute_percentile(took, 95)
    print(f"\nwarm: {len(took)} questions, p50 {p50:.0f} ms, p95 {p95:.0f} ms, processor time {work:.0f} ms each")
    for stage, seconds in sorted(stages.items(), key=lambda item: -sum(item[1])):
        print(f"  {stage:<20} mean {statistics.mean(seconds) * 1000:6.1f} ms over {len(seconds)}")
    rest = sum(took) - sum(map(sum, stages.values()))
    print(f"  {'checkpoints and rest':<20} mean {rest / len(took) * 1000:6.1f} ms")


def _load_questions(count: int) -> list[str]:
    lines = resources.files("argot.samples").joinpath("questions.jsonl").read_text(encoding="utf-8").splitlines()
    entries = [json.loads(line) for line in lines]
    return [entry["question"] for entry in entries if entry["split"] == "validation"][:count]


def _compute_percentile(values: Sequence[float], percent: int) -> float:
    return values[min(len(values) - 1, len(values) * percent // 100)] * 1000


if __name__ == "__main__":
    main()
