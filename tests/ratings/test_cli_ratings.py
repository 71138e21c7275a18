"""Tests of `argot ratings`: a study made from a file, and one of questions asked through profiles."""

import csv
import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from argot.ui.cli.main import main

Ratings = Callable[..., tuple[int, str, str]]


@pytest.fixture
def ratings(
    tiny_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Ratings:
    """Run a command in this process, and return its exit code, output and messages."""
    monkeypatch.setenv("ARGOT_HOME", str(shutil.copytree(tiny_home, tmp_path / "kb")))

    def run(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(list(map(str, arguments)))
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        return int(ended.value.code or 0), said.out, said.err

    return run


def test_a_study_is_created_from_a_file_rated_and_removed(ratings: Ratings, tmp_path: Path) -> None:
    rows = [{"question": f"Q{n}?", "answers": {"one": "first", "other": "second"}} for n in (1, 2)]
    file = tmp_path / "answers.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    assert ratings("user", "add", "ann")[0] == 0
    code, _, told = ratings("ratings", "create", "two words", "--file", file)
    assert code == 1 and "do not say which documents" in told
    given = ("--file", file, "--readers-confirmed", "--aspect", "Tone: polite?", "--no-ranking")
    code, out, told = ratings("ratings", "create", "two words", *given)
    assert code == 0 and "2 of 2 questions answered, 0 raters" in out and "invite 'two words' NAME" in told
    assert "1 rater," in ratings("ratings", "invite", "two words", "ann")[1]
    assert "0 raters" in ratings("ratings", "invite", "two words", "ann", "--not")[1]
    assert "closed" in ratings("ratings", "close", "two words")[1]
    assert "open" in ratings("ratings", "close", "two words", "--not")[1]
    shown = json.loads(ratings("ratings", "show", "two words", "--json")[1])
    assert shown["aspects"] == [{"name": "Tone", "wording": "polite?"}] and shown["ranking"] is False
    assert ratings("ratings", "show", "two words")[1].startswith("two words: 2 of 2")
    assert ratings("ratings", "export", "two words")[1] == ""
    (head,) = csv.reader(io.StringIO(ratings("ratings", "export", "two words", "--csv")[1]))
    assert head[:6] == ["item", "question", "system", "shown_as", "rater", "Tone"]
    assert "two words\t2 of 2\t0\t0\topen" in ratings("ratings", "list")[1]
    assert "Removed two words" in ratings("ratings", "remove", "two words", "--yes")[1]
    code, _, told = ratings("ratings", "show", "two words")
    assert code == 1 and "There is no study 'two words'" in told


def test_a_study_is_created_from_questions_asked_through_profiles(ratings: Ratings, tmp_path: Path) -> None:
    file = tmp_path / "questions.txt"
    file.write_text("What does a late tariff filing cost?\n")
    code, out, _ = ratings(
        "ratings", "create", "ways", "--questions", file, "--profile", "default", "--profile", "plain_rag"
    )
    assert code == 0 and "1 of 1 question answered" in out
    assert "1 of 1 question answered" in ratings("ratings", "create", "ways", "--resume")[1]
    code, _, told = ratings("ratings", "create", "ways")
    assert code == 1 and "Give one of --file, --questions, --thumbs and --resume" in told
    code, _, told = ratings("ratings", "create", "w", "--questions", tmp_path / "question.txt")
    assert code == 1 and "question.txt: No such file or directory. Check the name" in told
    file.write_bytes(b"\xff\xfe\x00")
    code, _, told = ratings("ratings", "create", "w", "--questions", file)
    assert code == 1 and "not UTF-8" in told
    code, _, told = ratings("ratings", "create", "t", "--thumbs", "--bad")
    assert code == 1 and "Nobody has shared such an answer" in told


def test_studies_of_passages_and_of_references_are_created(ratings: Ratings, tmp_path: Path) -> None:
    file = tmp_path / "questions.txt"
    file.write_text("What does a late tariff filing cost?\n")
    code, out, _ = ratings("ratings", "create", "search", "--kind", "passages", "--questions", file)
    assert code == 0 and "1 of 1 question answered" in out
    code, _, told = ratings("ratings", "export", "search", "--annotated")
    assert code == 1 and "no references are annotated" in told
    file.write_text(json.dumps({"question": "Q?", "answer": "Both. That.", "passages": ["one", "other"]}))
    given = ("--kind", "references", "--file", file, "--readers-confirmed")
    assert ratings("ratings", "create", "sources", *given)[0] == 0
    assert json.loads(ratings("ratings", "show", "sources", "--json")[1])["kind"] == "references"
    code, out, told = ratings("ratings", "export", "sources", "--annotated")
    assert (code, out) == (0, "") and "No rating has been saved yet" in told
    code, _, told = ratings("ratings", "export", "sources", "--annotated", "--csv")
    assert code == 1 and "Give one of --csv, --annotated and --labels" in told
    code, _, told = ratings("ratings", "create", "x", "--kind", "quality", "--questions", file)
    assert code == 1 and "it should be 'answers', 'passages' or 'references'" in told
