"""Training an embedder: each question nearer to its passage than to all others of the batch, and to near ones.

Contrastive learning with in-batch and mined hard negatives (AccurateRAG 2.3.1, *Trustworthy Answers* 3.2), by
sentence-transformers' MultipleNegativesRankingLoss.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from argot.learn.batches import DrawnExample
from argot.learn.embedder.embedder_recipe import EmbedderRecipe
from argot.learn.pool_search import has_bfloat16, read_prefixes
from argot.learn.training_loop import LoopRecipe, TrainingLoop

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from torch import Tensor


def build_embedder_loop(
    model: SentenceTransformer,
    batches: Sequence[Sequence[DrawnExample]],
    recipe: EmbedderRecipe,
    seed: int,
    folder: Path,
) -> TrainingLoop:
    """Build the loop that trains `model` in place."""
    import torch
    from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss

    if recipe.frozen_words:
        freeze_word_vectors(model)
    ranking = MultipleNegativesRankingLoss(model, scale=recipe.scale)
    asking, passing = read_prefixes(model)
    half = recipe.precision == "bfloat16" or (recipe.precision == "auto" and has_bfloat16())

    def losses(step: int) -> dict[str, Tensor]:
        columns = _build_columns(batches[step], asking, passing)
        lengths = [recipe.question_tokens, *[recipe.passage_tokens] * (len(columns) - 1)]
        read = [tokenize_texts(model, column, most) for column, most in zip(columns, lengths, strict=True)]
        with torch.autocast(model.device.type, torch.bfloat16, enabled=half):
            # The loss is of positions alone: no labels.
            return {"ranking": ranking(read, None)}

    learning = [one for one in model.parameters() if one.requires_grad]
    card = asdict(recipe) | {"seed": seed}
    loop = LoopRecipe(len(batches), seed, recipe.warm_up, every=recipe.every, card=card)
    return TrainingLoop(model, [{"params": learning, "lr": recipe.rate}], losses, folder, loop)


def _build_columns(batch: Sequence[DrawnExample], asking: str, passing: str) -> list[list[str]]:
    """Return the questions, their passages, and as many columns of negatives as every question has."""
    least = min(len(one.negatives) for one in batch)
    negatives = [[passing + one.negatives[place] for one in batch] for place in range(least)]
    return [[asking + one.question for one in batch], [passing + one.passage for one in batch], *negatives]


def tokenize_texts(model: SentenceTransformer, texts: Sequence[str], most: int) -> dict[str, Any]:
    """Tokenize texts for the model, cut at `most` tokens, or at the model's own limit."""
    longest = min(most, model.max_seq_length or most)
    read = model.tokenizer(list(texts), padding=True, truncation=True, max_length=longest, return_tensors="pt")
    return {name: value.to(model.device) for name, value in read.items()}


def freeze_word_vectors(model: Any) -> None:
    """Exclude the word vectors, which are looked up, from training."""
    for name, value in model.named_parameters():
        if ".word_embeddings." in name or name.endswith("embed_tokens.weight"):
            value.requires_grad_(False)
