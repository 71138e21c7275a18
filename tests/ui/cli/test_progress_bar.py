"""Tests of the progress that long commands show."""

import pytest

from argot.ui.cli import progress_bar
from argot.ui.cli.progress_bar import show_progress


def test_progress_is_written_as_lines_where_no_terminal_shows_a_bar(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [100.0]
    monkeypatch.setattr(progress_bar.time, "monotonic", lambda: now[0])
    with show_progress("adding") as move:
        for done in range(25):
            now[0] += 1
            move({"name": f"guide{done}.md", "done": done, "total": 25})
        move({"name": "mailbox", "done": 3, "total": 0})
        now[0] += progress_bar.PLAIN_SECONDS
        move({"name": "mailbox", "done": 7, "total": 0})
    assert capsys.readouterr().err.splitlines() == [
        "adding guide9.md: 9 / 25",
        "adding guide19.md: 19 / 25",
        "adding mailbox: 7",
    ]
