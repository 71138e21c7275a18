"""Glossary files: round trips, files of other programs, and hostile files."""

import io
import json
import socket
import zipfile
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from argot.errors import InvalidGlossary, InvalidInput, NotAllowed
from argot.jargon_db import Glossary, ReadOptions
from argot.jargon_db.formats.format_registry import FORMATS, choose_written_format, detect_format, read_file
from argot.jargon_db.store.inputs import clean_name
from argot.types import Principal, Relation

EVERYBODY = Principal("admin", sees_all=True)
WITH_EVERYTHING = ("json", "turtle", "rdfxml", "jsonld")
SKOS = ("turtle", "rdfxml", "jsonld")
PREFIX = "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n@prefix ex: <http://example.org/> .\n"
RDF = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:skos="http://www.w3.org/2004/02/skos/core#">'
CONCEPT = '<skos:Concept rdf:about="http://example.org/1"><skos:prefLabel>{}</skos:prefLabel></skos:Concept></rdf:RDF>'


@pytest.fixture
def full(glossary):
    glossary.contexts.add("NAND", "cells & layout", "nina@example.com")
    glossary.contexts.add("Legal", audience=frozenset({"legal"}))
    glossary.senses.add(
        "PUC", "NAND", "peripheral under cell", 'says "under"\nthe <b>array</b> \\ \x01',
        notes="a note\r\n\twith breaks",
        aliases=("P.U.C.", "PUC", "peripheral under cell", "a|b\\"), owner="eve", status="draft",
        audience=frozenset({"hr", "@ann"}), review_by="2027-01-31",
    )  # fmt: skip
    glossary.senses.add("PUC", "Legal", "Public Utilities Commission", status="retired")
    glossary.senses.add("C++", "general", "C++")
    glossary.senses.add("مصطلح", "general", "\u202eright to left 🎉")
    return glossary


def told(glossary, principal=EVERYBODY):
    senses = [
        replace(one, id=0, version=0, aliases=tuple(sorted(one.aliases))) for one in glossary.senses.find(principal)
    ]
    contexts = [replace(one, id=0) for one in glossary.contexts.all(principal)]
    return sorted(senses, key=str), contexts


IN_X = ReadOptions(context="x")


def problems(text, name, options=IN_X, format=""):
    data = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(InvalidGlossary) as caught:
        read_file(data, name, format, options)
    return str(caught.value)


def senses(text, name, **options):
    read = read_file(text.encode(), name, "", ReadOptions(**options))
    return [(one.term, one.context, one.expansion, one.aliases) for one in read.senses]


# -- round trips ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", WITH_EVERYTHING)
def test_an_exported_file_restores_the_whole_glossary(full, tmp_path, format):
    file = full.files.export_file(EVERYBODY, format).encode()
    other = Glossary.open(tmp_path / "other.db")
    report = other.files.import_file(None, file, f"terms.{format}", format)
    assert (report.added, report.updated, report.ignored) == (4, 0, {})
    expected, contexts = told(full)
    # Control characters are taken out by every format.
    expected = [replace(one, description=one.description.replace("\x01", "")) for one in expected]
    assert told(other) == (sorted(expected, key=str), contexts)
    assert other.files.import_file(None, file, f"terms.{format}", format).change is None
    assert other.files.preview(EVERYBODY, file, "x", format).unchanged == 4
    other.close()


@pytest.mark.parametrize("format", WITH_EVERYTHING)
def test_the_format_of_an_export_is_detected_by_name_and_by_content(full, format):
    file = full.files.export_file(EVERYBODY, format).encode()
    suffix = next(one.suffixes[0] for one in FORMATS if one.name == format)
    assert detect_format(f"TERMS{suffix.upper()}", file) == detect_format("standard input", file) == format
    assert detect_format("terms.txt", file) == format


def test_the_suffix_json_may_hold_json_ld(full):
    assert detect_format("terms.json", full.files.export_file(EVERYBODY, "jsonld").encode()) == "jsonld"


def test_csv_is_the_fallback_format():
    assert detect_format("-", b"term,expansion\nA,alpha\n") == detect_format("terms.csv", b"{}") == "csv"


