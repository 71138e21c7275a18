"""Imports run one way between folders, sub-packages and modules, never in a circle (docs/architecture.md)."""

import ast
import importlib
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import source_imports
from source_imports import FOLDERS, ROOT, circles, drawn, folder, import_graph, imports, modules, room, rooms

from argot.wings import NAMES

ALLOWED: dict[str, set[str]] = {
    "argot": set(),
    "jargon_db": set(),
    "corpus": set(),
    "prompts": set(),
    "samples": set(),
    "tools": {"prompts", "corpus", "jargon_db"},
    "graph": {"tools", "jargon_db", "corpus"},
    "learn": {"ui", "service", "work", "graph", "corpus", "tools", "prompts", "jargon_db"},
    "evaluate": {"ui", "service", "work", "graph", "tools", "prompts", "corpus", "jargon_db", "samples"},
    "work": {"corpus"},
    "service": {"work", "graph", "corpus", "jargon_db", "tools", "samples"},
    "ui": {"service", "work"},
    "slack": {"ui", "service", "work"},
    "ratings": {"ui", "service", "graph", "tools", "jargon_db"},
}
WINGS = [one for one in FOLDERS if (ROOT / one / "wing.py").exists()]
ALLOWED_IN_JARGON_DB: dict[str, set[str]] = {
    "jargon_db/lookup": set(),
    "jargon_db/mining": {"jargon_db/lookup"},
    "jargon_db/store": {"jargon_db/lookup"},
    "jargon_db/formats": {"jargon_db/store", "jargon_db/mining", "jargon_db/lookup"},
    "jargon_db/glossary": {"jargon_db/formats", "jargon_db/store", "jargon_db/lookup"},
}


