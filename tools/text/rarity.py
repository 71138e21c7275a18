"""Rarity of a word, by the number of texts that hold it: two inverse document frequencies."""

import math


def compute_idf(holding: int, count: int) -> float:
    """Return the inverse document frequency, near 0 for what all texts hold: BM25's (Robertson and Zaragoza 2009), plus
    1 so that it is never negative.

    Args:
        holding: how many of the texts hold it.
        count: how many texts there are.
    """
    return math.log(1 + (count - holding + 0.5) / (holding + 0.5))


def compute_floored_idf(holding: int, count: int) -> float:
    """Return the inverse document frequency, but at least log 2: among a few sentences on one subject what all hold
    still says something.
    """
    return math.log(1 + (count + 0.5) / (holding + 0.5))
