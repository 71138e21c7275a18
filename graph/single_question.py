"""Questions outside any conversation, as measurements ask them: no thread of theirs is kept."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from langgraph.checkpoint.memory import InMemorySaver

from argot.graph.build import build_graph
from argot.graph.run import ask
from argot.graph.run_context import RunContext
from argot.results import AskResult


class SingleQuestions:
    """A graph whose checkpoints are in memory until each question is answered."""

    def __init__(self) -> None:
        self._graph = build_graph(InMemorySaver())
        # Each question has a thread of its own; otherwise it would be read as a follow-up of the one before.
        self._threads = itertools.count(1)

    async def ask(self, messages: Sequence[tuple[RunContext, str]]) -> AskResult:
        """Ask the last of these messages, after the others, and return its result.

        Raises:
            InvalidInput: a message cannot be asked.
            ModelUnavailable: the model does not answer, and the profile needs it.
        """
        thread = f"single-{next(self._threads)}"
        result = None
        try:
            for run, message in messages:
                async for event in ask(self._graph, run, message, thread):
                    if event.kind == "result":
                        result = event.data
        finally:
            # Threads are kept in memory, and thousands of them would fill it.
            await self._graph.checkpointer.adelete_thread(thread)  # type: ignore[union-attr]
        assert isinstance(result, AskResult)
        return result
