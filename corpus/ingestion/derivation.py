"""Adding derived texts and triples to existing documents, passage by passage, and removing them again.

A language model takes hours where reading a folder takes minutes, so this can be stopped and killed at any time: the
results of a passage are stored in one transaction, after its vectors, in the order that `ingest_job` explains. Each
recipe is recorded with its passages even without results, so that no work is repeated.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import ceil
from typing import get_args

from argot.corpus.index import outbox
from argot.corpus.index.embedding_windows import Item, embed_items, group_by_collection, record_windows
from argot.corpus.index.quantised_vectors import forget_quantised
from argot.corpus.index.vector_index import VectorIndex
from argot.corpus.ingestion.document_changes import Parts
from argot.corpus.keyword.keyword_index import choose_keyword_index
from argot.corpus.store.derived_ids import stamp_derived, stamp_triples
from argot.corpus.store.row_mapping import load_audience
from argot.corpus.store.row_writes import insert_derived, insert_triples
from argot.corpus.store.upserts import upsert
from argot.corpus.vector_ids import VectorKind, build_vector_id
from argot.databases import Connection
from argot.types import PICTURE, Audience, DerivableKind, DerivedText, Passage, Triple

DERIVABLE_KINDS: tuple[DerivableKind, ...] = get_args(DerivableKind)
SECTION_CHARS: Mapping[DerivableKind, int] = {"expert_summary": 16_000}
"""Approximate size of the part of a document from which a text is derived, in characters; kinds not listed: each
passage by itself.

16,000 are about the 4,000 tokens of Golden-Retriever 3.1.
"""


RULES_MODEL = "rules"
"""Placeholder for the model of texts derived without one; a model derives them again."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """The source of a kind of text. `prompt` changes with the prompt's wording."""

    kind: DerivableKind
    prompt: str
    model: str


@dataclass(frozen=True, slots=True)
class DerivationTask:
    """One recipe to apply to passages (their ids) that are processed together; usually one."""

    document: str
    passages: tuple[str, ...]
    recipe: Recipe


@dataclass(frozen=True, slots=True)
class DerivedBatch:
    """All results of one recipe for the passages of one task. An empty result counts too, and is not tried again."""

    recipe: Recipe
    passages: Sequence[Passage]
    texts: Sequence[DerivedText] = ()
    triples: Sequence[Triple] = ()

    @property
    def document(self) -> str:
        return self.passages[0].document_id


@dataclass(frozen=True, slots=True)
class DerivedStock:
    """The stored texts of one kind by one recipe in one document. `passages`: how many they were derived from."""

    document: str
    recipe: Recipe
    passages: int
    texts: int


# -- reading ----------------------------------------------------------------------------------------------------------


def list_tasks(
    connection: Connection, document: str, recipes: Sequence[Recipe], *, renew: bool
) -> list[DerivationTask]:
    """List the remaining tasks of a document, in the order of its passages.

    Args:
        renew: also texts of another prompt or model; otherwise these stay unchanged.
    """
    sql = "SELECT id, length(text) FROM passages WHERE document = ? ORDER BY ordinal"
    passages = connection.execute(sql, (document,)).fetchall()
    tasks = []
    for recipe in recipes:
        made = _find_passages_made(connection, document, recipe, any_recipe=not renew)
        if recipe.kind == PICTURE:
            made |= {id_ for id_, _ in passages} - _find_illustrated(connection, document)
        for section in cut_sections(recipe.kind, [length for _, length in passages]):
            ids = tuple(passages[n][0] for n in section)
            if not made.issuperset(ids):
                tasks.append(DerivationTask(document, ids, recipe))
    return tasks


def _find_illustrated(connection: Connection, document: str) -> set[str]:
    """Return the passages with pictures."""
    return {row[0] for row in connection.execute("SELECT passage FROM pictures WHERE document = ?", (document,))}


def is_done(connection: Connection, task: DerivationTask) -> bool:
    """Return whether the task has been done meanwhile, or its passages are deleted."""
    listed = json.dumps(task.passages)
    left = connection.execute(
        """SELECT count(p.id), count(d.passage) FROM json_each(?) AS wanted JOIN passages AS p ON p.id = wanted.value
        LEFT JOIN derivations AS d ON d.passage = p.id AND d.kind = ? AND (d.model != ? OR d.model = ?)""",
        (listed, task.recipe.kind, RULES_MODEL, task.recipe.model),
    ).fetchone()
    return bool(left[0] < len(task.passages) or left[1] == len(task.passages))


