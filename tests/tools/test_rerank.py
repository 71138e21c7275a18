from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from argot.profile import Profile
from argot.protocols import Scorer
from argot.tools.retrieval.hybrid_search import WeightedQuery
from argot.tools.retrieval.reranker import (
    LIKELIEST_SENTENCES,
    LexicalScorer,
    has_near_sentence,
    measure_evidence,
    rerank,
)
from argot.tools.text.words import find_identifiers
from argot.types import Document, Hit, Passage

TEXTS = [
    "Duty cycle correction trims the strobe. The training takes 6 microseconds.",
    "The canteen is open at noon. Lunch is paid by badge.",
    "A strobe is a signal. The training of new colleagues takes a week; correction of duty lists is on Monday.",
]


def hits(texts: list[str], scores: list[float] | None = None) -> list[Hit]:
    document = Document("d", "file:///d.md", "D", "text/markdown", "r", "h", "2026-01-01")
    return [
        Hit(Passage(f"p{n}", "d", "r", n, 0, len(text), text, "D"), document, (scores or [0.5] * len(texts))[n])
        for n, text in enumerate(texts)
    ]


def test_the_lexical_scorer_prefers_words_together_in_order() -> None:
    scorer = LexicalScorer()
    assert isinstance(scorer, Scorer)
    scores = scorer.score("How long does the training of duty cycle correction take?", TEXTS)
    assert scores[0] == max(scores) and scores[1] == min(scores) == 0
    assert all(0 <= score <= 1 for score in scores)


def test_the_lexical_scorer_handles_any_query_and_text() -> None:
    scorer = LexicalScorer()
    assert scorer.score("the of and", TEXTS) == [0, 0, 0]
    assert scorer.score("🙂", ["", "🙂 | * ["]) == [0, 0] or scorer.score("🙂", ["", "x"]) == [0, 0]
    assert scorer.score("duty", []) == []


def test_identifiers_are_matched_whole() -> None:
    scorer = LexicalScorer()
    right, wrong = scorer.score("limit of NX-4410B", ["The limit of NX-4410B is 3.", "The limit of NX-3320A is 4410."])
    assert right > wrong


def test_words_in_capitals_are_identifiers_in_mixed_case_text() -> None:
    assert find_identifiers("What does the ODT of NX-4410B do?") == {"odt", "nx-4410b"}
    assert find_identifiers("| IT | ODT |") == {"it", "odt"}
    assert find_identifiers("WHAT DOES THE ODT OF NX-4410B DO?") == {"nx-4410b"}
    assert find_identifiers("HOW LONG IS THE on-die termination ON?") == set()


def test_reranking_combines_both_scores() -> None:
    found = hits(TEXTS, [0.1, 0.9, 0.2])
    query = [WeightedQuery("duty cycle correction training")]
    assert rerank(query, found, LexicalScorer(), Profile(rerank_weight=1))[0].passage.id == "p0"
    assert rerank(query, found, LexicalScorer(), Profile(rerank_weight=0))[0].passage.id == "p1"
    assert rerank(query, [], LexicalScorer(), Profile()) == []


def test_evidence_is_strong_only_for_an_answerable_question() -> None:
    scorer = LexicalScorer()
    there = "How long does duty cycle correction training take?"
    absent = "Which company makes the forklift batteries?"
    ranked = {query: rerank([WeightedQuery(query)], hits(TEXTS), scorer, Profile()) for query in (there, absent)}
    assert measure_evidence(there, ranked[there], scorer) > 0.5
    assert measure_evidence(absent, ranked[absent], scorer) < Profile().abstain_below
    assert measure_evidence(there, [], scorer) == 0


class OneWordEmbedder:
    """An embedder for which texts with a word are all alike, and unlike those without it."""

    cosine_gain = 1.0

    def __init__(self, word: str) -> None:
        self.word = word
        self.asked: list[str] = []

    def embed_queries(self, texts: Sequence[str]) -> Any:
        self.asked += texts
        return np.array([[1.0, 0.0] if self.word in text else [0.0, 1.0] for text in texts], dtype=np.float32)


def test_weak_evidence_is_rechecked_with_the_likeliest_sentences_first() -> None:
    others = " ".join(f"Room {n} is free." for n in range(LIKELIEST_SENTENCES + 3))
    passages = hits([f"{others} The strobe needs training."])
    question = "When is strobe training due?"
    likely = OneWordEmbedder("strobe")
    assert has_near_sentence(question, passages, likely, 0.6)  # type: ignore[arg-type]
    assert len(likely.asked) == 1 + LIKELIEST_SENTENCES
    none = OneWordEmbedder("When")
    assert not has_near_sentence(question, passages, none, 0.6)  # type: ignore[arg-type]
    assert len(set(none.asked)) == 1 + LIKELIEST_SENTENCES + 4
    assert not has_near_sentence(question, [], none, 0.6)  # type: ignore[arg-type]
