"""Words and stems, the basis of every lexical comparison."""

import math
from concurrent.futures import ThreadPoolExecutor

import pytest

from argot.tools.text.rarity import compute_floored_idf, compute_idf
from argot.tools.text.words import content_stems, locate_stems, stem


@pytest.mark.parametrize(
    ("word", "stemmed"),
    [
        ("caresses", "caress"), ("ponies", "poni"), ("cats", "cat"), ("agreed", "agre"), ("hopping", "hop"),
        ("filing", "file"), ("happy", "happi"), ("sky", "sky"), ("relational", "relat"), ("hopefulness", "hope"),
        ("adoption", "adopt"), ("rate", "rate"), ("controlling", "control"), ("is", "is"),
    ],
)  # fmt: skip
def test_stems_equal_those_of_porter(word, stemmed):
    """Check the examples of his paper, "An algorithm for suffix stripping" (1980)."""
    assert stem(word) == stemmed


def test_a_number_in_words_becomes_digits_and_other_words_stay():
    assert [stem(word) for word in ("seven", "größe", "nx4410b", "用語")] == ["7", "größe", "nx4410b", "用語"]
    assert content_stems("The seven wafers were inspected") == ["7", "wafer", "inspect"]


def test_each_stem_has_the_place_of_its_word_in_the_text():
    text = "Où sont les entrées de l'usine ?"
    assert [(one, text[start:end]) for one, start, end in locate_stems(text)] == [
        ("entré", "entrées"),
        ("usin", "usine"),
    ]
    assert [one for one, _, _ in locate_stems("Die Ausweise", "de")] == content_stems("der Ausweis", "de")


def test_stemming_is_thread_safe():
    words = [f"{one}{two}{three}{ending}" for one in "bcdfg" for two in "aeiou" for three in "lmnprst"
             for ending in ("ing", "ations", "fulness")]  # fmt: skip
    alone = [stem.__wrapped__(word) for word in words]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(stem.__wrapped__, words * 8)) == alone * 8


def test_a_rarer_word_has_a_higher_idf() -> None:
    assert compute_idf(1, 10) > compute_idf(5, 10) > compute_idf(10, 10) > 0
    assert compute_floored_idf(1, 10) > compute_floored_idf(10, 10) == pytest.approx(math.log(2))