def cut_sections(kind: DerivableKind, lengths: Sequence[int]) -> list[range]:
    """Divide the passages of a document, given by their lengths, into the groups from which a text of this kind is
    derived.

    Those of `SECTION_CHARS` are divided into as few parts as that allows, of about the same length.
    """
    if kind not in SECTION_CHARS:
        return [range(n, n + 1) for n in range(len(lengths))]
    total = max(1, sum(lengths))
    parts = ceil(total / SECTION_CHARS[kind])
    found: dict[int, list[int]] = {}
    for n, (length, end) in enumerate(zip(lengths, accumulate(lengths), strict=True)):
        # By its middle, so that no part is longer than the others by more than a passage.
        found.setdefault(min(parts - 1, int((end - length / 2) / total * parts)), []).append(n)
    return [range(of[0], of[-1] + 1) for of in found.values()]


def read_stock(connection: Connection) -> list[DerivedStock]:
    """Return the stock of all documents, without access checks; a document's own triples have an empty prompt."""
    rows = connection.execute(
        """SELECT document, kind, prompt, model, sum(passages), sum(texts) FROM (
            SELECT document, kind, prompt, model, count(*) AS passages, 0 AS texts FROM derivations GROUP BY 1, 2, 3, 4
            UNION ALL
            SELECT document, kind, prompt, model, 0, count(*) FROM derived GROUP BY 1, 2, 3, 4
            UNION ALL
            SELECT document, 'triple', prompt, model, 0, count(*) FROM triples GROUP BY 1, 3, 4
        ) AS t GROUP BY 1, 2, 3, 4 ORDER BY 2, 3, 4, 1"""
    )
    return [DerivedStock(document, Recipe(*recipe), passages, texts) for document, *recipe, passages, texts in rows]


def read_previous_summary(connection: Connection, passage: Passage) -> str:
    """Return the nearest summary of an earlier passage (RAIDD 2.2, S); empty at a document's
    start.
    """
    row = connection.execute(
        """SELECT t.text FROM passages AS p JOIN derived_passages AS l ON l.passage = p.id
        JOIN derived AS t ON t.id = l.derived
        WHERE p.document = ? AND p.ordinal < ? AND t.kind = 'summary' ORDER BY p.ordinal DESC, t.n DESC LIMIT 1""",
        (passage.document_id, passage.ordinal),
    ).fetchone()
    return str(row[0]) if row else ""


def _find_passages_made(connection: Connection, document: str, recipe: Recipe, *, any_recipe: bool) -> set[str]:
    """Return passages from which this kind has been derived: now, or together with the document."""
    made = connection.execute(
        "SELECT passage, prompt, model FROM derivations WHERE document = :document AND kind = :kind "
        "UNION SELECT l.passage, t.prompt, t.model FROM derived AS t JOIN derived_passages AS l ON l.derived = t.id "
        "WHERE t.document = :document AND t.kind = :kind",
        {"document": document, "kind": recipe.kind},
    )
    mine = (recipe.prompt, recipe.model)
    return {
        passage
        for passage, *by in made
        if tuple(by) == mine or (any_recipe and (by[1] != RULES_MODEL or recipe.model == RULES_MODEL))
    }


# -- changing, one thread at a time: `Corpus.changing` ----------------------------------------------------------------


def keep(parts: Parts, batches: Sequence[DerivedBatch]) -> int:
    """Store results durably, and replace other recipes' results for the same passages; return how many were stored.

    Passages deleted meanwhile, because their document was changed or removed, are skipped.
    """
    documents: dict[str, list[DerivedBatch]] = {}
    for one in batches:
        documents.setdefault(one.document, []).append(one)
    return sum(_keep(parts, document, of_document) for document, of_document in documents.items())


