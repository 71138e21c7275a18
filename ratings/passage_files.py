"""Files of studies of passages: what is judged, and answers with the references that people annotated.

The latter have the form that `argot evaluate experiment run trustworthy-7` reads (docs/experiments.md).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from argot.errors import InvalidInput
from argot.ratings.study import YES, Answer, Judgement, NewItem, Rating, Sources, StudyItem
from argot.ratings.study_files import (
    LONGEST_ANSWER,
    items_in,
    lines,
    named_sources,
    question_in,
    sheet_cell,
    text_in,
)
from argot.tools.text.sentences import split_sentences

MOST_PASSAGES = 20
"""Of one question: each has a letter, and a person has to read them all."""
MOST_SENTENCES = 200
LONGEST_LABEL = 500
_PASSAGES = '{"question": "...", "passages": ["...", {"text": "...", "document": "..."}]}'
_REFERENCES = '{"question": "...", "answer": "...", "passages": ["...", {"text": "...", "document": "..."}]}'

Found = Callable[[str], str]
"""The URI of a document, by what a line calls it."""


def questions_with_passages(text: str, found: Found) -> list[NewItem]:
    """The lines of a JSONL file: `question`, `passages`, and, if wanted, `reference` and `documents`. A passage is a
    text, or an object with `text`, `document` and `heading`.

    Raises:
        InvalidInput: a line is wrong; the message names it.
    """

    def read(row: Mapping[str, Any]) -> NewItem:
        return NewItem(*question_in(row, _PASSAGES), _passages(row, found, _PASSAGES))

    return items_in(text, read, ("question", "reference", "passages", "documents"), _PASSAGES)


def answers_with_passages(text: str, found: Found) -> list[NewItem]:
    """As `questions_with_passages`, with an `answer`, which is cut into sentences, or with its `sentences`.

    Raises:
        InvalidInput: a line is wrong; the message names it.
    """

    def read(row: Mapping[str, Any]) -> NewItem:
        question, reference = question_in(row, _REFERENCES)
        return NewItem(question, reference, _passages(row, found, _REFERENCES), sentences=_sentences(row))

    fields = ("question", "reference", "answer", "sentences", "passages", "documents")
    return items_in(text, read, fields, _REFERENCES)


def _passages(row: Mapping[str, Any], found: Found, example: str) -> tuple[Answer, ...]:
    given, shared = row.get("passages"), named_sources(row, found)
    if not isinstance(given, list) or not 1 <= len(given) <= MOST_PASSAGES:
        told = f", and has {len(given)}" if isinstance(given, list) else ""
        raise InvalidInput(f"'passages' takes a list of 1 to {MOST_PASSAGES} passages{told}: {example}")
    return tuple(_passage(one, number, shared, found, example) for number, one in enumerate(given, 1))


def _passage(given: object, number: int, shared: Sources, found: Found, example: str) -> Answer:
    one = given if isinstance(given, dict) else {"text": given}
    if unknown := one.keys() - {"text", "document", "heading"}:
        raise InvalidInput(f"a passage has a field '{min(unknown):.60}'. The fields are text, document, heading.")
    text = text_in(one, "text", LONGEST_ANSWER, example)
    # What is no text, such as 0, is told: passed over, the passage would be everybody's.
    named = [name for name in ("document", "heading") if one.get(name) not in (None, "")]
    stands = [text_in(one, name, LONGEST_LABEL, example) for name in named]
    own = [found(stands[0])] if "document" in named else []
    documents = tuple(dict.fromkeys((*own, *shared.documents)))
    return Answer(str(number), text, Sources(documents), " > ".join(stands))


def _sentences(row: Mapping[str, Any]) -> tuple[str, ...]:
    given = row.get("sentences")
    if given is None:
        answer = text_in(row, "answer", LONGEST_ANSWER, _REFERENCES)
        given = [answer[start:end] for start, end in split_sentences(answer)]
    if not isinstance(given, list) or not given:
        raise InvalidInput(f"'sentences' takes a list of 1 to {MOST_SENTENCES} sentences, or give the 'answer'.")
    if len(given) > MOST_SENTENCES:
        raise InvalidInput(f"the answer has {len(given):,} sentences, and may have {MOST_SENTENCES}. Divide it.")
    return tuple(text_in({"sentences": one}, "sentences", LONGEST_ANSWER, _REFERENCES) for one in given)


# -- annotated answers ------------------------------------------------------------------------------------------------


def annotated_answers(items: Sequence[StudyItem], ratings: Sequence[Rating]) -> str:
    """One line for each answer that somebody annotated: of each sentence the passages, from 1, that more than half of
    those who judged it say it rests on.
    """
    rows = ((item, _judgements(item, ratings)) for item in items)
    return lines(_annotated(item, judgements) for item, judgements in rows if judgements)


def _annotated(item: StudyItem, judgements: Sequence[Judgement]) -> dict[str, Any]:
    sentences = []
    for number, text in enumerate(item.sentences, 1):
        named = [one for each in judgements for one in borne_out_by(each, number)]
        most = [place for place, one in enumerate(item.answers, 1) if 2 * named.count(one.system) > len(judgements)]
        sentences.append({"text": text, "passages": most})
    passages = [one.text for one in item.answers]
    return {"id": str(item.place), "question": item.question, "passages": passages, "sentences": sentences}


def references_csv(items: Sequence[StudyItem], ratings: Sequence[Rating]) -> str:
    """One line for each sentence and rater: the numbers of the passages that bear it out."""
    written = io.StringIO()
    table = csv.writer(written)
    table.writerow(("item", "question", "sentence", "text", "rater", "passages", "cannot_judge", "comment", "at"))
    for row in _reference_rows(items, ratings):
        table.writerow(map(sheet_cell, row))
    return written.getvalue()


def _reference_rows(items: Sequence[StudyItem], ratings: Sequence[Rating]) -> Iterator[tuple[object, ...]]:
    by_id = {one.id: one for one in items}
    for rating in ratings:
        if (said := rating.said) is None:
            continue
        item = by_id[rating.item]
        for number, text in enumerate(item.sentences, 1):
            named = " ".join(sorted(borne_out_by(said, number), key=int))
            end = (int(said.cannot_judge), said.comment, rating.at)
            yield item.place, item.question, number, text, rating.rater, named, *end


def borne_out_by(said: Judgement, sentence: int) -> list[str]:
    """The passages, by number, that bear a sentence out."""
    return [system for system, points in said.scores.items() if points.get(str(sentence)) == YES]


def _judgements(item: StudyItem, ratings: Sequence[Rating]) -> list[Judgement]:
    return [one.said for one in ratings if one.item == item.id and one.said and not one.said.cannot_judge]
