"""The garbage collector of a process that is starting, or ending."""

from __future__ import annotations

import atexit
import gc

_USUAL_THRESHOLDS = gc.get_threshold()
START_UP_OBJECTS = 50_000
"""New objects between two passes of the collector during a start. Imports make some 500,000 objects, nearly all of
which stay; with Python's default of 700 they are traversed hundreds of times: a tenth of the start."""


def collect_seldom() -> None:
    """Collect garbage seldom, as long as the process imports what it needs, and in commands that then end."""
    gc.set_threshold(START_UP_OBJECTS, *_USUAL_THRESHOLDS[1:])


def collect_as_usual() -> None:
    gc.set_threshold(*_USUAL_THRESHOLDS)


def end_without_collecting() -> None:
    """Leave out the passes of the collector at the end of the process: they traverse all that it imported, which takes
    a sixth of a command's time, and free memory that the system takes back anyway.
    """
    atexit.unregister(gc.freeze)  # once, however many commands this process runs
    atexit.register(gc.freeze)