def take_out(parts: Parts, document: str, kind: DerivableKind) -> int:
    """Delete the derived texts of this kind of a document; return how many. Those that came with the document stay."""
    database = parts.store.database
    with database.writing() as connection:
        gone = _read_made_ids(connection, kind, "document = ?", document)
        # Read before the rows that contain the number of vectors of each text are deleted.
        vectors = _read_item_vectors(connection, parts.vectors, gone, _read_audience(connection, document))
        _delete(connection, parts.vectors, document, kind, gone)
        connection.execute("DELETE FROM derivations WHERE document = ? AND kind = ?", (document, kind))
        outbox.finish(connection, document, parts.vectors.generation, vectors)
    return len(gone)


def _keep(parts: Parts, document: str, batches: Sequence[DerivedBatch]) -> int:
    database, index = parts.store.database, parts.vectors
    connection = database.connection()
    fresh = _select_fresh(connection, batches)
    if not fresh:
        return 0
    audience = _read_audience(connection, document)
    # A text that is stored already, word for word, keeps its vectors.
    there = {kind: _read_all_ids(connection, table, document) for kind, table in _TABLES.items()}
    embedded = embed_items(parts.embedder, index, _build_items(fresh, audience, there))
    after = {name: list(vectors) for name, vectors in group_by_collection(embedded).items()}
    if after:
        with database.writing() as writer:
            outbox.begin(writer, document, index.generation, after)
    for name, vectors in group_by_collection(embedded).items():
        index.upsert(name, vectors)
    with database.writing() as writer:
        replaced = _replace(writer, index, fresh, audience)
        record_windows(writer, index.generation, embedded)
        outbox.finish(writer, document, index.generation, replaced)
    return len(fresh)


def _select_fresh(connection: Connection, batches: Iterable[DerivedBatch]) -> list[DerivedBatch]:
    """Return the texts of existing passages that are not stored yet, with ids by `derived_ids`."""
    found: dict[tuple[str, str], DerivedBatch] = {}
    for one in batches:
        recipe, passages = one.recipe, one.passages
        rows = connection.execute(
            """SELECT d.prompt, d.model FROM passages AS p
            LEFT JOIN derivations AS d ON d.passage = p.id AND d.kind = ?
            WHERE p.document = ? AND p.id IN (SELECT value FROM json_each(?))""",
            (recipe.kind, one.document, _list_ids(passages)),
        ).fetchall()
        # Fewer rows: a passage is deleted. (None, None): nothing was derived from it yet.
        if len(rows) == len(passages) and set(map(tuple, rows)) != {(recipe.prompt, recipe.model)}:
            texts, triples = stamp_derived(one.texts, passages), stamp_triples(one.triples, passages)
            found[passages[0].id, recipe.kind] = DerivedBatch(recipe, passages, texts, triples)
    return list(found.values())


def _list_ids(passages: Iterable[Passage]) -> str:
    return json.dumps([passage.id for passage in passages])


def _build_items(
    batches: Iterable[DerivedBatch], audience: Audience, there: dict[VectorKind, set[str]]
) -> Iterator[Item]:
    for one in batches:
        for text in one.texts:
            if text.id not in there["derived"]:
                yield Item("derived", text.id, text.text, one.document, audience)
        for triple in one.triples:
            if triple.id not in there["triple"]:
                yield Item("triple", triple.id, triple.text, one.document, audience)


def _replace(
    connection: Connection, index: VectorIndex, batches: Sequence[DerivedBatch], audience: Audience
) -> dict[str, list[str]]:
    """Write the rows of the results, delete those they replace, and return the vectors of the latter by collection."""
    replaced: dict[str, list[str]] = {}
    for one in batches:
        kind, prompt, model = one.recipe.kind, one.recipe.prompt, one.recipe.model
        new = {text.id for text in one.texts} | {triple.id for triple in one.triples}
        # A text that this recipe produced again, word for word, stays.
        gone = _read_made_ids(connection, kind, _OF_PASSAGES[_choose_vector_kind(kind)], _list_ids(one.passages)) - new
        for name, ids in _read_item_vectors(connection, index, gone, audience).items():
            replaced.setdefault(name, []).extend(ids)
        _delete(connection, index, one.document, kind, gone)
        _insert(connection, one)
        connection.executemany(
            upsert("derivations", ("passage", "kind", "document", "prompt", "model"), ("passage", "kind")),
            [(passage.id, kind, one.document, prompt, model) for passage in one.passages],
        )
    return replaced


