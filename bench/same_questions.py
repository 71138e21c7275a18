"""Wordings that are taken for the same question, to give a verified answer. Run: python bench/same_questions.py

`same_questions.jsonl` holds questions, each with a rewording that differs in form alone, one in other words, and one
that asks something else, all written by hand. With `ARGOT_DATASETS` the validation questions of `lay_train` are
compared with each other (no two ask the same of one organisation), and with themselves after one change of a number,
unit, word into its opposite, negation or name, or with a clause added. `MIN_LIKENESS` was chosen on these figures. A
row shows the rules of `tools.reading.same_questions`, and beside them what an embedder would do alone at several
thresholds.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path

import numpy as np

from argot.corpus.embedding.embedder import load_embedder
from argot.evaluate.altered_statements import alter_sentence
from argot.settings import Settings
from argot.tools.reading.same_questions import MIN_LIKENESS, make_plain_key, make_question_key

HERE = Path(__file__).parent
COSINES = (0.8, 0.9, 0.95)
Pair = tuple[str, str]


def read_written() -> dict[str, list[Pair]]:
    lines = (HERE / "same_questions.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return {
        f"{name}, by hand": [(row["question"], row[kind]) for row in rows]
        for name, kind in (("same, another form", "form"), ("same, other words", "free"), ("different", "other"))
    }


def read_validation(folder: Path) -> dict[str, list[Pair]]:
    sets = [
        [
            row["question"]
            for row in map(json.loads, path.read_text("utf-8").splitlines())
            if row["split"] == "validation"
        ]
        for path in sorted(folder.glob("*/questions.jsonl"))
    ]
    questions = [question for asked in sets for question in asked]
    return {
        "different, of one organisation": [pair for asked in sets for pair in combinations(asked, 2)],
        "different, changed at one place": list(_alter_questions(questions)),
    }


def _alter_questions(questions: list[str]) -> Iterator[Pair]:
    for place, question in enumerate(questions):
        body = question.rstrip("? ")
        # Sentences of statements: their full stop becomes a question mark again.
        altered = (text.rstrip(".?") for _, text in alter_sentence(f"{body}.", place))
        yield from ((question, f"{text}?") for text in dict.fromkeys(altered) if text != body)


def is_taken(pair: Pair, likeness: float) -> bool:
    """Return whether the rules take both for the same question."""
    one, other = pair
    if make_plain_key(one) == make_plain_key(other):
        return True
    key = make_question_key(one)
    return bool(key) and key == make_question_key(other) and likeness >= MIN_LIKENESS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="print the pairs that the rules get wrong")
    given = parser.parse_args()
    sets, datasets = read_written(), os.environ.get("ARGOT_DATASETS")
    if datasets:
        sets |= read_validation(Path(datasets) / "lay_train")
    embed = load_embedder(Settings()).embed_queries
    print("| pairs | | the rules |", " | ".join(f"cosine {least}" for least in COSINES), "|")
    for name, pairs in sets.items():
        likeness = measure_likeness(pairs, embed)
        taken = [is_taken(pair, found) for pair, found in zip(pairs, likeness, strict=True)]
        alone = [int((likeness >= least).sum()) for least in COSINES]
        print(f"| {name} | {len(pairs):,} | {sum(taken):,} | {' | '.join(f'{one:,}' for one in alone)} |")
        for pair, same, found in zip(pairs, taken, likeness, strict=True):
            if given.list and same != name.startswith("same"):
                print(f"  {found:.2f}  {pair[0]}  |  {pair[1]}")


def measure_likeness(pairs: list[Pair], embed: Callable[[list[str]], np.ndarray]) -> np.ndarray:
    """Return the cosine of each pair."""
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    vectors = dict(zip(texts, np.asarray(embed(texts)), strict=True))
    return np.array([float(vectors[one] @ vectors[other]) for one, other in pairs])


if __name__ == "__main__":
    main()
