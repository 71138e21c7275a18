"""Files of studies of passages: the passages to judge, and answers with the references that people annotated.

The latter have the form that `argot evaluate experiment run trustworthy-7` reads (evaluate/experiments/README.md).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from argot.errors import InvalidInput
from argot.ratings.study import YES, Answer, Judgement, NewItem, Rating, Sources, StudyItem
from argot.ratings.study_files import (
    MAX_ANSWER_CHARS,
    escape_sheet_cell,
    read_items,
    read_question,
    read_sources,
    read_text_field,
    write_jsonl,
)
from argot.tools.text.sentences import split_sentences

MAX_PASSAGES = 20
"""Maximum for one question: each has a letter, and a person has to read them all."""
MAX_SENTENCES = 200
MAX_LABEL_CHARS = 500
_PASSAGES = '{"question": "...", "passages": ["...", {"text": "...", "document": "..."}]}'
_REFERENCES = '{"question": "...", "answer": "...", "passages": ["...", {"text": "...", "document": "..."}]}'

FindUri = Callable[[str], str]
"""The URI of a document, by its name in a line."""


def read_passage_questions(text: str, find_uri: FindUri) -> list[NewItem]:
    """Read the lines of a JSONL file: `question`, `passages`, and, if wanted, `reference` and `documents`.

    A passage is a text, or an object with `text`, `document` and `heading`.

    Raises:
        InvalidInput: a line is wrong; the message names it.
    """

    def read_row(row: Mapping[str, Any]) -> NewItem:
        return NewItem(*read_question(row, _PASSAGES), _read_passages(row, find_uri, _PASSAGES))

    return read_items(text, read_row, ("question", "reference", "passages", "documents"), _PASSAGES)


def read_reference_answers(text: str, find_uri: FindUri) -> list[NewItem]:
    """Read lines as `read_passage_questions` does, with an `answer`, to be cut into sentences, or with `sentences`.

    Raises:
        InvalidInput: a line is wrong; the message names it.
    """

    def read_row(row: Mapping[str, Any]) -> NewItem:
        question, reference = read_question(row, _REFERENCES)
        return NewItem(question, reference, _read_passages(row, find_uri, _REFERENCES), sentences=_read_sentences(row))

    fields = ("question", "reference", "answer", "sentences", "passages", "documents")
    return read_items(text, read_row, fields, _REFERENCES)


def _read_passages(row: Mapping[str, Any], find_uri: FindUri, example: str) -> tuple[Answer, ...]:
    passages, shared = row.get("passages"), read_sources(row, find_uri)
    if not isinstance(passages, list) or not 1 <= len(passages) <= MAX_PASSAGES:
        if isinstance(passages, list):
            raise InvalidInput(
                f"'passages' takes a list of 1 to {MAX_PASSAGES} passages, and has {len(passages)}: {example}"
            )
        raise InvalidInput(f"'passages' takes a list of 1 to {MAX_PASSAGES} passages: {example}")
    return tuple(_read_passage(one, number, shared, find_uri, example) for number, one in enumerate(passages, 1))


def _read_passage(given: object, number: int, shared: Sources, find_uri: FindUri, example: str) -> Answer:
    one = given if isinstance(given, dict) else {"text": given}
    if unknown := one.keys() - {"text", "document", "heading"}:
        raise InvalidInput(f"a passage has a field '{min(unknown):.60}'. The fields are text, document, heading.")
    text = read_text_field(one, "text", MAX_ANSWER_CHARS, example)
    # A non-text, such as 0, is an error: if ignored, the passage would be readable by everybody.
    named = [name for name in ("document", "heading") if one.get(name) not in (None, "")]
    stands = [read_text_field(one, name, MAX_LABEL_CHARS, example) for name in named]
    own = [find_uri(stands[0])] if "document" in named else []
    documents = tuple(dict.fromkeys((*own, *shared.documents)))
    return Answer(str(number), text, Sources(documents), " > ".join(stands))


def _read_sentences(row: Mapping[str, Any]) -> tuple[str, ...]:
    sentences = row.get("sentences")
    if sentences is None:
        answer = read_text_field(row, "answer", MAX_ANSWER_CHARS, _REFERENCES)
        sentences = [answer[start:end] for start, end in split_sentences(answer)]
    if not isinstance(sentences, list) or not sentences:
        raise InvalidInput(f"'sentences' takes a list of 1 to {MAX_SENTENCES} sentences, or give the 'answer'.")
    if len(sentences) > MAX_SENTENCES:
        raise InvalidInput(f"the answer has {len(sentences):,} sentences, and may have {MAX_SENTENCES}. Divide it.")
    return tuple(read_text_field({"sentences": one}, "sentences", MAX_ANSWER_CHARS, _REFERENCES) for one in sentences)


# -- annotated answers ------------------------------------------------------------------------------------------------


def write_annotated_answers(items: Sequence[StudyItem], ratings: Sequence[Rating]) -> str:
    """Write a line for each annotated answer: of each sentence the passages, from 1, that most of its judges named."""
    rows = ((item, _select_judgements(item, ratings)) for item in items)
    return write_jsonl(_annotate_answer(item, judgements) for item, judgements in rows if judgements)


def _annotate_answer(item: StudyItem, judgements: Sequence[Judgement]) -> dict[str, Any]:
    sentences = []
    for number, text in enumerate(item.sentences, 1):
        named = [one for each in judgements for one in find_supporting_passages(each, number)]
        most = [place for place, one in enumerate(item.answers, 1) if 2 * named.count(one.system) > len(judgements)]
        sentences.append({"text": text, "passages": most})
    passages = [one.text for one in item.answers]
    return {"id": str(item.place), "question": item.question, "passages": passages, "sentences": sentences}


def write_references_csv(items: Sequence[StudyItem], ratings: Sequence[Rating]) -> str:
    """Write a line for each sentence and rater: the numbers of the passages that bear it out."""
    written = io.StringIO()
    table = csv.writer(written)
    table.writerow(("item", "question", "sentence", "text", "rater", "passages", "cannot_judge", "comment", "at"))
    for row in _iterate_reference_rows(items, ratings):
        table.writerow(map(escape_sheet_cell, row))
    return written.getvalue()


def _iterate_reference_rows(items: Sequence[StudyItem], ratings: Sequence[Rating]) -> Iterator[tuple[object, ...]]:
    by_id = {one.id: one for one in items}
    for rating in ratings:
        if (judgement := rating.said) is None:
            continue
        item = by_id[rating.item]
        for number, text in enumerate(item.sentences, 1):
            named = " ".join(sorted(find_supporting_passages(judgement, number), key=int))
            end = (int(judgement.cannot_judge), judgement.comment, rating.at)
            yield item.place, item.question, number, text, rating.rater, named, *end


def find_supporting_passages(judgement: Judgement, sentence: int) -> list[str]:
    """Find the passages, by number, that bear a sentence out."""
    return [system for system, points in judgement.scores.items() if points.get(str(sentence)) == YES]


def _select_judgements(item: StudyItem, ratings: Sequence[Rating]) -> list[Judgement]:
    return [one.said for one in ratings if one.item == item.id and one.said and not one.said.cannot_judge]
