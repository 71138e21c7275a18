"""The time that the reader takes for new and for cached passages, and the memory that the cache takes.

    python bench/reader.py [--passages 20] [--words 150] [--rounds 9] [--threads 0]

Passages are random sections of the sample documents, so that none is cached. Wall time is the asker's wait on an idle
machine; processor time is the cost of reading, also on a busy machine. The shortest round is closest to the cost of
reading alone.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import numpy as np

from argot.settings import load_settings
from argot.tools.retrieval.reader_scorer import ReaderScorer
from argot.tools.retrieval.scorer_choice import load_scorer
from argot.tools.retrieval.token_vectors import TokenVectors

QUESTIONS = ("How long does the training take?", "Who approves an exception?", "What is the limit for poles?")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--passages", type=int, default=20)
    parser.add_argument("--words", type=int, default=150)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, default=0, help="0: as many as there are processors")
    given = parser.parse_args()
    reader = load_scorer(load_settings(reranker="reader", threads=given.threads))
    assert isinstance(reader, ReaderScorer)
    documents = Path(str(resources.files("argot.samples"))) / "documents"
    words = " ".join(path.read_text("utf-8") for path in sorted(documents.rglob("*.md"))).split()
    chance = random.Random(7)
    unread: list[tuple[float, float]] = []
    remembered: list[tuple[float, float]] = []
    kept: list[TokenVectors] = []
    for number in range(given.rounds):
        starts = [chance.randrange(len(words) - given.words) for _ in range(given.passages)]
        texts = [" ".join(words[start : start + given.words]) for start in starts]
        first, second = (QUESTIONS[(number + turn) % len(QUESTIONS)] for turn in range(2))
        unread.append(measure_time(lambda first=first, texts=texts: reader.score(first, texts)))
        remembered.append(measure_time(lambda second=second, texts=texts: reader.score(second, texts)))
        kept += reader.read_texts(texts)
    print(f"{given.passages} passages of {given.words} words, {given.rounds} rounds; milliseconds")
    print(f"tokens a passage: {statistics.mean(len(one.ids) for one in kept):.0f}")
    print(format_row("unread", unread))
    print(format_row("remembered", remembered))
    print(f"memory: {statistics.mean(map(measure_size, kept)) * 1000 / 1e6:.0f} MB for 1000 passages")


def measure_time(work: Callable[[], object]) -> tuple[float, float]:
    wall, processor = time.perf_counter(), time.process_time()
    work()
    return 1000 * (time.perf_counter() - wall), 1000 * (time.process_time() - processor)


def format_row(name: str, times: list[tuple[float, float]]) -> str:
    wall, processor = ([one[place] for one in times] for place in range(2))
    least, median = (f"{min(one):.0f} least, {statistics.median(one):.0f} median" for one in (wall, processor))
    return f"{name}: {least}; of the processors {median}"


def measure_size(one: TokenVectors) -> int:
    parts: tuple[np.ndarray, ...] = (one.levels, one.scales, one.weights, one.spans, one.ids)  # type: ignore[type-arg]
    return sum(part.nbytes for part in parts)


if __name__ == "__main__":
    main()
