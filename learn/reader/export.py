"""Writes the trained reader as it is served: an ONNX graph in 8-bit integers, its tokenizer, and a card."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import warnings
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from argot.corpus.embedding.embedder import model_folder
from argot.learn.reader.network import ReaderNetwork, network_from

OPSET = 17


def write_reader(checkpoint: Path | None, model: str, target: Path, *, kept: float = 0.0) -> dict[str, Any]:
    """Writes `model.onnx`, `tokenizer.json` and `card.json` into `target`; gives the card.

    Args:
        checkpoint: of a training; None: the starting weights, untrained.
        kept: the share of the starting weights in the encoder. Between the two lies what knows the task and has not
            forgotten other domains (Wortsman et al., 2022, "Robust fine-tuning of zero-shot models").
    """
    start = model_folder(model)
    network = network_from(start)
    state = torch.load(checkpoint, weights_only=True) if checkpoint else {}
    if state:
        network.load_state_dict(_mixed(network.state_dict(), state["network"], kept))
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "plain.onnx"
        _trace(network.eval(), plain)
        _quantise(plain, target / "model.onnx")
    (target / "tokenizer.json").write_bytes((start / "tokenizer.json").read_bytes())
    card = _card(network, state, target, model, kept)
    (target / "card.json").write_text(json.dumps(card, indent=1) + "\n")
    return card


def _mixed(start: dict[str, Tensor], trained: dict[str, Tensor], kept: float) -> dict[str, Tensor]:
    mixed = dict(trained)
    for name, value in start.items():
        if name.startswith("encoder.") and value.is_floating_point():
            mixed[name] = kept * value + (1 - kept) * trained[name]
    return mixed


def _trace(network: ReaderNetwork, path: Path) -> None:
    example = torch.ones((2, 9), dtype=torch.long)
    shape = {0: "texts", 1: "tokens"}
    names = ("input_ids", "attention_mask", "vectors", "weights")
    with torch.inference_mode(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        network.encoder.config._attn_implementation = "eager"
        torch.onnx.export(
            network,
            (example, torch.ones_like(example)),
            str(path),
            input_names=list(names[:2]),
            output_names=list(names[2:]),
            dynamic_axes=dict.fromkeys(names, shape),
            opset_version=OPSET,
            dynamo=False,
        )


def _quantise(plain: Path, target: Path) -> None:
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(plain, target, weight_type=QuantType.QInt8, per_channel=True)


def _card(network: ReaderNetwork, state: dict[str, Any], target: Path, model: str, kept: float) -> dict[str, Any]:
    values = {name: value.detach().flatten().tolist() for name, value in network.readings.state_dict().items()}
    readings = {
        name: {"weights": values[f"{name}.weight"], "bias": values[f"{name}.bias"][0]} for name in network.readings
    }
    with (target / "model.onnx").open("rb") as file:
        fingerprint = hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
    return {
        "started_from": model,
        "recipe": state.get("recipe"),
        "steps": state.get("step", 0),
        "kept": kept,
        "readings": readings,
        "fingerprint": fingerprint,
    }
