"""The scale of a model's cosines, so that thresholds chosen for the default model hold for any other.

Cosines of unrelated texts are about 0.03 in all-MiniLM-L6-v2 and 0.77 in multilingual-e5-small, which was trained at a
low temperature. A distance, 1 less the cosine, is therefore multiplied by a model's gain, at which unrelated texts are
as far apart as in the default model. Ranks are not affected. Every place that compares a cosine with a constant, or
adds it to something else, takes it from `rescale_cosines`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from argot.files import write_atomically
from argot.protocols import Embedder, Vectors

Cosines = TypeVar("Cosines", float, NDArray[np.float32])

DEFAULT_DISTANCE = 0.972
"""Mean distance of `UNRELATED_TEXTS` in all-MiniLM-L6-v2."""
MIN_GAIN = 1.5
"""A smaller gain counts as 1: a model tuned from the default one keeps the scale on which it was adopted."""
UNRELATED_TEXTS = (
    "How do I replace the toner of the printer?",
    "Pallets are stacked three high in the warehouse.",
    "The patent office charges a fee every fourth year.",
    "sourdough bread",
    "Whales can hold their breath for an hour.",
    "Who signs the travel expenses of a trainee?",
    "Restart the service after you change its settings.",
    "The goalkeeper was injured in the second half.",
    "voltage of the output driver",
    "My grandmother grows tomatoes on her balcony.",
    "Invoices over 500 dollars need a second signature.",
    "Rain is expected in the north on Tuesday.",
    "What is the melting point of aluminium?",
    "The orchestra rehearses the third movement.",
    "parental leave",
    "A list is sorted in place by its own method.",
)
SCALE_FILE = "cosine-scale.json"


def rescale_cosines(cosines: Cosines, embedder: Embedder) -> Cosines:
    """Return cosines of this embedder's vectors on the scale of the default model."""
    gain = embedder.cosine_gain
    return cosines if gain == 1 else 1 - gain * (1 - cosines)


def read_gain(folder: Path) -> float | None:
    """Return the gain kept in the folder of an exported model; None if it was not measured yet."""
    try:
        return float(json.loads((folder / SCALE_FILE).read_text())["gain"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def keep_gain(folder: Path, vectors: Vectors) -> float:
    """Compute the gain from the vectors of `UNRELATED_TEXTS`, and keep it in the folder."""
    cosines = np.asarray(vectors) @ np.asarray(vectors).T
    distance = float(1 - cosines[~np.eye(len(cosines), dtype=bool)].mean())
    found = DEFAULT_DISTANCE / max(distance, 1e-3)
    gain = round(found, 2) if found >= MIN_GAIN else 1.0
    write_atomically(folder / SCALE_FILE, json.dumps({"gain": gain, "distance": round(distance, 4)}))
    return gain
