"""The quick lane, and the selection of tests for a change."""

import ast
import subprocess
import sys
from pathlib import Path

import changed_tests
import heavy_needs
import pytest
from changed_tests import find_general_change, find_named_modules, find_test_imports, list_changed, select_tests
from heavy_needs import find_fixture_needs, find_test_needs
from repository import ROOT

CONFTEST = """
import pytest

@pytest.fixture
def server():
    import subprocess
    return subprocess.Popen(["true"])

@pytest.fixture
def client(server):
    return server

@pytest.fixture
def folder(tmp_path):
    return tmp_path
"""
TESTS = """
import subprocess
import pytest
from argot.service.knowledge_base import KnowledgeBase
from serving import Served

def run():
    return subprocess.run(["true"])

def run_twice():
    run(), run()

def takes_a_process(subprocess):
    return subprocess

def test_quick(folder): ...
def test_of_a_type(folder) -> None:
    made: list[KnowledgeBase] = []
def test_of_a_parameter():
    assert takes_a_process(1) == 1
def test_by_fixture(client): ...
def test_by_helper():
    run_twice()
def test_by_support():
    Served("home")
@pytest.mark.slow
def test_by_mark(): ...
@pytest.mark.usefixtures("client")
def test_by_used_fixture(): ...
@pytest.mark.usefixtures("client")
class TestOfAServer:
    def test_inside(self): ...
"""


@pytest.fixture
def made(tmp_path: Path) -> Path:
    (tmp_path / "conftest.py").write_text(CONFTEST, "utf-8")
    (tmp_path / "test_made.py").write_text(TESTS, "utf-8")
    return tmp_path / "test_made.py"


# -- the quick lane ---------------------------------------------------------------------------------------------------


def test_the_heavy_need_of_a_test_is_read_from_its_source(made: Path) -> None:
    assert find_test_needs(made) == {
        "test_quick": "",
        "test_of_a_type": "",
        "test_of_a_parameter": "",
        "test_by_fixture": "starts a process (client)",
        "test_by_helper": "starts a process (run_twice)",
        "test_by_support": "starts a process (Served)",
        "test_by_mark": "is marked slow",
        "test_by_used_fixture": "starts a process (client)",
        "TestOfAServer.test_inside": "starts a process (client)",
    }


@pytest.mark.parametrize(
    ("top", "need"),
    [
        ("from playwright.sync_api import Page", "drives a browser (its file imports playwright)"),
        ("import pytest\npytestmark = pytest.mark.vllm", "asks a real vLLM"),
        ("import pytest\npytestmark = [pytest.mark.usefixtures('client')]", "starts a process (client)"),
        ("import pytest\n@pytest.fixture(autouse=True)\ndef begun(client): ...", "starts a process (client)"),
    ],
)
def test_a_heavy_need_of_a_file_applies_to_all_its_tests(top: str, need: str, made: Path) -> None:
    made.with_name("test_top.py").write_text(f"{top}\ndef test_a(): ...\ndef test_b(): ...\n", "utf-8")
    assert find_test_needs(made.with_name("test_top.py")) == {"test_a": need, "test_b": need}


def test_fixtures_that_need_a_model_server_or_browser_are_recognised() -> None:
    needs = find_fixture_needs(ROOT / "tests" / "conftest.py")
    heavy = {"chromium", "postgresql_url", "tiny_home", "tiny_kb", "empty_kb", "scripted_model", "listener"}
    assert heavy - needs.keys() == set()
    assert {"settings", "glossary"} & needs.keys() == set()


def test_the_quick_lane_holds_many_tests_and_no_heavy_mark() -> None:
    quick = 0
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        needs = find_test_needs(path)
        quick += sum(not need for need in needs.values())
        for node in heavy_needs._parse(path).body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and needs.get(node.name) == "":
                marks = {ast.unparse(one).removeprefix("pytest.mark.") for one in node.decorator_list}
                assert not marks & heavy_needs.HEAVY_MARKS.keys(), f"{path}: {node.name}"
    assert quick > 1_500


