"""Token selection (TS) and the term control layer (TCL), which a cross-encoder is trained with and served without.

RRADistill (Choi et al., 2024), as *Trustworthy Answers* 3.2 takes it up. Besides the relevance of a question and a
passage, the same head judges the pair by the passage's tokens that also occur in the question; both judgements learn
the same label, so that the words' evidence enters the first, the only one used in service.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import torch
from torch import Tensor, nn

from argot.corpus.keyword.stop_words import STOP_WORDS


class TermJudgingNetwork(nn.Module):
    """A sequence classifier with one score, and the layer that reads the selected tokens.

    Args:
        classifier: of transformers.
        control: whether a separate layer reads the selected tokens, over the encoder's output for them. If not, the
            encoder reads question and selected tokens again: the equations of *Trustworthy Answers* 3.2.
    """

    def __init__(self, classifier: Any, *, control: bool) -> None:
        super().__init__()
        self.classifier = classifier
        config = classifier.config
        self.control = (
            nn.TransformerEncoderLayer(
                config.hidden_size,
                config.num_attention_heads,
                4 * config.hidden_size,
                activation="gelu",
                batch_first=True,
            )
            if control
            else None
        )

    def relevance(self, hidden: Tensor) -> Tensor:
        """Return logits, (texts,), of the encoder's output, (texts, tokens, dimensions), by the classifier's head."""
        model = self.classifier
        pooler = getattr(model.base_model, "pooler", None)
        if pooler is not None:
            return model.classifier(model.dropout(pooler(hidden))).squeeze(-1)  # type: ignore[no-any-return]
        return model.classifier(hidden).squeeze(-1)  # type: ignore[no-any-return]

    def encode_tokens(self, read: dict[str, Tensor]) -> Tensor:
        return self.classifier.base_model(**read).last_hidden_state.float()  # type: ignore[no-any-return]

    def term_relevance(self, read: dict[str, Tensor], hidden: Tensor, selected: Tensor) -> Tensor:
        """Return logits, (texts,), of the selected tokens alone; `selected`: (texts, tokens), true where one is."""
        if self.control is not None:
            return self.relevance(self.control(hidden, src_key_padding_mask=~selected))
        return self.relevance(self.encode_tokens({**read, "attention_mask": selected.long()}))


def select_tokens(ids: Tensor, question: Tensor, passage: Tensor, unselected: Collection[int]) -> Tensor:
    """Select the model's own tokens, the question's, and the passage's that also occur in the question; (texts,
    tokens).

    Args:
        ids: of tokens, (texts, tokens).
        question, passage: true for tokens of either; false at both for the model's own, (texts, tokens).
        unselected: tokens without meaning by themselves; and padding.
    """
    same = (ids[:, :, None] == ids[:, None, :]) & question[:, None, :]
    held = same.any(-1) & passage
    idle = torch.isin(ids, torch.tensor(sorted(unselected), device=ids.device, dtype=ids.dtype))
    return question | (held & ~idle) | ~(question | passage | idle)


def list_idle_tokens(tokenizer: Any) -> frozenset[int]:
    """List stop words, marks, and the token that texts are filled up with."""
    words = tokenizer.get_vocab()
    idle = {number for word, number in words.items() if word in STOP_WORDS or not any(map(str.isalnum, word))}
    return frozenset(idle - {*tokenizer.all_special_ids} | {tokenizer.pad_token_id})
