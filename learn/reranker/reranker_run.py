"""Tunes a re-ranker in the folder of a training, and measures its ranking of the embedder's first 10 and 50."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from argot.errors import InvalidInput
from argot.learn.batches import draw_batches
from argot.learn.figures import MEASURED_PARTS, measure_rankings
from argot.learn.pool_search import FoundPassages
from argot.learn.preparation import make_stoppable, search_before, use_threads
from argot.learn.recipes import build_recipe
from argot.learn.reranker.reranker_recipe import RerankerRecipe
from argot.learn.run_data import RunData, load_run_data
from argot.learn.run_folder import RunFolder
from argot.learn.run_process import Reporter
from argot.learn.starting_model import find_starting_model, is_embedder
from argot.learn.training_card import build_tuning_card
from argot.protocols import Scorer
from argot.settings import Settings
from argot.tools.retrieval.scorer_choice import READER_SOURCE_MODEL, load_scorer

DEPTHS = (10, 50)
"""How many of the embedder's passages are ranked. *Trustworthy Answers* finds 10 best (table 3)."""


def train(run: RunFolder, report: Reporter) -> None:
    """Train from the request to model and card; an interrupted training resumes.

    Raises:
        InvalidInput: recipe, pairs or model cannot be used.
        TrainingStopped: a stop was asked for.
        OSError: the folder cannot be written; the last checkpoint stays.
    """
    began = time.monotonic()
    request = run.request
    recipe = build_recipe(RerankerRecipe, request.recipe)
    use_threads(recipe.threads)
    data = load_run_data(run)
    base = find_starting_model(request.base, run.path.parent)
    begun = {**asdict(recipe), "seed": request.seed, "base": request.base}
    found = search_before(run, data, _find_embedder(base, recipe, run), begun, report)
    drawn = draw_batches(data, found, recipe.drawing(request.seed))
    if recipe.form == "reader":
        from argot.learn.reranker.reader_tuning import tune_reader

        loop = tune_reader(base, drawn, recipe, run, report)
    else:
        from argot.learn.reranker.cross_encoder_training import tune_cross_encoder

        loop = tune_cross_encoder(base, drawn, recipe, run, report, (data, found))
    scorers = {"before": _load_shipped(recipe.threads), "after": _load_trained(run.model, recipe.threads)}
    measured = _measure_figures(data, found, scorers, report)
    card = build_tuning_card(run, data, recipe, began=began, figures=measured, steps=loop.step)
    kept = {} if loop.best_step is None else {"best_step": loop.best_step}
    run.keep_card({**card, "form": recipe.form, **kept})


def _find_embedder(base: Path, recipe: RerankerRecipe, run: RunFolder) -> Path:
    """Find the embedder that finds the passages to order, and the negatives among them.

    Raises:
        InvalidInput: the model that the recipe names embeds nothing, or the reader is to start from one that does not.
    """
    if recipe.form == "reader" and not is_embedder(base):
        raise InvalidInput(f"The reader starts from an embedding model, and {base} is none: it has no modules.json.")
    if recipe.embedder:
        folder = find_starting_model(recipe.embedder, run.path.parent)
        if not is_embedder(folder):
            raise InvalidInput(f"The recipe's 'embedder' is {recipe.embedder!r}, which is no embedding model.")
        return folder
    return base if is_embedder(base) else find_starting_model(READER_SOURCE_MODEL, run.path.parent)


def _load_shipped(threads: int) -> Scorer:
    return load_scorer(Settings(reranker="reader", threads=threads))


def _load_trained(folder: Path, threads: int) -> Scorer:
    return load_scorer(Settings(reranker=str(folder), threads=threads))


def _measure_figures(
    data: RunData, found: Mapping[str, FoundPassages], scorers: Mapping[str, Scorer], report: Reporter
) -> dict[str, Any]:
    """Measure each depth: "embedder" is its own order, "before" that of the shipped reader."""
    scored = {name: _score_pairs(name, data, found, scorer, report) for name, scorer in scorers.items()}
    figures = {}
    for depth in DEPTHS:
        embedder = {pair: one.passages[:depth] for pair, one in found.items()}
        orders = {name: _order_passages(scores, found, depth) for name, scores in scored.items()}
        figures[f"top{depth}"] = measure_rankings(
            data, {"embedder": embedder, "before": orders["before"]}, {"after": orders["after"]}
        )
    return figures


def _score_pairs(
    name: str, data: RunData, found: Mapping[str, FoundPassages], scorer: Scorer, report: Reporter
) -> dict[str, Sequence[float]]:
    """Score each found passage of the measured pairs; results by the pair's id."""
    report.doing(f"measuring {name}")
    pairs = [pair for part in MEASURED_PARTS for pair in data.pairs[part]]
    on_progress = make_stoppable(report)
    scores: dict[str, Sequence[float]] = {}
    for done, pair in enumerate(pairs, start=1):
        scores[pair.id] = scorer.score(pair.question, [data.pool[one] for one in found[pair.id].passages])
        on_progress(done, len(pairs))
    return scores


def _order_passages(
    scores: Mapping[str, Sequence[float]], found: Mapping[str, FoundPassages], depth: int
) -> dict[str, tuple[str, ...]]:
    ordered = {}
    for pair, of_pair in scores.items():
        passages = found[pair].passages[:depth]
        # Stable: equal scores keep the embedder's order.
        places = sorted(range(len(passages)), key=lambda place: -of_pair[place])
        ordered[pair] = tuple(passages[place] for place in places)
    return ordered
