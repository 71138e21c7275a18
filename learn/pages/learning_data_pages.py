"""Training data, for people who train: the sets of pairs, and reviewing, correcting and striking the pairs of one
set.
"""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Request, Response

from argot.errors import ArgotError, Conflict, InvalidInput, InvalidSettings
from argot.learn.usecases.learning_data import (
    data_correct,
    data_export,
    data_list,
    data_remove,
    data_restore,
    data_show,
    data_strike,
)
from argot.learn.usecases.learning_data_making import DataRecipe, data_start, data_stop
from argot.learn.usecases.learning_data_results import (
    DATA_KINDS,
    PAIR_PARTS,
    PAIR_STATES,
    WITHOUT_MODEL,
    DataFound,
    PairPart,
    PairStateAsked,
)
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.usecase_registry import find_choice
from argot.ui.pages.form_fields import split_commas
from argot.ui.pages.page_base import (
    DONE_MESSAGES,
    BoundedRoute,
    parse_integer,
    read_form,
    redirect_to_address,
    show_page,
)
from argot.ui.pages.source_pages import INERT_HEADERS
from argot.ui.web.authorization import Visitor, Who, needs
from argot.ui.web.routers import make_router

DATA = "/workbench/data"
DONE_MESSAGES.update(
    {
        "data-making": "Being made. It goes on in the background.",
        "data-stopped": "Stopped. What was made is kept.",
        "data-removed": "Removed, with all its pairs.",
        "data-struck": "Struck. Nothing learns from it.",
        "data-restored": "Restored.",
        "data-corrected": "Saved.",
    }
)
STEP = 25
KINDS = {
    "heading": "Headings, asked as people ask", "definition": "What a sentence defines",
    "cloze": "A sentence taken out of its passage", "asked": "Questions with thumbs up that their askers shared",
    "twins": "Each question once more with the glossary's short forms, or spelt out",
    "standard": "One passage, naming its case", "alternative": "One passage, asking for its case",
    "simple": "Several passages: one fact", "complex": "Several passages: joined facts",
}  # fmt: skip
"""Description of each kind, for people."""
_FILTERS = ("words", "kind", "part", "state")


@dataclass(frozen=True, slots=True)
class PairsListed:
    """The pairs of a set that the address asks for. `given`: the filters, as the form and the links have them."""

    given: dict[str, str]
    start: int
    found: DataFound

    @property
    def is_narrowed(self) -> bool:
        return any(self.given.values())

    def link(self, **changed: str | int) -> str:
        """Return the address of the same list with these changes."""
        query = {name: value for name, value in {**self.given, **changed}.items() if value not in ("", 0)}
        return set_link(self.found.set.name) + (f"?{urlencode(query, quote_via=quote)}" if query else "")


def set_link(name: str, rest: str = "") -> str:
    return f"{DATA}/{quote(name, safe='')}{rest}"


def build_learning_data_pages(kb: KnowledgeBase) -> APIRouter:
    router = make_router(prefix=DATA, route_class=BoundedRoute)
    _add_list_routes(router, kb)
    _add_set_routes(router, kb)
    _add_change_routes(router, kb)
    return router


def _add_list_routes(router: APIRouter, kb: KnowledgeBase) -> None:
    @router.get("")
    @needs("manager")
    async def sets(request: Request, who: Who) -> Response:
        return await sets_page(request, who)

    @router.post("")
    @needs("manager")
    async def make(request: Request, who: Who) -> Response:
        form = await read_form(request)
        name = form.get("name", "").strip()
        try:
            kinds = [find_choice(DATA_KINDS, one, "the kind") for one in (await request.form()).getlist("kind")]
            limit = parse_integer(form.get("limit")) if form.get("limit", "").strip() else None
            recipe = DataRecipe(
                kinds=kinds or None,
                limit=limit,
                tags=split_commas(form.get("tags", "")) or None,
                per_passage=parse_integer(form["per_passage"]) if form.get("per_passage", "").strip() else None,
            )
            await data_start(kb, who.principal, name=name, recipe=recipe)
        except (InvalidInput, InvalidSettings, Conflict) as error:
            return await sets_page(request, who, error, form)
        return redirect_to_address(set_link(name, "?done=data-making"))

    async def sets_page(
        request: Request, who: Visitor, error: ArgotError | None = None, typed: dict[str, str] | None = None
    ) -> Response:
        found = await data_list(kb, who.principal)
        offered = DATA_KINDS if kb.settings.model_server.url else WITHOUT_MODEL
        fields = {"name": "", "limit": "", "tags": "", "per_passage": "", **(typed or {})}
        chosen = (await request.form()).getlist("kind") if typed else WITHOUT_MODEL
        kinds = [(kind, KINDS[kind], kind in chosen) for kind in offered]
        asked = {"has_model": bool(kb.settings.model_server.url)}
        return show_page("data_sets.html", request, who, sets=found, kinds=kinds, given=fields, error=error, **asked)


