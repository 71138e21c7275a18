"""Control characters in glossary files: one rule for every format. They are taken out, and each place is reported.

Line ends and tabs stay. A NUL that stands in a file as it is, not as an escape, means that the file is no text.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_Given = TypeVar("_Given", bound="DataclassInstance")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_IN_XML = re.compile(
    rb"[\x01-\x08\x0b\x0c\x0e-\x1f]|&#(?:x0*(?:[0-8bcef]|1[0-9a-f])|0*(?:[0-8]|1[124-9]|2\d|3[01]));", re.I
)
_MAX_NAMED = 5


def remove_control_characters(given: _Given) -> tuple[_Given, list[tuple[str, str]]]:
    """Return an entry without control characters, and (field, message) for each field that held some."""
    values = [getattr(given, name) for name in given.__dataclass_fields__]
    if _CONTROL.search("".join(_list_texts(values))) is None:
        return given, []
    changed = {
        name: _clean(value)
        for name, value in zip(given.__dataclass_fields__, values, strict=True)
        if _CONTROL.search("".join(_list_texts(value)))
    }
    messages = [(name, _describe("".join(_list_texts(getattr(given, name))))) for name in changed]
    return replace(given, **changed), messages


def clean_xml(data: bytes) -> tuple[bytes, str]:
    """Return the bytes of an XML file without control characters, which XML cannot hold, and a message; empty: none.

    Files in UTF-16, in which these bytes are parts of letters, are returned as they are.
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or not (found := _IN_XML.findall(data)):
        return data, ""
    return _IN_XML.sub(b"", data), f"{len(found):,} control characters are taken out"


def _list_texts(value: Any) -> list[str]:
    found: list[str] = []
    _gather_texts(value, found)
    return found


def _gather_texts(value: Any, found: list[str]) -> None:
    # One list for all: an import of 100,000 senses comes by here for each of their fields.
    if isinstance(value, str):
        found.append(value)
    elif isinstance(value, list | tuple | frozenset):
        for one in value:
            _gather_texts(one, found)
    elif value is not None:
        for name in value.__dataclass_fields__:
            _gather_texts(getattr(value, name), found)


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return _CONTROL.sub("", value)
    if isinstance(value, tuple | frozenset):
        return type(value)(map(_clean, value))
    return value and replace(value, **{name: _clean(getattr(value, name)) for name in value.__dataclass_fields__})


def _describe(text: str) -> str:
    found = _CONTROL.findall(text)
    named = ", ".join(f"U+{ord(char):04X}" for char in list(dict.fromkeys(found))[:_MAX_NAMED])
    plural = "characters are" if len(found) > 1 else "character is"
    return f"{len(found):,} control {plural} taken out: {named}"
