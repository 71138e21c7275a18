"""Heavy needs of tests, read from their source: a child process, a server, a browser, a model, or much time.

A definition is heavy when it uses something heavy: a package or module that is named below, a fixture, a helper of
`tests/support`, or another definition of its file. Annotations do not count as use. So no list of heavy helpers and
fixtures is needed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from repository import ROOT
from source_imports import iterate_statements

SUPPORT = ROOT / "tests" / "support"
PROCESS, SERVER, BROWSER, MODEL = "starts a process", "starts a server", "drives a browser", "loads a model"
COSTLY_PACKAGES = {
    "playwright": BROWSER,
    "sentence_transformers": MODEL,
    "torch": MODEL,
    "transformers": MODEL,
    "onnxruntime": MODEL,
    "uvicorn": SERVER,
    "schemathesis": "tries every address",
}
"""Packages whose import alone costs seconds, or that are imported for one purpose."""
HEAVY_MODULES = {
    **COSTLY_PACKAGES,
    "multiprocessing": PROCESS,
    "subprocess": PROCESS,
    "http.server": SERVER,
    "socketserver": SERVER,
    "argot.corpus.embedding.embedder": MODEL,
    "argot.service.knowledge_base": MODEL,
    "argot.tools.retrieval.scorer_choice": MODEL,
}
HEAVY_METHODS = {".start_server": SERVER, ".create_server": SERVER, ".start_unix_server": SERVER}
HEAVY_MARKS = {"browser": BROWSER, "vllm": "asks a real vLLM", "slow": "is marked slow"}
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@cache
def find_test_needs(path: Path) -> Mapping[str, str]:
    """Return the need of each test function of a file by its name, `test_...` or `Class.test_...`; empty: none."""
    tree = _parse(path)
    needs = _find_needs(path)
    whole = _find_file_need(tree, needs)
    found: dict[str, str] = {}
    for prefix, test, outer in _iterate_tests(tree):
        uses = _collect_uses(test) | (_collect_decorator_uses(outer) if outer else set())
        found[prefix + test.name] = whole or _find_need(uses, needs)
    return found


def find_fixture_needs(path: Path) -> dict[str, str]:
    """Return the heavy names that a file or the `conftest.py` files above it define or import, and their needs."""
    return dict(_find_needs(path))


def _find_file_need(tree: ast.Module, needs: Mapping[str, str]) -> str:
    """Return the need of all tests of a file: of an import at its top, of `pytestmark` or of an autouse fixture."""
    for module, _ in _iterate_imports(tree.body):
        if (package := module.partition(".")[0]) in COSTLY_PACKAGES:
            return f"{COSTLY_PACKAGES[package]} (its file imports {package})"
    for node in tree.body:
        if isinstance(node, ast.Assign) and "pytestmark" in map(ast.unparse, node.targets):
            need = _find_need(_collect_names(node.value), needs)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _is_autouse(node):
            need = needs.get(node.name, "")
        else:
            continue
        if need:
            return need
    return ""


@cache
def _find_needs(path: Path) -> Mapping[str, str]:
    tree = _parse(path)
    needs: dict[str, str] = dict(_find_needs(above)) if (above := _find_conftest(path)) else {**HEAVY_METHODS}
    definitions = {node.name: node for node in tree.body if isinstance(node, Definition)}
    for name in definitions:
        needs.pop(name, None)
    for module, alias in _iterate_imports(iterate_statements(tree)):
        if need := _find_import_need(module, alias):
            needs[alias.asname or alias.name.partition(".")[0]] = need
    uses = {name: _collect_uses(node) for name, node in definitions.items()} | dict(_iterate_assigned(tree))
    growing = True
    while growing:
        growing = False
        for name, used in uses.items():
            if name not in needs and (need := _find_need(used, needs)):
                needs[name] = need
                growing = True
    return needs


def _find_conftest(path: Path) -> Path | None:
    if path.parent == SUPPORT:
        return None
    folders = path.parents[1:] if path.name == "conftest.py" else path.parents
    return next((one / "conftest.py" for one in folders if (one / "conftest.py").exists()), None)


def _find_import_need(module: str, alias: ast.alias) -> str:
    for name in (f"{module}.{alias.name}".strip("."), module or alias.name, (module or alias.name).partition(".")[0]):
        if name in HEAVY_MODULES:
            return HEAVY_MODULES[name]
    helper = SUPPORT / f"{module or alias.name}.py"
    if not helper.exists():
        return ""
    needs = _find_needs(helper)
    return needs.get(alias.name, "") if module else next(iter(needs.values()), "")


def _find_need(uses: set[str], needs: Mapping[str, str]) -> str:
    for mark in sorted(HEAVY_MARKS):
        if f"mark.{mark}" in uses:
            return HEAVY_MARKS[mark]
    return next((f"{needs[name].partition(' (')[0]} ({name})" for name in sorted(uses) if name in needs), "")


# -- of the syntax tree -----------------------------------------------------------------------------------------------


@cache
def _parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def _iterate_tests(
    tree: ast.Module,
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef, ast.ClassDef | None]]:
    for node in tree.body:
        inner = node.body if isinstance(node, ast.ClassDef) and node.name.startswith("Test") else [node]
        outer = node if isinstance(node, ast.ClassDef) else None
        for one in inner:
            if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) and one.name.startswith("test"):
                yield f"{outer.name}." if outer else "", one, outer


def _iterate_imports(nodes: Iterator[ast.AST] | list[ast.stmt]) -> Iterator[tuple[str, ast.alias]]:
    """Yield the module (empty for `import NAME`) and the name of each import."""
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                yield (node.module or "") if isinstance(node, ast.ImportFrom) else "", alias


def _iterate_assigned(tree: ast.Module) -> Iterator[tuple[str, set[str]]]:
    for node in tree.body:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name) and target.id != "pytestmark":
                    yield target.id, _collect_names(node.value)


def _collect_uses(node: Definition) -> set[str]:
    """Return the names that a definition uses; the parameters of a test or a fixture are names of fixtures."""
    uses = _collect_decorator_uses(node)
    for statement in node.body:
        uses |= _collect_names(statement)
    if isinstance(node, ast.ClassDef):
        return uses.union(*(_collect_names(base) for base in node.bases))
    parameters = {one.arg for one in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]}
    is_injected = node.name.startswith("test") or any("fixture" in ast.unparse(one) for one in node.decorator_list)
    return uses | parameters if is_injected else uses - parameters


def _collect_decorator_uses(node: Definition) -> set[str]:
    return set().union(*(_collect_names(one) for one in node.decorator_list))


def _collect_names(node: ast.AST) -> set[str]:
    """Return the names in a piece of code, without its annotations; `mark.NAME` for `pytest.mark.NAME`."""
    found: set[str] = set()
    waiting: list[Any] = [node]
    while waiting:
        if not isinstance(one := waiting.pop(), ast.AST):
            continue
        if isinstance(one, ast.Name):
            found.add(one.id)
        elif isinstance(one, ast.Attribute) and isinstance(one.value, ast.Attribute) and one.value.attr == "mark":
            found.add(f"mark.{one.attr}")
        elif isinstance(one, ast.Attribute):
            found.add(f".{one.attr}")
        elif isinstance(one, ast.Call) and getattr(one.func, "attr", "") == "usefixtures":
            found.update(str(given.value) for given in one.args if isinstance(given, ast.Constant))
        for field in one._fields:
            if field not in ("annotation", "returns"):
                child = getattr(one, field, None)
                waiting.extend(child if isinstance(child, list) else [child])
    return found


def _is_autouse(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any("autouse=True" in ast.unparse(one) for one in node.decorator_list)
