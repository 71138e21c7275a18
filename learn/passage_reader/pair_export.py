"""Writes the trained pair reader as it is served: an ONNX graph in 8-bit integers."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

import onnx
import torch

from argot.corpus.embedding.exported_models import find_model_folder
from argot.corpus.embedding.quantisation import quantise
from argot.learn.passage_reader.attention_fusion import fuse_attention
from argot.learn.passage_reader.pair_network import PassageNetwork, load_network
from argot.learn.training_loop import read_checkpoint
from argot.tools.retrieval.pair_reader import PAIR_READER_SOURCE

_OPSET = 17
_INPUTS, _OUTPUTS = ("input_ids", "attention_mask", "token_type_ids", "pool"), ("relevance", "units")


def export_pair_reader(checkpoint: Path, target: Path) -> None:
    """Write the network of a training's checkpoint as a graph in 8-bit integers."""
    saved = read_checkpoint(checkpoint)
    network = load_network(find_model_folder(PAIR_READER_SOURCE), int(saved.recipe["layers"]))
    network.load_state_dict(saved.network, strict=False)
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "plain.onnx"
        _trace(network.eval(), plain)
        quantise(plain, target)
    # Only now: the quantisation does not know the fused operator.
    onnx.save(fuse_attention(onnx.load(target), network.encoder.config.num_attention_heads), target)


def _trace(network: PassageNetwork, path: Path) -> None:
    tokens, pool = torch.ones((2, 9), dtype=torch.long), torch.ones((2, 3, 9))
    axes = {name: {0: "windows", 1: "tokens"} for name in _INPUTS[:3]}
    axes |= {"pool": {0: "windows", 1: "means", 2: "tokens"}, "relevance": {0: "windows"}}
    with torch.inference_mode(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            network,
            (tokens, torch.ones_like(tokens), torch.zeros_like(tokens), pool),
            str(path),
            input_names=list(_INPUTS),
            output_names=list(_OUTPUTS),
            dynamic_axes={**axes, "units": {0: "windows", 1: "units"}},
            opset_version=_OPSET,
            dynamo=False,
        )
