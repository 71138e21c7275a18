"""The graph that embeds questions: that of a model with an adapter's changes added to its weights.

    python -m argot.corpus.embedding.query_graph MODEL_FOLDER ADAPTER_FILE (int8 | float32)

writes it beside the graph that `onnx_export` wrote. A separate process, since a service would never release its imports
and memory.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from argot.corpus.embedding.onnx_export import MODEL_FILE
from argot.corpus.embedding.quantisation import quantise
from argot.corpus.embedding.query_adapter import WeightChange, read_adapter
from argot.corpus.embedding.word_vectors import WORD_VECTORS_FILE, move_word_vectors


def name_query_graph(adapter_file: Path, precision: str) -> str:
    """Return the name of the graph's file; another adapter has another."""
    digest = hashlib.blake2b(adapter_file.read_bytes(), digest_size=8).hexdigest()
    return f"queries-{digest}-{precision}.onnx"


def write_query_graph(folder: Path, adapter_file: Path, precision: str) -> None:
    """Write the graph, completely or not at all. Several processes may do so at once: all write the same."""
    import onnx

    changes = read_adapter(adapter_file)
    model = onnx.load(str(folder / MODEL_FILE))
    change_weights(model, changes)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".queries-") as draft:
        written = Path(draft) / MODEL_FILE
        if precision == "int8":
            # A large table of word vectors stays in the file that all graphs of the model share.
            quantise(model, written, ["MatMul"] if (folder / WORD_VECTORS_FILE).is_file() else None)
        else:
            onnx.save(model, str(written))
        move_word_vectors(written)
        written.replace(folder / name_query_graph(adapter_file, precision))


def change_weights(model: Any, changes: Mapping[str, WeightChange]) -> None:
    """Add an adapter's changes, by layer, to the weights of a loaded graph.

    Raises:
        ValueError: the graph has no product of this name, or its weights have another shape.
    """
    from onnx import numpy_helper

    weights = {one.name: one for one in model.graph.initializer}
    products = {node.name: node for node in model.graph.node if node.op_type == "MatMul"}
    for layer, change in changes.items():
        found = [node for name, node in products.items() if name.endswith(f"/{layer}/MatMul")]
        if len(found) != 1 or found[0].input[1] not in weights:
            raise ValueError(f"the graph has no weights of {layer}")
        stored = weights[found[0].input[1]]
        stored.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(stored) + change.compute(), stored.name))


if __name__ == "__main__":
    write_query_graph(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
