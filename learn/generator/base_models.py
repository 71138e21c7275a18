"""The language model that a training starts from: found by name, checked before anything of it is read, and loaded."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from argot.errors import InvalidInput, MissingExtra, NotFound
from argot.learn.generator.generator_recipe import GeneratorRecipe, refuse_large
from argot.learn.run_folder import RunFolder, is_run
from argot.learn.starting_model import PICKLES, parse_folder
from argot.settings import Settings

if TYPE_CHECKING:
    import torch

ADAPTER_CONFIG = "adapter_config.json"
_DECIDING = ("config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json", "chat_template.jinja")
_BLOCK = 1 << 22


@dataclass(frozen=True, slots=True)
class BaseModel:
    """A model folder that may be read. `fingerprint`: of everything that affects its output, 16 hexadecimal digits."""

    folder: Path
    name: str
    fingerprint: str


def find_base_model(name: str, runs: Path) -> BaseModel:
    """Find a model by name: a folder, the id of a training below `runs`, or one that `make model-server-setup` made.

    Raises:
        NotFound: there is none.
        InvalidInput: it is no folder of a language model, or holds pickles.
    """
    folder = require_base(name, runs)
    return BaseModel(folder, _choose_shown_name(name, folder, runs), compute_fingerprint(folder))


def require_base(name: str, runs: Path) -> Path:
    """Return the folder of the language model that `name` names, once its files are found fit to start from.

    Raises as `base_model` does.
    """
    folder = _find_folder(name, runs)
    _check(folder)
    return folder


def compute_fingerprint(folder: Path) -> str:
    """Compute the fingerprint of weights, configuration and chat template."""
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted([*folder.glob("*.safetensors"), *(folder / one for one in _DECIDING)]):
        if not path.is_file():
            continue
        digest.update(f"{path.name} {path.stat().st_size}\0".encode())
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
    return digest.hexdigest()


def _find_folder(name: str, runs: Path) -> Path:
    if is_run(runs, name):
        return _find_run_folder(RunFolder.find(runs, name))
    for folder in (parse_folder(name), Settings().cache / "model-server" / name):
        if folder.is_dir():
            return folder.resolve()
    raise NotFound(
        f"There is no language model '{name}': give a folder in Hugging Face's form (config.json, tokenizer.json, "
        "*.safetensors), or the id of a training of a whole one."
    )


def _find_run_folder(run: RunFolder) -> Path:
    if (run.model / ADAPTER_CONFIG).is_file():
        raise InvalidInput(
            f"Training {run.id} made an adapter to '{run.request.base}', which is no model by itself. Start from "
            f"'{run.request.base}', on the data of both."
        )
    if not run.model.is_dir():
        raise InvalidInput(f"Training {run.id} has no model yet: it is {run.state.status}.")
    return run.model.resolve()


def _choose_shown_name(name: str, folder: Path, runs: Path) -> str:
    """Choose a name that is no path of this machine, since it goes into files for others."""
    return RunFolder.find(runs, name).request.name if folder.parent.parent == runs.resolve() else folder.name


def _check(folder: Path) -> None:
    files = sorted(one for one in folder.iterdir() if one.is_file())
    pickles = [one.name for one in files if one.suffix in PICKLES]
    if pickles:
        raise InvalidInput(
            f"{folder} holds pickles ({', '.join(pickles[:5])}), which run programs when they are read. Argot reads "
            "safetensors alone: remove them, or get the model in that form."
        )
    names = {one.name for one in files}
    if ADAPTER_CONFIG in names:
        raise InvalidInput(f"{folder} holds an adapter, which is no model by itself. Start from the model it is for.")
    missing = [one for one in ("config.json", "tokenizer.json") if one not in names]
    if not any(one.suffix == ".safetensors" for one in files):
        missing.append("*.safetensors")
    if missing:
        raise InvalidInput(
            f"{folder} is no folder of a language model: {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} "
            "missing. Give one in Hugging Face's form."
        )


# -- loading ----------------------------------------------------------------------------------------------------------


def load_tokenizer(base: BaseModel) -> Any:
    """
    Raises:
        InvalidInput: it cannot be read.
    """
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(base.folder, local_files_only=True, trust_remote_code=False)
    except Exception as error:
        raise InvalidInput(f"The tokenizer in {base.folder} cannot be read: {_read_first_line(error)}") from error


def load_model(base: BaseModel, dtype: torch.dtype, device: torch.device) -> Any:
    """Load the model as it is, without gradients.

    Raises:
        InvalidInput: it cannot be read, or needs custom code.
    """
    from transformers import AutoModelForCausalLM

    try:
        model: Any = AutoModelForCausalLM.from_pretrained(
            base.folder, dtype=dtype, local_files_only=True, use_safetensors=True, trust_remote_code=False
        )
    except Exception as error:
        raise InvalidInput(f"The model in {base.folder} cannot be read: {_read_first_line(error)}") from error
    return model.requires_grad_(False).to(device).eval()


def require_adapter_package(recipe: GeneratorRecipe) -> None:
    """
    Raises:
        MissingExtra: an adapter needs peft, which is not installed.
    """
    if recipe.method == "lora" and find_spec("peft") is None:
        raise MissingExtra("Tuning a language model by LoRA", "learn")


def prepare_for_tuning(model: Any, base: BaseModel, recipe: GeneratorRecipe) -> Any:
    """Return the model with its trainable weights: an adapter's, or all of its own.

    Raises:
        InvalidInput: the model has no such layers, or is too large.
    """
    refuse_large(sum(one.numel() for one in model.parameters()), recipe)
    if recipe.method == "full":
        return model.requires_grad_(True)
    from peft import LoraConfig, get_peft_model

    config = LoraConfig(
        task_type="CAUSAL_LM",
        r=recipe.rank,
        lora_alpha=recipe.alpha,
        lora_dropout=recipe.dropout,
        target_modules=list(recipe.target_modules) or "all-linear",
    )
    try:
        tuned = get_peft_model(model, config)
    except ValueError as error:
        raise InvalidInput(f"The adapter does not fit the model: {_read_first_line(error)}") from error
    # Not the path it was loaded from, which names this machine.
    tuned.peft_config["default"].base_model_name_or_path = base.name
    return tuned


def write_model(tuned: Any, tokenizer: Any, base: BaseModel, folder: Path) -> None:
    """Write the adapter, or the whole model with its tokenizer, as safetensors; `base.json` names its origin."""
    folder.mkdir(parents=True, exist_ok=True)
    if hasattr(tuned, "peft_config"):
        # Embeddings do not learn; to find that out, peft would ask the network for the model of this name.
        tuned.save_pretrained(folder, safe_serialization=True, save_embedding_layers=False)
        # Written by peft from a template: it has no information, and names folders of this machine.
        (folder / "README.md").unlink(missing_ok=True)
    else:
        tuned.config._name_or_path = base.name
        import torch

        tuned.to(torch.bfloat16).save_pretrained(folder)
        tokenizer.name_or_path = base.name
        # The chat template among its settings: an adopted folder contains only weights, JSON and texts.
        tokenizer.save_pretrained(folder, save_jinja_files=False)
    (folder / "base.json").write_text(json.dumps({"name": base.name, "fingerprint": base.fingerprint}) + "\n", "utf-8")


def _read_first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
