"""The documents that a source lists, each with a stamp that shows a change without reading the document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Protocol

from argot.corpus.ingestion.source import Source


class SourceDown(Exception):
    """A source does not answer as a whole. The message is the reason, in one sentence for people."""


@dataclass(frozen=True, slots=True)
class ListedDocument:
    """One document of a source.

    `stamp` is opaque outside the connector; as long as it stays the same, the document is not read. With a `problem` it
    could not be checked: it, and all documents below its URI, are left unchanged until the next time.
    """

    source: Source
    stamp: str
    problem: str = ""


class Connector(Protocol):
    """Lists the documents of one source. It is used for one sync, and closed when everything that it listed has been
    read.
    """

    def close(self) -> None: ...

    def mark(self) -> str:
        """Return a mark of the source's state: an equal mark means the same documents. Empty if only listing shows
        that.

        Raises:
            SourceDown
        """
        ...

    def list_documents(self, known: Mapping[str, str]) -> Iterator[ListedDocument | None]:
        """Yield every document once, and now and then None, when the work can be stopped.

        Args:
            known: the stamps of the last time, by URI.

        Raises:
            SourceDown
        """
        ...


@dataclass(frozen=True, slots=True)
class Patterns:
    """The paths that are included: they match one of `include` (or there is none) and none of `exclude`.

    `*` matches anything, including `/`; a pattern without `/` applies to the file's name, or to a folder above it.
    """

    include: Sequence[str] = ()
    exclude: Sequence[str] = ()

    def accept(self, path: str) -> bool:
        """`path`: below the source, with `/`."""
        included = not self.include or any(_match_pattern(path, pattern) for pattern in self.include)
        return included and not any(_match_pattern(path, pattern) for pattern in self.exclude)


def _match_pattern(path: str, pattern: str) -> bool:
    if "/" in pattern:
        # `drafts/` means everything in that folder.
        return fnmatchcase(path, pattern.lstrip("/") + ("*" if pattern.endswith("/") else ""))
    return any(fnmatchcase(part, pattern) for part in path.split("/"))
