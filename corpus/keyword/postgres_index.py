"""BM25 on PostgreSQL, with the order and the scores of FTS5: the same tokens, weights, k1, b and inverse frequencies.

Per index there are a vocabulary (in how many rows a token stands), postings (in which, and how often), and each row's
tokens in their order, for phrases. All of it changes in the transaction that changes the rows.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg

from argot.corpus.keyword.index_terms import Phrase, exact_phrase, question_phrases
from argot.corpus.keyword.word_tokens import ColumnTokens, column_tokens, phrase_tokens

Connection = psycopg.Connection[Any]


@dataclass(frozen=True, slots=True)
class RowIndex:
    """What is indexed: a table of rows, the SQL of its searched columns, and what our own tables are called after."""

    name: str
    rows: str
    columns: str


PASSAGES = RowIndex("passage", "passages", "r.title, r.heading, coalesce(r.folded, r.text), r.identifiers")
DERIVED = RowIndex("derived", "derived", "'', '', coalesce(r.folded, r.text), r.identifiers")
TRIPLES = RowIndex("triple", "triples", "'', '', coalesce(r.folded, r.text), r.identifiers")
INDEXES = (PASSAGES, DERIVED, TRIPLES)

K1 = 1.2
B = 0.75
LEAST_IDF = 1e-6
"""FTS5's, for a token that stands in half of all rows or more."""
FEW_POSTINGS = 5_000
"""Postings that are read sooner than it is worked out which could be left out."""
MOST_COUNTED = 32_767
"""What a smallint holds. BM25 hardly tells so many occurrences from more, and no passage is so long."""


def search_keywords(  # noqa: PLR0917
    connection: Connection,
    index: RowIndex,
    query: str,
    audiences: Sequence[int] | None,
    limit: int,
    documents: Collection[str] | None = None,
) -> list[tuple[str, float]]:
    """Ids of rows with a positive score, best first.

    Args:
        audiences: the numbers of the audiences that may be found; None: all there are.
        documents: the ids of the documents that alone are searched; None: all there are.
    """
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
    connection: Connection, phrase: str, audiences: Sequence[int] | None, limit: int
) -> list[tuple[str, float]]:
    """Passages that hold the phrase in headings or text, best first."""
    known = _known_phrase(connection, phrase)
    if known is None or limit < 1:
        return []
    return _ranked(connection, PASSAGES, known, _Scope(audiences, None, limit), [], [], held=True)


def count_phrase(connection: Connection, phrase: str, audiences: Sequence[int] | None) -> int:
    known = _known_phrase(connection, phrase)
    if known is None:
        return 0
    narrowed = "" if audiences is None else "WHERE p.audience = ANY(%(audiences)s)"
    sql = f"WITH hits AS ({_hits(PASSAGES, known.phrases, held=True)}) SELECT count(*) FROM hits AS p {narrowed}"  # noqa: S608
    row = connection.execute(sql, {"audiences": None if audiences is None else list(audiences)}).fetchone()
    return int(row[0]) if row else 0


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
    def of(cls, connection: Connection, index: RowIndex, wanted: Iterable[Phrase]) -> _Known:
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
    known = _Known.of(connection, PASSAGES, [wanted])
    phrases = [*known.phrases, *((word.id,) for word in known.words)]
    return _Known([], phrases, known.rows, known.mean) if phrases else None


def _tokens_of(phrase: Phrase) -> tuple[str, ...]:
    tokens = phrase_tokens(phrase.words)
    return tuple(map(_as_identifier, tokens)) if phrase.is_identifier else tokens


def _as_identifier(token: str) -> str:
    # No token of a text has a symbol, so those of the two kinds cannot be confused.
    return f"={token}"


