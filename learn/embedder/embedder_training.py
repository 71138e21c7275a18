"""Training an embedder: each question nearer to its passage than to all others of the batch, and to near ones.

Contrastive learning with in-batch and mined hard negatives (AccurateRAG 2.2, *Trustworthy Answers* 3.2.2), by
sentence-transformers' MultipleNegativesRankingLoss.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from argot.learn.batches import Drawing, Drawn
from argot.learn.pool_search import multiplies_bfloat16, prefixes
from argot.learn.recipes import Recipe
from argot.learn.training_loop import LoopRecipe, TrainingLoop

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class EmbedderRecipe(Recipe):
    """What decides the weights, beside the data. The defaults suit two processor cores.

    Attributes:
        negatives, negatives_from, margin: as `argot.learn.batches.Drawing` has them.
        scale: of the cosines in the loss.
        frozen_words: the words' own vectors stay as they are: half of the weights, which few pairs only spoil.
        kept: the share of the starting weights mixed into the trained ones, which protects what it knew before
            (Wortsman et al., 2022, "Robust fine-tuning of zero-shot models").
        precision: of the products while learning; "auto": 16 bits where the processor has instructions for them.
        every: steps between checkpoints.
        threads: processor threads; 0: as many as torch takes.
    """

    epochs: int = 3
    batch: int = 16
    rate: float = 2e-5
    warm_up: float = 0.1
    question_tokens: int = 48
    passage_tokens: int = 160
    negatives: int = 1
    negatives_from: int = 10
    margin: float = 0.0
    scale: float = 20.0
    frozen_words: bool = True
    kept: float = 0.5
    precision: Literal["auto", "bfloat16", "float32"] = "auto"
    every: int = 25
    threads: int = 0

    BOUNDS: ClassVar[Mapping[str, tuple[float, float]]] = {
        "epochs": (1, 100),
        "batch": (2, 1024),
        "rate": (1e-8, 1e-1),
        "warm_up": (0, 1),
        "question_tokens": (8, 8192),
        "passage_tokens": (8, 8192),
        "negatives": (0, 10),
        "negatives_from": (1, 50),
        "margin": (0, 1),
        "scale": (1, 200),
        "kept": (0, 1),
        "every": (1, 100_000),
        "threads": (0, 256),
    }

    def drawing(self, seed: int) -> Drawing:
        return Drawing(self.epochs, self.batch, self.negatives, self.negatives_from, self.margin, seed)


def embedder_loop(
    model: SentenceTransformer, batches: Sequence[Sequence[Drawn]], recipe: EmbedderRecipe, seed: int, folder: Path
) -> TrainingLoop:
    """The loop that trains `model` in place."""
    import torch
    from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss

    if recipe.frozen_words:
        freeze_words(model)
    ranking = MultipleNegativesRankingLoss(model, scale=recipe.scale)
    asking, passing = prefixes(model)
    half = recipe.precision == "bfloat16" or (recipe.precision == "auto" and multiplies_bfloat16())

    def losses(step: int) -> dict[str, Tensor]:
        columns = _columns(batches[step], asking, passing)
        lengths = [recipe.question_tokens, *[recipe.passage_tokens] * (len(columns) - 1)]
        read = [tokens(model, column, most) for column, most in zip(columns, lengths, strict=True)]
        with torch.autocast(model.device.type, torch.bfloat16, enabled=half):
            # The loss is of positions alone: no labels.
            return {"ranking": ranking(read, None)}

    learning = [one for one in model.parameters() if one.requires_grad]
    card = asdict(recipe) | {"seed": seed}
    loop = LoopRecipe(len(batches), seed, recipe.warm_up, every=recipe.every, card=card)
    return TrainingLoop(model, [{"params": learning, "lr": recipe.rate}], losses, folder, loop)


def _columns(batch: Sequence[Drawn], asking: str, passing: str) -> list[list[str]]:
    """Questions, their passages, and as many columns of negatives as all of the batch have."""
    least = min(len(one.negatives) for one in batch)
    negatives = [[passing + one.negatives[place] for one in batch] for place in range(least)]
    return [[asking + one.question for one in batch], [passing + one.passage for one in batch], *negatives]


def tokens(model: SentenceTransformer, texts: Sequence[str], most: int) -> dict[str, Any]:
    """Texts as the model reads them, cut at `most` tokens, or where the model ends anyway."""
    longest = min(most, model.max_seq_length or most)
    read = model.tokenizer(list(texts), padding=True, truncation=True, max_length=longest, return_tensors="pt")
    return {name: value.to(model.device) for name, value in read.items()}


def freeze_words(model: Any) -> None:
    """The vectors of words, which are looked up, are not learnt."""
    for name, value in model.named_parameters():
        if ".word_embeddings." in name or name.endswith("embed_tokens.weight"):
            value.requires_grad_(False)
