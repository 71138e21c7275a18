"""Documents of LangChain's loaders become sources."""

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import ClassVar

import pytest
from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document

from argot.corpus.connectors.connector_choice import make_connector
from argot.corpus.connectors.langchain_loader import find_loader_class, load_sources
from argot.corpus.connectors.listing import SourceDown
from argot.corpus.connectors.source_store import SourceRecord, SourceStore
from argot.corpus.connectors.synchronisation import Synchronisation
from argot.corpus.corpus import Corpus
from argot.corpus.readers import ReadLimits, read_document
from argot.corpus.store.source_metadata import SourceMetadata
from argot.settings import Settings
from argot.types import Principal


class Shelf(BaseLoader):
    def lazy_load(self) -> Iterator[Document]:
        yield Document("The pump gives 9 V.", metadata={"source": "https://wiki.example/pump", "title": 'The "pump"'})
        yield Document("Second page.", metadata={"source": "scan.pdf", "page": 2})
        yield Document("Nobody knows where this is from.")
        yield Document("The pump is green.", metadata={"source": "https://wiki.example/pump"})


class Query(BaseLoader):
    """A loader that takes arguments and can fail."""

    answers: ClassVar[list[str]] = []

    def __init__(self, query: str, limit: int, filters: dict[str, str]) -> None:
        self.limit = limit
        assert (query, filters) == ("NAND", {"lang": "en"})

    def lazy_load(self) -> Iterator[Document]:
        for number, text in enumerate(self.answers[: self.limit]):
            if text == "down":
                raise ConnectionError("no route")
            yield Document(text, metadata={"source": f"db:///{number}"})


def test_each_loaded_document_is_a_source_named_by_its_origin() -> None:
    sources = list(load_sources(Shelf(), "shelf"))
    assert [source.uri for source in sources] == [
        "https://wiki.example/pump",
        "scan.pdf#page=2",
        "shelf:3",
        "https://wiki.example/pump#part=2",
    ]
    assert [source.load().decode().splitlines()[-1] for source in sources] == [
        "The pump gives 9 V.",
        "Second page.",
        "Nobody knows where this is from.",
        "The pump is green.",
    ]


class Labelled(BaseLoader):
    def lazy_load(self) -> Iterator[Document]:
        said = {"source": "a", "author": ["Ann", "Bob"], "last_modified": "2026-03-05T10:12:00", "tags": "pump, valve"}
        yield Document("One.", metadata=said)
        yield Document("Two.", metadata={"source": "b", "date": "Mar 05, 2026", "keywords": ["x", 1], "authors": "Cyd"})


def test_metadata_from_a_loader_is_kept() -> None:
    assert [one.metadata for one in load_sources(Labelled())] == [
        SourceMetadata(date="2026-03-05", author="Ann, Bob", labels=("pump", "valve")),
        SourceMetadata(date="2026-03-05", author="Cyd", labels=("x", "1")),
    ]


def test_a_source_of_a_loader_is_synchronised(tmp_path: Path) -> None:
    corpus = Corpus.open(tmp_path / "kb", Settings(threads=1))
    options = {"query": "NAND", "limit": "10", "filters": '{"lang": "en"}'}
    name = f"{__name__}:Query"
    sys.modules[__name__] = sys.modules.get(__name__, ModuleType(__name__))
    vars(sys.modules[__name__])["Query"] = Query
    store = SourceStore(corpus.store.database)
    record = store.add(SourceRecord("shop", "loader", name, dict(options)))

    def sync() -> tuple[str, dict[str, int], str]:
        run = Synchronisation(corpus, record, lambda: make_connector(record))
        list(run.run())
        return run.state, {kind: count for kind, count in run.counts.items() if count}, run.detail

    Query.answers = ["One cell.", "Two cells.", "Three cells."]
    assert sync() == ("synced", {"added": 3}, "")
    Query.answers = ["One cell.", "Two cells and more."]
    assert sync() == ("synced", {"unchanged": 1, "updated": 1, "removed": 1}, "")
    Query.answers = ["One cell.", "down"]
    assert sync() == ("failed", {}, f"The loader {name} failed: ConnectionError: no route")
    assert len(corpus.store.documents(Principal("root", sees_all=True))) == 2
    corpus.close()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("os:system", "no loader of LangChain"),
        ("langchain_core.documents:Document", "no loader of LangChain"),
        ("json:Nothing", "There is no loader"),
        ("there_is_none:Loader", "not installed: there_is_none"),
    ],
)
def test_a_class_that_is_not_a_loader_is_refused(name: str, said: str) -> None:
    with pytest.raises(SourceDown, match=said):
        find_loader_class(name)


def test_a_missing_loader_package_is_reported_with_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "langchain_community", None)
    with pytest.raises(SourceDown, match=r"argot\[connectors\]"):
        find_loader_class("WikipediaLoader")


def test_a_title_from_metadata_does_not_become_text() -> None:
    first = next(iter(load_sources(Shelf())))
    parsed = read_document(first.load(), first.name, ReadLimits.from_settings(Settings()))
    assert "pump" in parsed.title
    assert parsed.markdown == "The pump gives 9 V."
