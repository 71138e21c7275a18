"""Removal of erased documents' words from the conversations whose answers cite them.

Nobody could see them any more: a sentence is shown only while the passages can be read that it rests on
(`argot.graph.presentation.turn_view`). The questions and everything that rests on other documents stay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from argot.graph.checkpoints.thread_history import StoredTurn, pack_turn, unpack_turn

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import BaseCheckpointSaver

IsGone = Callable[[str], bool]
"""Tells of a passage (id) whether it was erased, or of a text whether it stands in what was erased."""


def erase_from_turn(turn: Mapping[str, Any], is_gone: IsGone, is_quoted: IsGone) -> dict[str, Any]:
    """Return the parts of a turn that change when these passages are erased; empty where it does not rest on them."""
    sentences = turn.get("sentences") or []
    found = any(is_gone(hit["id"]) for hit in turn.get("hits") or [])

    def is_erased(sentence: Mapping[str, Any]) -> bool:
        cited = [one["passage"] for one in sentence["citations"]]
        # An unsupported sentence may say what any of the passages says.
        return any(map(is_gone, cited)) or (found and not cited) or is_quoted(sentence["text"])

    erased = [is_erased(one) for one in sentences]
    if not (found or any(erased) or is_quoted(turn.get("draft") or "")):
        return {}
    changed: dict[str, Any] = {
        "sentences": [{**one, "text": ""} if gone else one for one, gone in zip(sentences, erased, strict=True)],
        "draft": "",
        "search_queries": [],
        "readings": [{**one, "meaning": ""} if "meaning" in one else one for one in turn.get("readings") or []],
    }
    return {name: value for name, value in changed.items() if turn.get(name) and turn[name] != value}


def _erase_from_state(values: Mapping[str, Any], is_gone: IsGone, is_quoted: IsGone) -> dict[str, Any]:
    """Return the same of a thread's whole state: the turn that it ends with, and those before."""
    changed = erase_from_turn(values, is_gone, is_quoted)
    turns: list[StoredTurn] = list(values.get("turns", ()))
    for place, stored in enumerate(turns):
        turn = unpack_turn(stored, place)
        if differences := erase_from_turn(turn, is_gone, is_quoted):
            turns[place] = pack_turn({**turn, **differences}, place)
            changed["turns"] = turns
    return changed


async def erase_from_thread(
    saver: BaseCheckpointSaver[Any], thread: str, is_gone: IsGone, is_quoted: IsGone
) -> list[tuple[str, str]]:
    """Rewrite the thread's newest checkpoint without what was erased; its channels that changed, with the version that
    each had. The caller holds the thread's turn.
    """
    config: RunnableConfig = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
    found = await saver.aget_tuple(config)
    if found is None:
        return []
    values = found.checkpoint["channel_values"]
    changed = _erase_from_state(values, is_gone, is_quoted)
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
    # The same id: what waits for a choice goes on waiting.
    await saver.aput(place, checkpoint, found.metadata, new)  # type: ignore[arg-type]
    return former
