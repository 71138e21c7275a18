"""Every use case by its name, for callers that have only that: a request over the local socket, or a table of
addresses.

Importing this imports the modules of all use cases, which puts them into `CASES`. Within one process call the functions
themselves.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from argot.errors import InvalidInput
from argot.service.json_values import convert_to_json
from argot.service.usecases.documents import (
    automatic_derivation,
    bulk_changes,
    derivations,
    documents,
    dustbin,
    fetch,
    listing,
    passages,
    pictures,
    revisions,
    sources,
    uploads,
)
from argot.service.usecases.glossary import (
    contexts,
    files,
    history,
    impact,
    mining,
    proposals,
    senses,
    suggestions,
    term_corrections,
    term_marks,
    terms,
    text_checks,
)
from argot.service.usecases.operations import administration, job_queue, maintenance, monitoring
from argot.service.usecases.people import api_keys, personal_data, reader_groups, users
from argot.service.usecases.questions import (
    attachments,
    conversations,
    embeddings,
    insight,
    profiles,
    questions,
    shared_conversations,
    threads,
    verified_answers,
)
from argot.service.usecases.usecase_registry import CASES, Event, UseCase
from argot.types import Principal
from argot.wings import load_parts

if TYPE_CHECKING:
    from argot.service.knowledge_base import KnowledgeBase

__all__ = [
    "CASES",
    "administration",
    "api_keys",
    "attachments",
    "automatic_derivation",
    "bulk_changes",
    "contexts",
    "conversations",
    "derivations",
    "dispatch",
    "documents",
    "dustbin",
    "embeddings",
    "fetch",
    "files",
    "get_last_result",
    "get_result",
    "history",
    "impact",
    "insight",
    "job_queue",
    "listing",
    "maintenance",
    "mining",
    "monitoring",
    "passages",
    "personal_data",
    "pictures",
    "profiles",
    "proposals",
    "questions",
    "reader_groups",
    "revisions",
    "senses",
    "shared_conversations",
    "sources",
    "suggestions",
    "term_corrections",
    "term_marks",
    "terms",
    "text_checks",
    "threads",
    "uploads",
    "users",
    "verified_answers",
]

WING_CASES = tuple(load_parts("use_cases"))
"""The modules of the wings, which declare use cases when they are imported."""


async def dispatch(
    kb: KnowledgeBase, principal: Principal, name: str, parameters: Mapping[str, Any]
) -> AsyncGenerator[Event]:
    """Run the use case of this name; yield its events as JSON, the last of which is the result. Closing this stops the
    work.

    Raises:
        InvalidInput: there is no such case.
    """
    # Names come over a wire, possibly from a program of another version.
    found = CASES.get(name)
    if found is None:
        raise InvalidInput(f"There is no use case '{name}'. There are: {', '.join(sorted(CASES))}.")
    if isinstance(found, UseCase):
        # Called as any caller would: role and parameters are checked there, not here.
        yield {"kind": "result", "data": convert_to_json(await found(kb, principal, **parameters))}
        return
    # Closed with this generator: otherwise a caller's leaving would stop the work only at the next garbage collection.
    async with aclosing(found(kb, principal, **parameters)) as events:
        async for event in events:
            yield convert_to_json(event)


async def get_result(kb: KnowledgeBase, principal: Principal, name: str, /, **parameters: Any) -> Any:
    """Return the result of the use case of this name, as JSON, without its events."""
    return await get_last_result(dispatch(kb, principal, name, parameters))


async def get_last_result(events: AsyncGenerator[Event]) -> Any:
    """Return the result in the last of a use case's events, as JSON. Cancelling this stops the work."""
    data = None
    async with aclosing(events):
        async for event in events:
            if event["kind"] == "result":
                data = event["data"]
    return data
