"""Rating studies, for managers of all contexts: creating them, inviting people, and reading their results."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Literal

from pydantic import Field

from argot.errors import InvalidInput, NotFound
from argot.jargon_db.store.privacy import ERASED
from argot.ratings.label_files import require_labels, write_labels
from argot.ratings.passage_files import (
    read_passage_questions,
    read_reference_answers,
    write_annotated_answers,
    write_references_csv,
)
from argot.ratings.store.rating_store import RatingStore
from argot.ratings.study import (
    ASPECTS,
    MAX_ASPECTS,
    RELEVANT,
    Aspect,
    NewItem,
    Origin,
    Study,
    StudyItem,
    StudyKind,
)
from argot.ratings.study_files import read_answered_questions, write_ratings_csv, write_ratings_jsonl
from argot.ratings.study_results import RANK, AspectResults, StudyResults
from argot.ratings.usecases.access import select_readable_items, select_ready_items
from argot.service.identity.people import make_local_principal, require_name
from argot.service.json_values import read_dataclass_fields
from argot.service.knowledge_base import KnowledgeBase
from argot.service.maintenance.scrubbing import scrub_stores
from argot.service.threads.thread_export import make_file_name
from argot.service.usecases.usecase_registry import ParameterGroup, Text, usecase
from argot.types import LOCAL_NAME, Principal

__all__ = ["ASPECTS", "Aspect", "AspectResults", "StudyKind"]

Name = Annotated[Text, Field(min_length=1, max_length=200)]
RatingForm = Literal["jsonl", "csv", "annotated", "labels"]
Lines = Annotated[Text, Field(max_length=64 * 2**20)]
People = Annotated[list[Text], Field(min_length=1, max_length=1000)]


@dataclass(frozen=True, kw_only=True)
class StudyForm(ParameterGroup):
    """The form of every new study. No `aspects`: the three of *Trustworthy Answers*.

    `ranking`: raters also put the answers to a question in order. Where passages are judged (`kind`) there is neither.
    """

    name: Name
    about: Annotated[Text, Field(max_length=2000)] = ""
    aspects: Annotated[list[Aspect], Field(max_length=MAX_ASPECTS)] | None = None
    ranking: bool = True
    kind: StudyKind = "answers"


@dataclass(frozen=True, slots=True, kw_only=True)
class StudySummary:
    """A study and how far it is. `ready`: questions with all their answers; `ratings`: saved ones."""

    name: str
    about: str
    kind: StudyKind
    aspects: list[Aspect]
    ranking: bool
    origin: Origin
    profiles: list[str]
    created_by: str
    created_at: str
    closed_at: str | None
    questions: int
    ready: int
    raters: int
    ratings: int


@dataclass(frozen=True, slots=True)
class RaterProgress:
    """One rater's progress: `rated` of the questions that they may see (`of`), and how many of those they skipped.

    `invited` is false for somebody whose invitation was withdrawn, or who was erased.
    """

    person: str
    invited: bool
    rated: int
    passed: int
    of: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyDetails(StudySummary):
    """A study with its raters and what they say so far."""

    progress: list[RaterProgress]
    results: StudyResults


@dataclass(frozen=True, slots=True)
class RatingsFile:
    """The ratings of a study as a file to keep; `name` is the file's."""

    name: str
    media_type: str
    text: str


@usecase("manager", everywhere=True)
async def rating_create(
    kb: KnowledgeBase, principal: Principal, *, form: StudyForm, data: Lines, readers_confirmed: bool = False
) -> StudySummary:
    """Create a study of existing answers.

    `data` is JSONL with a line for each question: `question`, `answers` (an object with the answer of each of 2 to 6
    systems by its name) and optionally `reference` and `documents` (what the answers rest on, as `list_documents` names
    them: raters see the question only if they may read all of them). For the `kind` "passages" a line has `passages`
    instead, each a text or an object with `text`, `document` and `heading`; for "references" it has those and an
    `answer` or its `sentences`.

    Raises:
        InvalidInput: a line is wrong; or a line names no documents, and it is not confirmed (`readers_confirmed`) that
            all people whom the caller invites may read the answers.
        Conflict: there is a study of this name.
    """

    def find_document(named: str) -> str:
        try:
            return kb.document_store.document(principal, named).uri
        except NotFound as error:
            raise InvalidInput(str(error)) from None

    read = {
        "answers": read_answered_questions,
        "passages": read_passage_questions,
        "references": read_reference_answers,
    }
    items = await kb.blocking(read[form.kind], data, find_document)
    unnamed = sum(not all(answer.sources.documents for answer in one.answers) for one in items)
    if unnamed and not readers_confirmed:
        raise InvalidInput(
            f"{unnamed} of {len(items)} questions do not say which documents their answers rest on, so nobody can tell"
            " who may read them. Name them ('documents'), or confirm that all whom you invite may read every answer"
            " (on the command line: --readers-confirmed)."
        )
    return await store_study(kb, principal, form, items, "file")


