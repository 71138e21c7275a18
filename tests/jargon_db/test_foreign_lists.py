"""Lists of terms as other organisations have them: tables with any columns, workbooks and TBX."""

import csv
import io
import json
import zipfile
from dataclasses import replace

import pytest
from openpyxl import Workbook

from argot.errors import Conflict, InvalidGlossary, InvalidInput
from argot.jargon_db import Glossary, ReadOptions, SenseInput
from argot.jargon_db.formats.column_names import parse_mapping
from argot.jargon_db.formats.format_registry import FORMATS, read_file
from argot.jargon_db.formats.import_export import ImportChoices
from argot.jargon_db.store.inputs import check_input
from argot.types import Label, Principal, Relation

ADMIN = Principal("admin", sees_all=True)
HERE = ReadOptions(bounded=True, partial=True)
"""Read in this process: a child takes half a second."""
TBX_2008 = """<?xml version="1.0"?><!DOCTYPE martif SYSTEM "TBXcoreStructV02.dtd">
<martif type="TBX-Basic" xml:lang="en">
<text><body><termEntry id="c1"><descrip type="subjectField">Locks</descrip><langSet xml:lang="en">
<descripGrp><descrip type="definition">Holds a <hi>wheel</hi> back.</descrip>
<admin type="source">https://x.example/1</admin>
</descripGrp><ntig><termGrp><term>pawl</term><termNote type="partOfSpeech">noun</termNote></termGrp></ntig>
<tig><term>clicker</term><termNote type="administrativeStatus">deprecatedTerm-admn-sts</termNote></tig>
</langSet>
<langSet xml:lang="de"><tig><term>Sperrklinke</term>
<termNote type="grammaticalGender">feminine</termNote></tig></langSet>
<ref type="crossReference" target="c2">ratchet</ref></termEntry>
<termEntry id="c2"><langSet xml:lang="en"><tig><term>ratchet wheel</term></tig></langSet></termEntry>
</body></text></martif>"""
TBX_2019 = """<tbx type="TBX-Basic" style="dct" xml:lang="en" xmlns="urn:iso:std:iso:30042:ed-2"
xmlns:min="http://www.tbxinfo.net/ns/min" xmlns:basic="http://www.tbxinfo.net/ns/basic"><text><body>
<conceptEntry id="c1"><min:subjectField>Locks</min:subjectField><langSec xml:lang="en">
<descripGrp><basic:definition>Holds a wheel back.</basic:definition>
<basic:source>https://x.example/1</basic:source></descripGrp>
<termSec><term>pawl</term><min:partOfSpeech>noun</min:partOfSpeech></termSec>
<termSec><term>clicker</term>
<min:administrativeStatus>deprecatedTerm-admn-sts</min:administrativeStatus></termSec></langSec>
<langSec xml:lang="de"><termSec><term>Sperrklinke</term>
<basic:grammaticalGender>feminine</basic:grammaticalGender></termSec>
</langSec><basic:crossReference target="c2">ratchet</basic:crossReference></conceptEntry>
<conceptEntry id="c2"><langSec xml:lang="en"><termSec><term>ratchet wheel</term></termSec></langSec>
</conceptEntry>
</body></text></tbx>"""


def read(text, name="words.csv", **options):
    data = text if isinstance(text, bytes) else text.encode()
    return read_file(data, name, "", replace(HERE, **options))


def names(found):
    return [(one.term, one.context, one.expansion, one.description or "") for one in found.senses]


def save(book):
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


# -- columns ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "senses"),
    [
        ("Acronym;Meaning;Department\nQW;quay wall;Port\n", [("QW", "Port", "quay wall", "")]),
        ("Abk.\tBedeutung\tBereich\nKV\tKostenvoranschlag\tBüro\n", [("KV", "Büro", "Kostenvoranschlag", "")]),
        ("QW,Port,quay wall\nBL,Port,bill of lading\n", [("QW", "Port", "quay wall", ""), ("BL", "Port", "bill of lading", "")]),  # noqa: E501
        ("Port glossary\n\n2026,,\nNo.,Definition,Word\n1,Ships lie at it.,quay\n", [("quay", "general", "", "Ships lie at it.")]),  # noqa: E501
        ("Name|Abbreviation|Explanation\nquay wall|QW|Ships lie at it.\n", [("QW", "general", "quay wall", "Ships lie at it.")]),  # noqa: E501
        ("x,y\nQW,quay wall\nBL,bill of lading\n", [("QW", "general", "quay wall", ""), ("BL", "general", "bill of lading", "")]),  # noqa: E501
        ("Term,Expantion\nQW,quay wall\n", [("QW", "general", "quay wall", "")]),
        ("Term,Definition\nquay wall (QW),Ships lie at it.\n", [("QW", "general", "quay wall", "Ships lie at it.")]),
        ("Acronym,Definition\nA,\nACH,automated clearing house\nBL,bill of lading\n", [
            ("ACH", "general", "automated clearing house", ""), ("BL", "general", "bill of lading", "")]),
    ],
)  # fmt: skip
def test_columns_are_recognised_by_name_or_content(text, senses):
    found = read(text)
    assert (names(found), found.problems) == (senses, [])


