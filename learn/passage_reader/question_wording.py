"""Questions as hurried people type them: made anew in each epoch, so that few questions teach more."""

from __future__ import annotations

import random

CHANGED_SHARE = 0.5
"""The share of the questions that are changed."""
_DROPPED_SHARE = 0.12  # of the words of a changed question
_MISTYPED_SHARE = 0.08
_MIN_WORDS = 4  # a shorter question loses no word


def vary_question(question: str, draws: random.Random) -> str:
    """Return the question in small letters, with words left out or mistyped; half of the questions as they are."""
    if draws.random() >= CHANGED_SHARE:
        return question
    words = question.split()
    if draws.random() < 0.5:
        words = [word.lower() for word in words]
    if draws.random() < 0.5:
        words[-1:] = [words[-1].rstrip("?.!")] if words else []
    kept = [word for word in words if len(words) < _MIN_WORDS or draws.random() >= _DROPPED_SHARE] or words
    return " ".join(_mistype(word, draws) if draws.random() < _MISTYPED_SHARE else word for word in kept)


def _mistype(word: str, draws: random.Random) -> str:
    """Return a word with two letters exchanged, or one left out or doubled; numbers and short words as they are."""
    if len(word) < 4 or not word.isalpha():
        return word
    place = draws.randrange(1, len(word) - 1)
    way = draws.randrange(3)
    if way == 0:
        return word[:place] + word[place + 1] + word[place] + word[place + 2 :]
    return word[:place] + word[place + 1 :] if way == 1 else word[:place] + word[place] + word[place:]
