"""What decides the weights of a re-ranker, beside the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from argot.learn.batches import Drawing
from argot.learn.recipes import Recipe


@dataclass(frozen=True, slots=True)
class RerankerRecipe(Recipe):
    """The defaults suit two processor cores.

    Attributes:
        form: "reader" tunes the reader that Argot comes with, which reads a passage once for all questions;
            "cross_encoder" a model that reads question and passage together (*Trustworthy Answers* 3.2.3).
        embedder: what finds the passages that are put in order; "": the model that is started from.
        batch: questions in a batch, each with its passage and its negatives.
        negatives, negatives_from, margin: as `argot.learn.batches.Drawing` has them. The paper draws three of the first
            ten for the cross-encoder; the reader takes one, and those of the other questions in the batch.
        reading_rate: of what is not the encoder: the reader's weights of tokens, the cross-encoder's head.
        kept: the share of the starting encoder mixed into the reader's trained one.
        ts_tcl: train the cross-encoder with token selection and term control (`argot.learn.reranker.ts_tcl`).
        token_selection, term_control: each of the two may be left out, to see what it gives.
        alpha, beta: the weights of the two losses. The paper names them and gives no values.
        precision: of the products while learning; "auto": 16 bits where the processor has instructions for them.
        every: steps between checkpoints.
        threads: processor threads; 0: as many as torch takes.
    """

    form: Literal["reader", "cross_encoder"] = "reader"
    embedder: str = ""
    epochs: int = 2
    batch: int = 12
    negatives: int = 3
    negatives_from: int = 10
    margin: float = 0.0
    rate: float = 2e-5
    reading_rate: float = 1e-3
    warm_up: float = 0.1
    question_tokens: int = 48
    passage_tokens: int = 160
    kept: float = 0.5
    ts_tcl: bool = False
    token_selection: bool = True
    term_control: bool = True
    alpha: float = 1.0
    beta: float = 1.0
    precision: Literal["auto", "bfloat16", "float32"] = "auto"
    every: int = 25
    threads: int = 0

    BOUNDS: ClassVar[Mapping[str, tuple[float, float]]] = {
        "epochs": (1, 100),
        "batch": (2, 1024),
        "negatives": (0, 10),
        "negatives_from": (1, 50),
        "margin": (0, 1),
        "rate": (1e-8, 1e-1),
        "reading_rate": (1e-8, 1e-1),
        "warm_up": (0, 1),
        "question_tokens": (8, 8192),
        "passage_tokens": (8, 8192),
        "kept": (0, 1),
        "alpha": (0, 100),
        "beta": (0, 100),
        "every": (1, 100_000),
        "threads": (0, 256),
    }

    @property
    def pair_tokens(self) -> int:
        """Of question and passage together, as the cross-encoder reads them."""
        return self.question_tokens + self.passage_tokens

    def drawing(self, seed: int) -> Drawing:
        # The reader asks each question of all passages of its batch; the cross-encoder only of its own.
        in_batch = self.form == "reader"
        negatives = min(1, self.negatives) if in_batch else self.negatives
        return Drawing(self.epochs, self.batch, negatives, self.negatives_from, self.margin, seed, unique=in_batch)
