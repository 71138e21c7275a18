"""What a process that serves for long does about its memory once it has started."""

from __future__ import annotations

import gc


def settle() -> None:
    """Keep the garbage collector from going through all that start-up has made, again and again.

    A full pass over those quarter of a million objects takes 0.15 s, in the middle of somebody's question; they live
    as long as the process anyhow. Not for a process that opens one knowledge base after the other.
    """
    gc.collect()
    gc.freeze()
