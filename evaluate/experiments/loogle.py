"""LooGLE's long-dependency questions, as the authors of RAIDD used them: documents in chunks, and the questions.

docs_chunks256.json    {"title": [{"text": ...}, ...], ...}: chunks of 256 tokens that overlap
questions.json         [{"doc": title, "question": ..., "answer": ...}, ...], optionally with "task" (as the paper
                       names it) and "evidence" (texts in the document)
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from argot.corpus.corpus import Source
from argot.errors import InvalidInput
from argot.evaluate.answer_questions import AnswerQuestion, GoldSnippet
from argot.evaluate.markdown_sources import join_sections, make_markdown_source
from argot.files import read_text

GIVEN = "256/50"
"""The chunks that come with the data: their tokens, and the tokens that a chunk shares with the next."""
_WORDS_PER_TOKEN = 0.75
_MAX_OVERLAP_CHARS = 2000

_Read = tuple[list[AnswerQuestion], dict[str, str], Callable[[str], Sequence[Source]], tuple[str, ...]]


def load_loogle(folder: Path) -> _Read:
    """Load the questions, the document of each question by its id, the documents for each size of chunks ("128/25"),
    and notes on what the data lacks.

    Raises:
        InvalidInput: a file is missing or malformed; the message names it and the entry.
    """
    chunks = _load_chunks(folder / "docs_chunks256.json")
    read = _load_questions(folder / "questions.json", chunks)
    questions = [one for one, _ in read]
    lacking = []
    if not any(one.kind for one in questions):
        lacking.append(
            'The questions name no "task": columns by task stay empty. Add it to each, from LooGLE\'s release.'
        )
    if not any(one.gold for one in questions):
        lacking.append('The questions name no "evidence", which LooGLE\'s release has: CP-CCR and IP-CCR stay empty.')
    documents = {one.id: document for one, document in read}
    return questions, documents, lambda variant: _make_sources(chunks, variant or GIVEN), tuple(lacking)


def _make_sources(chunks: dict[str, list[str]], variant: str) -> list[Source]:
    tokens, overlap = (int(number) for number in variant.split("/"))
    return [
        make_markdown_source(
            "loogle",
            make_markdown_name(title),
            title,
            join_sections(given if variant == GIVEN else cut_windows(join_chunks(given), tokens, overlap)),
        )
        for title, given in chunks.items()
    ]


def make_markdown_name(title: str) -> str:
    return re.sub(r"[^\w .()-]", "-", title) + ".md"


def join_chunks(chunks: Sequence[str]) -> str:
    """Return the text from which the overlapping chunks were cut."""
    text = ""
    for chunk in chunks:
        shared = next(
            (n for n in range(min(len(text), len(chunk), _MAX_OVERLAP_CHARS), 0, -1) if text.endswith(chunk[:n])), 0
        )
        text += chunk[shared:] if shared else (" " if text else "") + chunk
    return text


def cut_windows(text: str, tokens: int, overlap: int) -> list[str]:
    """Cut the text into windows of about this many tokens, each beginning with the last tokens of the previous one."""
    words = text.split()
    size, shared = max(1, round(tokens * _WORDS_PER_TOKEN)), round(overlap * _WORDS_PER_TOKEN)
    step = max(1, size - shared)
    return [" ".join(words[start : start + size]) for start in range(0, max(1, len(words) - shared), step)]


def _load_chunks(path: Path) -> dict[str, list[str]]:
    found = _load_json(path)
    if not isinstance(found, dict) or not found:
        raise InvalidInput(f'{path}: holds no object of documents, {{"title": [{{"text": "..."}}]}}.')
    chunks: dict[str, list[str]] = {}
    for title, given in found.items():
        texts: list[Any] = []
        if isinstance(given, list):
            texts = [one.get("text") if isinstance(one, dict) else one for one in given]
        if not texts or not all(isinstance(text, str) and text.strip() for text in texts):
            raise InvalidInput(f'{path}: the document {title!r} needs a list of chunks, each {{"text": "..."}}.')
        chunks[title] = texts
    return chunks


def _load_questions(path: Path, chunks: dict[str, list[str]]) -> list[tuple[AnswerQuestion, str]]:
    """Load each question with the name of its document."""
    found = _load_json(path)
    if not isinstance(found, list) or not found:
        raise InvalidInput(
            f'{path}: holds no list of questions, [{{"doc": "...", "question": "...", "answer": "..."}}].'
        )
    return [_read_question(row, f"{path}, entry {place}", place, chunks) for place, row in enumerate(found, start=1)]


def _read_question(row: Any, where: str, place: int, chunks: dict[str, list[str]]) -> tuple[AnswerQuestion, str]:
    if not isinstance(row, dict) or not all(isinstance(row.get(key), str) for key in ("doc", "question", "answer")):
        raise InvalidInput(f"{where}: needs the texts doc, question and answer.")
    if row["doc"] not in chunks:
        raise InvalidInput(f"{where}: there is no document {row['doc']!r} in docs_chunks256.json.")
    evidence, task = row.get("evidence", []), row.get("task", "")
    if not isinstance(task, str) or not isinstance(evidence, list) or not all(isinstance(one, str) for one in evidence):
        raise InvalidInput(f'{where}: "task" is a text and "evidence" a list of texts.')
    document = make_markdown_name(row["doc"])
    gold = tuple(GoldSnippet(document, one) for one in evidence if one.strip())
    return AnswerQuestion(f"loogle{place}", task.casefold(), row["question"], gold, row["answer"]), document


def _load_json(path: Path) -> Any:
    try:
        return json.loads(read_text(path))
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is no UTF-8 text.") from error
    except json.JSONDecodeError as error:
        raise InvalidInput(f"{path}, line {error.lineno}: not JSON ({error.msg}).") from error
