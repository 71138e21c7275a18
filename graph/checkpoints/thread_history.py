"""The finished turns of a thread as its state keeps them: each as compressed JSON, with its number.

Each step of a question stores the whole state, and the next question reads it. Decoding and encoding a long
conversation each time would take longer than its searches; copying a few bytes is cheap.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

MAX_TURNS = 200
"""Number of turns that a thread keeps; older ones are dropped. Every checkpoint holds them all, at about 0.7 kB
each."""

StoredTurn = bytes | Mapping[str, Any]
"""A packed turn; older versions stored turns as mappings, which may have no number."""


def append_turn(old: Sequence[StoredTurn], new: Sequence[StoredTurn]) -> list[bytes]:
    """Return the turns that a thread keeps once these turns are finished."""
    return [pack_turn(turn, place) for place, turn in enumerate([*old, *new])][-MAX_TURNS:]


def read_past_turns(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the finished turns of a thread's state that are still kept, oldest first."""
    return [unpack_turn(turn, place) for place, turn in enumerate(values.get("turns", ()))]


def iter_latest_turns(values: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the finished turns from the last one back, each unpacked when it is reached."""
    turns = values.get("turns", ())
    return (unpack_turn(turns[place], place) for place in reversed(range(len(turns))))


def pack_turn(turn: StoredTurn, place: int) -> bytes:
    """Return a turn as it is stored; `place` is its number if it has none."""
    # Level 1: this runs while the asker waits, and higher levels make these few hundred bytes hardly smaller.
    return turn if isinstance(turn, bytes) else zlib.compress(json.dumps({"number": place, **turn}).encode(), 1)


def unpack_turn(turn: StoredTurn, place: int) -> dict[str, Any]:
    """Return a stored turn with its number; `place` is used if it has none."""
    read: Mapping[str, Any] = json.loads(zlib.decompress(turn)) if isinstance(turn, bytes) else turn
    # The turn's own number takes precedence over its place: once older turns have been dropped, the two differ.
    return {"number": place, **read}
