"""Packages with a public face declare it, and no other package gives names away."""

import ast
from pathlib import Path

import pytest
from repository import ROOT

FOLDERS = [
    "argot",
    "corpus",
    "evaluate",
    "graph",
    "jargon_db",
    "learn",
    "prompts",
    "samples",
    "service",
    "tools",
    "ui",
    "work",
]
SOURCES = [path.relative_to(ROOT) for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
FACES = {
    *("argot", "corpus", "graph", "jargon_db", "service", "tools"),
    *(
        "corpus/readers",
        "corpus/readers/ledger",
        "jargon_db/formats",
        "jargon_db/lookup",
        "jargon_db/mining",
        "jargon_db/store",
    ),
}
"""Packages with a public face of their own. All others are rooms: what is in them is imported from its module."""


@pytest.mark.parametrize(
    "path", [path for path in SOURCES if path.stem == "__init__"], ids=lambda path: str(path.parent)
)
def test_a_package_declares_its_face_or_has_none(path: Path) -> None:
    body = ast.parse((ROOT / path).read_text("utf-8")).body
    declared = any(isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__" for node in body)
    assert declared == (str(path.parent) in FACES)
    if not declared:
        given = [node for node in body if isinstance(node, ast.ImportFrom | ast.FunctionDef | ast.ClassDef)]
        assert not given, f"{path} gives names away: put them into __all__ and the package into FACES"
