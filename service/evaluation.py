"""Measuring: the suites of `argot evaluate`, each over stores made for it alone."""

from __future__ import annotations

import asyncio
import csv
import io
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from argot.errors import InvalidInput
from argot.evaluate.base import TemporaryBase
from argot.evaluate.beir import load_beir
from argot.evaluate.reports import Table, retrieval_tables, samples_tables
from argot.evaluate.retrieval import evaluate_retrieval, sources_of
from argot.evaluate.samples import STAGES_OFF, Split, evaluate_samples, load_questions
from argot.profile import profile_named
from argot.settings import Settings

Progress = Callable[[str, int, int], None]
Report = tuple[dict[str, Any], list[Table]]
"""What a suite measured, as JSON and as tables for people."""


def retrieval(beir: Path, glossary: Path | None, profile: str, settings: Settings, progress: Progress) -> Report:
    """How well the documents of a BEIR folder are found, with the glossary if one is given.

    Raises:
        InvalidInput: a file is missing or malformed.
    """
    data = load_beir(beir)
    csv_text = _read(glossary) if glossary else None
    with _temporary(settings) as base:
        base.add(sources_of(data), progress)
        if csv_text is not None:
            base.import_glossary(csv_text, str(glossary))
        report = asyncio.run(evaluate_retrieval(base, data, profile_named(profile), csv_text, progress))
    return report.as_json(), retrieval_tables(report)


def samples(split: Split, ways: list[str] | None, settings: Settings, progress: Progress) -> Report:
    """The sample questions over the sample documents; `ways` are keys of `STAGES_OFF`, by default all of them.

    Raises:
        InvalidInput: there is no such way.
    """
    unknown = set(ways or ()) - STAGES_OFF.keys()
    if unknown:
        raise InvalidInput(f"There is no way '{unknown.pop()}'. Ways: {', '.join(STAGES_OFF)}.")
    with as_file(files("argot.samples")) as folder, _temporary(settings) as base:
        _add_samples(base, folder, progress)
        questions = load_questions((folder / "questions.jsonl").read_text("utf-8"), split)
        report = asyncio.run(evaluate_samples(base, questions, split, ways or STAGES_OFF, progress))
    return report.as_json(), samples_tables(report)


def _add_samples(base: TemporaryBase, folder: Path, progress: Progress) -> None:
    from argot.corpus.ingest import sources_in

    base.add(sources_in([folder / "documents"]), progress)
    for row in csv.DictReader(io.StringIO((folder / "contexts.csv").read_text("utf-8"))):
        base.glossary.add_context(row["name"], row["description"], row["contact"])
    base.import_glossary((folder / "glossary.csv").read_text("utf-8"), "glossary.csv")


@contextmanager
def _temporary(settings: Settings) -> Iterator[TemporaryBase]:
    with tempfile.TemporaryDirectory(prefix="argot-") as folder, TemporaryBase(Path(folder), settings) as base:
        yield base


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.") from error
