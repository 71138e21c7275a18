"""Reading glossary files of strangers: the same result as rdflib, and files that need too much are refused."""

import gzip
import io
import json
import subprocess
import sys
import zipfile

import pytest

from argot.errors import InvalidGlossary
from argot.jargon_db import ReadOptions
from argot.jargon_db.formats.format_registry import read_file
from argot.jargon_db.formats.glossary_file import MAX_SENSES
from argot.jargon_db.formats.rdf_json import UnsupportedJsonLd
from argot.jargon_db.formats.rdf_json import read as read_json
from argot.jargon_db.formats.rdf_json_any import read as read_any
from argot.jargon_db.formats.rdf_statements import BASE, LimitExceeded, MalformedFile
from argot.jargon_db.formats.rdf_turtle import read as read_turtle
from argot.jargon_db.formats.rdf_xml import RefusedXml
from argot.jargon_db.formats.rdf_xml import read as read_xml

TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
CONCEPT = "http://www.w3.org/2004/02/skos/core#Concept"
HEAD = "@prefix s: <http://www.w3.org/2004/02/skos/core#> .\n@prefix : <http://e.org/> .\n"
XML = (
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e.org/"'
    ' xml:base="http://e.org/base" xml:lang="en">{}</rdf:RDF>'
)


def ours(read, text):
    found = []
    read(text, BASE, lambda *said: found.append(said))
    return told(found)


def theirs(text, format):
    from rdflib import Graph, Literal

    def value(one):
        return str(one), (one.language or "").lower() if isinstance(one, Literal) else None

    graph = Graph().parse(data=text, format=format, publicID="http://nowhere.org/")
    return told([(str(a) if ":" in str(a) else f"_:{a}", str(b), *value(c)) for a, b, c in graph])


def told(statements):
    """Return the statements without the names of blank nodes, which differ with every reading."""

    def plain(text):
        return "_" if text.startswith("_:") or (len(text) > 30 and text[1:].isalnum()) else text

    return sorted((plain(a), b, plain(c) if d is None else c, str(d)) for a, b, c, d in statements)


@pytest.mark.parametrize(
    "text",
    [
        ":a :b :c . :a :b :d, :e ; :f :g ; ; :h :i .",
        ':a a s:Concept ; s:prefLabel "y"@en-GB , \'z\' , """long "quoted" "" text\n#no comment""" , \'\'\'o\'\'\' .',
        ':a :b "tab\\tquote\\" back\\\\ \\u00e9 \\U0001F389" ; :c "1"^^:t , "2"^^<http://t.org/> .',
        ":a :b 1 , 2.5 , true , false .",
        ":a :b [ :c :d ; :e [ :f 'g' ] ] . [ :h :i ] :j :k . [ :l :m ] .",
        ":a :b ( :c 'd' 5 ( ) ) . ( 1 2 ) :is :list .",
        "_:x :b _:y.z . _:x :c _:x .",
        "@base <http://base.org/one/> . <two> <#three> <../four> . <> :b <http://full.org/x> .",
        "PREFIX x: <http://x.org/> BASE <http://y.org/> x:a x:b <c> .",
        "# comment\n:a :b :c# comment\n . # :x :y :z .\n",
        ":a.b :c-d :e%20f . :g\\,h :i :j:k . :l :m :n. :o :p :q .",
        ":a:b-1 s:é :ü . :1 :2 :3 .",
        '<http://e.org/a> <http://e.org/b> "N-Triples"@de .\n<http://e.org/a> <http://e.org/b> "\\u0041" .',
        ':a :b "c". :d :e "f"@en. :g :h <i:j>.',
        '@prefix s: <http://other.org/> . :a s:b "c" . @prefix s: <http://third.org/> . :a s:b "c" .',
        "",
    ],
)
def test_turtle_is_read_like_rdflib_reads_it(text):
    assert ours(read_turtle, HEAD + text) == theirs(HEAD + text, "turtle")


@pytest.mark.parametrize(
    "text",
    [
        '<rdf:Description rdf:about="http://e.org/1"><e:p>text &amp; <!-- no -->more</e:p></rdf:Description>',
        '<e:T rdf:about="x"><e:p xml:lang="de">a</e:p><e:p xml:lang="">b</e:p><e:q rdf:resource="#y"/></e:T>',
        '<e:T rdf:ID="x" e:p="attribute"><e:q><e:U rdf:about="y"/></e:q><e:q rdf:nodeID="n"/></e:T>',
        '<e:T rdf:nodeID="n"><e:p rdf:parseType="Resource"><e:q>inner</e:q></e:p></e:T>',
        '<e:T><e:p rdf:parseType="Collection"><e:U/><e:U/></e:p><e:q rdf:datatype="http://t.org/">5</e:q></e:T>',
        '<rdf:Bag rdf:about="x"><rdf:li>a</rdf:li><rdf:li>b</rdf:li></rdf:Bag>',
        '<e:T rdf:about="x"><e:p e:q="both" rdf:resource="y"/><e:r e:s="alone"/><e:t/></e:T>',
        '<e:T xml:base="http://f.org/a/b" rdf:about="../c"><e:p><![CDATA[<b>&]]></e:p></e:T>',
        "",
    ],
)
def test_rdf_xml_is_read_like_rdflib_reads_it(text):
    whole = XML.format(text)
    assert ours(read_xml, whole.encode()) == theirs(whole, "xml")


