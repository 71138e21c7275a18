"""One document's revisions: reading again, replacing, comparing, and restoring a former one; and its labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from argot.corpus.store.row_mapping import Revision
from argot.errors import Conflict, InvalidInput, NotFound
from argot.service.json_values import read_audience, read_dataclass_fields
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.documents.uploads import Data, UploadReport, clean_name, put_in
from argot.service.usecases.people.unknown_readers import list_reader_notices
from argot.service.usecases.questions.questions import Fields
from argot.service.usecases.usecase_registry import Reader, Text, usecase
from argot.types import Document, DocumentField, Principal

__all__ = ["Revision"]

MAX_COMPARED_LINES = 20_000
"""Maximum on each side: comparing takes time with the product of both."""
LINES_AROUND = 2
"""Lines that are the same, shown before and after a difference."""


@dataclass(frozen=True, slots=True)
class LineDifference:
    """Lines of the older text, and their replacement in the newer one. `line`: in the newer one, from 1.

    `before` and `after` are the lines around both.
    """

    line: int
    before: str
    older: str
    newer: str
    after: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """Difference of two revisions, in the text that was read from them."""

    document: Document
    older: Revision
    newer: Revision
    differences: list[LineDifference]


@dataclass(frozen=True, slots=True)
class LabelledDocument(Document):
    """A document with its new labels. `notices`: remarks about the given readers."""

    notices: tuple[str, ...] = ()


@usecase("manager", everywhere=True)
async def document_label(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    document: Text,
    audience: list[Reader] | None = None,
    tags: list[Text] | None = None,
    fields: Fields | None = None,
) -> LabelledDocument:
    """Change the readers, tags and own fields of a document; what is left out stays.

    `document` is its id, name or URI. `fields`, as `{"region": ["EU"]}`, replace those given before, and those of the
    same name that were read from the file. An empty `audience` is everyone. Callers who remove themselves from the
    readers no longer see the document.
    """
    corpus = await kb.load()
    plain = None if tags is None else [one.strip() for one in tags if one.strip()]
    given_fields = None if fields is None else _check_fields(fields)
    async with kb.writing:
        saved = await kb.blocking(corpus.relabel, principal, document, read_audience(audience), plain, given_fields)
    return LabelledDocument(**read_dataclass_fields(saved), notices=tuple(await list_reader_notices(kb, audience)))


def _check_fields(fields: Mapping[str, Sequence[str]]) -> list[DocumentField]:
    """
    Raises:
        InvalidInput: one of them cannot be stored.
    """
    from argot.corpus.store.document_fields import filter_usable

    asked = [DocumentField(name, value) for name, values in fields.items() for value in values]
    for one in asked:
        if not filter_usable([one]):
            raise InvalidInput(
                f"'{one.name:.60}' cannot be '{one.value:.60}': both need a text, of at most 200 characters."
            )
    return filter_usable(asked)


@usecase("manager", everywhere=True)
async def document_reread(kb: KnowledgeBase, principal: Principal, *, document: Text) -> UploadReport:
    """Read a document (by id, name or URI) again from its stored original, with this version of Argot.

    The texts that a language model derived from it are lost, and can be derived again.
    """
    from argot.corpus.ingestion.stored_source import load_stored_source

    store = (await kb.load()).store
    found = await kb.blocking(store.document, principal, document)
    source = await kb.blocking(load_stored_source, store.blobs, found.uri, found.content_hash, found.media_type)
    return await put_in(kb, principal, source, renew=True)


@usecase("manager", everywhere=True)
async def document_replace(
    kb: KnowledgeBase, principal: Principal, *, document: Text, name: Text, data: Data
) -> UploadReport:
    """Add a new revision of a document (by id, name or URI) from another file.

    The file must have the same format, and may have any name. Readers and tags stay. The previous revision no longer
    answers questions; it can be compared and brought back.

    Raises:
        InvalidInput: the file has another format, or cannot be read; nothing changed.
    """
    from argot.corpus.corpus import Source
    from argot.corpus.ingestion.stored_source import is_same_kind

    called = clean_name(name)
    found = await kb.blocking(kb.document_store.document, principal, document)
    if not is_same_kind(called, found.name):
        raise InvalidInput(
            f"{called} is of another format than {found.name}. Add it as a document of its own, and remove this one."
        )
    return await put_in(kb, principal, Source(found.uri, called, lambda: data, len(data)))


@usecase("manager", everywhere=True)
async def document_revisions(kb: KnowledgeBase, principal: Principal, *, document: Text) -> list[Revision]:
    """List the revisions of a document: the live one first, then the former ones, newest first.

    `document` is its id, name or URI.
    """
    from argot.corpus.store.revision_reads import list_revisions

    store = kb.document_store
    found = await kb.blocking(store.document, principal, document)
    return await kb.blocking(list_revisions, store, found)


@usecase("manager", everywhere=True)
async def document_bring_back(
    kb: KnowledgeBase, principal: Principal, *, document: Text, revision: Text
) -> UploadReport:
    """Make a former revision of a document (by id, name or URI) the live one. The present one becomes a former one."""
    from argot.corpus.ingestion.stored_source import load_stored_source

    store = (await kb.load()).store
    found = await kb.blocking(store.document, principal, document)
    former = await kb.blocking(_find_revision, kb, principal, found, revision)
    if former.state == "live":
        raise Conflict(f"Revision '{revision}' is the current one already.")
    source = await kb.blocking(load_stored_source, store.blobs, found.uri, former.content_hash, former.media_type)
    return await put_in(kb, principal, source)


@usecase("manager", everywhere=True)
async def document_compare(kb: KnowledgeBase, principal: Principal, *, document: Text, revision: Text) -> Comparison:
    """Compare the live revision of a document (by id, name or URI) with a former one, line by line.

    Raises:
        InvalidInput: a text is too long to be compared.
    """
    store = kb.document_store
    found = await kb.blocking(store.document, principal, document)
    older = await kb.blocking(_find_revision, kb, principal, found, revision)
    newer = await kb.blocking(store.revision, principal, found.revision_id)
    texts = [(await kb.blocking(store.markdown, principal, one.id)).splitlines() for one in (older, newer)]
    if max(map(len, texts)) > MAX_COMPARED_LINES:
        raise InvalidInput(f"{found.name} has more than {MAX_COMPARED_LINES:,} lines, too many to be compared.")
    return Comparison(found, older, newer, await kb.blocking(compare_lines, *texts))


def compare_lines(older: list[str], newer: list[str]) -> list[LineDifference]:
    """Find the lines in which two texts differ, in the order of the newer one."""
    found = []
    for kind, old_start, old_end, start, end in SequenceMatcher(None, older, newer).get_opcodes():
        if kind != "equal":
            around = newer[max(0, start - LINES_AROUND) : start], newer[end : end + LINES_AROUND]
            before, after = map("\n".join, around)
            sides = "\n".join(older[old_start:old_end]), "\n".join(newer[start:end])
            found.append(LineDifference(start + 1, before, *sides, after))
    return found


def _find_revision(kb: KnowledgeBase, principal: Principal, document: Document, revision: str) -> Revision:
    found = kb.document_store.revision(principal, revision)
    if found.document_id != document.id:
        raise NotFound(f"{document.name} has no revision '{revision}'.")
    return found
