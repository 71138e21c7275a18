from __future__ import annotations

import asyncio

from argot.graph.node_frame import Step
from argot.graph.run_context import RunContext
from argot.graph.state import State
from argot.tools.retrieval.suggested_questions import Trial, choose_examples

_KINDS_WITHOUT_EXAMPLES = ("thanks", "farewell", "no_file", "recall", "library")
"""Whoever takes their leave, means a file, what was said before or the documents, is offered nothing more."""


async def small_talk(state: State, run: RunContext) -> Step:
    """Answers a greeting, thanks or "who are you?" with what Argot does and questions that the documents answer.

    Nothing is searched for the message itself, nothing is cited, and no term of it counts as missed. What is kept are
    ids: the examples are worded whenever they are shown, from what may be seen then.
    """
    offered: list[str] = []
    if state["small_talk"] not in _KINDS_WITHOUT_EXAMPLES:
        trial = Trial(run.corpus, run.principal, run.scorer, run.profile, run.scope)
        offered = await asyncio.to_thread(choose_examples, trial)
    return Step({"status": "small_talk", "examples": offered}, "no question: nothing is searched")