def test_columns_that_fit_nothing_are_shown_and_can_be_mapped(glossary):
    text = b"x,y,z\nQ1,quay wall,Port\n"
    preview = glossary.files.preview(ADMIN, text, "words.csv")
    assert "Columns: 'x', 'y', 'z'. " in preview.problems[0].message
    assert "as in --map 'x=term,y=expansion'; fields: term, abbreviation," in preview.problems[0].message
    assert [(one.header, one.field) for one in preview.columns] == [("x", "-"), ("y", "-"), ("z", "-")]
    options = ReadOptions(columns=parse_mapping("x=term,y=expansion,z=context"))
    assert glossary.files.import_file(ADMIN, text, "words.csv", options=options).added == 1
    # Remembered for the file's name, and for no other.
    again = glossary.files.import_file(ADMIN, b"z,x,y\nPort,BL,bill of lading\n", "WORDS.csv")
    assert [(one.header, one.field, one.how) for one in again.columns] == [
        ("z", "context", "given"), ("x", "term", "given"), ("y", "expansion", "given"),
    ]  # fmt: skip
    # A later file of this name need not have all columns.
    assert glossary.files.import_file(ADMIN, b"x,y\nTPX,test plan index\n", "words.csv").added == 1
    with pytest.raises(InvalidGlossary):
        glossary.files.import_file(ADMIN, text, "other.csv")
    with pytest.raises(InvalidInput, match=r"no field 'word'.*term"):
        parse_mapping("x=word")
    with pytest.raises(InvalidInput, match="line break"):
        parse_mapping("a\rb=term")


def test_terms_of_two_languages_are_names_of_one_sense():
    text = "Term (DE),Term (EN),Definition (DE),Definition (EN)\nSperrklinke,pawl,Hält ein Rad.,Holds a wheel.\n"
    (sense,) = read(text).senses
    assert (sense.term, sense.description, sense.notes, sense.aliases) == (
        "pawl", "Holds a wheel.", "[de] Hält ein Rad.", ("Sperrklinke",),
    )  # fmt: skip
    assert {label.text: label.language for label in sense.labels} == {"pawl": "en", "Sperrklinke": "de"}
    assert read(text, language="de").senses[0].term == "Sperrklinke"


def test_rows_with_a_language_are_united_by_their_concept():
    text = (
        "Concept ID,Language,Term,Term status,Definition\nc1,de,Sperrklinke,preferred,\nc1,en,clicker,forbidden,\n"
        "c1,en,pawl,preferred,Holds a wheel.\nc2,en,cog,,Has teeth.\n"
    )
    pawl, cog = read(text).senses
    assert (pawl.term, pawl.concept, cog.term) == ("pawl", "c1", "cog")
    assert [(one.text, one.status, one.language) for one in pawl.labels] == [
        ("pawl", "preferred", "en"), ("Sperrklinke", "preferred", "de"), ("clicker", "forbidden", "en"),
    ]  # fmt: skip


def test_what_is_right_goes_in_and_the_rest_comes_back_with_reasons(glossary):
    rows = f"Term,Definition,Stock\nquay,Ships lie at it.,1\n{'x' * 201},long,2\ncog,Has teeth., 3,4\nbare,,5\n"
    with pytest.raises(InvalidGlossary, match="row 3, column term"):
        glossary.files.import_file(ADMIN, rows.encode(), "words.csv")
    report = glossary.files.import_file(ADMIN, rows.encode(), "words.csv", options=ReadOptions(partial=True))
    assert (report.added, report.left_out) == (1, 3)
    header, *rest = csv.reader(io.StringIO(report.rest))
    assert header == ["Term", "Definition", "Stock", "", "place", "reason"]
    assert [row[-2] for row in rest] == ["row 3", "row 4", "row 5"]
    assert rest[1][:4] == ["cog", "Has teeth.", " 3", "4"]


