from __future__ import annotations

from argot.graph.node_frame import Step
from argot.graph.run_context import RunContext
from argot.graph.state import State


async def abstain(state: State, run: RunContext) -> Step:
    """No answer: the evidence is too weak, or no sentence stood up to it. The nearest passages are shown instead."""
    nearest = min(len(state["hits"]), run.profile.passages)
    return Step({"status": "abstained", "draft": "", "sentences": []}, f"no answer; {nearest} nearest passages shown")
