"""The gain by tuning on one's own documents: nDCG@10 of whole searches, before and after, without a language model.

    python bench/tuning.py ord_qa --work FOLDER [--datasets FOLDER] [--threads 1]
        [--embedder kept=0.5 epochs=3 ...] [--reader kept=0.3 ...] [--ways embedder reader both]
    python bench/tuning.py emanuals --work FOLDER --apart form=cross_encoder ts_tcl=true

`--apart` trains one re-ranker by that recipe and prints its figures on the generated pairs that it was not trained on.

Sets: ord_qa, emanuals, eda_corpus_qa (ARGOT_DATASETS) and samples. Pairs are made from the documents alone; the set's
own questions are never trained on. Questions that share a passage form a group, and a hash splits the groups into two
halves, with no passage in both. On one half the best combination is chosen (the tuned embedder, the tuned reader, both
or neither), on the other it is reported, with paired 95 % intervals that draw questions of one passage together.
Everything is kept in the folder, so a stopped run can continue.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib import resources
from pathlib import Path
from typing import Any

from argot.evaluate.beir import BeirSet, load_beir
from argot.evaluate.retrieval_suite import evaluate_retrieval, make_sources
from argot.evaluate.temporary_base import EVALUATOR, TemporaryBase
from argot.learn.questions.cloze_sentences import remove_sentence
from argot.learn.questions.passage_questions import list_headings, make_passage_questions
from argot.learn.run_folder import RunFolder, RunKind, RunRequest
from argot.learn.training_pairs import PoolPassage, TrainingPair, choose_part, make_pair_id
from argot.measures import Measured, gold_clusters, paired_difference
from argot.profile import Profile
from argot.settings import Settings, load_settings

SEED = 7
SETS = ("ord_qa", "emanuals", "eda_corpus_qa", "samples")
DOCUMENTS = {"eda_corpus_qa": "ord_qa"}
"""Sets with questions about another set's documents: the models for those documents are trained only once."""


# -- sets -------------------------------------------------------------------------------------------------------------


def load_set(name: str, datasets: Path) -> BeirSet:
    if name == "samples":
        return load_samples()
    if name == "eda_corpus_qa":
        return load_eda_corpus(datasets)
    return load_beir(datasets / "beir" / {"emanuals": "emanuals_tv"}.get(name, name))


def load_eda_corpus(datasets: Path) -> BeirSet:
    """Return the questions of EDA-Corpus for which a chunk is named, over ORD-QA's documentation."""
    import csv

    import openpyxl

    documentation = load_beir(datasets / "beir" / "ord_qa")
    with (datasets / "eda_corpus_qa" / "Question-Answer_Dataset.csv").open(encoding="utf-8-sig") as file:
        asked = [row["Prompts"].strip() for row in csv.DictReader(file)]
    sheet = openpyxl.load_workbook(datasets / "ord_qa" / "EDA-Corpus-document-annotation.xlsx").active
    queries, qrels = {}, {}
    for number, (_, gold, *_) in enumerate(sheet.iter_rows(min_row=2, values_only=True)):
        chunks = [one for one in re.split(r"[\s,;]+", str(gold or "")) if one in documentation.corpus]
        if chunks and number < len(asked):
            queries[f"eda{number}"], qrels[f"eda{number}"] = asked[number], dict.fromkeys(chunks, 1)
    return BeirSet(datasets / "eda_corpus_qa", documentation.corpus, queries, qrels)


def load_samples() -> BeirSet:
    """Return the text files among the sample documents, and the questions that they answer."""
    folder = Path(str(resources.files("argot.samples")))
    texts = {
        path.relative_to(folder / "documents").as_posix(): path.read_text("utf-8")
        for path in sorted((folder / "documents").rglob("*"))
        if path.suffix in (".md", ".rst", ".txt")
    }
    queries: dict[str, str] = {}
    qrels: dict[str, dict[str, int]] = {}
    for name in ("questions.jsonl", "employee_questions.jsonl"):
        for line in (folder / name).read_text("utf-8").splitlines():
            row = json.loads(line)
            gold = {one["document"] for one in row["gold"]} & texts.keys()
            if gold:
                key = f"{name[0]}{row['id']}"
                queries[key], qrels[key] = row["question"], {make_identifier(one): 1 for one in gold}
    return BeirSet(folder, {make_identifier(one): ("", text) for one, text in texts.items()}, queries, qrels)


def make_identifier(path: str) -> str:
    return path.replace("/", "_").rsplit(".", 1)[0]


