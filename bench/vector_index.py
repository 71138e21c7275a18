"""The cost of a search by meaning in a folder and on a Chroma server.

    python bench/vector_index.py [--counts 10000 100000]

Both hold the same vectors: those of the sample documents, and for each count that many more, made from these by adding
noise. Both get the same queries, and take turns in going first. The server is `chroma run` on this machine. Times are
in milliseconds; `work` is the processor time of a search, including the server's, which is more reliable than wall time
on a busy machine. `alike` is the share of the first ten that both found.
"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import mean, quantiles

import httpx
import numpy as np

from argot.corpus.corpus import Corpus
from argot.corpus.index.chroma_server import ChromaServer, ServerAddress
from argot.corpus.index.embedded_index import FolderGenerations
from argot.corpus.index.server_index import ServerGenerations
from argot.corpus.index.vector_index import Generations, VectorIndex
from argot.corpus.ingestion.sources import list_sources
from argot.protocols import Vectors
from argot.settings import Settings
from argot.types import EVERYONE

SAMPLES = Path(__file__).parents[1] / "samples"
LIMIT = 50
NOISE = 0.5
"""Length of the noise that is added to a vector of length 1: their sum has a cosine of about 0.9 with it."""
WRITTEN = 2_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--counts", type=int, nargs="*", default=[10_000, 100_000])
    parser.add_argument("--searches", type=int, default=200)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, run_server(Path(name)) as (url, process):
        folder = Path(name)
        passages = embed_samples(folder / "kb")
        print(f"{'vectors':>8} {'':8} {'fill s':>7} {'p50':>7} {'p95':>7} {'work':>7} {'alike':>6}")
        for count in (len(passages), *given.counts):
            vectors = passages if count == len(passages) else add_noise(passages, count, seed=1)
            queries = add_noise(passages, given.searches, seed=2)
            compare(folder / str(count), url, process, vectors, queries)


def compare(folder: Path, url: str, process: int, vectors: Vectors, queries: Vectors) -> None:
    server = ChromaServer(ServerAddress.of(url), 60, "argot reindex")
    kept: dict[str, Generations] = {
        "folder": FolderGenerations(folder / "a"),
        "server": ServerGenerations(server, folder / "b"),
    }
    indexes = {name: one.make(one.unused_name([]), "bench") for name, one in kept.items()}
    filled = {name: fill(index, vectors) for name, index in indexes.items()}
    times, work, found = ask_indexes(indexes, process, queries)
    alike = mean(len(set(a) & set(b)) / len(a) for a, b in zip(found["folder"], found["server"], strict=True))
    for name, index in indexes.items():
        cuts = quantiles(times[name], n=20)
        said = f"{filled[name]:7.1f} {cuts[9]:7.1f} {cuts[18]:7.1f} {mean(work[name]):7.1f} {alike:6.3f}"
        print(f"{len(vectors):8,} {name:8} {said}", flush=True)
        index.close()
        kept[name].remove_others(None)
        kept[name].close()


def fill(index: VectorIndex, vectors: Vectors) -> float:
    """Fill the index; return the seconds that this took."""
    collection, begin = index.collection_name("passage", EVERYONE), time.perf_counter()
    for start in range(0, len(vectors), WRITTEN):
        some = vectors[start : start + WRITTEN]
        index.upsert(collection, {f"p{start + n}:0": row for n, row in enumerate(some)})
    return time.perf_counter() - begin


def ask_indexes(
    indexes: dict[str, VectorIndex], process: int, queries: Vectors
) -> tuple[dict[str, list[float]], dict[str, list[float]], dict[str, list[list[str]]]]:
    times: dict[str, list[float]] = {name: [] for name in indexes}
    work: dict[str, list[float]] = {name: [] for name in indexes}
    found: dict[str, list[list[str]]] = {name: [] for name in indexes}
    for index in indexes.values():
        index.search("passage", queries[0], [EVERYONE], LIMIT)  # loads the graph
    for turn, query in enumerate(queries):
        for name in sorted(indexes, reverse=bool(turn % 2)):
            begin, before = time.perf_counter(), sum_processor_seconds(process)
            ranked = indexes[name].search("passage", query, [EVERYONE], LIMIT)
            times[name].append((time.perf_counter() - begin) * 1000)
            work[name].append((sum_processor_seconds(process) - before) * 1000)
            found[name].append([item for item, _ in ranked[:10]])
    return times, work, found


def sum_processor_seconds(process: int) -> float:
    """Sum the processor seconds of this process and another, whose time is counted in hundredths of a second."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return time.process_time() + (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def add_noise(passages: Vectors, count: int, seed: int) -> Vectors:
    dice = np.random.default_rng(seed)
    noise = dice.normal(size=(count, passages.shape[1])).astype(np.float32)
    noise *= NOISE / np.linalg.norm(noise, axis=1, keepdims=True)
    made = passages[dice.integers(len(passages), size=count)] + noise
    rows: Vectors = (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)
    return rows


def embed_samples(home: Path) -> Vectors:
    """Return the vectors of the sample documents, shape (passages, dimensions)."""
    corpus = Corpus.open(home, Settings())
    for _ in corpus.add(list_sources([SAMPLES / "documents"])):
        pass
    name = corpus.vectors.collection_name("passage", EVERYONE)
    vectors: Sequence[Vectors] = list(corpus.vectors.get(name, corpus.vectors.ids(name)).values())
    corpus.close()
    return np.stack(vectors)


@contextmanager
def run_server(folder: Path) -> Iterator[tuple[str, int]]:
    """Run a server; yield its address and its process id."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-c", "from chromadb.cli.cli import app; app()", "run", "--host", "127.0.0.1"]
    command += ["--port", str(port), "--path", str(folder / "chroma")]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            url = f"http://127.0.0.1:{port}"
            while not _is_answering(url):
                assert process.poll() is None, "chroma run ended"
                time.sleep(0.1)
            yield url, process.pid
        finally:
            process.terminate()


def _is_answering(url: str) -> bool:
    try:
        return httpx.get(f"{url}/api/v2/heartbeat").is_success
    except httpx.TransportError:
        return False


if __name__ == "__main__":
    main()
