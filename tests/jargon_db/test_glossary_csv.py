import csv
import io
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from repository import ROOT

from argot.errors import InvalidGlossary
from argot.jargon_db import Glossary
from argot.jargon_db.formats.cell_texts import join_aliases, split_aliases
from argot.jargon_db.formats.csv_format import COLUMNS, read_senses, write
from argot.jargon_db.store.inputs import clean_aliases, clean_name
from argot.types import Principal, Sense

EVERYBODY = Principal("admin", sees_all=True)
HEADER = "term,context,expansion,description,notes,aliases,owner\n"
"""As files from before there was a status have it."""
FILE = HEADER + (
    'PUC,NAND,Peripheral Under Cell,"Circuits, under the array",none,under-array|P.U.C.,eve\n'
    "PUC,legal,Public Utilities Commission,,,,\n"
    "Größe,general,=SUM(A1),+1,-1,@x,\n"
)


def problems(text):
    with pytest.raises(InvalidGlossary) as caught:
        read_senses(text, "terms.csv")
    return [(problem.row, problem.column) for problem in caught.value.problems]


def test_import_reports_its_changes_and_a_second_import_changes_nothing(glossary):
    report = glossary.files.import_csv(FILE)
    assert (report.added, report.updated, report.unchanged) == (3, 0, 0)
    assert report.contexts_added == ("NAND", "legal", "general")
    before = glossary.version()
    again = glossary.files.import_csv(FILE)
    assert (again.added, again.updated, again.unchanged, again.contexts_added) == (0, 0, 3, ())
    assert glossary.version() == before


def test_a_changed_row_updates_and_a_new_expansion_is_a_new_sense(glossary):
    glossary.files.import_csv(FILE)
    report = glossary.files.import_csv(
        HEADER + "PUC,NAND,Peripheral Under Cell,new words,,P.U.C.,eve\nPUC,nand,Power Unit,,,,\n"
    )
    assert (report.added, report.updated) == (1, 1)
    senses = glossary.senses.find(EVERYBODY, context="NAND")
    assert [(sense.expansion, sense.description, sense.aliases) for sense in senses] == [
        ("Peripheral Under Cell", "new words", ("P.U.C.",)),
        ("Power Unit", "", ()),
    ]


def test_a_missing_column_keeps_values_and_an_empty_cell_clears_them(glossary):
    glossary.files.import_csv(FILE)
    assert glossary.files.import_csv("term,expansion,context\nPUC,Peripheral Under Cell,NAND\n").unchanged == 1
    glossary.files.import_csv("expansion,term,context,notes\nPeripheral Under Cell,PUC,NAND,\n")
    sense = glossary.senses.find(EVERYBODY, context="NAND")[0]
    assert (sense.description, sense.notes) == ("Circuits, under the array", "")


def test_identical_rows_count_once(glossary):
    report = glossary.files.import_csv(HEADER + "A,x,alpha,,,,\n" * 3)
    assert (report.added, report.updated, report.unchanged) == (1, 0, 0)


def test_an_empty_or_missing_context_means_general(glossary):
    glossary.files.import_csv("term,expansion\nA,alpha\n")
    glossary.files.import_csv("term,context,expansion\nB, ,beta\n")
    assert [sense.context for sense in glossary.senses.find(EVERYBODY)] == ["general", "general"]


def test_export_and_import_give_the_same_glossary(glossary, tmp_path):
    glossary.files.import_csv(FILE)
    exported = glossary.files.export_csv(EVERYBODY)
    assert "'=SUM(A1),'+1,'-1,'@x" in exported
    other = Glossary.open(tmp_path / "other.db")
    other.files.import_csv(exported)
    assert other.files.export_csv(EVERYBODY) == exported
    assert {
        (s.term, s.context, s.expansion, s.description, s.notes, s.aliases, s.owner)
        for s in other.senses.find(EVERYBODY)
    } == {
        (s.term, s.context, s.expansion, s.description, s.notes, s.aliases, s.owner)
        for s in glossary.senses.find(EVERYBODY)
    }
    other.close()


FORMULA = st.text(";'=+-@\t\r\n＝＠|\\,\"ab ", max_size=8)


@settings(deadline=None)
@given(FORMULA.filter(str.strip), FORMULA, FORMULA, st.lists(FORMULA.filter(lambda text: bool(text.strip(" \t\r\n")))))
def test_no_exported_cell_is_a_formula_and_each_is_read_back(expansion, description, owner, aliases):
    kept = clean_aliases(aliases)
    written = write([Sense(1, "PUC", "NAND", clean_name(expansion), description, description, kept, owner, "approved")])
    for cell in list(csv.reader(io.StringIO(written, newline="")))[1]:
        assert not cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"))
        assert not re.search(r"[;\t\r\n][=+\-@＝＋－＠]", cell)  # where a semicolon or a tab parts cells
    (read,) = read_senses(written, "x.csv")
    assert (read.expansion, read.description, read.aliases, read.owner) == (
        clean_name(expansion),
        description,
        kept,
        owner,
    )