async def store_study(  # noqa: PLR0917
    kb: KnowledgeBase,
    principal: Principal,
    form: StudyForm,
    items: list[NewItem],
    origin: Origin,
    profiles: tuple[str, ...] = (),
) -> StudySummary:
    """Keep a new study.

    Raises:
        InvalidInput: its name cannot be one, or two aspects have the same.
        Conflict: there is a study of this name.
    """
    require_name("study", form.name)
    study = Study(
        name=form.name,
        about=form.about.strip(),
        aspects=_choose_aspects(form),
        ranking=form.ranking and form.kind == "answers",
        kind=form.kind,
        origin=origin,
        profiles=profiles,
        created_by=principal.name,
    )
    return await kb.blocking(lambda: summarize_study(kb, kb.open_store(RatingStore).create(study, items)))


def _choose_aspects(form: StudyForm) -> tuple[Aspect, ...]:
    if form.kind != "answers":
        if form.aspects:
            raise InvalidInput("Only answers are judged by aspects. Give none where passages are judged.")
        return (RELEVANT,) if form.kind == "passages" else ()
    aspects = ASPECTS if form.aspects is None else tuple(Aspect(one.name.strip(), one.wording) for one in form.aspects)
    names = [one.name.casefold() for one in aspects]
    if "" in names or RANK.casefold() in names or len(set(names)) < len(names):
        raise InvalidInput(f"Each aspect needs a name of its own, and '{RANK}' is none. Give each another name.")
    if not aspects and not form.ranking:
        raise InvalidInput("A study without aspects and without ranking asks nothing. Give it an aspect, or ranking.")
    return aspects


@usecase("manager", everywhere=True)
async def rating_list(kb: KnowledgeBase, principal: Principal) -> list[StudySummary]:
    """List every study with its progress, newest first."""
    return await kb.blocking(lambda: [summarize_study(kb, one) for one in kb.open_store(RatingStore).list_studies()])


@usecase("manager", everywhere=True)
async def rating_show(kb: KnowledgeBase, principal: Principal, *, study: Text) -> StudyDetails:
    """Show a study: the progress of each rater, and the results so far.

    The results are the mean by system and aspect with its 95 % interval, ranks, wins of each pair, and Krippendorff's
    alpha.

    Raises:
        NotFound: there is no such study.
    """
    return await kb.blocking(lambda: _describe_study(kb, kb.open_store(RatingStore).get_study(study)))


@usecase("manager", everywhere=True)
async def rating_invite(kb: KnowledgeBase, principal: Principal, *, study: Text, people: People) -> StudySummary:
    """Invite users to rate the answers of a study; users who are already invited stay so.

    Raises:
        NotFound: there is no such study or user.
        InvalidInput: askers shared the answers with managers of all contexts, and a user is not one.
    """
    found = await kb.blocking(kb.open_store(RatingStore).get_study, study)
    for name in people:
        principal_of = (
            make_local_principal() if name == LOCAL_NAME else (await kb.blocking(kb.people.user, name)).principal
        )
        if found.origin == "thumbs" and not principal_of.manages_all:
            raise InvalidInput(
                f"{name} is no manager of all contexts. Askers shared these answers, by a thumb, with those alone:"
                " invite managers."
            )
    await kb.blocking(kb.open_store(RatingStore).invite, found, people, principal.name)
    return await kb.blocking(summarize_study, kb, found)


@usecase("manager", everywhere=True)
async def rating_uninvite(kb: KnowledgeBase, principal: Principal, *, study: Text, people: People) -> StudySummary:
    """Take invitations back. The ratings that these people saved stay."""
    found = await kb.blocking(kb.open_store(RatingStore).get_study, study)
    await kb.blocking(kb.open_store(RatingStore).cancel_invitations, found, people)
    return await kb.blocking(summarize_study, kb, found)


@usecase("manager", everywhere=True)
async def rating_close(kb: KnowledgeBase, principal: Principal, *, study: Text) -> StudySummary:
    """Close a study to further ratings. All saved ratings stay."""
    return await kb.blocking(lambda: summarize_study(kb, kb.open_store(RatingStore).close_study(study, closed=True)))


@usecase("manager", everywhere=True)
async def rating_reopen(kb: KnowledgeBase, principal: Principal, *, study: Text) -> StudySummary:
    """Open a closed study to ratings again."""
    return await kb.blocking(lambda: summarize_study(kb, kb.open_store(RatingStore).close_study(study, closed=False)))


