"""Token selection and term control, measured separately: cross-encoders with neither, either and both of them.

    python bench/cross_encoders.py --work FOLDER [--ways neither both] [epochs=3 rate=1e-4 ...]

Training starts from Argot's embedder (*Trustworthy Answers* 3.2), on the same pairs: those that bench/tuning.py makes
from the documents of all its sets together. The measure is each model's order of the embedder's first ten passages: for
generated pairs that were not trained on, and for the sets' own questions (their reporting halves), none of which is
trained on. The recipe may be chosen by the validation part; the results are those of the test part and of the sets' own
questions. Intervals are of 95 %, paired, and draw questions of one passage together. A second call continues where the
first was stopped.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tuning

from argot.evaluate.retrieval_suite import URI_PREFIX
from argot.learn.batches import draw_batches
from argot.learn.figures import MEASURED_PARTS, measure_peak_megabytes
from argot.learn.pool_search import FoundPassages, as_json, embed_texts, from_json, load_embedder, search_pool
from argot.learn.preparation import use_threads
from argot.learn.recipes import build_recipe
from argot.learn.reranker.cross_encoder_training import tune_cross_encoder
from argot.learn.reranker.reranker_recipe import RerankerRecipe
from argot.learn.run_data import RunData, build_run_data
from argot.learn.run_folder import RunFolder, RunRequest
from argot.learn.run_process import Reporter
from argot.learn.starting_model import find_starting_model
from argot.learn.training_pairs import read_pairs, read_pool, write_pairs, write_pool
from argot.measures import measure
from argot.protocols import Scorer
from argot.settings import Settings, load_settings
from argot.tools.retrieval.scorer_choice import load_scorer

DEPTH = 10
RECIPE = {
    "form": "cross_encoder", "epochs": 3, "batch": 4, "rate": 1e-4, "negatives": 1, "question_tokens": 24,
    "passage_tokens": 56,
}  # fmt: skip
WAYS: dict[str, dict[str, bool]] = {
    "neither": {},
    "selection": {"ts_tcl": True, "term_control": False},
    "control": {"ts_tcl": True, "token_selection": False},
    "both": {"ts_tcl": True},
}


@dataclass(frozen=True, slots=True)
class QuestionPool:
    """A question, the passages found for it (by the id that is scored, with their text), and the ids that answer it."""

    question: str
    found: Sequence[tuple[str, str]]
    gold: Mapping[str, int]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--datasets", type=Path, default=Path(os.environ.get("ARGOT_DATASETS", "../shared/datasets")))
    parser.add_argument("--ways", nargs="*", default=[*WAYS], choices=WAYS)
    parser.add_argument("recipe", nargs="*", help="name=value")
    given = parser.parse_args()
    settings = load_settings(threads=1)
    together = gather_pairs(given.work, given.datasets, settings)
    recipe = RECIPE | {"threads": 1} | tuning.read_values(given.recipe)
    use_threads(1)
    base = find_starting_model(settings.search.embedder, given.work)
    data = build_run_data(read_pairs(together / "pairs.jsonl"), read_pool(together / "passages.jsonl"))
    found_at_first = search_questions(together / "found.json", base, data)
    models = {way: train_encoder(together, recipe | WAYS[way], base, data, found_at_first) for way in given.ways}
    scorers = {"reader": load_scorer(settings)}
    scorers |= {way: load_scorer(settings.replace(reranker=str(one))) for way, one in models.items()}
    found = report_comparison(load_made_questions(data, found_at_first), scorers)
    found |= report_comparison(load_own_questions(given.work, given.datasets, settings), scorers)
    (given.work / "cross-encoders.json").write_text(json.dumps(found, indent=1))


def gather_pairs(work: Path, datasets: Path, settings: Settings) -> Path:
    """Return the folder with the pairs and passages of all sets."""
    folder = work / "together"
    if not (folder / "pairs.jsonl").is_file():
        names = list_documented()
        for name in names:
            tuning.keep_pairs(work / name, tuning.load_set(name, datasets), settings)
        folder.mkdir(parents=True, exist_ok=True)
        pools = [read_pool(work / name / "passages.jsonl") for name in names]
        pairs = [read_pairs(work / name / "pairs.jsonl") for name in names]
        write_pool([one for some in pools for one in some], folder / "passages.jsonl")
        write_pairs([one for some in pairs for one in some], folder / "pairs.jsonl")
    return folder


def list_documented() -> list[str]:
    return [name for name in tuning.SETS if name not in tuning.DOCUMENTS]


# -- learning ---------------------------------------------------------------------------------------------------------


def search_questions(path: Path, base: Path, data: RunData) -> dict[str, FoundPassages]:
    """Return the embedder's results for each generated question, from the file if they were stored."""
    if not path.is_file():
        path.write_text(json.dumps(as_json(search_pool(load_embedder(base), data))))
    return from_json(json.loads(path.read_text()))


