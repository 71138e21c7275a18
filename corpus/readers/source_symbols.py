"""The positions of a source file's symbols: functions, classes, modules and types, with their comments."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from argot.corpus.readers.source_languages import SourceLanguage

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_PARSED_BYTES = 2_000_000
"""Bytes of a file that a grammar parses: longer ones are generated, and their lines are enough."""
_MAX_DEPTH = 12
"""Levels at which symbols are looked for: namespaces, classes and the blocks around them."""
_MAX_NAME_CHARS = 120
_COMMENTS = frozenset(
    "comment line_comment block_comment one_line_comment attribute_item decorator doc_comment".split()  # noqa: SIM905
)
_FUNCTION_VALUES = frozenset({"arrow_function", "function_expression", "generator_function", "class"})
_NAME_FIELDS = ("name", "type_name", "declarator", "type", "entity", "architecture", "package", "function", "procedure")
_NAMES = frozenset(
    "identifier simple_identifier field_identifier type_identifier property_identifier namespace_identifier word"  # noqa: SIM905
    " qualified_identifier operator_name destructor_name scoped_identifier operator_symbol".split()
)


@dataclass(frozen=True, slots=True)
class Symbol:
    """A symbol: its name with those of the symbols around it, and its lines [first, end), from 0."""

    path: tuple[str, ...]
    first: int
    end: int


def find_symbols(text: str, language: SourceLanguage) -> list[Symbol]:
    """Return the symbols of a file in order. One that contains others comes before them.

    No two begin in one line: of several that share it, the first counts.
    """
    if language.grammar is not None:
        data = text.encode("utf-8", "replace")
        found = _find_by_grammar(data, language) if len(data) <= MAX_PARSED_BYTES else iter(())
    else:
        found = _find_by_pattern(text, language.pattern) if language.pattern else iter(())
    symbols: dict[int, Symbol] = {}
    for one in found:
        symbols.setdefault(one.first, one)
    return sorted(symbols.values(), key=lambda one: (one.first, -one.end))


def _find_by_pattern(text: str, pattern: re.Pattern[str]) -> Iterator[Symbol]:
    """Find symbols that each end before the next one."""
    begin: tuple[str, int] | None = None
    line, counted = 0, 0
    for found in pattern.finditer(text):
        start = found.start("name")
        line, counted = line + text.count("\n", counted, start), start
        if begin and begin[1] < line:
            yield Symbol((begin[0],), begin[1], line)
        begin = (" ".join(found["name"].split())[:_MAX_NAME_CHARS], line)
    if begin:
        yield Symbol((begin[0],), begin[1], text.count("\n") + 1)


def _find_by_grammar(data: bytes, language: SourceLanguage) -> Iterator[Symbol]:
    from tree_sitter import Language, Parser

    assert language.grammar is not None
    module, function = language.grammar
    grammar = Language(getattr(importlib.import_module(module), function)())
    yield from _walk(Parser(grammar).parse(data).root_node, language, (), 0)


def _walk(node: Node, language: SourceLanguage, path: tuple[str, ...], depth: int) -> Iterator[Symbol]:
    # The lines before `free` belong to something else.
    free = node.start_point[0] if path else 0
    comments: int | None = None
    for child in node.named_children:
        first, end = child.start_point[0], _find_end(child)
        if child.type in _COMMENTS:
            comments = first if comments is None and first >= free else comments
            free = max(free, end)
            continue
        name = _find_name(child) if child.type in language.symbols and _has_body(child) else ""
        if name:
            own = (*path, name)
            yield Symbol(own, first if comments is None else comments, end)
        if depth < _MAX_DEPTH and (not name or child.type in language.containers):
            inner = (*path, name) if name else path
            # What is in a function belongs to it: only blocks around symbols are looked into.
            if name or _may_hold_symbols(child, language):
                yield from _walk(child, language, inner, depth + 1)
        free, comments = end, None


def _find_end(node: Node) -> int:
    """Return the line after a node; some nodes contain the line end behind them."""
    row, column = node.end_point
    return max(row if column == 0 else row + 1, node.start_point[0] + 1)


def _has_body(node: Node) -> bool:
    """Return whether a node declares something, and does not just name a type, as in `struct foo *next`."""
    if node.type == "variable_declarator":  # const name = () => { ... }
        value = node.child_by_field_name("value")
        return value is not None and value.type in _FUNCTION_VALUES
    if node.type in ("struct_specifier", "union_specifier", "enum_specifier", "class_specifier"):
        return node.child_by_field_name("body") is not None
    if node.type == "type_definition":
        kind = node.child_by_field_name("type")
        return kind is not None and kind.child_by_field_name("body") is not None
    return True


def _may_hold_symbols(node: Node, language: SourceLanguage) -> bool:
    """Return whether a node is no statement or expression, in which names are no symbols of the file."""
    return node.type not in language.symbols and not node.type.endswith(("_expression", "_literal", "_directive"))


def _find_name(node: Node) -> str:
    """Find the name of a symbol: the field of that name, or the first name in its head; a method of Go has that of its
    type before it.
    """
    name = _find_first_name(node)
    receiver = node.child_by_field_name("receiver") if name else None
    of = _find_type_name(receiver) if receiver is not None else ""
    return f"{of}.{name}" if of else name


def _find_type_name(node: Node) -> str:
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if one.type == "type_identifier":
            return _read_name(one)
        waiting += reversed(one.named_children)
    return ""


def _find_first_name(node: Node) -> str:
    waiting, steps = [node], 0
    while waiting and steps < 40:
        one = waiting.pop(0)
        steps += 1
        if one.type in _NAMES and one is not node:
            return _read_name(one)
        fields = [found for name in _NAME_FIELDS if (found := one.child_by_field_name(name)) is not None]
        if node.type == "type_definition" and one is node:  # typedef struct { ... } name
            fields = [found for found in (one.child_by_field_name("declarator"),) if found is not None]
        waiting = [*fields, *waiting] if fields else [*waiting, *one.named_children[:8]]
    return ""


def _read_name(node: Node) -> str:
    text = (node.text or b"").decode("utf-8", "replace")
    return " ".join(text.split())[:_MAX_NAME_CHARS]
