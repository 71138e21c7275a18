"""File handles: a connection takes one, and so does every file of the stores. They must not run out for either."""

from __future__ import annotations

import resource

MAX_HANDLES = 65_536
"""No service of ours needs more, and some containers allow a thousand million: programs that go through them all to
close them, as some do when they start another, would take minutes.
"""
RESERVE = 512
"""Kept from connections, for the stores, commands on this machine, the model server, and what is just being closed."""


def raise_limit() -> int:
    """Let this process open as many files as it may be allowed to; how many that are."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return MAX_HANDLES
    wanted = MAX_HANDLES if hard == resource.RLIM_INFINITY else min(hard, MAX_HANDLES)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return max(soft, wanted)


def count_for_connections(limit: int) -> int:
    """Return the number of these handles that connections may take."""
    # With few handles the reserve would take them all: then connections have a quarter.
    return max(limit - RESERVE, limit // 4)
