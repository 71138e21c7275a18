"""Tests of argot insight: its text and JSON output, and its output before any question."""

import json
import shutil
from pathlib import Path

import pytest

from argot.ui.cli.main import main


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), out, err


def test_the_insight_command_reports_counts_by_period(
    tiny_home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = ["--home", str(shutil.copytree(tiny_home, tmp_path / "kb"))]
    code, out, err = run(capsys, "insight", *home)
    assert (code, out) == (0, "") and "No question has been counted yet" in err
    for question in ("How much does a late tariff filing cost?", "Who won the football world cup?", "What is a QTFX?"):
        assert run(capsys, "ask", question, *home)[0] == 0
    code, out, _ = run(capsys, "insight", *home)
    assert code == 0
    assert out.startswith("3 questions from ")
    # A person may read their own questions.
    assert "1 × “Who won the football world cup?”" in out and "tariff-filing.md\t1" in out and "QTFX\t1" in out
    code, out, _ = run(capsys, "insight", "--json", *home)
    assert json.loads(out)["counts"]["surfaces"] == {"command": 3}
    code, _, err = run(capsys, "insight", "--since", "last week", *home)
    assert code == 1 and "it is not a day" in err
