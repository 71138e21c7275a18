"""A test that fails by chance is tried once more in continuous integration, and passes then."""

import os
import subprocess
import sys
from pathlib import Path

from repository import ROOT

FAILS_ONCE = """
tries = []

def test_with_a_folder_of_its_own(tmp_path):
    tries.append(tmp_path)
    assert len(tries) > 1
"""


def test_a_second_try_that_passes_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "test_fails_once.py").write_text(FAILS_ONCE, "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-c", ROOT / "pyproject.toml", "-p", "conftest", tmp_path],
        env={**os.environ, "CI": "true", "PYTHONPATH": str(ROOT / "tests")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed, 1 retried" in done.stdout
