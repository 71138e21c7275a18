"""The plan of a thorough answer: its open sub-question, its budget, and the passages to write the answer from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain, zip_longest

from argot.graph.other_queries import get_query
from argot.graph.research_tools import PASSAGE_TOOLS, describe_call
from argot.graph.run_context import RunContext, count_kept_passages
from argot.graph.server_tools import describe_offered
from argot.graph.state import HitRecord, PlanPart, State, ToolCallRecord
from argot.graph.state_records import get_definitions, load_hits, to_hit_record
from argot.tools.llm.passage_fences import wrap_passages
from argot.tools.llm.research import ResearchStep
from argot.tools.retrieval.hybrid_search import WeightedQuery
from argot.tools.retrieval.repeated_passages import drop_repeats
from argot.tools.retrieval.reranker import READ_PASSAGES_FOR_MODEL, rerank
from argot.types import Hit

MAX_FIRST_PASSAGES = 8
"""Passages of the ordinary search that the model reads before it calls a tool."""
MAX_SHOWN_PASSAGES = 20
"""Passages that the model reads in one step, the latest found first."""
MAX_GATHERED = 99
"""Passages that are gathered and numbered: the prompt's schema allows no higher number."""
MAX_UNCHOSEN = 3
"""Passages kept for a sub-question for which the model chose none before its budget ended."""


def find_open_part(state: State) -> int | None:
    """Return the index of the first sub-question that is not settled; None if all are."""
    return next((at for at, part in enumerate(state.get("plan", [])) if not part["is_settled"]), None)


def has_to_research(state: State) -> bool:
    """Return whether the turn asks for a thorough answer and has no plan yet.

    A file that is read as a whole needs no research, nor does a part number that no document names, unless another
    server may know it.
    """
    is_unknown = bool(state.get("unnamed")) and not state.get("may_ask_servers")
    done = state.get("plan") or state.get("searched_again") or is_unknown
    return state.get("effort") == "thorough" and not (done or state.get("whole"))


def count_calls_left(state: State, run: RunContext) -> int:
    """Return the number of tools that may still be called for the open sub-question: its share of all calls left."""
    at = find_open_part(state) or 0
    calls = state.get("tool_calls", [])
    # Calls that earlier sub-questions did not use are shared by the following ones.
    before = sum(call["part"] < at for call in calls)
    share = math.ceil((run.profile.max_tool_calls - before) / max(1, len(state["plan"]) - at))
    return max(0, min(share - (len(calls) - before), run.profile.max_tool_calls - len(calls)))


def has_tokens_left(state: State, run: RunContext) -> bool:
    return state.get("tool_tokens", 0) < run.profile.max_tool_tokens


def describe_step(state: State, at: int, run: RunContext) -> ResearchStep:
    """Describe the step for the sub-question at this index to the model, from what the asker may read now."""
    numbers = number_gathered(state["read"])
    calls = state.get("tool_calls", [])
    latest = [id_ for call in reversed(calls) if call["tool"] in PASSAGE_TOOLS for id_ in call["found"]]
    wanted = list(dict.fromkeys([*latest, *numbers]))[:MAX_SHOWN_PASSAGES]
    records = {hit["id"]: hit for hit in state["read"]}
    hits = load_hits([records[id_] for id_ in wanted if id_ in records], run, state.get("tool_results", []))
    return ResearchStep(
        question=state["stand_alone_question"],
        now=state["plan"][at]["question"],
        plan=[_describe_part(part, numbers) for part in state["plan"]],
        called=[describe_call(call, [numbers[id_] for id_ in call["found"] if id_ in numbers], run) for call in calls],
        passages=wrap_passages(hits, numbers=[numbers[hit.passage.id] for hit in hits]),
        left=count_calls_left(state, run),
        definitions=get_definitions(state),
        others=describe_offered(run),
    )


def number_gathered(read: Sequence[HitRecord]) -> dict[str, int]:
    """Return the numbers of the gathered passages, by id; a passage keeps its number for the whole turn."""
    return {hit["id"]: n for n, hit in enumerate(read, 1)}


def add_gathered(read: Sequence[HitRecord], calls: Sequence[ToolCallRecord]) -> list[HitRecord]:
    """Return the gathered passages with those that the calls found."""
    known = {hit["id"]: hit for hit in read}
    for call in calls:
        for id_ in call["found"] if call["tool"] in PASSAGE_TOOLS else ():
            known.setdefault(id_, HitRecord(id=id_, score=0.0, found_by={call["tool"]: call["found"].index(id_) + 1}))
    return list(known.values())[:MAX_GATHERED]


def settle(part: PlanPart, at: int, numbers: Sequence[int] | None, state: State) -> PlanPart:
    """Return the sub-question with the passages that answer it.

    Args:
        part: the sub-question.
        at: its index.
        numbers: the numbers of the passages that the model chose; empty: none answers; None: the budget was used up
            before it chose any. Only numbers that no passage has: the same as None.
        state: the gathered passages and the calls.
    """
    read = [hit["id"] for hit in state["read"]]
    chosen = [read[number - 1] for number in numbers or () if 1 <= number <= len(read)]
    if numbers is None or (numbers and not chosen):
        mine = [call for call in state.get("tool_calls", []) if call["part"] == at and call["tool"] in PASSAGE_TOOLS]
        chosen = [id_ for row in zip_longest(*(call["found"] for call in mine)) for id_ in row if id_][:MAX_UNCHOSEN]
    return PlanPart(question=part["question"], passages=list(dict.fromkeys(chosen)), is_settled=True)


def select_hits(plan: Sequence[PlanPart], state: State, run: RunContext) -> list[HitRecord]:
    """Return the passages to write from: those that answer the sub-questions in turn, then the others as gathered,
    without those that say nothing new.
    """
    records, most = {hit["id"]: hit for hit in state["read"]}, count_kept_passages(run)
    in_turn = [id_ for id_ in chain.from_iterable(zip_longest(*(part["passages"] for part in plan))) if id_]
    ids = dict.fromkeys([*in_turn, *records])
    results = state.get("tool_results", [])
    hits = {hit.passage.id: hit for hit in load_hits([records[id_] for id_ in ids if id_ in records], run, results)}
    # One sentence may answer for two things, each under its own heading: what was chosen is never a repeat.
    chosen = [hits[id_] for id_ in dict.fromkeys(in_turn) if id_ in hits]
    others = drop_repeats(hits.values(), most + len(chosen))
    kept = list({hit.passage.id: hit for hit in [*chosen, *others]}.values())[:most]
    return [to_hit_record(hit) for hit in _score(kept, state, run)]


def _score(hits: Sequence[Hit], state: State, run: RunContext) -> list[Hit]:
    """Return the hits in their order, each scored against the question: a tool gives no score."""
    if not run.profile.rerank:
        return [*hits]
    ranked = rerank(
        [WeightedQuery(get_query(state))], hits, run.scorer, run.profile, READ_PASSAGES_FOR_MODEL, judged=False
    )
    scored = {hit.passage.id: hit for hit in ranked}
    return [scored[hit.passage.id] for hit in hits]


def _describe_part(part: PlanPart, numbers: dict[str, int]) -> str:
    if not part["is_settled"]:
        return part["question"]
    found = ", ".join(str(numbers[id_]) for id_ in part["passages"] if id_ in numbers)
    return f"{part['question']} ({f'passages {found}' if found else 'not found'})"
