"""Tuning a language model in a run folder: examples, figures before, training, figures after, model and card."""

from __future__ import annotations

import json
import random
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from argot.errors import InvalidInput, LocalError
from argot.files import write_atomically
from argot.learn.figures import measure_peak_megabytes
from argot.learn.generator.answer_figures import Figures, compare_figures, measure_answers
from argot.learn.generator.answering import compute_answer_losses
from argot.learn.generator.base_models import (
    find_base_model,
    load_model,
    load_tokenizer,
    prepare_for_tuning,
    require_adapter_package,
    write_model,
)
from argot.learn.generator.examples import ExampleMaker
from argot.learn.generator.generator_recipe import MIN_EXAMPLES, build_generator_recipe
from argot.learn.generator.tokens import ChatTokens, TokenizedExample, UsableExamples, collect_examples
from argot.learn.pool_search import device, has_bfloat16, load_embedder, search_pool
from argot.learn.preparation import compute_weights_fingerprint, make_stoppable, use_threads
from argot.learn.run_data import build_run_data, compute_data_fingerprint
from argot.learn.run_folder import RunFolder
from argot.learn.run_process import Reporter
from argot.learn.starting_model import find_starting_model
from argot.learn.training_loop import LoopRecipe, TrainingLoop, TrainingStopped
from argot.learn.training_pairs import PARTS, Part, TrainingPair, select_part
from argot.tools.retrieval.scorer_choice import READER_SOURCE_MODEL

MEASURED: tuple[Part, ...] = ("validation", "test")
_BEFORE, _SPENT, _CONTEXTS = "before.json", "spent.json", "contexts.json"


def train(run: RunFolder, report: Reporter) -> None:
    """Train the run's model to its end; model/ and card.json are there when it returns.

    Raises:
        InvalidInput: pairs, recipe and model do not go together.
        MissingExtra: an adapter needs peft, which is not installed.
        TrainingStopped: a stop was asked for; it can go on.
        LocalError: the graphics card was lost, or its memory does not suffice; it can go on.
    """
    Training(run, report).run()