PLAIN = {"s": "http://www.w3.org/2004/02/skos/core#", "e": "http://e.org/"}


@pytest.mark.parametrize(
    "text",
    [
        {"@context": PLAIN, "@graph": [{"@id": "e:1", "@type": "s:Concept", "s:prefLabel": ["a", None, "b"]}]},
        {"@context": PLAIN, "@id": "e:1", "@type": ["s:Concept", "e:T"], "e:p": {"@id": "e:2", "e:q": {"e:r": "x"}}},
        {"@context": {**PLAIN, "label": {"@id": "s:prefLabel", "@language": "en"}}, "@id": "e:1", "label": "x"},
        {"@context": {**PLAIN, "l": {"@id": "s:prefLabel", "@container": "@language"}},
         "@id": "e:1", "l": {"en": "x", "de": ["y", "z"]}},
        {"@context": {**PLAIN, "in": {"@id": "s:inScheme", "@type": "@id"}}, "@id": "e:1", "in": ["e:2", "e:3"]},
        {"@context": {**PLAIN, "uri": "@id", "type": "@type", "lang": "@language", "value": "@value", "g": "@graph"},
         "g": [{"uri": "e:1", "type": "s:Concept", "s:prefLabel": {"lang": "en-GB", "value": "x"}}]},
        {"@context": {"@vocab": "http://v.org/", "@language": "de", "@base": "http://b.org/"},
         "@id": "a", "@type": "T", "p": ["x", {"@value": "y"}, 5, True], "http://full.org/q": "z", "no:where": "w"},
        {"@context": {**PLAIN, "d": {"@id": "e:d", "@type": "e:date"}}, "@id": "_:b", "d": "2027", "dropped": "x"},
        {"@context": PLAIN, "@id": "e:1", "e:p": {"@list": ["a", {"@id": "e:2"}]}},
        [{"@id": "http://e.org/1", "@type": ["http://e.org/T"],
          "http://e.org/p": [{"@value": "x", "@language": "EN"}, {"@value": "y", "@type": "http://t.org/"}]}],
        {"@context": [PLAIN, {"x": "e:x"}], "@id": "e:1", "x": "y", "e:x": "z"},
    ],
)  # fmt: skip
def test_json_ld_is_read_like_rdflib_reads_it(text):
    assert ours(read_json, text) == ours(read_any, text) != []


def test_rare_json_ld_features_are_left_to_rdflib():
    text = {
        "@context": {"s": PLAIN["s"], "broader": {"@reverse": "s:narrower"}},
        "@graph": [{"@id": "http://e.org/1", "@type": "s:Concept", "s:prefLabel": "a", "broader": {"@id": "e:2"}}],
    }
    with pytest.raises(UnsupportedJsonLd):
        ours(read_json, text)
    read = read_file(json.dumps(text).encode(), "x.jsonld", "", ReadOptions(context="c"))
    assert [one.term for one in read.senses] == ["a"]


@pytest.mark.parametrize(
    "text",
    [":a :b", ":a :b :c", ":a :b 'c", ":a :b '''c", ":a :b <c", ":a :b :c :d .", "'a' :b :c .", ":a 'b' :c .",
     "[ :a :b", ":a :b ( :c", "@prefix x <y:> .", "@nonsense .", "@prefix x: <y:>", ":a :b 'x\\q' .",
     ":a :b '\\UFFFFFFFF' .", "{ }", ":a :b ;; .x", "no:prefix :b :c .", "<< :a :b :c >> :d :e .", "\x00", ")", "."],
)  # fmt: skip
def test_bad_turtle_is_refused_with_its_line(text):
    with pytest.raises(MalformedFile) as caught:
        ours(read_turtle, HEAD + text)
    assert caught.value.where.startswith("line 3")


@pytest.mark.parametrize("opening", ["[ :b ", "( ", "[ :c ( "])
def test_very_deep_nesting_is_refused(opening):
    with pytest.raises(LimitExceeded):
        ours(read_turtle, HEAD + ":a :b " + opening * 20_000)
    with pytest.raises(LimitExceeded):
        ours(read_xml, XML.format("<e:T><e:p>" * 5000).encode())


