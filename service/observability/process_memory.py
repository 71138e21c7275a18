"""Memory of a process that serves for long: measures before it starts threads, and once it has started."""

from __future__ import annotations

import ctypes
import gc
import os

ARENAS = 2
_M_ARENA_MAX = -8
"""Of glibc's malloc.h."""


def bound_arenas() -> bool:
    """Have all threads allocate from a few arenas; whether the C library can be asked for that (glibc).

    Left to itself, glibc opens up to eight arenas a processor, and what one thread freed in its arena no other gets:
    where documents are replaced without end, by threads that come and go, each arena ends up full of holes, which
    cannot be given back either. To be called before there are threads. Who sets MALLOC_ARENA_MAX is not overruled.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    chosen = "MALLOC_ARENA_MAX" in os.environ or "malloc.arena_max" in os.environ.get("GLIBC_TUNABLES", "")
    if mallopt is None or chosen:
        return False
    return bool(mallopt(_M_ARENA_MAX, ARENAS))


def freeze_start_up() -> None:
    """Keep the garbage collector from going through all that start-up has made, again and again.

    A full pass over those quarter of a million objects takes 0.15 s, in the middle of somebody's question; they live
    as long as the process anyhow. Not for a process that opens one knowledge base after the other.
    """
    # Collected first, because frozen garbage is never freed.
    gc.collect()
    gc.freeze()