class Training:
    """One run in this process. Everything is drawn from the run's folder, so that a second process can continue it."""

    def __init__(self, run: RunFolder, report: Reporter) -> None:
        self.folder, self.report = run, report
        self.request = run.request
        self.recipe = build_generator_recipe(self.request.recipe)
        # Before anything is read or measured, which takes hours with a real model.
        require_adapter_package(self.recipe)
        use_threads(self.recipe.threads)
        report.doing("reading the model")
        self.base = find_base_model(self.request.base, run.path.parent)
        self.tokenizer = load_tokenizer(self.base)
        self.tokens = ChatTokens(self.tokenizer)
        report.doing("preparing examples")
        self.examples = self._build_examples()
        self.device = torch.device(device())
        self.in_16_bits = has_bfloat16()

    def run(self) -> None:
        with self._explain_lost_card():
            # An adapter's model stays as it is: 16 bits suffice. Weights that learn need 32.
            frozen = self.recipe.method == "lora" and self.in_16_bits
            model = load_model(self.base, torch.bfloat16 if frozen else torch.float32, self.device)
            torch.manual_seed(self.request.seed)  # an adapter's first weights are drawn
            before = self._measure_before(model)
            model = prepare_for_tuning(model, self.base, self.recipe)
            steps = self._train(model)
            after = self._measure(model.eval(), "measuring after")
            self._keep(model, before, after, steps)

    # -- stages -------------------------------------------------------------------------------------------------------

    def _build_examples(self) -> dict[Part, UsableExamples]:
        """Build the examples of each part.

        Raises:
            InvalidInput: there are too few to learn from; the message is the reason.
        """
        pairs = self.folder.pairs()
        maker = ExampleMaker(self.recipe, self.folder.passages(), self.request.seed, self._find_contexts(pairs))
        found = {
            part: collect_examples(select_part(pairs, part), maker, self.tokens, self.recipe.longest) for part in PARTS
        }
        learnt = found["train"]
        if len(learnt.examples) < MIN_EXAMPLES:
            raise InvalidInput(
                f"There are too few examples to learn from: {len(learnt.examples)}, and it takes {MIN_EXAMPLES}. Of "
                f"the {len(select_part(pairs, 'train'))} pairs to train on, {learnt.no_answer} have no answer and "
                f"{learnt.too_long} are longer than {self.recipe.longest} tokens. {_name_remedy(learnt)}"
            )
        return found

    def _find_contexts(self, pairs: Sequence[TrainingPair]) -> dict[str, list[str]]:
        """Find the passages nearest to each question by meaning, once: a resumed training finds them in its folder."""
        path = self.folder.path / _CONTEXTS
        if not self.recipe.is_searched_by_meaning:
            return {}
        if not path.is_file():
            named = self.recipe.embedder or READER_SOURCE_MODEL
            embedder = load_embedder(find_starting_model(named, self.folder.path.parent))
            data = build_run_data(pairs, self.folder.passages())
            found = search_pool(embedder, data, make_stoppable(self.report))
            write_atomically(path, json.dumps({pair: one.passages for pair, one in found.items()}))
        kept: dict[str, list[str]] = json.loads(path.read_text("utf-8"))
        return kept

    def _measure_before(self, model: Any) -> dict[str, Figures]:
        """Measure the initial figures, once: a resumed training finds them in its folder."""
        path = self.folder.path / _BEFORE
        if path.is_file():
            kept = json.loads(path.read_text("utf-8"))
            return {part: Figures.from_json(one) for part, one in kept.items()}
        found = self._measure(model, "measuring before")
        write_atomically(path, json.dumps({part: one.as_json() for part, one in found.items()}))
        return found

    def _measure(self, model: Any, what: str) -> dict[str, Figures]:
        """Measure each part that has examples, of which the first `measured` of a fixed draw are answered."""
        self.report.doing(what)
        chosen = {part: self._draw_measured(self.examples[part].examples) for part in MEASURED}
        total = sum(len(losses) + len(asked) for losses, asked in chosen.values())
        done = 0

        def tell(count: int) -> None:
            nonlocal done
            if self.report.stop_asked():
                raise TrainingStopped
            done += count
            self.report.step(done, total)

        with self._use_16_bits():
            return {
                part: measure_answers(model, self.tokens, *some, self.recipe.answer_tokens, tell)
                for part, some in chosen.items()
                if some[0]
            }

    def _draw_measured(
        self, examples: Sequence[TokenizedExample]
    ) -> tuple[Sequence[TokenizedExample], Sequence[TokenizedExample]]:
        """Draw the examples to measure the loss of, at most ten times those answered, and the answered ones."""
        order = random.Random(self.request.seed).sample(range(len(examples)), len(examples))  # noqa: S311
        most = 10 * max(20, self.recipe.measured)
        return [examples[one] for one in order[:most]], [examples[one] for one in order[: self.recipe.measured]]

    def _list_passages(self, part: Part) -> list[str]:
        """List the passages that the measured examples are about."""
        return [one.example.pair.passage_id for one in self._draw_measured(self.examples[part].examples)[0]]

    def _train(self, model: Any) -> int:
        examples, recipe = self.examples["train"].examples, self.recipe
        size = recipe.batch * recipe.accumulate
        steps = recipe.steps or max(1, round(recipe.epochs * len(examples) / size))
        order = list(_order_examples(len(examples), steps * size, self.request.seed))

        def losses(number: int) -> dict[str, Tensor]:
            batch = [examples[one] for one in order[number * recipe.batch : (number + 1) * recipe.batch]]
            with self._use_16_bits():
                return {"loss": compute_answer_losses(model, batch).mean()}

        learning = [one for one in model.parameters() if one.requires_grad]
        loop = TrainingLoop(
            model,
            [{"params": learning, "lr": recipe.learning_rate}],
            losses,
            self.folder.path,
            LoopRecipe(
                steps,
                self.request.seed,
                recipe.warm_up,
                recipe.weight_decay,
                every=recipe.every,
                accumulate=recipe.accumulate,
                card=asdict(recipe),
            ),
        )
        self.report.doing("training")
        loop.resume()
        model.train()
        spent, began = self._read_spent_seconds(), time.monotonic()

        def tell(step: int, of: int, values: Mapping[str, float]) -> None:
            self.report.step(step, of, values)
            write_atomically(
                self.folder.path / _SPENT, json.dumps({"seconds": round(spent + time.monotonic() - began, 1)})
            )

        loop.run(tell, self.report.stop_asked)
        return steps

    def _keep(self, model: Any, before: dict[str, Figures], after: dict[str, Figures], steps: int) -> None:
        self.report.doing("writing the model")
        weights = sum(one.numel() for one in model.parameters() if one.requires_grad)
        draft = self.folder.path / "model.draft"
        shutil.rmtree(draft, ignore_errors=True)
        write_model(model, self.tokenizer, self.base, draft)
        shutil.rmtree(self.folder.model, ignore_errors=True)
        draft.rename(self.folder.model)
        self.folder.keep_card(
            {
                "kind": "generator",
                "name": self.request.name,
                "data": self.request.data,
                "data_fingerprint": compute_data_fingerprint(self.folder.pairs(), self.folder.passages()),
                "base": self.base.name,
                "base_fingerprint": self.base.fingerprint,
                "seed": self.request.seed,
                "recipe": asdict(self.recipe),
                "examples": {part: _count_examples(one) for part, one in self.examples.items()},
                "steps": steps,
                "weights_trained": weights,
                "device": str(self.device.type),
                "seconds": self._read_spent_seconds(),
                "peak_megabytes": measure_peak_megabytes(),
                "peak_card_megabytes": _measure_peak_card_megabytes(self.device),
                "figures": {
                    part: compare_figures(before[part], after[part], self._list_passages(part))
                    for part in MEASURED
                    if part in after
                },
                "fingerprint": compute_weights_fingerprint(self.folder.model),
            }
        )

    # -- the machine --------------------------------------------------------------------------------------------------

    def _use_16_bits(self) -> Any:
        """Calculate with weights of 32 bits in 16 where the machine has them."""
        if self.in_16_bits and self.recipe.method == "full":
            return torch.autocast(self.device.type, dtype=torch.bfloat16)
        return nullcontext()

    def _read_spent_seconds(self) -> float:
        path: Path = self.folder.path / _SPENT
        return float(json.loads(path.read_text("utf-8"))["seconds"]) if path.is_file() else 0.0

    @contextmanager
    def _explain_lost_card(self) -> Iterator[None]:
        try:
            yield
        except torch.OutOfMemoryError:
            raise LocalError(
                "The graphics card's memory does not suffice. Nothing trained is lost. Give a smaller batch, or a "
                "smaller 'longest'."
            ) from None
        except RuntimeError as error:
            if self.device.type != "cuda" or "cuda" not in str(error).casefold():
                raise
            raise LocalError(
                f"The graphics card was lost: {str(error).splitlines()[0]}. What was trained is kept up to the last "
                "checkpoint. Resume the training when the card is back."
            ) from error


def _order_examples(examples: int, count: int, seed: int) -> Iterator[int]:
    """Order the examples: all of them once, in a newly drawn order, before any is repeated."""
    chance = random.Random(seed)  # noqa: S311
    left: list[int] = []
    for _ in range(count):
        left = left or chance.sample(range(examples), examples)
        yield left.pop()


def _name_remedy(one: UsableExamples) -> str:
    if one.too_long > one.no_answer:
        return "Train again with longer examples, such as --set longest=2048, as far as the memory suffices."
    source = "pairs that a model wrote have them, as do those you give with an 'answer'"
    return f"A language model learns from answers: {source}."


def _count_examples(one: UsableExamples) -> dict[str, int]:
    return {"used": len(one.examples), "no_answer": one.no_answer, "too_long": one.too_long}


def _measure_peak_card_megabytes(device: torch.device) -> int:
    return int(torch.cuda.max_memory_allocated() >> 20) if device.type == "cuda" else 0
