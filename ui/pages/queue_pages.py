"""The queue: terms that the glossary lacks, the meanings proposed for them, and a manager's decisions about each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from fastapi import APIRouter, Request, Response

from argot.errors import Conflict, InvalidInput, NotAllowed
from argot.languages.catalogues import translate
from argot.service.json_values import read_dataclass_fields
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.glossary.history import glossary_use
from argot.service.usecases.glossary.impact import (
    glossary_edit_effects,
    glossary_effects_together,
    glossary_likely_context,
    glossary_propose,
)
from argot.service.usecases.glossary.mining import glossary_mine_start, glossary_mine_stop, glossary_mined
from argot.service.usecases.glossary.proposal_results import ProposalShown
from argot.service.usecases.glossary.proposals import (
    EditedProposal,
    glossary_accept,
    glossary_accept_many,
    glossary_alias,
    glossary_dismiss,
    glossary_dismiss_miss,
    glossary_merge,
    glossary_misses,
    glossary_offers,
    glossary_proposal,
    glossary_proposals,
    glossary_queue,
    glossary_reopen,
)
from argot.service.usecases.glossary.senses import (
    SenseFields,
    glossary_occurrences,
    glossary_search,
    glossary_sense,
    glossary_similar,
    glossary_term,
)
from argot.service.usecases.glossary.suggestions import glossary_review
from argot.service.usecases.usecase_registry import find_choice
from argot.ui.pages.form_fields import EMPTY_FORM, make_sense_input, read_typed
from argot.ui.pages.page_base import (
    HOME,
    BoundedRoute,
    Pages,
    link_glossary,
    parse_integer,
    parse_share,
    read_form,
    redirect,
    render_part,
    show_effects,
    show_page,
)
from argot.ui.pages.sense_pages import render_form
from argot.ui.translation.page_errors import translate_error
from argot.ui.web.authorization import Visitor, Who, needs
from argot.ui.web.routers import make_router

MAX_TERMS = 100
# Evidence is shown only for a term's first proposals, because each has to read its passages.
MAX_EVIDENCE_PROPOSALS = 4
MAX_PROPOSALS = 50
"""Proposals on a page."""
MAX_RESULTS = 200
MISS_STATUSES: tuple[Literal["open", "dismissed", "defined"], ...] = ("open", "dismissed", "defined")


def build_queue_pages(kb: KnowledgeBase) -> APIRouter:
    router = make_router(prefix=HOME, route_class=BoundedRoute)
    pages = Pages(kb)
    _add_misses(router, pages)
    _add_aliases(router, pages)
    _add_miss_answers(router, pages)
    _add_proposals(router, pages)
    _add_mining(router, pages)
    _add_decisions(router, pages)
    _add_closing(router, pages)
    return router


def _add_misses(router: APIRouter, pages: Pages) -> None:
    @router.get("/queue")
    @needs("manager")
    async def queue(request: Request, who: Who, status: str = "open") -> Response:
        # An unknown status in the address shows the open terms instead of an error.
        wanted = find_choice(MISS_STATUSES, status, "the status") if status in MISS_STATUSES else "open"
        # `similar`: the list does not show similar terms, which take time to find. One row more than is shown.
        found = await glossary_queue(pages.kb, who.principal, status=wanted, limit=MAX_TERMS + 1, similar=False)
        use = await glossary_use(pages.kb, who.principal)
        # By term, so that the template can put it beside each miss.
        growth = {row.term: row for row in use.missed}
        return show_page(
            "queue.html",
            request,
            who,
            weeks=use.weeks,
            misses=found[:MAX_TERMS],
            more=len(found) > MAX_TERMS,
            status=wanted,
            by_term=growth,
        )

    @router.get("/queue/term")
    @needs("manager")
    async def miss(request: Request, who: Who, t: str = "") -> Response:
        return await render_miss(pages, request, who, t)


def _add_aliases(router: APIRouter, pages: Pages) -> None:
    """Add the pages that make a term another name of a sense."""

    @router.get("/queue/choose")
    @needs("manager")
    async def choose(who: Who, q: str = "", t: str = "", proposal: int = -1) -> Response:
        """Find senses of which a term may be another name, while somebody types."""
        found = await glossary_search(pages.kb, who.principal, text=q, limit=8) if q.strip() else []
        # A retired sense is not used in answers, so another name for it would not help.
        senses = [sense for sense in found if sense.may_manage and sense.status != "retired"]
        return render_part("choose.html", senses=senses, term=t, proposal=proposal, q=q, who=who)

    @router.get("/queue/alias")
    @needs("manager")
    async def confirm(request: Request, who: Who, t: str = "", sense_id: int = -1, proposal: int = -1) -> Response:
        """Show the effect of making the term another name of a sense, and ask for confirmation."""
        sense = await glossary_sense(pages.kb, who.principal, sense_id=sense_id)
        return show_page("alias.html", request, who, term=t, sense=sense, proposal=proposal)

    @router.get("/queue/alias/effects")
    @needs("manager")
    async def effects(request: Request, who: Who, t: str = "", sense_id: int = -1, q: str = "") -> Response:
        return await _render_alias_effects(pages, who, t, sense_id, q)

    @router.post("/queue/alias")
    @needs("manager")
    async def alias(request: Request, who: Who) -> Response:
        form = await read_form(request)
        term, proposal = form.get("term", ""), parse_integer(form.get("proposal"))
        sense_id = parse_integer(form.get("sense_id"))
        why = form.get("why", "")
        # From a proposal, which merging closes as well.
        if proposal >= 0:
            sense = await glossary_merge(pages.kb, who.principal, proposal_id=proposal, sense_id=sense_id, why=why)
        else:
            version = parse_integer(form.get("version"))
            sense = await glossary_alias(
                pages.kb, who.principal, term=term, sense_id=sense_id, version=version, why=why
            )
        return redirect("/term", t=sense.term, done="alias")


async def _render_alias_effects(pages: Pages, who: Visitor, term: str, sense_id: int, question: str) -> Response:
    sense = await glossary_sense(pages.kb, who.principal, sense_id=sense_id)
    try:
        found = await glossary_edit_effects(
            pages.kb,
            who.principal,
            sense_id=sense_id,
            version=sense.version,
            sense=SenseFields(aliases=[*sense.aliases, term]),
            questions=[question[:4000]] if question.strip() else [],
        )
    except (Conflict, InvalidInput, NotAllowed) as error:
        return render_part("effects_error.html", error=translate_error(error))
    # The address where this part's form tries a question that was typed.
    address = {"path": link_glossary("/queue/alias/effects"), "fields": {"t": term, "sense_id": sense_id}}
    after = translate("As another name")
    return render_part(
        "effects.html", address=address, effects=found, sense=replace(sense, term=term), q=question, after=after
    )


def _add_miss_answers(router: APIRouter, pages: Pages) -> None:
    """Add what else is done about a term that the glossary lacks."""

    @router.post("/queue/look")
    @needs("manager")
    async def look(request: Request, who: Who) -> Response:
        """Search the documents, now, for the meaning of a term."""
        term = (await read_form(request)).get("term", "")
        found = await glossary_propose(pages.kb, who.principal, term=term)
        return redirect("/queue/term", t=term, done="found" if found else "not-found")

    @router.post("/queue/dismiss")
    @needs("manager")
    async def dismiss(request: Request, who: Who) -> Response:
        form = await read_form(request)
        await glossary_dismiss_miss(pages.kb, who.principal, term=form.get("term", ""), why=form.get("why", ""))
        return redirect("/queue", done="dismissed")


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


async def render_miss(
    pages: Pages, request: Request, who: Visitor, term: str, *, only: ProposalShown | None = None
) -> Response:
    """Show everything known about a term without a meaning. With `only`, about one proposal."""
    # Also dismissed and defined terms: the page is found by the term, whatever its status.
    misses = await glossary_misses(pages.kb, who.principal, term=term, status=None)
    if only is None:
        offered = await glossary_proposals(pages.kb, who.principal, term=term)
        lines = [
            await glossary_proposal(pages.kb, who.principal, proposal_id=one.id)
            for one in offered[:MAX_EVIDENCE_PROPOSALS]
        ]
    else:
        lines = [only]
    known = await glossary_term(pages.kb, who.principal, term=term)
    similar = await glossary_similar(pages.kb, who.principal, term=term)
    places = await glossary_occurrences(pages.kb, who.principal, phrase=term, limit=5)
    # A few of each are enough to guess a context.
    asked = misses[0].questions[:5] if misses else []
    around = [one.quote for proposal in lines for one in proposal.evidence[:3]]
    around += [one.before + one.match + one.after for one in places.passages[:3]]
    # A term with senses has its contexts already; guessing one has to read the texts.
    likely = "" if known.senses else await glossary_likely_context(pages.kb, who.principal, texts=[*asked, *around])
    return show_page(
        "miss.html",
        request,
        who,
        term=misses[0].term if misses else term,
        miss=misses[0] if misses else None,
        proposals=lines,
        known=known,
        similar=[one for one in similar if one.term != known.term],
        occurrences=places,
        likely=likely,
        contexts=[one for one in await pages.contexts(who) if one.may_manage],
    )
