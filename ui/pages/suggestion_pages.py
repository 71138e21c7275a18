"""Suggesting a meaning: the form that everybody may fill in, the proposals to confirm, and the own suggestions."""

from __future__ import annotations

from urllib.parse import quote

from fastapi import APIRouter, Request, Response

from argot.errors import Conflict, InvalidInput
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.glossary.contexts import context_list
from argot.service.usecases.glossary.senses import glossary_term
from argot.service.usecases.glossary.suggestions import (
    term_comment,
    term_confirm,
    term_suggest,
    term_suggestions,
)
from argot.ui.pages.page_base import BoundedRoute, read_form, redirect_to_address, show_page
from argot.ui.web.authorization import Visitor, Who, needs
from argot.ui.web.routers import make_router

SUGGEST = "/terms/suggest"
MAX_TERM_CHARS = 200
MAX_FORM_BYTES = 128 * 1024
FIELDS = ("term", "expansion", "context", "description")


class FormRoute(BoundedRoute):
    """A route for small forms: anybody may send them."""

    most = MAX_FORM_BYTES


def build_suggestion_pages(kb: KnowledgeBase) -> APIRouter:
    router = make_router(prefix=SUGGEST, route_class=FormRoute)

    @router.get("")
    @needs("asker")
    async def form(request: Request, who: Who, term: str = "", context: str = "") -> Response:
        fields = {"term": term[:MAX_TERM_CHARS].strip(), "context": context[:MAX_TERM_CHARS]}
        return await render_form(request, who, fields)

    @router.post("")
    @needs("asker")
    async def suggest(request: Request, who: Who) -> Response:
        sent = await read_form(request)
        fields = {name: sent.get(name, "") for name in FIELDS}
        try:
            await term_suggest(kb, who.principal, **fields)
        except (InvalidInput, Conflict) as error:
            # With everything that was typed, to be corrected and sent again.
            return await render_form(request, who, fields, error)
        return redirect_to_address(link_suggest(fields["term"], "suggested"))

    @router.post("/{proposal_id}/confirm")
    @needs("asker")
    async def confirm(request: Request, who: Who, proposal_id: int) -> Response:
        found = await term_confirm(kb, who.principal, proposal_id=proposal_id)
        return redirect_to_address(link_suggest(found.term, "confirmed"))

    @router.post("/{proposal_id}/comment")
    @needs("asker")
    async def comment(request: Request, who: Who, proposal_id: int) -> Response:
        words = (await read_form(request)).get("words", "")
        try:
            found = await term_comment(kb, who.principal, proposal_id=proposal_id, words=words)
        except InvalidInput as error:
            return await render_form(request, who, {}, error)
        return redirect_to_address(link_suggest(found.term, "commented"))

    async def render_form(
        request: Request, who: Visitor, fields: dict[str, str], error: InvalidInput | Conflict | None = None
    ) -> Response:
        term = fields.get("term", "").strip()[:MAX_TERM_CHARS]
        known = await glossary_term(kb, who.principal, term=term) if term else None
        return show_page(
            "suggest.html",
            request,
            who,
            error=error,
            given={name: fields.get(name, "") for name in FIELDS},
            contexts=await context_list(kb, who.principal),
            meanings=[one for one in known.senses if one.status == "approved"] if known else [],
            proposals=await term_suggestions(kb, who.principal, term=term) if term else [],
            own=await term_suggestions(kb, who.principal),
        )

    return router


def link_suggest(term: str, done: str = "") -> str:
    """Build the address of the form for a term."""
    return f"{SUGGEST}?term={quote(term.strip()[:MAX_TERM_CHARS], safe='')}" + (f"&done={done}" if done else "")
