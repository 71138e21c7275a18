from __future__ import annotations

import asyncio

from argot.graph.context import RunContext
from argot.graph.records import hits_of, read_terms
from argot.graph.stage import Step, tell_piece
from argot.graph.state import State
from argot.protocols import AnswerRequest


async def generate_answer(state: State, run: RunContext) -> Step:
    """Writes the answer from the best passages, and sends it out piece by piece.

    With `withhold_unsupported` nothing is sent before the citations are matched. What is kept here is a draft: the
    next node makes checked sentences of it and clears it.
    """
    hits = await asyncio.to_thread(hits_of, state["hits"][: run.profile.passages_for_answer], run)
    terms = await asyncio.to_thread(read_terms, state, run)
    question = state["stand_alone_question"]
    request = AnswerRequest(question, state["augmented_question"] or question, terms, hits)
    pieces = []
    async for piece in run.writer.write(request):
        pieces.append(piece)
        if not run.profile.withhold_unsupported:
            tell_piece(piece)
    draft = "".join(pieces)
    return Step(
        {"draft": draft}, f"{len(draft.split())} words from {len(hits)} passages" if draft.strip() else "nothing"
    )