def test_a_typed_apostrophe_is_kept():
    (read,) = read_senses("term,expansion\nPUC,'=1+1 as typed\n", "x.csv")
    assert read.expansion == "'=1+1 as typed"


def test_a_bad_row_is_reported_and_nothing_is_stored(glossary):
    bad = FILE + ",NAND,nothing,,,,\nX,NAND,,,,,\n" + f"{'y' * 201},NAND,long,,,,\nok,NAND,fine,,,,\na,b,c,d,e,f,g,h\n"
    with pytest.raises(InvalidGlossary, match=r"row 7, column term"):
        glossary.files.import_csv(bad)
    assert problems(bad) == [(7, "term"), (9, "")]
    assert glossary.senses.find(EVERYBODY) == []
    assert glossary.contexts.all(EVERYBODY) == []


def test_an_import_that_fails_midway_stores_nothing(glossary, monkeypatch):
    """Check number 20 of the scorecard: an import that fails midway leaves 0 rows."""
    from argot.jargon_db.store.journal import Journal

    record = Journal.record

    def fail_on_the_third(self, subject, row, was, now):
        if now is not None and now[1].get("term") == "Größe":
            raise OSError("disk full")
        return record(self, subject, row, was, now)

    monkeypatch.setattr(Journal, "record", fail_on_the_third)
    with pytest.raises(OSError, match="disk full"):
        glossary.files.import_csv(FILE)
    assert glossary.senses.find(EVERYBODY) == []
    assert glossary.contexts.all(EVERYBODY) == []


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("", [(1, "term")]),
        ("\ufeff \n,\n", [(1, "term")]),
        ("meaning\n", [(1, "term")]),
        ("term\nPUC\n", [(1, "expansion")]),
        ("expansion\nx\n", [(1, "term")]),
        ('term,expansion\n"A,alpha\n', [(2, "")]),
    ],
)
def test_each_error_of_a_bad_file_is_located(text, where):
    assert problems(text) == where


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
def test_files_of_any_encoding_delimiter_and_line_end_are_read(glossary, encoding, delimiter, line_break):
    text = line_break.join(delimiter.join(row) for row in (["Term", "Context", "Expansion"], ["Größe", "é", "“size”"]))
    assert glossary.files.import_csv(text.encode(encoding)).added == 1
    assert [(s.term, s.context, s.expansion) for s in glossary.senses.find(EVERYBODY)] == [("Größe", "é", "“size”")]


def test_a_long_description_is_kept_as_typed(glossary):
    description = "long\n" * 10_000
    glossary.files.import_csv(HEADER + f'A,x,alpha,"{description}",,,\n')
    assert glossary.senses.find(EVERYBODY)[0].description == description


@settings(deadline=None)
@given(st.lists(st.text(min_size=1)))
def test_aliases_with_any_characters_are_read_back(aliases):
    assert list(split_aliases(join_aliases(aliases))) == aliases


def test_the_documentation_lists_the_columns():
    told = (ROOT / "docs" / "managers.md").read_text(encoding="utf-8")
    assert f"A CSV file has the columns `{','.join(COLUMNS)}`" in told


def test_a_separator_line_is_followed_and_is_not_data():
    for first in ("sep=;\r\n", "SEP=;\n", '"sep=;"\r'):
        (sense,) = read_senses(f"{first}term;expansion\nPUC;one, two, three\n", "x.csv")
        assert (sense.term, sense.expansion) == ("PUC", "one, two, three")
    assert problems(f"sep=;\nterm;expansion\n{'x' * 201};none\n") == [(2, "term")]


def test_many_columns_that_fit_nothing_are_counted_instead_of_listed():
    names = [f"c{number}" for number in range(198)]
    with pytest.raises(InvalidGlossary, match="and 188 more") as caught:
        read_senses(",".join(names) + "\n", "x.csv")
    assert len(str(caught.value)) < 1_000


def test_empty_rows_and_invisible_marks_before_the_header_are_skipped():
    for before in ("\n\n", ";;\r\n\r\n", "\ufeff\ufeff", "\u200b", "sep=;\n\n"):
        (sense,) = read_senses(f"{before}term;expansion;notes\nPUC;one, two;three, four, five\n", "x.csv")
        assert (sense.term, sense.expansion) == ("PUC", "one, two")
    assert problems(f"\n\nterm,expansion\n{'x' * 201},none\n") == [(4, "term")]


def test_a_file_of_one_very_long_line_gets_a_short_error():
    with pytest.raises(InvalidGlossary) as caught:
        read_senses("<html>" + "x" * 1_000_000, "x.csv")
    assert len(str(caught.value)) < 1_000


def test_utf_32_is_read(glossary):
    assert glossary.files.import_csv("term,expansion\nGröße,size\n".encode("utf-32")).added == 1
    assert glossary.senses.find(EVERYBODY)[0].term == "Größe"


