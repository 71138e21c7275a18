"""The memory growth of a service to which documents are added continuously, by suspect.

    python bench/memory.py [--rounds 30] [--questions 20] [--out memory.md]
    python bench/memory.py --rounds 6 --documents 10     # a quick trial
    python bench/memory.py --questions 0                 # documents alone
    python bench/memory.py --documents 0                 # questions alone

`argot serve` runs with the sample knowledge base and without a model server. In each round the same documents are added
through its socket, changed each time, while questions are asked one after the other. Vectors of passages are generated
by a hash of the text instead of embedded, since a round would otherwise take minutes. Their number and length are the
same. Embedding happens in a process of its own, which would not count here, and the search results do not matter.

After each round the service measures itself:

- resident: the process's resident memory, as the system counts it; private: the part that no other process shares.
- C heap, used and free: of glibc's malloc, all arenas together (Chroma, SQLite, texts). Free memory was returned to the
  system only in part.
- small objects: Python's own allocator. SQLite: pages that the connections keep (part of the C heap).
- caches: entries in all caches (`lru_cache`, `SizedCache`); all are bounded, so this must level off.
- vectors gone: deleted vectors whose space is still occupied, until they are at least 2,000 and more than the remaining
  ones.

The growth is the slope of a straight line through the second half of the rounds, per thousand replaced passages. A
round takes about ten seconds. The benchmark measures memory, not time.
"""

from __future__ import annotations

import argparse
import ctypes
import ctypes.util
import functools
import gc
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

PASSAGES = 10
"""Passages of each document."""
START_SECONDS = 180.0


class Suspect(NamedTuple):
    """A row of the table: the name of the measurement, its title, and its unit."""

    name: str
    title: str
    unit: float = 1e6


SUSPECTS = (
    Suspect("resident", "resident, MB"),
    Suspect("private", "private, MB"),
    Suspect("used", "C heap, used, MB"),
    Suspect("free", "C heap, free, MB"),
    Suspect("small", "small objects, MB"),
    Suspect("sqlite", "SQLite, MB"),
    Suspect("logs", "write-ahead logs on disk, MB"),
    Suspect("arenas", "arenas", 1),
    Suspect("caches", "caches, entries", 1),
    Suspect("gone", "vectors gone", 1),
    Suspect("objects", "objects the collector knows, thousands", 1e3),
    Suspect("threads", "threads", 1),
    Suspect("files", "open files", 1),
)


def main() -> None:
    os.environ["LC_ALL"] = "C.UTF-8"  # a service says in the language of the terminal that it is open
    if sys.argv[1:2] == ["--serve"]:
        serve_measured(Path(sys.argv[2]))
        return
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").splitlines()[0],
        epilog="examples: memory.py --questions 0 (documents alone); memory.py --documents 0 (questions alone)",
    )
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--documents", type=int, default=60, help=f"of {PASSAGES} passages, in each round")
    parser.add_argument("--questions", type=int, default=20, help="in each round")
    parser.add_argument("--out", type=Path, help="write the table here, too")
    arguments = parser.parse_args()
    if arguments.rounds < 6:
        parser.error("--rounds must be 6 or more: the growth is that of the second half")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the service is ended then, too
    with tempfile.TemporaryDirectory(prefix="argot-memory-") as scratch:
        run_rounds(arguments, Path(scratch))


def run_rounds(arguments: argparse.Namespace, scratch: Path) -> None:
    from argot.service.operations.sample_base import build
    from argot.settings import load_settings

    home = scratch / "kb"
    say("building the sample knowledge base")
    build(home, load_settings(home=home, model_url=""))
    samples: list[tuple[int, dict[str, float]]] = []
    with start_service(home) as service:
        for number in range(arguments.rounds + 1):
            run_round(arguments, home, scratch / "documents", number)
            replaced = number * arguments.documents * PASSAGES
            samples.append((replaced, service.read_measurement()))
            found = samples[-1][1]
            sizes = f"resident {found['resident'] / 1e6:.0f} MB, C heap free {found['free'] / 1e6:.0f} MB"
            say(f"round {number} of {arguments.rounds}: {replaced:,} passages replaced, {sizes}")
            text = format_table(arguments, samples)
            if arguments.out:
                arguments.out.write_text(text + "\n", encoding="utf-8")
    print(text)


def run_round(arguments: argparse.Namespace, home: Path, folder: Path, number: int) -> None:
    """Add the documents, and ask the questions at the same time."""
    asking = threading.Thread(target=ask, args=(home, arguments.questions, number * arguments.questions))
    asking.start()
    if arguments.documents:
        write_documents(folder, arguments.documents, number)
        from argot.service.usecases.documents import documents

        with open_client(home) as service:
            added = service.call(documents.add, paths=[str(folder)])
        if added.added + added.updated != arguments.documents:
            raise SystemExit(f"not all documents went in: {added}")
    asking.join()


