"""JSON and JSON lines: objects as sections of fields, and lists of similar flat objects as tables."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.pipe_tables import render_pipe_table
from argot.corpus.readers.plain_text import decode_text, name_without_suffix
from argot.errors import UnreadableDocument
from argot.types import ParsedDocument

VALUES_PER_SECOND = 50_000
_NAMING_FIELDS = ("title", "name", "label", "subject", "key", "id")
"""Fields that name the subject of an object, the best first."""
_MAX_COLUMNS = 12
_MAX_CELL_CHARS = 200
"""Characters: longer texts are no cells of a table, but paragraphs."""
_MAX_HEADING_LEVEL = 6
_MAX_NAMED_LINES = 5  # number named in a warning


def read_json(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    """Read JSON. The title is the object's own title or name, else the file name.

    UnreadableDocument: it is no JSON; the message names the position.
        UnreadableDocument: it is no JSON; the message says where.
    """
    try:
        value = _load_value(decode_text(data, name))
    except ValueError as error:
        raise UnreadableDocument(name, f"damaged: no JSON ({error})"[:200]) from error
    except RecursionError as error:
        raise _refuse_deep(name) from error
    return _make_document(value, name, limits, "application/json")


def read_json_lines(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    """Read one value per line. Lines that are no JSON are left out, with a warning.

    Raises:
        UnreadableDocument: no line is JSON.
    """
    values, bad = [], []
    for number, line in enumerate(decode_text(data, name).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            values.append(_load_value(line))
        except (ValueError, RecursionError):
            bad.append(number)
    if not values:
        raise UnreadableDocument(name, "damaged: no line of it is JSON")
    more = " ..." if len(bad) > _MAX_NAMED_LINES else ""
    warnings = (f"no JSON, left out: line {', '.join(map(str, bad[:_MAX_NAMED_LINES]))}{more}",) if bad else ()
    return _make_document(values, name, limits, "application/jsonl", warnings)


def _load_value(text: str) -> Any:
    # Numbers as written: 1.10 may be a version, and 9.50 a price.
    return json.loads(text, parse_int=str, parse_float=str)


def _make_document(
    value: Any, name: str, limits: ReadLimits, media_type: str, warnings: tuple[str, ...] = ()
) -> ParsedDocument:
    try:
        limits.check_elements(_count(value), VALUES_PER_SECOND, "JSON", name)
        title = _name_of(value) if isinstance(value, dict) else ""
        markdown = "\n\n".join(part for part in _write_parts(value, 1) if part) + "\n"
    except RecursionError as error:
        raise _refuse_deep(name) from error
    return ParsedDocument(title or name_without_suffix(name), markdown, media_type, warnings=warnings)


def _refuse_deep(name: str) -> UnreadableDocument:
    return UnreadableDocument(name, "nested too deeply")


def _count(value: Any) -> int:
    held = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(_count, held))


def _write_parts(value: Any, level: int) -> Iterator[str]:
    """Yield the Markdown of a value, block by block; inner values get headings from `level` on."""
    if isinstance(value, dict):
        yield from _write_object(value, level)
    elif isinstance(value, list):
        yield from _write_list(value, level)
    else:
        yield _write_text(value)


def _write_object(value: Mapping[str, Any], level: int) -> Iterator[str]:
    """Yield short fields as a list, then each longer one under a heading."""
    short = {key: held for key, held in value.items() if _is_short(held)}
    yield "\n".join(
        f"- {_join_lines(key)}: {_join_lines(_write_text(held))}" for key, held in short.items() if _write_text(held)
    )
    for key, held in value.items():
        if key not in short and held:
            yield _write_heading(_join_lines(key), level)
            yield from _write_parts(held, level + 1)


def _write_list(values: Sequence[Any], level: int) -> Iterator[str]:
    if all(_is_short(value) for value in values):
        yield "\n".join(f"- {_join_lines(_write_text(value))}" for value in values if _write_text(value))
        return
    if columns := _list_columns(values):
        rows = [[_write_text(value.get(column)) for column in columns] for value in values]
        yield render_pipe_table([columns, *rows])
        return
    for number, value in enumerate(values, start=1):
        yield _write_heading((_name_of(value) if isinstance(value, dict) else "") or f"Entry {number}", level)
        yield from _write_parts(value, level + 1)


def _list_columns(values: Sequence[Any]) -> list[str]:
    """Return the fields of similar flat objects in their order; none if the objects make no table."""
    if len(values) < 2 or not all(isinstance(value, dict) and value for value in values):
        return []
    if not all(_is_short(held) for value in values for held in value.values()):
        return []
    columns = list(dict.fromkeys(key for value in values for key in value))
    filled = sum(len(value) for value in values)
    # Objects with few fields in common would be a table of gaps.
    return columns if len(columns) <= _MAX_COLUMNS and 2 * filled >= len(columns) * len(values) else []


def _is_short(value: Any) -> bool:
    if isinstance(value, list):
        return not any(isinstance(one, (dict, list)) for one in value) and len(_write_text(value)) <= _MAX_CELL_CHARS
    return (
        not isinstance(value, dict)
        and len(_write_text(value)) <= _MAX_CELL_CHARS
        and "\n" not in _write_text(value).strip()
    )


def _write_text(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case list():
            return ", ".join(map(_write_text, value))
        case _:
            return str(value)


def _name_of(value: Mapping[str, Any]) -> str:
    names = {key.casefold(): held for key, held in value.items() if isinstance(held, (str, int)) and _is_short(held)}
    return next((_join_lines(str(names[key])) for key in _NAMING_FIELDS if names.get(key) not in (None, "")), "")


def _write_heading(text: str, level: int) -> str:
    return f"{'#' * min(level + 1, _MAX_HEADING_LEVEL)} {text}"


def _join_lines(text: str) -> str:
    return " ".join(text.split())
