"""The passages of the pool nearest to each question, by an embedder that is being trained."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from argot.errors import InvalidInput
from argot.learn.run_data import RunData

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

DEPTH = 50
BATCH_TEXTS = 16
ProgressListener = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class FoundPassages:
    """The passages found for one question, best first, each with its cosine; and the cosine of its own passage."""

    passages: tuple[str, ...]
    cosines: tuple[float, ...]
    own: float


def load_embedder(folder: Path) -> SentenceTransformer:
    """Load the model of a folder, without code that it may bring.

    Raises:
        InvalidInput: it cannot be opened.
    """
    from safetensors import SafetensorError
    from sentence_transformers import SentenceTransformer

    try:
        model = SentenceTransformer(
            str(folder), device=device(), trust_remote_code=False, local_files_only=True, model_kwargs=_SAFE
        )
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
        raise InvalidInput(f"The model in {folder} cannot be opened: {reason}.") from error
    return model.eval()


_SAFE: dict[str, Any] = {"use_safetensors": True}


def device() -> str:
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def has_bfloat16() -> bool:
    """Tell whether this machine multiplies 16-bit floating-point numbers natively, three times as fast."""
    import torch

    if torch.cuda.is_available():
        return bool(torch.cuda.is_bf16_supported())
    try:
        flags = Path("/proc/cpuinfo").read_text().split()
    except OSError:
        return False
    return "avx512_bf16" in flags or "amx_bf16" in flags


def read_prefixes(model: SentenceTransformer) -> tuple[str, str]:
    """Read the model's prefixes of questions and of passages, as `argot.corpus.embedding` puts them there."""
    prompts = model.prompts or {}
    default = prompts.get(model.default_prompt_name or "", "")
    return prompts.get("query") or default or "", prompts.get("document") or prompts.get("passage") or default or ""


def search_pool(
    model: SentenceTransformer, data: RunData, on_progress: ProgressListener = lambda done, of: None
) -> dict[str, FoundPassages]:
    """Search the whole pool for each pair, whatever its part; results by the pair's id (*Trustworthy Answers* 4.2)."""
    asking, passing = read_prefixes(model)
    pairs, identifiers = data.all_pairs, list(data.pool)
    passages = embed_texts(model, [passing + data.pool[one] for one in identifiers], on_progress)
    questions = embed_texts(model, [asking + pair.question for pair in pairs])
    rows = {identifier: row for row, identifier in enumerate(identifiers)}
    found: dict[str, FoundPassages] = {}
    for pair, question in zip(pairs, questions, strict=True):
        cosines = passages @ question
        # Stable: equal ones are in the pool's order, on every machine.
        order = np.argsort(-cosines, kind="stable")[:DEPTH]
        own = max(float(cosines[rows[one]]) for one in data.gold[pair.id])
        found[pair.id] = FoundPassages(
            tuple(identifiers[row] for row in order), tuple(round(float(cosines[row]), 5) for row in order), own
        )
    return found


def embed_texts(
    model: SentenceTransformer, texts: Sequence[str], on_progress: ProgressListener = lambda done, of: None
) -> NDArray[np.float32]:
    """Embed texts: (texts, dimensions), of length 1."""
    import torch

    # By length, so that little is padded; told on the way, since a large pool takes minutes.
    order = sorted(range(len(texts)), key=lambda number: -len(texts[number]))
    parts = []
    with torch.inference_mode():
        for first in range(0, len(order), BATCH_TEXTS):
            some = [texts[number] for number in order[first : first + BATCH_TEXTS]]
            parts.append(model.encode(some, normalize_embeddings=True, show_progress_bar=False, prompt=""))
            on_progress(min(len(texts), first + BATCH_TEXTS), len(texts))
    vectors = np.concatenate(parts)
    placed = np.empty_like(vectors)
    placed[order] = vectors
    return placed


def as_json(found: Mapping[str, FoundPassages]) -> dict[str, Any]:
    return {pair: [list(one.passages), list(one.cosines), one.own] for pair, one in found.items()}


def from_json(rows: Mapping[str, Any]) -> dict[str, FoundPassages]:
    return {
        pair: FoundPassages(tuple(passages), tuple(cosines), own) for pair, (passages, cosines, own) in rows.items()
    }
