"""The same sense several times in one file: no part of it is lost silently."""

from argot.jargon_db import ReadOptions
from argot.jargon_db.formats.format_registry import read_file
from argot.types import Principal

EVERYBODY = Principal("admin", sees_all=True)
PREFIX = "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n@prefix ex: <http://example.org/> .\n"


def read(text, name):
    found = read_file(text.encode(), name, "", ReadOptions(context="x"))
    return found, [(notice.place, notice.message) for notice in found.notices]


def test_of_contradicting_rows_the_first_is_kept_and_texts_are_joined(glossary):
    text = "term,context,expansion,description,owner\nPUC,NAND,under,one,eve\nA,x,alpha,,\nPUC, nand ,Under,two,ned\n"
    _, notices = read(text, "x.csv")
    assert notices == [("row 4, column owner", "the same sense says 'ned' here and 'eve' in row 2, which is kept")]
    assert glossary.files.import_file(None, text.encode(), "x.csv").added == 2
    (sense,) = glossary.senses.find(EVERYBODY, context="NAND")
    assert (sense.expansion, sense.description, sense.owner) == ("under", "one\n\ntwo", "eve")


def test_a_term_that_is_defined_in_two_ways_has_two_senses(glossary):
    text = "term,description\ncell,a room of a jail\nCell,\ncell,a part of a battery\ncell,A room of a jail\n"
    preview = glossary.files.preview(EVERYBODY, text.encode(), "x.csv")
    assert [(one.expansion, one.description) for one in preview.added] == [
        ("", "a room of a jail\n\nA room of a jail"),
        ("a part of a battery", "a part of a battery"),
    ]
    assert [notice.place for notice in preview.notices] == ["row 3", "row 4"]
    assert glossary.files.import_file(None, text.encode(), "x.csv").added == 2
    assert glossary.files.import_file(None, text.encode(), "x.csv").unchanged == 2


def test_identical_rows_are_one_sense_in_the_preview_and_the_import(glossary):
    text = b"term,expansion,aliases\nA,alpha,a1|a2\n A ,alpha,a2| a1\nA,alpha,a1|a2\n"
    assert len(glossary.files.preview(EVERYBODY, text, "x.csv").added) == 1
    report = glossary.files.import_file(None, text, "x.csv")
    assert (report.added, report.updated, report.unchanged) == (1, 0, 0)


def test_json_entries_of_one_sense_complete_each_other():
    one, other = '{"term": "A", "expansion": "alpha", "description": "d"}', '{"term": "A", "expansion": "alpha", '
    found, _ = read(f'[{one}, {other}"notes": "n", "description": "e"}}]', "x.json")
    assert [(sense.description, sense.notes) for sense in found.senses] == [("d\n\ne", "n")]


def test_json_entries_of_one_context_complete_each_other():
    def file(more):
        return '{"contexts": [{"name": "NAND", "contact": "nina"}, {"name": "nand", ' + more + '}], "senses": []}'

    (one,) = read_file(file('"description": "cells"').encode(), "x.json", "", ReadOptions()).contexts
    assert (one.name, one.contact, one.description) == ("NAND", "nina", "cells")
    assert read(file('"contact": "ned"'), "x.json")[1] == [
        (
            "context 2 ('nand'), field contact",
            "the same context says 'ned' here and 'nina' in context 1 ('NAND'), which is kept",
        )
    ]


def test_two_concepts_of_one_name_become_one_sense_with_all_texts(glossary):
    """Check that homographs, which thesauri contain, are merged instead of refused."""
    text = PREFIX + (
        'ex:1 a skos:Concept ; skos:prefLabel "bank" ; skos:definition "of money" ; skos:altLabel "house" .\n'
        'ex:2 a skos:Concept ; skos:prefLabel "bank" ; skos:definition "of a river" ; skos:altLabel "shore" .\n'
    )
    report = glossary.files.import_file(None, text.encode(), "x.ttl", options=ReadOptions(context="x"))
    assert report.added == 1
    (sense,) = glossary.senses.find(EVERYBODY)
    assert (sense.description, set(sense.aliases)) == ("of money\n\nof a river", {"house", "shore"})


def test_of_two_owners_of_one_concept_the_first_is_kept():
    from argot.jargon_db.formats.skos_words import OURS

    text = PREFIX + "".join(
        f'ex:{name} a skos:Concept ; skos:prefLabel "bank" ; <{OURS}owner> "{name}" .\n' for name in ("eve", "ned")
    )
    assert read(text, "x.ttl")[1] == [
        (
            "concept http://example.org/ned, field owner",
            "the same sense says 'ned' here and 'eve' in concept http://example.org/eve, which is kept",
        )
    ]