def test_a_document_type_is_refused():
    with pytest.raises(RefusedXml):
        ours(read_xml, b'<!DOCTYPE x [<!ENTITY a "b">]>' + XML.format("").encode())


# -- bounds -----------------------------------------------------------------------------------------------------------

MANY = '{"senses": [' + ",".join(['{"term": "A", "expansion": "b", "aliases": [], "audience": []}'] * 12_000) + "]}"


def refused(data, name, **bounds):
    with pytest.raises(InvalidGlossary) as caught:
        read_file(data, name, "", ReadOptions(context="c", **bounds))
    return str(caught.value)


def test_a_file_that_takes_too_much_memory_is_refused_with_the_remedy():
    """Check a part of number 13 of the scorecard; the reading process has ended afterwards."""
    said = refused(MANY.encode(), "x.json", memory_mb=5)
    assert "more than 5 MB of memory" in said
    assert "CSV or JSON" in said
    assert "ARGOT_PARSE_MEMORY_MB" in said


def test_a_file_that_takes_too_long_is_refused_with_the_remedy():
    """Check a small file of nested contexts, which rdflib copies at every node: minutes of work."""
    terms = {f"t{number}": {"@id": f"http://e.org/{number}", "@context": {"a": "b:c"}} for number in range(2_000)}
    text = json.dumps({"@context": terms, "@graph": [{"t1": {"t2": {"t3": "x"}}} for _ in range(5_000)]})
    said = refused(text.encode(), "x.jsonld", seconds=0.5)
    assert "longer than 0.5 seconds" in said
    assert "ARGOT_PARSE_SECONDS" in said


def test_a_large_file_is_returned_whole_by_the_reading_process():
    rows = [f"T{number},general,expansion {number},\U0001f389 é,,a|b,eve" for number in range(9_000)]
    text = "term,context,expansion,description,notes,aliases,owner\n" + "\n".join(rows)
    here = read_file(text.encode(), "x.csv", "", ReadOptions(bounded=True))
    assert len(text) > 256 * 1024
    assert read_file(text.encode(), "x.csv", "", ReadOptions()) == here
    bad = text + "\nT,,e,,,,,one more\n"
    assert "row 9002: 8 values" in refused(bad.encode(), "x.csv")


def test_a_reading_process_that_dies_is_reported(monkeypatch):
    started = subprocess.Popen

    def broken(command, **options):
        ready = "import sys; sys.stdout.buffer.write(bytes(16)); sys.stdout.flush(); sys.stdin.buffer.read(1)"
        return started([sys.executable, "-c", ready], **options)

    monkeypatch.setattr(subprocess, "Popen", broken)
    assert "ended before it was done" in refused(MANY.encode(), "x.json")


@pytest.mark.parametrize("name", ["x.csv", "x.json", "x.ttl", "x.xlsx", "x"])
def test_a_binary_file_is_refused_with_its_kind_and_a_remedy(name):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("sheet.xml", b"0" * 1_000_000)
    assert "ZIP archive that holds no workbook; unpack it" in refused(packed.getvalue(), name)
    assert "compressed; unpack it" in refused(gzip.compress(b"term,expansion"), name)
    assert "look for terms in the documents" in refused(b"%PDF-1.7 ...", name)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.csv", "term,expansion\n" + "A,b\n" * 3),
        ("x.json", json.dumps([{"term": "A", "expansion": "b"}] * 3)),
        ("x.json", json.dumps({"contexts": [{"name": f"c{n}", "description": "d"} for n in range(3)], "senses": []})),
        ("x.nt", "".join(f"<x:{n}> <{TYPE}> <{CONCEPT}> .\n" for n in range(3))),
    ],
)
def test_a_file_of_more_entries_than_allowed_is_refused(name, text):
    said = refused(text.encode(), name, most_senses=2)
    assert "more than 2 entries" in said and "max_glossary_senses" in said


def test_the_limit_on_entries_is_a_setting():
    rows = "".join(f"A{number},b\n" for number in range(MAX_SENSES + 1))
    assert f"more than {MAX_SENSES:,} entries" in refused(b"term,expansion\n" + rows.encode(), "x.csv")
    options = ReadOptions(context="c", most_senses=MAX_SENSES + 1)
    assert len(read_file(b"term,expansion\n" + rows.encode(), "x.csv", "", options).senses) == MAX_SENSES + 1


def test_a_csv_file_with_nul_is_refused():
    assert "line 3: it holds NUL characters" in refused(b"term,expansion\nA,alpha\nB,be\0ta\n", "nul.csv")
