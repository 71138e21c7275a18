"""The query adapter: changes to a model's weights that bring a question's vector near the passages that answer it.

People ask in other words than documents use, and a model that embeds texts places such a question near texts that are
worded alike. The adapter has learnt, from employees' questions and the passages that answer them, how to read questions
instead. Passages are still embedded by the model as it is, so that no document is embedded again.

The changes are LoRA's (Hu and others, 2021): to each matrix of weights a product of two narrow ones is added, so that
the file has one megabyte where the model has ninety. `argot.learn.passage_reader` trains it.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argot.errors import UnusableModel
from argot.files import replace_atomically

ADAPTER_FOLDER = Path(__file__).with_name("query_adapters")
"""The adapters that come with Argot, each named by the fingerprint of its embedder."""
_DOWN, _UP = "/down", "/up"


@dataclass(frozen=True, slots=True)
class WeightChange:
    """The change of one matrix of weights (inputs, outputs): `down` (inputs, rank) times `up` (rank, outputs)."""

    down: NDArray[np.float32]
    up: NDArray[np.float32]

    def compute(self) -> NDArray[np.float32]:
        """Return the matrix to add to the weights."""
        return self.down @ self.up


def find_adapter(fingerprint: str, folder: Path = ADAPTER_FOLDER) -> Path | None:
    """Return the file of the adapter for the embedder of this fingerprint; None if there is none."""
    file = folder / f"{fingerprint}.npz"
    return file if file.is_file() else None


def read_adapter(file: Path) -> dict[str, WeightChange]:
    """Read the changes of a model by layer, named as in the exported graph: "encoder/layer.0/attention/self/query".

    Raises:
        UnusableModel: the file is no adapter.
    """
    try:
        with np.load(file, allow_pickle=False) as stored:
            layers = [name.removesuffix(_DOWN) for name in stored.files if name.endswith(_DOWN)]
            return {
                layer: WeightChange(*(stored[layer + part].astype(np.float32) for part in (_DOWN, _UP)))
                for layer in layers
            }
    except (ValueError, KeyError, OSError, zipfile.BadZipFile) as error:
        raise UnusableModel(
            f"{file} is no query adapter: {error}. Install Argot again, or train one: "
            "python -m argot.learn.passage_reader --help"
        ) from error


def write_adapter(changes: Mapping[str, WeightChange], card: Mapping[str, Any], file: Path) -> None:
    """Write an adapter and its card, completely or not at all.

    In 16 bits the matrices take half the space, and cosines differ by less than a ten-thousandth.
    """
    matrices: dict[str, Any] = {
        layer + part: matrix.astype(np.float16)
        for layer, change in changes.items()
        for part, matrix in ((_DOWN, change.down), (_UP, change.up))
    }
    with replace_atomically(file) as target:
        np.savez_compressed(target, card=np.array(json.dumps(card)), **matrices)