def _add_set_routes(router: APIRouter, kb: KnowledgeBase) -> None:
    @router.get("/{name}")
    @needs("manager")
    async def pairs(request: Request, who: Who, name: str) -> Response:
        return await _render_set_page(kb, request, who, name)

    @router.get("/{name}/pairs.jsonl")
    @needs("manager")
    async def export(who: Who, name: str) -> Response:
        found = await data_export(kb, who.principal, name=name)
        headers = {**INERT_HEADERS, "Content-Disposition": f"attachment; filename*=UTF-8''{quote(found.name, safe='')}"}
        return Response(found.text, media_type="application/jsonl", headers=headers)


def _add_change_routes(router: APIRouter, kb: KnowledgeBase) -> None:
    @router.post("/{name}/go-on")
    @needs("manager")
    async def go_on(request: Request, who: Who, name: str) -> Response:
        return await apply_change(request, who, name, "data-making", data_start(kb, who.principal, name=name))

    @router.post("/{name}/stop")
    @needs("manager")
    async def stop(request: Request, who: Who, name: str) -> Response:
        return await apply_change(request, who, name, "data-stopped", data_stop(kb, who.principal, name=name))

    @router.post("/{name}/remove")
    @needs("manager")
    async def remove(request: Request, who: Who, name: str) -> Response:
        try:
            await data_remove(kb, who.principal, name=name)
        except Conflict as error:
            return await _render_set_page(kb, request, who, name, error)
        return redirect_to_address(f"{DATA}?done=data-removed")

    @router.post("/{name}/{pair}/strike")
    @needs("manager")
    async def strike(request: Request, who: Who, name: str, pair: str) -> Response:
        work = data_strike(kb, who.principal, name=name, pair=pair)
        return await apply_change(request, who, name, "data-struck", work)

    @router.post("/{name}/{pair}/restore")
    @needs("manager")
    async def restore(request: Request, who: Who, name: str, pair: str) -> Response:
        work = data_restore(kb, who.principal, name=name, pair=pair)
        return await apply_change(request, who, name, "data-restored", work)

    @router.post("/{name}/{pair}/correct")
    @needs("manager")
    async def correct(request: Request, who: Who, name: str, pair: str) -> Response:
        form = await read_form(request)
        fields = {"question": form.get("question", ""), "answer": form.get("answer", "")}
        work = data_correct(kb, who.principal, name=name, pair=pair, **fields)
        return await apply_change(request, who, name, "data-corrected", work, pair=pair, typed=form)

    async def apply_change(
        request: Request, who: Visitor, name: str, what: str, work: Awaitable[object], **typed: Any
    ) -> Response:
        try:
            await work
        except (Conflict, InvalidInput, InvalidSettings) as error:
            return await _render_set_page(kb, request, who, name, error, **typed)
        # Back to the same position of the list, where a reviewer of hundreds of pairs continues.
        listed = {one: request.query_params.get(one, "") for one in (*_FILTERS, "start")}
        query = urlencode({**{one: value for one, value in listed.items() if value}, "done": what}, quote_via=quote)
        place = f"#{request.query_params['at']}" if request.query_params.get("at", "").isalnum() else ""
        return redirect_to_address(set_link(name, f"?{query}{place}"))


async def _render_set_page(
    kb: KnowledgeBase,
    request: Request,
    who: Visitor,
    name: str,
    error: ArgotError | None = None,
    *,
    pair: str = "",
    typed: dict[str, str] | None = None,
) -> Response:
    """Render a set. `pair`: the one of an error, with the typed texts; wrong values in the address are ignored."""
    filters = {one: request.query_params.get(one, "").strip()[:200] for one in _FILTERS}
    part: PairPart = next((one for one in PAIR_PARTS if one == filters["part"]), "")
    state: PairStateAsked = next((one for one in PAIR_STATES if one == filters["state"]), "")
    start = max(0, parse_integer(request.query_params.get("start", "0")))
    found = await data_show(
        kb,
        who.principal,
        name=name,
        words=filters["words"],
        kind=filters["kind"],
        part=part,
        state=state,
        start=start,
        limit=STEP,
    )
    listed = PairsListed({**filters, "part": part, "state": state}, start, found)
    choices = {"parts_asked": PAIR_PARTS[1:], "states": PAIR_STATES[1:], "step": STEP}
    return show_page("data_pairs.html", request, who, error=error, listed=listed, at=pair, typed=typed or {}, **choices)
