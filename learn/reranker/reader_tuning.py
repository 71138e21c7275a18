"""Tuning the reader that Argot comes with on an organisation's own pairs."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from argot.learn.batches import DrawnExample
from argot.learn.reader.export import write_reader
from argot.learn.reader.training import Example, Trainer, TrainingRecipe
from argot.learn.reranker.reranker_recipe import RerankerRecipe
from argot.learn.run_folder import RunFolder
from argot.learn.run_process import Reporter
from argot.learn.training_card import publish_model
from argot.learn.training_loop import CHECKPOINT, TrainingLoop


def tune_reader(
    base: Path, batches: Sequence[Sequence[DrawnExample]], recipe: RerankerRecipe, run: RunFolder, report: Reporter
) -> TrainingLoop:
    """Train the reader from the encoder in `base`, going on where it was, and write it as the folder's model."""
    # The recipe of the reader cuts its examples into batches itself: incomplete ones would shift the others.
    full = [batch for batch in batches if len(batch) == len(batches[0])]
    examples = [Example("own", one.question, one.passage, one.negatives) for batch in full for one in batch]
    own = TrainingRecipe(
        seed=run.request.seed,
        questions=len(full[0]),
        encoder_rate=recipe.rate,
        reading_rate=recipe.reading_rate,
        warm_up=recipe.warm_up,
        question_tokens=recipe.question_tokens,
        passage_tokens=recipe.passage_tokens,
        every=recipe.every,
    )
    trainer = Trainer(base, examples, run.path, own)
    trainer.loop.resume()
    report.doing("training")
    trainer.run(report.step, report.stop_asked)
    report.doing("writing the model")
    draft = run.path / ".model-draft"
    shutil.rmtree(draft, ignore_errors=True)
    write_reader(run.path / CHECKPOINT, str(base), draft, kept=recipe.kept)
    publish_model(draft, run.model)
    return trainer.loop
