"""Writes the trained reader as it is served: an ONNX graph in 8-bit integers, its tokenizer, and a card."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from argot.corpus.embedding.exported_models import find_model_folder
from argot.corpus.embedding.quantisation import quantise
from argot.learn.reader.network import READ_FOR, ReaderNetwork, load_network
from argot.learn.training_loop import Checkpoint, read_checkpoint
from argot.tools.retrieval.reader_export import build_card, write_card

OPSET = 17


def write_reader(trained: Path | None, model: str, target: Path, *, kept: float = 0.0) -> dict[str, Any]:
    """Write `model.onnx`, `tokenizer.json` and `card.json` into `target`; return the card.

    Args:
        trained: the checkpoint of a training; None: the starting weights as they are.
        kept: the share of the starting weights in the encoder. Weights between the two have learnt the task without
            forgetting other domains (Wortsman et al., 2022, "Robust fine-tuning of zero-shot models").
    """
    start = find_model_folder(model)
    network = load_network(start)
    saved = read_checkpoint(trained) if trained else None
    if saved is not None:
        network.load_state_dict(_mix_weights(network.state_dict(), saved.network, kept))
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "plain.onnx"
        _trace(network.eval(), plain)
        quantise(plain, target / "model.onnx")
    (target / "tokenizer.json").write_bytes((start / "tokenizer.json").read_bytes())
    card = _build_card(network, saved, target, model, kept)
    write_card(target, card)
    return card


def _mix_weights(start: dict[str, Tensor], trained: dict[str, Tensor], kept: float) -> dict[str, Tensor]:
    """Mix the encoder's weights with the starting ones; other trained weights stay, and the rest is as it was."""
    mixed = {**start, **trained}
    for name, value in trained.items():
        if name.startswith("encoder.") and value.is_floating_point():
            mixed[name] = kept * start[name] + (1 - kept) * value
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


def _build_card(
    network: ReaderNetwork, saved: Checkpoint | None, target: Path, model: str, kept: float
) -> dict[str, Any]:
    values = {name: value.detach().flatten().tolist() for name, value in network.readings.state_dict().items()}
    readings = {name: (tuple(values[f"{name}.weight"]), values[f"{name}.bias"][0]) for name in READ_FOR}
    card = build_card(target, model, readings)
    if saved is None:
        return card
    return card | {
        "recipe": saved.recipe,
        "steps": saved.step,
        "kept": kept,
    }
