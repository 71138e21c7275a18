"""Ranking by blocks of postings, compared with FTS5's bm25(): the same rows, and the same scores to the last bit."""

import json
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from corpus_engines import ENGINES, corpus_store
from random_documents import ROOT, WORDS, write

from argot.corpus.document_ids import build_document_id
from argot.corpus.keyword import block_ranking, block_rows
from argot.corpus.keyword.fts5_index import INDEXES, SEARCHED_COLUMNS
from argot.corpus.keyword.index_terms import match_expression, parse_question
from argot.corpus.keyword.keyword_index import choose_keyword_index
from argot.corpus.store import row_writes
from argot.corpus.store.document_store import CorpusStore
from argot.types import Principal

BEFORE_BLOCKS = 13
"""Migrations of a store that has none yet."""
READERS = [Principal("eve"), Principal("ida", frozenset({"inside"})), ROOT]


def changed_at_random(store: CorpusStore, dice: random.Random) -> None:
    """Add, replace and remove documents across the border of a block of rows."""
    write(store, dice, "first")
    with store.database.writing() as connection:
        choose_keyword_index(connection).delete_rows(connection, "passage", build_document_id("first"))
        connection.execute("UPDATE passages SET n = n + 4000")
        choose_keyword_index(connection).insert_rows(connection, "passage", build_document_id("first"))
        if not hasattr(connection, "total_changes"):  # PostgreSQL goes on after the last number it gave
            connection.execute("ALTER TABLE passages ALTER COLUMN n RESTART WITH 4050")
    for name in dice.choices("abcdefghijklmnop", k=30):
        if dice.random() < 0.2:
            with store.database.writing() as connection:
                row_writes.remove_rows(connection, build_document_id(name))
        else:
            write(store, dice, name)


def by_fts5(store: CorpusStore, query: str, audiences: Sequence[int]) -> list[tuple[str, float]]:
    words = INDEXES["passage"]
    rows = store.database.connection().execute(
        f"SELECT r.id, -{words.rank} AS score FROM passage_words JOIN passages AS r ON r.n = passage_words.rowid "
        "WHERE passage_words MATCH ? AND r.audience IN (SELECT value FROM json_each(?)) "
        "ORDER BY score DESC, r.n LIMIT 20",
        (match_expression(parse_question(query), columns=SEARCHED_COLUMNS["passage"]), json.dumps(audiences)),
    )
    return list(map(tuple, rows))


@pytest.mark.parametrize("seed", range(4))
def test_scores_equal_those_of_fts5_to_the_last_bit(tmp_path: Path, seed: int) -> None:
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
        assert choose_keyword_index(writer).faults(writer) == []
    store.close()


def test_rows_that_cannot_rank_first_are_not_scored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat every word as common, so that candidate rows are pruned after each of them."""
    monkeypatch.setattr(block_ranking, "MIN_COMMON_ROWS", 0)
    monkeypatch.setattr(block_ranking, "CHUNK_ROWS", 1)
    spared = []
    summed = block_ranking._Ranking.sum_scores
    monkeypatch.setattr(
        block_ranking._Ranking, "sum_scores", lambda self, order: spared.append(self._spared) or summed(self, order)
    )
    dice, store = random.Random(9), CorpusStore.open(tmp_path / "corpus.db")
    changed_at_random(store, dice)
    documents = frozenset(document.id for document in store.documents(ROOT)[::3])
    queries = [" ".join(dice.choices(WORDS, k=dice.randint(1, 6))) for _ in range(60)]
    found = [(store.keyword_search(ROOT, one, 2), store.keyword_search(ROOT, one, 2, documents)) for one in queries]
    assert sum(spared) > 20
    monkeypatch.setattr(block_ranking, "MIN_COMMON_ROWS", 1_000_000)
    again = CorpusStore.open(tmp_path / "corpus.db")  # one that remembers nothing
    assert found == [
        (again.keyword_search(ROOT, one, 2), again.keyword_search(ROOT, one, 2, documents)) for one in queries
    ]
    assert sum(spared) == sum(spared[: len(spared) // 2])
    again.close()
    store.close()


def test_both_engines_agree_after_any_changes(tmp_path: Path, request: pytest.FixtureRequest) -> None:
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
                    store.find_phrase(principal, query, 20),
                )
                for query in queries
                for principal in READERS
            ]
            with store.database.writing() as writer:
                assert choose_keyword_index(writer).faults(writer) == []
    assert found["sqlite"] == found["postgresql"]


def test_the_scope_size_does_not_change_the_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dice, store = random.Random(5), CorpusStore.open(tmp_path / "corpus.db")
    changed_at_random(store, dice)
    documents = frozenset(document.id for document in store.documents(ROOT)[::3])
    queries = [" ".join(dice.choices(WORDS, k=3)) for _ in range(20)]
    few = [store.keyword_search(reader, query, 2, documents) for query in queries for reader in READERS]
    monkeypatch.setattr(block_rows, "FEW_DOCUMENTS", 0)
    assert few == [store.keyword_search(reader, query, 2, documents) for query in queries for reader in READERS]
    store.close()


def test_a_store_of_an_earlier_version_gets_its_blocks_at_opening(tmp_path: Path) -> None:
    store = CorpusStore.open(tmp_path / "corpus.db")
    write(store, random.Random(2), "a")
    wanted = store.keyword_search(ROOT, "valve tank", 5)
    with store.database.writing() as connection:
        for table in ("vocabulary", "blocks", "readers"):
            connection.execute(f"DROP TABLE passage_{table}")
            connection.execute(f"DROP TABLE derived_{table}")
            connection.execute(f"DROP TABLE triple_{table}")
        connection.execute("DROP TABLE keyword_totals")
        connection.execute("DROP TABLE quantised_vectors")
        connection.execute("DROP TABLE removed_passages")
        connection.execute("DROP TABLE pictures")
        connection.execute("ALTER TABLE derived DROP COLUMN picture")
        connection.execute("DROP TABLE passage_languages")
        connection.execute("ALTER TABLE passages DROP COLUMN language")
        connection.execute(f"PRAGMA user_version = {BEFORE_BLOCKS}")
        later = "SELECT id FROM _sqlite_migrations ORDER BY id LIMIT -1 OFFSET ?"
        connection.execute(f"DELETE FROM _sqlite_migrations WHERE id IN ({later})", (BEFORE_BLOCKS,))
    store.close()
    opened = CorpusStore.open(tmp_path / "corpus.db")
    assert opened.keyword_search(ROOT, "valve tank", 5) == wanted
    assert wanted
    with opened.database.writing() as connection:
        assert choose_keyword_index(connection).faults(connection) == []
    opened.close()


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
def test_damaged_blocks_are_detected_and_rebuilt(tmp_path: Path, damage: str) -> None:
    store = CorpusStore.open(tmp_path / "corpus.db")
    write(store, random.Random(1), "a")
    store.database.connection().execute("PRAGMA foreign_keys = OFF")
    with store.database.writing() as connection:
        connection.execute(damage)
        assert choose_keyword_index(connection).faults(connection) == ["passage_words"]
        connection.execute("UPDATE passages SET audience = 1")
        choose_keyword_index(connection).rebuild(connection)
        assert choose_keyword_index(connection).faults(connection) == []
    store.close()