def test_an_import_in_part_leaves_out_what_the_manager_may_not_change(glossary):
    glossary.contexts.add("Port")
    glossary.senses.add("QW", "Port", "quay wall", audience=frozenset({"secret"}))
    text = b"term,context,expansion\nQW,Port,quay wall\nBL,Port,bill of lading\nHR,People,human resources\n"
    manager = Principal("max", manages=frozenset({"Port"}))
    report = glossary.files.import_file(manager, text, "x.csv", options=ReadOptions(partial=True))
    assert (report.added, report.left_out) == (1, 2)
    assert {sense.term for sense in glossary.senses.find(ADMIN)} == {"QW", "BL"}
    assert [sense.term for sense in glossary.senses.find(manager)] == ["BL"]


@pytest.mark.parametrize(
    ("choice", "statuses"), [("draft", ["draft", "approved"]), ("take", ["approved"] * 2), ("leave", ["approved"])]
)
def test_a_name_that_is_an_everyday_word_is_asked_about(glossary, choice, statuses):
    text = b"term,description\nit,A thing of ours.\nIT,The computers.\n"
    assert glossary.files.preview(ADMIN, text, "x.csv").everyday == ("it",)
    glossary.files.import_file(ADMIN, text, "x.csv", choices=ImportChoices(choice))
    found = {sense.term: sense.status for sense in glossary.senses.find(ADMIN)}
    assert [found[term] for term in ("it", "IT") if term in found] == statuses


def test_contexts_come_with_their_descriptions(glossary):
    text = b"Term,Meaning,Team,Team description\nQW,quay wall,Port,\nBL,bill of lading,Office,\n"
    listed = b"Team;Description;Contact\nPort;Ships and cranes;port@x.example\n"
    glossary.files.import_file(ADMIN, text, "x.csv", choices=ImportChoices(contexts=listed))
    (port,) = [one for one in glossary.contexts.all(ADMIN) if one.name == "Port"]
    assert (port.description, port.contact) == ("Ships and cranes", "port@x.example")


def test_a_huge_cell_is_refused_with_its_row():
    found = read(f"Term,Definition\nquay,{'d' * 1_100_000}\ncog,Has teeth.\n")
    assert [str(one) for one in found.problems] == ["row 2: a cell has 1,100,000 characters; shorten it to 100,000"]
    assert names(found) == [("cog", "general", "", "Has teeth.")]


# -- workbooks --------------------------------------------------------------------------------------------------------


def test_each_sheet_of_a_workbook_is_read():
    book = Workbook()
    port = book.active
    port.title = "Port"
    for row in (["Glossary of the port"], [], ["Abbrev.", "Written out", "Group"], ["QW", "quay wall", "Berths"],
                ["BL", "bill of lading", None], ["FL", '=CONCATENATE("fork", "lift")', None]):  # fmt: skip
        port.append(row)
    port.merge_cells("A1:C1")
    port.merge_cells("C4:C5")
    people = book.create_sheet("People")
    for row in (["Acronym", "Meaning"], ["PTO", "paid time off"], ["=1+1", None]):
        people.append(row)
    teams = book.create_sheet("Teams")
    for row in (["Team", "Description"], ["Berths", "Where ships lie"]):
        teams.append(row)
    secret = book.create_sheet("Hidden")
    secret.sheet_state = "hidden"
    for row in (["Acronym", "Meaning"], ["XX", "never shown"]):
        secret.append(row)
    for number in range(150):
        book.create_sheet(f"Totals {number}").append(["Total", number])
    found = read(save(book), "words.xlsx")
    assert names(found) == [
        ("QW", "Berths", "quay wall", ""), ("BL", "Berths", "bill of lading", ""), ("PTO", "People", "paid time off", ""),  # noqa: E501
    ]  # fmt: skip
    assert [(one.name, one.description) for one in found.contexts] == [("Berths", "Where ships lie")]
    said = "\n".join(map(str, found.notices))
    assert "Port, row 6: the formula" in said
    assert "and 140 more" in said
    assert found.problems == []


def test_a_workbook_with_macros_is_read_and_one_that_is_no_workbook_is_refused():
    book = Workbook()
    book.active.append(["Term", "Meaning"])
    book.active.append(["QW", "quay wall"])
    macros = io.BytesIO(save(book))
    with zipfile.ZipFile(macros, "a") as archive:
        archive.writestr("xl/vbaProject.bin", b"Sub Auto_Open()")
    assert names(read(macros.getvalue(), "words.xlsm")) == [("QW", "general", "quay wall", "")]
    damaged = io.BytesIO()
    with zipfile.ZipFile(damaged, "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook")
    for data, said in (
        (damaged.getvalue(), "damaged"),
        (b"PK\x03\x04 nothing", "no workbook"),
        (b"Term,Meaning", "no XLSX"),
    ):
        with pytest.raises(InvalidGlossary, match=said):
            read(data, "words.xlsx")


