"""The commands that prepare data, train the passage reader and measure it; see `--help`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from argot.learn.passage_reader.examples import Example, read_examples

EXAMPLES = """examples:
  python -m argot.learn.passage_reader data --sets ../shared/datasets/lay_train --invented --work reader_work
  python -m argot.learn.passage_reader data --sets ../shared/datasets/lay_train --work reader_work --split validation
  python -m argot.learn.passage_reader train --work reader_work --out passage_reader.json
  python -m argot.learn.passage_reader measure --work reader_work --weights passage_reader.json
  python -m argot.learn.passage_reader pairs --datasets ../shared/datasets --work reader_work --out pair_reader.onnx
  python -m argot.learn.passage_reader adapter --sets ../shared/datasets/lay_train --invented --work reader_work \\
      --out query_adapter.npz

An interrupted "data" goes on with the next set. "train" takes less than a minute, gives the same weights each time,
and measures them if there are examples for validation. "pairs" takes about three hours of one core, "adapter" half an
hour; interrupted, both go on where they were.
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command: prepare data, train, or measure."""
    parser = argparse.ArgumentParser(
        prog="python -m argot.learn.passage_reader",
        description="Trains the passage reader: which passage answers a question, and which of its sentences.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    data = commands.add_parser("data", help="prepare examples for training or measuring")
    data.add_argument("--split", choices=("train", "validation", "test"), default="train")
    train = commands.add_parser("train", help="train, and write the file that is served")
    train.add_argument("--out", type=Path, required=True)
    measure = commands.add_parser("measure", help="measure a file")
    measure.add_argument("--weights", type=Path, required=True)
    measure.add_argument("--pairs", type=Path, help="the graph of a pair reader, which reads beside the weights")
    measure.add_argument("--split", choices=("train", "validation", "test"), default="validation")
    pairs = commands.add_parser("pairs", help="train the pair reader, and write the graph that is served and its card")
    pairs.add_argument("--datasets", type=Path, required=True, help="the folder with medquad, clapnq and lay_train")
    pairs.add_argument("--out", type=Path, required=True)
    adapter = commands.add_parser("adapter", help="train the adapter that embeds questions, and measure it")
    adapter.add_argument("--out", type=Path, required=True)
    for command in (data, adapter):
        command.add_argument("--sets", type=Path, required=True, help="folders with documents/ and questions.jsonl")
        command.add_argument("--invented", action="store_true", help="also the invented organisations of Argot")
        command.add_argument("--threads", type=int, default=1)
    for command in (data, train, measure, pairs, adapter):
        command.add_argument("--work", type=Path, required=True, help="a folder for bases and examples")
    _run_command(parser.parse_args(arguments))


def _run_command(arguments: argparse.Namespace) -> None:
    if arguments.command == "data":
        from argot.learn.passage_reader.known_questions import prepare_examples
        from argot.settings import Settings

        settings = Settings(threads=arguments.threads)
        for name, target in prepare_examples(_list_sets(arguments), arguments.work, arguments.split, settings):
            print(f"{name}: {target}", flush=True)
    elif arguments.command == "train":
        _train(arguments.work, arguments.out)
    elif arguments.command == "pairs":
        _train_pairs(arguments.datasets, arguments.work, arguments.out)
    elif arguments.command == "adapter":
        _train_adapter(arguments)
    else:
        from argot.learn.passage_reader.figures import measure_examples
        from argot.tools.retrieval.pair_reader import PairReader
        from argot.tools.retrieval.passage_reader import read_weights

        weights = read_weights(arguments.weights)
        if weights is None:
            raise SystemExit(f"{arguments.weights} is not there. Train it, or name another file with --weights.")
        pairs = PairReader(arguments.pairs, threads=1) if arguments.pairs else None
        print(json.dumps(measure_examples(_read_split(arguments.work, arguments.split), weights, pairs), indent=1))


def _list_sets(arguments: argparse.Namespace) -> list[Path]:
    from argot.learn.passage_reader.written_questions import extract_invented_sets

    sets = [one.parent for one in arguments.sets.glob("*/questions.jsonl")]
    return sets + (extract_invented_sets(arguments.work / "invented") if arguments.invented else [])


def _train(work: Path, out: Path) -> None:
    import torch

    from argot.learn.passage_reader.card import write_reader
    from argot.learn.passage_reader.figures import measure_examples
    from argot.learn.passage_reader.training import PassageReaderRecipe, train_passage_reader
    from argot.tools.retrieval.passage_reader import parse_weights

    torch.set_num_threads(1)  # the sums of several threads differ in the last digits
    examples = _read_split(work, "train")
    weights = train_passage_reader(examples, PassageReaderRecipe(), _tell)
    others = read_examples(sorted(work.glob("*.validation.jsonl")))
    write_reader(weights, examples, out, measure_examples(others, parse_weights(weights)) if others else None)
    print(f"{len(examples)} questions; {out}")


def _train_pairs(datasets: Path, work: Path, out: Path) -> None:
    import torch

    from argot.corpus.embedding.exported_models import find_model_folder
    from argot.learn.passage_reader.card import write_pair_card
    from argot.learn.passage_reader.figures import measure_examples
    from argot.learn.passage_reader.first_examples import read_first_examples
    from argot.learn.passage_reader.pair_export import export_pair_reader
    from argot.learn.passage_reader.pair_training import train_pair_reader
    from argot.learn.training_loop import read_checkpoint
    from argot.tools.retrieval.pair_reader import PAIR_READER_SOURCE, PairReader
    from argot.tools.retrieval.passage_reader import WEIGHTS_FILE, read_weights

    torch.set_num_threads(1)
    first, known = read_first_examples(datasets), _read_split(work, "train")
    model = find_model_folder(PAIR_READER_SOURCE)
    trained = train_pair_reader(model, first, known, work / "pairs", _tell_step)
    export_pair_reader(trained, out)
    weights, others = read_weights(WEIGHTS_FILE), read_examples(sorted(work.glob("*.validation.jsonl")))
    figures = measure_examples(others, weights, PairReader(out, threads=1)) if weights and others else None
    write_pair_card(read_checkpoint(trained), [*first, *known], out.with_suffix(".json"), figures)
    print(f"{len(first) + len(known)} questions; {out}")


def _train_adapter(arguments: argparse.Namespace) -> None:
    import torch

    from argot.corpus.embedding.embedder import load_embedder
    from argot.corpus.embedding.exported_models import find_model_folder
    from argot.learn.passage_reader.adapter_training import AdapterRecipe, AdapterTraining, measure_search
    from argot.learn.passage_reader.card import write_adapter_with_card
    from argot.learn.passage_reader.searched_sets import read_searched_sets
    from argot.settings import Settings
    from argot.tools.retrieval.pair_reader import PAIR_READER_SOURCE

    torch.set_num_threads(1)
    sets, settings = _list_sets(arguments), Settings(threads=arguments.threads, embedder=PAIR_READER_SOURCE)
    known = list(read_searched_sets(sets, arguments.work, "train", settings))
    if not known:
        raise SystemExit(f"{arguments.sets} holds no questions of the split 'train' whose answer is in a passage.")
    others = list(read_searched_sets(sets, arguments.work, "validation", settings))
    training = AdapterTraining(
        find_model_folder(PAIR_READER_SOURCE), known, arguments.work / "adapter", AdapterRecipe()
    )
    changes = training.train_adapter(_tell_step)
    figures = {
        "before": measure_search(others, load_embedder(settings).embed_queries),
        "after": measure_search(others, training.embed_questions),
    }
    write_adapter_with_card(changes, known, figures, arguments.out)
    print(json.dumps(figures, indent=1))


def _tell_step(step: int, of: int, losses: Mapping[str, float]) -> None:
    if step % 50 == 0:
        print(f"step {step} of {of}: {', '.join(f'{name} {loss:.3f}' for name, loss in losses.items())}", flush=True)


def _tell(part: str, epoch: int, of: int) -> None:
    if epoch == of:
        print(f"{part}: {of} epochs", flush=True)


def _read_split(work: Path, split: str) -> list[Example]:
    found = sorted(work.glob(f"*.{split}.jsonl"))
    if not found:
        raise SystemExit(f"{work} holds no examples of the split '{split}'. Make them with the command data.")
    return read_examples(found)


if __name__ == "__main__":
    main()
