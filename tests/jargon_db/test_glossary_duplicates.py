"""The same sense several times in one file: no part of it is lost silently."""

import pytest

from argot.errors import InvalidGlossary
from argot.jargon_db import ReadOptions
from argot.jargon_db.formats.format_registry import read_file
from argot.types import Principal

EVERYBODY = Principal("admin", sees_all=True)
PREFIX = "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n@prefix ex: <http://example.org/> .\n"


def problems(text, name):
    with pytest.raises(InvalidGlossary) as caught:
        read_file(text.encode(), name, "", ReadOptions(context="x"))
    return [(problem.place, problem.message) for problem in caught.value.problems]


def test_contradicting_rows_are_both_named_and_nothing_is_stored(glossary):
    text = "term,context,expansion,description,owner\nPUC,NAND,under,one,eve\nA,x,alpha,,\nPUC, nand ,under,two,eve\n"
    assert problems(text, "x.csv") == [
        ("row 4, column description", "the same sense says 'two' here and 'one' in row 2; keep one of the two")
    ]
    with pytest.raises(InvalidGlossary, match=r"row 4, column description.*row 2"):
        glossary.files.import_csv(text)
    with pytest.raises(InvalidGlossary):
        glossary.files.import_file(None, text.encode(), "x.csv")
    assert glossary.senses.find(EVERYBODY) == []


def test_a_preview_names_contradicting_rows(glossary):
    found = glossary.files.preview(EVERYBODY, b"term,expansion,notes\nA,alpha,one\nA,alpha,\n", "x.csv")
    (one,) = found.problems
    assert (one.place, one.message.startswith("the same sense says nothing here and 'one' in row 2")) == (
        "row 3, column notes",
        True,
    )
    assert found.added == ()


def test_identical_rows_are_one_sense_in_the_preview_and_the_import(glossary):
    text = b"term,expansion,aliases\nA,alpha,a1|a2\n A ,alpha,a2| a1\nA,alpha,a1|a2\n"
    assert len(glossary.files.preview(EVERYBODY, text, "x.csv").added) == 1
    report = glossary.files.import_file(None, text, "x.csv")
    assert (report.added, report.updated, report.unchanged) == (1, 0, 0)


def test_json_entries_of_one_sense_may_complete_but_not_contradict():
    one, other = '{"term": "A", "expansion": "alpha", "description": "d"}', '{"term": "A", "expansion": "alpha", '
    read = read_file(f'[{one}, {other}"notes": "n"}}]'.encode(), "x.json", "", ReadOptions())
    assert [(sense.description, sense.notes) for sense in read.senses] == [("d", None), (None, "n")]
    assert problems(f'[{one}, {other}"description": "e"}}]', "x.json") == [
        (
            "sense 2 ('A'), field description",
            "the same sense says 'e' here and 'd' in sense 1 ('A'); keep one of the two",
        )
    ]


def test_json_entries_of_one_context_may_complete_but_not_contradict():
    def file(more):
        return '{"contexts": [{"name": "NAND", "contact": "nina"}, {"name": "nand", ' + more + '}], "senses": []}'

    (one,) = read_file(file('"description": "cells"').encode(), "x.json", "", ReadOptions()).contexts
    assert (one.name, one.contact, one.description) == ("NAND", "nina", "cells")
    assert problems(file('"contact": "ned"'), "x.json") == [
        (
            "context 2 ('nand'), field contact",
            "the same context says 'ned' here and 'nina' in context 1 ('NAND'); keep one of the two",
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


def test_two_concepts_of_one_name_with_two_owners_are_refused():
    from argot.jargon_db.formats.skos_words import OURS

    text = PREFIX + "".join(
        f'ex:{name} a skos:Concept ; skos:prefLabel "bank" ; <{OURS}owner> "{name}" .\n' for name in ("eve", "ned")
    )
    assert problems(text, "x.ttl") == [
        (
            "concept http://example.org/ned, field owner",
            "the same sense says 'ned' here and 'eve' in concept http://example.org/eve; keep one of the two",
        )
    ]
