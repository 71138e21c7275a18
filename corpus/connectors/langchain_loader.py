"""Documents from LangChain's loaders: the only module that uses them.

The loaders of langchain-community (archived; the extra `connectors`) read some 150 kinds of sources. Any of them, or
any other `BaseLoader`, passes its documents to `Corpus.add` through this module; nothing else of that package is used.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from importlib import import_module
from itertools import count
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from argot.corpus.connectors.export_dates import parse_date
from argot.corpus.connectors.listing import ListedDocument, SourceDown
from argot.corpus.document_ids import hash_content
from argot.corpus.ingestion.source import Source, SourceMetadata
from argot.errors import install_command

if TYPE_CHECKING:
    from langchain_core.document_loaders import BaseLoader
    from langchain_core.documents import Document

COMMUNITY_MODULE = "langchain_community.document_loaders"
_DATE_FIELDS = ("last_modified", "last_modified_time", "modified", "updated", "when", "date", "published", "created")
_LABEL_FIELDS = ("labels", "tags", "keywords")


class LoaderConnector:
    """Everything that a loader loads, each time: loaders have no listing. Unchanged documents are not embedded
    again.
    """

    def __init__(self, loader: str, options: Mapping[str, str], name: str = "loader") -> None:
        """
        Args:
            name: of the source, for documents without a source from the loader.
            loader: the name of one of langchain-community, or `package.module:Class`.
            options: its arguments; numbers, lists and so on as JSON.
        """
        self._loader = loader
        self._name = name
        self._options = {name: _parse_option(text) for name, text in options.items()}

    def close(self) -> None:
        """Nothing is open."""

    def mark(self) -> str:
        return ""

    def list_documents(self, known: Mapping[str, str]) -> Iterator[ListedDocument]:
        made = find_loader_class(self._loader)
        try:
            for source in load_sources(made(**self._options), self._name):
                yield ListedDocument(source, hash_content(source.load() + repr(source.metadata).encode()))
        # A loader may raise any error, and documents it could not load are not deleted.
        except Exception as error:
            raise SourceDown(f"The loader {self._loader} failed: {type(error).__name__}: {error}") from error


def find_loader_class(name: str) -> type[BaseLoader]:
    """Return the loader class of LangChain with this dotted name.

    Raises:
        SourceDown: it is not installed, or no loader.
    """
    from langchain_core.document_loaders import BaseLoader

    module, _, class_name = name.rpartition(":")
    try:
        found = getattr(import_module(module or COMMUNITY_MODULE), class_name)
    except ImportError as error:
        raise SourceDown(
            f"The loader {name} needs a package that is not installed: {error.name or error}. Those of "
            f"langchain-community come with: {install_command('connectors')}"
        ) from error
    except AttributeError as error:
        raise SourceDown(
            f"There is no loader {name}. Names are those of {COMMUNITY_MODULE}, or package.module:Class."
        ) from error
    if not isinstance(found, type) or not issubclass(found, BaseLoader):
        raise SourceDown(f"{name} is no loader of LangChain.")
    return found


def _parse_option(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def load_sources(loader: BaseLoader, name: str = "loader") -> Iterator[Source]:
    """Yield each loaded document as a source of Markdown.

    The URI is the document's `source` (and `page`, if a loader returns one document per page), so that loading again
    updates. A document without a source gets its index in the loader's order, as the parts of one source do.
    """
    parts: Counter[str] = Counter()
    for number, document in zip(count(1), loader.lazy_load(), strict=False):
        uri = _build_uri(document, f"{name}:{number}")
        parts[uri] += 1
        if parts[uri] > 1:
            uri = f"{uri}#part={parts[uri]}"
        content = _write_markdown(document).encode()
        # Content is bound now, since `load` runs after the loop has moved on; the suffix selects the Markdown reader.
        yield Source(
            uri,
            f"{uri}.md",
            lambda content=content: content,  # type: ignore[misc]
            metadata=_read_metadata(document.metadata),
        )


def _build_uri(document: Document, place: str) -> str:
    source = str(document.metadata.get("source") or place)
    page = document.metadata.get("page")
    return source if page is None else f"{source}#page={quote(str(page))}"


def _read_metadata(metadata: Mapping[str, Any]) -> SourceMetadata:
    """Return the metadata under the names that loaders use; the title is in the Markdown."""
    date = next((parse_date(str(metadata[name])) for name in _DATE_FIELDS if metadata.get(name)), "")
    author = metadata.get("author") or metadata.get("authors") or ""
    labels = next((metadata[name] for name in _LABEL_FIELDS if metadata.get(name)), ())
    return SourceMetadata(
        date=date, author=", ".join(_split_texts(author, r";")), labels=tuple(_split_texts(labels, r"[,;]"))
    )


def _split_texts(value: Any, between: str) -> list[str]:
    """Return the texts of a list, or the parts of one text that holds several."""
    several = value if isinstance(value, (list, tuple, set)) else re.split(between, str(value))
    return list(dict.fromkeys(text for one in several if (text := str(one).strip())))


def _write_markdown(document: Document) -> str:
    title = document.metadata.get("title")
    # A JSON string is also a YAML string, whatever the title contains.
    front = f"---\ntitle: {json.dumps(str(title), ensure_ascii=False)}\n---\n" if title else ""
    return front + document.page_content
