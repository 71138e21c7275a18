"""Imports run one way: each folder may import only the folders below it (docs/architecture.md)."""

import ast
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ALLOWED: dict[str, set[str]] = {
    "argot": set(),
    "jargon_db": set(),
    "corpus": set(),
    "prompts": set(),
    "samples": set(),
    "tools": {"prompts", "corpus", "jargon_db"},
    "graph": {"tools", "jargon_db", "corpus"},
    "learn": {"corpus", "tools", "prompts"},
    "evaluate": {"graph", "tools", "prompts", "corpus", "jargon_db"},
    "service": {"graph", "learn", "evaluate", "corpus", "jargon_db", "tools", "samples"},
    "ui": {"service"},
}


def _modules_imported(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: use absolute imports (line {node.lineno})"
            found.add(node.module or "")
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def _folders_imported(path: Path) -> set[str]:
    parts = (module.split(".") for module in _modules_imported(path))
    return {part[1] for part in parts if part[0] == "argot" and len(part) > 1 and part[1] in ALLOWED}


def _sources(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


@pytest.mark.parametrize("folder", ALLOWED)
def test_a_folder_imports_only_what_lies_below_it(folder: str) -> None:
    for path in _sources(folder):
        upward = _folders_imported(path) - ALLOWED[folder] - {folder}
        assert not upward, f"{path.relative_to(ROOT)} imports {sorted(upward)}"


@pytest.mark.parametrize("folder", ALLOWED)
def test_nothing_imports_a_folder_by_its_bare_name(folder: str) -> None:
    for path in _sources(folder):
        bare = {module.split(".")[0] for module in _modules_imported(path)} & (ALLOWED.keys() - {"argot"})
        assert not bare, f"{path.relative_to(ROOT)} imports {sorted(bare)}: write argot.<folder>"


STORES = {"people", "threads", "glossary", "document_store", "corpus", "load", "graph"}
PAST_THE_USE_CASES = {
    "ui/web/authentication.py": "finds out who is asking: before that there is nobody on whose behalf to ask",
    "ui/slack/lifecycle.py": "hands the Slack app's own store to its parts: its inbox, and which threads are whose",
}


@pytest.mark.parametrize("path", _sources("ui"), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_surface_uses_the_stores_by_use_cases_alone(path: Path) -> None:
    bases = {"kb", "knowledge_base"}
    touched = {
        node.attr
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in STORES
        if getattr(node.value, "attr", getattr(node.value, "id", "")) in bases
    }
    if str(path.relative_to(ROOT)) in PAST_THE_USE_CASES:
        assert touched, f"{path.name} needs no exception any more"
    else:
        assert not touched, f"it touches {sorted(touched)} of the knowledge base: make that a use case"


def test_every_folder_with_code_is_packaged() -> None:
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]
    expected = {
        ".".join(("argot", *path.parent.relative_to(ROOT).parts)) if folder != "argot" else "argot"
        for folder in ALLOWED
        for path in _sources(folder)
        if path.name == "__init__.py"
    }
    assert set(tool["packages"]) == expected
