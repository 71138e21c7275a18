"""Training a cross-encoder: question and passage read together, relevant or not (Nogueira et al., 2019).

*Trustworthy Answers* 3.2: it starts from the tuned embedder, and learns each question's passage beside three
that were drawn from the first ten found. With TS+TCL two losses are added, each with its weight. A validation can end
the training early, with the best weights (A.1.2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from argot.errors import InvalidInput
from argot.learn.batches import DrawnExample
from argot.learn.pool_search import FoundPassages, device, has_bfloat16
from argot.learn.reranker.cross_encoder_export import write_cross_encoder
from argot.learn.reranker.reranker_recipe import RerankerRecipe
from argot.learn.reranker.ts_tcl import TermJudgingNetwork, list_idle_tokens, select_tokens
from argot.learn.run_data import RunData
from argot.learn.run_folder import RunFolder
from argot.learn.run_process import Reporter
from argot.learn.training_loop import LoopRecipe, TrainingLoop, Validation
from argot.measures import measure

VALIDATED_PASSAGES = 10
"""Passages that a validation ranks for each question: *Trustworthy Answers* finds 10 best (table 3)."""


def tune_cross_encoder(  # noqa: PLR0917
    base: Path,
    batches: Sequence[Sequence[DrawnExample]],
    recipe: RerankerRecipe,
    run: RunFolder,
    report: Reporter,
    searched: tuple[RunData, Mapping[str, FoundPassages]],
) -> TrainingLoop:
    """Train a cross-encoder from the encoder in `base`, going on where it was, and write it as the folder's model.

    Args:
        searched: the data, and the passages found for its pairs: what a validation ranks.
    """
    seed = run.request.seed
    torch.manual_seed(seed)  # the head, which no embedder brings, is drawn
    training = CrossEncoderTraining(base, recipe)
    network = training.network
    head = [one for name, one in network.named_parameters() if _is_head(name)]
    known = {id(one) for one in head}
    encoder = [one for one in network.parameters() if one.requires_grad and id(one) not in known]
    loop = TrainingLoop(
        network,
        [{"params": encoder, "lr": recipe.rate}, {"params": head, "lr": recipe.reading_rate}],
        lambda step: training.losses(batches[step]),
        run.path,
        LoopRecipe(len(batches), seed, recipe.warm_up, every=recipe.every, card=asdict(recipe)),
        Validation(lambda: training.measure_map(*searched), recipe.validate_every, recipe.patience)
        if recipe.validate_every
        else None,
    )
    loop.resume()
    report.doing("training")
    network.train()
    loop.run(report.step, report.stop_asked)
    report.doing("writing the model")
    write_cross_encoder(network.classifier.eval(), training.tokenizer, recipe.pair_tokens, run.model)
    return loop


def _is_head(name: str) -> bool:
    return name.startswith(("classifier.classifier.", "control."))


class CrossEncoderTraining:
    """The network with its tokenizer and its losses."""

    def __init__(self, base: Path, recipe: RerankerRecipe) -> None:
        if recipe.ts_tcl and not (recipe.token_selection or recipe.term_control):
            raise InvalidInput("The recipe has 'ts_tcl' without 'token_selection' and 'term_control': nothing is left.")
        self.recipe = recipe
        classifier, self.tokenizer = open_cross_encoder(base)
        self.network = TermJudgingNetwork(classifier, control=recipe.ts_tcl and recipe.term_control).to(device())
        self.idle = list_idle_tokens(self.tokenizer)
        self.half = recipe.precision == "bfloat16" or (recipe.precision == "auto" and has_bfloat16())
        for name, value in classifier.named_parameters():
            # Half of the weights, which a few pairs cannot train.
            if ".word_embeddings." in name:
                value.requires_grad_(False)

    def measure_map(self, data: RunData, found: Mapping[str, FoundPassages]) -> float:
        """Return MAP@10 on the validation part, over the first ten passages found for each question."""
        ranked = {}
        for pair in data.pairs["validation"]:
            passages = found[pair.id].passages[:VALIDATED_PASSAGES]
            scores = self._score_pairs(pair.question, [data.pool[one] for one in passages])
            order = sorted(range(len(passages)), key=lambda place: -scores[place])
            ranked[pair.id] = [passages[place] for place in order]
        return measure(ranked, data.qrels("validation")).mean["map@10"]

    @torch.no_grad()
    def _score_pairs(self, question: str, texts: Sequence[str]) -> list[float]:
        read = self._tokenize([(question, text) for text in texts])
        with torch.autocast(device(), torch.bfloat16, enabled=self.half):
            hidden = self.network.encode_tokens({name: value.to(device()) for name, value in read.items()})
            return [float(one) for one in self.network.relevance(hidden)]

    def _tokenize(self, pairs: Sequence[tuple[str, str]]) -> Any:
        return self.tokenizer(
            *map(list, zip(*pairs, strict=True)),
            padding=True,
            truncation="longest_first",
            max_length=self.recipe.pair_tokens,
            return_tensors="pt",
        )

    def losses(self, batch: Sequence[DrawnExample]) -> dict[str, Tensor]:
        """Return the cross entropy of the pairs, alpha times; with TS+TCL that of selected tokens, beta times."""
        pairs = [(one.question, text) for one in batch for text in (one.passage, *one.negatives)]
        labels = [float(place == 0) for one in batch for place in range(1 + len(one.negatives))]
        wanted = torch.tensor(labels, device=device())
        found = self._tokenize(pairs)
        read = {name: value.to(device()) for name, value in found.items()}
        with torch.autocast(device(), torch.bfloat16, enabled=self.half):
            hidden = self.network.encode_tokens(read)
            losses = {"relevance": self.recipe.alpha * _compute_entropy(self.network.relevance(hidden), wanted)}
            if self.recipe.ts_tcl:
                by_terms = self.network.term_relevance(read, hidden, self._select_tokens(found, read))
                losses["terms"] = self.recipe.beta * _compute_entropy(by_terms, wanted)
        return losses

    def _select_tokens(self, found: Any, read: dict[str, Tensor]) -> Tensor:
        if not self.recipe.token_selection:
            return read["attention_mask"].bool()
        parts = [found.sequence_ids(row) for row in range(len(read["input_ids"]))]
        question, passage = (
            torch.tensor([[one == which for one in row] for row in parts], device=device()) for which in (0, 1)
        )
        return select_tokens(read["input_ids"], question, passage, self.idle)


def _compute_entropy(logits: Tensor, wanted: Tensor) -> Tensor:
    return functional.binary_cross_entropy_with_logits(logits.float(), wanted)


def open_cross_encoder(base: Path) -> tuple[Any, Any]:
    """Open the encoder of a folder with a head of one score, new where it has none; and its tokenizer.

    Raises:
        InvalidInput: it cannot be opened, or has more than one score.
    """
    from safetensors import SafetensorError
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    folder = base if (base / "config.json").is_file() else base / "0_Transformer"
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        model = AutoModelForSequenceClassification.from_pretrained(
            folder, num_labels=1, local_files_only=True, trust_remote_code=False, use_safetensors=True
        )
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
        raise InvalidInput(f"The model in {base} cannot become a cross-encoder: {reason}.") from error
    return model, tokenizer