@pytest.mark.parametrize("format", [one.name for one in FORMATS])
def test_an_export_holds_only_readable_senses(full, format):
    file = full.files.export_file(Principal("bob"), format)
    if isinstance(file, bytes):
        with zipfile.ZipFile(io.BytesIO(file)) as book:
            file = "".join(book.read(name).decode() for name in book.namelist())
    assert "C++" in file
    assert "peripheral" not in file
    assert "Legal" not in file


@pytest.mark.parametrize("format", SKOS)
def test_rdflib_reads_an_exported_thesaurus(full, format):
    """Check with rdflib's own graph that every concept has one label and one scheme."""
    from rdflib import RDF as RDF_TYPES
    from rdflib import SKOS as WORDS
    from rdflib import Graph, Literal

    graph = Graph().parse(
        data=full.files.export_file(EVERYBODY, format),
        format={"rdfxml": "xml", "jsonld": "json-ld"}.get(format, format),
    )
    concepts = list(graph.subjects(RDF_TYPES.type, WORDS.Concept))
    assert len(concepts) == 4
    for concept in concepts:
        assert len(list(graph.objects(concept, WORDS.prefLabel))) == 1
        scheme = graph.value(concept, WORDS.inScheme)
        assert (scheme, RDF_TYPES.type, WORDS.ConceptScheme) in graph
        preferred = set(graph.objects(concept, WORDS.prefLabel))
        assert not preferred & set(graph.objects(concept, WORDS.altLabel))  # S13 of the SKOS reference
    found = graph.value(predicate=WORDS.prefLabel, object=Literal("peripheral under cell"))
    assert Literal("PUC") in set(graph.objects(found, WORDS.altLabel))


# Any characters but lone surrogates; terms that can be stored have a visible character.
ANY = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
SEEN = st.builds("{}{}".format, st.sampled_from("aΩ文ب"), ANY).map(str.strip)
STRANGE = st.sampled_from(
    [
        "C++",
        "%",
        "'; DROP TABLE senses; --",
        '"',
        "é",
        "e\u0301",
        "ＰＵＣ",
        "a\u200bb",
        "مصطلح",
        "🎉",
        "\u202ex",
        "<b>&",
    ]
)
TERM = st.one_of(SEEN, STRANGE)


CONTROL = frozenset(map(chr, (*range(32), *range(127, 160)))) - frozenset("\t\n\r")
"""What no import keeps."""
NO_XML = frozenset("\ufffe\uffff")
"""What XML cannot hold, beside these."""


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(
    rows=st.lists(st.tuples(TERM, TERM, TERM, ANY, ANY, st.lists(TERM, max_size=3)), min_size=1, max_size=4),
    # A workbook is read in a process of its own, which takes too long for many examples.
    format=st.sampled_from([one.name for one in FORMATS if not one.is_binary]),
)
@example(rows=[("0", "g", "a\rb", "\r", "x\r\ny", ["a\rb"])], format="csv")
@example(rows=[("a", "g", "b", "c", "0 \0", [])], format="csv")
@example(rows=[("a\0", "g", "=\0b", "\0=1", "'\0@", ["\0-a"])], format="csv")
def test_any_text_survives_every_format(tmp_path_factory, rows, format):
    folder = tmp_path_factory.mktemp("any")
    first, second = Glossary.open(folder / "first.db"), Glossary.open(folder / "second.db")
    for term, context, expansion, description, notes, aliases in rows:
        first.senses.add(term, context, expansion, description.strip(), notes=notes.strip(), aliases=aliases)
    expected, _ = told(first)
    cannot = CONTROL | (NO_XML if format in ("rdfxml", "tbx") else frozenset())
    expected = sorted((_without(one, cannot) for one in expected), key=str)
    # Names that consist of control characters, or differ only in them, are other cases.
    names = {(one.term, one.context, one.expansion.casefold()) for one in expected}
    assume(len(names) == len(expected) and all(map(all, names)))
    second.files.import_file(None, first.files.export_file(EVERYBODY, format).encode(), "x", format)
    # Some formats keep a blank before a control character that is left out, others strip it.
    assert sorted((_without(one, frozenset()) for one in told(second)[0]), key=str) == expected
    first.close()
    second.close()


