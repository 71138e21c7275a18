"""Tunes an embedder in the folder of a training, and measures it before and after over the whole pool."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from argot.errors import InvalidInput
from argot.learn.batches import batches
from argot.learn.embedder.embedder_recipe import EmbedderRecipe
from argot.learn.embedder.embedder_training import embedder_loop
from argot.learn.figures import ranking_figures
from argot.learn.pool_search import FoundPassages, embedder_in, search_pool
from argot.learn.preparation import found_before, stoppable, use_threads
from argot.learn.recipes import recipe_of
from argot.learn.run_data import run_data
from argot.learn.run_folder import RunFolder
from argot.learn.run_process import Reporter
from argot.learn.starting_model import is_embedder, starting_model
from argot.learn.training_card import published, tuning_card

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from torch import Tensor


def train(run: RunFolder, report: Reporter) -> None:
    """From the request to model and card; goes on where it was.

    Raises:
        InvalidInput: recipe, pairs or model cannot be used.
        TrainingStopped: a stop was asked for.
        OSError: the folder cannot be written; the last checkpoint stays.
    """
    began = time.monotonic()
    request = run.request
    recipe = recipe_of(EmbedderRecipe, request.recipe)
    use_threads(recipe.threads)
    data = run_data(run)
    base = starting_model(request.base, run.path.parent)
    if not is_embedder(base):
        raise InvalidInput(f"{base} is no embedding model: it has no modules.json, as sentence-transformers writes it.")
    found = found_before(run, data, base, {**asdict(recipe), "seed": request.seed}, report)
    model = embedder_in(base)
    loop = embedder_loop(model, batches(data, found, recipe.drawing(request.seed)), recipe, request.seed, run.path)
    loop.resume()
    report.doing("training")
    model.train()
    loop.run(report.step, report.stop_asked)
    report.doing("writing the model")
    write_embedder(model.eval(), base, recipe.kept, run.model)
    report.doing("measuring after")
    after = search_pool(embedder_in(run.model), data, stoppable(report))
    measured = ranking_figures(data, {"before": _ranked(found)}, {"after": _ranked(after)})
    run.keep_card(tuning_card(run, data, recipe, began=began, figures=measured, steps=loop.step))


def write_embedder(model: SentenceTransformer, base: Path, kept: float, target: Path) -> None:
    """As a folder of sentence-transformers, weights in safetensors; whole or not at all."""
    if kept:
        model.load_state_dict(mixed(embedder_in(base).state_dict(), model.state_dict(), kept))
    draft = target.with_name(f".{target.name}-draft")
    shutil.rmtree(draft, ignore_errors=True)
    model.save_pretrained(str(draft), create_model_card=False, safe_serialization=True)
    published(draft, target)


def mixed(start: Mapping[str, Tensor], trained: Mapping[str, Tensor], kept: float) -> dict[str, Tensor]:
    """Of each weight `kept` parts as it was and the rest as trained."""
    return {
        name: kept * start[name] + (1 - kept) * value if value.is_floating_point() else value
        for name, value in trained.items()
    }


def _ranked(found: Mapping[str, FoundPassages]) -> dict[str, tuple[str, ...]]:
    return {pair: one.passages for pair, one in found.items()}
