"""Rating answers blindly, for invited people: these use cases never return which systems wrote them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from argot.errors import InvalidInput, NotFound
from argot.languages.catalogues import join_with_and, translate, translate_number
from argot.ratings.answer_order import draw_blind_order, translate_to_letters, translate_to_systems
from argot.ratings.store.rating_store import RatingStore
from argot.ratings.study import (
    MAX_COMMENT_CHARS,
    Answer,
    Aspect,
    Judgement,
    Points,
    Rating,
    Study,
    StudyItem,
    StudyKind,
)
from argot.ratings.usecases.access import select_readable_items
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.usecase_registry import Count, Text, usecase
from argot.types import Principal

__all__ = ["MAX_COMMENT_CHARS", "Judgement"]

Letter = Annotated[Text, Field(pattern="^[A-Z]$")]
Scores = Annotated[dict[Letter, dict[Text, Points]], Field(max_length=26)]
Ranks = Annotated[dict[Letter, Annotated[int, Field(ge=1, le=26)]], Field(max_length=26)]
Comment = Annotated[Text, Field(max_length=MAX_COMMENT_CHARS)]


@dataclass(frozen=True, slots=True)
class StudyToRate:
    """A study one is invited to. `of`: the questions that the rater may see; `rated`: those with a saved rating."""

    name: str
    about: str
    kind: StudyKind
    closed: bool
    rated: int
    of: int


@dataclass(frozen=True, slots=True)
class BlindAnswer:
    """An answer or passage by the letter under which this rater knows it. `label`: the location of a passage."""

    letter: str
    text: str
    label: str


@dataclass(frozen=True, slots=True)
class PlaceToRate:
    """A question's position in the study; `rated`: it has a saved rating, `begun`: an unfinished one."""

    place: int
    rated: bool
    begun: bool


@dataclass(frozen=True, slots=True)
class RatingTask:
    """One question to be rated. `given`: the rater's judgement so far, by letters; `saved`: it is saved as a rating.

    `aspects`: the criteria on which each answer gets points, from `scale[0]` to `scale[1]`. For passages whether they
    are relevant (1) or not (0); for references whether they support each sentence of an answer: `name` is its number.
    `number` counts among the visible questions (`places`), from 1.
    """

    study: StudyToRate
    aspects: list[Aspect]
    scale: tuple[int, int]
    ranking: bool
    place: int
    number: int
    question: str
    reference: str
    answers: list[BlindAnswer]
    given: Judgement
    saved: bool
    places: list[PlaceToRate]


@dataclass(frozen=True, slots=True)
class SavedRating:
    """A saved rating: the rater's progress, and the place of the next unrated question; None: there is none."""

    study: StudyToRate
    next: int | None


@usecase("asker")
async def rating_studies_mine(kb: KnowledgeBase, principal: Principal) -> list[StudyToRate]:
    """List the studies that the caller is invited to, newest first, with the caller's progress in each."""
    studies = await kb.blocking(kb.open_store(RatingStore).list_invited_studies, principal.name)
    return [(await kb.blocking(_RaterStudy, kb, principal, one)).describe_study() for one in studies]


@usecase("asker")
async def rating_task(
    kb: KnowledgeBase, principal: Principal, *, study: Text, place: Count | None = None
) -> RatingTask | None:
    """Return a question of a study to rate.

    It is the question at `place`, or else the next one that the caller has not rated; None: all are rated.

    Raises:
        NotFound: the caller is not invited to such a study, or it has no such question that the caller may see.
    """
    desk = await kb.blocking(_open_rater_study, kb, principal, study)
    if place is None and (place := desk.find_next()) is None:
        return None
    return desk.build_task(desk.find_item(place))


@usecase("asker")
async def rating_save(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    study: Text,
    place: Count,
    scores: Scores | None = None,
    ranks: Ranks | None = None,
    cannot_judge: bool = False,
    comment: Comment = "",
    draft: bool = False,
) -> SavedRating:
    """Save the caller's rating of the answers to a question.

    It has points by letter and aspect, and ranks by letter (1 is the best). The question lists the aspects and the
    possible points (`rating_task`). The rating replaces the caller's earlier one; if it is sent twice, it counts once.
    With `draft` it may be incomplete; only the caller sees it until it is saved without `draft`.

    Raises:
        InvalidInput: points are missing, or two answers have the same rank.
        Conflict: the study is closed.
        NotFound: the caller is not invited to such a study, or it has no such question that the caller may see.
    """
    desk = await kb.blocking(_open_rater_study, kb, principal, study)
    item = desk.find_item(place)
    order = desk.order(item)
    judgement = Judgement(scores or {}, ranks or {}, cannot_judge, comment.strip())
    aspects = [one.name for one in desk.study.list_aspects(item)]
    problems = list(_find_unknown(desk.study, aspects, order, judgement))
    if not (problems or draft or cannot_judge):
        problems = list(_find_missing(desk.study, aspects, order, judgement))
    if problems:
        raise InvalidInput("\n".join(problems))
    if cannot_judge:
        judgement = Judgement(cannot_judge=True, comment=judgement.comment)
    keep = kb.open_store(RatingStore).keep_draft if draft else kb.open_store(RatingStore).save
    await kb.blocking(keep, item.id, principal.name, translate_to_systems(judgement, order))
    after = await kb.blocking(_open_rater_study, kb, principal, study)
    return SavedRating(after.describe_study(), after.find_next(place))