def _without(sense, cannot):
    def kept(text):
        return "".join(c for c in text if c not in cannot)

    def kept_name(text):
        return clean_name(kept(text))

    aliases = tuple(sorted(dict.fromkeys(filter(None, map(kept_name, sense.aliases)))))
    texts = {name: kept_name(getattr(sense, name)) for name in ("term", "context", "expansion")}
    more = {name: kept(getattr(sense, name)).strip() for name in ("description", "notes")}
    return replace(sense, **texts, **more, aliases=aliases)


# -- files from elsewhere ---------------------------------------------------------------------------------------------


def test_a_thesaurus_in_two_languages_is_read_in_the_chosen_one():
    text = PREFIX + (
        'ex:s a skos:ConceptScheme ; skos:prefLabel "Chips"@en, "Bausteine"@de .\n'
        'ex:1 a skos:Concept ; skos:inScheme ex:s ; skos:prefLabel "word line"@en, "Wortleitung"@de ;\n'
        '  skos:altLabel "WL"@en, "Zeilenleitung"@de ; skos:definition "connects gates"@en, "verbindet"@de ;\n'
        '  skos:scopeNote "of a page" ; skos:broader ex:2 ; skos:exactMatch ex:9 .\n'
        'ex:2 a skos:Concept ; skos:topConceptOf ex:s ; skos:prefLabel "line"@en ; skos:narrower ex:1 .\n'
    )
    read = read_file(text.encode(), "thesaurus.ttl", "", ReadOptions())
    first, second = read.senses
    assert (first.term, first.context, first.expansion, first.description, first.notes) == (
        "WL", "Chips", "word line", "connects gates", "of a page",
    )  # fmt: skip
    assert first.aliases == ("Wortleitung", "Zeilenleitung")
    assert (second.term, second.expansion, second.aliases) == ("line", "line", None)
    assert read.ignored == {"skos:exactMatch": 1}
    assert (first.relations, second.relations) == ((Relation("broader", "line"),), (Relation("narrower", "WL"),))
    german = read_file(text.encode(), "thesaurus.ttl", "", ReadOptions(language="de")).senses[0]
    assert (german.context, german.expansion, german.description) == ("Bausteine", "Wortleitung", "verbindet")


@pytest.mark.parametrize(
    ("preferred", "other", "term", "expansion"),
    [
        ("peripheral under cell", "PUC", "PUC", "peripheral under cell"),
        ("PUC", "peripheral under cell", "PUC", "peripheral under cell"),
        ("word lines", "WLs", "WLs", "word lines"),
        ("animals", "fauna", "animals", "animals"),
        ("Cat", "feline", "Cat", "Cat"),
        ("car", "XYZ", "car", "car"),
    ],
)
def test_the_short_label_is_the_term(preferred, other, term, expansion):
    text = PREFIX + f'ex:1 a skos:Concept ; skos:prefLabel "{preferred}" ; skos:altLabel "{other}" .'
    [(found, _, meaning, _)] = senses(text, "x.ttl", context="c")
    assert (found, meaning) == (term, expansion)


def test_a_concept_without_a_scheme_needs_a_context():
    text = PREFIX + 'ex:1 a skos:Concept ; skos:prefLabel "animals" .'
    assert "http://example.org/1" in (said := problems(text, "x.ttl", ReadOptions()))
    assert "for which the file names none" in said
    assert senses(text, "x.ttl", context="Zoo") == [("animals", "Zoo", "animals", None)]


def test_each_scheme_of_a_concept_gives_a_sense_named_by_label_or_address():
    text = PREFIX + 'ex:1 a skos:Concept ; skos:prefLabel "a" ; skos:inScheme ex:first, <http://example.org/two%20b> .'
    assert [one[1] for one in senses(text, "x.ttl")] == ["first", "two b"]


def test_skos_xl_labels_and_resource_notes_are_read():
    text = PREFIX + (
        "@prefix xl: <http://www.w3.org/2008/05/skos-xl#> .\n"
        "@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .\n"
        'ex:1 a skos:Concept ; xl:prefLabel [ xl:literalForm "maize"@en ] ;\n'
        '  xl:altLabel [ xl:literalForm "corn"@en ] ;\n'
        '  skos:definition [ rdf:value "a cereal"@en ] .\n'
    )
    [read] = read_file(text.encode(), "x.ttl", "", ReadOptions(context="food")).senses
    assert (read.term, read.aliases, read.description) == ("maize", ("corn",), "a cereal")


