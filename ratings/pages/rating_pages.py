"""Rating answers and passages, for people invited to a study: one question at a time, even without scripts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request, Response

from argot.errors import ArgotError, Conflict, InvalidInput, NotAllowed, NotFound
from argot.languages.catalogues import translate
from argot.ratings.usecases.answers import (
    Judgement,
    RatingTask,
    SavedRating,
    rating_save,
    rating_studies_mine,
    rating_task,
)
from argot.service.knowledge_base import KnowledgeBase
from argot.ui.pages.page_base import (
    DONE_MESSAGES,
    BoundedRoute,
    parse_integer,
    read_form,
    redirect_to_address,
    show_page,
)
from argot.ui.web.authorization import Visitor, Who, needs
from argot.ui.web.routers import make_router

RATINGS = "/ratings"
DONE_MESSAGES.update(
    {
        "rated": "Saved.",
        "kept-for-later": "Kept, not finished yet. It counts once you save it.",
        "all-rated": "Saved. You have rated every question of this study: thank you.",
        "study-made": "Made. Invite people to rate it.",
        "study-invited": "Invited. They find the study under /ratings; send them the address.",
        "study-uninvited": "The invitation is taken back. What they saved stays.",
        "study-closed": "Closed. It takes no more ratings.",
        "study-reopened": "Open again.",
        "study-removed": "Removed, with its ratings.",
    }
)
MAX_LINKS = 300
"""Questions that are linked one by one; of a longer study only those before and after."""


class _SmallRoute(BoundedRoute):
    """The route of forms alone: points, marks, ranks and a comment."""

    most = 2**20


def build_rating_pages(kb: KnowledgeBase) -> APIRouter:
    router = make_router(prefix=RATINGS, route_class=_SmallRoute)
    _add_reading_routes(router, kb)
    _add_saving_routes(router, kb)
    return router


def _add_reading_routes(router: APIRouter, kb: KnowledgeBase) -> None:
    @router.get("")
    @needs("asker")
    async def studies(request: Request, who: Who) -> Response:
        found = await rating_studies_mine(kb, who.principal)
        return show_page("ratings.html", request, who, studies=found, study_link=link_rating)

    @router.get("/study/{study}")
    @needs("asker")
    async def begin(who: Who, study: str) -> Response:
        """Show the next question without a rating, or the first one where all are rated."""
        task = await rating_task(kb, who.principal, study=study)
        return redirect_to_address(link_rating(study, task.place) if task else RATINGS)

    @router.get("/study/{study}/{place}")
    @needs("asker")
    async def question(request: Request, who: Who, study: str, place: str) -> Response:
        task = await _load_task(kb, who, study, place)
        return _render_task_page(request, who, task, task.given)


def _add_saving_routes(router: APIRouter, kb: KnowledgeBase) -> None:
    @router.post("/study/{study}/{place}")
    @needs("asker")
    async def save(request: Request, who: Who, study: str, place: str) -> Response:
        form = await read_form(request)
        task = await _load_task(kb, who, study, place)
        judgement = _read_judgement(task, form)
        draft = form.get("go") == "later"
        try:
            saved = await _save_rating(kb, who, task, judgement, draft=draft)
        except InvalidInput as error:
            return _render_task_page(
                request, who, task, judgement, await _keep_draft(kb, who, task, judgement) or error
            )
        except (Conflict, NotAllowed) as error:
            return _render_task_page(request, who, task, judgement, error)
        if draft:
            return redirect_to_address(link_rating(study, task.place, done="kept-for-later"))
        if saved.next is None:
            return redirect_to_address(f"{RATINGS}?done=all-rated")
        return redirect_to_address(link_rating(study, saved.next, done="rated"))

    @router.post("/study/{study}/{place}/draft")
    @needs("asker")
    async def keep(request: Request, who: Who, study: str, place: str) -> Response:
        """Keep the choices made so far: a browser that closes loses nothing."""
        form = await read_form(request)
        task = await _load_task(kb, who, study, place)
        await _save_rating(kb, who, task, _read_judgement(task, form), draft=True)
        return Response(status_code=204)


def link_rating(study: str, place: int | None = None, done: str = "") -> str:
    """Return the address at which a study is rated, or one of its questions."""
    address = f"{RATINGS}/study/{quote(study, safe='')}" + (f"/{place}" if place is not None else "")
    return f"{address}?done={done}" if done else address


async def _load_task(kb: KnowledgeBase, who: Visitor, study: str, place: str) -> RatingTask:
    # -1 for a text that is no number: no question has this place.
    found = await rating_task(kb, who.principal, study=study, place=max(parse_integer(place), 0))
    if found is None:
        raise NotFound(translate("There is no such question."))
    return found


async def _save_rating(
    kb: KnowledgeBase, who: Visitor, task: RatingTask, judgement: Judgement, *, draft: bool
) -> SavedRating:
    return await rating_save(
        kb,
        who.principal,
        study=task.study.name,
        place=task.place,
        scores=judgement.scores,
        ranks=judgement.ranks,
        cannot_judge=judgement.cannot_judge,
        comment=judgement.comment,
        draft=draft,
    )


async def _keep_draft(kb: KnowledgeBase, who: Visitor, task: RatingTask, judgement: Judgement) -> ArgotError | None:
    """Keep the typed judgement as a draft; return the error that prevents it, as in a study that is closed by now."""
    try:
        await _save_rating(kb, who, task, judgement, draft=True)
    except (InvalidInput, Conflict, NotAllowed) as error:
        return error
    return None


def _read_judgement(task: RatingTask, form: Mapping[str, str]) -> Judgement:
    """Read the judgement from the form, without fields that are none of this question's."""
    letters = [one.letter for one in task.answers]
    if task.study.kind == "references":
        return Judgement(_read_references(task, form), {}, "cannot_judge" in form, form.get("comment", ""))
    scores: dict[str, dict[str, int]] = {}
    for letter in letters:
        for place, aspect in enumerate(task.aspects):
            if points := form.get(f"points-{letter}-{place}"):
                scores.setdefault(letter, {})[aspect.name] = parse_integer(points)
    ranks = {letter: parse_integer(rank) for letter in letters if (rank := form.get(f"rank-{letter}"))}
    return Judgement(scores, ranks, "cannot_judge" in form, form.get("comment", ""))


