from __future__ import annotations

import asyncio

from argot.graph.context import RunContext
from argot.graph.records import hits_of, to_hit_record
from argot.graph.stage import Step
from argot.graph.state import State
from argot.tools.rerank import evidence_strength, nearest_sentence
from argot.tools.rerank import rerank as reranked
from argot.tools.search import WeightedQuery
from argot.types import Hit


async def rerank(state: State, run: RunContext) -> Step:
    """Orders the best passages anew by how well each answers, and weighs whether the best of them is enough.

    Judged against the query that was searched: the question with its jargon expanded. Switched off, the order stays
    and the evidence is taken as enough if there is any passage at all.
    """
    hits, evidence = await asyncio.to_thread(_rerank, state, run)
    kept = hits[: run.profile.passages]
    best = f"best: {kept[0].document.name}" if kept else "nothing found"
    enough = bool(kept) and (evidence >= run.profile.abstain_below or not run.profile.rerank)
    if kept and not enough:
        nearest = await asyncio.to_thread(nearest_sentence, state["search_queries"][0][0], kept, run.corpus.embedder)
        enough = nearest >= run.profile.answer_from
    update = {"hits": [to_hit_record(hit) for hit in kept], "evidence": evidence, "enough_evidence": enough}
    return Step(update, f"{best}, evidence {evidence:.2f}")


def _rerank(state: State, run: RunContext) -> tuple[list[Hit], float]:
    hits = hits_of(state["hits"], run)
    if not hits or not run.profile.rerank:
        return hits, float(bool(hits))
    queries = [WeightedQuery(text, weight) for text, weight in state["search_queries"]]
    ordered = reranked(queries, hits, run.scorer, run.profile)
    return ordered, float(evidence_strength(queries[0].text, ordered))
