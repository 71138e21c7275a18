"""Tests of `argot evaluate reading`: the words of a folder's files that are kept, left out by a rule, or lost."""

import io
import json
import zipfile
from pathlib import Path

import docx
import pytest
from openpyxl import Workbook
from typer.testing import CliRunner

from argot.corpus.read_limits import ReadLimits
from argot.errors import InvalidInput
from argot.evaluate.reading_suite import evaluate_reading
from argot.evaluate.reading_tables import build_reading_tables
from argot.ui.cli.main import app


def no_progress(step: str, done: int, total: int) -> None:
    """Ignore the progress."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "files"
    (made / "inner").mkdir(parents=True)
    (made / "inner" / "note.txt").write_text("Valves close.", "utf-8")
    (made / "broken.docx").write_bytes(b"PK\x03\x04 cut off")
    (made / "strange.xyz").write_bytes(b"\x00\x01")
    (made / "empty.md").touch()
    document, book, buffer = docx.Document(), Workbook(), io.BytesIO()
    document.add_paragraph("The crane lifts.")
    document.save(made / "crane.docx")
    document.save(made / "gate.docx")
    # No reader knows this part: its words are lost and counted.
    with zipfile.ZipFile(made / "gate.docx", "a") as archive:
        archive.writestr("word/novel/part1.xml", "<x><y>Valve nine leaks badly</y></x>")
    book.active.append(["Part", "Secret"])
    book.active.column_dimensions["B"].hidden = True
    book.save(buffer)
    (made / "parts.xlsx").write_bytes(buffer.getvalue())
    return made


def test_each_file_is_measured_or_refused_with_its_reason(folder: Path) -> None:
    report = evaluate_reading(folder, ReadLimits(), no_progress)
    files = {one.name: one for one in report.files}
    assert files[str(Path("inner") / "note.txt")].ledger.kept == 2
    assert files["gate.docx"].ledger.held == files["crane.docx"].ledger.held + 4
    assert files["gate.docx"].ledger.count_lost_by_kind("ledger") == {"unknown part": 4}
    assert files["gate.docx"].warnings == ("4 words were not read: 4 in unknown parts",)
    # A counter stays a counter when it is sent from the process.
    assert files["parts.xlsx"].ledger.left_out["document properties"] > 0
    assert {name for name, one in files.items() if not one.is_read} == {"broken.docx", "strange.xyz", "empty.md"}
    assert files["empty.md"].refusal == "empty"
    assert "unknown format '.xyz'" in files["strange.xyz"].refusal


def test_a_file_that_takes_too_long_is_refused_and_the_others_are_read(folder: Path) -> None:
    # The limit is shorter than any reader needs: the process is ended at each file, and the next file gets a new one.
    report = evaluate_reading(folder, ReadLimits(seconds=0.001), no_progress)
    files = {one.name: one for one in report.files}
    assert len(files) == 7
    assert "took longer than" in files["crane.docx"].refusal
    assert "took longer than" in files["parts.xlsx"].refusal
    assert files["empty.md"].refusal == "empty"


def test_the_sums_of_a_format_equal_those_of_its_files(folder: Path) -> None:
    report = evaluate_reading(folder, ReadLimits(), no_progress)
    said = report.to_json()
    for sums in said["formats"].values():
        assert sums["words"] == sums["kept"] + sum(sums["left_out"].values()) + sum(sums["lost_words"].values())
    assert said["formats"]["all"]["files"] == 7
    assert said["formats"]["all"]["refused"] == 3
    assert said["formats"][".docx"]["refused"] == 1
    worst = next(table for table in build_reading_tables(report, 1) if table.title.startswith("Files with"))
    assert [row[0] for row in worst.rows] == ["gate.docx"]


def test_the_command_prints_tables_and_json(folder: Path) -> None:
    shown = CliRunner().invoke(app, ["evaluate", "reading", str(folder), "--worst", "2"])
    assert shown.exit_code == 0, shown.output
    assert "lost, without a warning" in shown.output
    assert "hidden sheet, row or column" in shown.output
    assert "not a complete Office file" in shown.output
    said = json.loads(CliRunner().invoke(app, ["evaluate", "reading", str(folder), "--json"]).stdout)
    (gate,) = [one for one in said["files"] if one["name"] == "gate.docx"]
    (lost,) = gate["lost"]
    assert (lost["place"], lost["kind"], lost["words"], lost["told_by"]) == (
        "word/novel/part1.xml", "unknown part", 4, "ledger"
    )  # fmt: skip
    assert lost["examples"] == ["valve nine leaks badly"]


def test_the_error_for_a_folder_without_files_names_it(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="holds no file"):
        evaluate_reading(tmp_path, ReadLimits(), no_progress)
    with pytest.raises(InvalidInput, match="is no folder"):
        evaluate_reading(tmp_path / "none", ReadLimits(), no_progress)
