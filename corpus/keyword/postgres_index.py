"""BM25 on PostgreSQL, with the order and the scores of FTS5: the same tokens, weights, k1, b and inverse frequencies.

It implements `argot.corpus.keyword.keyword_index`; `argot.corpus.keyword.postgres_postings` says what is kept.
"""

# ruff: noqa: S608  only our own names and numbers are put into SQL
from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from argot.corpus.database import CorpusDatabase
from argot.corpus.keyword.index_terms import SearchPhrase, exact_phrase, question_phrases
from argot.corpus.keyword.postgres_postings import (
    IDS,
    INDEXES,
    MOST_IN_TITLE,
    OF_DOCUMENT,
    TITLE_BITS,
    RowIndex,
    delete_postings,
    identifier_of,
    insert_postings,
    rebuild_postings,
    relabel_postings,
)
from argot.corpus.keyword.postgres_soundness import postings_differ
from argot.corpus.keyword.word_tokens import phrase_tokens
from argot.corpus.vector_ids import VectorKind
from argot.databases import Connection

K1 = 1.2
B = 0.75
LEAST_IDF = 1e-6
"""FTS5's, for a token that stands in half of all rows or more."""
FEW_POSTINGS = 5_000
"""Postings that are read sooner than it is worked out which could be left out."""


_READABLE = "p.audience = ANY(CAST(:audiences AS int[]))"


class PostgresIndex:
    """A `KeywordIndex`."""

    def search_keywords(  # noqa: PLR0917
        self,
        connection: Connection,
        kind: VectorKind,
        query: str,
        audiences: Sequence[int] | None,
        limit: int,
        documents: Collection[str] | None = None,
    ) -> list[tuple[str, float]]:
        index = INDEXES[kind]
        known = _Known.of(connection, index, question_phrases(query))
        if limit < 1 or not (known.words or known.phrases):
            return []
        scope = _Scope(audiences, documents, limit)
        leading, rest = _split_by_weight(known.words, limit)
        found = _ranked(connection, index, known, scope, leading, rest)
        # A row with none of the leading words could be among the best after all.
        if rest and (len(found) < limit or found[-1][1] <= _most(rest)):
            found = _ranked(connection, index, known, scope, known.words, [])
        return found

    def with_phrase(
        self, connection: Connection, phrase: str, audiences: Sequence[int] | None, limit: int
    ) -> list[tuple[str, float]]:
        known = _known_phrase(connection, phrase)
        if known is None or limit < 1:
            return []
        return _ranked(connection, INDEXES["passage"], known, _Scope(audiences, None, limit), [], [], held=True)

    def count_phrase(self, connection: Connection, phrase: str, audiences: Sequence[int] | None) -> int:
        known = _known_phrase(connection, phrase)
        if known is None:
            return 0
        hits, values = _hits(INDEXES["passage"], known.phrases, held=True)
        narrowed = "" if audiences is None else f"WHERE {_READABLE}"
        values["audiences"] = None if audiences is None else list(audiences)
        row = connection.execute(f"WITH hits AS ({hits}) SELECT count(*) FROM hits AS p {narrowed}", values).fetchone()
        return int(row[0])

    def insert_rows(self, connection: Connection, kind: VectorKind, document: str) -> None:
        insert_postings(connection, INDEXES[kind], OF_DOCUMENT, document)

    def insert_some(self, connection: Connection, kind: VectorKind, ids: Iterable[str]) -> None:
        insert_postings(connection, INDEXES[kind], IDS, list(ids))

    def delete_rows(self, connection: Connection, kind: VectorKind, document: str) -> None:
        delete_postings(connection, INDEXES[kind], OF_DOCUMENT, document)

    def delete_some(self, connection: Connection, kind: VectorKind, ids: Iterable[str]) -> None:
        delete_postings(connection, INDEXES[kind], IDS, list(ids))

    def relabel_rows(self, connection: Connection, kind: VectorKind, document: str) -> None:
        relabel_postings(connection, INDEXES[kind], document)

    def rebuild(self, connection: Connection) -> None:
        for index in INDEXES.values():
            rebuild_postings(connection, index)

    def faults(self, connection: Connection) -> list[str]:
        return [f"{index.name}_postings" for index in INDEXES.values() if postings_differ(connection, index)]

    def forget_deleted(self, database: CorpusDatabase, kind: VectorKind) -> None:
        """Nothing: words go with the last row that holds them, and PostgreSQL clears its files of them in time."""


# -- what is known of a question's words -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Word:
    """A token of the vocabulary. `idf` is that of all the question's words that have this stem, added up."""

    id: int
    rows: int
    idf: float


