"""Documents sent over the network: one at a time, whole or not at all."""

from __future__ import annotations

import base64
import binascii
import unicodedata
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

from pydantic import BeforeValidator, TypeAdapter

from argot.document_names import listed_name_in
from argot.errors import InvalidInput
from argot.service.blocking_work import stream
from argot.service.json_values import convert_to_json
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.operations.queued_work import wait_for_outcome
from argot.service.usecases.people.unknown_readers import list_reader_notices
from argot.service.usecases.usecase_registry import Reader, Text, usecase
from argot.types import Audience, Document, Principal
from argot.work.job_kinds import job_kind
from argot.work.job_types import JobRequest, JobRun

if TYPE_CHECKING:
    from argot.corpus.corpus import Source
    from argot.corpus.ingestion.ingest_job import IngestEvent

UPLOAD = "upload"
"""The kind of the jobs that add a sent file."""
MAX_NAME_BYTES = 200
"""Bytes of a file's name."""
MAX_FOLDERS = 20
"""Folders within each other that a sent file may stand in."""
STORED_OUTCOMES = ("added", "updated", "unchanged", "duplicate")
"""Outcomes for a readable file."""
MAX_LISTED_FILES = 1000
"""Files of an archive that are reported one by one; further ones are only counted."""
REASONS = 5
"""Files that are named for an archive of which nothing can be read."""


def _decode_base64(value: object) -> object:
    # Within the process bytes are passed directly.
    if not isinstance(value, str):
        return value
    try:
        return base64.b64decode(value, validate=True)
    except binascii.Error as error:
        raise ValueError(f"it is not base64: {error}") from None


Data = Annotated[bytes, BeforeValidator(_decode_base64)]
"""Bytes; base64 in JSON."""

NOT_YOURS = "it was added, but you are not one of its readers and will not see it yourself"


@dataclass(frozen=True, slots=True)
class MemberReport:
    """Outcome of a file; `document` is None if this person may not read it."""

    kind: str
    name: str
    detail: str
    document: Document | None


@dataclass(frozen=True, slots=True)
class UploadReport(MemberReport):
    """Outcome of a file or an archive. An archive's `files` are reported one by one, and its `kind` is the first of
    added, updated, unchanged and duplicate that any of them has.

    `unlisted` is the number of its files beyond `files`; `notices`: remarks about the given readers.
    """

    files: list[MemberReport] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    unlisted: int = 0


REPORT = TypeAdapter(UploadReport)


@usecase("manager", everywhere=True)
async def upload(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    name: Text,
    data: Data,
    folder: Text = "",
    audience: list[Reader] | None = None,
    tags: list[Text] | None = None,
) -> UploadReport:
    """Add one file, or the files in an archive.

    Archives are ZIP and TAR. `kind`: added, updated, unchanged, or duplicate (another document has the same content,
    and the caller is one of its readers). The same name again, by the same person, is a new revision of that document.
    `folder` is the sender's folder of the file ("plans/2027"), so that the `readme.md` of two folders are two
    documents. Without `audience` or `tags` a known document keeps its own, and a new one is for everyone.

    Raises:
        InvalidInput: it has no usable name, or it cannot be read; nothing was added.
        TooManyQuestions: archives of this person, or of too many people, are being unpacked now.
    """
    parameters: dict[str, Any] = {"name": name, "folder": folder, "audience": audience, "tags": tags}
    called = clean_name(name)
    if await kb.jobs.has_workers(UPLOAD):
        job = JobRequest(UPLOAD, principal, parameters, label=called, data=data)
        return REPORT.validate_python(await wait_for_outcome(kb, job))
    return await _upload_file(kb, principal, data, **parameters)


@job_kind(UPLOAD, busy="'{label}' is being added.", lane="awaited")
async def upload_work(run: JobRun) -> Any:
    """Return an `UploadReport` as JSON."""
    return convert_to_json(await _upload_file(run.kb, run.principal, run.data or b"", **run.parameters))


async def _upload_file(
    kb: KnowledgeBase,
    principal: Principal,
    data: bytes,
    *,
    name: str,
    folder: str,
    audience: Sequence[str] | None,
    tags: Sequence[str] | None,
) -> UploadReport:
    from argot.corpus.corpus import Source
    from argot.corpus.ingestion.archive_members import is_archive

    called = clean_name(name)
    # With the sender's name, so that a `plan.pdf` of two people is two documents.
    parts = [clean_name(one) for one in folder.replace("\\", "/").split("/") if one.strip(". ")]
    # A shortened path could name another file's document.
    if len(parts) > MAX_FOLDERS:
        raise InvalidInput(
            f"'{called}' is {len(parts)} folders deep; at most {MAX_FOLDERS} are accepted. Send a folder further in."
        )
    uri = "/".join((f"upload://{quote(principal.name, safe='')}", *(quote(one, safe="") for one in (*parts, called))))
    readers = None if audience is None else frozenset(audience)
    source = Source(uri, called, lambda: data, len(data))
    putting = _put_members_in if is_archive(called) else put_in
    return await putting(kb, principal, source, audience=readers, tags=tags)


