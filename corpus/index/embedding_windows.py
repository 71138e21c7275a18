"""The texts to embed: passages with their headers, derived texts, triples; each in as many windows as the model
needs.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from argot.corpus.index.quantised_vectors import add_quantised
from argot.corpus.index.soundness import sketch_vectors
from argot.corpus.index.vector_index import VectorIndex
from argot.corpus.store.row_mapping import load_audience
from argot.corpus.store.row_writes import NewRevision
from argot.corpus.store.upserts import upsert
from argot.corpus.vector_ids import VectorKind, build_vector_id
from argot.databases import Connection
from argot.protocols import Embedder, Vectors
from argot.types import Audience


@dataclass(frozen=True, slots=True)
class Item:
    """One searched text. `text` is the embedded text."""

    kind: VectorKind
    id: str
    text: str
    document: str
    audience: Audience


@dataclass(frozen=True, slots=True)
class WindowedItem:
    """An item in pieces that the embedder accepts whole."""

    item: Item
    windows: list[str]


@dataclass(frozen=True, slots=True)
class EmbeddedItem:
    """`vectors`: one per window, by vector id."""

    item: Item
    collection: str
    vectors: dict[str, Vectors]


def list_items(new: NewRevision) -> Iterator[Item]:
    document, audience = new.document.id, new.document.audience
    for passage in new.passages:
        # With title and headings, which name the subject of the text.
        yield Item("passage", passage.id, passage.with_header, document, audience)
    for derived in new.derived:
        yield Item("derived", derived.id, derived.text, document, audience)
    for triple in new.triples:
        yield Item("triple", triple.id, triple.text, document, audience)


def read_items(connection: Connection) -> Iterator[Item]:
    """Yield all items of all live revisions, in a fixed order."""
    # The same text as `Passage.with_header`, which was embedded when the passage was added.
    rows = connection.execute(
        """SELECT kind, id, text, document, a.tokens FROM (
            SELECT 1 AS part, 'passage' AS kind, n, id, document, audience,
                CASE WHEN header = '' THEN text ELSE header || '\n' || text END AS text FROM passages
            UNION ALL SELECT 2, 'derived', n, id, document, audience, text FROM derived
            UNION ALL SELECT 3, 'triple', n, id, document, audience, text FROM triples
        ) AS t JOIN audiences AS a ON a.n = t.audience ORDER BY part, t.n"""
    )
    for kind, id_, text, document, tokens in rows:
        yield Item(kind, id_, text, document, load_audience(tokens))


def count_items(connection: Connection) -> int:
    sql = "SELECT (SELECT count(*) FROM passages) + (SELECT count(*) FROM derived) + (SELECT count(*) FROM triples)"
    return int(connection.execute(sql).fetchone()[0])


def cut_windows(embedder: Embedder, items: Iterable[Item]) -> Iterator[WindowedItem]:
    for item in items:
        yield WindowedItem(item, embedder.windows(item.text))


def embed_items(embedder: Embedder, index: VectorIndex, items: Iterable[Item]) -> list[EmbeddedItem]:
    """Embed all windows of all items in one go, so that the embedder can sort them by length."""
    return embed_windows(embedder, index, list(cut_windows(embedder, items)))


def embed_windows(embedder: Embedder, index: VectorIndex, listed: Sequence[WindowedItem]) -> list[EmbeddedItem]:
    # Each text once: a log or a generated file repeats itself, and embedding takes nearly all the time.
    places = {text: n for n, text in enumerate(dict.fromkeys(window for one in listed for window in one.windows))}
    vectors = embedder.embed_passages(list(places)) if places else np.zeros((0, embedder.dimensions), np.float32)
    embedded = []
    for one in listed:
        rows = {build_vector_id(one.item.id, n): vectors[places[text]] for n, text in enumerate(one.windows)}
        embedded.append(EmbeddedItem(one.item, index.collection_name(one.item.kind, one.item.audience), rows))
    return embedded


def move_to_readers(one: EmbeddedItem, index: VectorIndex, audience: Audience) -> EmbeddedItem:
    """Return the same vectors for other readers than assumed when they were embedded."""
    item = replace(one.item, audience=audience)
    return EmbeddedItem(item, index.collection_name(item.kind, audience), one.vectors)


def group_by_collection(embedded: Sequence[EmbeddedItem]) -> dict[str, dict[str, Vectors]]:
    found: dict[str, dict[str, Vectors]] = {}
    for one in embedded:
        found.setdefault(one.collection, {}).update(one.vectors)
    return found


def record_windows(connection: Connection, generation: str, embedded: Sequence[EmbeddedItem]) -> None:
    """Record how many vectors each item has in a generation of the index, with a sketch and a quantised copy of
    each.
    """
    # Content that returns has the same ids as before: its old rows are replaced.
    connection.executemany(
        upsert("vectors", ("generation", "item", "kind", "document", "windows", "sketch"), ("generation", "item")),
        [
            (generation, one.item.id, one.item.kind, one.item.document, len(one.vectors), _sketch_vectors(one))
            for one in embedded
        ],
    )
    by_document: dict[str, dict[VectorKind, dict[str, Vectors]]] = {}
    for one in embedded:
        by_document.setdefault(one.item.document, {}).setdefault(one.item.kind, {}).update(one.vectors)
    for document, vectors in by_document.items():
        add_quantised(connection, generation, document, vectors)


def read_vector_ids(
    connection: Connection, generation: str, kind: VectorKind, documents: Collection[str]
) -> dict[Audience, list[str]]:
    """Return the ids of the vectors of these documents, by their readers."""
    # `|| ''` keeps SQLite from using the primary key, by which it would read the whole generation instead of the few
    # documents.
    rows = connection.execute(
        """SELECT a.tokens, v.item, v.windows
        FROM vectors AS v JOIN documents AS d ON d.id = v.document JOIN audiences AS a ON a.n = d.audience
        WHERE v.document IN (SELECT value FROM json_each(?)) AND v.generation || '' = ? AND v.kind = ?""",
        (json.dumps(list(documents)), generation, kind),
    )
    found: dict[Audience, list[str]] = {}
    for tokens, item, windows in rows:
        found.setdefault(load_audience(tokens), []).extend(build_vector_id(item, n) for n in range(windows))
    return found


def _sketch_vectors(one: EmbeddedItem) -> bytes:
    return sketch_vectors(np.stack(list(one.vectors.values()))) if one.vectors else b""


def read_expected_counts(connection: Connection, index: VectorIndex) -> dict[str, int]:
    """Return how many vectors each collection must contain."""
    rows = connection.execute(
        """SELECT v.kind, a.tokens, sum(v.windows)
        FROM vectors AS v JOIN documents AS d ON d.id = v.document JOIN audiences AS a ON a.n = d.audience
        WHERE v.generation = ? GROUP BY v.kind, a.tokens""",
        (index.generation,),
    )
    return {index.collection_name(kind, load_audience(tokens)): count for kind, tokens, count in rows}
