"""Whole knowledge bases on each engine: in folders, or on PostgreSQL and a Chroma server, as an ordinary role.

Several knowledge bases of one engine exist together, as they do in an organisation: in schemas of one database, and
on one Chroma server.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from chroma_server import ChromaRun
from corpus_engines import ENGINES
from shared_corpus import as_ordinary_user
from tiny_base import TinyBase, fill_tiny

from argot.service.knowledge_base import KnowledgeBase
from argot.settings import Settings

__all__ = ["ENGINES", "Places", "made_tiny", "places_on"]

Places = Callable[..., Settings]
"""Of a name (and further settings), the settings of a knowledge base of that name, on this engine."""


@contextmanager
def places_on(engine: str, folder: Path, request: Any) -> Iterator[Places]:
    """Return the places of an engine; `request` gives the server, which is not started for SQLite."""
    if engine == "sqlite":
        yield lambda name, **more: Settings(home=folder / name, **more)
        return
    server = request.getfixturevalue("postgresql_server")
    with server.database() as url, ChromaRun(folder) as chroma:
        shared = {"store": as_ordinary_user(server, url), "chroma_url": chroma.url, "chroma_seconds": 60}
        yield lambda name, **more: Settings(home=folder / name, store_schema=name, **shared, **more)


def made_tiny(settings: Settings) -> KnowledgeBase:
    """Create a knowledge base with the documents and the glossary of the tests' small one."""
    kb = KnowledgeBase.open(settings.home, settings, create=True)
    fill_tiny(TinyBase(settings.home, settings, kb.corpus, kb.glossary))
    return kb