def test_a_workbook_outside_is_read_by_a_process_with_limits(glossary):
    book = Workbook()
    book.active.append(["Term", "Meaning"])
    book.active.append(["QW", "quay wall"])
    assert glossary.files.import_file(ADMIN, save(book), "words.xlsx").added == 1


# -- TBX --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [TBX_2008, TBX_2019])
def test_both_editions_of_tbx_are_read(text):
    pawl, ratchet = read(text, "words.xml").senses
    assert (pawl.term, pawl.context, pawl.description) == ("pawl", "Locks", "Holds a wheel back.")
    assert (pawl.source, pawl.concept, pawl.aliases) == ("https://x.example/1", "c1", ("clicker", "Sperrklinke"))
    assert pawl.relations == (Relation("see also", "ratchet wheel", "general"),)
    assert pawl.labels == (
        Label("pawl", "preferred", "en", "noun"),
        Label("clicker", "deprecated", "en"),
        Label("Sperrklinke", "admitted", "de", gender="feminine"),
    )
    assert (ratchet.term, ratchet.expansion, ratchet.context) == ("ratchet wheel", "ratchet wheel", "general")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('<!DOCTYPE tbx [<!ENTITY a "b"><!ENTITY c "&a;&a;">]><tbx>&c;</tbx>', "DOCTYPE"),
        ("<tbx><text>", "no XML"),
        ("<tbx><text/></tbx>", "no concept"),
        ("<tbx>" + "<text>" * 100, "nested"),
        ('<tbx><text><body><conceptEntry id="c1"/></body></text></tbx>', "entry c1"),
    ],
)
def test_hostile_and_broken_tbx_is_refused(text, said):
    with pytest.raises(InvalidGlossary, match=said):
        read(text, "words.tbx", partial=False)


# -- round trips ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", [one.name for one in FORMATS])
def test_no_format_loses_what_is_known_of_a_term(glossary, tmp_path, format):
    glossary.contexts.add("Locks", "Bolts | and \\ pawls", "locks@x.example", audience=frozenset({"fab"}))
    labels = (
        Label("pawl", "preferred", "en", "noun"), Label("PW", "admitted", "en", "noun", "", "abbreviation"),
        Label("Sperrklinke", "preferred", "de", "noun", "feminine"), Label("clicker", "deprecated", "en"),
        Label("stopper", "forbidden"),
    )  # fmt: skip
    relations = (Relation("broader", "lever"), Relation("see also", "cog (M8)}", "Gears"))
    more = SenseInput(
        "PW", "Locks", "pawl", "Holds {a=b} back.", "a note", ("Sperrklinke", "clicker", "stopper", "pall"), "eve", "draft",  # noqa: E501
        frozenset({"fab"}), "2027-01-31", labels, relations, "https://x.example/?a=b;c", "The pawl clicks.", "c5",
    )  # fmt: skip
    bare = SenseInput("lever", "Locks", "", "A long arm.")
    formula = SenseInput("cog (M8)}", "Gears", "= cog", "|teeth|", concept="c5", aliases=("cog (M8)}",))
    glossary.files.import_senses(map(check_input, (more, bare, formula)), "x")
    file = glossary.files.export_file(ADMIN, format)
    data = file if isinstance(file, bytes) else file.encode()
    other = Glossary.open(tmp_path / "other.db")
    report = other.files.import_file(None, data, "x", format)
    assert (report.ignored, report.notices, report.rest) == ({}, (), "")

    def told(one):
        senses = sorted((replace(sense, id=0, version=0) for sense in one.senses.find(ADMIN)), key=str)
        return senses, [replace(context, id=0, version=0) for context in one.contexts.all(ADMIN)]

    assert told(other) == told(glossary)
    assert other.files.preview(ADMIN, data, "x", format).unchanged == 3
    pw = next(sense for sense in other.senses.find(ADMIN) if sense.term == "PW")
    assert pw.preferred == "pawl"
    assert [label.text for label in pw.all_labels if label.status == "forbidden"] == ["stopper"]
    other.history.roll_back(ADMIN, report.change)
    assert other.senses.find(ADMIN) == []
    other.close()


