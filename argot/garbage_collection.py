"""The garbage collector of a process that is starting."""

from __future__ import annotations

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
