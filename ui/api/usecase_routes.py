"""Routes that are use cases as they are: parameters and role are those of the use case.

GET and DELETE take the parameters in the query, other methods as JSON, except those in the path.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases import catalogue
from argot.service.usecases.catalogue import CASES
from argot.service.usecases.documents.sources import SourceRecord
from argot.service.usecases.glossary.term_marks import MeaningReported, TermMarks
from argot.service.usecases.glossary.term_results import TermEntry, TermListing
from argot.service.usecases.operations.job_queue import JobShown
from argot.types import Context, Document, Sense
from argot.ui.api.api_route import ApiRoute, cancel_on_hang_up
from argot.ui.api.openapi import declare_errors, get_operation_id
from argot.ui.api.parameter_models import build_parameter_model
from argot.ui.api.response_models import (
    DocumentShown,
    FeedbackShown,
    PassageShown,
    Shown,
    SourceShown,
    TermShown,
    ThreadRead,
    ThreadShown,
    UploadShown,
)
from argot.ui.web.authorization import Who, needs
from argot.ui.web.routers import make_router
from argot.wings import load_parts

_IN_PATH = re.compile(r"{(\w+)}")


@dataclass(frozen=True, slots=True)
class Address:
    """One address. `gives` is for the OpenAPI document only: the result of the use case is sent as it is."""

    method: str
    path: str
    case: str
    tag: str
    gives: Any = Shown
    summary: str = ""

    @property
    def path_parameters(self) -> list[str]:
        return _IN_PATH.findall(self.path)


_SENSE = "/glossary/senses/{sense_id}"
_REVISION = "/documents/{document}/revision"
_PROPOSAL = "/glossary/proposals/{proposal_id}"
ADDRESSES = (
    Address("GET", "/threads", "thread_list", "Conversations", list[ThreadShown]),
    Address("GET", "/threads/{thread}", "thread_read", "Conversations", ThreadRead),
    Address("PATCH", "/threads/{thread}", "thread_rename", "Conversations", ThreadShown),
    Address("DELETE", "/threads/{thread}", "thread_delete", "Conversations", ThreadShown),
    Address("POST", "/threads/{thread}/feedback", "feedback", "Conversations", FeedbackShown),
    Address("GET", "/threads/{thread}/news", "thread_news", "Conversations", list[Shown]),
    Address("POST", "/threads/{thread}/share", "thread_share", "Conversations"),
    Address("POST", "/threads/{thread}/links", "thread_link_add", "Conversations"),
    Address("GET", "/links", "thread_link_list", "Conversations", list[Shown]),
    Address("DELETE", "/links/{link}", "thread_link_withdraw", "Conversations"),
    Address("GET", "/shared/{secret}", "shared_read", "Conversations"),
    Address("GET", "/threads/{thread}/turns/{turn}/draft", "verified_draft", "Verified answers"),
    Address("POST", "/threads/{thread}/turns/{turn}/verify", "verified_add", "Verified answers"),
    Address("GET", "/verified", "verified_list", "Verified answers", list[Shown]),
    Address("POST", "/verified/{answer}/renew", "verified_renew", "Verified answers"),
    Address("DELETE", "/verified/{answer}", "verified_remove", "Verified answers"),
    Address("GET", "/documents", "list_documents", "Documents", list[Document]),
    Address("GET", "/near-duplicates", "document_near", "Documents", list[Shown]),
    Address("GET", "/documents/{document}", "show", "Documents", DocumentShown),
    Address("GET", "/documents/{document}/markdown", "read_source", "Documents", SourceShown),
    Address("PATCH", "/documents/{document}", "document_label", "Documents", Document),
    Address("DELETE", "/documents/{document}", "remove", "Documents", Document),
    Address("GET", "/documents/{document}/contents", "document_contents", "Documents"),
    Address("GET", "/documents/{document}/text", "document_text", "Documents"),
    Address("GET", "/documents/{document}/pictures", "document_pictures", "Documents", list[Shown]),
    Address("GET", "/documents/{document}/use", "document_use", "Documents"),
    Address("GET", "/documents/{document}/passages", "document_part", "Documents"),
    Address("POST", "/documents/{document}/reread", "document_reread", "Documents", UploadShown),
    Address("GET", f"{_REVISION}s", "document_revisions", "Documents", list[Shown]),
    Address("GET", f"{_REVISION}s/{{revision}}/comparison", "document_compare", "Documents"),
    Address("POST", f"{_REVISION}s/{{revision}}/bring-back", "document_bring_back", "Documents", UploadShown),
    Address("GET", "/derivation", "derivation_status", "Documents"),
    Address("POST", "/documents/fetch", "document_fetch", "Documents", UploadShown),
    Address("POST", "/documents/change", "document_change", "Documents"),
    Address("GET", "/library", "document_find", "Documents"),
    Address("GET", "/dustbin", "removed_list", "Documents", list[Shown]),
    Address("POST", "/dustbin/{document}/restore", "document_restore", "Documents", UploadShown),
    Address("DELETE", "/dustbin/{document}", "removed_erase", "Documents", list[Shown]),
    Address("GET", "/passages/{passage_id}", "read_passage", "Documents", PassageShown),
    Address("GET", "/groups", "reader_groups", "Documents", list[str]),
    Address("GET", "/sources", "source_list", "Sources", list[SourceRecord]),
    Address("POST", "/sources", "source_add", "Sources", SourceRecord),
    Address("POST", "/sources/{name}/sync", "source_sync", "Sources"),
    Address("POST", "/sources/{name}/start", "source_sync_start", "Sources"),
    Address("GET", "/sources/progress", "source_progress", "Sources", list[Shown]),
    Address("DELETE", "/sources/{name}", "source_remove", "Sources"),
    Address("GET", "/jobs", "job_list", "Jobs", list[JobShown]),
    Address("GET", "/jobs/{job}", "job_show", "Jobs"),
    Address("POST", "/jobs/{job}/retry", "job_retry", "Jobs", JobShown),
    Address("POST", "/jobs/{job}/cancel", "job_cancel", "Jobs", JobShown),
    Address("GET", "/insight", "insight", "Insight"),
    Address("GET", "/administration", "administration", "Administration"),
    Address("GET", "/profiles", "profile_list", "Profiles", list[Shown]),
    Address("GET", "/profiles/{name}", "profile_show", "Profiles"),
    Address("POST", "/profiles", "profile_save", "Profiles"),
    Address("GET", "/terms", "terms_list", "Terms", TermListing),
    Address("GET", "/terms/entry", "term_show", "Terms", TermEntry),
    Address("POST", "/terms/marks", "terms_mark", "Terms", TermMarks),
    Address("POST", "/terms/reports", "meaning_report", "Terms", MeaningReported),
    Address("GET", "/contexts", "context_list", "Glossary", list[Context]),
    Address("POST", "/contexts", "context_add", "Glossary", Context),
    Address("PATCH", "/contexts/{context_id}", "context_save", "Glossary", Context),
    Address("GET", "/glossary/senses", "glossary_list", "Glossary", list[Sense]),
    Address("POST", "/glossary/senses", "glossary_add", "Glossary", Sense),
    Address("GET", _SENSE, "glossary_sense", "Glossary", Sense),
    Address("PATCH", _SENSE, "glossary_save", "Glossary", Sense),
    Address("POST", f"{_SENSE}/approve", "glossary_approve", "Glossary", Sense),
    Address("POST", f"{_SENSE}/retire", "glossary_retire", "Glossary", Sense),
    Address("POST", f"{_SENSE}/aliases", "glossary_alias", "Glossary", Sense),
    Address("POST", "/glossary/drafts", "glossary_draft", "Glossary", Sense),
    Address("GET", "/glossary/search", "glossary_search", "Glossary", list[Sense]),
    Address("GET", "/glossary/term", "glossary_term", "Glossary", TermShown),
    Address("GET", "/glossary/similar", "glossary_similar", "Glossary", list[Shown]),
    Address("GET", "/glossary/occurrences", "glossary_occurrences", "Glossary"),
    Address("GET", "/glossary/warnings", "glossary_warnings", "Glossary", list[Shown]),
    Address("GET", "/glossary/conflicts", "glossary_conflicts", "Glossary"),
    Address("POST", "/glossary/conflicts/let-stand", "glossary_let_stand", "Glossary"),
    Address("POST", "/glossary/conflicts/take-up", "glossary_take_up", "Glossary"),
    Address("GET", "/glossary/misses", "glossary_misses", "Glossary", list[Shown]),
    Address("POST", "/glossary/misses/dismiss", "glossary_dismiss_miss", "Glossary"),
    Address("GET", "/glossary/queue", "glossary_queue", "Glossary", list[Shown]),
    Address("GET", "/glossary/proposals", "glossary_proposals", "Glossary", list[Shown]),
    Address("POST", "/glossary/proposals", "glossary_propose", "Glossary", list[Shown]),
    Address("GET", _PROPOSAL, "glossary_proposal", "Glossary"),
    Address("POST", f"{_PROPOSAL}/accept", "glossary_accept", "Glossary", Sense),
    Address("POST", f"{_PROPOSAL}/merge", "glossary_merge", "Glossary", Sense),
    Address("POST", f"{_PROPOSAL}/dismiss", "glossary_dismiss", "Glossary"),
    Address("POST", f"{_PROPOSAL}/reviewer", "glossary_review", "Glossary"),
    Address("POST", f"{_PROPOSAL}/confirm", "term_confirm", "Glossary"),
    Address("POST", f"{_PROPOSAL}/comments", "term_comment", "Glossary"),
    Address("GET", "/glossary/suggestions", "term_suggestions", "Glossary", list[Shown]),
    Address("POST", "/glossary/suggestions", "term_suggest", "Glossary"),
    Address("POST", "/glossary/effects", "glossary_effects", "Glossary"),
    Address("GET", "/glossary/history", "glossary_history", "Glossary", list[Shown]),
    Address("GET", "/glossary/changes", "glossary_changes", "Glossary", list[Shown]),
    Address("POST", "/glossary/roll-back", "glossary_roll_back", "Glossary"),
)


def list_addresses() -> Iterator[Address]:
    """List the addresses of the core and of the wings."""
    yield from ADDRESSES
    for addresses in load_parts("addresses"):
        yield from addresses


def build_usecase_routes(kb: KnowledgeBase) -> APIRouter:
    router = make_router(prefix="/api", route_class=ApiRoute, generate_unique_id_function=get_operation_id)
    for address in list_addresses():
        found = CASES[address.case]
        # Such use cases take paths of this machine. No address may offer one, and this makes sure of it.
        if found.local:
            raise ValueError(f"'{found.name}' is for this machine alone")
        # The possible statuses follow from the method and the role, so that the document names them all.
        statuses = [400, 401, 404, 422, 503]
        if address.method != "GET":
            statuses += [409]
        if address.method in ("POST", "PATCH"):
            statuses += [413, 415]
        if found.role != "asker":
            statuses += [403]
        router.add_api_route(
            address.path,
            needs(found.role, program=True, case=address.case)(_build_endpoint(kb, address)),
            methods=[address.method],
            tags=[address.tag],
            description=found.help,
            operation_id=address.case,
            response_model=None,
            responses={200: {"model": address.gives}, **declare_errors(*statuses)},
        )
    return router


def _build_endpoint(kb: KnowledgeBase, address: Address) -> Callable[..., Any]:
    found = CASES[address.case]
    model = build_parameter_model(found, without=address.path_parameters)

    async def endpoint(request: Request, who: Any, sent: Any = None, **of_path: Any) -> Response:
        parameters = {**of_path, **(sent.model_dump(exclude_unset=True) if isinstance(sent, BaseModel) else {})}
        running = catalogue.get_result(kb, who.principal, address.case, **parameters)
        data = await cancel_on_hang_up(request, running)
        return JSONResponse(data, headers={"Cache-Control": "no-store"})

    # FastAPI reads a function's signature: it is built from the use case here, with a parameter for each in the path.
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter("request", keyword, annotation=Request),
        inspect.Parameter("who", keyword, annotation=Who),
        *(
            inspect.Parameter(name, keyword, annotation=_get_path_type(found.parameters, name))
            for name in address.path_parameters
        ),
    ]
    # A model without fields would still make FastAPI ask for a body.
    if model.model_fields:
        annotation: Any = Annotated[model, Query()] if address.method in ("GET", "DELETE") else model
        parameters.append(inspect.Parameter("sent", keyword, annotation=annotation))
    endpoint.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    endpoint.__name__ = address.case
    return endpoint


def _get_path_type(model: type[BaseModel], name: str) -> Any:
    field = model.model_fields[name]
    # With its limits, such as length, which are metadata of the type.
    return Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation
