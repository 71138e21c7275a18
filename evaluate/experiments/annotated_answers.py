"""Answers whose references people annotated (Trustworthy Answers 6.1), as one JSON object per line:

{"id": ..., "question": ..., "passages": ["...", ...], "sentences": [{"text": ..., "passages": [1, 3]}, ...]}

The `passages` of a sentence are the numbers, from 1, of all passages that support it; empty if none does.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from argot.errors import InvalidInput
from argot.evaluate.line_models import read_lines

_FORM = '{"id": "...", "question": "...", "passages": ["...", "..."], "sentences": [{"text": "...", "passages": [1]}]}'


@dataclass(frozen=True, slots=True)
class AnnotatedAnswer:
    """An annotated answer. `annotated`: for each sentence the indexes, from 0, of the passages that support it."""

    id: str
    question: str
    passages: tuple[str, ...]
    sentences: tuple[str, ...]
    annotated: tuple[frozenset[int], ...]


class _Sentence(BaseModel):
    model_config = ConfigDict(extra="forbid")

    text: str = Field(min_length=1)
    passages: tuple[int, ...] = ()


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid", coerce_numbers_to_str=True)

    id: str = Field(min_length=1)
    question: str = Field(min_length=1)
    passages: tuple[str, ...] = Field(min_length=1)
    sentences: tuple[_Sentence, ...] = Field(min_length=1)


def load_annotated_answers(path: Path) -> list[AnnotatedAnswer]:
    """Read a file of annotated answers.

    Raises:
        InvalidInput: the file cannot be read, or a line is malformed; the message names it.
    """
    return [_build_answer(read, where) for where, read in read_lines(_Answer, path, "annotated answer", _FORM)]


def _build_answer(read: _Answer, where: str) -> AnnotatedAnswer:
    for number in (number for one in read.sentences for number in one.passages):
        if not 1 <= number <= len(read.passages):
            raise InvalidInput(f"{where}: there is no passage {number}; there are {len(read.passages)}, from 1.")
    return AnnotatedAnswer(
        read.id,
        read.question,
        read.passages,
        tuple(one.text for one in read.sentences),
        tuple(frozenset(number - 1 for number in one.passages) for one in read.sentences),
    )
