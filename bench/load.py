"""Many conversations beside an ingest, on a model server of fixed speed: Argot, and a minimal application.

    python bench/load.py [--minutes 20] [--people 50] [--every 30] [--out docs/load.md]
    python bench/load.py --minutes 1 --blocks 1 --step-seconds 15    # a quick trial

Both applications (`argot serve`; `minimal_app.py`) answer the questions of the sample knowledge base over server-sent
events, and the model server is `model_stub.py`, whose delays are fixed. `--people` people each hold a conversation and
ask every `--every` seconds (`load_people.py`, driven by locust), while documents are added continuously. The
applications take turns in blocks; only one is asked, and given documents, at a time.

- own: the wait for the first word, minus the delays of the model server before it. It includes all that the application
  does with the question, its model client, and its wait for the processor.
- documents: the same documents are added repeatedly, changed each time, so that the size of the knowledge base stays
  the same. Argot frees the space of replaced vectors once they are more than the remaining ones, and at least 2,000.
  With `--new-documents` the documents are always new, and memory grows with them.
- memory: the resident memory of the service, and of the temporary processes that it starts, every ten seconds; the
  growth is the slope of a straight line through the second half.
- workers: with `--workers 0 1 2` Argot is measured once with each of these numbers of answer workers, each time with a
  copy of the knowledge base; their memory counts as that of helpers.
- services: with `--services 2` Argot is measured as two services on one PostgreSQL and one Chroma server, and people
  ask one or the other. Documents are added to the first.
- search: finally, without an ingest, the rate of questions rises until the 95th percentile of own exceeds `--limit`, or
  a question fails. The result is the highest rate below that.

The figures so far are written to `--out` after each block and each step of the search, and when the run is interrupted.
Run it on an idle machine: with the search it takes about an hour. It needs the extra `bench`.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from load_applications import (
    ARGOT_NAME,
    DOCUMENTS,
    HERE,
    Application,
    Sample,
    ingest_folder,
    prepare_base,
    run_argot_service,
    run_argot_services,
    run_minimal_service,
    run_model_server,
    write_documents,
)
from load_report import compute_percentile, describe_standing, format_value, list_own_times, report

SAMPLE_SECONDS = 10.0
PROGRESS_SECONDS = 30.0
RATES = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 12.0, 16.0, 24.0)
"""The rates of the search, in questions a second."""
SEARCH_EVERY = 10.0
HELPERS_SECONDS = 60.0
"""How long the search waits for processes that the ingest left running."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=20, help="for each application")
    parser.add_argument("--blocks", type=int, default=4, help="number of turns of each application")
    parser.add_argument("--workers", type=int, nargs="+", help="Argot with each of these numbers of answer workers")
    parser.add_argument("--services", type=int, help="also this many services on PostgreSQL and Chroma's server")
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--every", type=float, default=30, help="seconds between two questions of one person")
    parser.add_argument("--limit", type=float, default=300, help="milliseconds of own time, 95th percentile")
    parser.add_argument("--first", type=float, default=0.3, help="the model's delay before an answer's first token")
    parser.add_argument("--reply", type=float, default=0.15, help="the model's delay before a reply in JSON")
    parser.add_argument("--speed", type=float, default=60, help="the model's tokens a second")
    parser.add_argument("--tokens", type=int, default=0, help="tokens of an answer; 0: always the same short one")
    parser.add_argument("--step-seconds", type=float, default=40, help="for each rate of the search")
    parser.add_argument("--documents", type=int, default=5 * DOCUMENTS, help="how many documents are added repeatedly")
    parser.add_argument("--new-documents", action="store_true", help="add new documents instead")
    parser.add_argument("--no-search", action="store_true")
    parser.add_argument("--no-ingest", action="store_true")
    parser.add_argument("--only", choices=(ARGOT_NAME, "minimal"), help="measure only this application")
    parser.add_argument("--out", type=Path, help="write the tables here, too")
    arguments = parser.parse_args()
    if importlib.util.find_spec("locust") is None:
        parser.error("locust is not installed; get it with: pip install -e '.[bench]'")
    if not arguments.no_search and arguments.step_seconds < 1.5 * SEARCH_EVERY:
        parser.error(f"--step-seconds must be {1.5 * SEARCH_EVERY:g} or more: the first {SEARCH_EVERY:g} do not count")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the started processes are ended, too
    with tempfile.TemporaryDirectory(prefix="argot-load-") as scratch, ExitStack() as stack:
        Load(arguments, Path(scratch)).measure_load(stack)


