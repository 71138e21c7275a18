"""The initial search of an embedder's or re-ranker's training: done once, and stored in its folder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from argot.errors import InvalidInput
from argot.files import write_atomically
from argot.learn.pool_search import FoundPassages, as_json, from_json, load_embedder, search_pool
from argot.learn.run_data import RunData
from argot.learn.run_folder import RunFolder
from argot.learn.run_process import Reporter
from argot.learn.training_loop import TrainingStopped

BEFORE = "before.json"


def search_before(
    run: RunFolder, data: RunData, embedder: Path, recipe: Mapping[str, Any], report: Reporter
) -> dict[str, FoundPassages]:
    """Search for each question before the training; a result in the folder is read instead.

    Raises:
        InvalidInput: pairs, model or recipe are others than those that this training was begun with.
    """
    begun_with = {"pairs": data.fingerprint, "model": compute_weights_fingerprint(embedder), "recipe": {**recipe}}
    if (run.path / BEFORE).is_file():
        kept = json.loads((run.path / BEFORE).read_text("utf-8"))
        changed = [name for name, value in begun_with.items() if kept["begun_with"][name] != value]
        if changed:
            raise InvalidInput(
                f"Changed since this training was begun: {', '.join(changed)}. It cannot go on from its checkpoint; "
                "begin a new training."
            )
        return from_json(kept["found"])
    report.doing("measuring before")
    found = search_pool(load_embedder(embedder), data, make_stoppable(report))
    write_atomically(run.path / BEFORE, json.dumps({"begun_with": begun_with, "found": as_json(found)}))
    return found


def make_stoppable(report: Reporter) -> Callable[[int, int], None]:
    """Return a function that reports how far a measurement is, and ends it where a stop was asked for."""

    def tell(done: int, of: int) -> None:
        report.step(done, of)
        if report.stop_asked():
            raise TrainingStopped

    return tell


def compute_weights_fingerprint(folder: Path) -> str:
    """Compute the fingerprint of the weights in a folder, below it too: of ONNX files where there are no others."""
    digest = hashlib.blake2b(digest_size=8)
    files = sorted(folder.rglob("*.safetensors")) or sorted(folder.rglob("*.onnx"))
    for file in files:
        with file.open("rb") as content:
            digest.update(hashlib.file_digest(content, "blake2b").digest())
    return digest.hexdigest()


def use_threads(threads: int) -> None:
    """Set the threads of torch; 0: its own default."""
    import torch

    if threads:
        torch.set_num_threads(threads)
