"""Copies of trained models that a knowledge base has adopted."""

from __future__ import annotations

import shutil
from pathlib import Path

from argot.learn.run_folder import RunFolder
from argot.service.storage.adopted_models import MODELS


def name_adopted_folder(run: RunFolder) -> str:
    """Name the folder of an adopted model. The weights are part of the name, since a restored base may reuse a run's
    number.
    """
    return f"{run.id}-{run.card.get('fingerprint', '')}"


def put_model(home: Path, run: RunFolder) -> str:
    """Copy a run's model to where adopted ones lie, whole or not at all; return the name of its folder."""
    name = name_adopted_folder(run)
    target, draft = home / MODELS / name, home / MODELS / f".{name}.draft"
    if not target.exists():
        shutil.rmtree(draft, ignore_errors=True)
        draft.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            shutil.copytree(run.model, draft)
            draft.rename(target)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    return name
