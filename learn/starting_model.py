"""The starting model of a training: an installed package, a folder, or another training's model."""

from __future__ import annotations

from pathlib import Path

from argot.corpus.embedding.exported_models import find_model_folder
from argot.errors import InvalidInput, InvalidSettings
from argot.learn.run_folder import RunFolder, is_run

PICKLES = (".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt")
"""Suffixes of files that run programs when they are read."""


def find_starting_model(base: str, runs: Path) -> Path:
    """Find the folder of the model that `base` names: the id of a training below `runs`, a folder, or a package.

    Raises:
        InvalidInput: there is no such model, it isn't done, or its weights are not safetensors.
    """
    folder = _find_run_model(base, runs) or parse_folder(base)
    if not folder.is_dir():
        try:
            folder = find_model_folder(base)
        except InvalidSettings as error:
            raise InvalidInput(
                f"There is no model '{base}' to start from: neither an installed package, nor a folder, nor a training."
            ) from error
    require_safetensors(folder)
    return folder.resolve()


def parse_folder(name: str) -> Path:
    """Return the path that a person gave.

    Raises:
        InvalidInput: no folder can have this name.
    """
    try:
        folder = Path(name).expanduser()
        folder.is_dir()
    except (OSError, RuntimeError, ValueError) as error:  # too long, or of a user who does not exist here
        raise InvalidInput(f"'{name:.80}' cannot be the name of a folder: {error}."[:300]) from error
    return folder


def _find_run_model(base: str, runs: Path) -> Path | None:
    if not is_run(runs, base):
        return None
    run = RunFolder.find(runs, base)
    if run.state.status != "done":
        raise InvalidInput(f"Training '{base}' is {run.state.status}: its model can be started from once it is done.")
    return run.model


def require_safetensors(folder: Path) -> None:
    """Check that a folder has a model in safetensors files.

    Raises:
        InvalidInput: the folder contains no model, or weights that would run code when they are read.
    """
    if any(folder.glob("*.safetensors")) or any(folder.glob("0_*/*.safetensors")):
        return
    if any(one.suffix in PICKLES for one in folder.glob("*")):
        raise InvalidInput(
            f"The weights in {folder} are pickled, and reading those can run any code: safetensors only. Have whoever "
            "made the model save it as safetensors (`save_pretrained` of a present transformers does)."
        )
    raise InvalidInput(f"{folder} holds no model: there are no safetensors in it.")


def is_embedder(folder: Path) -> bool:
    """Tell whether it is a folder of sentence-transformers, which the setting `embedder` takes."""
    return (folder / "modules.json").is_file()