def split_halves(data: BeirSet) -> dict[str, list[str]]:
    """Return the questions for choosing and those for reporting. Those that share a passage are in the same half."""
    questions = list(data.qrels)
    clusters = gold_clusters([list(data.qrels[one]) for one in questions])
    found: dict[str, list[str]] = {"choosing": [], "reporting": []}
    for question, cluster in zip(questions, clusters, strict=True):
        first = questions[cluster]
        place = hashlib.blake2b(f"{SEED}:{first}".encode(), digest_size=1).digest()[0] % 2
        found["choosing" if place else "reporting"].append(question)
    return found


# -- pairs of the documents alone -------------------------------------------------------------------------------------

KINDS = ("heading", "definition", "cloze")


def keep_pairs(work: Path, data: BeirSet, settings: Settings) -> None:
    """Make pairs if the folder has none: pairs.jsonl, and passages.jsonl, the passages to search."""
    from argot.learn.training_pairs import write_pairs, write_pool

    if (work / "pairs.jsonl").is_file():
        return
    work.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as home:
        pairs, pool = make_pairs(data, settings, Path(home))
    write_pool(pool, work / "passages.jsonl")
    write_pairs(pairs, work / "pairs.jsonl")


def make_pairs(data: BeirSet, settings: Settings, work: Path) -> tuple[list[TrainingPair], list[PoolPassage]]:
    with TemporaryBase(work, settings) as base:
        base.add(make_sources(data), lambda *_: None)
        store = base.corpus.store
        held = [
            (passage, document.title, document.uri)
            for document in store.documents(EVALUATOR)
            for passage in store.passages_of(EVALUATOR, document.id)
        ]
    pool = [PoolPassage(passage.id, passage.with_header, uri) for passage, _, uri in held]
    headings = (list_headings(passage.text, title, first=not passage.ordinal) for passage, title, _ in held)
    counted = Counter(heading.casefold() for some in headings for heading in some)
    repeated = frozenset(heading for heading, count in counted.items() if count > 1)
    pairs = {}
    for passage, title, uri in held:
        for made in make_passage_questions(passage.text, title, KINDS, first=not passage.ordinal, repeated=repeated):
            key, part = make_pair_id(made.question, passage.id), choose_part(passage.id, SEED)
            text = passage.with_header
            if made.kind == "cloze":
                text = remove_sentence(text, made.question)
            pairs[key] = TrainingPair(key, made.question, passage.id, text, uri, made.kind, part, made.answer)
    return list(pairs.values()), pool


# -- runs -------------------------------------------------------------------------------------------------------------


def train(work: Path, name: str, kind: RunKind, recipe: Mapping[str, Any], base: str) -> RunFolder:
    """Run the training of this name to its end in a process of its own, resuming it if needed; return its folder."""
    from argot.learn.training_pairs import read_pairs, read_pool

    label = f"{name} {kind} {json.dumps(dict(recipe), sort_keys=True)} {base}"
    runs = work / "runs"
    same = [one for one in map(RunFolder, sorted(runs.glob("r*"))) if one.request.name == label]
    request = RunRequest(kind, label, base, name, SEED, recipe)
    pairs, pool = read_pairs(work / "pairs.jsonl"), read_pool(work / "passages.jsonl")
    run = same[0] if same else RunFolder.create(runs, request, pairs, pool)
    if run.state.status != "done":
        # Not by the module's command, which runs with the lowest priority.
        code = "import sys, pathlib; from argot.learn import run_process as p, run_folder as f\n"
        code += "p.run_training(f.RunFolder(pathlib.Path(sys.argv[1])))"
        subprocess.run([sys.executable, "-c", code, str(run.path)], check=False)
    if run.state.status != "done":
        sys.exit(f"{run.path}: {run.state}")
    return run


def search_set(work: Path, data: BeirSet, settings: Settings) -> Measured:
    """Search one base for each embedder: the re-ranker can change without embedding anything again."""
    home = work / f"base-{hashlib.blake2b(settings.search.embedder.encode(), digest_size=6).hexdigest()}"
    with TemporaryBase(home, settings) as base:
        if not (home / "whole").is_file():
            base.add(make_sources(data), lambda *_: None)
            (home / "whole").touch()
        return asyncio.run(evaluate_retrieval(base, data, Profile(), None, lambda *_: None)).ways["plain"]


def measure_once(work: Path, data: BeirSet, settings: Settings) -> dict[str, float]:
    """Return nDCG@10 of each question, from the folder if it was measured already."""
    told = hashlib.blake2b(f"{settings.search.embedder} {settings.search.reranker}".encode(), digest_size=6).hexdigest()
    path = work / f"measured-{data.name}-{told}.json"
    if not path.is_file():
        values = search_set(work, data, settings).by_question
        path.write_text(json.dumps({question: one["ndcg@10"] for question, one in values.items()}))
    return json.loads(path.read_text())


