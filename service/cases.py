"""Every use case, in one table (`CASES`), and the one way to run them (`run`).

Whoever holds a `KnowledgeBase` runs `async for event in run(kb, principal, "ask", {"question": ...})`; or calls the
functions themselves, which takes care of parameters but not of roles. Commands go through `argot.service.client`.
"""

from argot.service import cases_documents, cases_glossary, cases_people, cases_questions, cases_threads, cases_upkeep
from argot.service.registry import CASES, Case, Event, role_of, run

__all__ = [
    "CASES",
    "Case",
    "Event",
    "cases_documents",
    "cases_glossary",
    "cases_people",
    "cases_questions",
    "cases_threads",
    "cases_upkeep",
    "result",
    "role_of",
    "run",
]

from typing import Any

from argot.service.owner import KnowledgeBase
from argot.types import Principal


async def result(kb: KnowledgeBase, principal: Principal, case: str, /, **parameters: Any) -> Any:
    """Run a use case to its end, for who is not interested in its events."""
    data = None
    async for event in run(kb, principal, case, parameters):
        if event["kind"] == "result":
            data = event["data"]
    return data