@dataclass(frozen=True, slots=True)
class _Known:
    """A question as the index knows it: what none of the rows holds is left out.

    `phrases` are lists of ids of tokens. `rows`: how many are indexed. `mean`: tokens of a row.
    """

    words: list[_Word]
    phrases: list[tuple[int, ...]]
    rows: int
    mean: float

    @classmethod
    def of(cls, connection: Connection, index: RowIndex, wanted: Iterable[SearchPhrase]) -> _Known:
        sequences = [tokens for one in wanted if (tokens := _tokens_of(one))]
        rows, length, vocabulary = _vocabulary(connection, index, {token for tokens in sequences for token in tokens})
        held = [tokens for tokens in sequences if all(token in vocabulary for token in tokens)]
        singles = Counter(tokens[0] for tokens in held if len(tokens) == 1)
        words = []
        for token, times in singles.items():
            id_, frequency = vocabulary[token]
            words.append(_Word(id_, frequency, times * _idf(rows, frequency)))
        phrases = [tuple(vocabulary[token][0] for token in tokens) for tokens in held if len(tokens) > 1]
        return cls(words, phrases, rows, length / rows if rows else 1.0)


def _known_phrase(connection: Connection, text: str) -> _Known | None:
    """One phrase, also where it is a single word: it is looked for in some of the columns only."""
    wanted = exact_phrase(text)
    if wanted is None:
        return None
    known = _Known.of(connection, INDEXES["passage"], [wanted])
    phrases = [*known.phrases, *((word.id,) for word in known.words)]
    return _Known([], phrases, known.rows, known.mean) if phrases else None


def _tokens_of(phrase: SearchPhrase) -> tuple[str, ...]:
    tokens = phrase_tokens(phrase.words)
    return tuple(map(identifier_of, tokens)) if phrase.is_identifier else tokens


def _vocabulary(
    connection: Connection, index: RowIndex, tokens: Collection[str]
) -> tuple[int, int, dict[str, tuple[int, int]]]:
    """How many rows and tokens are indexed, and of each known token its id and in how many rows it stands."""
    found = connection.execute(
        "SELECT t.rows, t.tokens, v.token, v.id, v.rows FROM keyword_totals AS t "
        f"LEFT JOIN {index.name}_vocabulary AS v ON v.token = ANY(CAST(? AS text[])) WHERE t.name = ?",
        (list(tokens), index.name),
    ).fetchall()
    if not found:
        return 0, 0, {}
    return found[0][0], found[0][1], {row[2]: (row[3], row[4]) for row in found if row[2] is not None}


def _idf(rows: int, frequency: int) -> float:
    idf = math.log((rows - frequency + 0.5) / (frequency + 0.5))
    return idf if idf > 0 else LEAST_IDF


# -- ranking ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Scope:
    audiences: Sequence[int] | None
    documents: Collection[str] | None
    limit: int


def _split_by_weight(words: Sequence[_Word], limit: int) -> tuple[list[_Word], list[_Word]]:
    """The words that decide, and frequent ones that can be looked up for the best rows alone.

    This is MaxScore (Turtle and Flood, 1995, section 4): a row that has only words of little weight cannot be among the
    best. Whether it holds is known once the best are.
    """
    ordered = sorted(words, key=lambda word: -word.idf)
    if sum(word.rows for word in ordered) <= FEW_POSTINGS:
        return ordered, []
    seen, least = 0, 0.0
    for place, word in enumerate(ordered, start=1):
        seen += word.rows
        if seen >= limit and not least:
            least = word.idf
        if least and _most(ordered[place:]) <= least:
            return ordered[:place], ordered[place:]
    return ordered, []


def _most(words: Iterable[_Word]) -> float:
    """More than these words can add to the score of any row."""
    return sum(word.idf for word in words) * (K1 + 1)


