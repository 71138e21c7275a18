"""Somebody puts costly files into conversations: do others' questions, a manager's uploads and others' files go on?

    python bench/beside_files.py                     # about six minutes
    python bench/beside_files.py --seconds 20        # does it work?
    python bench/beside_files.py --attackers 4 --out beside.md

One `argot serve` over the sample knowledge base, without a language model. Some people ask a question every few
seconds, a manager uploads a small document every few seconds, and somebody puts a small file into a conversation: first
alone, then beside programs that do nothing but put files in, each for a person of its own. In one part the files are
made to cost much (`costly_files.py`, one after the other), in the other they are prose as long as a conversation takes.
In the last part a manager adds prose as long as twenty such files. It shows how long each waited, and the service's
memory at its worst.
"""

from __future__ import annotations

import argparse
import base64
import itertools
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from costly_files import FILES
from hostile import ask_as_people, compute_figures, prepare_base, repeat, run_together, say, start_application
from load_applications import ARGOT, measure_resident

COSTLY = (
    "md headings, 5 MB", "md short lines", "md instructions, 3 MB", "txt Chinese, 9 MB", "html open tags",
    "html attributes", "rst directives", "csv wide after narrow", "xlsx shared string", "docx runs",
    "docx tables in tables", "pptx shapes", "pdf forms in forms",
)  # fmt: skip
PROSE_CHARS = 1_500_000


@dataclass
class Part:
    """One part of the run: the seconds of everybody's work while `what` went on, and the outcome of the files."""

    what: str
    questions: list[Any] = field(default_factory=list)
    uploads: list[float] = field(default_factory=list)
    small_files: list[float] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    memory: float = 0.0


class Site:
    """A running service, as its users see it."""

    def __init__(self, home: Path, url: str, found: dict[str, Any], arguments: argparse.Namespace) -> None:
        self.home, self.url, self.found, self.arguments = home, url, found, arguments
        self.numbers = itertools.count()
        self.process = 0
        self.threads: dict[str, str] = {}

    def call(self, case: str, person: str | None = None, **parameters: Any) -> Any:
        from argot.service.transport.knowledge_base_client import connect
        from argot.settings import load_settings

        with connect(self.home, load_settings(home=self.home)) as client:
            return client.call(case, as_user=person, **parameters)

    def put_in(self, person: str, name: str, data: bytes) -> str:
        """Put a file into this person's conversation, and return the outcome."""
        from argot.errors import ArgotError

        try:
            if person not in self.threads:
                self.threads[person] = self.call("ask", person, question=self.found["questions"][0])["thread"]
            thread = self.threads[person]
            content = base64.b64encode(data).decode()
            self.call("thread_attach", person, thread=thread, name=name, content=content)
        except ArgotError as error:
            return f"refused: {error}"[:110]
        return "in"

    def upload(self, _: int) -> float:
        number = next(self.numbers)
        data = f"# Berth {number}\n\nBerth {number} takes ships of {number} metres.\n".encode()
        begun = time.perf_counter()
        self.call("upload", name=f"berth-{number}.md", data=base64.b64encode(data).decode())
        return time.perf_counter() - begun

    def make_small_file(self, _: int) -> float:
        number = next(self.numbers)
        begun = time.perf_counter()
        done = self.put_in("person0", "note.md", f"# Note {number}\n\nIt is about pier {number}.\n".encode())
        return time.perf_counter() - begun if done == "in" else float("inf")