def test_a_deprecated_concept_is_imported_as_retired():
    text = PREFIX + 'ex:1 a skos:Concept ; skos:prefLabel "a" ; <http://www.w3.org/2002/07/owl#deprecated> true .'
    assert read_file(text.encode(), "x.ttl", "", ReadOptions(context="c")).senses[0].status == "retired"


def test_json_ld_with_an_embedded_context_is_read():
    node = {"@id": "http://e.org/1", "@type": "Concept", "prefLabel": {"en": "maize", "fr": "maïs"}}
    context = {"@vocab": "http://www.w3.org/2004/02/skos/core#", "prefLabel": {"@container": "@language"}}
    text = json.dumps({"@context": [context], "@graph": [node]})
    assert senses(text, "x.json", context="food") == [("maize", "food", "maize", ("maïs",))]


def test_json_may_be_a_bare_list_of_senses():
    text = '[{"term": "WL", "expansion": "word line"}]'
    assert senses(text, "x.json") == [("WL", "general", "word line", None)]
    assert senses(text, "x.json", context="NAND")[0][1] == "NAND"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("format", WITH_EVERYTHING)
def test_a_file_in_any_unicode_encoding_is_read(full, format, encoding):
    text = full.files.export_file(EVERYBODY, format).replace('encoding="UTF-8"', "")
    assert len(read_file(text.encode(encoding), "x", format, ReadOptions()).senses) == 4


def test_the_encoding_declared_in_xml_is_used():
    text = '<?xml version="1.0" encoding="ISO-8859-1"?>' + RDF + CONCEPT.format("Größe")
    read = read_file(text.encode("latin-1"), "x.rdf", "", ReadOptions(context="c"))
    assert read.senses[0].term == "Größe"


# -- what is said and what is not -------------------------------------------------------------------------------------


def test_a_missing_field_keeps_its_value_and_an_empty_one_clears_it(full):
    one = {"term": "PUC", "context": "nand", "expansion": "peripheral under cell"}
    assert full.files.import_file(None, json.dumps([one]).encode(), "x.json").change is None
    emptied = {**one, "notes": "", "aliases": [], "review_by": None, "audience": []}
    report = full.files.import_file(None, json.dumps([emptied]).encode(), "x.json", why="tidying")
    assert report.updated == 1
    [sense] = full.senses.find(EVERYBODY, context="NAND")
    assert (sense.notes, sense.aliases, sense.review_by, sense.audience) == ("", (), None, frozenset())
    assert (sense.owner, sense.status) == ("eve", "draft")
    [change] = full.history.changes(EVERYBODY, limit=1)
    assert (change.why, change.name, change.kind) == ("tidying", "x.json", "import")


def test_contexts_are_imported_and_rolled_back_with_their_senses(glossary):
    file = {"contexts": [{"name": "NAND", "contact": "n@example.com"}], "senses": [{"term": "A", "expansion": "b"}]}
    report = glossary.files.import_file(None, json.dumps(file).encode(), "x.json")
    assert report.contexts_added == ("NAND", "general")
    assert {one.name: one.contact for one in glossary.contexts.all(EVERYBODY)} == {
        "NAND": "n@example.com",
        "general": "",
    }
    glossary.history.roll_back(EVERYBODY, report.change, why="by mistake")
    assert glossary.contexts.all(EVERYBODY) == []


# -- the preview ------------------------------------------------------------------------------------------------------

MIXED = json.dumps(
    {
        "contexts": [{"name": "NAND", "contact": "new@example.com"}],
        "senses": [
            {"term": "PUC", "context": "NAND", "expansion": "peripheral under cell", "notes": "other"},
            {"term": "C++", "expansion": "C++"},
            {"term": "NEW", "context": "fresh", "expansion": "something new"},
            {"term": "NEW", "context": "fresh", "expansion": "something new", "notes": "twice"},
        ],
    }
).encode()


