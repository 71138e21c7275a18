"""Keyword search on FTS5 and on PostgreSQL, compared: python bench/keyword_engines.py --postgres URL [--passages 10000]
[--questions 200] [--beir]

Makes passages from sentences of public data sets (`ARGOT_DATASETS`), so that word frequencies are natural. A document
has 20 passages; half of the documents are for everyone, half for one of nine groups. Both engines index the same rows
and are asked the same questions in turns, with warm caches: as somebody who may read all, as a member of one group, and
within a twentieth of the documents. The database at the URL is emptied first.
"""

from __future__ import annotations

import argparse
import json
import lzma
import math
import os
import random
import re
import statistics
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import psycopg

from argot.corpus.database import SqliteCorpusDatabase
from argot.corpus.keyword.fts5_index import Fts5Index
from argot.corpus.keyword.index_terms import build_passage_words
from argot.corpus.keyword.postgresql_index import PostgresqlIndex
from argot.corpus.keyword_tables import POSTGRESQL_TABLES
from argot.corpus.postgresql_schema import translate_documents
from argot.evaluate.beir import BeirSet, load_beir
from argot.postgresql.connection import PostgresqlConnection, build_connection_options
from argot.postgresql.translation import translate

DATASETS = Path(os.environ.get("ARGOT_DATASETS", "../shared/datasets"))
IN_DOCUMENT = 20
SENTENCES = 7
GROUPS = 9
SETS = ("ord_qa", "emanuals_tv", "jargonised")
LIMIT = 50
FTS5, POSTGRESQL = Fts5Index(), PostgresqlIndex()
COLUMNS = ("n", "id", "document", "audience", "title", "heading", "text", "folded", "identifiers")
ROWS = """
DROP SCHEMA public CASCADE; CREATE SCHEMA public;
CREATE TABLE passages (
    n integer PRIMARY KEY, id text NOT NULL UNIQUE, document text NOT NULL, audience integer NOT NULL,
    title text NOT NULL, heading text NOT NULL, text text NOT NULL, folded text, identifiers text NOT NULL
);
"""
Search = Callable[[str, Sequence[int] | None, Sequence[str] | None], list[tuple[str, float]]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--postgres", required=True, help="URL of a database that may be emptied")
    parser.add_argument("--passages", type=int, default=10_000)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--beir", action="store_true", help="the sets in BEIR form instead: order and nDCG@10 of both")
    given = parser.parse_args()
    if given.beir:
        for name in SETS:
            report_parity(load_beir(DATASETS / "beir" / name), given.postgres)
        return
    asked = load_questions(given.questions)
    with (
        tempfile.TemporaryDirectory() as folder,
        psycopg.connect(given.postgres, options="-c jit=off", **build_connection_options()) as connection,
    ):
        database = SqliteCorpusDatabase(Path(folder) / "corpus.db", read_only=False)
        fill_sqlite(database, draw_rows(given.passages))
        fill_postgres(connection, database)
        report_sizes(database, connection)
        compare_engines(database, connection, asked, given.passages)
        database.close()


# -- data -------------------------------------------------------------------------------------------------------------


def load_questions(count: int) -> list[str]:
    sets = [load_beir(DATASETS / "beir" / name) for name in SETS]
    asked = [text for one in sets for text in one.queries.values()]
    asked += [pair["question"] for pair in islice(_read_medquad(), 0, 16_000, 80)]
    return random.Random(2).sample(asked, min(count, len(asked)))


def load_sentences() -> list[str]:
    texts = [text for _, text in load_beir(DATASETS / "beir" / "jargonised").corpus.values()]
    texts += [pair["answer"] for pair in islice(_read_medquad(), 4_000)]
    with tarfile.open(DATASETS / "aws_docs" / "documents.tar.xz") as archive:
        for member in islice(archive, 4_000):
            if file := archive.extractfile(member):
                texts.append(file.read().decode(errors="replace"))
    cut = (one.strip() for text in texts for one in re.split(r"(?<=[.!?])\s+|\n{2,}", text))
    return [one for one in cut if 20 <= len(one) <= 400]


def draw_rows(count: int) -> Iterator[tuple[Any, ...]]:
    dice, drawn = random.Random(1), load_sentences()
    title = ""
    for n in range(1, count + 1):
        document = (n - 1) // IN_DOCUMENT
        if (n - 1) % IN_DOCUMENT == 0:
            title = " ".join(dice.choice(drawn).split()[:5])
        text = " ".join(dice.choices(drawn, k=SENTENCES))
        words = build_passage_words(title, dice.choice(drawn).split()[:4], text)
        audience = 1 if document % 2 else 2 + document % GROUPS
        values = {"n": n, "id": f"p{n}", "document": f"d{document}", "audience": audience, "text": text, **words}
        yield tuple(values[column] for column in COLUMNS)


def _read_medquad() -> Iterator[dict[str, str]]:
    with lzma.open(DATASETS / "medquad" / "pairs.jsonl.xz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def fill_sqlite(database: SqliteCorpusDatabase, coming: Iterable[tuple[Any, ...]]) -> None:
    connection = database.connection()
    connection.execute("PRAGMA foreign_keys = OFF")
    marks = ", ".join("?" * len(COLUMNS))
    with database.writing() as writer:
        writer.executemany(
            f"INSERT INTO passages ({', '.join(COLUMNS)}, revision, ordinal, start, end, header, heading_path)"
            f" VALUES ({marks}, '', 0, 0, 0, '', '[]')",
            coming,
        )
    started = time.perf_counter()
    with database.writing() as writer:
        FTS5.rebuild(writer)
    FTS5.forget_deleted(database, "passage")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    print(f"FTS5 indexed them in {time.perf_counter() - started:.0f} s", flush=True)


def fill_postgres(connection: psycopg.Connection[Any], database: SqliteCorpusDatabase) -> None:
    connection.execute(ROWS)
    connection.execute(translate(translate_documents("") + POSTGRESQL_TABLES).sql)
    with connection.cursor().copy(f"COPY passages ({', '.join(COLUMNS)}) FROM STDIN") as copy:
        for row in database.connection().execute(f"SELECT {', '.join(COLUMNS)} FROM passages ORDER BY n"):
            copy.write_row(row)
    connection.execute("CREATE INDEX ON passages (document)")
    connection.execute("CREATE TABLE derived (LIKE passages)")
    connection.execute("CREATE TABLE triples (LIKE passages)")
    started = time.perf_counter()
    with connection.transaction():
        POSTGRESQL.rebuild(PostgresqlConnection(connection))
    connection.execute("VACUUM ANALYZE")
    print(f"PostgreSQL indexed them in {time.perf_counter() - started:.0f} s", flush=True)


def report_sizes(database: SqliteCorpusDatabase, connection: psycopg.Connection[Any]) -> None:
    (fts,) = database.connection().execute("SELECT sum(length(block)) FROM passage_words_data").fetchone()
    found = connection.execute(
        "SELECT relname, pg_total_relation_size(oid) FROM pg_class WHERE relname LIKE 'passage\\_%' AND relkind = 'r'"
    ).fetchall()
    listed = ", ".join(f"{name} {size / 1e6:,.0f} MB" for name, size in sorted(map(tuple, found)))
    print(f"On disk: FTS5 {fts / 1e6:,.0f} MB; {listed}")


# -- sets in BEIR form ------------------------------------------------------------------------------------------------


def report_parity(data: BeirSet, url: str) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        psycopg.connect(url, options="-c jit=off", **build_connection_options()) as connection,
    ):
        database = SqliteCorpusDatabase(Path(folder) / "corpus.db", read_only=False)
        fill_sqlite(database, make_beir_rows(data))
        fill_postgres(connection, database)
        lite, ours = database.connection(), PostgresqlConnection(connection)
        same, scores, asked = 0, [0.0, 0.0], 0
        for queries in filter(None, (data.queries, data.plain)):
            for id_ in data.qrels.keys() & queries.keys():
                found = [
                    [key for key, _ in engine.search_keywords(made, "passage", queries[id_], None, LIMIT)]
                    for engine, made in ((FTS5, lite), (POSTGRESQL, ours))
                ]
                same += found[0] == found[1]
                asked += 1
                for n in range(2):
                    scores[n] += compute_ndcg(found[n], data.qrels[id_])
        means = ", ".join(f"{score / asked:.4f}" for score in scores)
        print(f"{data.name}: nDCG@10 {means}; the same {LIMIT} in the same order: {same} of {asked}", flush=True)
        database.close()


def make_beir_rows(data: BeirSet) -> Iterator[tuple[Any, ...]]:
    for n, (id_, (title, text)) in enumerate(data.corpus.items(), start=1):
        values = {
            "n": n,
            "id": id_,
            "document": id_,
            "audience": 1,
            "text": text,
            **build_passage_words(title, [], text),
        }
        yield tuple(values[column] for column in COLUMNS)


def compute_ndcg(found: Sequence[str], judged: Mapping[str, int]) -> float:
    gains = [2 ** judged.get(id_, 0) - 1 for id_ in found[:10]]
    ideal = sorted((2**grade - 1 for grade in judged.values()), reverse=True)[:10]
    return _compute_discount(gains) / _compute_discount(ideal)


def _compute_discount(gains: Iterable[float]) -> float:
    return sum(gain / math.log2(place) for place, gain in enumerate(gains, start=2))


# -- asking -----------------------------------------------------------------------------------------------------------


def compare_engines(
    database: SqliteCorpusDatabase, connection: psycopg.Connection[Any], asked: Sequence[str], passages: int
) -> None:
    lite = database.connection()
    lite.execute("PRAGMA cache_size = -65536")
    ours = PostgresqlConnection(connection)

    def search_fts5(query: str, audiences: Any, documents: Any) -> list[tuple[str, float]]:
        return FTS5.search_keywords(lite, "passage", query, audiences, LIMIT, documents)

    def search_postgres(query: str, audiences: Any, documents: Any) -> list[tuple[str, float]]:
        return POSTGRESQL.search_keywords(ours, "passage", query, audiences, LIMIT, documents)

    some = [f"d{n}" for n in range(0, passages // IN_DOCUMENT, 20)]
    (backend,) = connection.execute("SELECT pg_backend_pid()").fetchone() or (0,)
    for scope, audiences, documents in (("all", None, None), ("a group", [1, 3], None), ("1 in 20", None, some)):
        compare_searches(
            scope,
            asked,
            lambda q, a=audiences, d=documents: search_fts5(q, a, d),
            lambda q, a=audiences, d=documents: search_postgres(q, a, d),
            backend,
        )


def compare_searches(
    scope: str, asked: Sequence[str], fts5: Callable[[str], Any], postgres: Callable[[str], Any], backend: int
) -> None:
    times: dict[str, list[float]] = {"FTS5": [], "PostgreSQL": []}
    spent = {"FTS5": 0.0, "PostgreSQL": 0.0}
    same = 0
    for warm in (True, False):
        for query in asked:
            found = {}
            for engine, search in (("FTS5", fts5), ("PostgreSQL", postgres)):
                before, started = measure_processor_time(backend), time.perf_counter()
                found[engine] = search(query)
                if not warm:
                    times[engine].append((time.perf_counter() - started) * 1e3)
                    spent[engine] += measure_processor_time(backend) - before
            same += not warm and [id_ for id_, _ in found["FTS5"]] == [id_ for id_, _ in found["PostgreSQL"]]
    for engine, taken in times.items():
        p50, p95 = statistics.median(taken), statistics.quantiles(taken, n=20)[-1]
        each = spent[engine] / len(asked) * 1e3
        print(f"{scope:8} {engine:11} p50 {p50:7.1f} ms, p95 {p95:7.1f} ms, processor {each:6.1f} ms a question")
    print(f"{scope:8} the same {LIMIT} in the same order: {same} of {len(asked)}", flush=True)


def measure_processor_time(backend: int) -> float:
    """Return the processor seconds of this thread and of the PostgreSQL process that serves it."""
    fields = Path(f"/proc/{backend}/schedstat").read_text(encoding="utf-8").split()
    return time.thread_time() + int(fields[0]) / 1e9


if __name__ == "__main__":
    sys.exit(main())
