"""Tunes a re-ranker in the folder of a training, and measures what it makes of the embedder's first 10 and 50."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from argot.errors import InvalidInput
from argot.learn.batches import batches
from argot.learn.figures import MEASURED_PARTS, ranking_figures
from argot.learn.pool_search import FoundPassages
from argot.learn.preparation import found_before, stoppable, use_threads
from argot.learn.recipes import recipe_of
from argot.learn.reranker.reranker_recipe import RerankerRecipe
from argot.learn.run_data import RunData, run_data
from argot.learn.run_folder import RunFolder
from argot.learn.run_process import Reporter
from argot.learn.starting_model import is_embedder, starting_model
from argot.learn.training_card import tuning_card
from argot.protocols import Scorer
from argot.settings import Settings
from argot.tools.retrieval.scorer_choice import READER_SOURCE_MODEL, load_scorer

DEPTHS = (10, 50)
"""How many of the embedder's passages are put in order. *Trustworthy Answers* finds 10 best (table 3)."""


def train(run: RunFolder, report: Reporter) -> None:
    """From the request to model and card; goes on where it was.

    Raises:
        InvalidInput: recipe, pairs or model cannot be used.
        TrainingStopped: a stop was asked for.
        OSError: the folder cannot be written; the last checkpoint stays.
    """
    began = time.monotonic()
    request = run.request
    recipe = recipe_of(RerankerRecipe, request.recipe)
    use_threads(recipe.threads)
    data = run_data(run)
    base = starting_model(request.base, run.path.parent)
    begun = {**asdict(recipe), "seed": request.seed, "base": request.base}
    found = found_before(run, data, _embedder(base, recipe, run), begun, report)
    drawn = batches(data, found, recipe.drawing(request.seed))
    if recipe.form == "reader":
        from argot.learn.reranker.reader_tuning import tune_reader

        loop = tune_reader(base, drawn, recipe, run, report)
    else:
        from argot.learn.reranker.cross_encoder_training import tune_cross_encoder

        loop = tune_cross_encoder(base, drawn, recipe, run, report)
    scorers = {"before": _shipped(recipe.threads), "after": _scorer(run.model, recipe.threads)}
    measured = _figures(data, found, scorers, report)
    run.keep_card(
        {**tuning_card(run, data, recipe, began=began, figures=measured, steps=loop.step), "form": recipe.form}
    )


def _embedder(base: Path, recipe: RerankerRecipe, run: RunFolder) -> Path:
    """What finds the passages that are put in order, and the negatives among them.

    Raises:
        InvalidInput: the model that the recipe names embeds nothing, or the reader is to start from one that does not.
    """
    if recipe.form == "reader" and not is_embedder(base):
        raise InvalidInput(f"The reader starts from an embedding model, and {base} is none: it has no modules.json.")
    if recipe.embedder:
        folder = starting_model(recipe.embedder, run.path.parent)
        if not is_embedder(folder):
            raise InvalidInput(f"The recipe's 'embedder' is {recipe.embedder!r}, which is no embedding model.")
        return folder
    return base if is_embedder(base) else starting_model(READER_SOURCE_MODEL, run.path.parent)


def _shipped(threads: int) -> Scorer:
    return load_scorer(Settings(reranker="reader", threads=threads))


def _scorer(folder: Path, threads: int) -> Scorer:
    return load_scorer(Settings(reranker=str(folder), threads=threads))


def _figures(
    data: RunData, found: Mapping[str, FoundPassages], scorers: Mapping[str, Scorer], report: Reporter
) -> dict[str, Any]:
    """By depth, as `ranking_figures` has them: "embedder" is its own order, "before" that of the reader shipped."""
    scored = {name: _scored(name, data, found, scorer, report) for name, scorer in scorers.items()}
    told = {}
    for depth in DEPTHS:
        embedder = {pair: one.passages[:depth] for pair, one in found.items()}
        orders = {name: _ordered(scores, found, depth) for name, scores in scored.items()}
        told[f"top{depth}"] = ranking_figures(
            data, {"embedder": embedder, "before": orders["before"]}, {"after": orders["after"]}
        )
    return told


def _scored(
    name: str, data: RunData, found: Mapping[str, FoundPassages], scorer: Scorer, report: Reporter
) -> dict[str, Sequence[float]]:
    """By the id of each pair that is measured, a score for each passage found."""
    report.doing(f"measuring {name}")
    pairs = [pair for part in MEASURED_PARTS for pair in data.pairs[part]]
    told = stoppable(report)
    scores: dict[str, Sequence[float]] = {}
    for done, pair in enumerate(pairs, start=1):
        scores[pair.id] = scorer.score(pair.question, [data.pool[one] for one in found[pair.id].passages])
        told(done, len(pairs))
    return scores


def _ordered(
    scores: Mapping[str, Sequence[float]], found: Mapping[str, FoundPassages], depth: int
) -> dict[str, tuple[str, ...]]:
    ordered = {}
    for pair, of_pair in scores.items():
        passages = found[pair].passages[:depth]
        # Stable: what scores alike stays as the embedder has it.
        places = sorted(range(len(passages)), key=lambda place: -of_pair[place])
        ordered[pair] = tuple(passages[place] for place in places)
    return ordered
