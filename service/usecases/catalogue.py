"""Every use case, in one table (`CASES`), and the one way to run them (`run`).

Whoever holds a `KnowledgeBase` runs `async for event in run(kb, principal, "ask", {"question": ...})`; or calls the
functions themselves, which takes care of parameters but not of roles. Commands go through `argot.service.transport.client`.
"""

from argot.service.identity.people import role_of
from argot.service.usecases import (
    api_keys,
    attachments,
    contexts,
    conversations,
    derivations,
    documents,
    glossary_files,
    glossary_history,
    glossary_impact,
    glossary_mining,
    maintenance,
    monitoring,
    personal_data,
    proposals,
    questions,
    senses,
    slack_channels,
    term_corrections,
    threads,
    uploads,
    users,
)
from argot.service.usecases.registry import CASES, Case, Event, run

__all__ = [
    "CASES",
    "Case",
    "Event",
    "cases_contexts",
    "cases_conversation",
    "cases_derive",
    "cases_documents",
    "cases_glossary",
    "cases_glossary_files",
    "cases_glossary_history",
    "cases_glossary_queue",
    "cases_keys",
    "cases_loop",
    "cases_mining",
    "cases_people",
    "cases_privacy",
    "cases_questions",
    "cases_service",
    "cases_slack",
    "cases_terms",
    "cases_thread_files",
    "cases_threads",
    "cases_upkeep",
    "cases_upload",
    "result",
    "role_of",
    "run",
]

from typing import Any

from argot.service.knowledge_base import KnowledgeBase
from argot.types import Principal


async def result(kb: KnowledgeBase, principal: Principal, case: str, /, **parameters: Any) -> Any:
    """Run a use case to its end, for who is not interested in its events."""
    data = None
    async for event in run(kb, principal, case, parameters):
        if event["kind"] == "result":
            data = event["data"]
    return data
