"""One name, one thing: no two modules of one name, no two public functions or classes of one name, faces declared."""

import ast
from collections import defaultdict
from pathlib import Path

import pytest
from repository import ROOT

FOLDERS = ["argot", "corpus", "evaluate", "graph", "jargon_db", "learn", "prompts", "samples", "service", "tools", "ui"]
SOURCES = [path.relative_to(ROOT) for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]

SHARED = {
    "DocumentShown": "the use case's result, and its description for the HTTP API",
    "PassageShown": "the use case's result, and its description for the HTTP API",
    "ThreadRead": "the store's result, and its description for the HTTP API",
    "main": "what a process of its own begins with",
    "read": "one reader of glossary files for each format",
    "write": "one writer of glossary files for each format",
    "read_text": "the reader of plain-text documents, called by the readers' table; the ground floor's is of one file",
    "plain": "the same protocol: literal text for one surface (terminal, chat, Slack)",
    "quoted": "the same protocol: a document's Markdown for one surface (chat, Slack)",
    "ask": "the use case, and the graph that does it",
    "match_references": "the node of a stage, and the tool that it calls",
    "rerank": "the node of a stage, and the tool that it calls",
    "small_talk": "the node of a stage, and the tool that it calls",
    "train": "what a training of each kind begins with",
    "stand_alone": "the node of a stage, and the tool that it calls",
}
FACES = {
    *("argot", "corpus", "graph", "jargon_db", "service", "tools"),
    *("corpus/readers", "jargon_db/formats", "jargon_db/lookup", "jargon_db/mining", "jargon_db/store"),
}
"""Packages with a public face of their own. All others are rooms: what is in them is imported from its module."""


def public_names(source: str) -> set[str]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return {node.name for node in ast.parse(source).body if isinstance(node, kinds) and node.name[0] != "_"}


def is_command(path: Path) -> bool:
    """Its functions are commands, named as people type them: mostly as the use case that they call."""
    return path.parent == Path("ui/cli") and path.stem.endswith(("_command", "_commands"))


def shared(named: dict[Path, set[str]]) -> dict[str, list[str]]:
    """The names that stand in more than one file, with these files."""
    places: dict[str, list[str]] = defaultdict(list)
    for path, names in named.items():
        for name in names:
            places[name].append(str(path))
    return {name: found for name, found in places.items() if len(found) > 1}


def test_no_two_modules_have_one_name() -> None:
    assert not shared({path: {path.stem} - {"__init__", "__main__"} for path in SOURCES})


def test_no_two_modules_have_a_public_function_or_class_of_one_name() -> None:
    twice = shared({path: public_names((ROOT / path).read_text("utf-8")) for path in SOURCES if not is_command(path)})
    assert not {name: found for name, found in twice.items() if name not in SHARED}
    assert not SHARED.keys() - twice.keys(), "these need no exception any more"


def test_a_name_in_two_places_is_seen() -> None:
    one, other = "def found(): ...\ndef _own(): ...", "class found: ...\ndef _own(): ..."
    assert shared({Path("a.py"): public_names(one), Path("b.py"): public_names(other)}) == {"found": ["a.py", "b.py"]}


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
