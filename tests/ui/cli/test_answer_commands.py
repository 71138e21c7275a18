"""Tests of argot answers: verify, list, renew and remove."""

import json
import shutil
from pathlib import Path

import pytest

from argot.ui.cli.main import main

QUESTION = "How much does a late tariff filing cost?"


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), out, err


def test_an_answer_is_verified_listed_renewed_and_dropped(
    tiny_home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = ["--home", str(shutil.copytree(tiny_home, tmp_path / "kb"))]
    asked = json.loads(run(capsys, "ask", QUESTION, "--json", *home)[1])
    assert run(capsys, "answers", "verify", asked["thread"], *home)[1] == f"Verified as answer 1: {QUESTION}\n"
    code, out, err = run(capsys, "answers", "list", *home)
    assert code == 0 and QUESTION in out and "1 verified answer\n" in err
    assert "This answer was verified on" in run(capsys, "ask", f"Can you tell me {QUESTION.lower()}", *home)[1]
    again = json.loads(run(capsys, "ask", QUESTION, "--json", "--set", "find_verified=off", *home)[1])
    assert again["verified"] is None
    code, _, err = run(capsys, "answers", "verify", asked["thread"], "--text", "It costs 900 dollars.", *home)
    assert code == 1 and "It costs 900 dollars." in err
    assert run(capsys, "answers", "renew", "1", *home)[1] == f"Verified answer 1 again: {QUESTION}\n"
    assert json.loads(run(capsys, "answers", "list", "--expired", "--json", *home)[1]) == []
    assert run(capsys, "answers", "remove", "1", *home)[1] == f"Dropped answer 1: {QUESTION}\n"
    assert run(capsys, "answers", "remove", "1", *home)[0] == 1
