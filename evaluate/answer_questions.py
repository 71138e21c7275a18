"""Questions with known complete answers, and the file that contains them."""

from __future__ import annotations

import difflib
import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from argot.corpus.corpus import Source
from argot.corpus.ingestion.sources import list_sources
from argot.errors import InvalidInput
from argot.json_text import json_lines

UNANSWERABLE = ("unanswerable",)
UNDERSPECIFIED = ("underspecified",)
"""The kinds of questions for which the right outcome is to abstain, and to ask back."""


_RST_LINK = re.compile(r"(?::[\w:-]+:)?(?<!`)`([^`<]+?)\s*(?:<[^>`]*>)?`_{0,2}(?!`)")
_MISSPELT = 0.75
"""The least similarity to the name of a field (difflib) of a misspelt one."""


@dataclass(frozen=True, slots=True)
class GoldSnippet:
    """Text that belongs to the complete answer: one item of a list, one step, or one sentence, verbatim from its
    document.

    Without a quote, the whole document counts.
    """

    document: str
    quote: str = ""


@dataclass(frozen=True, slots=True)
class AnswerQuestion:
    """One question and the content of a complete answer to it.

    `gold` has a snippet for every item and every step. `must` are short texts, all of which a complete answer contains;
    alternatives are separated by bars ("27 days|27 d"). Without `must` the snippets themselves are searched, and
    without snippets the sentences of the reference. `also` are sentences of other places that are a complete answer
    each, and `near` those that look like one and are none. `earlier` are the messages before the question, if it is a
    turn of a conversation. `place` is its file and line; it is empty for public sets, which are used without checks.
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
    place: str = ""
    also: tuple[GoldSnippet, ...] = ()
    near: tuple[str, ...] = ()

    @property
    def is_answerable(self) -> bool:
        return self.kind not in UNANSWERABLE and self.kind not in UNDERSPECIFIED


@dataclass(frozen=True, slots=True)
class AnswerSet:
    """Questions, and the documents that answer them; `glossary` is a CSV file that belongs to them."""

    name: str
    questions: Sequence[AnswerQuestion]
    sources: Sequence[Source] = field(repr=False)
    glossary: Path | None = None


def load_answer_questions(path: Path, split: str | None = None) -> list[AnswerQuestion]:
    """Read a file of questions, one JSON object per line (evaluate/README.md shows one).

    Raises:
        InvalidInput: the file cannot be read, or a line is malformed; the message names it.
    """
    found: list[AnswerQuestion] = []
    for number, row in json_lines(path):
        question = build_question(row, f"{path}, line {number}")
        if earlier := next((one for one in found if one.id == question.id), None):
            raise InvalidInput(f"{question.place}: the id {question.id!r} is taken ({earlier.place}). Give another.")
        found.append(question)
    chosen = [one for one in found if split in (None, one.split)]
    if not chosen:
        raise InvalidInput(f"{path} holds no question" + (f" of the split '{split}'." if split else "."))
    return chosen


class _Gold(BaseModel):
    document: str = Field(min_length=1)
    quote: str


class _Also(BaseModel):
    document: str = Field(min_length=1)
    sentence: str = Field(min_length=1)


class _Row(BaseModel):
    """A line of the file. Other fields are ignored, unless they look like a misspelt one."""

    model_config = ConfigDict(str_strip_whitespace=True, coerce_numbers_to_str=True, extra="ignore")

    id: str = Field(min_length=1)
    kind: str = Field(min_length=1)
    question: str = Field(min_length=1)
    gold: tuple[_Gold, ...] = ()
    reference: str | None = None
    answer: str | None = None
    must: tuple[str, ...] = ()
    also: tuple[_Also, ...] = ()
    near: tuple[str, ...] = ()
    earlier: tuple[str, ...] = ()
    previous: str | None = None
    asker_context: str | None = None
    split: Literal["train", "validation", "test", ""] | None = None
    note: Any = None

    @field_validator("must")
    @classmethod
    def _require_content(cls, must: tuple[str, ...]) -> tuple[str, ...]:
        """Refuse an empty alternative, which every answer would contain."""
        if any(not form.strip() for one in must for form in one.split("|")):
            raise ValueError("an empty text, or an empty form beside a bar, stands in any answer; leave it out")
        return must


def build_question(row: Mapping[str, Any], place: str) -> AnswerQuestion:
    _require_known_fields(row, place)
    try:
        read = _Row.model_validate(row)
    except ValidationError as error:
        raise InvalidInput(f"{place}: {explain_error(error)}") from error
    question = AnswerQuestion(
        id=read.id,
        kind=read.kind,
        question=read.question,
        gold=tuple(GoldSnippet(one.document, _read_quote(one.document, one.quote)) for one in read.gold),
        reference=read.reference or read.answer or "",
        must=read.must,
        asker_context=read.asker_context,
        split=read.split or "",
        earlier=read.earlier or ((read.previous,) if read.previous else ()),
        place=place,
        also=tuple(GoldSnippet(one.document, one.sentence) for one in read.also),
        near=read.near,
    )
    if question.is_answerable and not (question.gold or question.must or question.reference):
        kinds = " or ".join((*UNANSWERABLE, *UNDERSPECIFIED))
        raise InvalidInput(
            f"{place}: nothing says what a whole answer to {question.id!r} holds. Give gold, must or reference, or the "
            f"kind {kinds}."
        )
    return question


def _read_quote(document: str, quote: str) -> str:
    """Return the quotation as the document is read: without the targets of reStructuredText's links and roles, and with
    HTML's references to characters resolved.
    """
    match Path(document).suffix.lower():
        case ".rst":
            return _RST_LINK.sub(r"\1", quote)
        case ".html" | ".htm":
            return html.unescape(quote)
    return quote


def _require_known_fields(row: Mapping[str, Any], place: str) -> None:
    """Refuse a field that looks like a misspelt one: ignored, it would go unnoticed."""
    for name in row.keys() - _Row.model_fields.keys():
        if close := difflib.get_close_matches(name, _Row.model_fields, n=1, cutoff=_MISSPELT):
            fields = ", ".join(_Row.model_fields)
            raise InvalidInput(f"{place}: there is no field {name!r}. Did you mean {close[0]}? Fields: {fields}.")


def explain_error(error: ValidationError) -> str:
    first = error.errors()[0]
    if first["type"] == "missing":
        return f"needs id, kind, question, gold (document, quote); {first['loc'][-1]} is not there."
    where = ".".join(map(str, first["loc"]))
    return f"{where} cannot be {first['input']!r}: {first['msg'].removeprefix('Value error, ')}."


def build_answer_set(questions: Path, documents: Path, split: str | None = None) -> AnswerSet:
    """Build a set from the questions of a file and the documents of a folder.

    Raises:
        InvalidInput: the file is malformed, or the folder does not exist.
    """
    if not documents.is_dir():
        raise InvalidInput(f"{documents} is no folder. Give the folder of the documents with --documents.")
    found, sources = load_answer_questions(questions, split), list(list_sources([documents]))
    names = {one.name for one in sources if not one.skip}
    if not names:
        raise InvalidInput(f"{documents} holds no documents. Give the folder of the documents with --documents.")
    # Check this before anything is read and embedded, which takes long.
    for question in found:
        for gold in question.gold:
            if Path(gold.document).name not in names:
                raise report_missing_document(question, gold, str(documents))
    return AnswerSet(questions.stem, found, sources)


def report_missing_document(question: AnswerQuestion, gold: GoldSnippet, where: str) -> InvalidInput:
    return InvalidInput(f"{question.place}: {where} holds no document {gold.document!r}, which {question.id!r} names.")
