"""The list of documents that managers and askers search and sort."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from urllib.parse import quote, urlencode

from fastapi import Request

from argot.clock import format_utc, utc_now
from argot.document_names import find_telling_folders
from argot.languages.catalogues import translate
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.documents.automatic_derivation import Progress, derivation_status
from argot.service.usecases.documents.listing import DocumentFilter, DocumentsFound, Order, State, document_find
from argot.ui.pages.page_base import parse_integer
from argot.ui.web.authorization import Visitor

PAGE_ROWS = 50
ORDERS: Mapping[Order, str] = {
    "newest": "Newest first", "oldest": "Oldest first", "name": "By name", "longest": "Longest first",
}  # fmt: skip
STATES: Mapping[State, str] = {
    "incomplete": "Not fully read", "replaced": "Replaced since",
    "derived": "With derived texts", "not derived": "Without derived texts",
}  # fmt: skip
AGES: Mapping[str, tuple[str, int]] = {
    "1": ("Added today", 1), "7": ("In the last 7 days", 7), "30": ("In the last 30 days", 30),
    "365": ("In the last year", 365), "old": ("More than a year ago", 365),
}  # fmt: skip
PROGRESS: Mapping[Progress, str] = {
    "waiting": "Texts are still to be derived from it", "being derived": "Texts are being derived from it",
    "derived": "Texts were derived from it", "failed": "Texts could not all be derived from it",
    "over budget": "Texts will be derived from it after midnight UTC, when there is a budget again",
}  # fmt: skip
_NAMES = ("q", "tag", "audience", "state", "age", "order")


@dataclass(frozen=True, slots=True)
class DocumentList:
    """The search, as the form and the links hold it, and its result. `where`: the page's address.

    `order`: of a list whose address names none. `folders`: by URI, those that tell documents of one name apart.
    `derivation`: by document id, the progress of background derivation; for managers.
    """

    where: str
    given: dict[str, str]
    start: int
    found: DocumentsFound
    order: Order
    folders: dict[str, str]
    derivation: dict[str, str] = field(default_factory=dict)

    @property
    def is_narrowed(self) -> bool:
        """Tell whether the search restricts the list, beyond its order."""
        return any(value for name, value in self.given.items() if name != "order")

    def link(self, **changed: str | int) -> str:
        """Build the address of the same list with these changes."""
        wanted = {**self.given, **changed}
        idle = ("order", self.order)
        query = {name: value for name, value in wanted.items() if value not in ("", 0) and (name, value) != idle}
        return self.where + (f"?{urlencode(query, quote_via=quote)}" if query else "")


CHOICES: dict[str, Any] = {"orders": ORDERS, "states": STATES, "ages": AGES, "step": PAGE_ROWS}


async def list_documents(
    kb: KnowledgeBase, request: Request, who: Visitor, where: str, by_default: Order = "newest"
) -> DocumentList:
    """List the documents that the address asks for; invalid parameters are ignored."""
    filters = {name: request.query_params.get(name, "").strip()[:500] for name in _NAMES}
    order: Order = next((one for one in ORDERS if one == filters["order"]), by_default)
    state: State | None = next((one for one in STATES if one == filters["state"]), None)
    filters |= {"order": order, "state": state or "", "age": filters["age"] if filters["age"] in AGES else ""}
    start = max(0, parse_integer(request.query_params.get("start", "0")))
    moment = format_utc(utc_now() - timedelta(days=AGES[filters["age"]][1]), "seconds") if filters["age"] else ""
    age = {"added_before" if filters["age"] == "old" else "added_after": moment}
    wanted = DocumentFilter(text=filters["q"], tag=filters["tag"], audience=filters["audience"], state=state, **age)
    found = await document_find(kb, who.principal, wanted=wanted, order=order, start=start, limit=PAGE_ROWS)
    folders = find_telling_folders(one.uri for one in found.documents)
    derivation = await describe_derivation(kb, who, [one.id for one in found.documents])
    return DocumentList(where, filters, start, found, by_default, folders, derivation)


async def describe_derivation(kb: KnowledgeBase, who: Visitor, documents: list[str]) -> dict[str, str]:
    """Describe to a manager the progress of derivation for documents (ids); documents without any are left out."""
    if not documents or who.role == "asker":
        return {}
    status = await derivation_status(kb, who.principal, documents=documents)
    texts = {}
    for one in status.documents:
        if words := PROGRESS.get(one.state):
            number = translate("tries: %(number)s", number=one.tries)
            texts[one.document] = translate(words) + (f" ({number}): {one.detail}" if one.detail else "")
    return texts
