"""Days are the same however a text writes them."""

import pytest

from argot.days import Day, find_days, remove_days, spell_out_days
from argot.tools.answering.value_ranges import find_asked_range


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("2025-05-17", {Day(5, 17, "2025")}),
        ("17.05.2025 and 17/05/2025", {Day(5, 17, "2025")}),
        ("saturday 17 may", {Day(5, 17, "")}),
        ("May 17th, 2025", {Day(5, 17, "2025")}),
        ("the 3rd of June", {Day(6, 3, "")}),
        ("am 17. Mai 2025, le 17 mai, el 17 de mayo", {Day(5, 17, "2025"), Day(5, 17, "")}),
        ("version 2.5.2025.1, part 2025-05-17-b, may come", set()),
    ],
)
def test_a_day_is_found_in_each_way_of_writing(text: str, days: set[Day]) -> None:
    assert find_days(text) == days


def test_a_day_without_a_year_is_the_same_of_any_year() -> None:
    assert Day(5, 17, "").is_same(Day(5, 17, "2025")) and Day(5, 17, "2024").is_same(Day(5, 17, ""))
    assert not Day(5, 17, "2024").is_same(Day(5, 17, "2025")) and not Day(5, 17, "").is_same(Day(5, 18, ""))


def test_days_of_numbers_are_spelt_out_and_removed() -> None:
    assert spell_out_days("Rota of 2025-05-17: Ann, 1.6.2025: Bo") == "Rota of 17 May 2025: Ann, 1 June 2025: Bo"
    assert remove_days("on 17 May at 25 °C").split() == ["on", "at", "25", "°C"]
    assert find_asked_range("Who leads on 2025-04-18?") is None
