"""Exports a sentence-transformers model to ONNX, once. Run as a separate process, which alone imports torch:

    python -m argot.corpus.embedding.onnx_export MODEL_FOLDER TARGET_FOLDER MAX_TOKENS

Pooling and normalisation are part of the exported graph, so that serving needs nothing but onnxruntime.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

from argot.corpus.embedding.word_vectors import move_word_vectors

MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"
OPSET = 17


def export(model: Path, target: Path, max_tokens: int) -> None:
    """Write `target` with the graph and its tokenizer, completely or not at all.

    Two processes may export at once: each writes its own folder, and the first to rename it wins.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(dir=target.parent, prefix=".export-"))
    try:
        write_graph(model, draft, max_tokens)
        publish(draft, target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def write_graph(model: Path, folder: Path, max_tokens: int) -> None:
    """Trace the model's own modules (transformer, pooling, dense, normalisation) in their order."""
    import torch
    from sentence_transformers import SentenceTransformer

    # "eager" attention is plain matrix products, which can be exported for any length of text.
    encoder = SentenceTransformer(
        str(model), device="cpu", local_files_only=True, model_kwargs={"attn_implementation": "eager"}
    ).eval()

    class Graph(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = encoder

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            features = {"input_ids": input_ids, "attention_mask": attention_mask}
            for module in self.encoder:
                features = module(features)
            return torch.nn.functional.normalize(features["sentence_embedding"], dim=1)

    # Two texts of several tokens: a dimension of size 1 may be traced as a constant.
    example = torch.ones((2, min(9, max_tokens)), dtype=torch.long)
    texts_by_tokens = {0: "texts", 1: "tokens"}
    with torch.inference_mode(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            Graph(),
            (example, torch.ones_like(example)),
            str(folder / MODEL_FILE),
            input_names=["input_ids", "attention_mask"],
            output_names=["vectors"],
            dynamic_axes={"input_ids": texts_by_tokens, "attention_mask": texts_by_tokens, "vectors": {0: "texts"}},
            opset_version=OPSET,
            dynamo=False,
        )
    move_word_vectors(folder / MODEL_FILE)
    encoder.tokenizer.backend_tokenizer.save(str(folder / TOKENIZER_FILE))


def publish(draft: Path, target: Path, main_file: str = MODEL_FILE) -> None:
    """Rename a complete folder, which contains the file `main_file`, to its final name."""
    # Flushed before the rename, or a power cut could leave empty files under the final name.
    for file in filter(Path.is_file, draft.rglob("*")):
        with file.open("rb") as written:
            os.fsync(written.fileno())
    try:
        draft.rename(target)
    except OSError:
        if not (target / main_file).is_file():  # any error except "another process was first"
            raise


if __name__ == "__main__":
    export(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
