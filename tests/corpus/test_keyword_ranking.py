"""The ranking by blocks of postings against FTS5's own bm25(): the same rows, and the same scores to the last bit."""

import json
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from corpus_engines import ENGINES, corpus_store

from argot.corpus.document_ids import content_hash, document_id, passage_id, revision_id
from argot.corpus.keyword.fts5_index import INDEXES, SEARCHED
from argot.corpus.keyword.index_terms import match_expression, question_phrases
from argot.corpus.keyword.keyword_index import keyword_index_of
from argot.corpus.store import row_writes
from argot.corpus.store.document_store import CorpusStore
from argot.corpus.store.row_writes import NewRevision
from argot.types import Document, Passage, Principal

ROOT = Principal("root", sees_all=True)
READERS = [Principal("eve"), Principal("ida", frozenset({"inside"})), ROOT]
_LIST = "valve valves pump pumping NX-4410B C++ Straße flow of the tank 10.2.3 boards nx 4410 controller café"
WORDS = _LIST.split()
"""Few, so that some stand in most rows and many scores are equal; of one stem, of several tokens, and names."""


def write(store: CorpusStore, dice: random.Random, name: str) -> None:
    """A document of some passages, with other words each time."""
    document = document_id(name)
    texts = [" ".join(dice.choices(WORDS, k=dice.randint(1, 12))) for _ in range(dice.randint(1, 30))]
    content = content_hash("".join(texts).encode())
    revision = revision_id(document, content)
    title = " ".join(dice.choices(WORDS, k=2))
    audience = frozenset({"inside"}) if dice.random() < 0.4 else frozenset[str]()
    passages = [
        Passage(
            passage_id(revision, n, n + 1), document, revision, n, n, n + 1, text, title, tuple(dice.choices(WORDS))
        )
        for n, text in enumerate(texts)
    ]
    row = Document(document, name, title, "text/plain", revision, content, "", audience=audience)
    with store.database.writing() as connection:
        row_writes.put_revision(connection, NewRevision(row, "", passages))


def changed_at_random(store: CorpusStore, dice: random.Random) -> None:
    """Documents come, are replaced and go, over the border of a block of rows."""
    write(store, dice, "first")
    with store.database.writing() as connection:
        keyword_index_of(connection).delete_rows(connection, "passage", document_id("first"))
        connection.execute("UPDATE passages SET n = n + 4000")
        keyword_index_of(connection).insert_rows(connection, "passage", document_id("first"))
        if not hasattr(connection, "total_changes"):  # PostgreSQL goes on after the last number it gave
            connection.execute("ALTER TABLE passages ALTER COLUMN n RESTART WITH 4050")
    for name in dice.choices("abcdefghijklmnop", k=30):
        if dice.random() < 0.2:
            with store.database.writing() as connection:
                row_writes.remove_rows(connection, document_id(name))
        else:
            write(store, dice, name)


def by_fts5(store: CorpusStore, query: str, audiences: Sequence[int]) -> list[tuple[str, float]]:
    words = INDEXES["passage"]
    rows = store.database.connection().execute(
        f"SELECT r.id, -{words.rank} AS score FROM passage_words JOIN passages AS r ON r.n = passage_words.rowid "
        "WHERE passage_words MATCH ? AND r.audience IN (SELECT value FROM json_each(?)) "
        "ORDER BY score DESC, r.n LIMIT 20",
        (match_expression(question_phrases(query), columns=SEARCHED["passage"]), json.dumps(audiences)),
    )
    return list(map(tuple, rows))


@pytest.mark.parametrize("seed", range(4))
def test_scores_are_those_of_fts5_to_the_last_bit(tmp_path: Path, seed: int) -> None:
    dice, store = random.Random(seed), CorpusStore.open(tmp_path / "corpus.db")
    changed_at_random(store, dice)
    connection = store.database.connection()
    readers = connection.execute("SELECT n, tokens FROM audiences").fetchall()
    for _ in range(40):
        query = " ".join(dice.choices(WORDS, k=dice.randint(1, 5)))
        for principal in READERS:
            numbers = [n for n, tokens in readers if principal.may_read(frozenset(json.loads(tokens)))]
            wanted = by_fts5(store, query, numbers)
            assert store.keyword_search(principal, query, 20) == wanted
    with store.database.writing() as writer:
        assert keyword_index_of(writer).faults(writer) == []
    store.close()


def test_both_engines_find_the_same_after_any_changes(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    found: dict[str, list[object]] = {}
    for engine in ENGINES:
        with corpus_store(engine, tmp_path / engine, request) as store:
            changed_at_random(store, random.Random(7))
            dice = random.Random(8)
            queries = [" ".join(dice.choices(WORDS, k=dice.randint(1, 5))) for _ in range(30)]
            one = {document.id for document in store.documents(ROOT)[:2]}
            found[engine] = [
                (
                    store.keyword_search(principal, query, 20),
                    store.keyword_search(principal, query, 20, one),
                    store.phrase_count(principal, query),
                    store.passages_with(principal, query, 20),
                )
                for query in queries
                for principal in READERS
            ]
            with store.database.writing() as writer:
                assert keyword_index_of(writer).faults(writer) == []
    assert found["sqlite"] == found["postgresql"]


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE passage_blocks SET postings = CAST(postings || postings AS BLOB) WHERE word = 1",
        "DELETE FROM passage_blocks WHERE word = 1",
        "UPDATE passage_vocabulary SET rows = rows + 1 WHERE id = 1",
        "UPDATE keyword_totals SET tokens = tokens + 1",
        "DELETE FROM passage_readers",
        "UPDATE passages SET audience = 0",
    ],
)
def test_damaged_blocks_are_noticed(tmp_path: Path, damage: str) -> None:
    store = CorpusStore.open(tmp_path / "corpus.db")
    write(store, random.Random(1), "a")
    store.database.connection().execute("PRAGMA foreign_keys = OFF")
    with store.database.writing() as connection:
        connection.execute(damage)
        assert keyword_index_of(connection).faults(connection) == ["passage_words"]
        connection.execute("UPDATE passages SET audience = 1")
        keyword_index_of(connection).rebuild(connection)
        assert keyword_index_of(connection).faults(connection) == []
    store.close()
