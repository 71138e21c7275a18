"""The time that `insight` takes over many stored questions: milliseconds for each part, the best of five.

    python bench/insight.py --questions 100000 --documents 5000

The base is synthetic: questions over 90 days by five surfaces, one in eight without an answer, one in fifty judged, one
in a hundred with an unknown term. What is measured is the use case with all its parts, over a year and over 30 days, as
a manager of all contexts.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sqlite3
import tempfile
import time
from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy

from argot.service.insight import question_counts as counts
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.questions.insight import insight
from argot.settings import Settings
from argot.sqlite import open_connection, transaction
from argot.types import Principal

ADA = Principal("ada", sees_all=True)
SURFACES = ("chat", "api", "slack", "openai", "command")
LAST = date(2027, 6, 30)
SUBJECTS = 60


def fill(home: Path, questions: int, documents: int) -> None:
    """Write rows as the service writes them."""
    pick, noise = random.Random(1), numpy.random.default_rng(1)
    middles = noise.normal(size=(SUBJECTS, 384))
    asked, threads, feedback = [], [], []
    for number in range(questions):
        day = (LAST - timedelta(days=pick.randrange(90))).isoformat()
        status = pick.choices(("answered", "abstained", "query_miss", "needs_choice"), (82, 9, 4, 5))[0]
        open_, subject = status in ("abstained", "query_miss"), pick.randrange(SUBJECTS)
        vector = (middles[subject] + 0.5 * noise.normal(size=384)).astype(numpy.float16).tobytes() if open_ else None
        words = f"Who looks after subject {subject} in case {number}?" if open_ else ""
        threads.append((f"t{number}", f"person{number % 500}", "title", day, day, number))
        terms = json.dumps([f"TERM{subject}"] if open_ else [])
        asked.append((
            f"t{number}", 0, f"{day}T09:00:00+00:00", day, pick.choice(SURFACES), status, int(status == "needs_choice"),
            pick.expovariate(0.4), pick.expovariate(2), 3, 0, 2500, 180, words, terms, "e" if open_ else "", vector,
        ))  # fmt: skip
        if number % 50 == 0:
            trace = json.dumps({"question": words or "What is it?", "filler": "x" * 6000})
            feedback.append((f"t{number}", 0, "x", pick.choice((1, 1, -1)), "because", f"{day}T10", number % 3, trace))
    threads_columns = "id, owner, title, created_at, updated_at, used"
    columns = "thread, turn, at, day, surface, status, asked_back, seconds, first_word, calls, failed_calls, sent"
    with open_connection(home / "threads.db") as connection, transaction(connection):
        insert(connection, "threads", threads_columns, threads)
        insert(connection, "asked", f"{columns}, received, question, terms, embedder, vector", asked)
        insert(connection, "feedback", "thread, turn, user, value, comment, at, shared, trace", feedback)
    missed = [
        (n % 300 + 1, row[13] or "What is it?", "x", row[0], row[2], n % 2)
        for n, row in enumerate(asked)
        if n % 100 == 0
    ]
    with open_connection(home / "glossary.db") as connection, transaction(connection):
        insert(connection, "misses", "id, term, key", [(n, f"MISS{n}", f"miss{n}") for n in range(1, 301)])
        insert(connection, "miss_questions", "miss, question, principal, thread, asked, shared", missed)
    days = [(LAST - timedelta(days=n)).isoformat() for n in range(90)]
    cited = {(f"d{int(documents * pick.random() ** 3)}", pick.choice(days), 3) for _ in range(questions // 3)}
    with open_connection(home / "corpus.db") as connection, transaction(connection):
        connection.execute("INSERT OR IGNORE INTO audiences (tokens) VALUES ('[]')")
        everybody = connection.execute("SELECT n FROM audiences WHERE tokens = '[]'").fetchone()[0]
        rows = [(f"d{n}", f"file:///docs/{n}.md", "", everybody, "", 1) for n in range(documents)]
        insert(connection, "documents", "id, uri, title, audience, revision, passages", rows)
        insert(connection, "citation_counts", "document, day, answers", sorted(cited))


def insert(connection: sqlite3.Connection, table: str, columns: str, rows: Sequence[Sequence[Any]]) -> None:
    places = ", ".join("?" * (columns.count(",") + 1))
    connection.executemany(f"INSERT INTO {table} ({columns}) VALUES ({places})", rows)


async def measure(questions: int, documents: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "kb"
        async with KnowledgeBase.open(home, Settings(home=home), create=True) as kb:
            _ = await kb.threads(), kb.glossary, kb.document_store
            fill(home, questions, documents)
            print(f"{questions:,} questions, threads.db {(home / 'threads.db').stat().st_size / 2**20:.0f} MiB")
            for name, days in (("90 days", 90), ("30 days", 30)):
                since, until = (LAST - timedelta(days=days - 1)).isoformat(), LAST.isoformat()
                best = 1e9
                for _ in range(5):
                    begun = time.perf_counter()
                    found = await insight(kb, ADA, since=since, until=until)
                    best = min(best, time.perf_counter() - begun)
                told = f"{found.counts.questions:,} questions, {len(found.unanswered.groups)} groups"
                print(f"insight, {name}: {1000 * best:.0f} ms ({told})")
                connection = open_connection(home / "threads.db", mode="ro")
                begun = time.perf_counter()
                counts.count_questions(connection, since, until)
                print(f"  of which counts and waits: {1000 * (time.perf_counter() - begun):.0f} ms")
                connection.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=100_000)
    parser.add_argument("--documents", type=int, default=5_000)
    given = parser.parse_args()
    asyncio.run(measure(given.questions, given.documents))


if __name__ == "__main__":
    main()
