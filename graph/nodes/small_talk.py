from __future__ import annotations

import asyncio

from argot.graph.node_frame import Step
from argot.graph.run_context import RunContext
from argot.graph.state import State
from argot.tools.reading.chitchat import WITHOUT_EXAMPLES
from argot.tools.retrieval.suggested_questions import Trial, choose_examples


async def small_talk(state: State, run: RunContext) -> Step:
    """Answer a greeting, thanks or "who are you?" with Argot's abilities and questions that the documents answer.

    The message is not searched, nothing is cited, and no term of it counts as missed. Only ids are stored: the examples
    are worded whenever they are shown, from what the reader may see then.
    """
    offered: list[str] = []
    if state["small_talk"] not in WITHOUT_EXAMPLES:
        trial = Trial(run.corpus, run.principal, run.scorer, run.profile, run.scope)
        # Not in the threads of questions: it reads the passages of many documents.
        offered = await asyncio.to_thread(choose_examples, trial)
    return Step({"status": "small_talk", "examples": offered}, "no question: nothing is searched")
