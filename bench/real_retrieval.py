"""The cost of a question's retrieval among real documents, and its recall compared with an exact search.

    python bench/real_retrieval.py --keep FOLDER --set aws_docs [--every 10]

Every n-th document (`--every`) of a set of answers (`evaluate/answer_sets.py`) is added to a knowledge base in the
folder, unless it is there already. The set's own questions are asked, as in `bench/million.py`: in all documents, in
shares of them, and in one document. `recall` is the share of the first ten found by meaning that are as near as the
exact tenth. `argot evaluate` measures the quality of the answers.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from statistics import mean, quantiles
from typing import Any

import numpy as np
from million import LIMIT, ROOT, measure_searches, open_corpus, read_resident

from argot.corpus.corpus import Corpus, Source
from argot.corpus.index import outbox
from argot.corpus.vector_ids import parse_item
from argot.evaluate.answer_sets import PUBLIC_SETS
from argot.protocols import Vectors
from argot.service.observability.process_memory import freeze_start_up
from argot.settings import Settings
from argot.types import ALL_DOCUMENTS

SHARES = {"a half": 0.5, "a twentieth": 0.05, "a hundredth": 0.01}
SAID_EVERY = 100
SAME = 2e-4
"""Cosines that differ by less count as equal: quantisation changes them by about half of this."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, required=True, help="the folder of the knowledge base")
    parser.add_argument("--set", default="aws_docs", choices=PUBLIC_SETS)
    parser.add_argument("--every", type=int, default=10, help="takes each so-manieth document")
    given = parser.parse_args()
    questions, sources = PUBLIC_SETS[given.set](Settings().datasets / given.set)
    with closing(Corpus.open(given.keep, Settings(home=given.keep))) as corpus:
        add_documents(corpus, sources[:: given.every])
    with open_corpus(given.keep) as corpus:
        freeze_start_up()  # as `argot serve` does
        measure(corpus, [question.question for question in questions])


def add_documents(corpus: Corpus, sources: Sequence[Source]) -> None:
    for event in corpus.add(sources):
        if event.done % SAID_EVERY == 0 and event.kind != "progress":
            print(f"{event.done} of {event.total} documents", file=sys.stderr, flush=True)


def measure(corpus: Corpus, asked: Sequence[str]) -> None:
    items, documents, vectors = load_vectors(corpus)
    print(f"{len(set(documents)):,} documents, {len(set(items)):,} passages, {len(items):,} vectors")
    print(f"{'':16} {'p50':>7} {'p95':>7} {'work':>7}  recall", flush=True)
    known = sorted(set(documents))
    drawn = random.Random(1)
    scopes: dict[str, tuple[str, ...]] = {"all": ()}
    scopes |= {name: tuple(drawn.sample(known, max(1, round(share * len(known))))) for name, share in SHARES.items()}
    scopes["one document"] = (drawn.choice(known),)
    queries = corpus.embedder.embed_queries(asked)
    for name, within in scopes.items():
        took, work, _ = measure_searches(corpus, asked, asked, (name, ROOT, ALL_DOCUMENTS, within))
        cuts = quantiles(took, n=20)
        fit = np.isin(documents, within) if within else np.ones(len(documents), bool)
        of_scope, near = np.array(items)[fit], queries @ vectors[fit].T
        shares = [
            measure_recall(corpus, query, of_scope, row, within) for query, row in zip(queries, near, strict=True)
        ]
        print(f"{name:16} {cuts[9]:7.1f} {cuts[18]:7.1f} {mean(work):7.1f}  {mean(shares):.3f}", flush=True)
    print(f"memory {read_resident() / 1e6:,.0f} MB", flush=True)


def load_vectors(corpus: Corpus) -> tuple[list[str], list[str], Vectors]:
    """Return for all vectors of passages: the passages, their documents, and the vectors, (n, dimensions)."""
    connection, items, documents, rows = corpus.store.database.connection(), [], [], []
    for (document,) in connection.execute("SELECT id FROM documents").fetchall():
        for name, ids in outbox.read_vector_ids(connection, corpus.vectors, document).items():
            if outbox.parse_kind(name) == "passage":
                for id_, vector in corpus.vectors.get(name, ids).items():
                    items.append(parse_item(id_))
                    documents.append(document)
                    rows.append(vector)
    return items, documents, np.stack(rows)


def measure_recall(corpus: Corpus, query: Vectors, items: Any, near: Vectors, within: Sequence[str]) -> float:
    """Return the share of the first ten that are as near as the exact tenth, so that equal passages count as equally
    right.

    Args:
        items, near: for each vector in the scope, its passage, and its cosine with the query.
    """
    exact: dict[str, float] = {}
    for place in np.argsort(-near):
        # A passage may have several vectors, of which the nearest one counts.
        exact.setdefault(items[place], float(near[place]))
    first = list(exact.values())[:LIMIT]
    found = corpus.search_semantic(ROOT, "passage", query, 50, within or None)[:LIMIT]
    return sum(exact[id_] >= first[-1] - SAME for id_, _ in found) / len(first)


if __name__ == "__main__":
    main()
