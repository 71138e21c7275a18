"""Removal of erased documents' words from the conversations whose answers cite them.

Nobody could see these words any more: a sentence is shown only while the reader may read the passages that it rests on
(`argot.graph.presentation.turn_view`). The questions and everything that rests on other documents are kept.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

from argot.graph.checkpoints.thread_history import StoredTurn, pack_turn, unpack_turn

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import BaseCheckpointSaver

IsGone = Callable[[str], bool]
"""Returns whether a passage or document (id) was erased."""

IsQuoted = Callable[[str, Collection[str]], bool]
"""Returns whether a text occurs in an erased document, and in none of the passages (ids) that it rests on."""


def erase_from_turn(turn: Mapping[str, Any], is_gone: IsGone, is_quoted: IsQuoted) -> dict[str, Any]:
    """Return the parts of a turn that change when these passages and documents are erased; empty if the turn does not
    rest on them.
    """
    # Imports the prompts and NumPy, and every command imports this module.
    from argot.tools.llm.research import ASK_SERVER

    sentences = turn.get("sentences") or []
    calls = turn.get("tool_calls") or []
    seen = [hit["id"] for hit in [*(turn.get("hits") or []), *(turn.get("read") or [])]]
    found = any(map(is_gone, seen))
    # A model that was given a document's name may have searched for it; no answer is written from names.
    named = any(map(is_gone, [*(turn.get("titled") or []), *(id_ for call in calls for id_ in call["found"])]))

    def is_erased(sentence: Mapping[str, Any]) -> bool:
        cited = [one["passage"] for one in sentence["citations"]]
        # An unsupported sentence may repeat any of the passages.
        return any(map(is_gone, cited)) or (found and not cited) or is_quoted(sentence["text"], cited or seen)

    results = turn.get("tool_results") or []
    # The model may have sent the words to another server, whose result then repeats them.
    asked = [call for call in calls if call["tool"] == ASK_SERVER] if found or named else []
    repeating = {id_ for call in asked for id_ in call["found"]}
    erased = [is_erased(one) or any(cited["passage"] in repeating for cited in one["citations"]) for one in sentences]
    if not (found or named or any(erased) or is_quoted(turn.get("draft") or "", seen)):
        return {}
    changed: dict[str, Any] = {
        "sentences": [{**one, "text": ""} if gone else one for one, gone in zip(sentences, erased, strict=True)],
        "draft": "",
        "lacking": "",
        "search_queries": [],
        "searched_again": [[] for _ in turn.get("searched_again") or []],
        "plan": [{**one, "question": ""} for one in turn.get("plan") or []],
        "compared": [],
        "tool_calls": [{**one, "first": "", "second": ""} for one in calls],
        "tool_results": [] if repeating else results,
        "readings": [{**one, "meaning": ""} if "meaning" in one else one for one in turn.get("readings") or []],
    }
    return {name: value for name, value in changed.items() if turn.get(name) and turn[name] != value}


def _erase_from_state(values: Mapping[str, Any], is_gone: IsGone, is_quoted: IsQuoted) -> dict[str, Any]:
    """Return the changes to a thread's whole state: its last turn and the earlier ones."""
    changed = erase_from_turn(values, is_gone, is_quoted)
    turns: list[StoredTurn] = list(values.get("turns", ()))
    for place, stored in enumerate(turns):
        turn = unpack_turn(stored, place)
        if differences := erase_from_turn(turn, is_gone, is_quoted):
            turns[place] = pack_turn({**turn, **differences}, place)
            changed["turns"] = turns
    return changed


async def erase_from_thread(
    saver: BaseCheckpointSaver[Any], thread: str, is_gone: IsGone, is_quoted: IsQuoted
) -> list[tuple[str, str]]:
    """Rewrite the thread's newest checkpoint without the erased text, and return the changed channels with their
    previous versions. The caller holds the thread's turn.
    """
    config: RunnableConfig = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
    found = await saver.aget_tuple(config)
    if found is None:
        return []
    values = found.checkpoint["channel_values"]
    changed = await asyncio.to_thread(_erase_from_state, values, is_gone, is_quoted)
    if not changed:
        return []
    versions = found.checkpoint["channel_versions"]
    former = [(name, str(versions[name])) for name in changed if name in versions]
    new = {name: saver.get_next_version(versions.get(name), None) for name in changed}
    checkpoint = {
        **found.checkpoint,
        "channel_values": {**values, **changed},
        "channel_versions": {**versions, **new},
    }
    parent = (found.parent_config or config)["configurable"].get("checkpoint_id")
    place: RunnableConfig = {"configurable": {"thread_id": thread, "checkpoint_ns": "", "checkpoint_id": parent}}
    # The id stays the same, so that a pending choice still waits.
    await saver.aput(place, checkpoint, found.metadata, new)  # type: ignore[arg-type]
    return former
