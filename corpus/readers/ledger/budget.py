"""The processor time that a census may take: reading comes first, and comparing must never lose a file."""

from __future__ import annotations

import time


class CensusOver(Exception):
    """The census has used up its time."""


class Budget:
    """Processor time, in seconds from now on."""

    def __init__(self, seconds: float) -> None:
        self._end = time.process_time() + seconds

    def check(self) -> None:
        """Check that there is time left.

        Raises:
            CensusOver: there is none.
        """
        if time.process_time() > self._end:
            raise CensusOver
