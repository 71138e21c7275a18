"""The comparison of two models by a question: the passages in the order of the present and of a training's model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from argot.corpus.embedding.embedder import load_embedder
from argot.errors import Conflict, InvalidInput
from argot.learn.run_folder import RunFolder
from argot.learn.usecases.adoption_rules import find_visible_run, require_safe_model
from argot.learn.usecases.training_runs import RunId
from argot.protocols import Embedder
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.usecase_registry import Text, usecase
from argot.tools.retrieval.hybrid_search import WeightedQuery, hybrid_search
from argot.tools.retrieval.reranker import rerank
from argot.tools.retrieval.scorer_choice import choose_scorer
from argot.types import Hit, Principal

FOUND, SHOWN = 50, 5


@dataclass(frozen=True, slots=True)
class RankedPassage:
    """A ranked passage. `moved`: how many places higher it is than in the other list; None: it is not shown
    there.
    """

    passage_id: str
    document: str
    heading: str
    text: str
    moved: int | None


@dataclass(frozen=True, slots=True)
class SideBySide:
    """The first passages by the present model and by the candidate, of the `found` that the present search finds."""

    run: str
    name: str
    found: int
    present: list[RankedPassage]
    candidate: list[RankedPassage]


@usecase("manager", everywhere=True)
async def candidate_search(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    question: Annotated[Text, Field(min_length=1, max_length=2000)],
    run: RunId,
) -> SideBySide:
    """Return the passages that the search finds, ordered by the present model and by a training's model.

    Only passages that the caller may read are searched.

    Raises:
        NotFound: there is no such training.
        Conflict: it is not finished, or trains no model that orders passages.
    """
    found = await kb.blocking(find_visible_run, kb, principal, run)
    if found.state.status != "done":
        raise Conflict(f"Training {run} is {found.state.status}: it has no model to try yet.")
    if found.request.kind == "generator":
        raise Conflict(f"A language model orders no passages. Ask it instead: POST /api/learn/runs/{run}/ask")
    await kb.load()
    return await kb.blocking(_compare_models, kb, principal, question.strip(), found)


def _compare_models(kb: KnowledgeBase, principal: Principal, question: str, run: RunFolder) -> SideBySide:
    if not question:
        raise InvalidInput("There is no question. Type one.")
    require_safe_model(run.model)
    profile = kb.profiles.find(kb.settings.profile)
    query = WeightedQuery(question)
    hits = hybrid_search(kb.corpus, principal, [query], profile)[:FOUND]
    kind = run.request.kind
    candidate = kb.settings.replace(**{kind: str(run.model)})
    if kind == "embedder":
        present, other = (
            _order_by_meaning(one, question, hits) for one in (kb.corpus.embedder, load_embedder(candidate))
        )
    else:
        present, other = (rerank([query], hits, choose_scorer(one), profile) for one in (kb.settings, candidate))
    return SideBySide(
        run.id, run.request.name, len(hits), _rank_passages(present, other), _rank_passages(other, present)
    )


def _order_by_meaning(embedder: Embedder, question: str, hits: list[Hit]) -> list[Hit]:
    if not hits:
        return []
    likeness = (
        embedder.embed_passages([hit.passage.with_header for hit in hits]) @ embedder.embed_queries([question])[0]
    )
    return [hits[place] for place in sorted(range(len(hits)), key=lambda place: -float(likeness[place]))]


def _rank_passages(hits: list[Hit], others: list[Hit]) -> list[RankedPassage]:
    elsewhere = {hit.passage.id: place for place, hit in enumerate(others)}
    return [
        RankedPassage(
            hit.passage.id,
            hit.document.name,
            hit.passage.heading,
            hit.passage.text,
            elsewhere[hit.passage.id] - place if hit.passage.id in elsewhere else None,
        )
        for place, hit in enumerate(hits[:SHOWN])
    ]