def train_encoder(
    work: Path, recipe: Mapping[str, Any], base: Path, data: RunData, found: Mapping[str, FoundPassages]
) -> Path:
    """Train this recipe's cross-encoder and return its folder. It is trained as usual, but without the training's own
    measurements, which would take longer.
    """
    name = json.dumps(dict(recipe), sort_keys=True)
    runs = [one for one in map(RunFolder, sorted((work / "runs").glob("r*"))) if one.request.name == name]
    request = RunRequest("reranker", name, str(base), "together", tuning.SEED, recipe)
    run = runs[0] if runs else RunFolder.create(work / "runs", request, data.all_pairs, [])
    if not run.model.is_dir():
        began, processor = time.monotonic(), time.process_time()
        wanted = build_recipe(RerankerRecipe, recipe)
        loop = tune_cross_encoder(
            base, draw_batches(data, found, wanted.drawing(tuning.SEED)), wanted, run, Reporter(run)
        )
        clock, processor = (round(one / 60, 1) for one in (time.monotonic() - began, time.process_time() - processor))
        print(
            f"{name}: {loop.step} steps, {clock} min, {processor} of processor time, "
            f"{measure_peak_megabytes():.0f} MB at most"
        )
    return run.model


# -- what is asked ----------------------------------------------------------------------------------------------------


def load_made_questions(data: RunData, found: Mapping[str, FoundPassages]) -> dict[str, list[QuestionPool]]:
    """Return the generated pairs that were not trained on."""
    return {
        f"made, {part}": [
            QuestionPool(
                pair.question,
                [(one, data.pool[one]) for one in found[pair.id].passages[:DEPTH]],
                dict.fromkeys(sorted(data.gold[pair.id]), 1),
            )
            for pair in data.pairs[part]
        ]
        for part in MEASURED_PARTS
    }


def load_own_questions(work: Path, datasets: Path, settings: Settings) -> dict[str, list[QuestionPool]]:
    """Return the questions of the sets' reporting halves, over their own documents, which are scored."""
    path = work / "together" / "own.json"
    if not path.is_file():
        asked = _load_own_questions(work, datasets, settings)
        path.write_text(json.dumps({name: [asdict(one) for one in some] for name, some in asked.items()}))
    kept = json.loads(path.read_text())
    by_set = {f"own, {name}": [QuestionPool(**one) for one in some] for name, some in kept.items()}
    return {"own": [one for some in by_set.values() for one in some], **by_set}


def _load_own_questions(work: Path, datasets: Path, settings: Settings) -> dict[str, list[QuestionPool]]:
    model = load_embedder(find_starting_model(settings.search.embedder, work))
    vectors: dict[str, Any] = {}
    asked: dict[str, list[QuestionPool]] = {}
    for name in tuning.SETS:
        documents = tuning.DOCUMENTS.get(name, name)
        pool = read_pool(work / documents / "passages.jsonl")
        if documents not in vectors:
            vectors[documents] = embed_texts(model, [one.text for one in pool])
        data = tuning.load_set(name, datasets)
        questions = tuning.split_halves(data)["reporting"]
        near = embed_texts(model, [data.queries[one] for one in questions]) @ vectors[documents].T
        asked[name] = []
        for question, cosines in zip(questions, near, strict=True):
            first = [pool[row] for row in np.argsort(-cosines, kind="stable")[:DEPTH]]
            found = [(one.document.removeprefix(URI_PREFIX), one.text) for one in first]
            asked[name].append(QuestionPool(data.queries[question], found, data.qrels[question]))
    return asked


# -- measuring --------------------------------------------------------------------------------------------------------


def report_comparison(asked: Mapping[str, Sequence[QuestionPool]], scorers: Mapping[str, Scorer]) -> dict[str, Any]:
    """Print the results of `compare_orders`, and return them by the name of the set of questions."""
    found = {}
    for name, some in asked.items():
        found[name] = compare_orders(some, scorers)
        print(f"{name}: {len(some)} questions")
        for way, row in found[name]["ways"].items():
            print(f"  {way:9} {row}", flush=True)
    return found


def compare_orders(asked: Sequence[QuestionPool], scorers: Mapping[str, Scorer]) -> dict[str, Any]:
    """Return nDCG@10 and MAP@10 of each order, and the differences from the embedder's and from "neither"."""
    orders = {"embedder": [[name for name, _ in one.found] for one in asked]}
    for way, scorer in scorers.items():
        orders[way] = [order_passages(one, scorer) for one in asked]
    gold = {str(number): one.gold for number, one in enumerate(asked)}
    measured = {
        way: measure({str(number): list(dict.fromkeys(order)) for number, order in enumerate(some)}, gold)
        for way, some in orders.items()
    }
    rows: dict[str, Any] = {}
    for way, one in measured.items():
        rows[way] = {name: round(one.mean[name], 4) for name in ("ndcg@10", "map@10")}
        for other in ("embedder", "neither"):
            if other in measured and other != way:
                change = measured[other].compare(one)["ndcg@10"]
                low, high = change.interval95
                rows[way][f"ndcg@10 against {other}"] = [round(value, 4) for value in (change.difference, low, high)]
    return {"questions": len(asked), "ways": rows}


def order_passages(asked: QuestionPool, scorer: Scorer) -> list[str]:
    scores = scorer.score(asked.question, [text for _, text in asked.found])
    places = sorted(range(len(scores)), key=lambda place: -scores[place])
    return [asked.found[place][0] for place in places]


if __name__ == "__main__":
    main()