async def put_in(
    kb: KnowledgeBase,
    principal: Principal,
    source: Source,
    *,
    audience: Audience | None = None,
    tags: Sequence[str] | None = None,
    renew: bool = False,
) -> UploadReport:
    """Add one source on a person's behalf; with `renew` it is read again although it has not changed.

    Raises:
        InvalidInput: it cannot be read; nothing was added.
    """
    outcomes = [
        _report_member(principal, one) async for one in _ingest(kb, principal, [source], audience, tags, renew=renew)
    ]
    last = outcomes[-1] if outcomes else None
    if last is None or last.kind not in STORED_OUTCOMES:
        why = last.detail.rstrip(".") if last else "nothing was read from it"
        raise InvalidInput(f"{source.name} was not added: {why}.")
    return UploadReport(
        last.kind, source.name, last.detail, last.document, notices=await list_reader_notices(kb, audience)
    )


async def _put_members_in(
    kb: KnowledgeBase,
    principal: Principal,
    archive: Source,
    *,
    audience: Audience | None = None,
    tags: Sequence[str] | None = None,
) -> UploadReport:
    """Add the files in an archive, one by one.

    Raises:
        InvalidInput: none of them can be; nothing was added.
    """
    from argot.corpus.ingestion.archive_members import list_members

    found = _MemberReports()
    async with kb.gates.archives.place(principal):
        # Listed in the thread that reads: who made the archive decides how long that takes.
        async for event in _ingest(kb, principal, list_members(archive), audience, tags):
            found.add(_report_member(principal, event), listed_name_in(event.uri))
    detail = found.detail
    kind = next((one for one in STORED_OUTCOMES if found.counts[one]), None)
    if kind is None:
        reasons = _list_reasons(found.files) if len(found.files) > 1 else []
        why = "; ".join([detail.rstrip("."), *reasons])
        raise InvalidInput(f"{archive.name} was not added: {why}.")
    notices = await list_reader_notices(kb, audience)
    return UploadReport(kind, archive.name, detail, None, found.files, notices, found.unlisted)


class _MemberReports:
    """The first reports on files of an archive, and the counts of all. Failed ones come last."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.files: list[MemberReport] = []

    def add(self, report: MemberReport, name: str) -> None:
        self.counts[report.kind] += 1
        # A tenth is reserved for failures after a thousand successes.
        most = MAX_LISTED_FILES if report.kind == "failed" else MAX_LISTED_FILES * 9 // 10
        if len(self.files) < most:
            self.files.append(MemberReport(report.kind, name, report.detail, report.document))

    @property
    def unlisted(self) -> int:
        return self.counts.total() - len(self.files)

    @property
    def detail(self) -> str:
        if self.counts.total() == 1:
            return self.files[0].detail
        counts = self.counts
        kinds = (*STORED_OUTCOMES, "skipped", "failed")
        return ", ".join(f"{counts[kind]} {kind}" for kind in kinds if counts[kind]) or "it holds no files"


def _list_reasons(files: Sequence[MemberReport]) -> list[str]:
    """Return why the files of an archive were not added: each reason once, with the first file it applies to."""
    names: dict[str, list[str]] = {}
    for one in files:
        names.setdefault(one.detail.rstrip("."), []).append(one.name)
    return [
        f"{first}{f' and {len(more)} more' if more else ''}: {reason}"
        for reason, (first, *more) in islice(names.items(), REASONS)
    ]


async def _ingest(
    kb: KnowledgeBase,
    principal: Principal,
    sources: Iterable[Source],
    audience: Audience | None,
    tags: Sequence[str] | None,
    *,
    renew: bool = False,
) -> AsyncIterator[IngestEvent]:
    """Add the sources and yield the outcome of each."""
    corpus = await kb.load()
    async with kb.writing.adding:
        labels: dict[str, Any] = {"audience": audience, "tags": None if tags is None else tuple(tags)}
        adding = partial(corpus.add, sources, **labels, turn=kb.writing.turns(), by=principal, renew=renew)
        async with aclosing(stream(adding)) as events:
            async for event in events:
                # Besides these there are some about the whole run.
                if event.kind not in ("found", "progress", "waiting", "done"):
                    yield event


def _report_member(principal: Principal, event: IngestEvent) -> MemberReport:
    if event.document is not None and not principal.may_read(event.document.audience):
        return MemberReport(event.kind, event.name, NOT_YOURS, None)
    detail = f"{event.detail}; nearly the same as {event.near}" if event.near else event.detail
    return MemberReport(event.kind, event.name, detail, event.document)


def clean_name(name: str) -> str:
    """Return the last part of a file's name in a safe form, without the sender's path.

    Raises:
        InvalidInput: nothing remains, or it is too long.
    """
    last = name.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
    shown = "".join(character for character in last if unicodedata.category(character) not in ("Cc", "Cf", "Cs"))
    # macOS decomposes accents; the same name must be the same document from every system.
    found = " ".join(unicodedata.normalize("NFC", shown).split())
    if not found.strip(". "):
        raise InvalidInput(f"Invalid file name {name[:60]!r}. Give one such as handbook.pdf.")
    if len(found.encode()) > MAX_NAME_BYTES:
        raise InvalidInput(f"The name '{found[:40]}…' is longer than {MAX_NAME_BYTES} bytes. Give a shorter one.")
    return found


def is_media_type_known(name: str, data: bytes) -> bool:
    """Return whether Argot reads files of this kind, or those in it: by the name's suffix, or by their first bytes."""
    from argot.corpus.ingestion.archive_members import is_archive
    from argot.corpus.readers import media_type_of
    from argot.errors import UnreadableDocument

    if is_archive(name):
        return True
    try:
        media_type_of(data, name)
    except UnreadableDocument:
        return False
    return True
