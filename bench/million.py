"""The cost of a question's retrieval among 10 thousand, 100 thousand and a million passages.

    python bench/million.py --keep FOLDER [--counts 10000 100000 1000000] [--questions 100] [--servers]

Corpora that are not yet in the folder are made first (`bench/million_corpora.py`; a million takes an hour and 9 GB).
They are measured in the folder or, with `--servers`, copied to a PostgreSQL and a Chroma server that are started for
this (`bench/million_servers.py`). Searches run as in the graph: `hybrid_search` over a `Corpus`, by somebody who sees
all, by a member of one group, and by the former within a tag of half of the documents, a tag of a hundredth, a field of
a twentieth, and one document.

Times are in milliseconds. `work` is the processor time of this process, which is more reliable than wall time on a busy
machine. `recall`: the share of the exact first ten that a search finds.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import mean, median, quantiles
from typing import Any

import numpy as np
from keyword_engines import load_questions
from million_corpora import (
    AUDIENCES,
    GROUP_NAMES,
    IN_DOCUMENT,
    Draw,
    choose_audience,
    find_home,
    hash_id,
    make_drawn_vectors,
    make_rows,
    make_vectors,
    make_words,
    read_fingerprint,
)
from million_servers import open_on_servers

from argot.corpus.corpus import Corpus
from argot.profile import Profile
from argot.protocols import Vectors
from argot.service.observability.process_memory import freeze_start_up
from argot.settings import Settings
from argot.tools.retrieval.hybrid_search import WeightedQuery, hybrid_search
from argot.types import ALL_DOCUMENTS, DocumentField, Principal, QuestionScope

ROOT = Principal("root", sees_all=True)
MEMBER = Principal("mia", frozenset({GROUP_NAMES[2]}))
LIMIT = 10
Asked = tuple[str, Principal, QuestionScope, Sequence[str]]
SCOPES: tuple[Asked, ...] = (
    ("all", ROOT, ALL_DOCUMENTS, ()),
    ("one group", MEMBER, ALL_DOCUMENTS, ()),
    ("tag of a half", ROOT, QuestionScope(tags=("half",)), ()),
    ("tag of 1 %", ROOT, QuestionScope(tags=("percent",)), ()),
    ("field of 5 %", ROOT, QuestionScope(fields=(DocumentField("product", "product 3"),)), ()),
    ("one document", ROOT, ALL_DOCUMENTS, (hash_id("d", 7),)),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, required=True, help="the folder of the corpora")
    parser.add_argument("--counts", type=int, nargs="*", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--only", nargs="*", help=f"of the scopes: {', '.join(name for name, *_ in SCOPES)}")
    parser.add_argument("--servers", action="store_true", help="PostgreSQL and a Chroma server, not the folder")
    given = parser.parse_args()
    given.keep.mkdir(parents=True, exist_ok=True)
    draw, fingerprint = Draw(given.keep), read_fingerprint()
    for count in given.counts:
        make_rows(given.keep, count, draw, fingerprint)
        make_words(given.keep, count)
        make_vectors(given.keep, count, draw, fingerprint)
    asked = load_questions(2 * given.questions)
    for count in given.counts:
        vectors = make_drawn_vectors(given.keep, count, draw)
        with open_corpus(find_home(given.keep, count)) as corpus:
            if not given.servers:
                measure(f"{count:,}, in a folder", corpus, asked, vectors, given.only)
        if given.servers:
            with open_on_servers(given.keep, count) as corpus:
                measure(f"{count:,}, on servers", corpus, asked, vectors, given.only)


@contextmanager
def open_corpus(home: Path) -> Iterator[Corpus]:
    began, before = time.perf_counter(), read_resident()
    corpus = Corpus.open(home, Settings(home=home))
    corpus.quantising.wait()
    size = sum(file.stat().st_size for file in home.rglob("*") if file.is_file())
    print(
        f"\n{home.name}: {size / 1e6:,.0f} MB on disk, opened in {time.perf_counter() - began:.1f} s, which took"
        f" {(read_resident() - before) / 1e6:,.0f} MB of memory",
        flush=True,
    )
    yield corpus
    corpus.close()


def measure(
    name: str,
    corpus: Corpus,
    asked: Sequence[str],
    vectors: Vectors,
    only: Sequence[str] | None,
) -> None:
    freeze_start_up()  # as `argot serve` does
    print(f"{name}\n{'':16} {'p50':>7} {'p95':>7} {'work':>7}   parts: median (95th percentile)", flush=True)
    asked, others = asked[: len(asked) // 2], asked[len(asked) // 2 :]
    queries = corpus.embedder.embed_queries(asked)
    for text in others:
        hybrid_search(corpus, ROOT, [WeightedQuery(text)], Profile())
    for scope in SCOPES:
        if only and scope[0] not in only:
            continue
        took, work, parts = measure_searches(corpus, asked, others[:10], scope)
        cuts = quantiles(took, n=20)
        said = ", ".join(
            f"{part} {median(times):.1f} ({quantiles(times, n=20)[18]:.1f})" for part, times in parts.items()
        )
        recalled = measure_recall(corpus, queries[:30], vectors, scope)
        print(
            f"{scope[0]:16} {cuts[9]:7.1f} {cuts[18]:7.1f} {mean(work):7.1f}   {said}; recall {recalled:.3f}",
            flush=True,
        )
    print(f"memory {read_resident() / 1e6:,.0f} MB", flush=True)


def measure_searches(
    corpus: Corpus, asked: Sequence[str], others: Sequence[str], scope: Asked
) -> tuple[list[float], list[float], dict[str, list[float]]]:
    """Measure warm searches: other questions were asked before, and the measured ones are embedded already."""
    _, principal, narrowed, documents = scope
    took, work = [], []
    ask = lambda text: hybrid_search(corpus, principal, [WeightedQuery(text)], Profile(), narrowed, documents)  # noqa: E731
    for text in others:
        ask(text)
    with time_parts(corpus) as parts:
        for text in asked:
            for times in parts.values():
                times.append(0.0)
            begin, before = time.perf_counter(), time.process_time()
            ask(text)
            took.append((time.perf_counter() - begin) * 1e3)
            work.append((time.process_time() - before) * 1e3)
    return took, work, parts


@contextmanager
def time_parts(corpus: Corpus) -> Iterator[dict[str, list[float]]]:
    """Collect the milliseconds of a search's calls. The caller appends a 0 for each search; calls add to it."""
    store: Any = corpus.store
    of_corpus: Any = corpus
    parts: dict[str, list[float]] = {}
    changed = []
    for owner, method, name in (
        (store, "documents_within", "scope"),
        (store, "keyword_search", "words"),
        (of_corpus, "search_semantic", "meaning"),
        (store, "passages", "rows"),
    ):
        times = parts.setdefault(name, [])
        changed.append((owner, method))
        setattr(owner, method, _time_calls(getattr(owner, method), times))
    yield parts
    for owner, method in changed:
        delattr(owner, method)


