"""Documents and questions in two languages of made-up words: what a tiny model learns from one part helps in others."""

import random
from pathlib import Path

from argot.learn.store.pair_store import PairSet, PairStore, SetDocument, StoredPair
from argot.learn.training_pairs import PARTS, Part, make_pair_id
from argot.sqlite_database import SqliteStores

COUNT, PASSAGES = 24, 60
ASKED = [
    f"{first}{second}" for first in ("ba", "co", "di", "fe", "gu", "ka") for second in ("lor", "min", "pat", "ruk")
]
WRITTEN = [
    f"{first}{second}" for first in ("sha", "tro", "vel", "wim", "xan", "zep") for second in ("ed", "ig", "ol", "us")
]


def word_folder(folder: Path) -> Path:
    """Make a folder of short documents in the words of `WRITTEN`."""
    folder.mkdir(parents=True)
    for number, places in enumerate(_places()):
        words = " ".join(WRITTEN[place] for place in places)
        (folder / f"note-{number:02}.md").write_text(f"# Note {number}\n\n{words}.\n")
    return folder


def word_embedder(folder: Path) -> Path:
    """Make a sentence-transformers folder with random weights whose vocabulary holds all the words."""
    import tiny_reader

    kept, tiny_reader.WORDS = tiny_reader.WORDS, " ".join([*ASKED, *WRITTEN, "note . # ?", *map(str, range(PASSAGES))])
    try:
        return tiny_reader.tiny_embedder(folder)
    finally:
        tiny_reader.WORDS = kept


def word_pairs(home: Path, passages: dict[str, tuple[str, str]], name: str = "words") -> None:
    """Write a finished set of pairs. `passages`: the document id and passage id by document name."""
    chance = random.Random(5)
    pairs, documents = [], []
    for number, places in enumerate(_places()):
        document, passage = passages[f"note-{number:02}.md"]
        documents.append(SetDocument(document, f"note-{number:02}.md"))
        part: Part = PARTS[0] if number % 6 < 4 else PARTS[number % 6 - 3]
        for _ in range(3):
            question = " ".join(ASKED[place] for place in chance.sample(places, 4)) + " ?"
            pairs.append(StoredPair(make_pair_id(question, passage), question, "", passage, document, "heading", part))
    store = PairStore(SqliteStores(home))
    made = {"kinds": ["heading"], "limit": 0, "tags": [], "model": ""}
    store.create(PairSet(name, "2026-11-23T20:00:00+00:00", "mia", 7, made))
    store.add(name, pairs, documents)
    store.finish(name)
    store.close()


def _places() -> list[list[int]]:
    chance = random.Random(3)
    return [chance.sample(range(COUNT), 6) for _ in range(PASSAGES)]
