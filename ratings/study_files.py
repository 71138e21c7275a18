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
from argot.ratings.answer_order import draw_blind_order
from argot.ratings.study import Answer, NewItem, Rating, Sources, Study, StudyItem

MIN_SYSTEMS, MAX_SYSTEMS = 2, 6
MAX_ITEMS = 2_000
MAX_QUESTION_CHARS, MAX_ANSWER_CHARS, MAX_SYSTEM_NAME_CHARS = 10_000, 100_000, 100
FIELDS = ("question", "reference", "answers", "documents")
_EXAMPLE = '{"question": "...", "answers": {"one system": "...", "another": "..."}}'


def read_answered_questions(text: str, found: Callable[[str], str]) -> list[NewItem]:
    """Read the lines of a JSONL file: `question`, `answers` by system, and, if wanted, `reference` and `documents`.

    Args:
        found: the URI of a document, by its name in a line.

    Raises:
        InvalidInput: a line is wrong; the message names it.
    """
    return read_items(text, lambda row: _read_answered(row, found), FIELDS, _EXAMPLE)


def read_plain_questions(text: str) -> list[NewItem]:
    """Read questions to ask: one a line, as it stands or as JSON with `question` and, if wanted, `reference`."""
    return read_items(text, lambda row: NewItem(*read_question(row, _EXAMPLE)), FIELDS, _EXAMPLE)


def read_items(
    text: str, read: Callable[[Mapping[str, Any]], NewItem], fields: Sequence[str], example: str
) -> list[NewItem]:
    """Read each line of a JSONL file as an item; a line that is no JSON is a question alone.

    Raises:
        InvalidInput: a line is wrong; the message names it, and shows the example.
    """
    items: list[NewItem] = []
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        if not line.strip():
            continue
        row = _parse_row(line, f"Line {number}", example)
        try:
            _refuse_unknown_fields(row, fields)
            items.append(read(row))
        except InvalidInput as error:
            raise InvalidInput(f"Line {number}: {error}") from None
    if not items or len(items) > MAX_ITEMS:
        raise InvalidInput(f"The file holds {len(items):,} questions. A study takes 1 to {MAX_ITEMS:,}.")
    return items


def _parse_row(line: str, place: str, example: str) -> Mapping[str, Any]:
    if not line.lstrip().startswith("{"):
        return {"question": line.strip()}
    try:
        return dict(parse_json(line, place))
    except InvalidInput as error:
        raise InvalidInput(f"{error} Write one object a line: {example}") from None


def _refuse_unknown_fields(row: Mapping[str, Any], fields: Sequence[str]) -> None:
    if unknown := row.keys() - set(fields):
        raise InvalidInput(f"it has a field '{min(unknown):.60}'. The fields are {', '.join(fields)}.")


def _read_answered(row: Mapping[str, Any], found: Callable[[str], str]) -> NewItem:
    question, reference = read_question(row, _EXAMPLE)
    given = row.get("answers")
    if not isinstance(given, dict) or not MIN_SYSTEMS <= len(given) <= MAX_SYSTEMS:
        raise InvalidInput(f"'answers' takes those of {MIN_SYSTEMS} to {MAX_SYSTEMS} systems: {_EXAMPLE}")
    if any(not name.strip() or len(name) > MAX_SYSTEM_NAME_CHARS for name in given):
        raise InvalidInput(f"the name of a system is empty, or longer than {MAX_SYSTEM_NAME_CHARS} characters.")
    sources = read_sources(row, found)
    answers = tuple(Answer(name, read_text_field(given, name, MAX_ANSWER_CHARS, _EXAMPLE), sources) for name in given)
    return NewItem(question, reference, answers)


def read_question(row: Mapping[str, Any], example: str) -> tuple[str, str]:
    """Read the question of a line, and the reference answer, if it has one."""
    reference = read_text_field(row, "reference", MAX_ANSWER_CHARS, example) if row.get("reference") else ""
    return read_text_field(row, "question", MAX_QUESTION_CHARS, example), reference


def read_sources(row: Mapping[str, Any], found: Callable[[str], str]) -> Sources:
    """Read the documents that a line names: its texts rest on them."""
    named = row.get("documents", [])
    if not isinstance(named, list) or not all(isinstance(one, str) for one in named):
        raise InvalidInput("'documents' takes a list of names, as argot list shows them.")
    return Sources(tuple(found(one) for one in named))


def read_text_field(row: Mapping[str, Any], name: str, longest: int, example: str) -> str:
    """Read a text that a line must have."""
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


def write_ratings_jsonl(study: Study, items: Sequence[StudyItem], ratings: Sequence[Rating]) -> str:
    """Write a line for each saved rating, with the question, the answers by system and the judgement of each."""
    return write_jsonl(_iterate_rows(study, items, ratings))


def write_jsonl(rows: Iterable[Mapping[str, Any]]) -> str:
    """Write JSONL: one object a line."""
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)


def write_ratings_csv(study: Study, items: Sequence[StudyItem], ratings: Sequence[Rating]) -> str:
    """Write a line for each answer that somebody rated, with a column for each aspect."""
    aspects = [one.name for one in study.aspects]
    head = ("item", "question", "system", "shown_as", "rater", *aspects, "rank", "cannot_judge", "comment", "at")
    written = io.StringIO()
    table = csv.writer(written)
    table.writerow(map(escape_sheet_cell, head))
    for row in _iterate_rows(study, items, ratings):
        shown_as = {system: letter for letter, system in row["order"].items()}
        for system in shown_as or row["answers"]:
            letter, scores = shown_as.get(system, ""), row["scores"].get(system, {})
            values = (row["item"], row["question"], system, letter, row["rater"], *map(scores.get, aspects))
            end = (row["ranks"].get(system), int(row["cannot_judge"]), row["comment"], row["at"])
            table.writerow(map(escape_sheet_cell, (*values, *end)))
    return written.getvalue()


def _iterate_rows(study: Study, items: Sequence[StudyItem], ratings: Sequence[Rating]) -> Iterator[dict[str, Any]]:
    by_id = {one.id: one for one in items}
    for rating in ratings:
        if rating.said is None:
            continue
        item, judgement = by_id[rating.item], rating.said
        # It was drawn by the rater's name, which is unknown after an erasure.
        known = not rating.rater.startswith(ERASED)
        order = draw_blind_order(item.answers, study.seed, rating.rater, item.place) if known else {}
        yield {
            "study": study.name,
            "item": item.place,
            "question": item.question,
            "reference": item.reference,
            "answers": {one.system: one.text for one in item.answers},
            **({"sentences": list(item.sentences)} if item.sentences else {}),
            "order": {letter: one.system for letter, one in order.items()},
            "rater": rating.rater,
            "scores": judgement.scores,
            "ranks": judgement.ranks,
            "cannot_judge": judgement.cannot_judge,
            "comment": judgement.comment,
            "at": rating.at,
        }


def escape_sheet_cell(value: object) -> object:
    """Escape a value for a spreadsheet, which would otherwise compute a text that begins like a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")) else value