def test_a_preview_equals_the_import_that_follows(full):
    before = told(full)
    preview = full.files.preview(EVERYBODY, MIXED, "x.json")
    assert told(full) == before
    assert [(one.term, one.notes) for one in preview.added] == [("NEW", "twice")]
    [(was, now)] = preview.updated
    assert (was.notes, now.notes) == ("a note\r\n\twith breaks", "other")
    assert (preview.unchanged, preview.problems, preview.contexts_added) == (1, (), ("fresh",))
    assert [(was.contact, now.contact) for was, now in preview.contexts_updated] == [
        ("nina@example.com", "new@example.com")
    ]
    report = full.files.import_file(None, MIXED, "x.json")
    assert (report.added, report.updated, report.unchanged) == (1, 1, 1)
    assert now in [replace(one, version=now.version) for one in full.senses.find(EVERYBODY)]


def test_a_preview_names_senses_that_the_import_would_refuse(full):
    manager = Principal("max", groups=frozenset({"managers"}))
    hidden = b'[{"term": "PUC", "context": "Legal", "expansion": "Public Utilities Commission"}]'
    guarded = b'[{"term": "PUC", "context": "NAND", "expansion": "peripheral under cell"}]'
    for file in (hidden, guarded):
        [problem] = full.files.preview(manager, file, "x.json").problems
        assert "cannot be used here" in problem.message or "cannot be given" in problem.message
        with pytest.raises(NotAllowed):
            full.files.import_file(manager, file, "x.json")
    of_one = Principal("nina", manages=frozenset({"NAND"}))
    [problem] = full.files.preview(of_one, b'[{"term": "A", "context": "new", "expansion": "b"}]', "x.json").problems
    [other] = full.files.preview(of_one, hidden, "x.json").problems
    assert problem.message.replace("new", "Legal") == other.message


# -- bad files --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"senses": [', "line 1"),
        ('[{"term": "A",\n "term": "B", "expansion": "c"}]', "'term' stands twice"),
        ("[" * 100_000, "too deeply"),
        ("{}", 'no "senses"'),
        ("3", 'no "senses"'),
        ('{"senses": {}}', "give a list"),
        ('{"senses": [3]}', "sense 1"),
        ('{"senses": [], "terms": []}', "unknown part 'terms'"),
        ('{"format": "other", "senses": []}', '"other"'),
        ('{"version": 2, "senses": []}', "newer Argot"),
        ('{"version": true, "senses": []}', "counts from 1"),
        ('{"senses": [], "contexts": [{}]}', "context 1, field name"),
        ('{"senses": [], "contexts": [{"name": " "}]}', "context 1"),
        ('[{"term": "A", "expansion": "b"}, {"term": "B"}]', "sense 2 ('B'), field expansion"),
        ('{"senses": [{"term": "A", "expansion": "b", "meaning": ""}]}', "unknown field 'meaning'"),
        ('[{"term": "A", "expansion": NaN}]', "NaN"),
        ('[{"term": "A", "expansion": 1}]', "field expansion: it is 1"),
        ('[{"term": "A", "expansion": "b", "aliases": "c"}]', "field aliases"),
        ('[{"term": "A", "expansion": "b", "aliases": [1]}]', "field aliases"),
        ('[{"term": "A", "expansion": "b", "status": "odd"}]', "Statuses: draft, approved, retired"),
        ('[{"term": "A", "expansion": "b", "review_by": "soon"}]', "2027-01-31"),
        ('[{"term": "A\\ud800", "expansion": "b"}]', "surrogate"),
        ('[{"term": "A", "expansion": "b", "aliases": ["\\ud800"]}]', "surrogate"),
        ('[{"term": "' + "x" * 201 + '", "expansion": "b"}]', "201 characters"),
        ("[1" + "0" * 10_000 + "]", "digits"),
    ],
)
def test_invalid_json_is_refused_with_place_and_reason(text, said):
    assert said in problems(text, "x.json")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("x.ttl", PREFIX + 'ex:1 a skos:Concept ;\n skos:prefLabel "open .', "line 4"),
        ("x.ttl", PREFIX + "nope:1 a skos:Concept .", "line 3"),
        ("x.ttl", PREFIX + "ex:1 a skos:Concept .", "http://example.org/1, field prefLabel"),
        ("x.ttl", PREFIX + "ex:1 ex:is ex:2 .", "no skos:Concept"),
        ("x.ttl", "", "no skos:Concept"),
        ("x.ttl", PREFIX + f'ex:1 a skos:Concept ; skos:prefLabel "{"x" * 300}" .', "300 characters"),
        ("x.ttl", PREFIX + "ex:1 ex:is " + "[ ex:is " * 50_000, "too deeply"),
        ("x.ttl", PREFIX + 'ex:1 a skos:Concept ; skos:prefLabel "a\\ud800b" .', "surrogate"),
        ("x.rdf", RDF + "<skos:Concept>", "line 1"),
        ("x.rdf", "<html><body>no</body></html>", "no skos:Concept"),
        ("x.rdf", RDF + "<skos:Concept>" * 1000, "nested"),
        ("x.rdf", RDF + CONCEPT.format("&nbsp;"), "undefined entity"),
        ("x.jsonld", '{"@graph": ', "line 1"),
        ("x.jsonld", '{"@context": {"a": {"@id": 3}}, "a": 1}', "no"),
        ("x.jsonld", json.dumps({"@graph": []}).replace("[]", "[" * 100 + "]" * 100), "nested"),
    ],
)
def test_an_invalid_thesaurus_is_refused_with_place_and_reason(name, text, said):
    assert said in problems(text, name)


