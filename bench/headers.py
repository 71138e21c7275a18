"""The gain by headers on passages: "title > headings" before the text, embedded and searched with it.

    python bench/headers.py BEIR_FOLDER [...]

The documents of each folder are added to two bases: one as usual, one without headers (and without titles in the
keyword index). The folder's questions are asked of both: nDCG@10, hit@1 and hit@3, and the paired difference of nDCG@10
with its 95 % interval by bootstrap over questions. *Trustworthy Answers, Messier Data* reports MAP@1 0.198 without and
0.299 with headers (3.1, table 2).
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from argot.corpus.ingestion import reading
from argot.corpus.store import row_writes
from argot.evaluate.beir import load_beir
from argot.evaluate.retrieval_suite import evaluate_retrieval, make_sources
from argot.evaluate.temporary_base import TemporaryBase
from argot.measures import Measured
from argot.profile import Profile
from argot.settings import load_settings

with_headers = reading.build_passages


def build_without_headers(*given: Any, **more: Any) -> Any:
    return [replace(passage, header="") for passage in with_headers(*given, **more)]


def measure_folder(folder: Path) -> Measured:
    data = load_beir(folder)
    with tempfile.TemporaryDirectory() as home, TemporaryBase(Path(home), load_settings()) as base:
        base.add(make_sources(data), lambda *_: None)
        report = asyncio.run(evaluate_retrieval(base, data, Profile(), None, lambda *_: None))
    return report.ways["plain"]


def main(folders: list[str]) -> None:
    title_of = row_writes.build_searched_title
    for folder in map(Path, folders):
        having = measure_folder(folder)
        reading.build_passages, row_writes.build_searched_title = build_without_headers, lambda title, header: ""
        lacking = measure_folder(folder)
        reading.build_passages, row_writes.build_searched_title = with_headers, title_of
        change = lacking.compare(having)["ndcg@10"]
        low, high = change.interval95
        for name, found in (("with", having), ("without", lacking)):
            figures = {measure: round(found.mean[measure], 3) for measure in ("ndcg@10", "hit@1", "hit@3")}
            print(json.dumps({"set": folder.name, "headers": name, **figures}), flush=True)
        difference = round(change.difference, 3)
        print(json.dumps({"set": folder.name, "difference": difference, "interval95": [round(low, 3), round(high, 3)]}))


if __name__ == "__main__":
    main(sys.argv[1:])
