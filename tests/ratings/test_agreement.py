"""Tests of Krippendorff's alpha against its author's worked example, and at its limits."""

from itertools import zip_longest

import pytest

from argot.ratings.agreement import compute_nominal_alpha, compute_ordinal_alpha

# "Computing Krippendorff's Alpha-Reliability" (2011), part E: four observers, twelve units, values missing.
OBSERVERS = ("123321412...", "1233224125.3", ".3332342251.", "12332441251.")
UNITS = [[int(value) for value in unit if value != "."] for unit in zip_longest(*OBSERVERS)]


def test_alpha_equals_that_of_the_published_example() -> None:
    assert compute_ordinal_alpha(UNITS) == pytest.approx(0.815, abs=0.0005)
    assert compute_nominal_alpha(UNITS) == pytest.approx(0.743, abs=0.0005)


def test_alpha_ignores_the_order_of_raters_and_single_ratings() -> None:
    assert compute_ordinal_alpha([unit[::-1] for unit in UNITS] + [[5], []]) == pytest.approx(
        compute_ordinal_alpha(UNITS)
    )


def test_full_agreement_is_one_and_systematic_disagreement_below_zero() -> None:
    assert compute_ordinal_alpha([[1, 1], [3, 3], [5, 5, 5]]) == 1
    disagreeing = compute_ordinal_alpha([[1, 5], [5, 1], [1, 5]])
    assert disagreeing is not None and disagreeing < 0


@pytest.mark.parametrize("units", [[], [[3]], [[2], [4]], [[3, 3], [3, 3]]])
def test_alpha_is_none_without_anything_to_compare(units: list[list[int]]) -> None:
    assert compute_ordinal_alpha(units) is None
