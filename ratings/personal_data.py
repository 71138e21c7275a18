"""Ratings and invitations of a person, for them to read and to have erased."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from argot.ratings.answer_order import draw_blind_order, translate_to_letters
from argot.ratings.store.rating_store import RatingStore
from argot.ratings.study import Judgement, Rating, Study, StudyItem
from argot.service.json_values import convert_to_json
from argot.service.knowledge_base import KnowledgeBase
from argot.service.maintenance.personal_keepers import PersonalKeeper


@dataclass(frozen=True, slots=True)
class RatingKept:
    """A person's judgement of the answers to a question, by the letters under which they saw them."""

    study: str
    question: str
    said: Judgement | None
    draft: Judgement | None
    at: str


@dataclass(frozen=True, slots=True)
class RatingsKept:
    """The studies somebody is invited to (`study`, `invited_at`), and all their ratings."""

    invitations: list[dict[str, Any]]
    ratings: list[RatingKept]


async def _find(kb: KnowledgeBase, names: list[str]) -> dict[str, Any]:
    return {"ratings": convert_to_json(await kb.blocking(_list_ratings, kb.open_store(RatingStore), names))}


def _list_ratings(store: RatingStore, names: list[str]) -> RatingsKept:
    kept = [_describe_rating(*one) for one in store.list_ratings_of(names)]
    return RatingsKept(store.list_invitations(names), kept)


def _describe_rating(study: Study, item: StudyItem, rating: Rating) -> RatingKept:
    # By letters: a rater must not learn from an export which system wrote which answer.
    order = draw_blind_order(item.answers, study.seed, rating.rater, item.place)
    judgement, draft = (one and translate_to_letters(one, order) for one in (rating.said, rating.draft))
    return RatingKept(study.name, item.question, judgement, draft, rating.at)


async def _erase(kb: KnowledgeBase, names: list[str]) -> int:
    return await kb.blocking(kb.open_store(RatingStore).erase, names)


KEEPER = PersonalKeeper(find=_find, erase=_erase, counted_as="ratings")
