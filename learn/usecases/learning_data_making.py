"""The making of sets of training pairs: directly, with progress, or in the background."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from argot.clock import timestamp
from argot.errors import Conflict, InvalidInput, InvalidSettings, ModelUnavailable, NotFound
from argot.learn.store.pair_store import PairStore
from argot.learn.usecases.learning_data_results import (
    DEFAULT_SEED,
    PAIRS,
    WITHOUT_MODEL,
    DataKind,
    DataSet,
    describe_set,
    is_being_made,
    list_making_jobs,
)
from argot.learn.usecases.pair_sets import find_visible_set
from argot.service.knowledge_base import KnowledgeBase
from argot.service.question_sets import SetName
from argot.service.usecases.operations.queued_work import follow_job, stop_job
from argot.service.usecases.questions.questions import run_context
from argot.service.usecases.usecase_registry import Count, Event, Finished, ParameterGroup, Text, usecase
from argot.types import Principal
from argot.work.job_kinds import job_kind
from argot.work.job_types import JobRequest, JobRun

if TYPE_CHECKING:
    from argot.learn.questions.glossary_twins import ShortForm
    from argot.learn.store.pair_store import PairSet
    from argot.learn.usecases.pair_making import AskedBefore

MAX_PER_PASSAGE = 30
"""As in *Trustworthy Answers* (figure 13, item 9)."""
SHOWN_TAGS = 10
"""Tags that the refusal of an unknown one lists."""


@dataclass(frozen=True, kw_only=True)
class DataRecipe(ParameterGroup):
    """The recipe of a set. `kinds`: of questions; by default those that need no language model. `limit`: the maximum
    number of pairs. `tags`: only documents with one of these. `seed`: decides the order of passages, and their parts.
    `per_passage`: the most `standard` and `alternative` pairs of a passage together; by default 12 and 8.

    When a set is continued, missing options are those with which it was begun.
    """

    kinds: list[DataKind] | None = None
    limit: Count | None = None
    seed: Count | None = None
    tags: list[Text] | None = None
    per_passage: Annotated[int, Field(ge=1, le=MAX_PER_PASSAGE)] | None = None


@usecase("manager", everywhere=True)
async def data_make(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    name: SetName,
    recipe: DataRecipe = DataRecipe(),
) -> AsyncIterator[Event | Finished[DataSet]]:
    """Make a set of training pairs from documents that the caller may read, or continue one.

    An interrupted set is continued under its name. Events: `{"kind": "progress", "name", "done", "total"}`.

    Raises:
        Conflict: there is a set of this name, or it is being made.
        InvalidInput: no document that the caller may read has one of the tags.
        InvalidSettings: a kind needs a language model, and the settings name none.
        ModelUnavailable: the model stopped answering; the pairs made until then are kept.
    """
    await _require_free(kb, principal, name, recipe)
    async with aclosing(follow_job(kb.jobs, build_pairs_job(principal, name))) as events:
        async for event in events:
            if not isinstance(event, Finished):
                yield event
    yield Finished(await _describe_named_set(kb, principal, name))


@usecase("manager", everywhere=True)
async def data_start(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    name: SetName,
    recipe: DataRecipe = DataRecipe(),
) -> DataSet:
    """Start `data_make` in the background; `data_list` returns the progress.

    Raises: as `data_make`; if the model fails later, the set says so.
    """
    await _require_free(kb, principal, name, recipe)
    await kb.jobs.begin(build_pairs_job(principal, name))
    return await _describe_named_set(kb, principal, name)


@usecase("manager", everywhere=True)
async def data_stop(kb: KnowledgeBase, principal: Principal, *, name: SetName) -> DataSet:
    """Stop what `data_start` started. The pairs made so far are kept, and the making can be continued."""
    await kb.blocking(find_visible_set, kb, principal, name)
    job = (await list_making_jobs(kb.jobs)).get(name)
    if job is None or not job.is_under_way:
        raise Conflict(f"The set '{name}' is not being made.")
    await stop_job(kb.jobs, job.id)
    return await _describe_named_set(kb, principal, name)


async def _describe_named_set(kb: KnowledgeBase, principal: Principal, name: str) -> DataSet:
    jobs = await list_making_jobs(kb.jobs)
    return await kb.blocking(lambda: describe_set(kb, find_visible_set(kb, principal, name), jobs))


def build_pairs_job(principal: Principal, name: str) -> JobRequest:
    """Build the job that makes a set that is begun, one at a time."""
    return JobRequest(PAIRS, principal, {"name": name}, label=name, key=f"{PAIRS}/{name}")


async def _require_free(kb: KnowledgeBase, principal: Principal, name: str, recipe: DataRecipe) -> None:
    """Begin the set, or find the one that is begun.

    Raises:
        Conflict, InvalidInput, InvalidSettings: it cannot be made, or is being made.
    """
    if await is_being_made(kb, name):
        raise await kb.blocking(describe_conflict, kb, principal, name)
    await kb.blocking(begin_set, kb, principal, name, recipe)


def describe_conflict(kb: KnowledgeBase, principal: Principal, name: str) -> Conflict:
    """Describe the conflict over a set that is being made; for a hidden one only its name."""
    try:
        find_visible_set(kb, principal, name)
    except NotFound:
        # Worded as by the store, whose message is the same for a hidden set that nobody is making.
        return Conflict(f"There is a set of pairs '{name}' already. Give another name.")
    return Conflict(f"The set '{name}' is being made. Wait until that is done, or stop it.")


@job_kind(
    PAIRS,
    busy="The set '{label}' is being made. Wait until that is done, or stop it.",
    is_retried=False,
    # A set may need a language model. A service without one makes its own sets where no other worker takes them.
    is_possible=lambda settings: bool(settings.model_server.url),
)
async def make_pairs(run: JobRun) -> None:
    """Make a set that is begun, to its end."""
    from argot.learn.usecases.pair_making import run_to_end

    found = await run_to_end(run.kb, begin_set, run.kb, run.principal, run.parameters["name"], DataRecipe())
    async with aclosing(_run_steps(run.kb, run.principal, found)) as events:
        async for event in events:
            run.tell(event["done"], event["total"], event["name"])


async def _run_steps(kb: KnowledgeBase, principal: Principal, found: PairSet) -> AsyncGenerator[Event]:
    from argot.learn.questions.model_questions import MODEL_KINDS, ModelQuestions, divide_pairs
    from argot.learn.usecases.pair_making import PairMaking, run_to_end

    kinds = found.made["kinds"]
    server = kb.model_server if set(kinds) & set(MODEL_KINDS) else None
    making = PairMaking(
        kb,
        principal,
        found,
        await run_to_end(kb, _list_spellings, kb, principal) if "twins" in kinds else (),
        await _list_asked_before(kb, principal) if "asked" in kinds else {},
        ModelQuestions(server, divide_pairs(found.made.get("per_passage", 0), kinds)) if server else None,
    )
    try:
        async with aclosing(making.make_pairs()) as events:
            async for event in events:
                yield event
    except ModelUnavailable as error:
        raise ModelUnavailable(f"{error} What was made is kept; the same command goes on there.") from error


def begin_set(kb: KnowledgeBase, principal: Principal, name: str, recipe: DataRecipe) -> PairSet:
    """Begin a set, or find the one that is begun.

    Raises:
        Conflict, InvalidInput, InvalidSettings
    """
    from argot.learn.store.pair_store import PairSet

    parameters = asdict(recipe)
    kinds = list(dict.fromkeys(recipe.kinds or WITHOUT_MODEL))
    wanted: dict[str, Any] = {"kinds": kinds, "limit": recipe.limit or 0}
    wanted["tags"] = sorted(set(recipe.tags or ()))
    wanted["per_passage"] = recipe.per_passage or 0
    try:
        found = find_visible_set(kb, principal, name)
    except NotFound:
        seed = DEFAULT_SEED if recipe.seed is None else recipe.seed
        wanted["model"] = _require_model(kb, kinds)
        _require_tags(kb, principal, wanted["tags"])
        found = PairSet(name, timestamp(), principal.name, seed, wanted)
        # Conflict if a set that this person may not see has it: a name reveals nothing of its documents.
        kb.open_store(PairStore).create(found)
        return found
    if found.status == "done":
        raise Conflict(f"There is a set of pairs '{name}' already. Give another name, or remove it first.")
    began = {"per_passage": 0, **found.made, "seed": found.seed}
    differs = [
        key for key, value in parameters.items() if value is not None and {**wanted, "seed": value}[key] != began[key]
    ]
    if differs:
        raise InvalidInput(
            f"The set '{name}' was begun with other {' and '.join(differs)}. Go on with: argot learn data make {name}"
        )
    _require_model(kb, began["kinds"])
    return found


def _require_tags(kb: KnowledgeBase, principal: Principal, tags: Sequence[str]) -> None:
    if not tags:
        return
    known = {tag for one in kb.document_store.documents(principal) for tag in one.all_tags}
    missing = next((tag for tag in tags if tag not in known), None)
    if missing is not None:
        some = ", ".join(sorted(known)[:SHOWN_TAGS]) or "none"
        raise InvalidInput(f"No document that you may read has the tag '{missing}'. Tags of documents: {some}.")


def _require_model(kb: KnowledgeBase, kinds: Sequence[str]) -> str:
    asking = [kind for kind in kinds if kind not in WITHOUT_MODEL]
    if asking and kb.model_server is None:
        raise InvalidSettings(
            f"Questions of the kind '{asking[0]}' take a language model, and none is named. Set "
            "ARGOT_MODEL_URL=http://HOST:PORT/v1, or choose other kinds."
        )
    return kb.settings.model_server.name if asking else ""


def _list_spellings(kb: KnowledgeBase, principal: Principal) -> list[ShortForm]:
    """List the short forms of approved senses that everybody may read: a question must give no other away."""
    from argot.learn.questions.glossary_twins import ShortForm

    senses = kb.glossary.senses.find(principal, status="approved")
    meanings: defaultdict[str, set[str]] = defaultdict(set)
    for sense in senses:
        meanings[sense.term].add(sense.expansion.casefold())
    return [
        ShortForm(sense.term, sense.expansion, len(meanings[sense.term]) == 1)
        for sense in senses
        if not sense.audience and sense.expansion and _is_short(sense.term, sense.expansion)
    ]


def _is_short(term: str, expansion: str) -> bool:
    return len(term) < len(expansion) and " " not in term and sum(character.isupper() for character in term) > 1


async def _list_asked_before(kb: KnowledgeBase, principal: Principal) -> dict[str, list[AskedBefore]]:
    """List questions with thumbs up that askers shared with the managers, by the passage cited first."""
    from argot.learn.usecases.pair_making import AskedBefore
    from argot.service.threads.feedback_export import list_judged_answers
    from argot.service.threads.feedback_results import SharedAnswer

    said = [one for one in await (await kb.threads()).list_judged() if one.said.value > 0 and one.said.shared]
    found: defaultdict[str, list[AskedBefore]] = defaultdict(list)
    if said:
        judged = await kb.blocking(list_judged_answers, await run_context(kb, principal), said)
        for one, row in zip(said, judged, strict=True):
            if isinstance(row, SharedAnswer) and row.gold:
                question = row.stand_alone_question or row.question
                answer = " ".join(each.text for each in row.sentences if each.supported)
                found[row.gold[0].passage_id].append(AskedBefore(question, answer, one.said.user))
    return found