class _RaterStudy:
    """A study as one rater has it before them."""

    def __init__(self, kb: KnowledgeBase, principal: Principal, study: Study) -> None:
        self.study, self.rater = study, principal.name
        self.items = select_readable_items(kb, principal, study, kb.open_store(RatingStore).list_items(study))
        self.ratings = kb.open_store(RatingStore).list_ratings_by(study, principal.name)

    def describe_study(self) -> StudyToRate:
        rated = sum(self._find_saved(one) is not None for one in self.items)
        return StudyToRate(
            name=self.study.name,
            about=self.study.about,
            kind=self.study.kind,
            closed=self.study.closed_at is not None,
            rated=rated,
            of=len(self.items),
        )

    def find_item(self, place: int) -> StudyItem:
        for one in self.items:
            if one.place == place:
                return one
        raise NotFound(f"Study '{self.study.name}' has no question {place} for you. Go on with the next one.")

    def find_next(self, after: int = 0) -> int | None:
        """Find the next question without a rating after this place, else from the beginning."""
        left = [one.place for one in self.items if self._find_saved(one) is None]
        return next((place for place in left if place > after), left[0] if left else None)

    def order(self, item: StudyItem) -> dict[str, Answer]:
        return draw_blind_order(item.answers, self.study.seed, self.rater, item.place)

    def build_task(self, item: StudyItem) -> RatingTask:
        order, rating = self.order(item), self.ratings.get(item.id)
        judgement = (rating.draft or rating.said if rating else None) or Judgement()
        return RatingTask(
            study=self.describe_study(),
            aspects=list(self.study.list_aspects(item)),
            scale=self.study.scale,
            ranking=self.study.ranking and len(order) > 1,
            place=item.place,
            number=self.items.index(item) + 1,
            question=item.question,
            reference=item.reference,
            answers=[BlindAnswer(letter, answer.text, answer.label) for letter, answer in order.items()],
            given=translate_to_letters(judgement, order),
            saved=rating is not None and rating.said is not None and rating.draft is None,
            places=[
                PlaceToRate(one.place, self._find_saved(one) is not None, self._is_begun(one)) for one in self.items
            ],
        )

    def _find_saved(self, item: StudyItem) -> Judgement | None:
        return self._find_rating(item).said

    def _is_begun(self, item: StudyItem) -> bool:
        return self._find_rating(item).draft is not None

    def _find_rating(self, item: StudyItem) -> Rating:
        return self.ratings.get(item.id) or Rating(item.id, self.rater, None, "")


def _open_rater_study(kb: KnowledgeBase, principal: Principal, name: str) -> _RaterStudy:
    for study in kb.open_store(RatingStore).list_invited_studies(principal.name):
        if study.name.casefold() == name.casefold():
            return _RaterStudy(kb, principal, study)
    # The same for a nonexistent one: names of studies may reveal an experiment.
    raise NotFound(f"You are invited to no study '{name}'. The studies you are invited to are on the page /ratings.")


def _find_unknown(
    study: Study, aspects: Sequence[str], order: dict[str, Answer], judgement: Judgement
) -> Iterator[str]:
    lowest, most = study.scale
    for letter in sorted({*judgement.scores, *judgement.ranks} - order.keys()):
        yield translate("There is no answer %(letter)s.", letter=letter)
    for letter, points in judgement.scores.items():
        unknown = "Answer %(letter)s: there is no aspect '%(name)s'."
        yield from (translate(unknown, letter=letter, name=name[:60]) for name in points if name not in aspects)
        if wrong := [one for one in points.values() if not lowest <= one <= most]:
            template = "Answer %(letter)s: there is no %(points)s. Points go from %(lowest)s to %(most)s."
            yield translate(template, letter=letter, points=wrong[0], lowest=lowest, most=most)


def _find_missing(
    study: Study, aspects: Sequence[str], order: dict[str, Answer], judgement: Judgement
) -> Iterator[str]:
    """Find what is missing from a complete judgement, in words for its rater."""
    left = {letter: [one for one in aspects if one not in judgement.scores.get(letter, {})] for letter in order}
    if study.kind == "passages" and (letters := [letter for letter, names in left.items() if names]):
        one, many = "%(names)s: say whether it is relevant.", "%(names)s: say whether they are relevant."
        yield translate_number(one, many, len(letters), names=join_with_and(letters))
    elif study.kind == "references":
        yield from _find_unannotated(sorted({name for names in left.values() for name in names}, key=int))
    elif study.kind == "answers":
        yield from _find_unrated(study, left, judgement)


def _find_unannotated(sentences: list[str]) -> Iterator[str]:
    if sentences:
        one = "Sentence %(names)s has no passage yet. Mark one, or say that what has no mark rests on none of them."
        many = "Sentences %(names)s have no passage yet. Mark one, or say that what has no mark rests on none of them."
        yield translate_number(one, many, len(sentences), names=join_with_and(sentences))


def _find_unrated(study: Study, left: dict[str, list[str]], judgement: Judgement) -> Iterator[str]:
    for letter, open_ in left.items():
        if open_:
            template = "Answer %(letter)s has no points yet for %(aspects)s."
            yield translate(template, letter=letter, aspects=join_with_and(open_))
    if study.ranking and len(left) > 1:
        yield from _find_wrong_ranks(list(left), judgement.ranks)


def _find_wrong_ranks(letters: list[str], ranks: dict[str, int]) -> Iterator[str]:
    if open_ := [one for one in letters if one not in ranks]:
        one, many = "%(names)s has no rank yet.", "%(names)s have no rank yet."
        yield translate_number(one, many, len(open_), names=join_with_and(open_))
    for rank in sorted(set(ranks.values())):
        same = [one for one in letters if ranks.get(one) == rank]
        if len(same) > 1:
            template = "%(names)s have the same rank, %(rank)s. Give each a rank of its own: 1 is the best."
            yield translate(template, names=join_with_and(same), rank=rank)
        if rank > len(letters):
            yield translate("There is no rank %(rank)s: the last is %(last)s.", rank=rank, last=len(letters))