def test_a_relation_to_a_term_that_one_may_not_know_is_hidden_on_every_road(glossary):
    relations = (Relation("related", "CANARY"), Relation("broader", "nowhere else"))
    glossary.senses.add("CANARY", "Locks", "a secret", audience=frozenset({"fab"}))
    glossary.files.import_senses([SenseInput("PW", "Locks", "pawl", relations=relations)], "x")
    asker, insider = Principal("ann"), Principal("eve", frozenset({"fab"}))
    (sense,) = glossary.senses.find(asker)
    assert [one.term for one in sense.relations] == ["nowhere else"]
    seen = [
        glossary.senses.get(asker, sense.id), *glossary.senses.find(asker, limit=5, start=1),
        *glossary.lookup.senses(asker, ["PW"])["PW"], *glossary.search.find(asker, "pawl"),
    ]  # fmt: skip
    assert all("CANARY" not in str(one) for one in seen)
    for format in ("json", "csv", "tbx", "turtle"):
        assert "CANARY" not in str(glossary.files.export_file(asker, format))
    assert [one.term for one in glossary.senses.get(insider, sense.id).relations] == ["CANARY", "nowhere else"]


def test_a_relation_that_one_may_not_know_stays_when_one_changes_the_others(glossary):
    glossary.senses.add("CANARY", "Locks", "a secret", audience=frozenset({"fab"}))
    relations = (Relation("related", "CANARY"), Relation("broader", "nowhere else"))
    glossary.files.import_senses([SenseInput("PW", "Locks", "pawl", relations=relations)], "x")
    manager, insider = Principal("mia", manages=frozenset({"Locks"})), Principal("eve", frozenset({"fab"}))
    (sense,) = (one for one in glossary.senses.find(insider) if one.term == "PW")
    glossary.senses.save(manager, sense.id, version=sense.version, relations=[Relation("broader", "rod")])
    stored = glossary.senses.get(insider, sense.id).relations
    assert {one.term for one in stored} == {"rod", "CANARY"}
    assert [one.term for one in glossary.senses.get(manager, sense.id).relations] == ["rod"]


HIDDEN_TARGETS = [
    Relation("related", "CANARY"),
    Relation("related", "canary bird"),
    Relation("related", "Secret Song"),
    Relation("see also", "CANARY", "Vault"),
    Relation("broader", "nobody has this", "Vault"),
]
"""Relations to a restricted sense of another context: by its term, other name and expansion, and to its context."""


@pytest.fixture
def canary(glossary):
    """The glossary with an open sense that has relations to restricted ones, and two that everybody may see."""
    glossary.contexts.add("Vault", audience=frozenset({"fab"}))
    glossary.senses.add("CANARY", "Vault", "secret song", aliases=["canary bird"])
    glossary.senses.add("ROD", "Locks", "rod")
    shown = (Relation("broader", "nowhere else"), Relation("related", "rod"))
    relations = (shown[0], *HIDDEN_TARGETS, shown[1])
    glossary.files.import_senses([SenseInput("PW", "Locks", "pawl", relations=relations)], "x")
    return glossary


def test_relations_are_hidden_by_any_name_of_a_sense_and_with_its_context(canary):
    asker, insider = Principal("ann"), Principal("eve", frozenset({"fab"}))
    (listed,) = (one for one in canary.terms.page(asker, initial="p")[0] if one.term == "PW")
    assert [one.term for one in listed.relations] == ["nowhere else", "rod"]
    assert len(canary.senses.get(insider, listed.id).relations) == 7
    (entry,) = canary.history.entries(asker, sense_id=listed.id)
    assert [one[1] for one in entry.after["relations"]] == ["nowhere else", "rod"]
    manager = Principal("mia", manages=frozenset({"Locks"}))
    saved = canary.senses.save(manager, listed.id, version=listed.version, notes="new")
    with pytest.raises(Conflict) as refused:
        canary.senses.save(manager, listed.id, version=listed.version, notes="late")
    for one in (saved, refused.value.current):
        assert [relation.term for relation in one.relations] == ["nowhere else", "rod"]


def test_an_export_imported_unchanged_keeps_relations_that_its_importer_may_not_see(canary):
    manager, insider = Principal("mia", manages=frozenset({"Locks"})), Principal("eve", frozenset({"fab"}))
    data = canary.files.export_file(manager, "json").encode()
    preview = canary.files.preview(manager, data, "x", "json")
    assert (preview.unchanged, preview.updated) == (2, ())
    report = canary.files.import_file(manager, data, "x", "json")
    assert (report.updated, report.unchanged) == (0, 2)
    (sense,) = (one for one in canary.senses.find(insider) if one.term == "PW")
    assert len(sense.relations) == 7
    changed = data.replace(b"nowhere else", b"elsewhere")
    ((before, after),) = canary.files.preview(manager, changed, "x", "json").updated
    assert not any("CANARY" in str(one) or "Vault" in str(one) for one in (before, after))
    canary.files.import_file(manager, changed, "x", "json")
    terms = {one.term for one in canary.senses.get(insider, sense.id).relations}
    assert terms == {"elsewhere", "rod", *(one.term for one in HIDDEN_TARGETS)}