def _read_references(task: RatingTask, form: Mapping[str, str]) -> dict[str, dict[str, int]]:
    """Read for each passage the sentences that it supports (1) or not (0), if the form judges the sentence."""
    scores: dict[str, dict[str, int]] = {}
    for place, sentence in enumerate(task.aspects):
        marked = {one.letter for one in task.answers if f"points-{one.letter}-{place}" in form}
        if marked or "others_none" in form:
            for one in task.answers:
                scores.setdefault(one.letter, {})[sentence.name] = int(one.letter in marked)
    return scores


def _has_unsupported_sentence(task: RatingTask, judgement: Judgement) -> bool:
    """Return whether the rater marked a sentence as resting on no passage."""
    scores = [[judgement.scores.get(one.letter, {}).get(each.name) for one in task.answers] for each in task.aspects]
    return any(set(values) == {0} for values in scores)


def _render_task_page(
    request: Request, who: Visitor, task: RatingTask, judgement: Judgement, error: ArgotError | None = None
) -> Response:
    numbers = [one.place for one in task.places]
    at = task.number - 1
    shown: dict[str, Any] = {
        "before": numbers[at - 1] if at else None,
        "after": numbers[at + 1] if at + 1 < len(numbers) else None,
        "places": task.places if len(numbers) <= MAX_LINKS else [],
    }
    if task.study.kind == "references":
        shown["others_none"] = _has_unsupported_sentence(task, judgement)
    template = f"rating_{task.study.kind}.html"
    return show_page(template, request, who, error=error, task=task, given=judgement, study_link=link_rating, **shown)
