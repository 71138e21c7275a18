"""Documents of LangChain's loaders become sources."""

from collections.abc import Iterator

from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document

from argot.corpus.connectors.langchain_loader import sources_from_loader
from argot.corpus.readers import ReadLimits, read_document
from argot.settings import Settings


class Shelf(BaseLoader):
    def lazy_load(self) -> Iterator[Document]:
        yield Document("The pump gives 9 V.", metadata={"source": "https://wiki.example/pump", "title": 'The "pump"'})
        yield Document("Second page.", metadata={"source": "scan.pdf", "page": 2})
        yield Document("Nobody knows where this is from.")


def test_each_document_is_a_source_named_by_where_it_came_from() -> None:
    sources = list(sources_from_loader(Shelf()))
    assert [source.uri for source in sources] == ["https://wiki.example/pump", "scan.pdf#page=2", "loader:3"]
    assert [source.load().decode().splitlines()[-1] for source in sources] == [
        "The pump gives 9 V.",
        "Second page.",
        "Nobody knows where this is from.",
    ]


def test_a_title_is_the_title_and_no_text() -> None:
    first = next(iter(sources_from_loader(Shelf())))
    parsed = read_document(first.load(), first.name, ReadLimits.from_settings(Settings()))
    assert "pump" in parsed.title
    assert parsed.markdown == "The pump gives 9 V."
