"""A test is retried once if its mark gives a reason, and only then."""

import os
import subprocess
import sys
from pathlib import Path

from repository import ROOT

FAILS_ONCE = """
import pytest
tries = []

{mark}
def test_with_a_folder_of_its_own(tmp_path):
    tries.append(tmp_path)
    assert len(tries) > 1
"""


def run_once(folder: Path, mark: str) -> "subprocess.CompletedProcess[str]":
    (folder / "test_fails_once.py").write_text(FAILS_ONCE.format(mark=mark), "utf-8")
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-c", ROOT / "pyproject.toml", "-p", "conftest", folder],
        env={**os.environ, "CI": "true", "PYTHONPATH": str(ROOT / "tests")},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_test_that_passes_on_retry_is_not_a_failure(tmp_path: Path) -> None:
    done = run_once(tmp_path, '@pytest.mark.retried("the network of others")')
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed, 1 retried" in done.stdout


def test_a_test_without_a_retry_mark_is_not_retried(tmp_path: Path) -> None:
    done = run_once(tmp_path, "")
    assert done.returncode == 1 and "1 failed" in done.stdout, done.stdout + done.stderr


def test_a_retry_mark_without_a_reason_is_refused(tmp_path: Path) -> None:
    done = run_once(tmp_path, "@pytest.mark.retried()")
    assert done.returncode != 0 and "say why it is retried" in done.stdout + done.stderr
