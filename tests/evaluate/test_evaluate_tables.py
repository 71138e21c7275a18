"""Tests of the cell-adjacency measure of the ICDAR 2013 table competition, and of the command's output."""

import io
import json
from pathlib import Path

import pytest
from reportlab.platypus import SimpleDocTemplate, Table, TableStyle
from typer.testing import CliRunner

from argot.corpus.readers.table_grid import GridCell
from argot.errors import InvalidInput
from argot.evaluate.experiments.table_structure import (
    find_relations,
    group_by_page,
    load_structure,
    normalize_text,
    score_relations,
)
from argot.evaluate.experiments.table_suite import build_cells, evaluate_tables
from argot.ui.cli.main import app

ROWS = [["Part", "Limit"], ["Valve", "12.5"], ["Seal", "9"]]


def structure(rows: list[list[str]]) -> str:
    cells = "".join(
        f"<cell start-row='{row}' start-col='{column}'><content>{text}</content></cell>"
        for row, texts in enumerate(rows)
        for column, text in enumerate(texts)
    )
    return f"<document><table id='1'><region id='1' page='1'>{cells}</region></table></document>"


def folder_with(tmp_path: Path, rows: list[list[str]], name: str = "own") -> Path:
    buffer = io.BytesIO()
    SimpleDocTemplate(buffer).build([Table(ROWS, style=TableStyle([("GRID", (0, 0), (-1, -1), 1, "black")]))])
    (tmp_path / f"{name}.pdf").write_bytes(buffer.getvalue())
    (tmp_path / f"{name}-str.xml").write_text(structure(rows), "utf-8")
    return tmp_path


def test_neighbours_are_found_across_blank_cells_once_for_each_pair() -> None:
    cells = [
        GridCell(0, 0, "Site", 1, 0),
        GridCell(0, 1, "Output", 0, 2),
        GridCell(1, 1, " ", 1, 1),
        GridCell(1, 2, "dies", 1, 2),
    ]
    assert dict(find_relations(cells)) == {
        ("SITE", "OUTPUT", "across"): 1,
        ("SITE", "DIES", "across"): 1,
        ("OUTPUT", "DIES", "down"): 1,
    }


def test_cell_texts_are_normalised_without_blanks_case_and_special_characters() -> None:
    assert normalize_text("Net sales\n(% of total) ﬁ") == "NETSALES__OFTOTAL_FI"


def test_a_repeated_relation_counts_as_often_as_the_page_has_it() -> None:
    gold = group_by_page([(1, build_cells([["1", "1", "1"]]))])
    score = score_relations(gold, group_by_page([(1, build_cells([["1", "1"]])), (2, build_cells([["a", "b"]]))]))
    assert (score.gold, score.found, score.right) == (2, 2, 1)
    assert (score.precision, score.recall, score.f1) == (0.5, 0.5, 0.5)


def test_readers_are_compared_over_all_documents_and_both_halves(tmp_path: Path) -> None:
    report = evaluate_tables(folder_with(tmp_path, ROWS), lambda *_: None)
    assert report.scores["Argot"]["all"].pooled.f1 == 1.0
    assert report.scores["pdfplumber"]["all"].mean_f1 == 1.0
    assert len(report.scores["Argot"]) == 2  # "all", and the half that contains the file
    assert report.by_document["Argot, its Markdown"]["own"].gold == 7


def test_the_best_of_several_structures_of_a_table_counts(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, [["Part", "other"]], "t-1a")
    (folder / "t-1b-str.xml").write_text(structure(ROWS), "utf-8")
    report = evaluate_tables(folder, lambda *_: None)
    assert report.by_document["Argot"]["t-1a"].f1 == 1.0


def test_the_error_for_an_invalid_structure_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a-str.xml"
    path.write_text("<document><region/></document>", "utf-8")
    with pytest.raises(InvalidInput, match=r"a-str\.xml is no table structure"):
        load_structure(path)


def test_the_command_prints_tables_or_json(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, ROWS)
    shown = CliRunner().invoke(app, ["evaluate", "tables", "--pdf-dir", str(folder)])
    assert shown.exit_code == 0, shown.output
    assert "F1 of each document" in shown.stdout
    report = json.loads(CliRunner().invoke(app, ["evaluate", "tables", "--pdf-dir", str(folder), "--json"]).stdout)
    assert report["readers"]["Argot"]["all"]["pooled"]["f1"] == 1.0
    missing = CliRunner().invoke(app, ["evaluate", "tables", "--pdf-dir", str(tmp_path / "none")])
    assert missing.exit_code != 0
