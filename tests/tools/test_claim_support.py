"""The probability that a passage supports a claim: words, objections, and likeness."""

from __future__ import annotations

import pytest

from argot.protocols import Scorer
from argot.settings import Settings
from argot.tools.retrieval.claim_support import score_claim
from argot.tools.retrieval.reranker import LexicalScorer
from argot.tools.retrieval.scorer_choice import choose_scorer

PASSAGES = [
    "The rehearsal takes place twice a year, in spring and autumn; a failed one is repeated within six weeks.",
    "The canteen opens at noon. Lunch is paid by badge, and the menu hangs at the door.",
]


@pytest.mark.parametrize("scorer", [choose_scorer(Settings(threads=1)), LexicalScorer()], ids=["reader", "words"])
def test_a_supporting_passage_scores_higher_than_one_with_another_number(scorer: Scorer) -> None:
    said = "A rehearsal that fails is repeated within six weeks."
    right, wrong = score_claim(said, PASSAGES, scorer)
    assert 1 > right > 0.5 > wrong > 0
    assert score_claim(said.replace("six", "nine"), PASSAGES[:1], scorer)[0] < right
    assert score_claim(said, [], scorer) == []


def test_a_paraphrase_scores_higher_than_an_unfounded_claim() -> None:
    scorer = choose_scorer(Settings(threads=1))
    same = score_claim("One that fails has to be done again after at most six weeks.", PASSAGES[:1], scorer)[0]
    nowhere = score_claim("The head of the department received an award for this in spring.", PASSAGES[:1], scorer)[0]
    assert same > 0.25 > nowhere
