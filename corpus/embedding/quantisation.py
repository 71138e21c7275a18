"""A model's graph with its weights in 8-bit integers, which newer processors multiply more than twice as fast.

    python -m argot.corpus.embedding.quantisation MODEL_FOLDER

writes it for passages beside the graph that `onnx_export` wrote. A separate process, since a service would never
release its imports and memory. Questions stay in 32 bits: one takes milliseconds either way.
"""

from __future__ import annotations

import logging
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from argot.corpus.embedding.onnx_export import MODEL_FILE
from argot.corpus.embedding.word_vectors import WORD_VECTORS_FILE, move_word_vectors

INT8_FILE = "model-int8.onnx"
PROCESSOR_FLAGS = ("avx512_vnni", "avx_vnni", "amx_int8", "asimddp")
"""Linux's names of the instructions of Intel, AMD and ARM that add up products of 8-bit integers without loss."""


def can_multiply_int8() -> bool:
    """Return whether this machine's processor has such instructions. False if that cannot be found out.

    Older ones compute in 16 bits between, which overflow: the vectors would be worse, and hardly faster.
    """
    try:
        flags = Path("/proc/cpuinfo").read_text()
    except OSError:
        return False
    return any(flag in flags.split() for flag in PROCESSOR_FLAGS)


def quantise(plain: Any, target: Path, operators: Sequence[str] | None = None) -> None:
    """Write a graph (a path or a loaded model) with its weights in 8 bits, a scale for each column.

    Args:
        operators: the kinds whose weights are quantised; None: all that onnxruntime supports.
    """
    # As in `argot.corpus.embedding.embedder`: no look-up of the maker's telemetry host.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    from onnxruntime.quantization import QuantType, quantize_dynamic

    # It recommends fused operators and known shapes, which help fixed scales; here they are computed as the graph runs.
    root = logging.getLogger()
    root.addFilter(_is_no_advice)
    try:
        quantize_dynamic(plain, target, weight_type=QuantType.QInt8, per_channel=True, op_types_to_quantize=operators)
    finally:
        root.removeFilter(_is_no_advice)


def _is_no_advice(record: logging.LogRecord) -> bool:
    return "pre-processing before quantization" not in record.getMessage()


def write_int8(folder: Path) -> None:
    """Write `INT8_FILE`, completely or not at all. Several processes may do so at once: all write the same."""
    with tempfile.TemporaryDirectory(dir=folder, prefix=".int8-") as draft:
        # Only products. The word vectors are looked up, not multiplied: 8 bits would only make them worse.
        quantise(folder / MODEL_FILE, Path(draft) / INT8_FILE, ["MatMul"])
        move_word_vectors(Path(draft) / INT8_FILE)
        for file in (WORD_VECTORS_FILE, INT8_FILE):
            if (Path(draft) / file).is_file():
                (Path(draft) / file).replace(folder / file)


if __name__ == "__main__":
    write_int8(Path(sys.argv[1]))