class Load:
    def __init__(self, arguments: argparse.Namespace, scratch: Path) -> None:
        self.arguments = arguments
        self.scratch = scratch
        self.asked = 0
        self.folder = 0
        self.applications: list[Application] = []

    def measure_load(self, stack: ExitStack) -> None:
        say("building the sample knowledge base")
        home = self.scratch / "kb"
        people = prepare_base(home, self.arguments.people)
        arguments = self.arguments
        model = stack.enter_context(
            run_model_server(arguments.first, arguments.reply, arguments.speed, arguments.tokens)
        )
        for workers in self._list_worker_counts():
            say(f"starting {ARGOT_NAME}" + ("" if workers is None else f" with {workers} workers"))
            one = run_argot_service(self.scratch, home, model, people, workers)
            self.applications.append(stack.enter_context(one))
        if arguments.services:
            say(f"starting {ARGOT_NAME} as {arguments.services} services on PostgreSQL and Chroma's server")
            several = run_argot_services(self.scratch, model, arguments.people, arguments.services)
            self.applications.append(stack.enter_context(several))
        if arguments.only != ARGOT_NAME:
            say("starting minimal")
            self.applications.append(stack.enter_context(run_minimal_service(self.scratch, model, people)))
        done = "it was interrupted before the first block ended"
        try:
            for done in self._measure_steps():
                self._write(done)
            done = ""
        finally:
            print(self._write(done))

    def _list_worker_counts(self) -> list[int | None]:
        if self.arguments.only == "minimal" or (self.arguments.services and not self.arguments.workers):
            return []
        return self.arguments.workers or [None]

    def _measure_steps(self) -> Any:
        """Measure all blocks and steps; yield after each a description of the progress."""
        blocks = self.arguments.blocks
        seconds = self.arguments.minutes * 60 / blocks
        for block in range(blocks):
            for application in self.applications if block % 2 == 0 else self.applications[::-1]:
                say(f"block {block + 1} of {blocks}: {application.name}, {seconds:.0f} s")
                self._run_block(application, seconds)
                yield f"up to block {block + 1} of {blocks}, {application.name}"
        for application in () if self.arguments.no_search else self.applications:
            say(f"search: {application.name}, at most {len(RATES)} steps of {self.arguments.step_seconds:g} s")
            if not self.arguments.no_ingest:
                _wait_for_helpers(application)
            for rate in RATES:
                step = self._measure_step(application, rate)
                yield f"all blocks, and of the search up to {rate:g} a second, {application.name}"
                if not step["kept"]:
                    break

    def _write(self, done: str) -> str:
        """Write the report to the file, which is complete at any time, and return it."""
        text = report(self.arguments, self.applications, done)
        if out := self.arguments.out:
            draft = out.with_name(out.name + ".part")
            draft.write_text(text + "\n", encoding="utf-8")
            draft.replace(out)
        return text

    # -- a block ------------------------------------------------------------------------------------------------------

    def _run_block(self, application: Application, seconds: float) -> None:
        stop = threading.Event()
        answers = self._report_file()
        beside = [threading.Thread(target=self._watch_application, args=(application, answers, seconds, stop))]
        if not self.arguments.no_ingest:
            beside.append(threading.Thread(target=self._add_documents, args=(application, stop)))
        for thread in beside:
            thread.start()
        try:
            self._ask_questions(application, answers, self.arguments.people, self.arguments.every, seconds)
        finally:
            stop.set()
            for thread in beside:
                thread.join()
            application.answers += read_answers(answers)
            application.loaded += seconds

    def _watch_application(
        self, application: Application, answers: Path, seconds: float, stop: threading.Event
    ) -> None:
        began, told = time.monotonic(), 0.0
        while True:
            into = time.monotonic() - began
            if into <= seconds:
                at = application.loaded + into
                application.samples.append(Sample(at, into, *application.measure_memory()))
            if into - told >= PROGRESS_SECONDS:
                told = into
                when = f"{into:.0f} of {seconds:.0f} s" if into <= seconds else "waiting for the last answers"
                say(f"  {when}: {describe_standing(application, read_answers(answers))}")
            if stop.wait(SAMPLE_SECONDS):
                return

    def _add_documents(self, application: Application, stop: threading.Event) -> None:
        """Add documents for ever, one folder of twenty after the other."""
        folders = max(1, self.arguments.documents // DOCUMENTS)
        while not stop.is_set():
            number = self.folder if self.arguments.new_documents else self.folder % folders
            self.folder += 1
            folder = self.scratch / f"in-{number}"
            write_documents(folder)
            ingest_folder(application, folder, stop)

    # -- asking -------------------------------------------------------------------------------------------------------

    def _report_file(self) -> Path:
        self.asked += 1
        file = self.scratch / f"answers-{self.asked}.jsonl"
        file.touch()
        return file

    def _ask_questions(
        self, application: Application, answers: Path, people: int, every: float, seconds: float
    ) -> None:
        """Let this many people ask for this time; the outcome of each question is a line in the file."""
        application.require_alive()
        load = {
            **application.people,
            "urls": application.urls,
            "every": every,
            "first": self.arguments.first,
            "reply": self.arguments.reply,
            "report": str(answers),
            "seconds": seconds,
        }
        plan = answers.with_suffix(".plan")
        plan.write_text(json.dumps(load), encoding="utf-8")
        command = [sys.executable, "-m", "locust", "-f", str(HERE / "load_people.py"), "--headless", "--only-summary"]
        options = ["-u", str(people), "-r", str(people), "-t", f"{seconds:.0f}s", "--stop-timeout", "60"]
        asking = subprocess.run(
            [*command, *options, "--host", application.url],
            env={**os.environ, "LOAD": str(plan)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        application.require_alive()
        if not read_answers(answers):
            raise SystemExit(f"nobody asked {application.name} anything. locust said:\n{asking.stderr[-2000:]}")

    def _measure_step(self, application: Application, rate: float) -> dict[str, Any]:
        """Measure one rate of the search, without its first seconds, in which connections and threads start."""
        answers = self._report_file()
        people = max(1, round(rate * SEARCH_EVERY))
        self._ask_questions(application, answers, people, SEARCH_EVERY, self.arguments.step_seconds)
        asked = read_answers(answers)
        begun = min(one["at"] for one in asked) + SEARCH_EVERY
        own, errors = (
            list_own_times([one for one in asked if one["at"] > begun]),
            sum(bool(one["error"]) for one in asked),
        )
        p95 = compute_percentile(own, 95)
        kept = not errors and p95 is not None and p95 <= self.arguments.limit
        times = {"p50": compute_percentile(own, 50), "p95": p95}
        step = {"rate": rate, "answered": len(own), **times, "errors": errors, "kept": kept}
        application.search.append(step)
        say(f"  {rate:g} a second: own p95 {format_value(p95)} ms of {len(own)}, {errors} errors")
        return step


def _wait_for_helpers(application: Application) -> None:
    until = time.monotonic() + HELPERS_SECONDS
    while application.measure_memory()[1] and time.monotonic() < until:
        time.sleep(1)


def read_answers(answers: Path) -> list[dict[str, Any]]:
    """Return the complete lines written so far."""
    text = answers.read_text("utf-8")
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]


def say(text: str) -> None:
    print(time.strftime("%H:%M:%S"), text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
