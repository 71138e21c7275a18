import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argot.jargon_db.lookup.normalise import list_variants, normalise


@pytest.mark.parametrize(
    ("typed", "key"),
    [
        ("PUC", "puc"),
        ("  Write-Amplification ", "write amplification"),
        ("write\tamplification", "write amplification"),
        ("write_amplification", "write amplification"),
        ("write/amplification", "write amplification"),
        ("write\u2011amplification", "write amplification"),
        ("Cafe\u0301", "café"),
        ("ＰＵＣ", "puc"),
        ("P\u200bU\u00adC", "puc"),
        ("\u202ePUC\u202c", "puc"),
        ("\ufeffPUC", "puc"),
        ("P\x00UC", "puc"),
        ("Straße", "strasse"),
        ("ﬁrmware", "firmware"),
        ("C++", "c++"),
        ("C#", "c#"),
        ("+5V", "+5v"),
        ("-Xmx", "-xmx"),
        ("/dev/nvme0n1", "/dev/nvme0n1"),
        ("see /dev/sda and/or", "see /dev/sda and or"),
        ("NX-4410B", "nx 4410b"),
        ("P/E", "p e"),
        ("tCCS", "tccs"),
        ("PUC’s", "puc's"),
        ("💾", "💾"),
        ("\u200b\u2060", ""),
    ],
)
def test_every_spelling_of_a_term_has_the_same_key(typed, key):
    assert normalise(typed) == key


def test_symbols_distinguish_terms():
    assert len({normalise(term) for term in ("C", "C++", "C#", "+5V", "-5V", "5V", "dev/nvme0n1", "/dev/nvme0n1")}) == 8


@settings(deadline=None)
@given(st.text())
def test_normalising_is_idempotent_and_its_result_can_be_stored(text):
    key = normalise(text)
    assert normalise(key) == key
    assert "\x00" not in key
    key.encode("utf-8")


@pytest.mark.parametrize(
    ("typed", "key"),
    [("PUCs", "puc"), ("PUC's", "puc"), ("dies", "die"), ("batches", "batch"), ("policies", "policy"), ("OKR", "okrs")],
)
def test_variants_include_singular_and_plural(typed, key):
    forms = list_variants(typed)
    assert forms[0] == normalise(typed)
    assert key in forms


@pytest.mark.parametrize("word", ["bus", "class", "C++", "is", "basis"])
def test_a_word_that_is_not_a_plural_gets_no_singular(word):
    assert all(len(form) >= len(normalise(word)) for form in list_variants(word))
