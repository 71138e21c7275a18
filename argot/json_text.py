"""JSON from outside: parsed, or refused with a message for every kind of error."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from argot.errors import InvalidInput
from argot.files import read_text


def parse_json(text: str | bytes, place: str) -> Any:
    """Return the value of a JSON text.

    Args:
        place: the file and line, or the sender's request, for the message.

    Raises:
        InvalidInput: it is no JSON, is nested too deeply, or has a number of thousands of digits.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidInput(f"{place}: not JSON ({error.msg}).") from error
    except RecursionError as error:
        raise InvalidInput(f"{place}: JSON that is nested too deeply. Flatten it.") from error
    except ValueError as error:  # numbers of thousands of digits, bytes that are no UTF-8
        raise InvalidInput(f"{place}: JSON that cannot be read ({error}).") from error


def json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a JSONL file with their line numbers.

    Raises:
        InvalidInput: the file cannot be read, or a line is no object; the message names it.
    """
    try:
        text = read_text(path)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} cannot be read: byte {error.start + 1} is not UTF-8 text.") from error
    yield from json_rows(text, str(path))


def json_rows(text: str, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of JSONL with their line numbers; messages contain `name`.

    Raises:
        InvalidInput: a line is no object; the message names it.
    """
    # Not splitlines(): a JSON string may contain an unescaped U+2028.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        row = parse_json(line, f"{name}, line {number}")
        if not isinstance(row, dict):
            raise InvalidInput(f"{name}, line {number}: holds no JSON object.")
        yield number, row
