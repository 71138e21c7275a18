"""Memory of a long-running process: measures before it starts threads, and once it has started."""

from __future__ import annotations

import ctypes
import gc
import os

from argot.garbage_collection import collect_as_usual

ARENAS = 2
_M_ARENA_MAX = -8
"""From glibc's malloc.h."""


def bound_arenas() -> bool:
    """Make all threads allocate from a few arenas; return whether the C library supports that (glibc).

    By default, glibc opens up to eight arenas per processor, and memory that one thread freed in its arena is not
    available to others: if short-lived threads replace documents endlessly, each arena becomes fragmented, and cannot
    be released either. Call it before there are threads. A user's MALLOC_ARENA_MAX takes precedence.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    chosen = "MALLOC_ARENA_MAX" in os.environ or "malloc.arena_max" in os.environ.get("GLIBC_TUNABLES", "")
    if mallopt is None or chosen:
        return False
    return bool(mallopt(_M_ARENA_MAX, ARENAS))


def freeze_start_up() -> None:
    """Keep the garbage collector from traversing the objects of the start-up again and again.

    A full pass over those quarter of a million objects takes 0.15 s, in the middle of a question; they live as long as
    the process anyway. Not for a process that opens one knowledge base after the other.
    """
    # Collected first, because frozen garbage is never freed. Only the youngest: imports leave hardly any (54 of 340,000
    # objects), and a pass over all of them is a fifth of a second of the start.
    gc.collect(0)
    gc.freeze()
    collect_as_usual()
