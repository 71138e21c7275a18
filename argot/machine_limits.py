"""The processors and the memory that this process may use. The limits of a container count."""

from __future__ import annotations

import os
from pathlib import Path


def count_processors() -> int:
    """Return how many processors this process and its children may use."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota, _, period = _read_container_limit("cpu.max").partition(" ")
    return min(count, max(1, int(quota) // int(period))) if quota.isdigit() else count


def measure_memory() -> int:
    """Return the memory in bytes that this process and its children may use."""
    physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    limit = _read_container_limit("memory.max")
    return min(physical, int(limit)) if limit.isdigit() else physical


def _read_container_limit(name: str) -> str:
    file = Path("/sys/fs/cgroup") / name
    return file.read_text("ascii").strip() if file.exists() else ""
