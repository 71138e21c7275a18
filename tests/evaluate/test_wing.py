"""Tests of the wing: it joins the service through its `wing.py`, and its experiments can be left out."""

import shutil
from pathlib import Path

import pytest
from serving import run_code
from source_imports import import_graph

EXPERIMENTS = "argot.evaluate.experiments"
COMMANDS = """
import sys
sys.modules.update(dict.fromkeys(sys.argv[1:]))
from typer.main import get_command
from argot.service.usecases.catalogue import CASES
from argot.ui.cli.main import app
group = get_command(app).commands.get("evaluate")
print(*(group.commands if group else ()), *(name for name in CASES if name.startswith(("strategy_", "evaluation_"))))
"""
STRATEGY = {"strategy_choose", "strategy_start", "strategy_run"}
STRATEGY |= {f"evaluation_{what}" for what in ("measure", "start", "run", "stop", "list", "compare", "remove")}
SUITES = {"answers", "calibrate", "reading", "retrieval", "samples", "set", "strategy"}
TASKS = {"abbreviations", "disambiguate", "experiment", "identify", "questions", "quiz", "tables"}


@pytest.mark.parametrize(
    ("absent", "expected"),
    [("", STRATEGY | SUITES | TASKS), (EXPERIMENTS, STRATEGY | SUITES), ("argot.evaluate.wing", set())],
)
def test_the_commands_match_the_installed_parts(absent: str, expected: set[str]) -> None:
    done = run_code(COMMANDS, absent, afresh=True)
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) == expected


def test_a_set_of_pairs_requires_the_learn_wing(tiny_home: Path, tmp_path: Path) -> None:
    home = shutil.copytree(tiny_home, tmp_path / "kb")
    code = "import sys; sys.modules['argot.learn'] = None; from argot.ui.cli.main import main; main()"
    done = run_code(code, "evaluate", "strategy", "--data", "ours", "--home", home, afresh=True)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    said = " ".join(done.stderr.split())
    assert "kept by the wing 'learn', which is not installed" in said and "git checkout -- learn" in said


def test_the_experiments_are_imported_by_no_other_module() -> None:
    inside = {module for module in import_graph() if module.startswith(f"{EXPERIMENTS}.")}
    assert len(inside) > 40
    assert {name for name, imported in import_graph().items() if imported & inside} <= inside
