"""Tunes an embedder in the folder of a training, and measures it before and after over the whole pool."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from argot.errors import InvalidInput
from argot.learn.batches import draw_batches
from argot.learn.embedder.embedder_recipe import EmbedderRecipe
from argot.learn.embedder.embedder_training import build_embedder_loop
from argot.learn.figures import measure_rankings
from argot.learn.pool_search import FoundPassages, load_embedder, search_pool
from argot.learn.preparation import make_stoppable, search_before, use_threads
from argot.learn.recipes import build_recipe
from argot.learn.run_data import load_run_data
from argot.learn.run_folder import RunFolder
from argot.learn.run_process import Reporter
from argot.learn.starting_model import find_starting_model, is_embedder
from argot.learn.training_card import build_tuning_card, publish_model

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from torch import Tensor


def train(run: RunFolder, report: Reporter) -> None:
    """Train from the request to model and card; an interrupted training resumes.

    Raises:
        InvalidInput: recipe, pairs or model cannot be used.
        TrainingStopped: a stop was asked for.
        OSError: the folder cannot be written; the last checkpoint stays.
    """
    began = time.monotonic()
    request = run.request
    recipe = build_recipe(EmbedderRecipe, request.recipe)
    use_threads(recipe.threads)
    data = load_run_data(run)
    base = find_starting_model(request.base, run.path.parent)
    if not is_embedder(base):
        raise InvalidInput(f"{base} is no embedding model: it has no modules.json, as sentence-transformers writes it.")
    found = search_before(run, data, base, {**asdict(recipe), "seed": request.seed}, report)
    model = load_embedder(base)
    loop = build_embedder_loop(
        model, draw_batches(data, found, recipe.drawing(request.seed)), recipe, request.seed, run.path
    )
    loop.resume()
    report.doing("training")
    model.train()
    loop.run(report.step, report.stop_asked)
    report.doing("writing the model")
    write_embedder(model.eval(), base, recipe.kept, run.model)
    report.doing("measuring after")
    after = search_pool(load_embedder(run.model), data, make_stoppable(report))
    measured = measure_rankings(data, {"before": _select_rankings(found)}, {"after": _select_rankings(after)})
    run.keep_card(build_tuning_card(run, data, recipe, began=began, figures=measured, steps=loop.step))


def write_embedder(model: SentenceTransformer, base: Path, kept: float, target: Path) -> None:
    """Write a folder of sentence-transformers, weights in safetensors; whole or not at all."""
    if kept:
        model.load_state_dict(mix_weights(load_embedder(base).state_dict(), model.state_dict(), kept))
    draft = target.with_name(f".{target.name}-draft")
    shutil.rmtree(draft, ignore_errors=True)
    model.save_pretrained(str(draft), create_model_card=False, safe_serialization=True)
    publish_model(draft, target)


def mix_weights(start: Mapping[str, Tensor], trained: Mapping[str, Tensor], kept: float) -> dict[str, Tensor]:
    """Mix each weight: the share `kept` of the starting value and the rest of the trained one."""
    return {
        name: kept * start[name] + (1 - kept) * value if value.is_floating_point() else value
        for name, value in trained.items()
    }


def _select_rankings(found: Mapping[str, FoundPassages]) -> dict[str, tuple[str, ...]]:
    return {pair: one.passages for pair, one in found.items()}
