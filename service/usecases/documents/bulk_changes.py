"""The same change made to several documents, one after the other; a failure does not affect the others."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field

from argot.errors import Conflict, InvalidInput, NotAllowed, NotFound
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.documents.documents import remove
from argot.service.usecases.documents.revisions import document_label, document_reread
from argot.service.usecases.people.unknown_readers import list_reader_notices
from argot.service.usecases.usecase_registry import Event, Finished, Text, usecase
from argot.types import Principal

Change = Literal["tag", "untag", "audience", "reread", "remove"]
Several = Annotated[list[Text], Field(min_length=1, max_length=1000)]


@dataclass(frozen=True, slots=True)
class BulkProblem:
    """A document (as it was given) that was not changed, and why."""

    document: str
    detail: str


@dataclass(frozen=True, slots=True)
class BulkReport:
    """Number of documents that were changed, and those that were not.

    `notices`: remarks about the given readers.
    """

    change: Change
    done: int
    problems: list[BulkProblem]
    notices: list[str] = field(default_factory=list)


@usecase("manager", everywhere=True)
async def document_change(
    kb: KnowledgeBase, principal: Principal, *, documents: Several, change: Change, values: list[Text] | None = None
) -> AsyncIterator[Event | Finished[BulkReport]]:
    """Change several documents in the same way.

    `documents` are named by id, name or URI. Events: `{"kind": "progress", "done", "total"}`. `change`: "tag" and
    "untag" add and remove the tags in `values`; "audience" sets the readers to `values` (none: everyone); "reread"
    reads the stored files again; "remove" moves them to the dustbin.

    Raises:
        InvalidInput: no tag is given.
    """
    if change in ("tag", "untag") and not [one for one in values or () if one.strip()]:
        raise InvalidInput("Which tag? Give one, or several.")
    problems: list[BulkProblem] = []
    chosen = list(dict.fromkeys(documents))
    for place, document in enumerate(chosen, start=1):
        try:
            await _change_document(kb, principal, document, change, values or [])
        except (Conflict, InvalidInput, NotAllowed, NotFound) as error:
            problems.append(BulkProblem(document, str(error)))
        yield {"kind": "progress", "done": place, "total": len(chosen)}
    notices = await list_reader_notices(kb, values if change == "audience" else None)
    yield Finished(BulkReport(change, len(chosen) - len(problems), problems, notices))


async def _change_document(
    kb: KnowledgeBase, principal: Principal, document: str, change: Change, values: list[str]
) -> None:
    match change:
        case "tag" | "untag":
            found = await kb.blocking(kb.document_store.document, principal, document)
            new_values = [one.strip() for one in values if one.strip()]
            folded = {one.casefold() for one in new_values}
            kept = [one for one in found.tags if change == "tag" or one.casefold() not in folded]
            await document_label(kb, principal, document=found.id, tags=kept + (new_values if change == "tag" else []))
        case "audience":
            await document_label(kb, principal, document=document, audience=values)
        case "reread":
            await document_reread(kb, principal, document=document)
        case "remove":
            await remove(kb, principal, document=document)
