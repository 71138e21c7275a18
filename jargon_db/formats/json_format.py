"""The glossary as JSON: all fields of senses and contexts.

    {"format": "argot-glossary", "version": 1,
     "contexts": [{"name": "NAND", "description": "...", "contact": "...", "audience": []}],
     "senses": [{"term": "PUC", "context": "NAND", "expansion": "peripheral under cell", "description": "...",
                 "notes": "...", "aliases": ["P.U.C."], "owner": "eve", "status": "approved", "audience": ["hr"],
                 "review_by": "2027-01-31", "source": "https://...", "example": "...", "concept": "c5",
                 "labels": [{"text": "PUC", "language": "en", "status": "preferred", "part_of_speech": "noun"}],
                 "relations": [{"kind": "broader", "term": "circuit", "context": "NAND"}]}]}

A sense needs `term`, and `expansion` or `description`; a context `name`. A missing field leaves the stored value; an
empty one clears it,
and `"review_by": null` removes the date. No `context` means "general". An unknown field is an error, because it is most
likely a misspelt one. A bare list of senses is accepted as well.

Another program's list of objects is read as a table whose columns are the objects' keys, and an object whose values are
texts as one of terms and meanings.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping
from typing import Any

from argot.jargon_db.formats.cell_texts import join_aliases
from argot.jargon_db.formats.glossary_file import (
    ContextInput,
    GlossaryFile,
    GlossaryFileBuilder,
    ReadOptions,
    decode_utf8,
    refuse,
)
from argot.jargon_db.formats.table_format import DEFAULT_CONTEXT, Row, Table, read_tables
from argot.jargon_db.store.inputs import SenseInput
from argot.types import Audience, Context, Label, Relation, Sense

NAME = "argot-glossary"
VERSION = 1
SENSE_FIELDS = (
    "term", "context", "expansion", "description", "notes", "aliases", "owner", "status", "audience", "review_by",
    "labels", "relations", "source", "example", "concept",
)  # fmt: skip
CONTEXT_FIELDS = ("name", "description", "contact", "audience")
_TOP = ("format", "version", "contexts", "senses")
_LISTS = ("aliases", "audience")
_NEEDED = {"labels": ("text",), "relations": ("kind", "term")}
_OBJECTS: dict[str, type[Label] | type[Relation]] = {"labels": Label, "relations": Relation}
# Counted before parsing: the parser makes a Python object of each, many times the size of the file.
_MAX_BRACKETS = 5_000_000
_MAX_COMMAS = 20_000_000
_MAX_KEYS = 200
"""Objects with more different keys are no rows of one list."""


def read_json(data: bytes, name: str, options: ReadOptions) -> GlossaryFile:
    """Return the senses and contexts of a JSON file.

    Raises:
        InvalidGlossary: names every bad sense with its field, or the line at which the file is no JSON.
    """
    found = parse_glossary_json(data, name)
    if rows := _list_foreign_rows(found):
        return read_tables([Table("", rows)], name, options)
    gathering = GlossaryFileBuilder(name, options)
    top = {"senses": found} if isinstance(found, list) else _check_top(found, gathering)
    for number, one in enumerate(_list(top, "contexts", gathering), 1):
        _add_context(one, f"context {number}", gathering)
    for number, one in enumerate(_list(top, "senses", gathering), 1):
        _add_sense(one, f"sense {number}", options.context or DEFAULT_CONTEXT, gathering)
    return gathering.finish()


def _list_foreign_rows(found: Any) -> list[Row]:
    """List the rows of another program's JSON, the names of their columns first; empty: it is Argot's own, or no list
    of terms.
    """
    if isinstance(found, dict) and not found.keys() & {"senses", "format"}:
        if found and all(isinstance(value, str) for value in found.values()):
            return list(enumerate([["term", "meaning"], *map(list, found.items())], 1))
        lists = [value for value in found.values() if isinstance(value, list) and value]
        found = lists[0] if len(lists) == 1 else found
    if not (isinstance(found, list) and found and all(isinstance(one, dict) for one in found)):
        return []
    keys = list(dict.fromkeys(key for one in found for key in one))
    if len(keys) > _MAX_KEYS or set(keys) <= set(SENSE_FIELDS):
        return []
    # The first object is row 1, as people count them.
    return list(enumerate([keys, *([_format_cell(one.get(key)) for key in keys] for one in found)]))


def _format_cell(value: Any) -> str:
    """Format a value as the cell of a table. Objects have no place in one."""
    if isinstance(value, list):
        return join_aliases(one for one in value if isinstance(one, str) and one.strip())
    if value is None or isinstance(value, dict):
        return ""
    return value if isinstance(value, str) else json.dumps(value)


def write(senses: Iterable[Sense], contexts: Iterable[Context]) -> str:
    """Return the file of these contexts and senses, one sense per line, so that two exports can be compared."""
    parts = [f'{{"format": "{NAME}", "version": {VERSION},\n"contexts": [\n']
    parts.append(",\n".join(_format_line({field: getattr(one, field) for field in CONTEXT_FIELDS}) for one in contexts))
    parts.append('\n],\n"senses": [\n')
    parts.append(",\n".join(_format_line({field: getattr(one, field) for field in SENSE_FIELDS}) for one in senses))
    parts.append("\n]}\n")
    return "".join(parts)


def parse_glossary_json(data: bytes, name: str) -> Any:
    """Return the value of a JSON text.

    Raises:
        InvalidGlossary: it is no JSON, nested too deeply, or names a field twice.
    """
    text = decode_utf8(data, name)
    if text.count("{") + text.count("[") > _MAX_BRACKETS or text.count(",") > _MAX_COMMAS:
        raise refuse(name, "it holds too many values to be a glossary; split it")
    try:
        # Not strict: control characters within texts are taken out later, as in every format.
        return json.loads(text, object_pairs_hook=_build_object, parse_constant=_refuse_constant, strict=False)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        why = f"this is no JSON: {error.msg}. Mend it there, or choose the right format"
        raise refuse(name, why, where) from error
    except RecursionError as error:
        raise refuse(name, "it is nested too deeply to be a glossary; flatten it") from error
    except ValueError as error:
        raise refuse(name, f"{error}") from error


def _build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    # Python would silently keep the last of them.
    if len(found) != len(pairs):
        seen: set[str] = set()
        double = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the field {double[:80]!r} stands twice in one object {_show_value(found)}; keep one of them")
    return found


def _refuse_constant(constant: str) -> Any:
    raise ValueError(f"invalid value {constant}; put it in quotes or take it out")


def _check_top(found: Any, gathering: GlossaryFileBuilder) -> Mapping[str, Any]:
    if not isinstance(found, dict) or "senses" not in found:
        gathering.problem(
            "", f'it holds no "senses", so it is no glossary: {_show_value(found)}. Give {{"senses": [...]}}'
        )
        return {}
    for key in found.keys() - set(_TOP):
        gathering.problem("", f"unknown part {key[:80]!r}. Parts: {', '.join(_TOP)}")
    if found.get("format", NAME) != NAME:
        gathering.problem("", f'"format" is {_show_value(found["format"])}, not "{NAME}"')
    version = found.get("version", VERSION)
    # Not `isinstance`: True is an int as well.
    if type(version) is not int or version < 1:
        gathering.problem("", f'"version" is {_show_value(version)}; it counts from 1')
    elif version > VERSION:
        gathering.problem("", f'"version" is {version}, of a newer Argot; this one reads up to {VERSION}. Update it')
    return found


def _list(top: Mapping[str, Any], key: str, gathering: GlossaryFileBuilder) -> list[Any]:
    found = top.get(key, [])
    if isinstance(found, list):
        return found
    gathering.problem("", f'"{key}" is {_show_value(found)}; give a list')
    return []


def _add_sense(found: Any, where: str, context: str, gathering: GlossaryFileBuilder) -> None:
    before = len(gathering.rejected)
    fields = _check_fields(found, SENSE_FIELDS, ("term",), where, gathering)
    if fields is None:
        if isinstance(found, dict):
            gathering.unite_rejected(before, _keep_texts(found, context))
        return
    if "review_by" in fields:
        # null removes the date, as "" does; None would leave it.
        fields["review_by"] = fields["review_by"] or ""
    fields["context"] = fields.get("context", "").strip() or context
    fields.setdefault("expansion", "")
    gathering.add_sense(_name_place(where, fields["term"]), SenseInput(**fields))


def _keep_texts(found: Mapping[str, Any], context: str) -> SenseInput:
    """Return the readable part of a wrong sense, for the file of rejected entries."""
    kept: dict[str, Any] = {"term": "", "context": context, "expansion": ""}
    for key, value in found.items():
        if key in SENSE_FIELDS and key not in (*_LISTS, *_OBJECTS) and isinstance(value, str | int | float):
            kept[key] = str(value)
        elif key in _LISTS and isinstance(value, list):
            texts = [one for one in value if isinstance(one, str)]
            kept[key] = frozenset(texts) if key == "audience" else tuple(texts)
    return SenseInput(**kept)


def _add_context(found: Any, where: str, gathering: GlossaryFileBuilder) -> None:
    fields = _check_fields(found, CONTEXT_FIELDS, ("name",), where, gathering)
    if fields is not None:
        gathering.add_context(_name_place(where, fields["name"]), ContextInput(**fields))


def _check_fields(
    found: Any, known: tuple[str, ...], needed: tuple[str, ...], where: str, gathering: GlossaryFileBuilder
) -> dict[str, Any] | None:
    """Return the fields with lists as tuples or sets; None, with the problems named, if one is wrong."""
    if not isinstance(found, dict):
        gathering.problem(where, f"expected an object, not {_show_value(found)}; give {{...}} with {', '.join(needed)}")
        return None
    # All problems of one sense are named, not only the first.
    before = len(gathering.problems)
    label = _name_place(where, found.get(needed[0]))
    for key in found.keys() - set(known):
        gathering.problem(label, f"unknown field {key[:80]!r}. Fields: {', '.join(known)}")
    for key in needed:
        if key not in found:
            gathering.problem(label, f"{key!r} is missing; it is needed", key)
    fields = {key: _check_value(key, found[key], label, gathering) for key in known if key in found}
    return fields if len(gathering.problems) == before else None


def _check_value(
    key: str, value: Any, where: str, gathering: GlossaryFileBuilder
) -> str | tuple[str, ...] | tuple[Label | Relation, ...] | Audience | None:
    if key in _OBJECTS:
        return _read_objects(key, value, where, gathering)
    if key in _LISTS:
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            return frozenset(value) if key == "audience" else tuple(value)
        gathering.problem(where, f"it is {_show_value(value)}; give a list of texts", key)
    elif not isinstance(value, str) and not (key == "review_by" and value is None):
        gathering.problem(where, f"it is {_show_value(value)}; give a text in quotes", key)
    else:
        return value
    return None


def _read_objects(
    key: str, value: Any, where: str, gathering: GlossaryFileBuilder
) -> tuple[Label | Relation, ...] | None:
    kind = _OBJECTS[key]
    known = [one.name for one in dataclasses.fields(kind)]
    for one in value if isinstance(value, list) else [value]:
        good = isinstance(one, dict) and set(one) <= set(known) and all(isinstance(text, str) for text in one.values())
        if not good or not all(one.get(name) for name in _NEEDED[key]):
            remedy = f"give a list of objects with texts: {', '.join(known)}"
            gathering.problem(where, f"it holds {_show_value(one)}; {remedy}", key)
            return None
    return tuple(kind(**one) for one in value)


def _name_place(where: str, name: Any) -> str:
    return f"{where} ({name[:80]!r})" if isinstance(name, str) else where


def _show_value(value: Any) -> str:
    # A large object is shown by its keys: writing it out would take long, and help nobody.
    text = json.dumps(value, ensure_ascii=False, default=str) if not isinstance(value, dict | list) else ""
    if isinstance(value, dict):
        text = "{" + ", ".join(str(key) for key in list(value)[:5]) + "}"
    elif isinstance(value, list):
        text = f"a list of {len(value)}"
    return text if len(text) <= 80 else text[:80] + "..."


def _format_line(values: dict[str, Any]) -> str:
    plain = {key: sorted(value) if isinstance(value, frozenset) else value for key, value in values.items()}
    for key in _OBJECTS.keys() & plain.keys():
        # What is empty is the default.
        plain[key] = [{name: text for name, text in dataclasses.asdict(one).items() if text} for one in plain[key]]
    return json.dumps(plain, ensure_ascii=False)
