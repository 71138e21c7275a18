"""How long a sync of a folder takes: the first, one that finds nothing, and one that finds a few changes.

    python bench/source_sync.py [--files 2000] [--changed 20] [--rounds 3]

Each file has a heading and three short paragraphs (about 700 characters) of its own words. The knowledge base is open
already; `add` is the same folder by `argot add` into another one, for comparison.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from argot.corpus.connectors.folder_connector import FolderConnector
from argot.corpus.connectors.listing import Patterns
from argot.corpus.connectors.source_store import SourceRecord, SourceStore
from argot.corpus.connectors.synchronisation import Synchronisation
from argot.corpus.corpus import Corpus, sources_in
from argot.settings import Settings

WORDS = ("valve", "seal", "pump", "rotor", "stator", "gauge", "flange", "bolt", "sensor", "relay", "filter", "nozzle")


def text(number: int, change: int = 0) -> str:
    chance = random.Random(number * 1000 + change)
    paragraphs = (" ".join(chance.choices(WORDS, k=32)).capitalize() + f" {number}." for _ in range(3))
    return f"# Part {number}\n\n" + "\n\n".join(paragraphs) + "\n"


def make(folder: Path, files: int) -> None:
    for number in range(files):
        path = folder / f"{number % 40:02}" / f"{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text(number), encoding="utf-8")


def sync(corpus: Corpus, record: SourceRecord, folder: Path) -> dict[str, int]:
    run = Synchronisation(corpus, record, lambda: FolderConnector(folder, Patterns()))
    for _ in run.run():
        pass
    return dict(run.counts)


def timed(work: Callable[[], object]) -> tuple[float, object]:
    began = time.perf_counter()
    result = work()
    return time.perf_counter() - began, result


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--changed", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "docs"
        make(folder, given.files)
        added = Corpus.open(Path(scratch) / "added", Settings())
        added.embedder.embed_queries(["warm"])
        by_add, _ = timed(lambda: list(added.add(sources_in([folder]))))
        again, _ = timed(lambda: list(added.add(sources_in([folder]))))
        added.close()
        corpus = Corpus.open(Path(scratch) / "kb", Settings())
        corpus.embedder.embed_queries(["warm"])
        record = SourceStore(corpus.store.database).add(SourceRecord("docs", "folder", str(folder), {}))
        first, counts = timed(lambda: sync(corpus, record, folder))
        print(f"add    {by_add:8.2f} s  (again {again:.2f} s)\nfirst  {first:8.2f} s  {counts}")
        nothing, few = [], []
        for turn in range(given.rounds):
            seconds, counts = timed(lambda: sync(corpus, record, folder))
            nothing.append(seconds)
            print(f"again  {seconds:8.2f} s  {first / seconds:6.0f} times as fast as the first  {counts}")
            for number in range(given.changed):
                path = folder / f"{number % 40:02}" / f"{number}.md"
                path.write_text(text(number, turn + 1), encoding="utf-8")
            time.sleep(0.1)
            seconds, counts = timed(lambda: sync(corpus, record, folder))
            few.append(seconds)
            print(f"few    {seconds:8.2f} s  {first / seconds:6.0f} times as fast as the first  {counts}")
        print(
            f"median: again {median(nothing):.3f} s, few {median(few):.3f} s, first {first:.1f} s, add {by_add:.1f} s"
        )
        corpus.close()


if __name__ == "__main__":
    main()
