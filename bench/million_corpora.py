"""The making of the corpora that `bench/million.py` measures, directly in the stores: rows, keyword index and vectors.

Sentences are drawn from public data sets (`ARGOT_DATASETS`), so that word frequencies are natural. A document has 20
passages; half of the documents are for everyone and half for one of nine groups. A passage's vector is the embedding of
its first sentence, with noise. A smaller corpus is the beginning of a larger one. Corpora stay in the folder, and are
not made again.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from keyword_engines import load_sentences

from argot.corpus.database import SqliteCorpusDatabase
from argot.corpus.embedding.embedder import load_embedder
from argot.corpus.index.chroma_index import CONFIGURATION
from argot.corpus.index.vector_index import collection_name
from argot.corpus.keyword.index_terms import build_identifier_column, fold_for_index
from argot.corpus.keyword.keyword_index import choose_keyword_index
from argot.corpus.store.row_mapping import dump_audience
from argot.protocols import Vectors
from argot.settings import Settings
from argot.types import EVERYONE, Audience

IN_DOCUMENT = 20
SENTENCES = 7
GROUPS = 9
PRODUCTS = 20
EMBEDDED = 4_000
NOISE = 0.5
"""Length of the noise that is added to a vector of length 1: their sum has a cosine of about 0.9 with it."""
GENERATION = "g000001"
ROWS_AT_ONCE = 20_000
VECTORS_AT_ONCE = 5_000
GROUP_NAMES = [f"group{n}" for n in range(GROUPS)]
AUDIENCES: list[Audience] = [EVERYONE, *(frozenset({name}) for name in GROUP_NAMES)]


class Sentence(NamedTuple):
    text: str
    folded: str
    identifiers: str


def hash_id(prefix: str, number: int) -> str:
    """Return an id of the same length as Argot's own."""
    return prefix + blake2b(f"{prefix}{number}".encode(), digest_size=8).hexdigest()


def choose_audience(document: int) -> int:
    """Return the index in `AUDIENCES` of a document's audience."""
    return 0 if document % 2 else 1 + document // 2 % GROUPS


