"""The texts that the message catalogues have to hold, read from the source of templates and modules."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jinja2.ext import babel_extract
from repository import ROOT

from argot.ui.cli.help_texts import split_paragraphs

TEMPLATE_FOLDERS = (
    ROOT / "ui" / "templates",
    *(ROOT / folder / "pages" / "templates" for folder in ("ui", "ratings", "learn", "evaluate")),
)
FOLDERS = ("argot", "jargon_db", "graph", "tools", "service", "ui", "slack", "ratings", "learn", "evaluate")
TRANSLATE, TRANSLATE_NUMBER, TABLE, COUNT = "translate", "translate_number", "print_table", "format_count"
Message = str | tuple[str, str]


def list_templates() -> list[Path]:
    return sorted(path for folder in TEMPLATE_FOLDERS for path in folder.glob("*.html"))


def list_modules() -> list[Path]:
    """List the modules that translate something, or print what is translated for them."""
    paths = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
    return [
        path
        for path in paths
        if re.search(r"\b(?:translate(?:_number)?|print_table|format_count)\(|\bask=", path.read_text("utf-8"))
    ]


def extract_from_templates() -> set[Message]:
    """Extract the messages of the templates with Babel; those with a plural as pairs."""
    options = {"trim_blocks": "true", "lstrip_blocks": "true", "newstyle_gettext": "true", "silent": "false"}
    found: set[Message] = set()
    for path in list_templates():
        with path.open("rb") as file:
            for _, function, message, _ in babel_extract(file, ["_", "gettext", "ngettext"], [], options):
                parts = [one for one in message if one] if isinstance(message, tuple) else [message]
                found.add((parts[0], parts[1]) if function == "ngettext" else parts[0])
    return found


def list_help_texts(command: Any) -> Iterator[str]:
    """Yield the help texts of a command and of all below it, as the catalogues hold them."""
    yield from split_paragraphs(command.help)
    for parameter in command.params:
        yield from split_paragraphs(getattr(parameter, "help", ""))
    for below in getattr(command, "commands", {}).values():
        yield from list_help_texts(below)


def extract_from_module(source: str) -> set[Message]:
    """Extract the messages of a module: constants given to `translate` and to what calls it for others, by themselves
    or under a name of the module.
    """
    tree = ast.parse(source)
    named = _read_assignments(tree)
    found: set[Message] = set()
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or not call.args:
            continue
        # The question that a plain command asks first.
        found.update(text for one in call.keywords if one.arg == "ask" for text in _list_constants(one.value, named))
        if call.func.id in (TRANSLATE, TABLE):
            found.update(_list_constants(call.args[0], named))
        elif call.func.id == TRANSLATE_NUMBER:
            found.update(_list_pairs(call.args, named))
        elif call.func.id == COUNT:
            found.update(_list_counted(call.args[1:]))
    return found


def _read_assignments(tree: ast.AST) -> dict[str, list[ast.expr]]:
    """Read what is assigned to each name, in the whole module."""
    named: dict[str, list[ast.expr]] = {}
    for one in ast.walk(tree):
        if isinstance(one, ast.AnnAssign) and one.value and isinstance(one.target, ast.Name):
            named.setdefault(one.target.id, []).append(one.value)
        for target in one.targets if isinstance(one, ast.Assign) else []:
            if isinstance(target, ast.Name):
                named.setdefault(target.id, []).append(one.value)
            elif isinstance(target, ast.Tuple) and isinstance(one.value, ast.Tuple):
                for name, value in zip(target.elts, one.value.elts, strict=True):
                    if isinstance(name, ast.Name):
                        named.setdefault(name.id, []).append(value)
    return named


def _list_constants(shown: ast.expr, named: dict[str, list[ast.expr]]) -> Iterator[str]:
    match shown:
        case ast.Constant(value=str() as text) if any(map(str.isalpha, text)) or "%" in text:
            yield text
        case ast.Name(id=name):
            for value in named.get(name, []):
                # Once through the names: an assignment may repeat its own name.
                yield from _list_constants(value, {other: one for other, one in named.items() if other != name})
        case ast.IfExp(body=one, orelse=other):
            yield from _list_constants(one, named)
            yield from _list_constants(other, named)
        case ast.BoolOp(values=values) | ast.Dict(values=values) | ast.Tuple(elts=values) | ast.List(elts=values):
            for value in values:
                yield from _list_constants(value, named)
        case ast.Starred(value=whole) | ast.Subscript(value=whole) | ast.Call(func=ast.Attribute(value=whole)):
            yield from _list_constants(whole, named)


def _list_counted(nouns: list[ast.expr]) -> Iterator[tuple[str, str]]:
    """Yield the pair of a noun given to `format_count`, whose plural has an -s if it is not given."""
    match nouns:
        case [ast.Constant(value=str() as one)]:
            yield f"%(number)s {one}", f"%(number)s {one}s"
        case [ast.Constant(value=str() as one), ast.Constant(value=str() as many)]:
            yield f"%(number)s {one}", f"%(number)s {many}"


def _list_pairs(arguments: list[ast.expr], named: dict[str, list[ast.expr]]) -> Iterator[tuple[str, str]]:
    if not isinstance(arguments[0], ast.Starred):
        yield from zip(_list_constants(arguments[0], named), _list_constants(arguments[1], named), strict=True)
        return
    match arguments[0].value:
        case ast.Subscript(value=ast.Name(id=name)):
            # Chosen from a dictionary of pairs.
            yield from _list_chosen_pairs(named.get(name, []))
            return
    # Given as a whole: then it is any pair of the module that has a place for the number.
    for value in (one for some in named.values() for one in some if isinstance(one, ast.Tuple)):
        texts = list(_list_constants(value, {}))
        if len(texts) == 2 and all("%(number)s" in text for text in texts):
            yield texts[0], texts[1]


def _list_chosen_pairs(values: list[ast.expr]) -> Iterator[tuple[str, str]]:
    for value in (one for whole in values if isinstance(whole, ast.Dict) for one in whole.values):
        if isinstance(value, ast.Tuple):
            one, many = _list_constants(value, {})
            yield one, many