def _time_calls(call: Callable[..., Any], times: list[float]) -> Callable[..., Any]:
    def call_timed(*arguments: Any) -> Any:
        begin = time.perf_counter()
        try:
            return call(*arguments)
        finally:
            times[-1] += (time.perf_counter() - begin) * 1e3

    return call_timed


def measure_recall(corpus: Corpus, queries: Vectors, vectors: Vectors, scope: Asked) -> float:
    _, principal, narrowed, documents = scope
    within = frozenset(documents) or (corpus.store.documents_within(principal, narrowed) if narrowed else None)
    readers = [n for n, audience in enumerate(AUDIENCES) if principal.may_read(audience)]
    fit = np.array(
        [
            choose_audience(document) in readers and (within is None or hash_id("d", document) in within)
            for document in range(-(-len(vectors) // IN_DOCUMENT))
        ]
    )
    allowed = np.repeat(fit, IN_DOCUMENT)[: len(vectors)]
    best: list[list[tuple[float, int]]] = [[] for _ in queries]
    for start in range(0, len(vectors), 50_000):
        numbers = np.flatnonzero(allowed[start : start + 50_000]) + start
        if not len(numbers):
            continue
        near = queries @ np.asarray(vectors[numbers]).T
        for found, row in zip(best, near, strict=True):
            top = np.argsort(-row)[:LIMIT]
            found.extend((float(row[place]), int(numbers[place])) for place in top)
    shares = []
    for query, known in zip(queries, best, strict=True):
        exact = {hash_id("p", number) for _, number in sorted(known, reverse=True)[:LIMIT]}
        found_ids = {id_ for id_, _ in corpus.search_semantic(principal, "passage", query, 50, within)[:LIMIT]}
        shares.append(len(exact & found_ids) / len(exact))
    return mean(shares)


def read_resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    sys.exit(main())
