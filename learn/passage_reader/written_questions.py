"""The questions that were written for training, and the documents that were invented for it.

Questions about the documents of `lay_train` are about those that no question for validation or test asks about. They
are stored beside this module without a sentence of the documents: an answer is the place of a quotation in its file,
with a check sum that tells if the file has changed. A question without a place has no answer in its set. The documents
of 24 organisations that do not exist are beside it, too; the questions about two of them are for validation.
"""

from __future__ import annotations

import hashlib
import json
import re
import tarfile
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from argot.files import replace_atomically
from argot.json_text import json_lines

QUESTIONS_FILE = Path(__file__).with_name("written_questions.jsonl")
INVENTED_FILE = Path(__file__).with_name("invented_documents.tar.xz")


def extract_invented_sets(folder: Path) -> list[Path]:
    """Extract the invented documents, and return the folder of each set."""
    with tarfile.open(INVENTED_FILE) as archive:
        archive.extractall(folder, filter="data")
    return sorted(folder.iterdir())


@cache
def list_invented_sets() -> frozenset[str]:
    """List the names of the sets of invented documents."""
    with tarfile.open(INVENTED_FILE) as archive:
        return frozenset(name.partition("/")[0] for name in archive.getnames())


def read_written_questions(name: str, documents: Path, file: Path = QUESTIONS_FILE) -> list[dict[str, Any]]:
    """Read the questions of a set in the form of its `questions.jsonl`, with the quotations out of its documents.

    Raises:
        ValueError: a document has changed since the question was written.
    """
    rows = [row for _, row in json_lines(file) if row["set"] == name]
    return [
        {
            "id": f"written-{number:03}",
            "split": row.get("split", "train"),
            "question": row["question"],
            "gold": [_read_quote(documents, *place) for place in row["gold"]],
        }
        for number, row in enumerate(rows, start=1)
    ]


def _read_quote(documents: Path, document: str, start: int, end: int, check: str) -> dict[str, str]:
    quote = _read_document(documents / document)[start:end]
    if _compute_check(quote) != check:
        raise ValueError(
            f"{documents / document} is another version than the one that the questions in {QUESTIONS_FILE.name} were "
            "written about. Get the version that its set names."
        )
    return {"document": document, "quote": quote}


def store_written_questions(sets: Mapping[str, Iterable[Mapping[str, Any]]], folder: Path, file: Path) -> None:
    """Store questions in the form of `questions.jsonl`, by the name of their set, without their quotations.

    Raises:
        ValueError: a quotation is not in its document, white space aside.
    """
    with replace_atomically(file) as target:
        for name, rows in sets.items():
            for row in rows:
                gold = [_find_quote(folder / name / "documents", one["document"], one["quote"]) for one in row["gold"]]
                stored = {"set": name, "question": row["question"], "gold": gold}
                if row.get("split", "train") != "train":
                    stored["split"] = row["split"]
                target.write(f"{json.dumps(stored, ensure_ascii=False, separators=(',', ':'))}\n".encode())


def _find_quote(documents: Path, document: str, quote: str) -> Sequence[str | int]:
    pattern = r"\s+".join(map(re.escape, quote.split()))
    found = re.search(pattern, _read_document(documents / document)) if pattern else None
    if found is None:
        raise ValueError(f"{documents / document} does not have the quotation '{quote}'")
    return (document, found.start(), found.end(), _compute_check(found[0]))


@lru_cache(maxsize=64)
def _read_document(path: Path) -> str:
    return path.read_text("utf-8", "replace")


def _compute_check(text: str) -> str:
    return hashlib.blake2b(" ".join(text.split()).encode(), digest_size=4).hexdigest()
