"""Reads all of JSON-LD through rdflib, which is slow and needs a process with its own limits (`ProcessRequired`).

It is used for files with features that `rdf_json` lacks. Nothing is fetched here either.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from argot.jargon_db.formats.rdf_json import refuse_remote_contexts
from argot.jargon_db.formats.rdf_statements import Add, LimitExceeded, MalformedFile

if TYPE_CHECKING:
    from rdflib import Graph


def read(found: Any, base: str, add: Add) -> None:
    """Pass every statement of the parsed file to `add`.

    Raises:
        LimitExceeded, Malformed, RemoteContext: it cannot be read.
    """
    from rdflib.plugins.parsers.jsonld import to_rdf

    refuse_remote_contexts(found)
    try:
        to_rdf(found, _build_graph(add), base=base)
    except (LimitExceeded, RecursionError, MemoryError):
        raise
    except Exception as error:  # unexpected input makes the parser raise many kinds of errors
        raise MalformedFile(_first_line(error)) from error


def _build_graph(add: Add) -> Graph:
    import logging

    from rdflib import BNode, Graph, Literal
    from rdflib.store import Store

    def name_node(one: Any) -> str:
        return f"_:{one}" if isinstance(one, BNode) else str(one)

    class Lists(Store):
        """Passes on the statements added to it; it is never queried."""

        def __init__(self) -> None:
            super().__init__()
            self.prefixes: dict[str, Any] = {}

        def add(self, triple: Any, context: Any, quoted: bool = False) -> None:
            subject, predicate, value = triple
            language = (value.language or "").lower() if isinstance(value, Literal) else None
            add(name_node(subject), str(predicate), name_node(value), language)

        def bind(self, prefix: str, namespace: Any, override: bool = True) -> None:
            self.prefixes[prefix] = namespace

        def namespace(self, prefix: str) -> Any:
            return self.prefixes.get(prefix)

        def prefix(self, namespace: Any) -> str | None:
            return next((prefix for prefix, bound in self.prefixes.items() if bound == namespace), None)

        def namespaces(self) -> Iterator[tuple[str, Any]]:
            return iter(self.prefixes.items())

    logging.getLogger("rdflib.term").setLevel(logging.ERROR)  # it would log the file's content
    return Graph(store=Lists(), bind_namespaces="none")


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
