"""The queue: terms that the glossary lacks, and what a manager does about each."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from fastapi import APIRouter, Request, Response

from argot.errors import Conflict, InvalidInput, NotAllowed
from argot.languages.catalogues import translate
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.glossary.history import glossary_use
from argot.service.usecases.glossary.impact import (
    glossary_edit_effects,
    glossary_likely_context,
    glossary_propose,
)
from argot.service.usecases.glossary.proposal_results import ProposalShown
from argot.service.usecases.glossary.proposals import (
    glossary_alias,
    glossary_dismiss_miss,
    glossary_merge,
    glossary_misses,
    glossary_proposal,
    glossary_proposals,
    glossary_queue,
)
from argot.service.usecases.glossary.senses import (
    SenseFields,
    glossary_occurrences,
    glossary_search,
    glossary_sense,
    glossary_similar,
    glossary_term,
)
from argot.service.usecases.usecase_registry import find_choice
from argot.ui.pages.page_base import (
    HOME,
    BoundedRoute,
    Pages,
    link_glossary,
    parse_integer,
    read_form,
    redirect,
    render_part,
    show_page,
)
from argot.ui.translation.page_errors import translate_error
from argot.ui.web.authorization import Visitor, Who, needs
from argot.ui.web.routers import make_router

MAX_TERMS = 100
# Evidence is shown only for a term's first proposals, because each has to read its passages.
MAX_EVIDENCE_PROPOSALS = 4
MISS_STATUSES: tuple[Literal["open", "dismissed", "defined"], ...] = ("open", "dismissed", "defined")


def build_queue_pages(kb: KnowledgeBase) -> APIRouter:
    router = make_router(prefix=HOME, route_class=BoundedRoute)
    pages = Pages(kb)
    _add_misses(router, pages)
    _add_aliases(router, pages)
    _add_miss_answers(router, pages)
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
