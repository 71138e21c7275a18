"""The card of a finished training of embedder or re-ranker: what it learnt from, how, and what came of it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from argot.learn.figures import peak_megabytes
from argot.learn.preparation import weights_of
from argot.learn.recipes import Recipe
from argot.learn.run_data import RunData
from argot.learn.run_folder import RunFolder


def card_of(
    run: RunFolder, data: RunData, recipe: Recipe, *, began: float, figures: Mapping[str, Any], steps: int
) -> dict[str, Any]:
    """
    Args:
        began: of this process, by `time.monotonic`.
        figures: what was measured, before and after.
    """
    request = run.request
    return {
        "kind": request.kind,
        "name": request.name,
        "base": request.base,
        "data": request.data,
        **data.counts(),
        "data_fingerprint": data.fingerprint,
        "recipe": asdict(recipe),
        "seed": request.seed,
        "steps": steps,
        "seconds": round(time.monotonic() - began, 1),
        "peak_megabytes": peak_megabytes(),
        "fingerprint": weights_of(run.model),
        "figures": dict(figures),
    }


def published(draft: Path, target: Path) -> None:
    """Put a model that was written whole in its place, instead of one that may lie there."""
    import shutil

    if target.exists():
        shutil.rmtree(target)
    draft.rename(target)