def report(data: BeirSet, ways: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    parts = split_halves(data)

    def compute_mean(way: str, part: str) -> float:
        return sum(ways[way][one] for one in parts[part]) / len(parts[part])

    chosen = max(ways, key=lambda way: compute_mean(way, "choosing"))
    rows = {}
    clusters = gold_clusters([list(data.qrels[one]) for one in parts["reporting"]])
    for way in ways:
        change = paired_difference(*([ways[one][q] for q in parts["reporting"]] for one in ("untuned", way)), clusters)
        rows[way] = {
            "choosing": compute_mean(way, "choosing"),
            "reporting": compute_mean(way, "reporting"),
            **asdict(change),
        }
    return {"set": data.name, "halves": {part: len(one) for part, one in parts.items()}, "chosen": chosen, "ways": rows}


def report_apart(card: Mapping[str, Any]) -> dict[str, Any]:
    """Return MAP@10 and nDCG@10 of the orders, by depth and part; "before" is Argot's own reader."""

    def format_row(row: Mapping[str, Any]) -> dict[str, Any]:
        measures = ("map@10", "ndcg@10")
        means = {way: {name: mean[name] for name in measures} for way, mean in row["means"].items()}
        changes = {way: {name: change[name] for name in measures} for way, change in row["differences"].items()}
        return {"questions": row["questions"], "means": means, "differences": changes}

    figures = {
        depth: {part: format_row(row) for part, row in parts.items()} for depth, parts in card["figures"].items()
    }
    return {**{name: card[name] for name in ("recipe", "steps", "seconds", "peak_megabytes")}, "figures": figures}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("set", choices=SETS)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--datasets", type=Path, default=Path(os.environ.get("ARGOT_DATASETS", "../shared/datasets")))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--embedder", nargs="*", default=[], help="of its recipe: name=value")
    parser.add_argument("--reader", nargs="*", default=[], help="of its recipe: name=value")
    parser.add_argument("--apart", nargs="*", default=[], help="a re-ranker's recipe: name=value")
    parser.add_argument("--ways", nargs="*", default=["embedder", "reader", "both"])
    given = parser.parse_args()
    documents = DOCUMENTS.get(given.set, given.set)
    work: Path = given.work / documents
    data = load_set(given.set, given.datasets)
    settings = load_settings(threads=given.threads)
    began = time.monotonic()
    keep_pairs(work, data, settings)
    threads = {"threads": given.threads}
    if given.apart:
        run = train(work, documents, "reranker", threads | read_values(given.apart), settings.search.embedder)
        print(json.dumps(report_apart(run.card), indent=1))
        return
    models = {"untuned": (settings.search.embedder, settings.search.reranker)}
    cards = {}
    if {"embedder", "both"} & {*given.ways}:
        recipe = threads | read_values(given.embedder)
        run = train(work, documents, "embedder", recipe, settings.search.embedder)
        models["embedder"], cards["embedder"] = (str(run.model), settings.search.reranker), run.card
    if {"reader", "both"} & {*given.ways}:
        recipe = {"form": "reader"} | threads | read_values(given.reader)
        run = train(work, documents, "reranker", recipe, settings.search.embedder)
        models["reader"], cards["reader"] = (settings.search.embedder, str(run.model)), run.card
    if "both" in given.ways:
        models["both"] = (models["embedder"][0], models["reader"][1])
    ways = {
        way: measure_once(work, data, settings.replace(embedder=embedder, reranker=reranker))
        for way, (embedder, reranker) in models.items()
        if way in ("untuned", *given.ways)
    }
    found = report(data, ways)
    found["trainings"] = {
        name: {one: card[one] for one in ("pairs", "recipe", "seconds", "peak_megabytes", "figures")}
        for name, card in cards.items()
    }
    found["minutes"] = round((time.monotonic() - began) / 60, 1)
    (work / f"report-{given.set}.json").write_text(json.dumps(found, indent=1))
    print(json.dumps({key: value for key, value in found.items() if key != "trainings"}, indent=1))


def read_values(given: Sequence[str]) -> dict[str, Any]:
    """Read texts of the form "name=value"; a value is read as JSON if it is valid JSON."""

    def read_value(value: str) -> Any:
        try:
            return json.loads(value)
        except ValueError:
            return value

    return {name: read_value(value) for name, value in (one.split("=", 1) for one in given)}


if __name__ == "__main__":
    main()
