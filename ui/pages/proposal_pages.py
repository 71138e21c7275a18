"""The proposals: meanings found for terms that the glossary lacks, and a manager's decisions about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fastapi import APIRouter, Request, Response

from argot.errors import Conflict, InvalidInput, NotAllowed
from argot.service.json_values import read_dataclass_fields
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.glossary.impact import (
    glossary_effects_together,
)
from argot.service.usecases.glossary.mining import glossary_mine_start, glossary_mine_stop, glossary_mined
from argot.service.usecases.glossary.proposal_results import ProposalShown
from argot.service.usecases.glossary.proposals import (
    EditedProposal,
    glossary_accept,
    glossary_accept_many,
    glossary_dismiss,
    glossary_offers,
    glossary_proposal,
    glossary_reopen,
)
from argot.service.usecases.glossary.suggestions import glossary_review
from argot.ui.pages.form_fields import EMPTY_FORM, make_sense_input, read_typed
from argot.ui.pages.page_base import (
    HOME,
    BoundedRoute,
    Pages,
    parse_integer,
    parse_share,
    read_form,
    redirect,
    render_part,
    show_effects,
    show_page,
)
from argot.ui.pages.queue_pages import render_miss
from argot.ui.pages.sense_pages import render_form
from argot.ui.web.authorization import Visitor, Who, needs
from argot.ui.web.routers import make_router

MAX_PROPOSALS = 50
"""Proposals on a page."""
MAX_RESULTS = 200


def build_proposal_pages(kb: KnowledgeBase) -> APIRouter:
    router = make_router(prefix=HOME, route_class=BoundedRoute)
    pages = Pages(kb)
    _add_proposals(router, pages)
    _add_mining(router, pages)
    _add_decisions(router, pages)
    _add_closing(router, pages)
    return router


def _add_proposals(router: APIRouter, pages: Pages) -> None:
    @router.get("/proposals")
    @needs("manager")
    async def proposals(request: Request, who: Who) -> Response:
        return await render_proposals(pages, request, who, request.query_params)

    @router.post("/proposals/accept")
    @needs("manager")
    async def accept_many(request: Request, who: Who) -> Response:
        """Accept the ticked proposals, or all that are sure enough, in one change that can be rolled back."""
        form, ticked = await read_form(request), (await request.form()).getlist("id")
        # Ticks and "all that are sure enough" are two buttons of one form; the second takes precedence.
        ids, least = [parse_integer(str(one)) for one in ticked], form.get("least", "")
        if not least and not ids:
            return redirect("/proposals", done="none-ticked")
        approved = form.get("approve") == "yes"
        try:
            done = await glossary_accept_many(
                pages.kb,
                who.principal,
                least=parse_share(least) if least else None,
                # `parse_integer` returns -1 for anything else.
                proposal_ids=None if least else [one for one in ids if one >= 0],
                context=read_typed(form)["context"],
                status="approved" if approved else "draft",
                why=form.get("why", ""),
            )
        except InvalidInput as error:
            # The same page again with the same filter, which the form holds in hidden fields.
            seen = {name: form.get(f"seen_{name}", "") for name in ("q", "least", "start")}
            return await render_proposals(pages, request, who, seen, error=error, ticked=ids)
        # No redirect: only this page names the proposals that could not be accepted.
        return show_page("accepted.html", request, who, **read_dataclass_fields(done), approved=approved)

    @router.post("/proposals/effects")
    @needs("manager")
    async def effects(request: Request, who: Who) -> Response:
        """Show how accepting and approving the ticked proposals would change past questions."""
        # All fields named "id": `read_form` keeps only the first of each name.
        ids = [parse_integer(str(one)) for one in (await request.form()).getlist("id")]
        context = read_typed(await read_form(request))["context"]
        found = await glossary_effects_together(
            pages.kb, who.principal, proposal_ids=[one for one in ids if one >= 0], context=context
        )
        return show_effects(request, who, found, back="/proposals")


def _add_mining(router: APIRouter, pages: Pages) -> None:
    @router.post("/proposals/mine")
    @needs("manager")
    async def mine(who: Who) -> Response:
        """Start mining the documents in the background."""
        await glossary_mine_start(pages.kb, who.principal)
        return redirect("/proposals")

    @router.post("/proposals/mine/stop")
    @needs("manager")
    async def stop(who: Who) -> Response:
        await glossary_mine_stop(pages.kb, who.principal)
        return redirect("/proposals")

    @router.get("/proposals/mining")
    @needs("manager")
    async def mining(who: Who) -> Response:
        """Show the progress of mining. HTMX asks repeatedly; when it is done the page is reloaded."""
        job = await glossary_mined(pages.kb, who.principal)
        # The reload shows the new proposals; this part alone would leave the old list.
        return render_part("mining.html", {} if job.state == "running" else {"HX-Refresh": "true"}, job=job, who=who)


def _add_decisions(router: APIRouter, pages: Pages) -> None:
    @router.get("/proposals/{proposal_id}")
    @needs("manager")
    async def proposal(request: Request, who: Who, proposal_id: int) -> Response:
        found = await glossary_proposal(pages.kb, who.principal, proposal_id=proposal_id)
        return await render_miss(pages, request, who, found.term, only=found)

    @router.get("/proposals/{proposal_id}/edit")
    @needs("manager")
    async def edit(request: Request, who: Who, proposal_id: int) -> Response:
        found = await glossary_proposal(pages.kb, who.principal, proposal_id=proposal_id)
        typed = {**_make_form(found, who), "context": found.context or ""}
        return await render_form(pages, request, who, typed, action=f"/proposals/{proposal_id}/edit", proposal=found)

    @router.post("/proposals/{proposal_id}/edit")
    @needs("manager")
    async def save(request: Request, who: Who, proposal_id: int) -> Response:
        typed = read_typed(await read_form(request))
        return await _accept_edited(pages, request, who, proposal_id, typed)

    @router.post("/proposals/{proposal_id}/accept")
    @needs("manager")
    async def accept(request: Request, who: Who, proposal_id: int) -> Response:
        """Accept a proposal as it is, in the chosen context."""
        form = await read_form(request)
        found = await glossary_proposal(pages.kb, who.principal, proposal_id=proposal_id)
        typed = {**_make_form(found, who), "context": read_typed(form)["context"]}
        return await _accept_edited(pages, request, who, proposal_id, typed)


async def _accept_edited(
    pages: Pages, request: Request, who: Visitor, proposal_id: int, typed: dict[str, str]
) -> Response:
    try:
        edited = EditedProposal(**make_sense_input(typed))
        sense = await glossary_accept(pages.kb, who.principal, proposal_id=proposal_id, sense=edited, why=typed["why"])
    except (InvalidInput, Conflict, NotAllowed) as error:
        found = await glossary_proposal(pages.kb, who.principal, proposal_id=proposal_id)
        action = f"/proposals/{proposal_id}/edit"
        # With everything that was typed, to be corrected and sent again.
        return await render_form(pages, request, who, typed, action=action, proposal=found, error=error)
    return redirect(f"/sense/{sense.id}", done="draft")


def _add_closing(router: APIRouter, pages: Pages) -> None:
    """Add what closes a proposal without a sense, and what opens it again."""

    @router.post("/proposals/{proposal_id}/dismiss")
    @needs("manager")
    async def dismiss(request: Request, who: Who, proposal_id: int) -> Response:
        form = await read_form(request)
        await glossary_dismiss(pages.kb, who.principal, proposal_id=proposal_id, why=form.get("why", ""))
        # A line with an undo button replaces the proposal, and the list stays where it was.
        if "hx-request" in request.headers:
            found = await glossary_proposal(pages.kb, who.principal, proposal_id=proposal_id)
            return render_part("dismissed.html", one=found)
        # Only one known value is accepted: the field could send the browser anywhere.
        return redirect(form["back"] if form.get("back") == "/queue" else "/proposals", done="dismissed")

    @router.post("/proposals/{proposal_id}/reviewer")
    @needs("manager")
    async def reviewer(request: Request, who: Who, proposal_id: int) -> Response:
        """Name the person who looks at a proposal."""
        name = (await read_form(request)).get("reviewer", "")[:200]
        found = await glossary_review(pages.kb, who.principal, proposal_id=proposal_id, reviewer=name)
        return redirect("/queue/term", t=found.term, done="reviewer")

    @router.post("/proposals/{proposal_id}/reopen")
    @needs("manager")
    async def reopen(request: Request, who: Who, proposal_id: int) -> Response:
        await glossary_reopen(pages.kb, who.principal, proposal_id=proposal_id)
        if "hx-request" in request.headers:
            found = await glossary_proposal(pages.kb, who.principal, proposal_id=proposal_id)
            return render_part("dismissed.html", one=found)
        return redirect(f"/proposals/{proposal_id}")


def _make_form(proposal: ProposalShown, who: Visitor) -> dict[str, str]:
    """Fill the form of a sense from a proposal, without a context yet."""
    return {
        **EMPTY_FORM,
        "term": proposal.term,
        "expansion": proposal.expansion,
        "description": proposal.description,
        "owner": who.name,
        "audience": ", ".join(sorted(proposal.audience)),
    }


async def render_proposals(
    pages: Pages,
    request: Request,
    who: Visitor,
    asked: Mapping[str, str],
    *,
    error: InvalidInput | None = None,
    ticked: Sequence[int] = (),
) -> Response:
    """Render a page of the open proposals; after an error the same ones are ticked."""
    q, least, start = asked.get("q", ""), parse_share(asked.get("least", "")), max(parse_integer(asked.get("start")), 0)
    found = await glossary_offers(
        pages.kb, who.principal, text=q[:MAX_RESULTS], least=least, start=start, limit=MAX_PROPOSALS
    )
    if asked.get("pick") == "all":
        # A proposal without an expansion cannot be accepted as it is, so its box is disabled.
        ticked = [one.id for one in found.proposals if one.expansion]
    shown = {"q": q, "least": least, "start": start, "step": MAX_PROPOSALS, "ticked": set(ticked)}
    # Mining may be running, and is shown above the list.
    shown |= {"job": await glossary_mined(pages.kb, who.principal)}
    contexts = [one for one in await pages.contexts(who) if one.may_manage]
    return show_page(
        "proposals.html", request, who, error=error, **read_dataclass_fields(found), **shown, contexts=contexts
    )
