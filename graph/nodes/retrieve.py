from __future__ import annotations

import asyncio

from argot.graph.multi_question import list_parts, search_parts
from argot.graph.node_frame import StateUpdate, Step
from argot.graph.run_context import RunContext
from argot.graph.state import State
from argot.graph.state_records import to_hit_record
from argot.graph.thread_files import load_file_hits
from argot.question_threads import call_in_thread
from argot.tools.retrieval.hybrid_search import WeightedQuery, hybrid_search


async def retrieve(state: State, run: RunContext) -> Step:
    """Search passages and derived texts by meaning and by words, and fuse the lists by reciprocal rank.

    A derived text that is found counts as its passage.

    A question about files of the conversation is searched in those files only. Files asked about as wholes are not
    searched: their passages are taken.
    """
    if whole := state.get("whole"):
        parts = await asyncio.to_thread(load_file_hits, whole, run)
        return Step({"hits": [to_hit_record(hit) for hit in parts]}, f"{len(parts)} passages of the file")
    queries = [WeightedQuery(text, weight) for text, weight in state["search_queries"]]
    queries = queries or [WeightedQuery(state["stand_alone_question"], 1.0)]
    if asked := list_parts(state, run):
        found = await call_in_thread(search_parts, asked, state, run)
        return Step(
            {"hits": [to_hit_record(hit) for hit in found], "by_words_alone": _is_by_words_alone(run)},
            f"{len(found)} passages for {len(asked)} questions",
        )
    files = state.get("scope", ())
    hits = await call_in_thread(hybrid_search, run.corpus, run.principal, queries, run.profile, run.scope, files)
    # Also written where nothing was augmented: the re-ranker takes its query from there.
    update: StateUpdate = {
        "hits": [to_hit_record(hit) for hit in hits],
        "search_queries": [(q.text, q.weight) for q in queries],
        "by_words_alone": _is_by_words_alone(run),
    }
    documents = len({hit.document.id for hit in hits})
    return Step(update, f"{len(hits)} passages of {documents} documents")


def _is_by_words_alone(run: RunContext) -> bool:
    return run.profile.search_semantic and run.corpus.by_words_alone
