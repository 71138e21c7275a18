"""Documents sent over the network: one at a time, whole or not at all."""

from __future__ import annotations

import base64
import binascii
import unicodedata
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

from pydantic import BeforeValidator

from argot.errors import InvalidInput
from argot.service.blocking_work import stream
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.usecase_registry import Reader, Text, usecase
from argot.types import Audience, Document, Principal

if TYPE_CHECKING:
    from argot.corpus.corpus import IngestEvent, Source

LONGEST_NAME = 200
"""Bytes of a file's name."""
MOST_FOLDERS = 20
"""Of those a file lies in."""


def _bytes(value: object) -> object:
    # Within the process bytes are given as they are.
    if not isinstance(value, str):
        return value
    try:
        return base64.b64decode(value, validate=True)
    except binascii.Error as error:
        raise ValueError(f"it is no base64: {error}") from None


Data = Annotated[bytes, BeforeValidator(_bytes)]
"""Bytes; as base64 where JSON carries them."""

NOT_YOURS = "it is in, for readers of whom you are none: you will not see it yourself"


@dataclass(frozen=True, slots=True)
class UploadReport:
    """What became of a file; `document` is None where it is not this person's to read."""

    kind: str
    name: str
    detail: str
    document: Document | None


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
    """Put one file in. `kind`: added, updated, unchanged, or duplicate (the same content is there under another name,
    for readers of whom this person is one).

    The same name again, by the same person, is a new revision of that document; `folder` is where it lies for its
    sender ("plans/2027"), so that a `readme.md` of two folders is two documents. Without `audience` or `tags` a known
    document keeps its own, and a new one is for everyone.

    Raises:
        InvalidInput: it has no usable name, or it cannot be read; nothing was added.
    """
    from argot.corpus.corpus import Source

    called = plain_name(name)
    # With the sender's name, so that a `plan.pdf` of two people is two documents.
    parts = [plain_name(one) for one in folder.replace("\\", "/").split("/") if one.strip(". ")][:MOST_FOLDERS]
    uri = "/".join((f"upload://{quote(principal.name, safe='')}", *(quote(one, safe="") for one in (*parts, called))))
    readers = None if audience is None else frozenset(audience)
    return await put_in(kb, principal, Source(uri, called, lambda: data, len(data)), audience=readers, tags=tags)


async def put_in(
    kb: KnowledgeBase,
    principal: Principal,
    source: Source,
    *,
    audience: Audience | None = None,
    tags: Sequence[str] | None = None,
    renew: bool = False,
) -> UploadReport:
    """Put one source in on somebody's behalf; with `renew` it is read again although it has not changed.

    Raises:
        InvalidInput: it cannot be read; nothing was added.
    """
    corpus = await kb.load()
    last: IngestEvent | None = None
    async with kb.adding:
        labels: dict[str, Any] = {"audience": audience, "tags": None if tags is None else tuple(tags)}
        adding = partial(corpus.add, [source], **labels, turn=kb.turns(), by=principal, renew=renew)
        async with aclosing(stream(adding)) as events:
            async for event in events:
                # One file gives one event of its own, besides those about the whole run.
                last = event if event.kind not in ("found", "progress", "done") else last
    if last is None or last.kind in ("failed", "skipped"):
        why = last.detail.rstrip(".") if last else "nothing came of it"
        raise InvalidInput(f"{source.name} was not added: {why}.")
    if last.document is not None and not principal.may_read(last.document.audience):
        return UploadReport(last.kind, source.name, NOT_YOURS, None)
    return UploadReport(last.kind, last.name, last.detail, last.document)


def plain_name(name: str) -> str:
    """The last part of a file's name, as safe to show as any: what leads to it is the sender's own affair.

    Raises:
        InvalidInput: nothing is left, or it is too long.
    """
    last = name.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
    shown = "".join(character for character in last if unicodedata.category(character) not in ("Cc", "Cf", "Cs"))
    # macOS decomposes accents; the same name must be the same document from every system.
    found = " ".join(unicodedata.normalize("NFC", shown).split())
    if not found.strip(". "):
        raise InvalidInput(f"Invalid file name {name[:60]!r}. Give one such as handbook.pdf.")
    if len(found.encode()) > LONGEST_NAME:
        raise InvalidInput(f"The name '{found[:40]}…' is longer than {LONGEST_NAME} bytes. Give a shorter one.")
    return found


def media_type_known(name: str, data: bytes) -> bool:
    """Whether Argot reads files of this kind: by the name's suffix, or by their first bytes."""
    from argot.corpus.readers import media_type_of
    from argot.errors import UnreadableDocument

    try:
        media_type_of(data, name)
    except UnreadableDocument:
        return False
    return True
