"""The network: an encoder that reads question and passage together, and two heads over its last layer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

HIDDEN = 128
"""Dimensions between the two layers of a head."""
DROPOUT = 0.1
"""The share of a head's inputs that is left out at each step of training."""


class PassageNetwork(nn.Module):
    """One head scores each unit (a sentence, an item, a row) from its tokens' mean, beside the question's; the other
    scores the passage, and sees the best unit's score.

    A passage is relevant if something in it answers: the two heads would contradict one another if they were separate.
    """

    def __init__(self, encoder: Any, hidden: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.drop = nn.Dropout(DROPOUT)
        self.of_unit = nn.Sequential(nn.Linear(4 * hidden, HIDDEN), nn.GELU(), nn.Linear(HIDDEN, 1))
        self.of_passage = nn.Sequential(nn.Linear(2 * hidden, HIDDEN), nn.GELU(), nn.Linear(HIDDEN, 1))
        self.likeness = nn.Parameter(torch.tensor(4.0))
        self.best = nn.Parameter(torch.tensor(0.5))

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor, pool: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return logits of the windows, (windows,), and of their units, (windows, units); -30 where there is none."""
        hidden = self.encoder(
            input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
        ).last_hidden_state.float()
        means = pool @ hidden
        asked, units, first = means[:, :1], means[:, 1:], hidden[:, :1]
        cosines = (functional.normalize(units, dim=-1) * functional.normalize(asked, dim=-1)).sum(-1)
        asked, first = asked.expand_as(units), first.expand_as(units)
        features = torch.cat([units, units * asked, (units - asked).abs(), first], dim=-1)
        there = pool[:, 1:].sum(-1) > 0
        logits = self.of_unit(self.drop(features)).squeeze(-1) + self.likeness * cosines
        logits = logits.masked_fill(~there, -30.0)
        whole = torch.cat([hidden[:, 0], means[:, 0]], dim=-1)
        relevance = self.of_passage(self.drop(whole)).squeeze(-1) + self.best * logits.amax(-1)
        return relevance, logits


def load_network(folder: Path, layers: int) -> PassageNetwork:
    """Load a network that starts from the first layers of the encoder in a folder; word vectors stay as they are."""
    from transformers import AutoModel

    # Attention in plain steps: on a processor, PyTorch's own takes twice as long to train.
    encoder = AutoModel.from_pretrained(
        folder,
        local_files_only=True,
        add_pooling_layer=False,
        attn_implementation="eager",
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    del encoder.encoder.layer[layers:]
    encoder.config.num_hidden_layers = layers
    encoder.embeddings.requires_grad_(False)
    return PassageNetwork(encoder, encoder.config.hidden_size)
