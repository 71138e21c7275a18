"""Documents from LangChain's loaders: the one place that knows them.

The loaders of langchain-community (archived; the extra `connectors`) read some 150 kinds of sources. Any of them, or
any other `BaseLoader`, hands its documents to `Corpus.add` through here; nothing else of that package is used.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING
from urllib.parse import quote

from argot.corpus.ingestion.source import Source

if TYPE_CHECKING:
    from langchain_core.document_loaders import BaseLoader
    from langchain_core.documents import Document


def sources_from_loader(loader: BaseLoader) -> Iterator[Source]:
    """Each loaded document as a source of Markdown.

    The URI is the document's `source` (and `page`, where a loader gives one document a page), so that loading again
    updates. A document without a source gets its place in the loader's order.
    """
    for number, document in zip(count(1), loader.lazy_load(), strict=False):
        uri = _uri(document, number)
        content = _markdown(document).encode()
        # Content is bound now, since `load` runs after the loop has moved on; the suffix selects the Markdown reader.
        yield Source(uri, f"{uri}.md", lambda content=content: content)  # type: ignore[misc]


def _uri(document: Document, number: int) -> str:
    source = str(document.metadata.get("source") or f"loader:{number}")
    page = document.metadata.get("page")
    return source if page is None else f"{source}#page={quote(str(page))}"


def _markdown(document: Document) -> str:
    title = document.metadata.get("title")
    # A JSON string is a YAML string as well, whatever the title holds.
    front = f"---\ntitle: {json.dumps(str(title), ensure_ascii=False)}\n---\n" if title else ""
    return front + document.page_content
