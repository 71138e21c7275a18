"""Messages between `archive_process` and `archive_worker`: JSON, with the bytes of files as data."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from argot.corpus.ingestion.archive_formats import ArchiveEntry, ArchiveLimits

ENTRIES_PER_MESSAGE = 500
"""Parsing JSON blocks other threads, so a long list comes in parts."""
MAX_TOGETHER = 256
"""Small members that one message reads: a message costs more than reading them."""
MAX_SMALL_BYTES = 20_000
MAX_LIST_MESSAGE_BYTES = 16_000_000


def encode_open(limits: ArchiveLimits, path: str = "") -> bytes:
    """Encode it; `path`: that of the archive; empty: its bytes are the data of the message."""
    return json.dumps({"ask": "open", "path": path, "limits": asdict(limits)}).encode()


def encode_ask(ask: str, **values: int) -> bytes:
    return json.dumps({"ask": ask, **values}).encode()


def encode_read(members: Sequence[int]) -> bytes:
    return json.dumps({"ask": "read", "members": members}).encode()


def encode_entries(entries: Iterable[ArchiveEntry]) -> bytes:
    return json.dumps({"entries": [[one.path, one.size, one.stamp, one.problem] for one in entries]}).encode()


def decode_entries(message: dict[str, Any]) -> list[ArchiveEntry]:
    return [ArchiveEntry(*one) for one in message["entries"]]
