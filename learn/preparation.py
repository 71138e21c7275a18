"""What a training of embedder or re-ranker begins with: found once, and kept in its folder for when it goes on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from argot.errors import InvalidInput
from argot.files import write_atomically
from argot.learn.pool_search import Found, as_json, embedder_in, from_json, search
from argot.learn.run_data import RunData
from argot.learn.run_folder import RunFolder
from argot.learn.run_process import Reporter
from argot.learn.training_loop import TrainingStopped

BEFORE = "before.json"


def found_before(
    run: RunFolder, data: RunData, embedder: Path, recipe: Mapping[str, Any], report: Reporter
) -> dict[str, Found]:
    """What the embedder finds for each question before anything is trained, from the folder if it was looked for.

    Raises:
        InvalidInput: pairs, model or recipe are others than those that this training was begun with.
    """
    begun_with = {"pairs": data.fingerprint, "model": weights_of(embedder), "recipe": {**recipe}}
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
    found = search(embedder_in(embedder), data, stoppable(report))
    write_atomically(run.path / BEFORE, json.dumps({"begun_with": begun_with, "found": as_json(found)}))
    return found


def stoppable(report: Reporter) -> Callable[[int, int], None]:
    """Tells how far a measurement is, and ends it where a stop was asked for."""

    def told(done: int, of: int) -> None:
        report.step(done, of)
        if report.stop_asked():
            raise TrainingStopped

    return told


def weights_of(folder: Path) -> str:
    """A fingerprint of the weights in a folder, below it too: of ONNX files where there are no others."""
    digest = hashlib.blake2b(digest_size=8)
    files = sorted(folder.rglob("*.safetensors")) or sorted(folder.rglob("*.onnx"))
    for file in files:
        with file.open("rb") as content:
            digest.update(hashlib.file_digest(content, "blake2b").digest())
    return digest.hexdigest()


def use_threads(threads: int) -> None:
    """Of torch; 0: as many as it takes by itself."""
    import torch

    if threads:
        torch.set_num_threads(threads)
