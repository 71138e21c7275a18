"""The search box: what is found as one types, in which order, by whom, and by any text at all."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argot.jargon_db import Glossary
from argot.jargon_db.normalise import normalise
from argot.types import Principal

ADMIN = Principal("admin", sees_all=True)
OSCAR = Principal("oscar")
EVE = Principal("eve", frozenset({"fab"}))
SECRET = frozenset({"fab"})


@pytest.fixture
def filled(glossary):
    glossary.add_sense("PUC", "NAND", "Peripheral Under Cell", "circuits under the array", aliases=["peri under cell"])
    glossary.add_sense("PUCX", "NAND", "extended periphery", "see also the wafer map")
    glossary.add_sense("WLX", "NAND", "word line extension", "driver of the PUC block")
    glossary.add_sense("TIM", "Legal", "timely public filing", aliases=["pucker"])
    return glossary


def terms(senses):
    return [sense.term for sense in senses]


def test_terms_come_before_aliases_before_words_elsewhere(filled):
    assert terms(filled.search(OSCAR, "puc")) == ["PUC", "PUCX", "TIM", "WLX"]
    assert terms(filled.search(OSCAR, "p")) == ["PUC", "PUCX", "TIM", "WLX"]
    assert terms(filled.search(OSCAR, "peri")) == ["PUC", "PUCX"]
    assert terms(filled.search(OSCAR, "under ce")) == ["PUC"]
    assert terms(filled.search(OSCAR, "array circ")) == ["PUC"]
    assert terms(filled.search(OSCAR, "PUC driver")) == ["WLX"]
    assert terms(filled.search(OSCAR, "wafer")) == ["PUCX"]
    assert filled.search(OSCAR, "afer") == []


def test_every_beginning_of_a_term_and_of_its_words_finds_it(filled):
    for sense in filled.senses(ADMIN):
        for text in (sense.term, sense.expansion, sense.description, *sense.aliases):
            for end in range(1, len(text) + 1):
                if text[:end].strip():
                    assert sense.term in terms(filled.search(OSCAR, text[:end])), text[:end]


def test_as_many_as_asked_for_and_nothing_for_nothing(filled):
    assert terms(filled.search(OSCAR, "p", limit=2)) == ["PUC", "PUCX"]
    for nothing in ("", "  ", "\u200b", "\0"):
        assert filled.search(OSCAR, nothing) == []
    assert filled.search(OSCAR, "puc", limit=0) == []
    assert filled.search(OSCAR, "x" * 100_000) == []
    assert terms(filled.search(OSCAR, "puc " * 10_000)) == ["PUC", "PUCX", "TIM", "WLX"]


def test_approved_senses_come_first_and_can_be_asked_for_alone(glossary):
    glossary.add_sense("PUC", "Old", "retired one", status="retired")
    glossary.add_sense("PUC", "New", "draft one", status="draft")
    glossary.add_sense("PUC", "NAND", "approved one")
    assert [sense.status for sense in glossary.search(OSCAR, "pu")] == ["approved", "draft", "retired"]
    assert [sense.status for sense in glossary.search(OSCAR, "pu", status="draft")] == ["draft"]
    assert [sense.status for sense in glossary.search(OSCAR, "one", status="draft")] == ["draft"]


@pytest.mark.parametrize(
    ("term", "typed"),
    [
        ("C++", "c+"), ("C#", "C#"), ("100 %", "%"), (".NET", ".n"), ('"x"', '"'), ("a' OR 1=1 --", "' or"), ("*", "*"),
        ("Größe", "GRÖSS"), ("ＡＢＣ", "ab"), ("e\u0301tat", "ÉT"), ("قاموس", "قام"), ("半導体メモリ", "半導"),
        ("半導体メモリ", "メモ"), ("💾 disk", "💾"), ("x\u200by", "xy"), ("Write-Amplification", "write amp"),
        ("AND", "and"), ("NEAR(a b)", "near("), ("term:", "term:"), ("{x}", "{x"), ("^a", "^a"), ("a AND b", "and b"),
        ("R&D", "&"), ("π-mode", "Π"), ("naïve", "naïv"),
    ],
)  # fmt: skip
def test_terms_with_signs_and_of_any_script_are_found(glossary, term, typed):
    sense = glossary.add_sense(term, "x", "meaning")
    other = glossary.add_sense("other", "x", f"so {term} it is")
    found = glossary.search(OSCAR, typed)
    assert found[0] == sense
    assert set(found) <= {sense, other}


def test_signs_within_a_text_are_found(glossary):
    sense = glossary.add_sense("Visual C++", "x", "a compiler", "loses 5 % of speed 💾")
    glossary.add_sense("C", "x", "a language")
    for typed in ("c++", "visual c+", "%", "5 %", "💾"):
        assert glossary.search(OSCAR, typed) == [sense], typed


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(min_size=1, max_size=12), max_size=5), st.text(max_size=12))
def test_no_text_is_too_odd_and_what_is_stored_is_found(tmp_path_factory, texts, typed):
    glossary = Glossary.open(tmp_path_factory.mktemp("g") / "glossary.db")
    for number, text in enumerate(texts):
        if normalise(text) and not any("\ud800" <= char <= "\udfff" for char in text):
            sense = glossary.add_sense(text, "x", f"meaning {number}")
            assert sense in glossary.search(OSCAR, text)
            assert sense in glossary.search(OSCAR, f"meaning {number}")
    glossary.search(OSCAR, typed)
    glossary.close()


def test_the_index_follows_every_change(glossary):
    sense = glossary.add_sense("PUC", "NAND", "Peripheral Under Cell", aliases=["zebra"])
    saved = glossary.save_sense(ADMIN, sense.id, version=1, term="WLX", expansion="word line", aliases=["okapi"])
    for old in ("puc", "peripheral", "zebra"):
        assert glossary.search(OSCAR, old) == []
    for new in ("wlx", "word", "okapi"):
        assert glossary.search(OSCAR, new) == [saved]
    glossary.roll_back(ADMIN, glossary.changes(ADMIN)[0].id)
    assert glossary.search(OSCAR, "okapi") == []
    assert terms(glossary.search(OSCAR, "zebra")) == ["PUC"]


def test_a_change_that_fails_leaves_the_index_alone(glossary):
    glossary.add_sense("PUC", "NAND", "Peripheral Under Cell")

    def senses():
        from argot.jargon_db import SenseInput

        yield from (SenseInput(f"NEW{number}", "NAND", "new") for number in range(3_000))
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        glossary.import_senses(senses(), "f.csv")
    assert glossary.search(OSCAR, "new") == []
    assert terms(glossary.search(OSCAR, "puc")) == ["PUC"]


def test_hidden_senses_neither_show_nor_crowd_out_others(glossary):
    glossary.add_context("Hidden", audience=SECRET)
    for number in range(60):
        glossary.add_sense(f"PUC{number:02}", "NAND", "secret thing", audience=SECRET)
        glossary.add_sense(f"PUCA{number:02}", "Hidden", "secret thing")
    seen = glossary.add_sense("PUCZ", "NAND", "open thing")
    for typed in ("puc", "p", "thing", "nothing"):
        assert glossary.search(OSCAR, typed, limit=5) == ([seen] if typed != "nothing" else [])
    assert len(glossary.search(EVE, "puc", limit=500)) == 121