@pytest.mark.parametrize("format", ["csv", "json", "turtle", "rdfxml", "jsonld"])
def test_drafts_and_retired_senses_keep_their_status_in_every_format(glossary, tmp_path, format):
    for status in ("draft", "approved", "retired"):
        glossary.senses.add("PUC", "NAND", f"{status} meaning", status=status)
    exported = glossary.files.export_file(EVERYBODY, format)
    other = Glossary.open(tmp_path / "other.db")
    other.files.import_file(None, exported.encode(), "terms", format)
    assert {sense.expansion: sense.status for sense in other.senses.find(EVERYBODY)} == {
        "draft meaning": "draft", "approved meaning": "approved", "retired meaning": "retired",
    }  # fmt: skip
    assert other.files.export_file(EVERYBODY, format) == exported
    assert [sense.status for sense in other.lookup.senses(EVERYBODY, ["PUC"])["PUC"]] == ["approved"]
    other.close()


def test_a_file_without_status_approves_new_senses_and_keeps_old_statuses(glossary):
    glossary.senses.add("A", "x", "alpha", status="draft")
    glossary.senses.add("B", "x", "beta", status="retired")
    report = glossary.files.import_csv("term,context,expansion\nA,x,alpha\nB,x,beta\nC,x,gamma\n")
    assert (report.added, report.unchanged) == (1, 2)
    empty = glossary.files.import_csv("term,context,expansion,status\nA,x,alpha,\nB,x,beta, \nD,x,delta,\n")
    assert (empty.added, empty.unchanged) == (1, 2)
    assert {sense.term: sense.status for sense in glossary.senses.find(EVERYBODY)} == {
        "A": "draft", "B": "retired", "C": "approved", "D": "approved",
    }  # fmt: skip


def test_a_status_in_any_case_changes_the_existing_sense(glossary):
    glossary.senses.add("A", "x", "alpha")
    report = glossary.files.import_csv("term;context;expansion;Status\nA;x;alpha; Retired \nB;x;beta;DRAFT\n")
    assert (report.added, report.updated) == (1, 1)
    assert [sense.status for sense in glossary.senses.find(EVERYBODY)] == ["retired", "draft"]
    assert glossary.lookup.senses(EVERYBODY, ["A"]) == {"A": []}


def test_a_meaning_with_an_unknown_status_becomes_a_draft(glossary):
    text = b"term,expansion,status\nA,alpha,aktiv\nB,beta,aproved\n"
    report = glossary.files.import_file(None, text, "x.csv")
    assert [(one.place, one.message) for one in report.notices] == [
        ("row 3, column status", "the status 'aproved' is not known: the meaning becomes a draft")
    ]
    assert [sense.status for sense in glossary.senses.find(EVERYBODY)] == ["approved", "draft"]


@pytest.mark.parametrize(
    ("term", "expansion", "read"),
    [
        ("PV1 / PV2", "Violent 1 / 2", {"PV1": "Violent 1", "PV2": "Violent 2"}),
        ('"M-1, M-2 and M-3"', "Mobility", {"M-1": "Mobility", "M-2": "Mobility", "M-3": "Mobility"}),
        ("P1 to P3", "Priority 1 to 3", {"P1": "Priority 1", "P2": "Priority 2", "P3": "Priority 3"}),
        ("C1–C2", "Code 1-2", {"C1": "Code 1", "C2": "Code 2"}),
        ("TCP/IP", "protocols", {"TCP/IP": "protocols"}),
        ("P1 / Q1", "either", {"P1 / Q1": "either"}),
        ("802.11/16", "radio", {"802.11/16": "radio"}),
        ("P4 to P1", "backwards", {"P4 to P1": "backwards"}),
    ],
)
def test_a_row_of_several_numbered_terms_gives_each(glossary, term: str, expansion: str, read: dict[str, str]) -> None:
    report = glossary.files.import_file(None, f"name,meaning\n{term},{expansion}\n".encode(), "x.csv")
    assert {sense.term: sense.expansion for sense in glossary.senses.find(EVERYBODY)} == read
    assert [notice.row for notice in report.notices] == ([2] if len(read) > 1 else [])


def test_a_long_range_of_terms_stays_one_term_and_is_reported(glossary):
    report = glossary.files.import_file(None, b"name,meaning\nP1 to P40,priority\n", "x.csv")
    assert [sense.term for sense in glossary.senses.find(EVERYBODY)] == ["P1 to P40"]
    assert [(one.place, one.message) for one in report.notices] == [
        ("row 2, column term", "'P1 to P40' is kept as one term, since it names more than 10; write a row for each")
    ]


def test_of_two_statuses_of_one_sense_the_first_is_kept(glossary):
    report = glossary.files.import_file(None, b"term,expansion,status\nA,alpha,draft\nA,alpha,retired\n", "x.csv")
    assert [(notice.row, notice.column) for notice in report.notices] == [(3, "status")]
    assert [sense.status for sense in glossary.senses.find(EVERYBODY)] == ["draft"]
