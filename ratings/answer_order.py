"""The order in which one person sees the answers to one question: random, their own, and the same at each visit."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from string import ascii_uppercase

from argot.ratings.study import Answer, Judgement


def draw_blind_order(answers: Sequence[Answer], seed: str, person: str, place: int) -> dict[str, Answer]:
    """Return the answers by the letters under which this person knows them: A, B, C ..."""

    def draw_place(answer: Answer) -> bytes:
        # ASCII's unit separator (31) between the parts: no two lists of parts give the same text.
        return hashlib.sha256(chr(31).join((seed, person, str(place), answer.system)).encode()).digest()

    return dict(zip(ascii_uppercase, sorted(answers, key=draw_place), strict=False))


def translate_to_systems(judgement: Judgement, order: dict[str, Answer]) -> Judgement:
    """Translate a judgement by letters into one by systems. Entries that are no letter of the order are left out."""
    scores = {order[letter].system: points for letter, points in judgement.scores.items() if letter in order}
    ranks = {order[letter].system: rank for letter, rank in judgement.ranks.items() if letter in order}
    return Judgement(scores, ranks, judgement.cannot_judge, judgement.comment)


def translate_to_letters(judgement: Judgement, order: dict[str, Answer]) -> Judgement:
    """Translate a judgement by systems into the letters of its rater."""
    letters = {answer.system: letter for letter, answer in order.items()}
    scores = {letters[system]: dict(points) for system, points in judgement.scores.items() if system in letters}
    ranks = {letters[system]: rank for system, rank in judgement.ranks.items() if system in letters}
    return Judgement(scores, ranks, judgement.cannot_judge, judgement.comment)
