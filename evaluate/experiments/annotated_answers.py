"""Answers whose references people annotated (Trustworthy Answers 6.1), one JSON object a line:

{"id": ..., "question": ..., "passages": ["...", ...], "sentences": [{"text": ..., "passages": [1, 3]}, ...]}

`passages` of a sentence are numbers, from 1, of all those that it rests on; none where it rests on nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from argot.errors import InvalidInput
from argot.evaluate.answer_questions import json_lines

_FORM = '{"id": "...", "question": "...", "passages": ["...", "..."], "sentences": [{"text": "...", "passages": [1]}]}'


@dataclass(frozen=True, slots=True)
class AnnotatedAnswer:
    """`annotated`: for each sentence the indexes of the passages, from 0, that it rests on."""

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
    """
    Raises:
        InvalidInput: the file cannot be read, or a line is malformed; the message names it.
    """
    found = [_read(row, f"{path}, line {number}") for number, row in json_lines(path)]
    if not found:
        raise InvalidInput(f"{path} holds no annotated answer. A line looks like {_FORM}.")
    return found


def _read(row: Mapping[str, Any], where: str) -> AnnotatedAnswer:
    try:
        read = _Answer.model_validate(row)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise InvalidInput(f"{where}: {place}: {first['msg']}. A line looks like {_FORM}.") from error
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
