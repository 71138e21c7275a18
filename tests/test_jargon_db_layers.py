"""Inside jargon_db: sub-packages import one way, no modules need each other, and a face costs nothing until used."""

import ast
import importlib
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "jargon_db"
ALLOWED = {
    "lookup": set(),
    "mining": {"lookup"},
    "store": {"lookup"},
    "formats": {"store", "mining", "lookup"},
    "glossary": {"formats", "store", "lookup"},
}
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts): path
    for path in ROOT.rglob("*.py")
    if path.name != "__init__.py"
}


def imported(path: Path) -> set[str]:
    """The modules of jargon_db that a file imports, also within functions and for type checkers alone."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("argot.jargon_db"):
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {name.removeprefix("argot.jargon_db.") for name in found} & MODULES.keys()


def test_no_modules_need_each_other():
    needs = {name: imported(path) - {name} for name, path in MODULES.items()}
    assert len(list(TopologicalSorter(needs).static_order())) == len(MODULES)  # raises CycleError, which names them


@pytest.mark.parametrize("module", MODULES)
def test_a_package_imports_only_what_lies_below_it(module):
    package = module.split(".")[0]
    upward = {name.split(".")[0] for name in imported(MODULES[module])} - ALLOWED[package] - {package}
    assert not upward, f"{module} imports {sorted(upward)}"


@pytest.mark.parametrize("package", ["", ".lookup", ".mining", ".store", ".formats"])
def test_each_name_of_a_public_face_is_there(package):
    face = importlib.import_module(f"argot.jargon_db{package}")
    assert all(getattr(face, name) is not None for name in face.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Rumour'"):
        _ = face.Rumour


def test_normalising_a_term_loads_no_database():
    code = "import sys, argot.jargon_db.lookup.normalise; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert not set(done.stdout.split()) & {"sqlite3", "sqlite_utils", "rapidfuzz", "argot.jargon_db.glossary"}