@pytest.mark.parametrize("name", ["x.json", "x.ttl", "x.jsonld"])
def test_a_wrong_encoding_is_reported_with_its_line(name):
    assert "line 2" in (said := problems(b"\n\xe9\xff", name))
    assert "UTF-8" in said


@pytest.mark.parametrize("one", FORMATS, ids=lambda one: one.name)
def test_a_file_above_the_size_limit_is_not_parsed(one):
    said = problems(b"x" * 2_000_000, f"x{one.suffixes[0]}", ReadOptions(max_bytes=1_000_000))
    assert "1.9 MiB" in said
    assert "max_glossary_mb" in said


def test_an_unknown_format_is_refused_with_the_known_ones(glossary):
    with pytest.raises(InvalidInput, match=r"'xls'.*csv, tsv, xlsx, .*json, turtle, rdfxml, jsonld"):
        glossary.files.preview(EVERYBODY, b"", "x", "xls")


@pytest.mark.parametrize("name", ["x.foo", "terms.xls", "a.csv.bak", "X.PDF"])
def test_an_unknown_file_suffix_is_refused_with_the_known_ones(glossary, name):
    for taken in (
        lambda: choose_written_format(name),
        lambda: glossary.files.import_file(None, b"term,expansion\nA,alpha\n", name),
        lambda: glossary.files.preview(EVERYBODY, b"term,expansion\nA,alpha\n", name),
    ):
        with pytest.raises(InvalidInput, match=r"(?i)ends in '\.\w+'.*\.csv.*\.ttl.*\.jsonld.*format"):
            taken()
    assert glossary.files.import_file(None, b"term,expansion\nA,alpha\n", name, "csv").added == 1


def test_a_name_without_a_suffix_leaves_the_format_to_the_content():
    for name in ("terms", "terms 1.2", "Dr. Who's terms", "-", "standard input", "v2.0.1"):
        assert detect_format(name, b'{"senses": []}') == "json"
        assert choose_written_format(name) == "csv"


def test_the_suffix_selects_the_written_format():
    assert [choose_written_format(name) for name in ("x.CSV", "x.tsv", "x.json", "x.ttl", "x.xml", "x.jsonld")] == [
        "csv", "tsv", "json", "turtle", "rdfxml", "jsonld",
    ]  # fmt: skip
    for name in ("x.md", "x.nt"):  # read, but what would be written is another form of it
        with pytest.raises(InvalidInput, match=r"\.csv.*\.ttl"):
            choose_written_format(name)


BOMB = "".join(f'<!ENTITY x{i} "{f"&x{i - 1};" * 10 if i else "lol"}">' for i in range(10))


