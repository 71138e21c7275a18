"""The test files that a change may break, by the import graph (`make changed`).

python tests/support/changed_tests.py [BASE] [--depth N]

A change since the branch left BASE (default: main), committed or not, selects these files: a changed test file; one
that imports a changed module, or a module that imports that one (`--depth` such steps); one that imports a changed
helper of `tests/support`; and one that names another changed file. Standard output gets the files, standard error the
reasons. A change to a file on which every test depends selects the folder `tests`.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from pathlib import Path

from repository import ROOT
from source_imports import Graph, import_graph, imports, modules

DEFAULT_DEPTH = 2
"""Steps from a changed module to one that a test imports. A module then has 18 of 310 test files at the median, and
98 or fewer in nine cases of ten; with 3 steps it has 37 and 133.
"""
MORE_STEPS = 3
"""Taken for a module that no test is tied to by fewer."""
EVERYTHING = ("pyproject.toml", "constraints.txt", "Makefile", "tests/conftest.py", "tests/support/tiny_base.py")
Selection = dict[str, str]
"""The reason of each test file, by its path from the root."""


def select_tests(
    changed: Collection[str], graph: Graph, names: Mapping[str, str], tests: Mapping[str, Collection[str]], depth: int
) -> Selection:
    """Select the test files that a change ties to it.

    Args:
        changed: paths from the root.
        graph: what each module imports.
        names: the module, or the helper of `tests/support`, of each path.
        tests: the modules and helpers that each test file imports, helpers by their own name.
        depth: how many steps a module may lie from the changed one.
    """
    selection = {path: "changed" for path in sorted(changed) if path in tests}
    for module in sorted(names[path] for path in changed if path in names):
        for path, way in _select_for_module(module, graph, tests, depth).items():
            selection.setdefault(path, " > ".join(way))
    return selection


def _select_for_module(
    module: str, graph: Graph, tests: Mapping[str, Collection[str]], depth: int
) -> dict[str, list[str]]:
    """Return the tests within that depth; where there are none, those at the next depth that has some."""
    for deeper in range(depth, depth + MORE_STEPS + 1):
        ways = find_reached(module, graph, deeper)
        found = {path: set(imported) & ways.keys() for path, imported in sorted(tests.items())}
        if any(found.values()):
            return {
                path: ways[min(near, key=lambda one: (len(ways[one]), one))] for path, near in found.items() if near
            }
    return {}


def find_reached(module: str, graph: Graph, depth: int) -> dict[str, list[str]]:
    """Return a module and its importers, each with the way from itself to the module."""
    ways = {module: [module]}
    edge = dict(ways)
    for _ in range(depth):
        edge = {
            importer: [importer, *edge[min(met)]]
            for importer, imported in sorted(graph.items())
            if importer not in ways and (met := imported & edge.keys())
        }
        ways |= edge
    return ways


def find_general_change(changed: Collection[str]) -> str:
    """Return a changed file on which every test depends; empty: none changed."""
    return next((path for path in EVERYTHING if path in changed), "")


# -- of this repository -----------------------------------------------------------------------------------------------


def list_changed(base: str) -> list[str]:
    """List the files that differ from where the branch left the base, untracked ones too.

    Raises:
        ValueError: git knows no such base.
    """
    try:
        start = _run_git("merge-base", base, "HEAD")[0]
    except (subprocess.CalledProcessError, IndexError):
        raise ValueError(f"git knows no '{base}' that this branch comes from: name a branch or a commit") from None
    untracked = _run_git("ls-files", "--others", "--exclude-standard")
    return sorted({*_run_git("diff", "--name-only", "--no-renames", start), *untracked})


def _run_git(*arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


@cache
def list_helpers() -> dict[str, Path]:
    return {path.stem: path for path in sorted((ROOT / "tests").rglob("*.py")) if not _is_test(path)}


def _is_test(path: Path) -> bool:
    return path.name.startswith("test_")


def find_test_imports() -> dict[str, set[str]]:
    known = {*modules(), *list_helpers()}
    paths = sorted((ROOT / "tests").rglob("test_*.py"))
    return {_from_root(path): imports(path.read_text("utf-8"), known, str(path)) for path in paths}


def find_whole_graph() -> dict[str, set[str]]:
    """Return the modules' import graph with what they name in strings and the helpers' imports of each other.

    A module is named in a string where it is imported when it is needed, or is run as a process. What a helper imports
    of the modules is left out: nearly every test would hang on nearly every module by that.
    """
    helpers = list_helpers()
    graph = {name: imported | find_named_modules(name) for name, imported in import_graph().items()}
    return graph | {
        name: imports(path.read_text("utf-8"), helpers, str(path)) - {name} for name, path in helpers.items()
    }


def find_named_modules(module: str) -> set[str]:
    """Return the modules that a module names in strings: in full, or as parts of the package that it is."""
    path = modules()[module]
    prefixes = ("", f"{module}.") if path.name == "__init__.py" else ("",)
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    words = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return {prefix + word for word in words for prefix in prefixes if prefix + word in modules()} - {module}


def find_mentions(changed: Iterable[str], tests: Iterable[str]) -> Selection:
    """Select the tests that name a changed file which is no module of Python, such as a template or a page."""
    others = {Path(path).name: path for path in changed if not path.endswith(".py")}
    texts = {test: (ROOT / test).read_text("utf-8") for test in tests} if others else {}
    return {test: f"names {others[name]}" for test, text in texts.items() for name in others if name in text}


def find_surveys(changed: Iterable[str], tests: Iterable[str]) -> Selection:
    """Select the tests of the repository itself, which look at every file that is no test."""
    if all(path.startswith("tests/") for path in changed):
        return {}
    return {test: "looks at every file" for test in tests if test.startswith("tests/repository/")}


def _from_root(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def main() -> None:
    parser = argparse.ArgumentParser(description="Print the test files that a change may break; the reasons to stderr.")
    parser.add_argument("base", nargs="?", default="main", help="what to compare with (default: main)")
    parser.add_argument("--depth", type=int, default=DEFAULT_DEPTH, help="steps over importers (default: %(default)s)")
    given = parser.parse_args()
    try:
        changed = list_changed(given.base)
    except ValueError as error:
        parser.error(str(error))
    if cause := find_general_change(changed):
        print(f"every test: {cause} changed", file=sys.stderr)
        print("tests")
        return
    tests = find_test_imports()
    names = {_from_root(path): name for name, path in [*modules().items(), *list_helpers().items()]}
    selection = find_surveys(changed, tests) | find_mentions(changed, tests)
    selection |= select_tests(changed, find_whole_graph(), names, tests, given.depth)
    print(f"{len(selection)} of {len(tests)} test files for {len(changed)} changed files", file=sys.stderr)
    for path, reason in sorted(selection.items()):
        print(f"  {path}: {reason}", file=sys.stderr)
    print(*sorted(selection), sep="\n" if selection else "", end="\n" if selection else "")


if __name__ == "__main__":
    main()
