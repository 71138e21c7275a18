from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from langgraph.types import interrupt

from argot.graph.choices import TERM
from argot.graph.node_frame import StateUpdate, Step
from argot.graph.run_context import RunContext
from argot.graph.state import MAX_QUESTIONS_BACK, QueryMissRecord, State
from argot.graph.state_records import to_mention, to_mention_record
from argot.question_threads import call_in_thread


async def query_miss(state: State, run: RunContext) -> Step:
    """Handle undefined terms (Golden-Retriever 3.6). All of them are first recorded in the manager's queue.

    - `strict`: the paper's query miss. The turn ends with its template: check the spelling, or ask the manager.
    - `ask`: for terms that the documents do not contain either. Asks term by term whether another spelling was meant;
      where no known spelling is similar it is the paper's query miss, which the asker may skip ("answer anyway").
    - `lenient`: continues with the term unchanged, and the result says that it is unknown.

    If no terms are defined at all, `ask` behaves like `lenient`: a knowledge base without a glossary must answer from
    its documents and not stop at each capitalised word. `strict` is kept even then, since it was set on purpose.
    Recording is idempotent, because an interrupted node runs twice.
    """
    # Recorded before the interrupt: most people never answer it, and the manager should still learn of the term.
    # Not in the threads of questions: writing may have to wait for an import of thousands of terms.
    await asyncio.to_thread(record_misses, [miss["term"] for miss in state["unknown"]], state, run)
    names = ", ".join(miss["term"] for miss in state["unknown"])
    if run.profile.misses == "strict":
        ended: StateUpdate = {"misses": state["unknown"], "unknown": [], "status": "query_miss"}
        return Step(ended, f"not in the glossary: {names}")
    if not await call_in_thread(_may_ask, state, run):
        return Step(_keep_as_written(state, state["unknown"]), f"not known, left as it stands: {names}")
    first = state["unknown"][0]
    answer = str(interrupt({"kind": "query_miss", "term": first["term"]}))
    asked: StateUpdate = {"asked_back": state["asked_back"] + 1, "effort": run.profile.effort}
    meant = answer.removeprefix(TERM)
    # Only offered spellings are accepted: the answer comes from outside and could name a term that the asker may not
    # know.
    if answer.startswith(TERM) and meant in first["suggestions"]:
        return Step({**asked, **_replace_spelling(state, first, meant)}, f"“{first['term']}” read as “{meant}”")
    # "Answer anyway" to a query miss that names all terms at once settles all of them.
    left = [first] if first["suggestions"] else state["unknown"]
    return Step(
        {**asked, **_keep_as_written(state, left)}, f"left as it stands: {', '.join(miss['term'] for miss in left)}"
    )


def record_misses(terms: Sequence[str], state: State, run: RunContext) -> None:
    """Record terms in the manager's queue. Recording the same question of the same thread again changes nothing."""
    asked, meant = state["question"], state["stand_alone_question"]
    for term in terms if run.records_misses else ():
        run.glossary.misses.record(term, run.principal.name, asked, run.thread, meant=meant)


def _may_ask(state: State, run: RunContext) -> bool:
    # Only terms that this asker may see: a glossary closed to the asker counts as none.
    any_terms = bool(run.glossary.lookup.matcher(run.principal).terms())
    return run.profile.misses == "ask" and any_terms and state["asked_back"] < MAX_QUESTIONS_BACK


def _keep_as_written(state: State, misses: list[QueryMissRecord]) -> StateUpdate:
    terms = [miss["term"] for miss in misses]
    return {
        "unknown": [miss for miss in state["unknown"] if miss["term"] not in terms],
        "misses": [*state["misses"], *misses],
        "let_be": [*state["let_be"], *terms],
    }


def _replace_spelling(state: State, miss: QueryMissRecord, meant: str) -> StateUpdate:
    """Return the state with the other spelling in the term's mentions, which are looked up next."""
    mentions = [to_mention(record) for record in state["mentions"]]
    return {
        "look_again": True,
        "unknown": [other for other in state["unknown"] if other["term"] != miss["term"]],
        "mentions": [
            to_mention_record(
                replace(mention, term=meant, match="misspelt") if mention.surface == miss["term"] else mention
            )
            for mention in mentions
        ],
    }