@pytest.mark.parametrize(
    "declared",
    [f"[{BOMB}]", '[<!ENTITY x9 SYSTEM "{file}">]', 'SYSTEM "{url}"', '[<!ENTITY % p SYSTEM "{url}"> %p;]', ""],
    ids=["billion laughs", "file", "dtd", "parameter entity", "empty"],
)
def test_xml_with_a_document_type_is_refused_without_reading_files(tmp_path, listener, declared):
    canary = tmp_path / "canary.txt"
    canary.write_text("CANARY")
    told = declared.replace("{file}", canary.as_uri()).replace("{url}", listener.url)
    said = problems(f"<!DOCTYPE rdf:RDF {told}>" + RDF + CONCEPT.format("&x9;"), "x.rdf")
    assert "DOCTYPE" in said
    assert "CANARY" not in said
    assert listener.connections() == 0


@pytest.mark.parametrize(
    "shape",
    [
        '{"@context": "URL", "@graph": []}',
        '{"@context": [{"a": "b:c"}, ["URL"]], "@graph": []}',
        '{"@context": {"@import": "URL"}, "@graph": []}',
        '{"@graph": [{"@id": "a:b", "x": {"@context": "URL"}}]}',
        '{"@context": {"a": {"@id": "b:c", "@context": "URL"}}, "a": {}}',
        '[{"\\u0040context": "URL"}]',
    ],
)
def test_json_ld_with_a_remote_context_is_refused_without_fetching(listener, shape):
    assert "nothing is fetched" in problems(shape.replace("URL", listener.url), "x.jsonld")
    assert listener.connections() == 0


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.ttl", PREFIX + "<URL> <http://www.w3.org/2002/07/owl#imports> <URL> .\n"
         "ex:1 skos:prefLabel 'a'; skos:inScheme <URL> ."),
        ("x.ttl", "@base <URL> .\n" + PREFIX + "<a> a skos:Concept ; skos:prefLabel 'a' ."),
        ("x.rdf", RDF.replace(">", ' xml:base="URL">') + CONCEPT.format("a")),
        ("x.jsonld", '{"@context": {"@base": "URL", "@vocab": "http://www.w3.org/2004/02/skos/core#"},'
         ' "@type": "Concept", "@id": "a", "prefLabel": "a"}'),
    ],
)  # fmt: skip
def test_addresses_in_a_thesaurus_are_not_fetched(listener, name, text):
    assert len(senses(text.replace("URL", listener.url), name, context="c")) == 1
    assert listener.connections() == 0


class Listener:
    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.socket.settimeout(0.05)
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}/there"

    def connections(self):
        try:
            self.socket.accept()[0].close()
        except TimeoutError:
            return 0
        return 1


@pytest.fixture
def listener():
    made = Listener()
    yield made
    made.socket.close()


@pytest.mark.parametrize("format", [one.name for one in FORMATS])
def test_an_import_that_fails_midway_stores_nothing(full, tmp_path, monkeypatch, format):
    """Check number 20 of the scorecard: an import that fails midway leaves 0 rows."""
    from argot.jargon_db.store.journal import Journal

    record, file = Journal.record, full.files.export_file(EVERYBODY, format)
    file = file if isinstance(file, bytes) else file.encode()

    def fail_on_the_last(self, subject, row, was, now):
        if now is not None and now[1].get("term") == "مصطلح":
            raise OSError("disk full")
        return record(self, subject, row, was, now)

    monkeypatch.setattr(Journal, "record", fail_on_the_last)
    other = Glossary.open(tmp_path / "other.db")
    with pytest.raises(OSError, match="disk full"):
        other.files.import_file(None, file, "x", format)
    assert told(other) == ([], [])
    assert other.history.changes(EVERYBODY) == []
    other.close()


NAMES = st.sampled_from(["x", "x.json", "x.ttl", "x.rdf", "x.jsonld", "x.csv"])
STARTS = st.sampled_from(["", PREFIX, RDF, '{"senses": [', "<a:b> ", '{"@context": {'])


@settings(deadline=None, max_examples=150)
@given(data=st.one_of(st.binary(max_size=200), ANY.map(str.encode)), name=NAMES, start=STARTS)
@example(data=b"?\x00", name="x", start=PREFIX)
def test_any_bytes_are_read_or_refused_with_a_message(data, name, start):
    try:
        read_file(start.encode() + data, name, "", ReadOptions(context="c"))
    except InvalidGlossary as error:
        assert str(error).startswith(f"{name}: nothing was imported")
