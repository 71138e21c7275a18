"""Results of other servers' tools as sources of an answer, read from the conversation that has them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from argot.service.json_values import PassageShown, show_passage
from argot.types import Principal

if TYPE_CHECKING:
    from argot.service.knowledge_base import KnowledgeBase


async def find_tool_result(kb: KnowledgeBase, principal: Principal, passage_id: str) -> PassageShown | None:
    """Return a piece of a result as a passage; None for any other passage, and for whoever did not ask for it."""
    from argot.graph.run import read_turn_record
    from argot.graph.tool_results import find_results, load_results, name_result, read_place

    place = read_place(passage_id)
    if place is None:
        return None
    record = await read_turn_record(await kb.graph(), *place)
    results = (record or {}).get("tool_results", [])
    if passage_id not in (visible := load_results(results, principal)):
        return None
    shown = show_passage(*visible[passage_id], markdown="")
    return replace(shown, document=name_result(find_results(results)[passage_id]))