def make_prose(chars: int, seed: int) -> bytes:
    chance = random.Random(seed)
    words = ["".join(chance.choices("aeioulnrstdmkp", k=chance.randint(3, 9))) for _ in range(5000)]
    sections = [f"## Section {n}\n\n{' '.join(chance.choices(words, k=150))}.\n\n" for n in range(chars // 1000)]
    return ("# Prose\n\n" + "".join(sections)).encode()[:chars]


def run_part(site: Site, what: str, doing: list[Callable[[float], list[str]]]) -> Part:
    """Measure what people waited for while all of `doing` was done until the time was up."""
    say(what)
    arguments, found = site.arguments, Part(what)
    until = time.time() + arguments.seconds
    keys, questions = site.found["keys"][: arguments.people], site.found["questions"]
    with watch_memory(site) as memory:
        workers: list[Callable[[], Any]] = [
            lambda: (
                found.questions.extend(ask_as_people(site.url, keys, questions, arguments.every, arguments.seconds))
                or []
            ),
            lambda: found.uploads.extend(repeat(site.upload, until, 5.0, 1.0)) or [],
            lambda: found.small_files.extend(repeat(site.make_small_file, until, 7.0, 2.0)) or [],
            *((lambda do=do: found.files.extend(do(until)) or []) for do in doing),
        ]
        run_together(workers)
    found.memory = max(memory)
    return found


@contextmanager
def watch_memory(site: Site) -> Iterator[list[float]]:
    sizes, done = [0.0], threading.Event()

    def watch() -> None:
        while not done.wait(0.25):
            sizes.append(measure_resident(site.process)[0] / 1e6)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield sizes
    finally:
        done.set()
        thread.join()


def measure_parts(arguments: argparse.Namespace, scratch: Path) -> list[Part]:
    say("making the costly files")
    costly = [(kind, FILES[kind][0], make_file(kind)) for kind in COSTLY]
    home = scratch / "kb"
    found = prepare_base(home, arguments.people + arguments.attackers)
    with start_application(
        "argot", [*ARGOT, "serve", "--home", str(home), "--port", "0"], home, {"ARGOT_MODEL_URL": ""}
    ) as app:
        site = Site(home, app.url, found, arguments)
        site.process = app.process.pid

        def make_attacker(place: int, files: Callable[[int], tuple[str, bytes]]) -> Callable[[float], list[str]]:
            def attack_until(until: float) -> list[str]:
                done = []
                for number in itertools.count():
                    if time.time() >= until:
                        return done
                    name, data = files(number * arguments.attackers + place)
                    done.append(f"{name}: {site.put_in(f'person{arguments.people + place}', name, data)}")
                return done

            return attack_until

        def make_costly_file(number: int) -> tuple[str, bytes]:
            kind, suffix, data = costly[number % len(costly)]
            return kind.replace(" ", "-") + suffix, data

        def make_long_file(number: int) -> tuple[str, bytes]:
            return "prose.md", make_prose(PROSE_CHARS, number)

        def upload_until(until: float) -> list[str]:
            data = base64.b64encode(make_prose(20 * PROSE_CHARS // 2, 0)).decode()
            threading.Thread(target=lambda: site.call("upload", name="prose.md", data=data), daemon=True).start()
            return ["begun"]

        run_part(site, "warming up", [])
        return [
            run_part(site, "alone", []),
            run_part(
                site, "beside costly files", [make_attacker(n, make_costly_file) for n in range(arguments.attackers)]
            ),
            run_part(site, "beside long prose", [make_attacker(n, make_long_file) for n in range(arguments.attackers)]),
            run_part(site, "beside a manager's long prose", [upload_until]),
        ]


def make_file(kind: str) -> bytes:
    file = Path(__file__).with_name("costly_files.py")
    return subprocess.check_output([sys.executable, str(file), "--make", kind])


def report(parts: list[Part]) -> str:
    lines = [
        "| | questions | failed | p50 ms | p95 ms | uploads | worst s | small files | worst s | service MB |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for one in parts:
        half, most = compute_figures(one.questions)
        failed = sum(reply.status != 200 for reply in one.questions)
        shown = [len(one.questions), failed, f"{half:.0f}", f"{most:.0f}"]
        for waits in (one.uploads, one.small_files):
            shown += [len(waits), f"{max(waits, default=0):.1f}"]
        lines.append(f"| {one.what} | {' | '.join(map(str, shown))} | {one.memory:.0f} |")
    lines += ["", *(f"- {one.what}: {text}" for one in parts for text in one.files)]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").splitlines()[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60, help="for each of the five parts")
    parser.add_argument("--people", type=int, default=8)
    parser.add_argument("--every", type=float, default=4, help="seconds between two questions of a person")
    parser.add_argument("--attackers", type=int, default=2)
    parser.add_argument("--out", type=Path, help="write the tables here, too")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="argot-beside-") as scratch:
        text = report(measure_parts(arguments, Path(scratch)))
    print(text)
    if arguments.out:
        arguments.out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
