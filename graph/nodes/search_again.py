from __future__ import annotations

from argot.errors import ModelUnavailable
from argot.graph.multi_question import list_parts
from argot.graph.node_frame import StateUpdate, Step
from argot.graph.other_queries import (
    can_read_on,
    describe_failed_search,
    get_query,
    has_search_left,
    list_nearest_passages,
    list_other_documents,
    list_queries_by_rules,
    list_read_passages,
    list_search_queries,
)
from argot.graph.presentation.wording import join_quoted
from argot.graph.run_context import RunContext
from argot.graph.state import State
from argot.question_threads import call_in_thread
from argot.tools.llm.other_queries import propose_queries


async def search_again(state: State, run: RunContext) -> Step:
    """Propose other queries if the passages found lack the answer or, as the draft says, a part of it.

    The model proposes them from the question, the passages that it read, the titles of other documents and the terms.
    Without a model, or if it proposes none, rules do. If the rules propose none either, a model that found no answer
    reads the next passages. The graph then repeats the search, and the passages found before are kept. A turn has at
    most two such searches, and no second one if the first found nothing new.
    """
    stopped: StateUpdate = {"other_queries": [], "lacking": ""}
    if state.get("read") and not state["draft"].strip():
        # Nothing answers, so the passages nearest to the question are shown, not those that were read last.
        stopped["hits"] = list_nearest_passages(state, run)
    if not has_search_left(state, run) or list_parts(state, run):
        return Step(stopped, "nothing else to search for")
    update: StateUpdate = {"read": list_read_passages(state), "is_written": state["enough_evidence"]}
    queries, titled = await _propose(state, run)
    if not queries and not can_read_on(state, run):
        return Step(stopped, "no other words")
    update |= {
        "other_queries": queries or [get_query(state)],
        "searched_again": [*state.get("searched_again", []), queries],
        "titled": [*dict.fromkeys([*state.get("titled", []), *titled])],
        "search_queries": list_search_queries(state, queries, run),
    }
    return Step(update, f"for {join_quoted(queries)}" if queries else "in the next passages")


async def _propose(state: State, run: RunContext) -> tuple[list[str], list[str]]:
    """Return other queries, and the documents (ids) whose titles the model was given that proposed them."""
    if run.model is not None and not run.model.failed:
        others = await call_in_thread(list_other_documents, state, run)
        failed = await call_in_thread(describe_failed_search, state, others, run)
        try:
            if queries := await propose_queries(run.model, failed):
                return queries, [one.id for one in others]
        except ModelUnavailable:
            # A model that has failed writes nothing more in this turn, and a question that it refused is not quoted on.
            return [], []
    return await call_in_thread(list_queries_by_rules, state, run), []
