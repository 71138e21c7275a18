"""Questions whose whole answers are known, and the file that holds them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from argot.corpus.corpus import Source, sources_in
from argot.errors import InvalidInput
from argot.files import read_text

UNANSWERABLE = ("unanswerable",)
UNDERSPECIFIED = ("underspecified",)
"""Kinds for which the right outcome is to abstain, and to ask back."""


@dataclass(frozen=True, slots=True)
class GoldSnippet:
    """Text that belongs to the whole answer: one item of a list, one step, one sentence; verbatim from its document.

    Without a quote the whole document is meant.
    """

    document: str
    quote: str = ""


@dataclass(frozen=True, slots=True)
class AnswerQuestion:
    """One question with what a whole answer to it holds.

    `gold` has a snippet for every item and every step. `must` are short texts each of which a whole answer says;
    alternatives stand between bars ("27 days|27 d"). Without `must` the snippets themselves are looked for, and without
    snippets the sentences of the reference.
    `earlier` are the messages before it, where it is a turn of a conversation.
    """

    id: str
    kind: str
    question: str
    gold: tuple[GoldSnippet, ...] = ()
    reference: str = ""
    must: tuple[str, ...] = ()
    asker_context: str | None = None
    split: str = ""
    earlier: tuple[str, ...] = ()

    @property
    def answerable(self) -> bool:
        return self.kind not in UNANSWERABLE and self.kind not in UNDERSPECIFIED


@dataclass(frozen=True, slots=True)
class AnswerSet:
    """Questions, and the documents they are asked of; `glossary` is a CSV file that belongs to them."""

    name: str
    questions: Sequence[AnswerQuestion]
    sources: Sequence[Source] = field(repr=False)
    glossary: Path | None = None


def load_answer_questions(path: Path, split: str | None = None) -> list[AnswerQuestion]:
    """Reads a file of questions, one JSON object a line (docs/measurements.md shows one).

    Raises:
        InvalidInput: the file cannot be read, or a line is malformed; the message names it.
    """
    found = []
    for number, row in json_lines(path):
        try:
            gold = tuple(GoldSnippet(one["document"], one["quote"]) for one in row.get("gold", ()))
            found.append(
                AnswerQuestion(
                    id=str(row["id"]),
                    kind=str(row["kind"]),
                    question=str(row["question"]),
                    gold=gold,
                    reference=str(row.get("reference") or row.get("answer") or ""),
                    must=tuple(map(str, row.get("must", ()))),
                    asker_context=row.get("asker_context"),
                    split=str(row.get("split") or ""),
                )
            )
        except (KeyError, TypeError) as error:
            raise InvalidInput(f"{path}, line {number}: needs id, kind, question, gold (document, quote).") from error
    chosen = [one for one in found if split in (None, one.split)]
    if not chosen:
        raise InvalidInput(f"{path} holds no question" + (f" of the split '{split}'." if split else "."))
    return chosen


def answer_set(questions: Path, documents: Path, split: str | None = None) -> AnswerSet:
    """Questions of a file over the documents of a folder.

    Raises:
        InvalidInput: the file is malformed, or the folder is none.
    """
    if not documents.is_dir():
        raise InvalidInput(f"{documents} is no folder. Give the folder of the documents with --documents.")
    return AnswerSet(questions.stem, load_answer_questions(questions, split), list(sources_in([documents])))


def json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a JSONL file with their line numbers.

    Raises:
        InvalidInput: the file cannot be read, or a line is no object; the message names it.
    """
    try:
        lines = read_text(path).split("\n")  # not splitlines(): a JSON string may hold U+2028 as it is
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise InvalidInput(f"{path}, line {number}: not JSON ({error.msg}).") from error
        if not isinstance(row, dict):
            raise InvalidInput(f"{path}, line {number}: holds no JSON object.")
        yield number, row
