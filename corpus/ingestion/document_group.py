"""Documents that are embedded and written together, so that each costs less and none waits long."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from argot.corpus.ingestion.reading import Candidate, ReadRevision

# The first limit reached ends a group: enough to embed together, or a file waits too long for its report.
GROUP_PASSAGES = 128
GROUP_DOCUMENTS = 64
GROUP_SECONDS = 2.0
GROUP_BYTES = 32_000_000
"""Bytes of originals, which are kept in memory until they are written."""


@dataclass(slots=True)
class DocumentGroup:
    """Documents read and ready to be stored together."""

    members: list[ReadRevision] = field(default_factory=list)
    passages: int = 0
    size: int = 0
    since: float = 0.0

    def add(self, read: ReadRevision) -> None:
        self.since = self.since or time.monotonic()
        self.members.append(read)
        self.passages += len(read.new.passages)
        self.size += len(read.candidate.data)

    @property
    def full(self) -> bool:
        return bool(self.members) and (
            self.passages >= GROUP_PASSAGES
            or len(self.members) >= GROUP_DOCUMENTS
            or self.size >= GROUP_BYTES
            or time.monotonic() - self.since > GROUP_SECONDS
        )

    def is_related_to(self, candidate: Candidate) -> bool:
        """Return whether the outcome of the candidate depends on a document in this group."""
        return any(
            candidate.source.uri == other.source.uri or candidate.content in (other.content, other.replaces)
            for other in (member.candidate for member in self.members)
        )
