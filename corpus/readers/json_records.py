"""JSON and JSON lines: objects as sections of fields, and lists of alike flat objects as tables."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.pipe_tables import pipe_table
from argot.corpus.readers.plain_text import decode_text, file_stem
from argot.errors import UnreadableDocument
from argot.types import ParsedDocument

VALUES_A_SECOND = 50_000
_NAMES = ("title", "name", "label", "subject", "key", "id")
"""Fields that say what an object is about, the best first."""
_MOST_COLUMNS = 12
_LONGEST_CELL = 200
"""Characters: longer texts are no cells of a table, but paragraphs."""
_DEEPEST_HEADING = 6
_MOST_BAD_LINES = 5  # that a warning names


def read_json(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    """Title: the object's own title or name, else the file name.

    Raises:
        UnreadableDocument: it is no JSON; the message says where.
    """
    try:
        value = _loaded(decode_text(data, name))
    except ValueError as error:
        raise UnreadableDocument(name, f"damaged: no JSON ({error})"[:200]) from error
    except RecursionError as error:
        raise _too_deep(name) from error
    return _parsed(value, name, limits, "application/json")


def read_json_lines(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    """One value a line. Lines that are no JSON are left out, with a warning.

    Raises:
        UnreadableDocument: no line is JSON.
    """
    values, bad = [], []
    for number, line in enumerate(decode_text(data, name).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            values.append(_loaded(line))
        except (ValueError, RecursionError):
            bad.append(number)
    if not values:
        raise UnreadableDocument(name, "damaged: no line of it is JSON")
    more = " ..." if len(bad) > _MOST_BAD_LINES else ""
    said = (f"no JSON, left out: line {', '.join(map(str, bad[:_MOST_BAD_LINES]))}{more}",) if bad else ()
    return _parsed(values, name, limits, "application/jsonl", said)


def _loaded(text: str) -> Any:
    # Numbers as they are written: 1.10 may be a version, and 9.50 a price.
    return json.loads(text, parse_int=str, parse_float=str)


def _parsed(
    value: Any, name: str, limits: ReadLimits, media_type: str, warnings: tuple[str, ...] = ()
) -> ParsedDocument:
    try:
        limits.check_elements(_count(value), VALUES_A_SECOND, "JSON", name)
        title = _name_of(value) if isinstance(value, dict) else ""
        markdown = "\n\n".join(part for part in _parts(value, 1) if part) + "\n"
    except RecursionError as error:
        raise _too_deep(name) from error
    return ParsedDocument(title or file_stem(name), markdown, media_type, warnings=warnings)


def _too_deep(name: str) -> UnreadableDocument:
    return UnreadableDocument(name, "nested too deeply")


def _count(value: Any) -> int:
    held = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(_count, held))


def _parts(value: Any, level: int) -> Iterator[str]:
    """The Markdown of a value, block by block; what is inside it gets headings from `level` on."""
    if isinstance(value, dict):
        yield from _of_object(value, level)
    elif isinstance(value, list):
        yield from _of_list(value, level)
    else:
        yield _text(value)


def _of_object(value: Mapping[str, Any], level: int) -> Iterator[str]:
    """Short fields as a list, then each longer one under a heading."""
    short = {key: held for key, held in value.items() if _is_short(held)}
    yield "\n".join(f"- {_one_line(key)}: {_one_line(_text(held))}" for key, held in short.items() if _text(held))
    for key, held in value.items():
        if key not in short and held:
            yield _heading(_one_line(key), level)
            yield from _parts(held, level + 1)


def _of_list(values: Sequence[Any], level: int) -> Iterator[str]:
    if all(_is_short(value) for value in values):
        yield "\n".join(f"- {_one_line(_text(value))}" for value in values if _text(value))
        return
    if columns := _columns(values):
        rows = [[_text(value.get(column)) for column in columns] for value in values]
        yield pipe_table([columns, *rows])
        return
    for number, value in enumerate(values, start=1):
        yield _heading((_name_of(value) if isinstance(value, dict) else "") or f"Entry {number}", level)
        yield from _parts(value, level + 1)


def _columns(values: Sequence[Any]) -> list[str]:
    """The fields of alike flat objects, in the order in which they come; none if they make no table."""
    if len(values) < 2 or not all(isinstance(value, dict) and value for value in values):
        return []
    if not all(_is_short(held) for value in values for held in value.values()):
        return []
    columns = list(dict.fromkeys(key for value in values for key in value))
    filled = sum(len(value) for value in values)
    # Objects with few fields in common would be a table of holes.
    return columns if len(columns) <= _MOST_COLUMNS and 2 * filled >= len(columns) * len(values) else []


def _is_short(value: Any) -> bool:
    if isinstance(value, list):
        return not any(isinstance(one, (dict, list)) for one in value) and len(_text(value)) <= _LONGEST_CELL
    return not isinstance(value, dict) and len(_text(value)) <= _LONGEST_CELL and "\n" not in _text(value).strip()


def _text(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case list():
            return ", ".join(map(_text, value))
        case _:
            return str(value)


def _name_of(value: Mapping[str, Any]) -> str:
    names = {key.casefold(): held for key, held in value.items() if isinstance(held, (str, int)) and _is_short(held)}
    return next((_one_line(str(names[key])) for key in _NAMES if names.get(key) not in (None, "")), "")


def _heading(text: str, level: int) -> str:
    return f"{'#' * min(level + 1, _DEEPEST_HEADING)} {text}"


def _one_line(text: str) -> str:
    return " ".join(text.split())