def ask(home: Path, count: int, start: int) -> None:
    from importlib import resources

    from argot.service.usecases.questions import questions

    lines = resources.files("argot.samples").joinpath("questions.jsonl").read_text("utf-8").splitlines()
    with open_client(home) as service:
        for number in range(start, start + count):
            service.call(questions.ask, question=json.loads(lines[number % len(lines)])["question"])


@contextmanager
def open_client(home: Path) -> Iterator[Any]:
    from argot.service.transport.knowledge_base_client import connect
    from argot.settings import load_settings

    with connect(home, load_settings(home=home, model_url="")) as opened:
        yield opened


def write_documents(folder: Path, count: int, number: int) -> None:
    """Write the same documents in every round, with different words."""
    folder.mkdir(exist_ok=True)
    for document in range(count):
        sections = [f"# Report {number}-{document}\n"]
        for section in range(PASSAGES):
            line = f"Valve {number * 31 + section} of line {document} was set to {section * document % 17} bar."
            sections.append(f"## Section {section}\n\n" + " ".join(f"{line} Entry {entry}." for entry in range(12)))
        (folder / f"report-{document}.md").write_text("\n\n".join(sections), encoding="utf-8")


def format_table(arguments: argparse.Namespace, samples: Sequence[tuple[int, dict[str, float]]]) -> str:
    """Format the table; "first" is after the first round. Without documents the growth is per thousand questions."""
    per = "thousand passages" if arguments.documents else "thousand questions"
    steps = [
        replaced / 1000 if arguments.documents else n * arguments.questions / 1000
        for n, (replaced, _) in enumerate(samples)
    ]
    lines = [
        f"{samples[-1][0]:,} passages replaced, {(len(samples) - 1) * arguments.questions} questions asked; "
        f"{os.cpu_count()} processors.",
        "",
        f"| | first | half-way | last | growth for a {per} |",
        "|---|--:|--:|--:|--:|",
    ]
    first, middle, last = (samples[place][1] for place in (min(1, len(samples) - 1), len(samples) // 2, -1))
    for one in SUSPECTS:
        form = ".1f" if one.unit > 1 else ",.0f"
        figures = [format(sample[one.name] / one.unit, form) for sample in (first, middle, last)]
        half = len(samples) // 2
        slope = format_growth(steps[half:], [sample[one.name] / one.unit for _, sample in samples[half:]])
        lines.append(f"| {one.title} | {' | '.join(figures)} | {slope} |")
    return "\n".join(lines)


def format_growth(steps: Sequence[float], sizes: Sequence[float]) -> str:
    """Format the growth: the slope of a straight line by least squares."""
    if len(steps) < 3:
        return "-"
    return f"{round(np.polyfit(steps, sizes, 1)[0], 2) + 0.0:.2f}"


def say(text: str) -> None:
    print(f"[{time.strftime('%H:%M:%S')}] {text}", file=sys.stderr, flush=True)


# -- the service ------------------------------------------------------------------------------------------------------


class Service:
    """`argot serve`, in a process that measures itself whenever it reads a line."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def read_measurement(self) -> dict[str, float]:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("the service has ended")
        found: dict[str, Any] = json.loads(line)
        if "failed" in found:
            raise SystemExit(f"the service could not measure itself: {found['failed']}")
        return found


@contextmanager
def start_service(home: Path) -> Iterator[Service]:
    command = [sys.executable, __file__, "--serve", str(home)]
    piped = subprocess.PIPE
    with subprocess.Popen(command, stdin=piped, stdout=piped, stderr=piped, text=True) as process:
        assert process.stderr
        late = threading.Timer(START_SECONDS, process.kill)
        late.start()
        said: deque[str] = deque(maxlen=30)
        for line in process.stderr:
            said.append(line)
            if " is open at " in line:
                break
        else:
            raise SystemExit(f"the service did not start:\n{''.join(said)}")
        late.cancel()
        threading.Thread(target=said.extend, args=(process.stderr,), daemon=True).start()
        try:
            yield Service(process)
        finally:
            process.terminate()


def serve_measured(home: Path) -> None:
    """Serve as `argot serve` does, except for the vectors, and measure when asked."""
    from argot.corpus.embedding.embedding_process import BackgroundEmbedder
    from argot.service.observability import process_memory
    from argot.settings import load_settings
    from argot.ui.server import serve

    settle = process_memory.freeze_start_up

    def settle_and_measure() -> None:
        _remember()
        settle()

    def draw_vectors(self: BackgroundEmbedder, texts: Sequence[str], progress: object = None) -> Any:
        return np.stack([_draw_vector(text, self.dimensions) for text in texts])

    def answer() -> None:
        for _ in sys.stdin:
            try:
                print(json.dumps(take_measurement(home)), flush=True)
            except Exception as error:  # the benchmark waits for a line
                print(json.dumps({"failed": repr(error)}), flush=True)
        os.kill(os.getpid(), signal.SIGTERM)  # the benchmark is gone

    BackgroundEmbedder.embed_passages = draw_vectors  # type: ignore[method-assign]
    process_memory.freeze_start_up = settle_and_measure
    threading.Thread(target=answer, daemon=True).start()
    serve(home, load_settings(home=home, port=0, model_url="", questions_per_minute=0))


def _draw_vector(text: str, dimensions: int) -> Any:
    seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
    vector = np.random.default_rng(seed).normal(size=dimensions).astype(np.float32)
    return vector / np.linalg.norm(vector)


# -- measuring --------------------------------------------------------------------------------------------------------


_known: weakref.WeakSet[Any] = weakref.WeakSet()
"""Caches and vector indexes that existed when start-up ended, or were seen since."""


class _Mallinfo(ctypes.Structure):
    """glibc's struct mallinfo2."""

    _fields_ = [
        *((name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd")),
        *((name, ctypes.c_size_t) for name in ("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")),
    ]


def take_measurement(home: Path) -> dict[str, float]:
    """Return figures by the names of `SUSPECTS`; nan for those that this system does not provide."""
    return {
        **_measure_system(),
        **_measure_heap(),
        **_count_known_objects(),
        "small": _measure_small_objects(),
        "sqlite": _measure_sqlite(),
        "logs": sum(log.stat().st_size for log in home.rglob("*-wal")),
    }


def _measure_system() -> dict[str, float]:
    rollup = Path("/proc/self/smaps_rollup").read_text("ascii")
    sizes = {name: int(kib) * 1024 for name, kib in re.findall(r"^(\w+):\s+(\d+) kB", rollup, re.MULTILINE)}
    return {
        "resident": sizes["Rss"],
        "private": sizes["Private_Clean"] + sizes["Private_Dirty"],
        "threads": sum(1 for _ in Path("/proc/self/task").iterdir()),
        "files": sum(1 for _ in Path("/proc/self/fd").iterdir()),
    }


def _measure_heap() -> dict[str, float]:
    """Return malloc's used and free memory, including separately mapped blocks, and the number of arenas."""
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "mallinfo2"):
        return dict.fromkeys(("used", "free", "arenas"), float("nan"))
    libc.mallinfo2.restype = _Mallinfo
    found = libc.mallinfo2()
    return {"used": found.uordblks + found.hblkhd, "free": found.fordblks, "arenas": _count_arenas(libc)}


def _count_arenas(libc: Any) -> int:
    text, size = ctypes.c_char_p(), ctypes.c_size_t()
    libc.open_memstream.restype = ctypes.c_void_p
    stream = ctypes.c_void_p(libc.open_memstream(ctypes.byref(text), ctypes.byref(size)))
    libc.malloc_info(0, stream)
    libc.fclose(stream)
    count = (text.value or b"").count(b"<heap nr")
    libc.free(text)
    return count


def _measure_small_objects() -> float:
    """Return the bytes in arenas of Python's allocator, which reports them only on C's standard error."""
    with tempfile.TemporaryFile() as told:
        kept = os.dup(2)
        os.dup2(told.fileno(), 2)
        try:
            sys._debugmallocstats()  # type: ignore[attr-defined]
        finally:
            os.dup2(kept, 2)
            os.close(kept)
        told.seek(0)
        found = re.search(rb"(\d+) arenas \* (\d+) bytes/arena", told.read())
    return int(found[1]) * int(found[2]) if found else float("nan")


def _measure_sqlite() -> float:
    """Return the memory used by Python's SQLite library; Chroma has another one."""
    name = ctypes.util.find_library("sqlite3")
    if name is None:
        return float("nan")
    library = ctypes.CDLL(name)
    library.sqlite3_memory_used.restype = ctypes.c_longlong
    used: int = library.sqlite3_memory_used()
    return used


def _count_known_objects() -> dict[str, float]:
    from argot.corpus.fifo_cache import SizedCache
    from argot.corpus.index.embedded_index import EmbeddedIndex

    _remember()
    indexes = [one for one in _known if isinstance(one, EmbeddedIndex)]
    kept = [one for one in _known if isinstance(one, SizedCache)]
    remembering = [one for one in _known if isinstance(one, functools._lru_cache_wrapper)]
    return {
        "objects": len(gc.get_objects()) + gc.get_freeze_count(),
        "caches": sum(one.cache_info().currsize for one in remembering) + sum(len(one._entries) for one in kept),
        "gone": sum(one.gone for one in indexes if not one._closed),
    }


def _remember() -> None:
    """Remember the objects to measure, among all that the garbage collector lists: it does not list frozen ones."""
    from argot.corpus.fifo_cache import SizedCache
    from argot.corpus.index.embedded_index import EmbeddedIndex

    wanted = (functools._lru_cache_wrapper, SizedCache, EmbeddedIndex)
    for one in gc.get_objects():
        if type(one) in wanted:  # not isinstance: Chainlit's proxies raise errors
            _known.add(one)


if __name__ == "__main__":
    main()
