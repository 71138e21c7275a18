"""Random documents of a few words, for properties that must hold for any document."""

import random

from argot.corpus.document_ids import build_document_id, build_passage_id, build_revision_id, hash_content
from argot.corpus.store import row_writes
from argot.corpus.store.document_store import CorpusStore
from argot.corpus.store.row_writes import NewRevision
from argot.types import Document, Passage, Principal

ROOT = Principal("root", sees_all=True)
_LIST = "valve valves pump pumping NX-4410B C++ Straße flow of the tank 10.2.3 boards nx 4410 controller café"
WORDS = _LIST.split()
"""Few, so that some stand in most rows and many scores are equal; of one stem, of several tokens, and names."""


def write(store: CorpusStore, dice: random.Random, name: str) -> None:
    """Write a document of some passages, with different words each time."""
    document = build_document_id(name)
    texts = [" ".join(dice.choices(WORDS, k=dice.randint(1, 12))) for _ in range(dice.randint(1, 30))]
    content = hash_content("".join(texts).encode())
    revision = build_revision_id(document, content)
    title = " ".join(dice.choices(WORDS, k=2))
    audience = frozenset({"inside"}) if dice.random() < 0.4 else frozenset[str]()
    passages = [
        Passage(
            build_passage_id(revision, n, n + 1),
            document,
            revision,
            n,
            n,
            n + 1,
            text,
            title,
            tuple(dice.choices(WORDS)),
        )
        for n, text in enumerate(texts)
    ]
    row = Document(document, name, title, "text/plain", revision, content, "", audience=audience)
    with store.database.writing() as connection:
        row_writes.put_revision(connection, NewRevision(row, "", passages))