def choose_tags(document: int) -> list[str]:
    return [
        *(["half"] if document // 2 % 2 else []),
        *(["percent"] if document % 100 in {7, 8} and document % 200 < 100 else []),
    ]


def choose_product(document: int) -> str:
    return f"product {document // 3 % PRODUCTS}"


class Draw:
    """The sentences, and the random choice of those of each passage."""

    def __init__(self, folder: Path) -> None:
        kept = folder / "sentences.json"
        if not kept.exists():
            kept.write_text(json.dumps(load_sentences()), encoding="utf-8")
        texts = json.loads(kept.read_text(encoding="utf-8"))
        self.sentences = [Sentence(text, fold_for_index(text), build_identifier_column(text)) for text in texts]
        dice = random.Random(3)
        self.embedded = dice.sample(range(len(texts)), EMBEDDED)

    def draw_passages(self, count: int) -> Iterator[tuple[list[int], list[int]]]:
        """Yield for each passage the numbers of the sentences of its text and of its heading."""
        dice = random.Random(1)
        for _ in range(count):
            first = self.embedded[int(dice.random() * EMBEDDED)]
            rest = [int(dice.random() * len(self.sentences)) for _ in range(SENTENCES)]
            yield [first, *rest[1:]], rest[:1]


# -- rows -------------------------------------------------------------------------------------------------------------


def make_rows(folder: Path, count: int, draw: Draw, fingerprint: str) -> None:
    home = find_home(folder, count)
    if (home / "rows.done").exists():
        return
    home.mkdir(parents=True, exist_ok=True)
    database, began = SqliteCorpusDatabase(home / "corpus.db", read_only=False), time.perf_counter()
    connection = database.connection()
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute("PRAGMA synchronous = OFF")
    with database.writing() as writer:
        writer.executemany(
            "INSERT INTO audiences (n, tokens) VALUES (?, ?)",
            [(n, dump_audience(audience)) for n, audience in enumerate(AUDIENCES, start=1)],
        )
        writer.execute("INSERT INTO generations VALUES (?, ?, 384)", (GENERATION, fingerprint))
        _insert_documents(writer, count // IN_DOCUMENT, draw)
    drawn = enumerate(draw.draw_passages(count))
    while batch := list(islice(drawn, ROWS_AT_ONCE)):
        with database.writing() as writer:
            writer.executemany(_PASSAGE, [_build_passage_row(n, *passage, draw) for n, passage in batch])
            writer.executemany(
                "INSERT INTO vectors (generation, item, kind, document, windows) VALUES (?, ?, 'passage', ?, 1)",
                [(GENERATION, hash_id("p", n), hash_id("d", n // IN_DOCUMENT)) for n, _ in batch],
            )
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    say(f"{count:,} rows", began)
    database.close()
    (home / "rows.done").touch()


def make_words(folder: Path, count: int) -> None:
    """Build the keyword index of corpus.db."""
    home = find_home(folder, count)
    if (home / "words.done").exists():
        return
    database, began = SqliteCorpusDatabase(home / "corpus.db", read_only=False), time.perf_counter()
    with database.writing() as writer:
        choose_keyword_index(writer).rebuild(writer)
    choose_keyword_index(database.connection()).forget_deleted(database, "passage")
    database.connection().execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    say(f"{count:,} rows in SQLite's keyword index", began)
    (home / "words.done").touch()


_PASSAGE = (
    "INSERT INTO passages (n, id, document, revision, audience, ordinal, start, end, text, header, heading_path, title,"
    " heading, folded, identifiers) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


def _build_passage_row(n: int, drawn: list[int], heading: list[int], draw: Draw) -> tuple[Any, ...]:
    document, place = divmod(n, IN_DOCUMENT)
    chosen = [draw.sentences[number] for number in drawn]
    title = _make_title(document, draw)
    words = " ".join(draw.sentences[heading[0]].text.split()[:4])
    text, folded = " ".join(one.text for one in chosen), " ".join(one.folded for one in chosen)
    names = " ".join(filter(None, [build_identifier_column(title, words), *(one.identifiers for one in chosen)]))
    start = place * 2_000
    return (
        n + 1, hash_id("p", n), hash_id("d", document), hash_id("r", document), choose_audience(document) + 1, place,
        start, start + len(text), text, title, json.dumps([words]), fold_for_index(title), fold_for_index(words),
        None if folded == text else folded, names,
    )  # fmt: skip


def _make_title(document: int, draw: Draw) -> str:
    return " ".join(draw.sentences[document * 7919 % len(draw.sentences)].text.split()[:5])


def _insert_documents(writer: Any, count: int, draw: Draw) -> None:
    for document in range(count):
        id_, tags = hash_id("d", document), choose_tags(document)
        writer.execute(
            "INSERT INTO documents (id, uri, title, date, tags, audience, revision, passages) VALUES (?,?,?,?,?,?,?,?)",
            (
                id_, f"file:///documents/{document}.md", _make_title(document, draw), f"20{10 + document % 15}-01-01",
                json.dumps(tags), choose_audience(document) + 1, hash_id("r", document), IN_DOCUMENT,
            ),
        )  # fmt: skip
        writer.execute(
            "INSERT INTO revisions (id, document, content_hash, state, media_type, markdown, size, added_at)"
            " VALUES (?, ?, ?, 'live', 'text/markdown', '', 20000, '2026-01-01T00:00:00Z')",
            (hash_id("r", document), id_, hash_id("c", document)),
        )
        said = [("tag", tag, "tag") for tag in tags] + [("product", choose_product(document), "file")]
        writer.executemany(
            "INSERT INTO document_fields (document, name, value, origin, folded) VALUES (?, ?, ?, ?, ?)",
            [(id_, name, value, origin, value) for name, value, origin in said],
        )


# -- vectors ----------------------------------------------------------------------------------------------------------


def load_base_vectors(folder: Path, draw: Draw) -> Vectors:
    kept = folder / "embedded.npy"
    if not kept.exists():
        began = time.perf_counter()
        embedder = load_embedder(Settings())
        np.save(kept, embedder.embed_passages([draw.sentences[number].text for number in draw.embedded]))
        say(f"{EMBEDDED:,} sentences embedded", began)
    return cast(Vectors, np.load(kept))


def make_drawn_vectors(folder: Path, count: int, draw: Draw) -> Vectors:
    """Make the vectors, shape (count, dimensions), in a file, for comparison with the index."""
    kept = folder / f"vectors-{count}.npy"
    if not kept.exists():
        base, dice = load_base_vectors(folder, draw), np.random.default_rng(4)
        places = {number: place for place, number in enumerate(draw.embedded)}
        partial = kept.with_suffix(".part.npy")
        made = np.lib.format.open_memmap(partial, "w+", np.float32, (count, base.shape[1]))
        drawn = (places[passage[0]] for passage, _ in draw.draw_passages(count))
        for start in range(0, count, ROWS_AT_ONCE):
            chosen = base[list(islice(drawn, min(ROWS_AT_ONCE, count - start)))]
            noise = dice.normal(size=chosen.shape).astype(np.float32)
            rows = chosen + noise * (NOISE / np.linalg.norm(noise, axis=1, keepdims=True))
            made[start : start + len(rows)] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        made.flush()
        partial.rename(kept)
    return cast(Vectors, np.load(kept, mmap_mode="r"))


def make_vectors(folder: Path, count: int, draw: Draw, fingerprint: str) -> None:
    """Build Chroma's embedded index."""
    import chromadb
    from chromadb.config import Settings as ChromaSettings

    root = find_home(folder, count) / "vectors"
    if (root / "CURRENT").exists():
        return
    vectors, began = make_drawn_vectors(folder, count, draw), time.perf_counter()
    (root / GENERATION).mkdir(parents=True, exist_ok=True)
    client = chromadb.PersistentClient(str(root / GENERATION), settings=ChromaSettings(anonymized_telemetry=False))
    numbers = np.arange(count)
    owners = np.array([choose_audience(document) for document in range(-(-count // IN_DOCUMENT))])[
        numbers // IN_DOCUMENT
    ]
    done = 0
    for place, audience in enumerate(AUDIENCES):
        collection = client.get_or_create_collection(
            collection_name("passage", fingerprint, audience),
            embedding_function=None,
            configuration=cast(Any, CONFIGURATION),
        )
        own = numbers[owners == place]
        for start in range(0, len(own), VECTORS_AT_ONCE):
            some = own[start : start + VECTORS_AT_ONCE]
            collection.upsert(ids=[f"{hash_id('p', int(n))}:0" for n in some], embeddings=vectors[some])
            done += len(some)
            if done % 50_000 < VECTORS_AT_ONCE:
                say(f"{done:,} of {count:,} vectors", began)
    cast(Any, client).close()
    (root / "CURRENT").write_text(GENERATION)
    say(f"{count:,} vectors in Chroma", began)


# -- parts ------------------------------------------------------------------------------------------------------------


def find_home(folder: Path, count: int) -> Path:
    return folder / f"kb-{count}"


def say(what: str, began: float) -> None:
    took = time.perf_counter() - began
    print(f"{what}: {took:.0f} s, of all the processor time {time.process_time():.0f} s", flush=True)


def read_fingerprint() -> str:
    return load_embedder(Settings()).fingerprint
