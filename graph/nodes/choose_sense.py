from __future__ import annotations

import asyncio

from langgraph.types import interrupt

from argot.graph.choices import SENSE
from argot.graph.node_frame import StateUpdate, Step
from argot.graph.nodes.query_miss import record_misses
from argot.graph.run_context import RunContext
from argot.graph.state import ReadingRecord, State


async def choose_sense(state: State, run: RunContext) -> Step:
    """Ask which sense of the first open term is meant, and remember the choice for the thread.

    The interrupt carries only its kind: the offered senses are read from the state whenever they are shown, so that the
    asker sees only those they may read. "None of these" leaves the term as the asker wrote it, for this turn only (one
    of the senses may fit another question), and notifies the manager that a sense is missing.
    """
    term, *later = state["open_terms"]
    # Nothing above this line may write: when the asker answers, the node runs again from the top.
    answer = str(interrupt({"kind": "choose_sense", "term": term["term"]}))
    others = [reading for reading in state["readings"] if reading["term"] != term["term"]]
    update: StateUpdate = {
        "open_terms": later,
        "asked_back": state["asked_back"] + 1,
        "effort": run.profile.effort,  # the answer may be given with another
    }
    offered = {f"{SENSE}{sense}": sense for sense in term["senses"]}
    if answer not in offered:
        await asyncio.to_thread(record_misses, [term["term"]], state, run)
        let_be = [*state["let_be"], term["term"]]
        return Step({**update, "readings": others, "let_be": let_be}, f"“{term['term']}” in none of its senses")
    sense = offered[answer]
    chosen: list[ReadingRecord] = [
        {**reading, "sense": sense, "margin": 1.0, "chosen_by": "your choice", "settled": True, "rivals": []}
        if reading["term"] == term["term"]
        else reading
        for reading in state["readings"]
    ]
    picked = {**state["picked"], term["term"]: sense}
    update |= {"readings": chosen, "picked": picked, "remembered": {term["term"]: sense}}
    return Step(update, f"“{term['term']}” as you chose")