def _vocabulary(
    connection: Connection, index: RowIndex, tokens: Collection[str]
) -> tuple[int, int, dict[str, tuple[int, int]]]:
    """How many rows and tokens are indexed, and of each known token its id and in how many rows it stands."""
    found = connection.execute(
        f"SELECT t.rows, t.tokens, v.token, v.id, v.rows FROM keyword_totals AS t "  # noqa: S608
        f"LEFT JOIN {index.name}_vocabulary AS v ON v.token = ANY(%s) WHERE t.name = %s",
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
    parts = []
    if leading:
        parts.append(
            f"SELECT p.n, {_score('w.idf')} AS score FROM unnest(%(words)s::int[], %(idfs)s::float8[]) AS w(word, idf) "
            f"JOIN {index.name}_postings AS p ON p.word = w.word WHERE {_narrowed(index, scope)}"
        )
    if known.phrases:
        parts.append(
            f"SELECT p.n, {_score('w.idf')} AS score FROM weights AS w JOIN hits AS p ON p.phrase = w.phrase "
            f"WHERE {_narrowed(index, scope)}"
        )
    sql = f"""
        WITH hits AS MATERIALIZED ({_hits(index, known.phrases, held=held)}),
        weights AS (
            SELECT phrase, greatest(ln((%(rows)s - count(*) + 0.5) / (count(*) + 0.5))::float8, {LEAST_IDF}) AS idf
            FROM hits GROUP BY phrase
        ),
        scored AS MATERIALIZED (SELECT n, sum(score) AS score FROM ({" UNION ALL ".join(parts)}) AS p GROUP BY n),
        promising AS (
            SELECT n, score FROM scored WHERE score + %(most)s >= coalesce(
                (SELECT score FROM scored ORDER BY score DESC OFFSET %(limit)s - 1 LIMIT 1), 0)
        ),
        best AS (
            SELECT s.n, s.score + coalesce(o.score, 0) AS score
            FROM promising AS s LEFT JOIN LATERAL (
                SELECT sum({_score("w.idf")}) AS score
                FROM unnest(%(rest)s::int[], %(rest_idfs)s::float8[]) AS w(word, idf)
                JOIN {index.name}_postings AS p ON p.word = w.word AND p.n = s.n
            ) AS o ON true
            ORDER BY score DESC, n LIMIT %(limit)s
        )
        SELECT r.id, best.score FROM best JOIN {index.rows} AS r ON r.n = best.n ORDER BY best.score DESC, best.n
        """  # noqa: S608  only our own names and numbers are put in
    values = {
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


def _score(idf: str) -> str:
    return f"{idf} * p.frequency * {K1 + 1} / (p.frequency + {K1} * ({1 - B} + {B} * p.length / %(mean)s::float8))"


def _narrowed(index: RowIndex, scope: _Scope) -> str:
    clauses = [] if scope.audiences is None else ["p.audience = ANY(%(audiences)s)"]
    if scope.documents is not None:
        clauses.append(f"p.n IN (SELECT r.n FROM {index.rows} AS r WHERE r.document = ANY(%(documents)s))")  # noqa: S608
    return " AND ".join(clauses) or "true"


def _hits(index: RowIndex, phrases: Sequence[tuple[int, ...]], *, held: bool) -> str:
    """SQL for the rows that hold each phrase, whoever may read them: how rare a phrase is depends on all."""
    selects = [_hits_of(index, number, words, held=held) for number, words in enumerate(phrases)]
    return " UNION ALL ".join(selects) or (
        "SELECT 0 AS phrase, 0 AS n, 0 AS audience, 0::smallint AS length, 0 AS frequency WHERE false"
    )


def _hits_of(index: RowIndex, number: int, words: tuple[int, ...], *, held: bool) -> str:
    if len(words) == 1:
        # Asked for by itself a single word is one that headings or text hold.
        return (
            f"SELECT {number} AS phrase, n, audience, length, held AS frequency "  # noqa: S608
            f"FROM {index.name}_postings WHERE word = {words[0]} AND held > 0"
        )
    joins = "".join(
        f" JOIN {index.name}_postings AS p{place} ON p{place}.n = p.n AND p{place}.word = {word}"
        for place, word in enumerate(dict.fromkeys(words[1:]))
        if word != words[0]
    )
    columns = {"heading": 2, "body": 1} if held else {"title": 2, "heading": 2, "body": 1}
    frequency = " + ".join(f"{weight} * {_occurrences(f's.{column}', words)}" for column, weight in columns.items())
    return (
        f"SELECT * FROM (SELECT {number} AS phrase, p.n, p.audience, p.length, {frequency} AS frequency "  # noqa: S608
        f"FROM {index.name}_postings AS p{joins} JOIN {index.name}_sequences AS s ON s.n = p.n "
        f"WHERE p.word = {words[0]}) AS h WHERE h.frequency > 0"
    )


def _occurrences(column: str, words: Sequence[int]) -> str:
    # What follows is looked at and not consumed: occurrences may overlap.
    following = "".join(f" {word}" for word in words[1:])
    return f"regexp_count({column}, ' {words[0]}(?={following} )')"


# -- upkeep, inside the caller's transaction -------------------------------------------------------------------------


def insert_rows(connection: Connection, index: RowIndex, document: str) -> None:
    """Index all rows of a document, which must not be indexed yet."""
    _insert(connection, index, "r.document = %s", document)


def insert_some(connection: Connection, index: RowIndex, ids: Iterable[str]) -> None:
    """Index the rows of these ids, which must not be indexed yet."""
    _insert(connection, index, "r.id = ANY(%s)", list(ids))


def delete_rows(connection: Connection, index: RowIndex, document: str) -> None:
    """Take all rows of a document out. They must still be in their table."""
    _delete(connection, index, "r.document = %s", document)


def delete_some(connection: Connection, index: RowIndex, ids: Iterable[str]) -> None:
    """Take the rows of these ids out, which must still be in their table."""
    _delete(connection, index, "r.id = ANY(%s)", list(ids))


def relabel_rows(connection: Connection, index: RowIndex, document: str) -> None:
    """Give the postings of a document the audience that its rows have now."""
    connection.execute(
        f"UPDATE {index.name}_postings AS p SET audience = w.audience FROM ({_words_of(index)}) AS w "  # noqa: S608
        "WHERE p.word = w.word AND p.n = w.n",
        (document,),
    )


def rebuild(connection: Connection) -> None:
    """Build all keyword indexes again from the stored rows."""
    for index in INDEXES:
        connection.execute(f"TRUNCATE {index.name}_postings, {index.name}_vocabulary, {index.name}_sequences")
        connection.execute("UPDATE keyword_totals SET rows = 0, tokens = 0 WHERE name = %s", (index.name,))
        documents = connection.execute(f"SELECT DISTINCT document FROM {index.rows}").fetchall()  # noqa: S608
        for (document,) in documents:
            insert_rows(connection, index, document)


def _insert(connection: Connection, index: RowIndex, where: str, value: object) -> None:
    rows = connection.execute(
        f"SELECT r.n, r.audience, {index.columns} FROM {index.rows} AS r WHERE {where} ORDER BY r.n",  # noqa: S608
        (value,),
    ).fetchall()
    if not rows:
        return
    indexed = [
        (*tokens[:3], tuple(map(_as_identifier, tokens[3]))) for tokens in column_tokens([row[2:] for row in rows])
    ]
    _add_totals(connection, index, len(rows), sum(len(column) for row in indexed for column in row))
    ids = _add_words(connection, index, Counter(token for row in indexed for token in set().union(*row)))
    with connection.cursor().copy(f"COPY {index.name}_postings FROM STDIN") as copy:
        for (n, audience, *_), tokens in zip(rows, indexed, strict=True):
            for posting in _postings(tokens, ids):
                copy.write_row((posting[0], n, audience, *posting[1:]))
    with connection.cursor().copy(f"COPY {index.name}_sequences FROM STDIN") as copy:
        for (n, *_), tokens in zip(rows, indexed, strict=True):
            copy.write_row((n, sum(map(len, tokens)), *(_sequence(column, ids) for column in tokens)))


def _postings(columns: ColumnTokens, ids: dict[str, int]) -> Iterable[tuple[int, int, int, int]]:
    """Of each token its id, its weighted frequency in all columns and in headings and text, and the row's length."""
    title, heading, body, identifiers = map(Counter, columns)
    length = min(sum(map(len, columns)), MOST_COUNTED)
    for token in title.keys() | heading.keys() | body.keys() | identifiers.keys():
        held = 2 * heading[token] + body[token] + identifiers[token]
        yield ids[token], min(2 * title[token] + held, MOST_COUNTED), min(held, MOST_COUNTED), length


def _sequence(tokens: Sequence[str], ids: dict[str, int]) -> str:
    return "".join(f" {ids[token]}" for token in tokens) + " "


def _add_totals(connection: Connection, index: RowIndex, rows: int, tokens: int) -> None:
    # Comes first in each change of an index: it makes writers wait for each other here, where they cannot deadlock.
    connection.execute(
        "INSERT INTO keyword_totals AS t (name, rows, tokens) VALUES (%s, %s, %s) "
        "ON CONFLICT (name) DO UPDATE SET rows = t.rows + excluded.rows, tokens = t.tokens + excluded.tokens",
        (index.name, rows, tokens),
    )


def _add_words(connection: Connection, index: RowIndex, rows: Counter[str]) -> dict[str, int]:
    """Count the rows that a token newly stands in, and give each token its id."""
    ids: dict[str, int] = dict(
        connection.execute(
            f"UPDATE {index.name}_vocabulary AS v SET rows = v.rows + w.rows "  # noqa: S608
            "FROM unnest(%s::text[], %s::int[]) AS w(token, rows) WHERE v.token = w.token RETURNING v.token, v.id",
            (list(rows), list(rows.values())),
        )
    )
    fresh = [token for token in rows if token not in ids]
    # Not all at once with "on conflict": that takes an id out of the sequence for every token that is known already.
    added = connection.execute(
        f"INSERT INTO {index.name}_vocabulary (token, rows) "  # noqa: S608
        "SELECT * FROM unnest(%s::text[], %s::int[]) RETURNING token, id",
        (fresh, [rows[token] for token in fresh]),
    )
    return {**ids, **dict(added.fetchall())}


def _delete(connection: Connection, index: RowIndex, where: str, value: object) -> None:
    _add_totals(connection, index, 0, 0)
    connection.execute(
        f"""WITH gone AS (
            DELETE FROM {index.name}_postings AS p USING ({_words_of(index, where)}) AS w
            WHERE p.word = w.word AND p.n = w.n RETURNING p.word
        )
        UPDATE {index.name}_vocabulary AS v SET rows = v.rows - g.rows
        FROM (SELECT word, count(*) AS rows FROM gone GROUP BY word) AS g WHERE v.id = g.word""",  # noqa: S608
        (value,),
    )
    connection.execute(
        f"""WITH gone AS (
            DELETE FROM {index.name}_sequences AS s USING {index.rows} AS r WHERE r.n = s.n AND {where}
            RETURNING s.length
        )
        UPDATE keyword_totals AS t SET rows = t.rows - s.rows, tokens = t.tokens - s.tokens
        FROM (SELECT count(*) AS rows, coalesce(sum(length), 0) AS tokens FROM gone) AS s WHERE t.name = %s""",  # noqa: S608
        (value, index.name),
    )
    # The words of what was removed are forgotten, too.
    connection.execute(f"DELETE FROM {index.name}_vocabulary WHERE rows <= 0")  # noqa: S608


def _words_of(index: RowIndex, where: str = "r.document = %s") -> str:
    """SQL for the ids of the tokens of rows."""
    return (
        "SELECT DISTINCT r.n, r.audience, w.word::int AS word "  # noqa: S608
        f"FROM {index.rows} AS r JOIN {index.name}_sequences AS s ON s.n = r.n, "
        "string_to_table(btrim(s.title || s.heading || s.body || s.identifiers), ' ') AS w(word) "
        f"WHERE {where} AND w.word <> ''"
    )