@pytest.mark.parametrize("format", ["csv", "xlsx", "tbx", "json", "turtle", "rdfxml", "jsonld"])
def test_a_restricted_context_stays_restricted_when_its_export_is_imported_elsewhere(canary, tmp_path, format):
    data = canary.files.export_file(ADMIN, format)
    other = Glossary.open(tmp_path / "other.db")
    other.files.import_file(None, data if isinstance(data, bytes) else data.encode(), f"x.{format}", format)
    assert {one.term for one in other.senses.find(Principal("ann"))} == {"PW", "ROD"}
    assert {one.term for one in other.senses.find(Principal("eve", frozenset({"fab"})))} == {"PW", "ROD", "CANARY"}
    other.close()


# -- lists as people and wikis write them -----------------------------------------------------------------------------


def meanings_of(text, name):
    return [(one.term, one.context, one.expansion) for one in read_file(text.encode(), name, "", ReadOptions()).senses]


def test_several_meanings_in_one_cell_are_several_senses():
    text = "Acronym,Stands for,Used by\nAPC,Article Charge; or Academic Committee,Library; or Registry\n"
    text += "EC,Extenuating Case; or External Committee,Registry\nSLA,level of service; orders,IT Services\n"
    assert meanings_of(text, "x.csv") == [
        ("APC", "Library", "Article Charge"), ("APC", "Registry", "Academic Committee"),
        ("EC", "Registry", "Extenuating Case"), ("EC", "Registry", "External Committee"),
        ("SLA", "IT Services", "level of service; orders"),
    ]  # fmt: skip


def test_the_tables_of_a_page_in_markdown_are_read():
    text = (
        "# Acronyms\n\nPlease tidy | this up.\n\nAcronym | Meaning | Team\n--- | :-: | ---\n**AAP** | Accountability to"
        " `Affected` People | Aid\n~~CTP~~ | Cash Transfer Programme | Cash\n[OCA](https://x.example) | Operational"
        " Centre A \\| Amsterdam | all\n\nLast line.\n"
    )
    assert meanings_of(text, "terms.md") == [
        ("AAP", "Aid", "Accountability to Affected People"), ("CTP", "Cash", "Cash Transfer Programme"),
        ("OCA", "all", "Operational Centre A | Amsterdam"),
    ]  # fmt: skip
    _, ctp, _ = read_file(text.encode(), "terms.md", "", ReadOptions()).senses
    assert ctp.labels == (Label("CTP", "deprecated"),)
    with pytest.raises(InvalidGlossary, match="holds no table"):
        meanings_of("# Nothing\n", "terms.md")


@pytest.mark.parametrize("wrap", ['{{"glossary": {}}}', "{}"])
def test_another_programs_objects_are_read_as_rows(wrap):
    text = '[{"abbr": "ADR", "long": "Architecture Decision Record", "desc": "Page.", "aliases": ["a record"]}'
    text += ', {"abbr": "APM", "long": "Application Performance Monitoring", "desc": null, "slug": {"a": 1}}]'
    first, second = read_file(wrap.format(text).encode(), "x.json", "", ReadOptions()).senses
    assert (first.term, first.expansion, first.description) == ("ADR", "Architecture Decision Record", "Page.")
    assert first.aliases == ("a record",) and second.expansion == "Application Performance Monitoring"


def test_an_object_of_terms_and_meanings_is_a_list():
    assert meanings_of('{"PUC": "peripheral under cell", "WL": "word line"}', "x.json") == [
        ("PUC", "general", "peripheral under cell"), ("WL", "general", "word line"),
    ]  # fmt: skip


def test_a_term_without_any_meaning_is_reported_and_a_letter_between_the_terms_is_none():
    found = read_file(b"term,expansion\nA,\nPUC,\n(B-D),\nWL,word line\n", "x.csv", "", ReadOptions())
    assert [one.term for one in found.senses] == ["WL"]
    assert [notice.row for notice in found.notices] == [3]


def test_what_the_notes_say_of_a_term_without_a_meaning_is_its_description():
    (one,) = read_file(b"Abbr,Full name,Comment\nXVA,,all adjustments together\n", "x.csv", "", ReadOptions()).senses
    assert (one.term, one.description, one.notes) == ("XVA", "all adjustments together", None)


