"""Makes the reader of an embedding model: its encoder up to the vectors of the tokens, in 8-bit integers.

    python -m argot.tools.retrieval.reader_export EXPORTED_MODEL TARGET_FOLDER NAME

It starts from the ONNX graph that the embedder has anyway (`argot.corpus.embedding.onnx_export`), so torch is not
needed. A separate process, since a service would never release the half gigabyte that it takes.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from argot.corpus.embedding.onnx_export import MODEL_FILE, TOKENIZER_FILE, publish
from argot.corpus.embedding.quantisation import quantise

CARD_FILE = "card.json"
EXPORT_VERSION = 2

Readings = dict[str, tuple[tuple[float, ...], float]]
"""The weights of the three features for each task, and the constant."""

READINGS: Readings = {"relevance": ((10.0, 1.0, 3.0), -6.0)}
"""The untrained scores from the token matches."""


def export_reader(exported: Path, target: Path, name: str) -> None:
    """Write `target` with graph, tokenizer and card, completely or not at all. Two processes may do so at once.

    Args:
        exported: the folder of the embedder, as `onnx_export` writes it.
        name: of the model it was exported from, for the card.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(dir=target.parent, prefix=".export-"))
    try:
        quantise(_build_token_graph(exported / MODEL_FILE), draft / MODEL_FILE)
        shutil.copyfile(exported / TOKENIZER_FILE, draft / TOKENIZER_FILE)
        write_card(draft, build_card(draft, name, READINGS))
        publish(draft, target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _build_token_graph(path: Path) -> Any:
    """Return the embedder's graph without the steps after its last layer: the pooling of the tokens into one vector."""
    import onnx

    model = onnx.load(path)
    graph = model.graph
    # The last normalisation ends the last layer; nodes stand in the order in which they are computed.
    end = max(place for place, node in enumerate(graph.node) if node.op_type == "LayerNormalization")
    hidden = graph.node[end].output[0]
    del graph.node[end + 1 :]
    del graph.output[:]
    graph.node.append(onnx.helper.make_node("LpNormalization", [hidden], ["vectors"], axis=-1, p=2))
    shape = ["texts", "tokens", None]
    graph.output.append(onnx.helper.make_tensor_value_info("vectors", onnx.TensorProto.FLOAT, shape))
    return model


def build_card(folder: Path, name: str, readings: Readings) -> dict[str, Any]:
    """Return the card of an untrained reader; a training adds to it."""
    with (folder / MODEL_FILE).open("rb") as file:
        fingerprint = hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
    return {
        "started_from": name,
        "recipe": None,
        "steps": 0,
        "kept": 0.0,
        "readings": {task: {"weights": list(weights), "bias": bias} for task, (weights, bias) in readings.items()},
        "fingerprint": fingerprint,
    }


def write_card(folder: Path, card: dict[str, Any]) -> None:
    (folder / CARD_FILE).write_text(json.dumps(card, indent=1) + "\n")


if __name__ == "__main__":
    export_reader(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
