"""Pairs and passages of the tiny model's words, enough to train on."""

import random

from tiny_reader import WORDS

from argot.learn.training_pairs import PARTS, PoolPassage, TrainingPair, make_pair_id


def tiny_passages(count: int = 60) -> list[PoolPassage]:
    chance = random.Random(3)
    words = [word for word in WORDS.split() if word.isalpha()]
    return [PoolPassage(f"p{n}", " ".join(chance.sample(words, 12)) + " .", f"{n % 5}.md") for n in range(count)]


def tiny_pairs(passages: list[PoolPassage]) -> list[TrainingPair]:
    """Return one question for each passage, four of its words. Four of each six are for training."""
    pairs = []
    for place, passage in enumerate(passages):
        question = " ".join(passage.text.split()[:4]) + " ?"
        part = PARTS[0] if place % 6 < 4 else PARTS[place % 6 - 3]
        pairs.append(
            TrainingPair(
                make_pair_id(question, passage.id), question, passage.id, passage.text, passage.document, "h", part
            )
        )
    return pairs
