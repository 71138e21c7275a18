"""The card of a finished training of embedder or re-ranker: its data, its recipe and its figures."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from argot.learn.figures import measure_peak_megabytes
from argot.learn.preparation import compute_weights_fingerprint
from argot.learn.recipes import TuningRecipe
from argot.learn.run_data import RunData
from argot.learn.run_folder import RunFolder


def build_tuning_card(
    run: RunFolder, data: RunData, recipe: TuningRecipe, *, began: float, figures: Mapping[str, Any], steps: int
) -> dict[str, Any]:
    """Build the card of a tuned model.

    Args:
        began: of this process, by `time.monotonic`.
        figures: the measurements, before and after.
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
        "peak_megabytes": measure_peak_megabytes(),
        "fingerprint": compute_weights_fingerprint(run.model),
        "figures": dict(figures),
    }


def publish_model(draft: Path, target: Path) -> None:
    """Put a completely written model in its place, instead of one that may lie there."""
    import shutil

    if target.exists():
        shutil.rmtree(target)
    draft.rename(target)
