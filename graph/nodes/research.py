from __future__ import annotations

from collections.abc import Sequence

from argot.errors import ModelUnavailable
from argot.graph.node_frame import StateUpdate, Step, send_step
from argot.graph.presentation.progress import write_call_step, write_settled_step
from argot.graph.quoting_evidence import judge_for_quoting
from argot.graph.research_plan import (
    MAX_FIRST_PASSAGES,
    add_gathered,
    count_calls_left,
    describe_step,
    find_open_part,
    has_tokens_left,
    select_hits,
    settle,
)
from argot.graph.research_tools import call_tool
from argot.graph.run_context import RunContext
from argot.graph.server_tools import ask_server, find_offered
from argot.graph.state import PlanPart, State
from argot.graph.state_records import get_definitions, load_hits
from argot.question_threads import call_in_thread
from argot.tools.llm.passage_fences import describe_source
from argot.tools.llm.research import ASK_SERVER, ToolRequest, choose_tools, estimate_step_tokens, make_plan


async def research(state: State, run: RunContext) -> Step:
    """Gather the passages of a thorough answer: first make a plan of sub-questions, then call tools for each of them in
    turn. Each run of this node takes one reply of the model.

    Argot's tools only read, within the asker's rights and the question's scope; those of other servers are the ones
    that an administrator allows. The profile limits the number of calls and the model's tokens, whatever a passage
    says. If the model fails, gives no valid reply or is no longer there when a turn continues, the answer is written
    from the passages found so far.
    """
    at = find_open_part(state)
    if run.model is None or run.model.failed or not run.profile.generate_answer:
        why = "needs a language model"
        return Step({}, why) if at is None else await _settle_rest(state, run, why)
    if at is None:
        return await _begin_plan(state, run)
    if not has_tokens_left(state, run):
        return await _settle_rest(state, run, "no tokens left")
    step = await call_in_thread(describe_step, state, at, run)
    try:
        requests = await choose_tools(run.model, step)
    except ModelUnavailable:
        return await _settle_rest(state, run, "the model called no tool")
    state = {**state, "tool_tokens": state.get("tool_tokens", 0) + (_count_tokens(run) or estimate_step_tokens(step))}
    return await _follow_reply(requests, at, state, run)


async def _begin_plan(state: State, run: RunContext) -> Step:
    """Make the plan, and show it to the asker."""
    assert run.model is not None
    hits = await call_in_thread(load_hits, state["hits"][:MAX_FIRST_PASSAGES], run)
    places = [describe_source(hit.passage, hit.document.title) for hit in hits]
    try:
        plan = await make_plan(run.model, state["stand_alone_question"], places, get_definitions(state))
    except ModelUnavailable:
        return Step({}, "no plan")
    for number, sub_question in enumerate(plan.sub_questions, 1):
        send_step(number, sub_question)
    update: StateUpdate = {
        "plan": [PlanPart(question=one, passages=[], is_settled=False) for one in plan.sub_questions],
        "compared": list(plan.compared),
        "read": state["hits"][:MAX_FIRST_PASSAGES],
        "tool_tokens": _count_tokens(run),
    }
    return Step(update, f"{len(plan.sub_questions)} sub-questions" if len(plan.sub_questions) > 1 else "one question")


async def _follow_reply(requests: Sequence[ToolRequest], at: int, state: State, run: RunContext) -> Step:
    """Call the tools; or settle the sub-question, if the model says that it is answered or no call is left."""
    chosen = [one.passages for one in requests if one.tool == "answered"]
    asked = [one for one in requests if one.tool != "answered"][: count_calls_left(state, run)]
    if not asked:
        return await _settle(state, at, chosen[0] if chosen else None, run)
    before = len(state.get("tool_calls", []))
    for one in asked:  # each sees what the calls before it did
        state = await _call_tool(one, at, state, run)
    calls = state["tool_calls"][before:]
    update: StateUpdate = {
        "tool_calls": state["tool_calls"],
        "tool_results": state.get("tool_results", []),
        "read": add_gathered(state["read"], calls),
        "tool_tokens": state["tool_tokens"],
    }
    return Step(update, "; ".join(f"{call['tool']} “{call['first']}”: {len(call['found'])}" for call in calls))


async def _call_tool(request: ToolRequest, at: int, state: State, run: RunContext) -> State:
    """Call a tool, and return the state with the call and its result."""
    calls = state.get("tool_calls", [])
    if request.tool != ASK_SERVER:
        call = await call_in_thread(call_tool, request, at, state, run)
        return {**state, "tool_calls": [*calls, call]}
    if tool := find_offered(request, run):
        asked = state["plan"][at]["question"]
        send_step(at + 1, write_call_step(asked, tool.server_name, tool.name, of=state["question"]))
    call, result = await ask_server(request, tool, at, state, run)
    results = [*state.get("tool_results", []), *([result] if result else [])]
    return {**state, "tool_calls": [*calls, call], "tool_results": results}


async def _settle(state: State, at: int, numbers: Sequence[int] | None, run: RunContext) -> Step:
    part = settle(state["plan"][at], at, numbers, state)
    count = len(part["passages"])
    found = f"{count} passage{'s' * (count > 1)}" if count else "not found"
    send_step(at + 1, write_settled_step(part["question"], count, of=state["question"]))
    plan = [part if place == at else one for place, one in enumerate(state["plan"])]
    return await _store_plan(plan, state, run, found)


async def _settle_rest(state: State, run: RunContext, why: str) -> Step:
    plan = [one if one["is_settled"] else settle(one, at, None, state) for at, one in enumerate(state["plan"])]
    return await _store_plan(plan, state, run, why)


async def _store_plan(plan: list[PlanPart], state: State, run: RunContext, found: str) -> Step:
    """Store the plan; once no sub-question is open, select the passages to write from."""
    update: StateUpdate = {"plan": plan, "tool_tokens": state.get("tool_tokens", 0)}
    if all(part["is_settled"] for part in plan):
        hits = await call_in_thread(select_hits, plan, state, run)
        # Without a model, only the evidence can refuse an answer.
        is_enough = bool(hits) and (run.model is not None or await _is_quotable(state, run))
        update |= {"hits": hits, "enough_evidence": is_enough}
    return Step(update, found)


async def _is_quotable(state: State, run: RunContext) -> bool:
    return bool((await judge_for_quoting(state, run))["quotable"])


def _count_tokens(run: RunContext) -> int:
    """Return the tokens of this step's calls, as the server counted them; 0 if it does not."""
    return sum(call.prompt_tokens + call.completion_tokens for call in run.model_calls)