def _ranked(  # noqa: PLR0917
    connection: Connection,
    index: RowIndex,
    known: _Known,
    scope: _Scope,
    leading: Sequence[_Word],
    rest: Sequence[_Word],
    *,
    held: bool = False,
) -> list[tuple[str, float]]:
    hits, values = _hits(index, known.phrases, held=held)
    sql = f"""
        WITH hits AS MATERIALIZED ({hits}),
        weights AS (
            SELECT phrase, greatest(CAST(ln((:rows - count(*) + 0.5) / (count(*) + 0.5)) AS float8), {LEAST_IDF}) AS idf
            FROM hits GROUP BY phrase
        ),
        matches AS (
            SELECT p.n, p.audience, w.idf, {_FREQUENCY} AS frequency, p.length
            FROM {_WEIGHED.format("words", "idfs")} JOIN {index.name}_postings AS p ON p.word = w.word
            UNION ALL
            SELECT p.n, p.audience, w.idf, p.frequency, p.length
            FROM weights AS w JOIN hits AS p ON p.phrase = w.phrase
        ),
        scored AS MATERIALIZED (
            SELECT p.n, sum({_SCORE}) AS score FROM matches AS p WHERE {_narrowed(index, scope)} GROUP BY p.n
        ),
        promising AS (
            SELECT n, score FROM scored WHERE score + :most >= coalesce(
                (SELECT score FROM scored ORDER BY score DESC OFFSET :limit - 1 LIMIT 1), 0)
        ),
        best AS (
            SELECT s.n, s.score + coalesce(o.score, 0) AS score
            FROM promising AS s LEFT JOIN LATERAL (
                SELECT sum({_SCORE}) AS score FROM (
                    SELECT w.idf, {_FREQUENCY} AS frequency, p.length FROM {_WEIGHED.format("rest", "rest_idfs")}
                    JOIN {index.name}_postings AS p ON p.word = w.word AND p.n = s.n
                ) AS p
            ) AS o ON true
            ORDER BY score DESC, n LIMIT :limit
        )
        SELECT r.id, best.score FROM best JOIN {index.rows} AS r ON r.n = best.n ORDER BY best.score DESC, best.n
        """
    values |= {
        "words": [word.id for word in leading],
        "idfs": [word.idf for word in leading],
        "rest": [word.id for word in rest],
        "rest_idfs": [word.idf for word in rest],
        "most": _most(rest),
        "rows": known.rows,
        "mean": known.mean,
        "limit": scope.limit,
        "audiences": None if scope.audiences is None else list(scope.audiences),
        "documents": None if scope.documents is None else list(scope.documents),
    }
    return [(id_, score) for id_, score in connection.execute(sql, values)]


_FREQUENCY = f"((p.counts >> {TITLE_BITS}) + 2 * (p.counts & {MOST_IN_TITLE}))"
_WEIGHED = "unnest(CAST(:{} AS int[]), CAST(:{} AS float8[])) AS w(word, idf)"
# Constants of this type: one with a point is a `numeric`, which is slow to reckon with.
_LENGTH = f"CAST({K1 * (1 - B)} AS float8) + CAST({K1 * B} AS float8) / CAST(:mean AS float8) * p.length"
_SCORE = f"p.idf * CAST({K1 + 1} AS float8) * p.frequency / (p.frequency + {_LENGTH})"


def _narrowed(index: RowIndex, scope: _Scope) -> str:
    clauses = [] if scope.audiences is None else [_READABLE]
    if scope.documents is not None:
        documents = "ANY(CAST(:documents AS text[]))"
        clauses.append(f"p.n IN (SELECT r.n FROM {index.rows} AS r WHERE r.document = {documents})")
    return " AND ".join(clauses) or "true"


def _hits(index: RowIndex, phrases: Sequence[tuple[int, ...]], *, held: bool) -> tuple[str, dict[str, Any]]:
    """SQL, with its values, for the rows that hold each phrase, whoever may read them: its weight depends on all."""
    selects, values = [_NO_HITS], dict[str, Any]()
    for number, words in enumerate(phrases):
        if len(words) == 1:
            # Asked for by itself a single word is one that headings or text hold.
            selects.append(
                f"SELECT {number}, n, audience, length, counts >> {TITLE_BITS} FROM {index.name}_postings "
                f"WHERE word = :phrase{number}_0 AND counts >> {TITLE_BITS} > 0"
            )
        else:
            selects.append(_hits_in_order(index, number, words, held=held))
            # What follows is looked at and not consumed: occurrences may overlap.
            values[f"pattern{number}"] = f" {words[0]}(?={''.join(f' {word}' for word in words[1:])} )"
        values |= {f"phrase{number}_{place}": word for place, word in enumerate(words)}
    return " UNION ALL ".join(selects), values


_NO_HITS = "SELECT 0 AS phrase, 0 AS n, 0 AS audience, 0 AS length, CAST(0 AS bigint) AS frequency WHERE false"


def _hits_in_order(index: RowIndex, number: int, words: tuple[int, ...], *, held: bool) -> str:
    joins = "".join(
        f" JOIN {index.name}_postings AS p{place} ON p{place}.n = p.n AND p{place}.word = :phrase{number}_{place}"
        for place in range(1, len(words))
    )
    columns = {"heading": 2, "body": 1} if held else {"title": 2, "heading": 2, "body": 1}
    frequency = " + ".join(
        f"{weight} * (SELECT count(*) FROM regexp_matches(s.{column}, :pattern{number}, 'g'))"
        for column, weight in columns.items()
    )
    return (
        f"SELECT * FROM (SELECT {number}, p.n, p.audience, p.length, {frequency} AS frequency "
        f"FROM {index.name}_postings AS p{joins} JOIN {index.name}_sequences AS s ON s.n = p.n "
        f"WHERE p.word = :phrase{number}_0) AS h WHERE h.frequency > 0"
    )
