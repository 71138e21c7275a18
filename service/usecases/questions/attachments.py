"""Files added to one conversation, to be asked about there: only its asker reads them, and they are deleted with it.

Such a file is a document like any other whose only reader is the thread (`argot.types.THREAD`). Nobody else finds it,
not even a person who may read everything, and nothing is mined from it.
"""

from __future__ import annotations

import base64
import binascii
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath
from typing import Annotated, Any
from urllib.parse import quote

from pydantic import Field

from argot.clock import timestamp
from argot.errors import InvalidInput, NotFound
from argot.languages.catalogues import translate
from argot.service.blocking_work import stream
from argot.service.knowledge_base import KnowledgeBase
from argot.service.maintenance.scrubbing import scrub_stores
from argot.service.threads.thread_store import ThreadFile, Threads
from argot.service.usecases.documents.read_faults import translate_read_fault
from argot.service.usecases.questions.attached_pictures import (
    PAGE_SUFFIX,
    explain_unread,
    is_picture,
    write_picture_page,
)
from argot.service.usecases.questions.questions import read_in_thread
from argot.service.usecases.usecase_registry import Text, usecase
from argot.types import THREAD, Document, Principal

MAX_FILES = 10
MAX_FILE_BYTES = 25_000_000
"""Maximum of one file. Documents for everybody are added by their managers, and may be larger."""
MAX_NAME_CHARS = 200
# Base64 has four characters for three bytes.
Base64 = Annotated[Text, Field(max_length=(MAX_FILE_BYTES // 3 + 1) * 4)]
Name = Annotated[Text, Field(min_length=1, max_length=1000)]


@dataclass(frozen=True, slots=True)
class AttachedFile:
    """A file that was added to a thread, and its document there."""

    document: Document
    file: ThreadFile


@dataclass(frozen=True, slots=True)
class DetachedFile:
    """A file that was removed from a thread."""

    file: ThreadFile


@usecase("asker")
async def thread_attach(
    kb: KnowledgeBase, principal: Principal, *, thread: Text, name: Name, content: Base64
) -> AttachedFile:
    """Add a file (base64) to one of the caller's threads, to ask about it there. It is read as `add` reads files; a
    picture is described by the vision model, where one is configured.

    Raises:
        InvalidInput: it cannot be read, is too large, or there are too many.
        TooManyQuestions: other files of this person, or of too many people, are being read now.
    """
    threads, name = await kb.threads(), _clean_file_name(name)
    # Before the file waits for its place, and is decoded.
    await _require_room(threads, principal, thread, name)
    async with kb.gates.attachments.place(principal):
        data = decode_content(content, name)
        if len(data) > MAX_FILE_BYTES:
            size = f"{len(data) / 1e6:.1f} MB"
            text = "%(name)s has %(size)s; at most %(most)s MB can be asked about."
            raise InvalidInput(translate(text, name=name, size=size, most=f"{MAX_FILE_BYTES / 1e6:g}"))
        document = await add_file(kb, thread, name, data)
        file = ThreadFile(document.id, name, len(data), timestamp())
        try:  # meanwhile the conversation may be deleted, or full
            await _require_room(threads, principal, thread, name)
            await threads.attach(principal.name, thread, file)
        except (NotFound, InvalidInput):
            await forget_files(kb, thread, [document.id])
            await scrub_stores(kb)
            raise
    return AttachedFile(document, file)


@usecase("asker")
async def thread_files(kb: KnowledgeBase, principal: Principal, *, thread: Text) -> list[ThreadFile]:
    """List the files added to one of the caller's threads: document, name, bytes, at."""
    return await (await kb.threads()).files(principal.name, thread)


@usecase("asker")
async def thread_detach(kb: KnowledgeBase, principal: Principal, *, thread: Text, name: Text) -> DetachedFile:
    """Remove a file from a thread, with everything derived from it."""
    threads = await kb.threads()
    found = next((one for one in await threads.files(principal.name, thread) if name in {one.name, one.document}), None)
    if found is None:
        raise NotFound(f"There is no file '{name}' in this conversation.")
    # The document first: a kill in between leaves an entry without a file, which can be removed again.
    await forget_files(kb, thread, [found.document])
    await threads.detach(thread, found.document)
    await scrub_stores(kb)
    return DetachedFile(found)


async def forget_files(
    kb: KnowledgeBase, thread: str, documents: list[str] | None = None, *, added_before: str = ""
) -> int:
    """Remove the files of a thread, and return how many; before the thread itself, so that no file is left without one.

    Args:
        documents: the ids of those to remove; None: all.
        added_before: only those added earlier; empty: at any time.
    """
    # Only the thread's owner may read them, so the program acts as a reader of this thread alone.
    reader = read_in_thread(Principal(f"files of {thread}"), thread)

    def own() -> list[Document]:
        # Exactly this audience: documents open to everyone can be read in the thread as well.
        held = [one for one in kb.document_store.documents(reader) if one.audience == {f"{THREAD}{thread}"}]
        chosen = [one for one in held if documents is None or one.id in documents]
        return [one for one in chosen if not added_before or one.added_at < added_before]

    found = await kb.blocking(own)
    if not found:
        return 0
    corpus = await kb.load()
    async with kb.writing:
        for document in found:
            await kb.blocking(corpus.remove, reader, document.id)
    return len(found)


async def _require_room(threads: Threads, principal: Principal, thread: str, name: str) -> None:
    held = await threads.files(principal.name, thread)
    if len(held) >= MAX_FILES and all(one.name != name for one in held):
        text = "This conversation holds %(number)s files already. Start another one, or remove a file."
        raise InvalidInput(translate(text, number=len(held)))


async def add_file(kb: KnowledgeBase, thread: str, name: str, data: bytes) -> Document:
    """Add a file as a document of this thread alone; a picture with its description, where there is a vision model.

    Raises:
        InvalidInput: it cannot be read; the message says why.
    """
    from argot.corpus.corpus import Source

    corpus = await kb.load()
    page = await write_picture_page(kb, name, data)
    read_as, content = (name, data) if page is None else (f"{name}{PAGE_SUFFIX}", page)
    source = Source(f"{THREAD}///{thread}/{quote(name, safe='')}", read_as, lambda: content, len(content))
    labels: dict[str, Any] = {"audience": frozenset({f"{THREAD}{thread}"}), "tags": ()}
    bounds: dict[str, Any] = {"lane": "attachments", "turn": kb.writing.turns()}
    work = partial(corpus.add, [source], **labels, **bounds)
    async with aclosing(stream(work)) as events:
        async for event in events:
            if event.document is not None and event.kind in {"added", "updated", "unchanged", "duplicate"}:
                return event.document
            if event.kind in {"failed", "skipped"}:
                remedy = explain_unread(kb) if is_picture(name) else ""
                detail = translate_read_fault(event.detail) + (f". {remedy}" if remedy else "")
                raise InvalidInput(translate("%(name)s cannot be asked about: %(detail)s", name=name, detail=detail))
    raise InvalidInput(translate("%(name)s cannot be asked about: nothing was read from it.", name=name))


def _clean_file_name(name: str) -> str:
    """Return the last part of a name as browsers send it, without characters that no file name should have. It is never
    a path.
    """
    last = PurePosixPath(name.replace("\\", "/")).name
    plain = "".join(char for char in last if char.isprintable()).strip()
    if not plain.strip("."):
        raise InvalidInput("The file has no name. Give it one that says what it is, as in plan.pdf.")
    # The suffix selects the reader, so a long name is shortened before it.
    suffix = PurePosixPath(plain).suffix[:20]
    return plain if len(plain) <= MAX_NAME_CHARS else plain[: MAX_NAME_CHARS - len(suffix)] + suffix


def decode_content(content: str, name: str) -> bytes:
    """Return the bytes of a file sent as base64.

    Raises:
        InvalidInput: this is no base64.
    """
    try:
        # Without `validate`, characters foreign to base64 are skipped, and a damaged file is accepted as complete.
        return base64.b64decode(content, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidInput(f"{name} was not sent as base64. Send it again, whole.") from error
