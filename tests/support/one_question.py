"""One question to a small knowledge base, and its result."""

from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

from argot.graph.build import build_graph
from argot.graph.run import ask
from argot.results import AskResult


async def ask_once(kb: Any, question: str) -> AskResult:
    """Ask a question in a new thread, and return its result."""
    events = [event async for event in ask(build_graph(InMemorySaver()), kb.run_context(), question, "t")]
    result: AskResult = events[-1].data
    return result
