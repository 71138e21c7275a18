"""A source made from a stored original, to be read again."""

from __future__ import annotations

from pathlib import PurePosixPath

from argot.corpus.ingestion.source import Source
from argot.corpus.readers import SUFFIXES, media_type_of
from argot.corpus.store.blobs import Blobs
from argot.document_names import name_in
from argot.errors import UnreadableDocument


def load_stored_source(blobs: Blobs, uri: str, content_hash: str, media_type: str) -> Source:
    """Return the original of this hash, with a name that selects the reader of its kind.

    Raises:
        DamagedStore: the original is missing.
    """
    data = blobs.get(content_hash)
    return Source(uri, _name_read_as(data, name_in(uri), media_type), lambda: data, len(data))


def _name_read_as(data: bytes, name: str, media_type: str) -> str:
    # A web page was read by the type its server reported, and its address may have any ending.
    try:
        if media_type_of(data, name) == media_type:
            return name
    except UnreadableDocument:
        pass
    suffix = next((one for one, read_as in SUFFIXES.items() if read_as == media_type), "")
    return f"{name}{suffix}"


def is_same_kind(name: str, other: str) -> bool:
    """Return whether two names of files end in suffixes of one format."""
    first, second = (PurePosixPath(one).suffix.lower() for one in (name, other))
    return SUFFIXES.get(first, first) == SUFFIXES.get(second, second)
