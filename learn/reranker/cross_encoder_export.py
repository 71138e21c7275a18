"""Writes a trained cross-encoder: as transformers does, and as the graph in 8-bit integers that is served."""

from __future__ import annotations

import shutil
import tempfile
import warnings
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from argot.corpus.embedding.quantisation import quantise
from argot.learn.training_card import publish_model
from argot.tools.retrieval.onnx_cross_encoder import CROSS_ENCODER_FILE

OPSET = 17
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")


class _Graph(nn.Module):
    def __init__(self, classifier: Any) -> None:
        super().__init__()
        self.classifier = classifier
        self.parts = classifier.config.type_vocab_size > 1

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        """Return logits, (texts,). Parts are taken by all, so that one scorer serves all; some models have none."""
        more = {"token_type_ids": token_type_ids} if self.parts else {}
        logits = self.classifier(input_ids=input_ids, attention_mask=attention_mask, **more).logits.squeeze(-1)
        return logits + 0 * token_type_ids[:, 0]  # type: ignore[no-any-return]


def write_cross_encoder(classifier: Any, tokenizer: Any, tokens: int, target: Path) -> None:
    """Write a folder that the setting `reranker` takes, whole or not at all.

    Args:
        tokens: of question and passage together; longer inputs are cut.
    """
    draft = target.with_name(f".{target.name}-draft")
    shutil.rmtree(draft, ignore_errors=True)
    classifier.to("cpu").save_pretrained(draft)
    tokenizer.model_max_length = tokens
    tokenizer.save_pretrained(draft)
    # The scorer reads only this file, so the maximum length is stored in it too.
    backend = tokenizer.backend_tokenizer
    backend.enable_truncation(tokens)
    backend.no_padding()
    backend.save(str(draft / "tokenizer.json"))
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "plain.onnx"
        _trace(classifier, plain)
        # Only products, as for the embedder.
        quantise(plain, draft / CROSS_ENCODER_FILE, ["MatMul"])
    publish_model(draft, target)


def _trace(classifier: Any, path: Path) -> None:
    example = torch.ones((2, 9), dtype=torch.long)
    shape = {0: "texts", 1: "tokens"}
    with torch.inference_mode(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        classifier.config._attn_implementation = "eager"
        torch.onnx.export(
            _Graph(classifier).eval(),
            (example, torch.ones_like(example), torch.zeros_like(example)),
            str(path),
            input_names=list(_INPUTS),
            output_names=["logits"],
            dynamic_axes={**dict.fromkeys(_INPUTS, shape), "logits": {0: "texts"}},
            opset_version=OPSET,
            dynamo=False,
        )
