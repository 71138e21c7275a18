"""A quiz in a folder (Golden-Retriever 4.1): documents, a glossary, and multiple-choice questions about the documents.

documents/       files and folders in any format that Argot reads
quiz.jsonl       one question per line: {"question": ..., "options": [..., ...], "answer": ..., "context": ...};
                 `answer` repeats one of the options word for word, `context` names the quiz it belongs to
glossary.csv     the senses, in the form of `argot glossary export`; optional
contexts.csv     name,description,contact of the glossary's contexts; optional
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from argot.errors import InvalidInput
from argot.files import read_text
from argot.json_text import parse_json

# At most as many options as there are letters from A to J to answer with.
MAX_OPTIONS = 10
_FORM = 'A line looks like {"question": "...", "options": ["...", "..."], "answer": "...", "context": "..."}.'


@dataclass(frozen=True, slots=True)
class QuizQuestion:
    """A question. `correct` is the index of the right option, `context` the quiz it belongs to (the paper has six)."""

    question: str
    options: tuple[str, ...]
    correct: int
    context: str

    def to_json(self) -> dict[str, Any]:
        answer = self.options[self.correct]
        return {"question": self.question, "options": self.options, "answer": answer, "context": self.context}


def load_quiz(folder: Path) -> list[QuizQuestion]:
    """Load the questions of a quiz folder.

    Raises:
        InvalidInput: something is missing or malformed; the message names the file and line.
    """
    documents = folder / "documents"
    if not documents.is_dir():
        raise InvalidInput(f"Invalid quiz {folder}: it needs a folder documents/ and a file quiz.jsonl.")
    return read_questions(_read_text(folder / "quiz.jsonl"), "quiz.jsonl")


def read_questions(text: str, name: str) -> list[QuizQuestion]:
    """Read questions from the text of a quiz file.

    Raises:
        InvalidInput: a line is malformed, or there is no question.
    """
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if not lines:
        raise InvalidInput(f"{name} holds no question. {_FORM}")
    return [_read_question(line, f"{name}, line {number}") for number, line in lines]


def _read_question(line: str, where: str) -> QuizQuestion:
    try:
        values = parse_json(line, where)
    except InvalidInput as error:
        raise InvalidInput(f"{error} {_FORM}") from error
    if not isinstance(values, dict):
        raise InvalidInput(f"{where}: no JSON object. {_FORM}")
    question, answer, context = (values.get(key, "") for key in ("question", "answer", "context"))
    options = values.get("options")
    if not all(isinstance(value, str) for value in (question, answer, context)) or not question.strip():
        raise InvalidInput(f"{where}: question, answer and context must be text, and question not empty. {_FORM}")
    if not isinstance(options, list) or not all(isinstance(one, str) and one.strip() for one in options):
        raise InvalidInput(f"{where}: options must be a list of texts. {_FORM}")
    # Equal options could not be told apart, because the answer repeats the option's text.
    if not 2 <= len(options) <= MAX_OPTIONS or len(set(options)) < len(options):
        raise InvalidInput(f"{where}: there must be 2 to {MAX_OPTIONS} different options, not {len(options)}.")
    if answer not in options:
        raise InvalidInput(f"{where}: the answer {answer!r} is none of the options; write it word for word.")
    return QuizQuestion(question, tuple(options), options.index(answer), context.strip())


def write_quiz(folder: Path, questions: Iterable[QuizQuestion], source: Path) -> None:
    """Write a quiz folder with the documents, glossary and contexts of `source`.

    Raises:
        InvalidInput: the folder already exists.
    """
    if folder.exists():
        raise InvalidInput(f"{folder} already exists. Name a new folder.")
    shutil.copytree(source / "documents", folder / "documents")
    for name in ("glossary.csv", "contexts.csv"):
        shutil.copyfile(source / name, folder / name)
    lines = [json.dumps(question.to_json(), ensure_ascii=False) + "\n" for question in questions]
    (folder / "quiz.jsonl").write_text("".join(lines), "utf-8")


def _read_text(path: Path) -> str:
    try:
        return read_text(path)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is no UTF-8 text.") from error