def test_the_guard_skips_heavy_tests_that_the_source_does_not_reveal(tmp_path: Path) -> None:
    """Run the guard in a process of its own, since it stays active until its process ends."""
    (tmp_path / "test_guarded.py").write_text(
        "import os, socket, threading\n"
        "def test_process(): os.system('true')\n"
        "def test_caught():\n"
        "    try: socket.socket().bind(('127.0.0.1', 0))\n"
        "    except BaseException as error: raise ValueError('the product says something else') from error\n"
        "def test_model(): import torch\n"
        "def test_busy():\n"
        "    while True: pass\n"
        "def test_quick(): pass\n"
        "def test_wrong(): assert False\n",
        "utf-8",
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-c", ROOT / "pyproject.toml", "-p", "conftest", "--quick", "-rs", tmp_path],
        env={"PYTHONPATH": str(ROOT / "tests"), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "1 failed, 1 passed, 4 skipped" in done.stdout, done.stdout + done.stderr
    for need in ("starts a process (os.system)", "starts a server (socket.bind)", "loads a model (imports torch)"):
        assert need in done.stdout
    assert "takes more than 2 s of processor time" in done.stdout


# -- the tests of a change --------------------------------------------------------------------------------------------

GRAPH = {"a": {"b"}, "b": {"c"}, "c": {"d"}, "d": set(), "lone": set(), "helper": set()}
NAMES = {f"{name}.py": name for name in GRAPH}
TESTED = {"test_a.py": {"a"}, "test_b.py": {"b", "helper"}, "test_d.py": {"d"}}


def select(*changed: str, depth: int = 2) -> dict[str, str]:
    return select_tests(changed, GRAPH, NAMES, TESTED, depth)


def test_importers_are_followed_up_to_the_given_depth() -> None:
    assert select("d.py") == {"test_b.py": "b > c > d", "test_d.py": "d"}
    assert select("d.py", depth=0) == {"test_d.py": "d"}
    assert select("d.py", depth=3)["test_a.py"] == "a > b > c > d"


def test_a_module_without_near_tests_selects_the_nearest_ones() -> None:
    assert select("c.py", depth=0) == {"test_b.py": "b > c"}
    assert select("lone.py") == {}


def test_changed_tests_and_helpers_are_selected() -> None:
    assert select("test_a.py", "helper.py", "removed.py") == {"test_a.py": "changed", "test_b.py": "helper"}


def test_a_change_of_a_general_file_selects_every_test() -> None:
    assert find_general_change(["corpus/corpus.py", "pyproject.toml"]) == "pyproject.toml"
    assert find_general_change(["corpus/corpus.py"]) == ""
    assert all((ROOT / path).exists() for path in changed_tests.EVERYTHING)


def test_lazily_imported_modules_are_followed() -> None:
    assert "argot.corpus.readers.docx" in find_named_modules("argot.corpus.readers")
    assert "argot.corpus.readers.reader_worker" in find_named_modules("argot.corpus.readers.reader_process")


def test_most_test_files_import_modules_of_the_repository() -> None:
    found = find_test_imports()
    assert len(found) > 250
    assert sum(bool(imported) for imported in found.values()) > 0.95 * len(found)


def test_committed_edited_and_untracked_files_count_as_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run_git(*arguments: str) -> None:
        identity = ["-c", "user.name=ann", "-c", "user.email=ann@example.com"]
        subprocess.run(["git", *identity, *arguments], cwd=tmp_path, check=True, capture_output=True)

    run_git("init", "-b", "main")
    for name in ("kept.py", "edited.py", "committed.py"):
        (tmp_path / name).write_text("", "utf-8")
    run_git("add", ".")
    run_git("commit", "-m", "Begin")
    run_git("checkout", "-b", "branch")
    (tmp_path / "committed.py").write_text("1", "utf-8")
    run_git("commit", "-am", "Change")
    (tmp_path / "edited.py").write_text("1", "utf-8")
    (tmp_path / "new.py").write_text("", "utf-8")
    monkeypatch.setattr(changed_tests, "ROOT", tmp_path)
    assert list_changed("main") == ["committed.py", "edited.py", "new.py"]
    with pytest.raises(ValueError, match="git knows no 'nowhere'"):
        list_changed("nowhere")
