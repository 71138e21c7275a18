from __future__ import annotations

from argot.graph.node_frame import Step
from argot.graph.run_context import RunContext
from argot.graph.state import State
from argot.question_threads import call_in_thread


async def identify_context(state: State, run: RunContext) -> Step:
    """Find the contexts that the question may belong to, among those the asker may know (Golden-Retriever 3.3)."""
    contexts = await call_in_thread(run.glossary.contexts.all, run.principal)
    if not contexts:
        return Step({}, "no contexts are defined")
    scores = await run.reader.identify_context(state["stand_alone_question"], contexts)
    return Step(
        # A plain float, not numpy's: checkpoints hold plain types only.
        {"contexts": [(score.context, float(score.score)) for score in scores]},
        scores[0].context if scores else "nothing tells the context",
    )
