"""The time that syncs of a folder take: the first, one without changes, and one with a few changes.

    python bench/source_sync.py [--files 2000] [--changed 20] [--rounds 3]
    python bench/source_sync.py --folder DOCS --changed 100 --rounds 1

Without `--folder`, each file has a heading and three short paragraphs (about 700 characters) of random words. The
knowledge base is open already; `add` is the same folder added to another one as by `argot add`, for comparison. With
`--folder`, a copy of DOCS is read, a line is added to the changed files, and processor time, peak memory and the disk
space of the knowledge base are reported as well.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from argot.corpus.connectors.folder_connector import FolderConnector
from argot.corpus.connectors.listing import Patterns
from argot.corpus.connectors.source_store import SourceRecord, SourceStore
from argot.corpus.connectors.synchronisation import Synchronisation
from argot.corpus.corpus import Corpus
from argot.corpus.ingestion.sources import list_sources
from argot.settings import Settings

WORDS = ("valve", "seal", "pump", "rotor", "stator", "gauge", "flange", "bolt", "sensor", "relay", "filter", "nozzle")


def make_text(number: int, change: int = 0) -> str:
    chance = random.Random(number * 1000 + change)
    paragraphs = (" ".join(chance.choices(WORDS, k=32)).capitalize() + f" {number}." for _ in range(3))
    return f"# Part {number}\n\n" + "\n\n".join(paragraphs) + "\n"


def write_files(folder: Path, files: int) -> None:
    for number in range(files):
        path = folder / f"{number % 40:02}" / f"{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(make_text(number), encoding="utf-8")


def sync_folder(corpus: Corpus, record: SourceRecord, folder: Path) -> dict[str, int]:
    run = Synchronisation(corpus, record, lambda: FolderConnector(folder, Patterns()))
    for _ in run.run():
        pass
    return dict(run.counts)


def measure_time(work: Callable[[], object]) -> tuple[float, object]:
    began = time.perf_counter()
    result = work()
    return time.perf_counter() - began, result


def measure_synthetic(given: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "docs"
        write_files(folder, given.files)
        added = Corpus.open(Path(scratch) / "added", Settings())
        added.embedder.embed_queries(["warm"])
        by_add, _ = measure_time(lambda: list(added.add(list_sources([folder]))))
        again, _ = measure_time(lambda: list(added.add(list_sources([folder]))))
        added.close()
        corpus = Corpus.open(Path(scratch) / "kb", Settings())
        corpus.embedder.embed_queries(["warm"])
        record = SourceStore(corpus.store.database).add(SourceRecord("docs", "folder", str(folder), {}))
        first, counts = measure_time(lambda: sync_folder(corpus, record, folder))
        print(f"add    {by_add:8.2f} s  (again {again:.2f} s)\nfirst  {first:8.2f} s  {counts}")
        nothing, few = [], []
        for turn in range(given.rounds):
            seconds, counts = measure_time(lambda: sync_folder(corpus, record, folder))
            nothing.append(seconds)
            print(f"again  {seconds:8.2f} s  {first / seconds:6.0f} times as fast as the first  {counts}")
            for number in range(given.changed):
                path = folder / f"{number % 40:02}" / f"{number}.md"
                path.write_text(make_text(number, turn + 1), encoding="utf-8")
            time.sleep(0.1)
            seconds, counts = measure_time(lambda: sync_folder(corpus, record, folder))
            few.append(seconds)
            print(f"few    {seconds:8.2f} s  {first / seconds:6.0f} times as fast as the first  {counts}")
        print(
            f"median: again {median(nothing):.3f} s, few {median(few):.3f} s, first {first:.1f} s, add {by_add:.1f} s"
        )
        corpus.close()


def measure_folder(given: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory(dir=given.scratch) as scratch:
        folder, home = Path(scratch) / "docs", Path(scratch) / "kb"
        shutil.copytree(given.folder, folder)
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        print(f"{len(files)} files, {sum(path.stat().st_size for path in files) / 1e6:.0f} MB", flush=True)
        corpus = Corpus.open(home, Settings())
        record = SourceStore(corpus.store.database).add(SourceRecord("docs", "folder", str(folder), {}))

        def measure_sync(name: str) -> None:
            processor = os.times()
            seconds, counts = measure_time(lambda: sync_folder(corpus, record, folder))
            now = os.times()
            spent = sum(now[:4]) - sum(processor[:4])
            print(f"{name:6} {seconds:9.1f} s  {spent:9.1f} s of processor  {counts}", flush=True)

        measure_sync("first")
        for _ in range(given.rounds):
            measure_sync("again")
            for path in random.Random(1).sample(files, min(given.changed, len(files))):
                with path.open("a", encoding="utf-8") as file:
                    file.write("\n\nThis page was looked through once more.\n")
            measure_sync("few")
        corpus.close()
        disk = sum(path.stat().st_size for path in home.rglob("*") if path.is_file())
        peaks = [resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        print(f"disk {disk / 1e6:.0f} MB; peak {peaks[0] / 1e3:.0f} MB, of the largest child {peaks[1] / 1e3:.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--changed", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="a folder of documents to read instead of made ones")
    parser.add_argument("--scratch", type=Path, help="where the copy and the knowledge base go meanwhile")
    given = parser.parse_args()
    (measure_folder if given.folder else measure_synthetic)(given)


if __name__ == "__main__":
    main()
