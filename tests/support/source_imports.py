"""The imports between modules, read from the source, so that the mapping of folders to packages cannot hide any.

python tests/support/source_imports.py      draws sub-packages and imports into docs/architecture.md
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from pathlib import Path

from repository import ROOT

PAGE = ROOT / "docs" / "architecture.md"
FOLDERS = [
    "slack",
    "ratings",
    "evaluate",
    "learn",
    "ui",
    "service",
    "work",
    "graph",
    "tools",
    "prompts",
    "corpus",
    "jargon_db",
    "samples",
    "argot",
]
"""From the roof to the ground: the order in which they are drawn."""
BEGIN, END = "<!-- drawn by: python tests/support/source_imports.py -->", "<!-- end of the drawing -->"
Graph = Mapping[str, set[str]]


# -- modules ----------------------------------------------------------------------------------------------------------


@cache
def modules() -> dict[str, Path]:
    """Return every module of the package by its dotted name."""
    return {_name(path): path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))}


def _name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    parts = parts if parts[0] == "argot" else ("argot", *parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def import_graph() -> dict[str, set[str]]:
    """Return Argot's modules that each module imports: at the top, in functions and for type checking."""
    return {
        name: imports(path.read_text("utf-8"), modules().keys(), str(path)) - {name} for name, path in modules().items()
    }


def imports(source: str, known: Collection[str], where: str = "") -> set[str]:
    """Return the known modules that a source text imports."""
    return set(_imported(source, known, where))


def _imported(source: str, known: Collection[str], where: str) -> Iterator[str]:
    for node in iterate_statements(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert not node.level, f"{where}: use absolute imports (line {node.lineno})"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                if (found := inner if inner in known else node.module) in known:
                    yield found


def iterate_statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield every statement, however deep: three times as fast as `ast.walk`, which goes into expressions."""
    waiting = [tree]
    while waiting:
        yield (one := waiting.pop())
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            waiting.extend(getattr(one, field, ()))


def circles(graph: Graph) -> list[list[str]]:
    """Return groups of names that reach each other, by Tarjan's algorithm (1972)."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        number[name] = lowest[name] = len(number)
        stack.append(name)
        for other in sorted(graph.get(name, ())):
            if other not in number:
                visit(other)
                lowest[name] = min(lowest[name], lowest[other])
            elif other in stack:
                lowest[name] = min(lowest[name], number[other])
        if lowest[name] == number[name]:
            at = stack.index(name)
            if len(group := stack[at:]) > 1:
                found.append(sorted(group))
            del stack[at:]

    for name in sorted(graph):
        if name not in number:
            visit(name)
    return found


# -- rooms ------------------------------------------------------------------------------------------------------------


def folder(module: str) -> str:
    path = modules()[module].relative_to(ROOT)
    return path.parts[0]


def room(module: str) -> str:
    """Return the sub-package of a module; a module directly in its folder is a room of its own."""
    path = modules()[module].relative_to(ROOT)
    return "/".join(path.parts[:2]).removesuffix(".py")


def between(graph: Graph, place: Mapping[str, str]) -> dict[str, set[str]]:
    """Return the import graph between the places of the modules."""
    joined: dict[str, set[str]] = {}
    for module, imported in graph.items():
        here = place[module]
        joined.setdefault(here, set()).update(there for one in imported if (there := place[one]) != here)
    return joined


def rooms() -> dict[str, set[str]]:
    return between(import_graph(), {module: room(module) for module in import_graph()})


def roads() -> dict[str, set[str]]:
    """Return the folders that each folder imports."""
    found = between(import_graph(), {module: folder(module) for module in import_graph()})
    return {one: found[one] for one in FOLDERS}


def below(graph: Graph, start: str) -> set[str]:
    """Return all folders that can be reached from a folder, also through others."""
    seen: set[str] = set()
    waiting = [*graph[start]]
    while waiting:
        if (one := waiting.pop()) not in seen:
            seen.add(one)
            waiting.extend(graph.get(one, ()))
    return seen


# -- the drawing ------------------------------------------------------------------------------------------------------


def drawing() -> str:
    """Return the folders with their sub-packages, and the imports between folders, as Mermaid.

    An import is left out where another path leads to its target through a folder between.
    """
    lines = ["```mermaid", "flowchart TD"]
    for one in FOLDERS:
        inside = sorted({path.parent.name for path in (ROOT / one).glob("*/*.py")})
        lines.append(f'    {one}["<b>{one}</b>{"<br>" if inside else ""}{", ".join(inside)}"]')
    graph = roads()
    for one in FOLDERS:
        direct = [to for to in FOLDERS if to in graph[one] and all(to not in below(graph, by) for by in graph[one])]
        lines += [f"    {one} --> {to}" for to in direct]
    return "\n".join([*lines, "```"])


def drawn(page: str) -> str:
    """Return the page with the current diagram.

    Raises:
        ValueError: the page has no place for it.
    """
    pattern = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
    if not pattern.search(page):
        raise ValueError(f"The page needs the lines '{BEGIN}' and '{END}', between which it is drawn.")
    return pattern.sub(lambda _: f"{BEGIN}\n{drawing()}\n{END}", page)


if __name__ == "__main__":
    PAGE.write_text(drawn(PAGE.read_text("utf-8")), "utf-8")