@usecase("manager", everywhere=True)
async def rating_export(
    kb: KnowledgeBase, principal: Principal, *, study: Text, form: RatingForm = "jsonl"
) -> RatingsFile:
    """Export every saved rating, with the names of the systems.

    JSONL has a line for each question and rater. CSV has a line for each answer or passage that somebody rated, or for
    each sentence in a study of references. "annotated", for a study of references, is JSONL with a line for each
    answer, as the experiment trustworthy-7 reads it: for each sentence the passages that more than half of its raters
    marked. "labels", for answers rated for the three aspects of the paper, is JSONL with a line for each answer, as
    `argot evaluate calibrate` reads it. Passages that the caller may not read are in no export.

    Raises:
        InvalidInput: "annotated" or "labels" for another kind of study.
    """

    def export() -> RatingsFile:
        found = kb.open_store(RatingStore).get_study(study)
        if form == "annotated" and found.kind != "references":
            raise InvalidInput(f"In study '{found.name}' no references are annotated. Export it as jsonl or csv.")
        if form == "labels":
            require_labels(found)
        items = _select_exported_items(kb, principal, found)
        there = {one.id for one in items}
        ratings = [one for one in kb.open_store(RatingStore).list_ratings(found) if one.item in there]
        name = f"ratings-{make_file_name(found.name)}.{'csv' if form == 'csv' else 'jsonl'}"
        if form == "csv":
            table = (
                write_references_csv(items, ratings)
                if found.kind == "references"
                else write_ratings_csv(found, items, ratings)
            )
            return RatingsFile(name, "text/csv", table)
        if form == "annotated":
            return RatingsFile(name, "application/jsonl", write_annotated_answers(items, ratings))
        write = write_labels if form == "labels" else write_ratings_jsonl
        # Of a question that the caller may not read there are scores alone: no judge could read its answers.
        shown = [one for one in items if one.question] if form == "labels" else items
        return RatingsFile(name, "application/jsonl", write(found, shown, ratings))

    return await kb.blocking(export)


@usecase("manager", everywhere=True)
async def rating_remove(kb: KnowledgeBase, principal: Principal, *, study: Text) -> StudySummary:
    """Delete a study with its questions, answers and ratings, for good, and return what it was."""

    def remove() -> StudySummary:
        found = summarize_study(kb, kb.open_store(RatingStore).get_study(study))
        kb.open_store(RatingStore).remove(study)
        return found

    gone = await kb.blocking(remove)
    await scrub_stores(kb)
    return gone


def summarize_study(kb: KnowledgeBase, study: Study) -> StudySummary:
    """Summarize how far a study is. Blocks."""
    items, ratings = kb.open_store(RatingStore).list_items(study), kb.open_store(RatingStore).list_ratings(study)
    return StudySummary(
        name=study.name,
        about=study.about,
        kind=study.kind,
        aspects=list(study.aspects),
        ranking=study.ranking,
        origin=study.origin,
        profiles=list(study.profiles),
        created_by=study.created_by,
        created_at=study.created_at,
        closed_at=study.closed_at,
        questions=len(items),
        ready=len(select_ready_items(study, items)),
        raters=len(kb.open_store(RatingStore).list_invited(study)),
        ratings=sum(one.said is not None for one in ratings),
    )


def _select_exported_items(kb: KnowledgeBase, principal: Principal, study: Study) -> list[StudyItem]:
    """Return the questions of a study in the form of its export, limited to text that the principal may read.

    For answers the scores of all raters make the results, so a question that this principal may not read has only them.
    """
    items = kb.open_store(RatingStore).list_items(study)
    readable = select_readable_items(kb, principal, study, items)
    if study.kind != "answers":
        return readable
    known = {one.id for one in readable}
    return [one if one.id in known else _strip_words(one) for one in items]


def _strip_words(item: StudyItem) -> StudyItem:
    answers = tuple(replace(one, text="") for one in item.answers)
    return replace(item, question="", reference="", sentences=(), answers=answers)


def _describe_study(kb: KnowledgeBase, study: Study) -> StudyDetails:
    from argot.ratings.study_results import compute_study_results

    items, ratings = kb.open_store(RatingStore).list_items(study), kb.open_store(RatingStore).list_ratings(study)
    invited = kb.open_store(RatingStore).list_invited(study)
    progress = []
    for person in dict.fromkeys((*invited, *sorted({one.rater for one in ratings if one.said}))):
        seen = {one.id for one in select_readable_items(kb, _find_principal(kb, person), study, items)}
        # The rights of an erased person are unknown.
        known = not person.startswith(ERASED)
        judgements = [
            one.said for one in ratings if one.rater == person and one.said and (one.item in seen or not known)
        ]
        passed = sum(one.cannot_judge for one in judgements)
        progress.append(RaterProgress(person, person in invited, len(judgements), passed, len(seen)))
    results = compute_study_results(study, items, ratings)
    return StudyDetails(**read_dataclass_fields(summarize_study(kb, study)), progress=progress, results=results)


def _find_principal(kb: KnowledgeBase, person: str) -> Principal:
    if person == LOCAL_NAME:
        return make_local_principal()
    user = kb.people.find(person)
    return user.principal if user else Principal(person)
