"""The stage at which the passage that answers is lost: rank in each search list, fused, by words, and read.

    python bench/stages.py SET [SET ...] [--split validation] [--kb FOLDER] [--lost 10]

A SET is a folder with questions.jsonl (as `argot evaluate answers` reads it) and a folder documents. With --kb the
knowledge bases are kept in that folder, by the set's name. Prints the share of questions with a gold passage among the
first passages of each list. For each question without one among the first --lost passages that were read, it prints
the rank of the best in every list; "-": not found. Questions are searched as they are, without a model or a glossary.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from argot.evaluate.answer_questions import AnswerQuestion, build_answer_set
from argot.evaluate.gold_passages import GoldFinder
from argot.evaluate.temporary_base import EVALUATOR, TemporaryBase
from argot.profile import Profile
from argot.settings import load_settings
from argot.tools.retrieval.hybrid_search import WeightedQuery, hybrid_search
from argot.tools.retrieval.reranker import READ_PASSAGES, READ_PASSAGES_FOR_MODEL, LexicalScorer, rerank
from argot.tools.retrieval.scorer_choice import choose_scorer
from argot.types import Hit

DEPTHS = (1, 3, 5, 10, 15, 30, 50)
LISTS = ("keyword", "semantic", "fused", "words", "read", "read for a model")
NOWHERE = 10_000  # rank of a passage that a list does not have


@dataclass(frozen=True)
class Ranked:
    """The best rank of a gold passage in each list."""

    name: str
    question: AnswerQuestion
    ranks: dict[str, int]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sets", nargs="+", type=Path)
    parser.add_argument("--split")
    parser.add_argument("--kb", type=Path)
    parser.add_argument("--lost", type=int, default=10)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = given.kb or Path(folder)
        found = [one for path in given.sets for one in rank_set(path, home / path.name, given.split)]
    print(f"{len(found)} questions; gold passage among the first " + " / ".join(map(str, DEPTHS)))
    for name in LISTS:
        ranks = [one.ranks[name] for one in found]
        print(f"{name:>17}: " + " ".join(f"{sum(r <= d for r in ranks) / max(1, len(ranks)):.3f}" for d in DEPTHS))
    for one in found:
        if one.ranks["read"] > given.lost:
            shown = " ".join(f"{name} {'-' if rank == NOWHERE else rank}" for name, rank in one.ranks.items())
            print(f"{one.name} {one.question.id}: {shown} | {one.question.question}")


def rank_set(folder: Path, home: Path, split: str | None) -> Iterator[Ranked]:
    """Yield the ranks for each answerable question of a set that is no follow-up."""
    given = build_answer_set(folder / "questions.jsonl", folder / "documents", split)
    settings, is_new = load_settings(), not home.exists()
    scorer, profile = choose_scorer(settings), Profile()
    with TemporaryBase(home, settings) as base:
        if is_new:
            base.add(given.sources, lambda *_: None)
        finder = GoldFinder(base, base.corpus.store.documents(EVALUATOR))
        for question in given.questions:
            if not question.is_answerable or question.earlier:
                continue
            gold = finder.find_passages(question)
            query = [WeightedQuery(question.question)]
            hits = hybrid_search(base.corpus, EVALUATOR, query, profile)
            orders = {
                "fused": hits,
                "words": rerank(query, hits, LexicalScorer(), profile),
                "read": rerank(query, hits, scorer, profile, READ_PASSAGES),
                "read for a model": rerank(query, hits, scorer, profile, READ_PASSAGES_FOR_MODEL),
            }
            lists = {name: find_list_rank(hits, gold, name) for name in ("keyword", "semantic")}
            yield Ranked(
                folder.name, question, lists | {name: find_rank(order, gold) for name, order in orders.items()}
            )


def find_list_rank(hits: Iterable[Hit], gold: frozenset[str], name: str) -> int:
    return min((hit.found_by.get(name, NOWHERE) for hit in hits if hit.passage.id in gold), default=NOWHERE)


def find_rank(hits: Sequence[Hit], gold: frozenset[str]) -> int:
    return next((rank for rank, hit in enumerate(hits, start=1) if hit.passage.id in gold), NOWHERE)


if __name__ == "__main__":
    main()
