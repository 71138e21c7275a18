from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from argot.graph.assemble import visible_answer
from argot.graph.context import RunContext
from argot.graph.stage import Step
from argot.graph.state import State, empty_turn, finished_turn
from argot.types import Turn

HISTORY = 4
"""Finished exchanges a follow-up may refer to."""


async def stand_alone(state: State, run: RunContext) -> Step:
    """Begins the turn empty, and makes a question that needs no history of a follow-up.

    The turn before moves into the thread's past here, whether it came to an end or its choice was left unanswered.
    The history a reader sees holds only what the asker may still see.
    """
    past = finished_turn(state)
    turn = empty_turn(state["asked"])
    turns = [*state.get("turns", []), *([past] if past else [])]
    if run.profile.stand_alone and turns:
        history = await asyncio.to_thread(_history, turns[-HISTORY:], run)
        turn["stand_alone_question"] = await run.reader.stand_alone(turn["question"], history) or turn["question"]
    update: dict[str, Any] = {**turn, "turns": [past] if past else []}
    rewritten = turn["stand_alone_question"] != turn["question"]
    return Step(update, f"read as “{turn['stand_alone_question']}”" if rewritten else "stands alone", begins=True)


def _history(turns: Sequence[dict[str, Any]], run: RunContext) -> list[Turn]:
    return [Turn(turn["stand_alone_question"], visible_answer(turn, run)) for turn in turns]