def test_a_table_of_many_columns_is_read_in_bounded_time_and_loses_no_value_in_silence():
    width = 40_000
    text = ",".join(["term", "expansion", *["c"] * width]) + "\n" + ",".join(["WL", "word line", *["x"] * width]) + "\n"
    with pytest.raises(InvalidGlossary, match="40002 values for 300 columns"):
        meanings_of(text, "x.csv")


@pytest.mark.parametrize("partial", [False, True])
def test_a_mapping_of_a_column_that_is_missing_names_it_and_those_there_are(glossary, partial):
    text = b'Abbreviation,"Meaning, long",z\nBL,bill of lading,1\n'
    options = ReadOptions(columns=parse_mapping("Abbrev=term,Meaning=expansion"), partial=partial)
    with pytest.raises(InvalidGlossary) as refused:
        glossary.files.import_file(ADMIN, text, "words.csv", options=options)
    told = str(refused.value)
    assert "it has no column 'Abbrev', 'Meaning'. Columns: 'Abbreviation', 'Meaning, long', 'z'." in told
    assert """--map 'Abbreviation=term,"Meaning, long=expansion"'""" in told
    # The example works as it stands.
    options = ReadOptions(columns=parse_mapping('Abbreviation=term,"Meaning, long=expansion"'))
    assert glossary.files.import_file(ADMIN, text, "words.csv", options=options).added == 1


def test_the_rest_of_an_import_in_part_is_whole(glossary):
    long = "x" * 1_000_000 + " the end"
    header = ["Abbreviation", "Definition", "See", "Team"]
    rows = [header, ["TPX", "test plan index", "BL", "Port"], ["BL", long, "TPX", "Port"]]
    text = "\n".join(",".join(row) for row in rows)
    done = glossary.files.import_file(ADMIN, text.encode(), "words.csv", options=ReadOptions(partial=True))
    csv.field_size_limit(10_000_000)
    (named, left) = csv.reader(io.StringIO(done.rest))
    assert (done.added, done.left_out) == (1, 1)
    assert left[:4] == rows[2]
    assert named == [*header, "place", "reason"]
    assert "1,000,008 characters" in left[5]


def test_entries_that_are_left_out_for_their_reader_or_their_name_are_whole(glossary):
    senses = [
        {"term": "am", "context": "Port", "expansion": "arrival manifest", "notes": "kept", "aliases": ["AMF"],
         "relations": [{"kind": "related", "term": "BL"}], "source": "https://example.org"},
    ]  # fmt: skip
    choices = ImportChoices("leave")
    options = ReadOptions(partial=True)
    done = glossary.files.import_file(
        ADMIN, json.dumps({"senses": senses}).encode(), "x.json", options=options, choices=choices
    )
    (left,) = csv.DictReader(io.StringIO(done.rest))
    assert (left["term"], left["notes"], left["aliases"], left["relations"], left["source"]) == (
        "am", "kept", "AMF", "related: BL", "https://example.org"
    )  # fmt: skip
    # A table without a column for a value says that it is not there.
    table = b"Abbreviation,Meaning,Team,Nicht mehr\nam,arrival manifest,Port,AMF\n"
    options = ReadOptions(partial=True, columns=parse_mapping("Nicht mehr=deprecated"))
    done = glossary.files.import_file(ADMIN, table, "x.csv", options=options, choices=choices)
    (left,) = csv.DictReader(io.StringIO(done.rest))
    assert (left["Abbreviation"], left["Meaning"], left["Team"]) == ("am", "arrival manifest", "Port")
    assert "AMF" in left.values() or "for want of a column" in left["reason"]


def test_everyday_words_that_become_drafts_are_listed_with_the_way_to_approve_them(glossary):
    text = "term,expansion\n" + "\n".join(f"{word},meaning of {word}" for word in ("it", "am", "TPX"))
    done = glossary.files.import_file(ADMIN, text.encode(), "words.csv")
    assert (done.everyday, done.everyday_count) == (("it", "am"), 2)
    assert done.notices[0].message.startswith("2 everyday words among the new names: it, am.")
    assert "argot glossary approve" in done.notices[0].message
    taken = glossary.files.import_file(
        ADMIN, b"term,expansion\nor,operating room\n", "more.csv", choices=ImportChoices("take")
    )
    assert (taken.everyday_count, taken.notices) == (0, ())