def _sources(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


# -- circles ----------------------------------------------------------------------------------------------------------


def test_modules_import_each_other_without_circles() -> None:
    assert len(import_graph()) > 300
    assert circles(import_graph()) == []


def test_packages_import_each_other_without_circles() -> None:
    assert len(rooms()) > 80
    assert circles(rooms()) == []


def test_import_circles_are_found() -> None:
    graph = {"a": {"b", "e"}, "b": {"c"}, "c": {"b", "d"}, "d": set(), "e": {"f"}, "f": {"g"}, "g": {"e", "d"}}
    assert circles(graph) == [["b", "c"], ["e", "f", "g"]]
    assert circles({**graph, "d": {"a"}}) == [["a", "b", "c", "d", "e", "f", "g"]]
    assert circles({"a": {"b", "c"}, "b": {"c"}, "c": {"outside"}}) == []


def test_an_import_is_found_anywhere_in_a_module() -> None:
    known = {"argot.a", "argot.b", "argot.c", "argot.c.inner", "argot.d", "argot.e"}
    source = """
import argot.a, json
from argot import b as other
from argot.c import inner, Name
if TYPE_CHECKING:
    from argot.d import Type
def function():
    from argot.e import thing
"""
    assert imports(source, known) == known
    with pytest.raises(AssertionError, match=r"graph/x.py: use absolute imports \(line 1\)"):
        imports("from .state import State", known, "graph/x.py")


def test_imports_between_modules_count_for_their_packages() -> None:
    place = {"argot.a.x.one": "a/x", "argot.a.x.two": "a/x", "argot.a.y.three": "a/y"}
    graph = {"argot.a.x.one": {"argot.a.y.three"}, "argot.a.y.three": {"argot.a.x.two"}, "argot.a.x.two": set()}
    assert circles(graph) == []
    assert circles(source_imports.between(graph, place)) == [["a/x", "a/y"]]
    assert room("argot.graph.nodes.rerank") == "graph/nodes"
    assert room("argot.graph.nodes") == "graph/nodes"
    assert room("argot.graph.run") == "graph/run"
    assert room("argot.errors") == "argot/errors"


# -- downwards only ---------------------------------------------------------------------------------------------------


def test_every_folder_with_code_has_allowed_imports() -> None:
    with_code = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert with_code == set(ALLOWED) == set(FOLDERS)


@pytest.mark.parametrize("here", ALLOWED)
def test_a_folder_imports_only_lower_folders(here: str) -> None:
    for module in (one for one in modules() if folder(one) == here):
        upward = {folder(one) for one in import_graph()[module]} - ALLOWED[here] - {here, "argot"}
        assert not upward, f"{module} imports {sorted(upward)}"


def test_the_core_imports_no_wing() -> None:
    assert set(WINGS) <= set(NAMES) and len(WINGS) > 1
    upward = {
        (module, one)
        for module in modules()
        if folder(module) not in WINGS
        for one in import_graph()[module]
        if folder(one) in WINGS
    }
    assert not upward, "a wing names what it brings in its wing.py (argot/wings.py)"


def test_a_wing_imports_no_other_wing() -> None:
    for module in (one for one in modules() if folder(one) in WINGS):
        others = {folder(one) for one in import_graph()[module]} & (set(WINGS) - {folder(module)})
        assert not others, f"{module} imports {sorted(others)}"


@pytest.mark.parametrize("here", ALLOWED_IN_JARGON_DB)
def test_a_package_of_the_glossary_imports_only_lower_ones(here: str) -> None:
    upward = {one for one in rooms()[here] if not one.startswith("argot/")} - ALLOWED_IN_JARGON_DB[here]
    assert not upward, f"{here} imports {sorted(upward)}"


def test_every_package_of_the_glossary_has_allowed_imports() -> None:
    assert {one for one in rooms() if one.startswith("jargon_db/")} - {"jargon_db/__init__"} == set(
        ALLOWED_IN_JARGON_DB
    )


@pytest.mark.parametrize("here", ALLOWED)
def test_no_module_imports_a_folder_by_its_bare_name(here: str) -> None:
    bare = ALLOWED.keys() - {"argot"}
    for path in _sources(here):
        nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
        names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
        names |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
        found = {name.split(".")[0] for name in names} & bare
        assert not found, f"{path.relative_to(ROOT)} imports {sorted(found)}: write argot.<folder>"


def test_the_architecture_diagram_equals_the_imports() -> None:
    page = source_imports.PAGE.read_text("utf-8")
    assert drawn(page) == page, "draw it anew: python tests/support/source_imports.py"
    with pytest.raises(ValueError, match="needs the lines"):
        drawn("# nothing here")


# -- surfaces and packages --------------------------------------------------------------------------------------------


STORES = {"people", "threads", "part", "glossary", "document_store", "corpus", "load", "graph"}
PAST_THE_USE_CASES = {
    "ui/web/authentication.py": "finds out who is asking: before that there is nobody on whose behalf to ask",
    "slack/app/lifecycle.py": "hands the Slack app's own store to its parts: its inbox, and which threads are whose",
}


def _surfaces() -> list[Path]:
    inner = [_sources(f"{wing}/{room}") for wing in WINGS for room in ("app", "commands", "pages")]
    alone = [path for wing in WINGS if (path := ROOT / wing / "commands.py").exists()]
    return [*_sources("ui"), *alone, *(one for room in inner for one in room)]


def test_the_surfaces_include_the_commands_of_every_wing() -> None:
    named = [path.relative_to(ROOT).parts for path in _surfaces()]
    assert {parts[0] for parts in named if parts[1] in ("commands", "commands.py")} == set(WINGS)


@pytest.mark.parametrize("path", _surfaces(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_surface_reaches_the_stores_only_through_use_cases(path: Path) -> None:
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


USE_CASES = "service.usecases"
BESIDE_THE_USE_CASES = {
    "service.knowledge_base": "the first argument of every use case",
    "service.json_values": "results become JSON, or the fields of a template, at the surface",
    "service.answering": "the processes that answer questions beside the server",
    "service.transport": "how a command reaches the process that owns the knowledge base",
    "service.sign_in": "before it there is nobody on whose behalf to ask",
    "service.identity.people": "who is asking: names and roles, before there is a principal",
    "service.identity.provisioned": "what an identity provider has sent, which SCIM shows in its own form",
    "service.identity.sessions": "by what a browser signs in",
    "service.identity.keys": "by what a program signs in",
    "service.maintenance.backup": "restores a knowledge base, which is not open then",
    "service.maintenance.shared_backup": "restores one on PostgreSQL, which is not open then",
    "service.moving.base_moving": "moves a knowledge base, which is not open then",
    "service.storage.home_folder": "whether there is a knowledge base to open",
    "service.storage.damage": "which store does not open or answer",
    "service.answering.worker_pool": "the answer workers, which the server starts and stops",
    "service.observability": "the logs, metrics and memory of the process that serves",
    "service.operations.file_handles": "how many connections the process may hold",
    "service.operations.job_work": "what the server does beside its answers, for nobody; a worker without a service",
    "service.tool_servers": "what other servers offer to an administrator who allows it, before anybody asks",
    "service.operations.doctor": "works where the knowledge base does not open",
    "service.operations.sample_base": "makes a knowledge base",
}
"""What surfaces import of `service` that is no use case: packages and modules, each with the reason."""


def _of_service(importing: str) -> set[str]:
    """Return the modules of `service`, without `argot.`, that modules with this prefix import."""
    found = (import_graph()[module] for module in modules() if module.startswith(importing))
    return {one.removeprefix("argot.") for one in set().union(*found) if folder(one) == "service"}


def _is_in(module: str, package: str) -> bool:
    return f"{module}.".startswith(f"{package}.")


def test_a_surface_imports_only_use_cases_and_listed_exceptions() -> None:
    allowed = {USE_CASES, *BESIDE_THE_USE_CASES}
    others = {one for one in _of_service("argot.ui") if not any(_is_in(one, package) for package in allowed)}
    assert not others, "make it a use case, or take its types from the module of the use case that gives them"


@pytest.mark.parametrize("package", BESIDE_THE_USE_CASES)
def test_every_listed_import_exception_is_still_needed(package: str) -> None:
    assert any(_is_in(one, package) for one in _of_service("argot.ui")), "it needs no exception any more"


def test_every_folder_with_code_is_packaged() -> None:
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]
    expected = {
        ".".join(("argot", *path.parent.relative_to(ROOT / "argot" if folder == "argot" else ROOT).parts))
        for folder in ALLOWED
        for path in _sources(folder)
        if path.name == "__init__.py"
    }
    assert set(tool["packages"]) == expected


# -- public faces -----------------------------------------------------------------------------------------------------


FACES = ["argot", *(f"argot.{folder}" for folder in ("corpus", "graph", "jargon_db", "service", "tools"))]
INNER_FACES = {"corpus/readers", "corpus/readers/ledger", "jargon_db/mining"}


@pytest.mark.parametrize(
    "path",
    [one for one in modules().values() if one.name == "__init__.py"],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_a_package_declares_its_public_names_or_has_none(path: Path) -> None:
    package, body = str(path.parent.relative_to(ROOT)), ast.parse(path.read_text("utf-8")).body
    declared = any(isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__" for node in body)
    assert declared == (package in INNER_FACES or f"argot.{package}".removesuffix(".argot") in FACES)
    if not declared:
        given = [node for node in body if isinstance(node, ast.ImportFrom | ast.FunctionDef | ast.ClassDef)]
        assert not given, f"{package} gives names away: put them into __all__ and the package into the faces"


@pytest.mark.parametrize("package", [*FACES, "argot.jargon_db.mining"])
def test_each_declared_public_name_exists(package: str) -> None:
    face = importlib.import_module(package)
    assert all(getattr(face, name) is not None for name in face.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Rumour'"):
        _ = face.Rumour


def test_importing_a_public_package_loads_no_other_module() -> None:
    code = f"import sys, {', '.join(FACES)}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    ours = {name for name in done.stdout.split() if name.split(".")[0] == "argot"}
    assert ours == {*FACES, "argot.lazy"}


def test_normalising_a_term_loads_no_database() -> None:
    code = "import sys, argot.jargon_db.lookup.normalise; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert not set(done.stdout.split()) & {"sqlite3", "sqlite_utils", "rapidfuzz", "argot.jargon_db.glossary"}
