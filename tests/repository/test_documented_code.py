"""The files and names that docs/architecture.md and CONTRIBUTING.md mention exist in the code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from repository import ROOT

from argot.wings import NAMES

PAGES = [ROOT / "docs" / "architecture.md", ROOT / "CONTRIBUTING.md"]
_SPAN = re.compile(r"`([^`\n]+)`")
_NAME = re.compile(r"[A-Za-z_]\w*(\.\w+)?")


def files_in(text: str) -> set[str]:
    """Return each `path.py` of a text, also with wildcards."""
    return {span for span in _SPAN.findall(text) if re.fullmatch(r"[\w/*]+\.py", span)}


def places_in(text: str) -> Iterator[tuple[str, str]]:
    """Yield the path and name of each `path.py`: `name`, and of further names: `path.py`: `name`, `other`."""
    for path, names in re.findall(r"`([\w/]+\.py)`:\s+(`[^`]+`(?:,\s+`[^`]+`)*)", text):
        for name in _SPAN.findall(names):
            if _NAME.fullmatch(name):
                yield path, name


def names_of(source: str) -> set[str]:
    """Return the top-level names of a module, and the names of its classes as Class.name."""
    return set(_defined(ast.parse(source)))


def _defined(within: ast.Module | ast.ClassDef) -> Iterator[str]:
    for node in within.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
            if isinstance(node, ast.ClassDef):
                yield from (f"{node.name}.{name}" for name in _defined(node))
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_documented_module_exists(page: Path) -> None:
    named = files_in(page.read_text("utf-8"))
    assert len(named) > 10
    assert {path for path in named if not list(ROOT.glob(path))} == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_documented_name_exists_in_its_module(page: Path) -> None:
    places = list(places_in(page.read_text("utf-8")))
    assert len(places) > 5
    missing = [(path, name) for path, name in places if name not in names_of((ROOT / path).read_text("utf-8"))]
    assert missing == []


def test_the_walk_names_the_module_of_each_function() -> None:
    """Check that a name without a path belongs to a module of the same step, or to those that every surface uses."""
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    walk = page[page.index("## The path of a question") : page.index("## What is stored")]
    steps = re.findall(r"^\d\. .*?(?=\n\d\. |\n\n)", walk, re.MULTILINE | re.DOTALL)
    assert len(steps) > 25
    everywhere = defined_in("argot/results.py", "service/usecases/questions/questions.py")
    for step in steps:
        known = everywhere | defined_in(*files_in(step))
        alone = {span for span in _SPAN.findall(step) if _NAME.fullmatch(span) and not span.endswith(".py")}
        assert alone <= known, step


def defined_in(*paths: str) -> set[str]:
    return {name for path in paths for name in names_of((ROOT / path).read_text("utf-8"))}


def test_the_walk_names_every_node() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    nodes = {path.stem for path in (ROOT / "graph" / "nodes").glob("*.py")} - {"__init__"}
    assert {name for path, name in places_in(page) if path.startswith("graph/nodes/")} == nodes


def test_names_are_extracted_from_a_page() -> None:
    text = (
        "First `a/b.py`: `one`, `Two.three` and `four`, then `c.py`:\n`five`; `not/here.txt`: `six`, `tests/test_*.py`."
    )
    assert list(places_in(text)) == [("a/b.py", "one"), ("a/b.py", "Two.three"), ("c.py", "five")]
    assert files_in(text) == {"a/b.py", "c.py", "tests/test_*.py"}
    assert names_of("A: int = 1\nclass B:\n    async def c(self): ...\ndef d(): ...\n") == {"A", "B", "B.c", "d"}


def test_the_pre_commit_hooks_equal_make_check_and_fetch_nothing() -> None:
    repos = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"]
    hooks = [hook for one in repos for hook in one["hooks"]]
    assert {one["repo"] for one in repos} == {"local"}
    assert {hook["language"] for hook in hooks} == {"system"}
    make = (ROOT / "Makefile").read_text("utf-8")
    recipe = re.search(r"^check:.*\n((?:\t.*\n)+)", make, re.MULTILINE)
    assert recipe
    wanted = [re.sub(r" \.$", "", line.strip()).replace("$(BIN)", ".venv/bin") for line in recipe[1].splitlines()]
    assert [command for command in wanted if not any(command in hook["entry"] for hook in hooks)] == []
    assert ".pre-commit-config.yaml" in (ROOT / "CONTRIBUTING.md").read_text("utf-8")


def test_the_index_of_the_documents_links_every_page() -> None:
    folder = ROOT / "docs"
    targets = re.findall(r"\]\(([\w./-]+\.md)[)#]", (folder / "README.md").read_text("utf-8"))
    linked = {(folder / target).resolve() for target in targets}
    pages = {*folder.glob("*.md")} - {folder / "README.md"}
    wings = {page for wing in NAMES for page in (ROOT / wing).rglob("README.md")}
    assert len(wings) >= len(NAMES)
    assert pages | wings <= linked
    assert len(targets) == len(set(targets)), "a page stands there twice"
