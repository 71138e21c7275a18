"""The search box: what is found as one types, in which order, by whom, and with any text at all."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from argot.jargon_db.lookup.normalise import normalise
from argot.types import Principal

ADMIN = Principal("admin", sees_all=True)
OSCAR = Principal("oscar")
EVE = Principal("eve", frozenset({"fab"}))
SECRET = frozenset({"fab"})


@pytest.fixture
def glossary(glossaries):
    return glossaries.open()


@pytest.fixture
def filled(glossary):
    glossary.senses.add("PUC", "NAND", "Peripheral Under Cell", "circuits under the array", aliases=["peri under cell"])
    glossary.senses.add("PUCX", "NAND", "extended periphery", "see also the wafer map")
    glossary.senses.add("WLX", "NAND", "word line extension", "driver of the PUC block")
    glossary.senses.add("TIM", "Legal", "timely public filing", aliases=["pucker"])
    return glossary


def terms(senses):
    return [sense.term for sense in senses]


def test_terms_rank_above_aliases_and_aliases_above_other_words(filled):
    assert terms(filled.search.find(OSCAR, "puc")) == ["PUC", "PUCX", "TIM", "WLX"]
    assert terms(filled.search.find(OSCAR, "p")) == ["PUC", "PUCX", "TIM", "WLX"]
    assert terms(filled.search.find(OSCAR, "peri")) == ["PUC", "PUCX"]
    assert terms(filled.search.find(OSCAR, "under ce")) == ["PUC"]
    assert terms(filled.search.find(OSCAR, "array circ")) == ["PUC"]
    assert terms(filled.search.find(OSCAR, "PUC driver")) == ["WLX"]
    assert terms(filled.search.find(OSCAR, "wafer")) == ["PUCX"]
    assert filled.search.find(OSCAR, "afer") == []


def test_every_prefix_of_the_texts_of_a_sense_finds_it(filled):
    for sense in filled.senses.find(ADMIN):
        for text in (sense.term, sense.expansion, sense.description, *sense.aliases):
            for end in range(1, len(text) + 1):
                if text[:end].strip():
                    assert sense.term in terms(filled.search.find(OSCAR, text[:end])), text[:end]


def test_a_search_respects_its_limit_and_an_empty_query_finds_nothing(filled):
    assert terms(filled.search.find(OSCAR, "p", limit=2)) == ["PUC", "PUCX"]
    for nothing in ("", "  ", "\u200b", "\0"):
        assert filled.search.find(OSCAR, nothing) == []
    assert filled.search.find(OSCAR, "puc", limit=0) == []
    assert filled.search.find(OSCAR, "x" * 100_000) == []
    assert terms(filled.search.find(OSCAR, "puc " * 10_000)) == ["PUC", "PUCX", "TIM", "WLX"]


def test_approved_senses_rank_first_and_status_can_be_filtered(glossary):
    glossary.senses.add("PUC", "Old", "retired one", status="retired")
    glossary.senses.add("PUC", "New", "draft one", status="draft")
    glossary.senses.add("PUC", "NAND", "approved one")
    assert [sense.status for sense in glossary.search.find(ADMIN, "pu")] == ["approved", "draft", "retired"]
    assert [sense.status for sense in glossary.search.find(ADMIN, "pu", status="draft")] == ["draft"]
    assert [sense.status for sense in glossary.search.find(ADMIN, "one", status="draft")] == ["draft"]
    assert [sense.status for sense in glossary.search.find(OSCAR, "pu")] == ["approved"]


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
def test_terms_with_symbols_and_in_any_script_are_found(glossary, term, typed):
    sense = glossary.senses.add(term, "x", "meaning")
    other = glossary.senses.add("other", "x", f"so {term} it is")
    found = glossary.search.find(OSCAR, typed)
    assert found[0] == sense
    assert set(found) <= {sense, other}


def test_symbols_within_a_text_are_found(glossary):
    sense = glossary.senses.add("Visual C++", "x", "a compiler", "loses 5 % of speed 💾")
    glossary.senses.add("C", "x", "a language")
    for typed in ("c++", "visual c+", "%", "5 %", "💾"):
        assert glossary.search.find(OSCAR, typed) == [sense], typed


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(st.text(min_size=1, max_size=12), max_size=5), typed=st.text(max_size=12))
def test_any_stored_text_is_found(glossaries, texts, typed):
    glossary = glossaries.empty()
    for number, text in enumerate(texts):
        if normalise(text) and not any("\ud800" <= char <= "\udfff" for char in text):
            sense = glossary.senses.add(text, "x", f"meaning {number}")
            assert sense in glossary.search.find(OSCAR, text)
            assert sense in glossary.search.find(OSCAR, f"meaning {number}")
    glossary.search.find(OSCAR, typed)


def test_the_index_follows_every_change(glossary):
    sense = glossary.senses.add("PUC", "NAND", "Peripheral Under Cell", aliases=["zebra"])
    saved = glossary.senses.save(ADMIN, sense.id, version=1, term="WLX", expansion="word line", aliases=["okapi"])
    for old in ("puc", "peripheral", "zebra"):
        assert glossary.search.find(OSCAR, old) == []
    for new in ("wlx", "word", "okapi"):
        assert glossary.search.find(OSCAR, new) == [saved]
    glossary.history.roll_back(ADMIN, glossary.history.changes(ADMIN)[0].id)
    assert glossary.search.find(OSCAR, "okapi") == []
    assert terms(glossary.search.find(OSCAR, "zebra")) == ["PUC"]


def test_a_failed_change_leaves_the_index_unchanged(glossary):
    glossary.senses.add("PUC", "NAND", "Peripheral Under Cell")

    def senses():
        from argot.jargon_db import SenseInput

        yield from (SenseInput(f"NEW{number}", "NAND", "new") for number in range(3_000))
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        glossary.files.import_senses(senses(), "f.csv")
    assert glossary.search.find(OSCAR, "new") == []
    assert terms(glossary.search.find(OSCAR, "puc")) == ["PUC"]


def test_hidden_senses_are_not_found_and_do_not_crowd_out_others(glossary):
    glossary.contexts.add("Hidden", audience=SECRET)
    for number in range(60):
        glossary.senses.add(f"PUC{number:02}", "NAND", "secret thing", audience=SECRET)
        glossary.senses.add(f"PUCA{number:02}", "Hidden", "secret thing")
    seen = glossary.senses.add("PUCZ", "NAND", "open thing")
    for typed in ("puc", "p", "thing", "nothing"):
        assert glossary.search.find(OSCAR, typed, limit=5) == ([seen] if typed != "nothing" else [])
    assert len(glossary.search.find(EVE, "puc", limit=500)) == 121
