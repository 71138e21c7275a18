"""Folders in BEIR form: `corpus.jsonl`, `queries.jsonl`, `qrels/test.tsv` (Thakur et al., 2021)."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from argot.errors import InvalidInput
from argot.files import read_text
from argot.json_text import parse_json


@dataclass(frozen=True, slots=True)
class BeirSet:
    """A retrieval set. `plain` has the original questions if a script inserted jargon; otherwise it is None."""

    folder: Path
    corpus: dict[str, tuple[str, str]]
    queries: dict[str, str]
    qrels: dict[str, dict[str, int]]
    plain: dict[str, str] | None = None

    @property
    def name(self) -> str:
        return self.folder.name


def load_beir(folder: Path) -> BeirSet:
    """Read a BEIR folder.

    Raises:
        InvalidInput: a file is missing or malformed; the message names file and line.
    """
    corpus = {
        row["_id"]: (row.get("title", ""), row["text"]) for row in _read_rows(folder / "corpus.jsonl", "_id", "text")
    }
    queries = {row["_id"]: row["text"] for row in _read_rows(folder / "queries.jsonl", "_id", "text")}
    plain_file = folder / "queries.plain.jsonl"
    # Not part of BEIR: in this file Argot's own sets keep the questions as they were before a script inserted jargon.
    plain = {row["_id"]: row["text"] for row in _read_rows(plain_file, "_id", "text")} if plain_file.exists() else None
    return BeirSet(folder, corpus, queries, _read_qrels(folder / "qrels" / "test.tsv", corpus, queries), plain)


def _read_rows(path: Path, *required: str) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(_read_lines(path), start=1):
        row = parse_json(line, f"{path}, line {number}")
        if not isinstance(row, dict):
            raise InvalidInput(f"{path}, line {number}: holds no JSON object.")
        missing = [key for key in required if not isinstance(row.get(key), str)]
        if missing:
            raise InvalidInput(f"{path}, line {number}: needs the text field(s) {', '.join(missing)}.")
        yield row


def _read_qrels(path: Path, corpus: dict[str, Any], queries: dict[str, str]) -> dict[str, dict[str, int]]:
    judged: dict[str, dict[str, int]] = {}
    for number, line in enumerate(csv.reader(_read_lines(path), delimiter="\t"), start=1):
        # Some files have no header.
        if number == 1 and line[:1] == ["query-id"]:
            continue
        if len(line) != 3:
            raise InvalidInput(f"{path}, line {number}: needs query-id, corpus-id and score, separated by tabs.")
        question, document, score = line
        if not score.replace(".", "", 1).isdigit():
            raise InvalidInput(f"{path}, line {number}: the score '{score}' is not a number.")
        # Sets that are a part of larger ones often keep all judgements.
        if float(score) > 0 and question in queries and document in corpus:
            judged.setdefault(question, {})[document] = max(1, round(float(score)))
    if not judged:
        raise InvalidInput(f"{path}: no judgement names a question and a document of this folder.")
    return judged


def _read_lines(path: Path) -> list[str]:
    try:
        # not splitlines(): a JSON string may hold an unescaped U+2028 or a similar character
        return [line for line in read_text(path).split("\n") if line.strip()]
    except FileNotFoundError:
        raise InvalidInput(
            f"{path} is missing. A BEIR folder holds corpus.jsonl, queries.jsonl and qrels/test.tsv."
        ) from None
