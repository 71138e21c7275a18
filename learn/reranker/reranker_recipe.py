"""The recipe of a re-ranker: its settings beside the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from argot.learn.batches import Drawing
from argot.learn.recipes import TuningRecipe, make_option


@dataclass(frozen=True, slots=True)
class RerankerRecipe(TuningRecipe):
    """The recipe of a re-ranker. The defaults suit two processor cores.

    *Trustworthy Answers* draws three negatives of the first ten (3.2), which holds for the cross-encoder; the reader
    takes one, and those of the other questions in the batch. The paper names the weights of the two losses, and gives
    no values. Its own training (A.1.2): `batch` 4, `rate` 1e-5, `validate_every` 1000, `patience` 3 and
    `negatives_in_training`.
    """

    form: Literal["reader", "cross_encoder"] = make_option(
        "reader",
        "reader: the one that Argot comes with, which reads a passage once for all questions; cross_encoder: one that "
        "reads question and passage together",
    )
    embedder: str = make_option(
        "", "what finds the passages that are put in order; empty: the model that is started from"
    )
    epochs: int = make_option(2, "how often each pair is seen", least=1, most=100)
    batch: int = make_option(12, "pairs read at once; fewer need less memory", least=2, most=1024)
    negatives: int = make_option(
        3, "passages beside the right one that each question learns to leave", least=0, most=10
    )
    negatives_from: int = make_option(10, "of how many of the first found they are drawn", least=1, most=50)
    negatives_in_training: bool = make_option(
        False, "draw no passage of the validation and test parts as a negative (Trustworthy Answers 3.2)"
    )
    margin: float = make_option(
        0.0, "how much less like the question than the right passage a negative has to be", least=0, most=1
    )
    rate: float = make_option(2e-5, "the highest learning rate", least=1e-8, most=1e-1)
    reading_rate: float = make_option(1e-3, "the learning rate of the layers beside the encoder", least=1e-8, most=1e-1)
    warm_up: float = make_option(
        0.1, "the share of all steps in which the rate rises; then it falls to 0", least=0, most=1
    )
    question_tokens: int = make_option(48, "tokens of a question that are read", least=8, most=8192)
    passage_tokens: int = make_option(160, "tokens of a passage that are read", least=8, most=8192)
    kept: float = make_option(
        0.5, "of the reader: the share of the starting encoder mixed into the trained one", least=0, most=1
    )
    ts_tcl: bool = make_option(False, "of a cross-encoder: token selection and term control (Trustworthy Answers 3.2)")
    token_selection: bool = make_option(True, "one of the two")
    term_control: bool = make_option(True, "the other one")
    alpha: float = make_option(
        1.0,
        "the weight of the loss of relevance, by question and whole passage (Trustworthy Answers 3.2)",
        least=0,
        most=100,
    )
    beta: float = make_option(
        1.0, "of ts_tcl: the weight of the loss of the selected tokens' relevance", least=0, most=100
    )
    validate_every: int = make_option(
        0,
        "of a cross-encoder: steps between measurements of MAP@10 on the validation part; the best weights are kept; "
        "0: the last weights",
        least=0,
        most=100_000,
    )
    patience: int = make_option(
        3, "of validate_every: measurements in a row without a better one that end the training", least=1, most=100
    )
    precision: Literal["auto", "bfloat16", "float32"] = make_option(
        "auto", "of the products while learning; auto: 16 bits where the processor has instructions for them"
    )
    every: int = make_option(25, "steps between checkpoints", least=1, most=100_000)
    threads: int = make_option(0, "processor threads; 0: as many as PyTorch takes", least=0, most=256)

    @property
    def pair_tokens(self) -> int:
        """The tokens of question and passage together, as the cross-encoder reads them."""
        return self.question_tokens + self.passage_tokens

    def drawing(self, seed: int) -> Drawing:
        # The reader compares each question with all passages of its batch; the cross-encoder only with its own.
        in_batch = self.form == "reader"
        negatives = min(1, self.negatives) if in_batch else self.negatives
        return Drawing(
            self.epochs,
            self.batch,
            negatives,
            self.negatives_from,
            self.margin,
            seed,
            unique=in_batch,
            in_training=self.negatives_in_training,
        )
