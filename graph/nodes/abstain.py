from __future__ import annotations

from argot.graph.definitions import find_definitions
from argot.graph.node_frame import StateUpdate, Step
from argot.graph.run_context import RunContext
from argot.graph.state import State
from argot.question_threads import call_in_thread


async def abstain(state: State, run: RunContext) -> Step:
    """Abstain when the evidence is too weak or no sentence is supported. The nearest passages are shown instead.

    Definitions still come from the glossary when no document supports an answer.
    """
    if meanings := await call_in_thread(find_definitions, state, run, quoted=False):
        defined: StateUpdate = {"status": "answered", "answered_by": "extractive", "draft": "", "sentences": []}
        return Step({**defined, **meanings}, "the glossary says what is asked")
    nearest = min(len(state["hits"]), run.profile.passages)
    ended: StateUpdate = {"status": "abstained", "draft": "", "sentences": []}
    if not run.profile.generate_answer:
        return Step({**ended, "unwritten": True}, f"no answer is asked for; {nearest} nearest passages shown")
    return Step(ended, f"no answer; {nearest} nearest passages shown")
