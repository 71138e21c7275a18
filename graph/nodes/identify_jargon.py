from __future__ import annotations

from argot.graph.node_frame import Step
from argot.graph.run_context import RunContext
from argot.graph.state import State
from argot.graph.state_records import to_mention_record

MAX_MENTIONS = 40
"""A question of 4,000 characters may consist of abbreviations only; those beyond this limit are not looked up."""


async def identify_jargon(state: State, run: RunContext) -> Step:
    """Find every term and abbreviation of the question, known or not (Golden-Retriever 3.2)."""
    mentions = (await run.reader.identify_jargon(state["stand_alone_question"]))[:MAX_MENTIONS]
    surfaces = dict.fromkeys(mention.surface for mention in mentions)
    return Step({"mentions": [to_mention_record(mention) for mention in mentions]}, ", ".join(surfaces) or "no jargon")
