"""The recipe of a tuned language model: its settings beside the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from argot.errors import InvalidInput
from argot.learn.recipes import TuningRecipe, build_recipe, make_option

MAX_FULL_PARAMETERS = 500_000_000
"""Weights of a model up to which all of them are trained without being forced: some 8 GB of memory."""
BYTES_PER_TUNED_WEIGHT = 16
"""Each weight in 32 bits, its gradient, and AdamW's two moments."""
MIN_EXAMPLES = 10
"""Minimum number of examples: with fewer a model only memorises them."""


@dataclass(frozen=True, slots=True)
class GeneratorRecipe(TuningRecipe):
    """The settings by which a language model is tuned.

    As in AccurateRAG: LoRA of rank 32 (3.1) on expanded and shuffled contexts (2.4.1). The other defaults suit a few
    hundred pairs and one small machine; the papers' own are a rate of 5e-5, 3 epochs, 64 examples a step and 10 % of
    warm-up (AccurateRAG 3.1), or 2e-5 and 3 epochs (*Trustworthy Answers* A.1.2).
    """

    method: Literal["lora", "full"] = make_option(
        "lora", "lora: a small adapter beside the model, which stays as it is; full: all weights (small models only)"
    )
    examples: Literal["contexts", "answers"] = make_option(
        "contexts",
        "contexts: the question with its passage among others, shuffled, answered with citations; answers: the "
        "question alone",
    )
    prompt: str = make_option(
        "", "of 'answers': the prompt by which questions are asked, e.g. identify_jargon; empty: none"
    )
    passages: int = make_option(
        5, "of 'contexts': passages in each example, the right one among them", least=1, most=50
    )
    contexts_by: Literal["neighbours", "semantic", "keyword", "hybrid"] = make_option(
        "neighbours",
        "of 'contexts': the other passages. neighbours: those beside the right one, its negatives, then the likest by "
        "words; else the first that a search finds (AccurateRAG 2.4.1): semantic, keyword (BM25) or hybrid, both fused",
    )
    embedder: str = make_option(
        "", "of contexts_by semantic and hybrid: what finds the passages; empty: the model in use, or Argot's own"
    )
    neighbours: int = make_option(
        1, "of contexts_by neighbours: passages before and behind the right one that are among them", least=0
    )
    unanswerable: float = make_option(
        0.1, "of 'contexts': the share of examples without the right passage, answered by saying so", least=0, most=0.9
    )
    rank: int = make_option(
        32, "of lora: the adapter's rank; vLLM needs --max-lora-rank of at least this", least=1, most=512
    )
    alpha: int = make_option(64, "of lora: how strongly the adapter counts; as a rule twice the rank", least=1)
    dropout: float = make_option(
        0.05, "of lora: the share of the adapter's inputs left out at random", least=0, most=0.9
    )
    target_modules: tuple[str, ...] = make_option(
        (), "of lora: the layers it stands beside; none named: all linear ones"
    )
    rate: float = make_option(0.0, "the highest learning rate; 0: 2e-4 for lora, 2e-5 for full", least=0, most=1)
    epochs: int = make_option(2, "how often each example is seen", least=1)
    steps: int = make_option(0, "how many steps are trained; 0: as epochs say", least=0)
    batch: int = make_option(4, "examples read at once; fewer need less memory", least=1)
    accumulate: int = make_option(2, "batches whose gradients are added up for one step", least=1)
    warm_up: float = make_option(
        0.06, "the share of all steps in which the rate rises; then it falls to 0", least=0, most=1
    )
    weight_decay: float = make_option(0.0, "by how much weights are drawn towards 0", least=0, most=1)
    every: int = make_option(25, "steps between checkpoints", least=1)
    longest: int = make_option(
        2048, "tokens of an example; passages are left out to fit, answers are never cut", least=32
    )
    measured: int = make_option(
        20, "questions of each part that are answered before and after; 0: token loss alone, which is faster", least=0
    )
    answer_tokens: int = make_option(160, "the longest answer written when measuring", least=1, most=4096)
    threads: int = make_option(0, "processor threads; 0: as PyTorch chooses", least=0)
    force: bool = make_option(False, "of full: train all weights of a large model too")

    @property
    def is_searched_by_meaning(self) -> bool:
        return self.examples == "contexts" and self.contexts_by in ("semantic", "hybrid")

    @property
    def learning_rate(self) -> float:
        return self.rate or (2e-4 if self.method == "lora" else 2e-5)


def build_generator_recipe(given: Mapping[str, Any]) -> GeneratorRecipe:
    """Build a recipe from the values given, and defaults.

    Raises:
        InvalidInput: a name is unknown, a value is of the wrong type or out of bounds, or two do not go together.
    """
    recipe = build_recipe(GeneratorRecipe, given)
    if recipe.prompt and recipe.examples == "contexts":
        raise InvalidInput(
            "The recipe cannot be used: 'prompt' belongs to examples 'answers'. Examples of 'contexts' "
            "are asked by the prompt that the service asks for answers by."
        )
    return recipe


def refuse_large(weights: int, recipe: GeneratorRecipe) -> None:
    """Refuse to train all weights of a large model.

    Raises:
        InvalidInput: the model is too large for training all its weights.
    """
    if recipe.method == "full" and weights > MAX_FULL_PARAMETERS and not recipe.force:
        raise InvalidInput(
            f"The model has {weights / 1e6:,.0f} million weights. To train all of them takes about "
            f"{weights * BYTES_PER_TUNED_WEIGHT / 2**30:.0f} GB of memory, and a few thousand examples would make it "
            f"forget what it knows. Use method 'lora', or set force=true (no questions asked up to "
            f"{MAX_FULL_PARAMETERS / 1e6:.0f} million)."
        )
