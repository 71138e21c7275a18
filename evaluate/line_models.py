"""JSONL files in which every line has the same form, given as a pydantic model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ValidationError

from argot.errors import InvalidInput
from argot.json_text import json_lines

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

M = TypeVar("M", bound=BaseModel)


def _format_fault(fault: ErrorDetails) -> str:
    return f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}"


def read_lines(
    model: type[M], path: Path, what: str, form: str, says: Callable[[ErrorDetails], str] = _format_fault
) -> Iterator[tuple[str, M]]:
    """Yield each line with its place, as messages name it.

    Args:
        what: what a line holds, in words; `form` is an example of a line.
        says: a function that says what is wrong with a field of a line.

    Raises:
        InvalidInput: the file cannot be read or is empty, or a line is malformed; the message names it.
    """
    empty = True
    for number, row in json_lines(path):
        empty, where = False, f"{path}, line {number}"
        try:
            yield where, model.model_validate(row)
        except ValidationError as error:
            raise InvalidInput(f"{where}: {says(error.errors()[0])}. A line looks like {form}.") from error
    if empty:
        raise InvalidInput(f"{path} holds no {what}. A line looks like {form}.")
