"""The network: MiniLM's token vectors, and readings of the match between those of a question and of a passage.

Late interaction (Khattab and Zaharia, 2020): question and passage are read separately, so that a passage is read once
for all questions; each token of the question is then matched with the most similar one in the passage. This ranks
passages even without training; training moves the vectors a little, and learns the weights of tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from argot.tools.retrieval.reader_export import READINGS

FEATURES = 3
"""Features of one text against another: its tokens' best matches on average, the worst of them, and the mean vectors'
cosine."""

READ_FOR = tuple(READINGS)
_WORST = 12.0
"""The sharpness with which the worst tokens dominate their feature."""


@dataclass(frozen=True, slots=True)
class ReadTexts:
    """Texts as read: `vectors` (texts, tokens, dimensions), of length 1; `weights` (texts, tokens), positive;
    `mask` (texts, tokens), true for tokens of the text itself.
    """

    vectors: Tensor
    weights: Tensor
    mask: Tensor


class ReaderNetwork(nn.Module):
    """The encoder with a weight for each token and a linear reading of the features."""

    def __init__(self, encoder: Any, hidden: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.importance = nn.Linear(hidden, 1)
        nn.init.zeros_(self.importance.weight)
        nn.init.zeros_(self.importance.bias)
        self.readings = nn.ModuleDict({name: _build_reading(*start) for name, start in READINGS.items()})

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return vectors and weights of every token, special ones too, as they are exported."""
        hidden = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state.float()
        return functional.normalize(hidden, dim=-1), functional.softplus(self.importance(hidden).squeeze(-1)) + 1e-3

    def read_texts(self, input_ids: Tensor, attention_mask: Tensor) -> ReadTexts:
        vectors, weights = self(input_ids, attention_mask)
        return ReadTexts(vectors, weights, build_text_mask(attention_mask))

    def logits(self, name: str, features: Tensor) -> Tensor:
        """Return the reading of this name, (...), of features (..., features)."""
        return self.readings[name](features).squeeze(-1)  # type: ignore[no-any-return]


def _build_reading(weights: Sequence[float], bias: float) -> nn.Linear:
    linear = nn.Linear(FEATURES, 1)
    with torch.no_grad():
        linear.weight.copy_(torch.tensor([list(weights)]))
        linear.bias.fill_(bias)
    return linear


def build_text_mask(attention_mask: Tensor) -> Tensor:
    """Build a mask that is true for all tokens except the first and the last, which are the model's own."""
    mask = attention_mask.bool().clone()
    mask[:, 0] = False
    mask[torch.arange(len(mask)), attention_mask.sum(1) - 1] = False
    return mask


def compute_similarities(asked: ReadTexts, passages: ReadTexts) -> Tensor:
    """Compute cosines of asked tokens with a passage's, (asked, passages, tokens, tokens); -1 beyond its end."""
    cosines = torch.einsum("aid,pjd->apij", asked.vectors, passages.vectors)
    return cosines.masked_fill(~passages.mask[None, :, None, :], -1.0)


def compute_features(asked: ReadTexts, passages: ReadTexts) -> Tensor:
    """Compute the features of each asked text with each passage, (asked, passages, features)."""
    best = compute_similarities(asked, passages).amax(-1)
    return _match_features(asked, best, compute_mean_vectors(asked) @ compute_mean_vectors(passages).T)


def _match_features(asked: ReadTexts, best: Tensor, cosines: Tensor) -> Tensor:
    """Match features: from each token's best match (asked, others, tokens) and mean cosines (asked, others)."""
    weights = asked.weights * asked.mask
    shares = (weights / weights.sum(-1, keepdim=True).clamp_min(1e-6))[:, None, :]
    mean = (shares * best).sum(-1)
    worst = -torch.log((shares * torch.exp(-_WORST * best)).sum(-1).clamp_min(1e-9)) / _WORST
    return torch.stack((mean, worst, cosines), dim=-1)


def compute_mean_vectors(read: ReadTexts) -> Tensor:
    """Compute the mean of the tokens' vectors, of length 1; (texts, dimensions)."""
    return functional.normalize((read.vectors * read.mask[..., None]).sum(1), dim=-1)


def load_network(folder: Path) -> ReaderNetwork:
    """Load a network that starts from a sentence-transformers folder; its word vectors stay as they are."""
    from transformers import AutoModel

    encoder = AutoModel.from_pretrained(folder, local_files_only=True)
    encoder.embeddings.requires_grad_(False)
    return ReaderNetwork(encoder, encoder.config.hidden_size)
