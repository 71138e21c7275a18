"""The journey, wired in one place and in reading order. Node names equal function names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Checkpointer

from argot.graph.node_frame import SIDE_BY_SIDE, Node, Route, wrap_node
from argot.graph.nodes.abstain import abstain
from argot.graph.nodes.augment_question import augment_question
from argot.graph.nodes.choose_document import choose_document
from argot.graph.nodes.choose_sense import choose_sense
from argot.graph.nodes.find_verified import find_verified
from argot.graph.nodes.generate_answer import generate_answer
from argot.graph.nodes.identify_context import identify_context
from argot.graph.nodes.identify_jargon import identify_jargon
from argot.graph.nodes.look_up_jargon import look_up_jargon
from argot.graph.nodes.match_references import match_references
from argot.graph.nodes.query_miss import query_miss
from argot.graph.nodes.reformulate_query import reformulate_query
from argot.graph.nodes.rerank import rerank
from argot.graph.nodes.research import research
from argot.graph.nodes.retrieve import retrieve
from argot.graph.nodes.search_again import search_again
from argot.graph.nodes.small_talk import small_talk
from argot.graph.nodes.stand_alone import stand_alone
from argot.graph.research_plan import find_open_part, has_to_research
from argot.graph.run_context import ContextSource, RunContext
from argot.graph.state import State, TurnInput

ArgotGraph = CompiledStateGraph[State, RunContext, TurnInput, State]


def build_graph(checkpointer: Checkpointer = None, source: ContextSource | None = None) -> ArgotGraph:
    """Return the compiled graph.

    Args:
        checkpointer: keeps threads between turns; without one nothing is remembered, and no choice can wait.
        source: provides a run's context if the caller passes none; only LangGraph's tooling needs it.
    """
    graph = StateGraph(State, context_schema=RunContext, input_schema=TurnInput)

    # The name is taken from the function, so that traces, the diagram and the source use the same name.
    def add(
        node: Node,
        *,
        route: Route | None = None,
        to: Sequence[str] = (),
        switched: bool = False,
        is_quiet: bool = False,
    ) -> None:
        wrapped = wrap_node(node, source, route=route, switched=switched, is_quiet=is_quiet)
        graph.add_node(node.__name__, wrapped, destinations=tuple(to) or None)

    add(stand_alone, route=route_after_stand_alone, to=["small_talk", "retrieve", *SIDE_BY_SIDE])
    add(small_talk)
    add(identify_jargon, switched=True)
    add(identify_context, switched=True)
    add(look_up_jargon, route=route_after_look_up, to=["choose_sense", "find_verified"], switched=True)
    # The node asks one question per run and comes back here for the next, because an answered node runs again from its
    # first line, earlier questions included.
    add(choose_sense, route=route_after_look_up, to=["choose_sense", "find_verified"])
    add(
        find_verified,
        route=route_after_verified,
        to=["query_miss", "augment_question", END],
        switched=True,
        is_quiet=True,
    )
    add(query_miss, route=route_after_miss, to=["look_up_jargon", "query_miss", "augment_question", END])
    add(augment_question, switched=True)
    add(reformulate_query, switched=True)
    add(retrieve)
    add(rerank, route=route_after_rerank, to=["choose_document", "research", "search_again", "generate_answer"])
    add(
        choose_document,
        route=route_after_document_choice,
        to=["retrieve", "research", "search_again", "generate_answer"],
    )
    add(research, route=route_after_research, to=["research", "search_again", "generate_answer"])
    add(generate_answer, route=route_after_draft, to=["search_again", "match_references"], switched=True)
    add(search_again, route=route_after_other_queries, to=["retrieve", "abstain", "match_references"], switched=True)
    add(abstain)
    add(match_references, route=route_after_matching, to=["abstain", END])

    graph.add_edge(START, "stand_alone")
    graph.add_edge("small_talk", END)
    # A list of sources makes the look-up wait for both.
    graph.add_edge([*SIDE_BY_SIDE], "look_up_jargon")
    graph.add_edge("augment_question", "reformulate_query")
    graph.add_edge("reformulate_query", "retrieve")
    graph.add_edge("retrieve", "rerank")
    graph.add_edge("abstain", END)
    return graph.compile(checkpointer=checkpointer, name="argot")


def route_after_stand_alone(state: State) -> list[str]:
    """Answer small talk at once, and read a whole file if the question is about the file as a whole.

    Any other question is searched for jargon and classified by context, side by side.
    """
    if state["small_talk"]:
        return ["small_talk"]
    return ["retrieve"] if state.get("whole") else [*SIDE_BY_SIDE]


def route_after_look_up(state: State) -> Literal["choose_sense", "find_verified"]:
    """Ask about open terms one by one; once it is settled what all terms mean, look for a verified answer."""
    return "choose_sense" if state["open_terms"] else "find_verified"


def route_after_verified(state: State) -> Literal["__end__", "query_miss", "augment_question"]:
    """End with the verified answer; without one ask about unknown terms, then augment the question."""
    if state["status"]:
        return "__end__"
    return "query_miss" if state["unknown"] else "augment_question"


def route_after_miss(
    state: State,
) -> Literal["__end__", "look_up_jargon", "query_miss", "augment_question"]:
    """End the turn as a query miss, look another spelling up, or ask about the next unknown term."""
    if state["status"]:
        return "__end__"
    if state["look_again"]:
        return "look_up_jargon"
    return "query_miss" if state["unknown"] else "augment_question"


def route_after_rerank(
    state: State,
) -> Literal["choose_document", "research", "search_again", "generate_answer"]:
    """Ask which document is meant if several hold enough evidence; else research for a thorough answer; else write, or
    search in other words if the evidence is not enough.
    """
    return "choose_document" if state["open_subject"] else _select_after_passages(state)


def route_after_document_choice(
    state: State,
) -> Literal["retrieve", "research", "search_again", "generate_answer"]:
    """Search again within the document that was chosen; without a choice, use the passages found so far."""
    if state["subject"] and state["subject"]["chosen"] is not None:
        return "retrieve"
    return _select_after_passages(state)


def _select_after_passages(state: State) -> Literal["research", "search_again", "generate_answer"]:
    if has_to_research(state):
        return "research"
    return "generate_answer" if state["enough_evidence"] else "search_again"


def route_after_research(state: State) -> Literal["research", "search_again", "generate_answer"]:
    """Go on with the next step of the plan; after the last one, write from the passages that were gathered."""
    if find_open_part(state) is not None:
        return "research"
    return "generate_answer" if state["enough_evidence"] else "search_again"


def route_after_draft(state: State) -> Literal["search_again", "match_references"]:
    """Search in other words if the draft is empty or says that the passages lack a part of the answer."""
    return "match_references" if state["draft"].strip() and not state.get("lacking") else "search_again"


def route_after_other_queries(state: State) -> Literal["retrieve", "abstain", "match_references"]:
    """Search for the other queries; without any, check what was written so far."""
    if state.get("other_queries"):
        return "retrieve"
    return "match_references" if state["draft"].strip() else "abstain"


def route_after_matching(state: State) -> Literal["abstain", "__end__"]:
    return "__end__" if state["status"] else "abstain"
