"""The speed of an ingest and of searches, and the size of the result.

    python bench/ingest.py FOLDER            documents of your own
    python bench/ingest.py --made 2000       generated passages instead
    python bench/ingest.py --kills 50        kill the ingest at 50 moments, and compare with a run that was not killed

Prints one line of JSON per measure.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from argot.corpus.corpus import Corpus, Source
from argot.corpus.ingestion.sources import list_sources
from argot.settings import Settings, load_settings
from argot.types import Principal

ROOT = Principal("bench", sees_all=True)
PASSAGES_PER_DOCUMENT = 10


def print_measure(measure: str, **figures: Any) -> None:
    print(json.dumps({"measure": measure, **figures}), flush=True)


def make_sources(passages: int) -> Iterator[Source]:
    """Yield documents of ten subsections of 120 words, drawn from a vocabulary with natural word frequencies."""
    chance = random.Random(0)
    vocabulary = ["".join(chance.choices("aeioulnrstdmkp", k=chance.randint(3, 9))) for _ in range(20_000)]
    weights = [1 / (rank + 1) for rank in range(len(vocabulary))]
    for n in range(passages // PASSAGES_PER_DOCUMENT):
        parts = [f"# Document {n}"]
        for section in range(PASSAGES_PER_DOCUMENT):
            words = " ".join(chance.choices(vocabulary, weights, k=120))
            parts.append(f"## Section {section} of {n}\n\n{words}.")
        data = "\n\n".join(parts).encode()
        yield Source(f"made:///{n}.md", f"{n}.md", lambda data=data: data, len(data))  # type: ignore[misc]


def read_memory_mb() -> float:
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)


def measure_size_mb(folder: Path) -> float:
    return round(sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6, 1)


def measure_adding(corpus: Corpus, sources: list[Source]) -> None:
    started, processor, kinds = time.perf_counter(), time.process_time(), {}
    for event in corpus.add(sources):
        kinds[event.kind] = kinds.get(event.kind, 0) + 1
    seconds, processor = time.perf_counter() - started, time.process_time() - processor
    passages, vectors = corpus.store.count_passages(ROOT), sum(corpus.vectors.counts().values())
    print_measure(
        "add",
        seconds=round(seconds, 2),
        processor_seconds=round(processor, 2),  # without the readers' process; shows whether the machine was busy
        vectors=vectors,
        vectors_per_processor_second=round(vectors / processor, 1),
        documents=len(sources),
        passages=passages,
        documents_per_second=round(len(sources) / seconds, 1),
        passages_per_second=round(passages / seconds, 1),
        peak_memory_mb=read_memory_mb(),
        disk_mb=measure_size_mb(corpus.home),
        events=kinds,
    )
    started = time.perf_counter()
    list(corpus.add(sources))
    print_measure("add again", seconds=round(time.perf_counter() - started, 3))


def measure_searching(corpus: Corpus, repeats: int = 100) -> None:
    texts = [passage.text for document in corpus.store.documents(ROOT)[:20]
             for passage in corpus.store.passages_of(ROOT, document.id)]  # fmt: skip
    chance = random.Random(1)
    queries = [" ".join(chance.sample(chance.choice(texts).split(), 6)) for _ in range(repeats)]
    vectors = corpus.embedder.embed_passages(queries)  # embedded queries would be cached
    tasks = {
        "embed a query": lambda n: corpus.embedder.embed_queries([queries[n]]),
        "keyword search": lambda n: corpus.store.keyword_search(ROOT, queries[n], 50),
        "semantic search": lambda n: corpus.search_semantic(ROOT, "passage", vectors[n], 50),
        "phrase count": lambda n: corpus.store.phrase_count(ROOT, " ".join(queries[n].split()[:2])),
    }
    for name, task in tasks.items():
        times = []
        for n in range(repeats):
            started = time.perf_counter()
            task(n)
            times.append(1000 * (time.perf_counter() - started))
        print_measure(
            name, median_ms=round(statistics.median(times), 2), p95_ms=round(sorted(times)[int(0.95 * repeats)], 2)
        )


def measure_opening(home: Path, settings: Settings) -> None:
    program = (
        "import time, sys; started = time.perf_counter(); from pathlib import Path;"
        "from argot.settings import Settings; from argot.corpus.corpus import Corpus;"
        f"corpus = Corpus.open(Path({str(home)!r}), Settings(cache=Path({str(settings.cache)!r})));"
        "print(time.perf_counter() - started); corpus.close()"
    )
    seconds = [
        float(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout)
        for _ in range(3)
    ]
    print_measure("open, imports included", best_seconds=round(min(seconds), 2))


ADD_IN_CHILD = (
    "import sys; from pathlib import Path; from argot.corpus.corpus import Corpus;"
    " from argot.corpus.ingestion.sources import list_sources;"
    "from argot.settings import load_settings;"
    "corpus = Corpus.open(Path(sys.argv[1]), load_settings(threads=1));"
    "list(corpus.add(list_sources([Path(sys.argv[2])]))); corpus.close()"
)


def measure_kills(folder: Path, kills: int, work: Path, settings: Settings) -> None:
    """Kill the process at moments spread over the run; after each the next run must give the same knowledge base."""
    started = time.perf_counter()
    _add_in_child(work / "clean", folder)
    seconds, expected = time.perf_counter() - started, _read_contents(work / "clean", settings)
    same, missed = 0, 0
    for n in range(kills):
        home = work / f"killed{n}"
        while (finished := _run_and_kill(seconds * (n + 1) / (kills + 1), home, folder)) is not None:
            shutil.rmtree(home)  # it had finished before the kill: try again, earlier
            seconds, missed = min(seconds * 0.9, finished), missed + 1
        _add_in_child(home, folder)
        same += _read_contents(home, settings) == expected
        shutil.rmtree(home)
    print_measure("killed and run again", kills=kills, finished_before_the_kill=missed, equal_to_a_clean_run=same)


def _run_and_kill(seconds: float, home: Path, folder: Path) -> float | None:
    """Return None if the process was killed while it worked, else the seconds that it took to finish."""
    home.mkdir()
    started = time.perf_counter()
    child = subprocess.Popen([sys.executable, "-c", ADD_IN_CHILD, str(home), str(folder)])
    try:
        child.wait(seconds)
    except subprocess.TimeoutExpired:
        child.send_signal(signal.SIGKILL)
    return None if child.wait() == -signal.SIGKILL else time.perf_counter() - started


def _add_in_child(home: Path, folder: Path) -> None:
    subprocess.run([sys.executable, "-c", ADD_IN_CHILD, str(home), str(folder)], check=True)


def _read_contents(home: Path, settings: Settings) -> Any:
    """Return the ids of everything, vectors included, and whether the check finds a fault."""
    corpus = Corpus.open(home, settings)
    connection = corpus.store.database.connection()
    tables = ("documents", "revisions", "passages", "derived", "triples", "ledger", "vector_deletions")
    rows = [connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables]
    passages = connection.execute("SELECT n, id, text FROM passages ORDER BY n").fetchall()
    vectors = {name: corpus.vectors.ids(name) for name in corpus.vectors.counts()}
    problems = corpus.check()
    corpus.close()
    return rows, passages, vectors, problems, list(corpus.store.blobs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, help="documents to add")
    parser.add_argument("--made", type=int, default=0, metavar="PASSAGES", help="add generated passages instead")
    parser.add_argument("--kills", type=int, default=0, help="kill the ingest of FOLDER this many times")
    given = parser.parse_args()
    if not given.made and given.folder is None:
        parser.error("name a FOLDER, or give --made")
    settings = load_settings()
    with tempfile.TemporaryDirectory(prefix="argot-bench-") as work:
        if given.kills:
            measure_kills(given.folder, given.kills, Path(work), settings)
            return
        sources = list(make_sources(given.made) if given.made else list_sources([given.folder]))
        corpus = Corpus.open(Path(work) / "kb", settings)
        measure_adding(corpus, sources)
        measure_searching(corpus)
        corpus.close()
        measure_opening(Path(work) / "kb", settings)


if __name__ == "__main__":
    main()
