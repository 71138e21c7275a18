"""Training an embedder: each question nearer to its passage than to all others of the batch, and to near ones.

Contrastive learning with in-batch and mined hard negatives (AccurateRAG 2.2, *Trustworthy Answers* 3.2.2), by
sentence-transformers' MultipleNegativesRankingLoss.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from argot.learn.batches import Drawn
from argot.learn.embedder.embedder_recipe import EmbedderRecipe
from argot.learn.pool_search import multiplies_bfloat16, prefixes
from argot.learn.training_loop import LoopRecipe, TrainingLoop

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from torch import Tensor


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
