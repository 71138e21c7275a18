"""The support of claims by passages: AUROC on AttributionBench. Run: ARGOT_DATASETS=DIR python bench/attribution.py

728 claims with references, supported or not (`attribution/dev_all_subset_balanced.jsonl`). References are split into
passages as documents are. The probability of a claim is that by its most supportive passage
(`tools.retrieval.claim_support`). A hash of the question splits the set in two. Weights are chosen on the validation
half (`--fit` prints them); the test half is only for reporting. Intervals are paired, by bootstrap over claims.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from argot.corpus.readers import ReadLimits, read_document
from argot.evaluate.answer_measures import compute_auroc
from argot.measures import Positions, bootstrap
from argot.settings import Settings
from argot.tools.answering.citations import join_source_text
from argot.tools.retrieval.claim_support import BY_WORDS, WITH_READER, Weights, measure_claim_features
from argot.tools.retrieval.scorer_choice import load_scorer

sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))
from cutting import cut_passages

FILE = Path("attribution") / "dev_all_subset_balanced.jsonl"
Numbers = np.ndarray[Any, Any]
WORDS, ALIKE = "words and objections", "words, objections and likeness"
CITED = "words, 0 where something objects (what is cited unasked)"
FOLDS, PENALTY, ROUNDS, DRAWS = 5, 3.0, 4, 2_000


@dataclass(frozen=True)
class Claim:
    """A claim. `features`: those of each passage, by `measure_claim_features`."""

    question: str
    supported: bool
    features: Any

    @property
    def hash(self) -> int:
        """A stable hash of the question. Questions with an odd one are in the test half."""
        return int.from_bytes(hashlib.sha256(self.question.encode()).digest()[:8], "big")


def load_claims(path: Path, settings: Settings) -> list[Claim]:
    scorer, limits, found = load_scorer(settings), ReadLimits.from_settings(settings), []
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        texts: list[str] = []
        for reference in row["references"]:
            document = read_document(reference.encode(), "reference.txt", limits)
            cuts = cut_passages(document, document_id="d", revision_id="r", max_chars=settings.reading.passage_chars)
            texts += map(join_source_text, cuts)
        found.append(Claim(row["question"], row["supported"], measure_claim_features(row["claim"], texts, scorer)))
    return found


def compute_chances(claims: list[Claim], weights: Weights) -> Numbers:
    """Return the probability of each claim by its most supportive passage, as logits, which have the same order."""
    return np.array([max(one.features @ np.array(weights[:3]) + weights.bias) for one in claims])


def score_unopposed_words(claims: list[Claim]) -> Numbers:
    """Score claims as reference matching does: the share of words in common, 0 where an objection is found."""
    return np.array([max(one.features[:, 0] * (1 - one.features[:, 1])) for one in claims])


def fit_weights(claims: list[Claim], used: tuple[int, ...]) -> Weights:
    """Fit a logistic regression on the most supportive passage of each claim, chosen again after each round."""
    places = [int(np.argmax(one.features[:, 0])) for one in claims]
    supported = np.array([one.supported for one in claims], float)
    weights = np.zeros(4)
    for _ in range(ROUNDS):
        rows = np.array([one.features[place] for one, place in zip(claims, places, strict=True)])
        weights = _fit_regression(rows, supported, used)
        places = [int(np.argmax(one.features @ weights[:3])) for one in claims]
    return Weights(*map(float, weights))


def _fit_regression(rows: Numbers, supported: Numbers, used: tuple[int, ...]) -> Numbers:
    mean, spread = rows.mean(0), rows.std(0) + 1e-9
    data = np.column_stack([((rows - mean) / spread)[:, used], np.ones(len(rows))])
    penalty = np.diag([PENALTY] * len(used) + [0.0])
    found = np.zeros(len(used) + 1)
    for _ in range(30):  # Newton's steps
        chance = 1 / (1 + np.exp(-data @ found))
        slope = data.T @ (chance - supported) + penalty @ found
        found -= np.linalg.solve((data * (chance * (1 - chance))[:, None]).T @ data + penalty, slope)
    weights = np.zeros(4)
    weights[list(used)] = found[:-1] / spread[list(used)]
    weights[3] = found[-1] - weights[:3] @ mean
    return weights


def judge_across_folds(claims: list[Claim], used: tuple[int, ...]) -> Numbers:
    """Judge each fifth of the questions by weights fitted on the others."""
    folds = np.array([one.hash // 2 % FOLDS for one in claims])
    judged = np.zeros(len(claims))
    for fold in range(FOLDS):
        weights = fit_weights([one for one, at in zip(claims, folds, strict=True) if at != fold], used)
        judged[folds == fold] = compute_chances(claims, weights)[folds == fold]
    return judged


def report(name: str, claims: list[Claim], judged: dict[str, Numbers]) -> None:
    truth = np.array([one.supported for one in claims])
    print(f"\n{name}: {len(claims)} claims, {truth.mean():.1%} supported")
    base = next(iter(judged.values()))
    for what, scores in judged.items():

        def compute_gain(drawn: Positions, scores: Numbers = scores) -> float:
            return _compute_area(scores[drawn], truth[drawn]) - _compute_area(base[drawn], truth[drawn])

        low, high = bootstrap(compute_gain, range(len(claims)), rounds=DRAWS) or (0.0, 0.0)
        everything = compute_gain(np.arange(len(claims)))
        print(f"  {what:58}{_compute_area(scores, truth):.3f}  {everything:+.3f} ({low:+.3f} to {high:+.3f})")


def _compute_area(scores: Numbers, truth: Numbers) -> float:
    return compute_auroc(list(scores), list(truth)) or 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", type=Path, default=os.environ.get("ARGOT_DATASETS"), help="or ARGOT_DATASETS")
    parser.add_argument("--fit", action="store_true", help="fit weights on the validation half, and print them")
    arguments = parser.parse_args()
    if arguments.datasets is None:
        parser.error("name the folder of the data sets with --datasets or ARGOT_DATASETS")
    found = load_claims(arguments.datasets / FILE, Settings(reranker="reader"))
    halves = [[one for one in found if one.hash % 2 == odd] for odd in (0, 1)]
    for name, claims in zip(("validation half", "test half", "both"), (*halves, found), strict=True):
        by = {
            WORDS: compute_chances(claims, BY_WORDS),
            ALIKE: compute_chances(claims, WITH_READER),
            CITED: score_unopposed_words(claims),
        }
        report(name, claims, by)
    if arguments.fit:
        apart = {WORDS: judge_across_folds(halves[0], (0, 1)), ALIKE: judge_across_folds(halves[0], (0, 1, 2))}
        report("validation half, each fifth by weights fitted on the others", halves[0], apart)
        print(fit_weights(halves[0], (0, 1)), fit_weights(halves[0], (0, 1, 2)), sep="\n")


if __name__ == "__main__":
    main()
