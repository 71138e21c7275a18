"""The file of the rows that an import in part left out: it is mended, and imported again."""

import csv
import io
import json

import pytest
from openpyxl import Workbook

from argot.jargon_db import ReadOptions
from argot.jargon_db.formats.format_registry import read_file
from argot.jargon_db.formats.rejected_rows import write_rejected

HERE = ReadOptions(bounded=True, partial=True)
"""Read in this process: a child takes half a second."""
HEADER = ["Acronym", "Stands for", "Definition", "Owner"]
LEFT = ["XYZQ", "", "", "-5 = kept"]


def _make_book(*, sheets: int) -> bytes:
    book = Workbook()
    first = book.active
    first.title = "Finance"
    first["A1"] = "Glossary of the finance team"
    first.merge_cells("A1:D1")
    for row in (HEADER, ["UDO", "Undelivered order", "Not yet paid", "ask"], LEFT):
        first.append([cell or None for cell in row])
    if sheets > 1:
        second = book.create_sheet("Personal")
        for row in (["Abkürzung", "Bedeutung", "Synonyme"], ["AZK", "Arbeitszeitkonto", "Zeitkonto"], ["EZ", "", ""]):
            second.append([cell or None for cell in row])
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def _make_table(delimiter: str) -> bytes:
    rows = [HEADER, ["UDO", "Undelivered order", "", ""], [*LEFT, ""]]
    return "\n".join(delimiter.join(row) for row in rows).encode()


def _make_page() -> bytes:
    rows = [HEADER, ["--"] * 4, ["UDO", "Undelivered order", "", ""], LEFT]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows).encode()


def _make_list() -> bytes:
    rows = (["UDO", "Undelivered order", "", ""], LEFT)
    return json.dumps([dict(zip(HEADER, row, strict=True)) for row in rows]).encode()


def _mend(rest: str, term: str, changes: dict[str, str]) -> bytes:
    rows = list(csv.DictReader(io.StringIO(rest)))
    next(row for row in rows if term in row.values()).update(changes)
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode("utf-8-sig")


@pytest.mark.parametrize(
    ("data", "name", "more"),
    [
        (_make_book(sheets=1), "x.xlsx", []),
        (_make_book(sheets=2), "x.xlsx", ["Synonyme", "context"]),
        (_make_table(","), "x.csv", []),
        (_make_table("\t"), "x.tsv", []),
        (_make_page(), "x.md", []),
        (_make_list(), "x.json", []),
    ],
)
def test_the_rest_has_the_columns_of_its_source_and_is_imported_when_mended(data, name, more):
    found = read_file(data, name, "", HERE)
    rest = write_rejected(found.rejected, found.columns)
    assert next(csv.reader(io.StringIO(rest))) == [*HEADER, *more, "place", "reason"]
    again = read_file(_mend(rest, "XYZQ", {"Stands for": "Exact zero quota"}), "x-rest.csv", "", HERE)
    (sense,) = again.senses
    assert (sense.term, sense.expansion, sense.description or "") == ("XYZQ", "Exact zero quota", "")
    assert (sense.owner, sense.context) == ("-5 = kept", "Finance" if more else "general")
    # What is still wrong comes back as it was, without the former reason.
    assert [one.cells[0] for one in again.rejected] == (["EZ"] if more else [])
    assert "left out" not in repr(again.senses)


@pytest.mark.parametrize("name", ["reason", " Reason", "REASON"])
def test_reasons_are_no_content_where_only_the_terms_are_known(name):
    text = f"term,Erläuternder Text,{name}\nQ7,,'Q7' has neither an expansion nor a description: it is left out\n"
    assert read_file(text.encode(), "x-rest.csv", "", HERE).senses == []
    codes = "term,reason\nE1,the motor has run hot and was stopped by its guard\n"
    assert len(read_file(codes.encode(), "codes.csv", "", HERE).senses) == 1


def test_a_torn_row_stays_wrong_until_it_is_mended():
    found = read_file(b"Acronym,Meaning\n" + b"AB,alpha beta\n" * 9 + b"CD,gamma,delta\n", "x.csv", "", HERE)
    rest = write_rejected(found.rejected, found.columns)
    again = read_file(rest.encode(), "x-rest.csv", "", HERE)
    assert (again.senses, [one.cells for one in again.rejected]) == ([], [("CD", "gamma", "delta")])


def test_a_wrong_sense_of_a_json_file_comes_back_once_with_its_texts():
    senses = [{"term": "AB", "expansion": "alpha beta", "notes": "kept", "owner": ["x"], "colour": "red"}]
    found = read_file(json.dumps({"senses": senses}).encode(), "x.json", "", HERE)
    (left,) = csv.DictReader(io.StringIO(write_rejected(found.rejected, found.columns)))
    assert (left["term"], left["expansion"], left["notes"]) == ("AB", "alpha beta", "kept")
    assert "unknown field 'colour'" in left["reason"] and "owner" in left["reason"]
