"""Files of studies: questions with answers to be rated, questions to be asked, and ratings to take elsewhere.

Those with passages are in `passage_files`.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from argot.errors import InvalidInput
from argot.jargon_db.store.privacy import ERASED
from argot.json_text import parse_json
from argot.ratings.answer_order import blind_order
from argot.ratings.study import Answer, NewItem, Rating, Sources, Study, StudyItem

FEWEST_SYSTEMS, MOST_SYSTEMS = 2, 6
MOST_ITEMS = 2_000
LONGEST_QUESTION, LONGEST_ANSWER, LONGEST_SYSTEM = 10_000, 100_000, 100
FIELDS = ("question", "reference", "answers", "documents")
_EXAMPLE = '{"question": "...", "answers": {"one system": "...", "another": "..."}}'


def answered_questions(text: str, found: Callable[[str], str]) -> list[NewItem]:
    """The lines of a JSONL file: `question`, `answers` by system, and, if wanted, `reference` and `documents`.

    Args:
        found: the URI of a document, by what a line calls it.

    Raises:
        InvalidInput: a line is wrong; the message names it.
    """
    return items_in(text, lambda row: _answered(row, found), FIELDS, _EXAMPLE)


def plain_questions(text: str) -> list[NewItem]:
    """Questions to be asked: one a line, as it stands or as JSON with `question` and, if wanted, `reference`."""
    return items_in(text, lambda row: NewItem(*question_in(row, _EXAMPLE)), FIELDS, _EXAMPLE)


def items_in(
    text: str, read: Callable[[Mapping[str, Any]], NewItem], fields: Sequence[str], example: str
) -> list[NewItem]:
    """What each line of a JSONL file reads as; a line that is no JSON is a question alone.

    Raises:
        InvalidInput: a line is wrong; the message names it, and shows the example.
    """
    items: list[NewItem] = []
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        if not line.strip():
            continue
        row = _row(line, f"Line {number}", example)
        try:
            _refuse_unknown_fields(row, fields)
            items.append(read(row))
        except InvalidInput as error:
            raise InvalidInput(f"Line {number}: {error}") from None
    if not items or len(items) > MOST_ITEMS:
        raise InvalidInput(f"The file holds {len(items):,} questions. A study takes 1 to {MOST_ITEMS:,}.")
    return items


def _row(line: str, place: str, example: str) -> Mapping[str, Any]:
    if not line.lstrip().startswith("{"):
        return {"question": line.strip()}
    try:
        return dict(parse_json(line, place))
    except InvalidInput as error:
        raise InvalidInput(f"{error} Write one object a line: {example}") from None


def _refuse_unknown_fields(row: Mapping[str, Any], fields: Sequence[str]) -> None:
    if unknown := row.keys() - set(fields):
        raise InvalidInput(f"it has a field '{min(unknown):.60}'. The fields are {', '.join(fields)}.")


def _answered(row: Mapping[str, Any], found: Callable[[str], str]) -> NewItem:
    question, reference = question_in(row, _EXAMPLE)
    given = row.get("answers")
    if not isinstance(given, dict) or not FEWEST_SYSTEMS <= len(given) <= MOST_SYSTEMS:
        raise InvalidInput(f"'answers' takes those of {FEWEST_SYSTEMS} to {MOST_SYSTEMS} systems: {_EXAMPLE}")
    if any(not name.strip() or len(name) > LONGEST_SYSTEM for name in given):
        raise InvalidInput(f"the name of a system is empty, or longer than {LONGEST_SYSTEM} characters.")
    sources = named_sources(row, found)
    answers = tuple(Answer(name, text_in(given, name, LONGEST_ANSWER, _EXAMPLE), sources) for name in given)
    return NewItem(question, reference, answers)


def question_in(row: Mapping[str, Any], example: str) -> tuple[str, str]:
    """The question of a line, and the reference answer, if it has one."""
    reference = text_in(row, "reference", LONGEST_ANSWER, example) if row.get("reference") else ""
    return text_in(row, "question", LONGEST_QUESTION, example), reference


def named_sources(row: Mapping[str, Any], found: Callable[[str], str]) -> Sources:
    """The documents that a line names: what is shown of it rests on them."""
    named = row.get("documents", [])
    if not isinstance(named, list) or not all(isinstance(one, str) for one in named):
        raise InvalidInput("'documents' takes a list of names, as argot list shows them.")
    return Sources(tuple(found(one) for one in named))


def text_in(row: Mapping[str, Any], name: str, longest: int, example: str) -> str:
    """A text that a line must have."""
    value = row.get(name)
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"'{name:.60}' is missing, empty or no text. Write: {example}")
    if len(value) > longest:
        raise InvalidInput(f"'{name:.60}' has {len(value):,} characters, and may have {longest:,}.")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidInput(f"'{name:.60}' is not valid Unicode text.") from None
    return value.strip()


# -- ratings ----------------------------------------------------------------------------------------------------------


def ratings_jsonl(study: Study, items: Sequence[StudyItem], ratings: Sequence[Rating]) -> str:
    """One line for each saved rating, with the question, the answers by system and what was said of each."""
    return lines(_rows(study, items, ratings))


def lines(rows: Iterable[Mapping[str, Any]]) -> str:
    """JSONL: one object a line."""
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)


def ratings_csv(study: Study, items: Sequence[StudyItem], ratings: Sequence[Rating]) -> str:
    """One line for each answer that somebody rated: a column for each aspect."""
    aspects = [one.name for one in study.aspects]
    head = ("item", "question", "system", "shown_as", "rater", *aspects, "rank", "cannot_judge", "comment", "at")
    written = io.StringIO()
    table = csv.writer(written)
    table.writerow(map(sheet_cell, head))
    for row in _rows(study, items, ratings):
        shown_as = {system: letter for letter, system in row["order"].items()}
        for system in shown_as or row["answers"]:
            letter, scores = shown_as.get(system, ""), row["scores"].get(system, {})
            values = (row["item"], row["question"], system, letter, row["rater"], *map(scores.get, aspects))
            end = (row["ranks"].get(system), int(row["cannot_judge"]), row["comment"], row["at"])
            table.writerow(map(sheet_cell, (*values, *end)))
    return written.getvalue()


def _rows(study: Study, items: Sequence[StudyItem], ratings: Sequence[Rating]) -> Iterator[dict[str, Any]]:
    by_id = {one.id: one for one in items}
    for rating in ratings:
        if rating.said is None:
            continue
        item, said = by_id[rating.item], rating.said
        # It was drawn by the rater's name: of somebody erased nobody can tell it any more.
        known = not rating.rater.startswith(ERASED)
        order = blind_order(item.answers, study.seed, rating.rater, item.place) if known else {}
        yield {
            "study": study.name,
            "item": item.place,
            "question": item.question,
            "reference": item.reference,
            "answers": {one.system: one.text for one in item.answers},
            **({"sentences": list(item.sentences)} if item.sentences else {}),
            "order": {letter: one.system for letter, one in order.items()},
            "rater": rating.rater,
            "scores": said.scores,
            "ranks": said.ranks,
            "cannot_judge": said.cannot_judge,
            "comment": said.comment,
            "at": rating.at,
        }


def sheet_cell(value: object) -> object:
    """A value for a table that is opened in a spreadsheet: there a text that begins so would be worked out."""
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")) else value
