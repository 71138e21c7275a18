"""The lookup against a dictionary: for any term, the same senses are found as by plain Python."""

import sqlite3

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from argot.errors import StoreUnavailable
from argot.jargon_db import list_variants, normalise
from argot.jargon_db.store.inputs import clean_name
from argot.types import Principal

EVERYBODY = Principal("admin", sees_all=True)
INJECTIONS = (
    "'; DROP TABLE senses; --", "x' OR '1'='1", '" OR ""="', "%", "_", "%_%", "a%b", "[a-z]", "?", ":keys", "$1", "@p",
    "NULL", "\\", "\\x00", "a\x00b", "a\x00", "`", "/*", "*/", "; --", "{}", "[]", '"]', '", 0, "', "senses", "rowid",
)  # fmt: skip
SCRIPTS = (
    "PUC", "ＰＵＣ", "p\u200bu\u200bc", "\u202ePUC", "é", "e\u0301", "Größe", "GRÖSSE", "مصطلح", "שלום", "術語", "用語",
    "ไทย", "हिन्दी", "Ωμέγα", "🎉", "👩\u200d🔬", "C++", "C#", ".NET", "C", "mA", "MA", "µA", "μA", "ﬁle", "file",
    "I/O", "I-O", "I O", "/dev/null", "24/7", "it's", "IDs", "ID", "class", "dies", "die",
)  # fmt: skip
TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
TERM = st.one_of(st.sampled_from(INJECTIONS), st.sampled_from(SCRIPTS), TEXT)
STORABLE = TERM.filter(lambda text: bool(normalise(text)))
ROWS = st.lists(st.tuples(STORABLE, st.sampled_from("xyz"), st.lists(STORABLE, max_size=2)), max_size=6)


def oracle(rows, term):
    """Return the numbers of the rows whose term or alias has the first of the term's variants that is known."""
    by_key = {}
    for number, (spelling, _, aliases) in enumerate(rows):
        for name in (spelling, *aliases):
            by_key.setdefault(normalise(name), set()).add(number)
    return next((sorted(by_key[key]) for key in list_variants(term) if key in by_key), [])


@settings(
    deadline=None,
    max_examples=120,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(rows=ROWS, asked=st.lists(TERM, min_size=1, max_size=5))
@example(rows=[("a\x00b", "x", []), ("%", "x", ["_"])], asked=["ab", "%", "_", "a\x00b"])
@example(rows=[("A", "x", ["ab"]), ("ab", "y", [])], asked=["%", "a%", "a_", "_b", "__"])
@example(rows=[("C++", "x", []), ("C", "x", [])], asked=["C++", "C", "c++"])
def test_lookup_finds_what_a_dictionary_finds(glossaries, rows, asked):
    """Check number 4 of the scorecard: identical rows."""
    glossary = glossaries.empty()
    for number, (term, context, aliases) in enumerate(rows):
        glossary.senses.add(term, context, f"{number}", aliases=aliases)
    asked += [spelling for spelling, _, _ in rows]
    found = glossary.lookup.senses(EVERYBODY, asked)
    assert set(found) == set(asked)
    for term in asked:
        numbers = sorted(int(sense.expansion) for sense in found[term])
        expected = oracle(rows, term)
        if numbers != expected:  # only coded spellings (mA, MA) may be told apart, and never to nothing
            assert numbers
            assert set(numbers) < set(expected)
            assert any(clean_name(term) == clean_name(rows[number][0]) for number in numbers)
    assert {sense.term for sense in glossary.senses.find(EVERYBODY)} == {clean_name(term) for term, _, _ in rows}


@pytest.mark.parametrize("term", [*INJECTIONS, *SCRIPTS])
def test_every_strange_term_is_kept_as_typed_and_found_alone(glossaries, term):
    """Check numbers 4 and 21 of the scorecard."""
    glossary = glossaries.open()
    glossary.senses.add("OTHER", "x", "another")
    assert glossary.lookup.senses(EVERYBODY, [term])[term] == []
    if normalise(term):
        sense = glossary.senses.add(term, "x", "meaning")
        assert [one.id for one in glossary.lookup.senses(EVERYBODY, [term])[term]] == [sense.id]
        assert glossary.senses.get(EVERYBODY, sense.id).term == clean_name(term)
    assert [one.expansion for one in glossary.lookup.senses(EVERYBODY, ["OTHER"])["OTHER"]] == ["another"]


@pytest.mark.parametrize(
    ("defined", "asked"),
    [
        ("Größe", "Gro\u0308ße"), ("Gro\u0308ße", "GRÖSSE"), ("PUC", "ＰＵＣ"), ("PUC", "P\u200bU\u200dC"),
        ("PUC", "\u200f\u202ePUC\u202c"), ("ﬁle", "file"), ("I/O", "i-o"), ("C++", "c++"), ("👍", "👍\ufe0f"),
        ("مصطلح", "\u200fمصطلح"), ("word line", "word\u00a0line"), ("word-line", "WORD\u2011LINES"),
    ],
)  # fmt: skip
def test_a_term_in_another_form_is_found(glossaries, defined, asked):
    """Check number 21 of the scorecard."""
    glossary = glossaries.open()
    glossary.senses.add(defined, "x", "meaning")
    assert [one.term for one in glossary.lookup.senses(EVERYBODY, [asked])[asked]] == [defined]


@pytest.mark.parametrize(("defined", "asked"), [("C", "C++"), ("C++", "C#"), ("a%", "ab"), ("a_", "ab")])
def test_symbols_are_part_of_a_term(glossaries, defined, asked):
    """Check number 21 of the scorecard."""
    glossary = glossaries.open()
    glossary.senses.add(defined, "x", "meaning")
    assert glossary.lookup.senses(EVERYBODY, [asked])[asked] == []


def test_the_lookup_connection_cannot_write(glossaries):
    """Check number 4 of the scorecard: the look-up is read-only."""
    glossary = glossaries.open()
    for sql in ("DELETE FROM senses", "DROP TABLE senses", "INSERT INTO terms (spelling, key) VALUES ('a', 'a')"):
        with pytest.raises((sqlite3.OperationalError, StoreUnavailable), match=r"read-?only"):
            glossary._connections.reader().execute(sql)
