"""Rarity of a word, by the number of texts that contain it: two inverse document frequencies."""

import math


def compute_idf(holding: int, count: int) -> float:
    """Return the inverse document frequency, near 0 for words in all texts: BM25's (Robertson and Zaragoza 2009), plus
    1 so that it is never negative.

    Args:
        holding: how many of the texts contain it.
        count: how many texts there are.
    """
    return math.log(1 + (count - holding + 0.5) / (holding + 0.5))


def compute_floored_idf(holding: int, count: int) -> float:
    """Return the inverse document frequency, but at least log 2: among a few sentences on one subject a word in all of
    them is still informative.
    """
    return math.log(1 + (count + 0.5) / (holding + 0.5))