def _insert(connection: Connection, batch: DerivedBatch) -> None:
    """Insert new rows. A triple that came with the document stays the document's."""
    document, recipe = batch.document, batch.recipe
    there = {kind: _read_all_ids(connection, table, document) for kind, table in _TABLES.items()}
    texts = [text for text in batch.texts if text.id not in there["derived"]]
    triples = [triple for triple in batch.triples if triple.id not in there["triple"]]
    audience = int(connection.execute("SELECT audience FROM documents WHERE id = ?", (document,)).fetchone()[0])
    insert_derived(connection, texts, document, audience)
    insert_triples(connection, triples, document, audience, prompt=recipe.prompt, model=recipe.model)
    index = choose_keyword_index(connection)
    index.insert_some(connection, "derived", [text.id for text in texts])
    index.insert_some(connection, "triple", [triple.id for triple in triples])
    connection.execute(
        # A text that an earlier recipe produced too now belongs to this one. An empty prompt: it came with the
        # document.
        "UPDATE triples SET prompt = ?, model = ? WHERE prompt != '' AND id IN (SELECT value FROM json_each(?))",
        (recipe.prompt, recipe.model, json.dumps([triple.id for triple in batch.triples])),
    )


# -- parts ------------------------------------------------------------------------------------------------------------

_TABLES: dict[VectorKind, str] = {"derived": "derived", "triple": "triples"}
_OF_PASSAGES = {
    "derived": "id IN (SELECT derived FROM derived_passages WHERE passage IN (SELECT value FROM json_each(?)))",
    "triple": "passage IN (SELECT value FROM json_each(?))",
}


def _choose_vector_kind(kind: DerivableKind) -> VectorKind:
    return "triple" if kind == "triple" else "derived"


def _read_made_ids(connection: Connection, kind: DerivableKind, where: str, value: str) -> set[str]:
    """Return ids of recipes' results of this kind, narrowed by `where` (a constant of Argot's)."""
    table, of_kind = _TABLES[_choose_vector_kind(kind)], "prompt != ''" if kind == "triple" else "kind = ?"
    values = (value,) if kind == "triple" else (value, kind)
    rows = connection.execute(f"SELECT id FROM {table} WHERE {where} AND {of_kind}", values)  # noqa: S608
    return {row[0] for row in rows}


def _read_all_ids(connection: Connection, table: str, document: str) -> set[str]:
    return {row[0] for row in connection.execute(f"SELECT id FROM {table} WHERE document = ?", (document,))}  # noqa: S608


def _read_audience(connection: Connection, document: str) -> Audience:
    row = connection.execute(
        "SELECT a.tokens FROM documents AS d JOIN audiences AS a ON a.n = d.audience WHERE d.id = ?", (document,)
    ).fetchone()
    return load_audience(row[0])


def _read_item_vectors(
    connection: Connection, index: VectorIndex, items: Iterable[str], audience: Audience
) -> dict[str, list[str]]:
    """Return the ids of all vectors of these items in this generation, by collection."""
    rows = connection.execute(
        "SELECT kind, item, windows FROM vectors WHERE generation = ? AND item IN (SELECT value FROM json_each(?))",
        (index.generation, json.dumps(sorted(items))),
    )
    found: dict[str, list[str]] = {}
    for kind, item, windows in rows:
        ids = found.setdefault(index.collection_name(kind, audience), [])
        ids += [build_vector_id(item, window) for window in range(windows)]
    return found


def _delete(
    connection: Connection, index: VectorIndex, document: str, kind: DerivableKind, ids: Collection[str]
) -> None:
    listed = json.dumps(sorted(ids))
    table = _TABLES[_choose_vector_kind(kind)]
    # Before the rows are deleted: FTS5 removes words by the texts they came from.
    choose_keyword_index(connection).delete_some(connection, _choose_vector_kind(kind), json.loads(listed))
    connection.execute("DELETE FROM vectors WHERE item IN (SELECT value FROM json_each(?))", (listed,))
    forget_quantised(connection, index.generation, document, _choose_vector_kind(kind), ids)
    connection.execute(f"DELETE FROM {table} WHERE id IN (SELECT value FROM json_each(?))", (listed,))  # noqa: S608
