"""The recipe of an embedder: its settings beside the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from argot.learn.batches import Drawing
from argot.learn.recipes import TuningRecipe, make_option


@dataclass(frozen=True, slots=True)
class EmbedderRecipe(TuningRecipe):
    """The recipe of an embedder. The defaults suit two processor cores.

    `kept` protects the original model's knowledge (Wortsman et al., 2022, "Robust fine-tuning of zero-shot models").
    """

    epochs: int = make_option(3, "how often each pair is seen", least=1, most=100)
    batch: int = make_option(16, "pairs read at once; fewer need less memory", least=2, most=1024)
    rate: float = make_option(2e-5, "the highest learning rate", least=1e-8, most=1e-1)
    warm_up: float = make_option(
        0.1, "the share of all steps in which the rate rises; then it falls to 0", least=0, most=1
    )
    question_tokens: int = make_option(48, "tokens of a question that are read", least=8, most=8192)
    passage_tokens: int = make_option(160, "tokens of a passage that are read", least=8, most=8192)
    negatives: int = make_option(
        1, "passages beside the right one that each question learns to leave", least=0, most=10
    )
    negatives_from: int = make_option(10, "of how many of the first found they are drawn", least=1, most=50)
    margin: float = make_option(
        0.0, "how much less like the question than the right passage a negative has to be", least=0, most=1
    )
    scale: float = make_option(20.0, "how strongly likeness counts in the loss", least=1, most=200)
    frozen_words: bool = make_option(True, "leave the words' own vectors as they are, which few pairs only spoil")
    kept: float = make_option(0.5, "the share of the starting weights mixed into the trained ones", least=0, most=1)
    precision: Literal["auto", "bfloat16", "float32"] = make_option(
        "auto", "of the products while learning; auto: 16 bits where the processor has instructions for them"
    )
    every: int = make_option(25, "steps between checkpoints", least=1, most=100_000)
    threads: int = make_option(0, "processor threads; 0: as many as PyTorch takes", least=0, most=256)

    def drawing(self, seed: int) -> Drawing:
        return Drawing(self.epochs, self.batch, self.negatives, self.negatives_from, self.margin, seed)
