"""A large table of word vectors beside its graph, in a file of its own.

onnxruntime maps such a file into memory, so that only the rows in use take memory, and they are shared by every process
and by both graphs of a model. The table of a multilingual model has 384 MB, of which a document needs some thousandth.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

WORD_VECTORS_FILE = "word-vectors.bin"
MIN_TABLE_BYTES = 100_000_000
"""Smaller tables stay in their graph."""


def move_word_vectors(graph: Path) -> None:
    """Move the large table that a graph only looks up into the file beside it, which is written if missing.

    Several processes may do so at once: all write the same.
    """
    if graph.stat().st_size < MIN_TABLE_BYTES:
        return
    import onnx
    from onnx.external_data_helper import set_external_data

    model = onnx.load(str(graph))
    table = _find_table(model)
    if table is None:
        return
    content = table.raw_data
    _write_once(graph.parent / WORD_VECTORS_FILE, content)
    set_external_data(table, WORD_VECTORS_FILE, offset=0, length=len(content))
    table.ClearField("raw_data")
    draft = graph.with_suffix(".draft")
    draft.write_bytes(model.SerializeToString())
    draft.replace(graph)


def _find_table(model: Any) -> Any:
    looked_up = {node.input[0] for node in model.graph.node if node.op_type == "Gather"}
    computed = {name for node in model.graph.node if node.op_type != "Gather" for name in node.input}
    large = [
        one
        for one in model.graph.initializer
        if one.name in looked_up - computed and len(one.raw_data) >= MIN_TABLE_BYTES
    ]
    return large[0] if large else None


def _write_once(file: Path, content: bytes) -> None:
    if file.is_file() and file.stat().st_size == len(content):
        return
    draft = file.with_suffix(".draft")
    draft.write_bytes(content)
    draft.replace(file)