BELL = "bill\x07 of \x00lading"


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("x.csv", "term,expansion\nBL,bill\x07 of \x1flading\n"),
        ("x.tsv", "Abbreviation\tMeaning\nBL\tbill\x07 of \x1flading\n"),
        ("x.md", "| Abbreviation | Meaning |\n|---|---|\n| BL | bill\x07 of lading |\n"),
        ("x.json", json.dumps({"senses": [{"term": "BL", "expansion": BELL}]})),
        ("y.json", '[{"Abbreviation": "BL", "Meaning": "bill\x07 of lading"}]'),
        ("x.ttl", '@prefix s: <http://www.w3.org/2004/02/skos/core#> . '
         '<urn:1> a s:Concept; s:prefLabel "bill\\u0007 of lading"; s:altLabel "BL" .'),
        ("x.tbx", '<tbx type="TBX-Basic" style="dca" xml:lang="en" xmlns="urn:iso:std:iso:30042:ed-2"><text><body>'
         '<conceptEntry id="c1"><langSec xml:lang="en"><termSec><term>bill\x07 of &#x1F;lading</term></termSec>'
         '<termSec><term>BL</term><termNote type="termType">abbreviation</termNote></termSec></langSec>'
         "</conceptEntry></body></text></tbx>"),
    ],
)  # fmt: skip
def test_control_characters_are_taken_out_and_told_in_every_format(glossary, name, data):
    done = glossary.files.import_file(ADMIN, data.encode(), name, options=ReadOptions(context="Port"))
    (sense,) = glossary.senses.find(ADMIN)
    assert (sense.term, sense.expansion) == ("BL", "bill of lading")
    assert any("taken out" in one.message for one in done.notices)
    assert not [char for char in repr(sense) if ord(char) < 32]


def test_control_characters_in_a_workbook_are_taken_out(glossary):
    book = Workbook()
    book.active.append(["Abbreviation", "Meaning"])
    book.active.append(["BL", "bill_x0007_ of lading"])
    written = io.BytesIO()
    book.save(written)
    done = glossary.files.import_file(ADMIN, written.getvalue(), "x.xlsx")
    assert [one.expansion for one in glossary.senses.find(ADMIN)] == ["bill of lading"]
    assert any("U+0007" in one.message and one.place == "row 2, column expansion" for one in done.notices)


@pytest.mark.parametrize("blank", [" ", "\t", "\u00a0", "\u2003", "\ufeff", "\u200b", "  \n"])
def test_white_space_makes_no_second_sense(glossary, blank):
    inner = blank if blank.isspace() else " "
    given = [
        {"term": f"{edge}BL", "context": f"Port{edge}", "expansion": f"{edge}bill of{space}lading",
         "description": "A paper.", "aliases": [f"{edge}B of{space}L"]}
        for edge, space in (("", " "), (blank, inner))
    ]  # fmt: skip
    for one in given:
        glossary.files.import_file(ADMIN, json.dumps({"senses": [one]}).encode(), "x.json")
    glossary.senses.add(f"{blank}BL", "Port", f"{blank}bill of{inner}lading", "A paper.", aliases=[f"{blank}B of L"])
    (sense,) = glossary.senses.find(ADMIN)
    assert (sense.version, sense.context, sense.description) == (1, "Port", "A paper.")
    assert (sense.term, sense.expansion, sense.aliases) == ("BL", "bill of lading", ("B of L",))


def test_a_preview_names_new_drafts_and_terms_with_several_meanings_in_one_context(glossary):
    glossary.files.import_file(ADMIN, b"term,context,expansion\nTPX,Port,test plan index\n", "x.csv")
    rows = ["TPX,Port,tide prediction index", "it,Port,information thing", "BL,Port,bill of lading", "BL,Law,by law"]
    seen = glossary.files.preview(ADMIN, "\n".join(["term,context,expansion", *rows]).encode(), "y.csv")
    assert (seen.drafts, seen.conflicting) == (("it",), ("TPX (Port)",))


def test_a_preview_does_not_reveal_that_a_restricted_sense_has_the_same_term(glossary):
    stored = b"term,context,expansion,audience\nTPX,Port,test plan index,hr\nZZ,Port,zone zero,\n"
    glossary.files.import_file(ADMIN, stored, "x.csv")
    text = b"term,context,expansion\nTPX,Port,tide prediction index\nZZ,Port,zinc zone\n"
    manager = Principal("max", manages=frozenset({"Port"}))
    assert glossary.files.preview(manager, text, "y.csv").conflicting == ("ZZ (Port)",)
    assert glossary.files.preview(ADMIN, text, "y.csv").conflicting == ("TPX (Port)", "ZZ (Port)")
