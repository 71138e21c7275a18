"""Which ranges contain the number of a question, and when that is uncertain."""

from __future__ import annotations

import pytest

from argot.tools.answering.value_ranges import (
    excludes_range,
    find_asked_range,
    find_other_bands,
    find_places_in_range,
    has_bounds,
)

APPROVAL = ["up to 10,000", "10,001 to 100,000", "100,001 to 1,000,000", "above 1,000,000"]
SIGNED = ["up to 25,000", "up to 250,000", "up to 2 million", "above 2 million"]  # the nearest bound counts
CHARGE = ["below 65 %", "below 45 %", "below 30 %"]
SERVICE = ["Up to 5 years", "5 to 10 years", "More than 10 years"]
WEIGHT = ["≤ 2 kg", "over 2 up to 5 kg", "> 5 kg"]


def cells(question: str, column: str, there: list[str]) -> list[str] | None:
    asked = find_asked_range(question)
    places = find_places_in_range(asked, column, there) if asked else None
    return None if places is None else [there[place] for place in places]


@pytest.mark.parametrize(
    ("question", "column", "there", "found"),
    [
        ("Who approves a purchase of 1,000,000 NOK?", "Amount (NOK)", APPROVAL, [2]),
        ("Who approves a purchase of more than NOK 1,000,000?", "Amount (NOK)", APPROVAL, [3]),
        ("Who approves a purchase of 1 000 001 NOK?", "Amount (NOK)", APPROVAL, [3]),
        ("Who approves a purchase of 2 million NOK?", "Amount (NOK)", APPROVAL, [3]),
        ("Who approves a purchase of 50k NOK?", "Amount (NOK)", APPROVAL, [1]),
        ("Who signs a contract of 180k euro?", "Value (euro)", SIGNED, [1]),
        ("Who signs a contract of €2m?", "Value (euro)", SIGNED, [2]),
        ("Who signs a contract of 3 million euro?", "Value (euro)", SIGNED, [3]),
        ("What do we do at an SOC of 30 %?", "State of charge", CHARGE, [0, 1]),
        ("What do we do at an SOC of 70 %?", "State of charge", CHARGE, []),
        ("What is my notice with 7 years of service?", "Length of service", SERVICE, [1]),
        ("And with more than 10 years?", "Length of service", SERVICE, [2]),
        ("What does a parcel of 2 kg cost?", "Weight", WEIGHT, [0]),
        ("What does a parcel of 2.5 kg cost?", "Weight", WEIGHT, [1]),
        ("What does a parcel from 6 to 7 kg cost?", "Weight", WEIGHT, [2]),
    ],
)
def test_the_ranges_that_contain_the_number_are_found(
    question: str, column: str, there: list[str], found: list[int]
) -> None:
    assert cells(question, column, there) == [there[place] for place in found]


@pytest.mark.parametrize(
    ("question", "column", "there"),
    [
        ("Who approves 50,000 for vessel Lomvi?", "Amount (NOK)", APPROVAL),  # a number of what?
        ("Who approves a purchase of 50,000 NOK for 3 vessels?", "Amount (NOK)", APPROVAL),
        ("Who approves a purchase of 2 K?", "Amount (NOK)", APPROVAL),
        ("Who approves a purchase of 1 to 2 million NOK?", "Amount (NOK)", APPROVAL),
        ("Who approves a purchase of about 10,000 NOK?", "Amount (NOK)", APPROVAL),
        ("Who approves a purchase of 50,000 EUR?", "Amount (NOK)", APPROVAL),
        ("What is my notice after 10 years?", "Length of service", SERVICE),
        ("What is my notice with 18 months of service?", "Length of service", SERVICE),
        ("What is my notice with ten years of service?", "Length of service", SERVICE),
        ("What is my notice with 3 months?", "Length of service", ["First 6 months", "Up to 12 months"]),
        ("What does the 5 kg parcel cost?", "Weight", ["up to 1.500 kg", "above 1.500 kg"]),
        ("What fits the NX-4410?", "Voltage", ["below 5 V"]),
    ],
)
def test_ambiguous_numbers_and_ranges_are_not_compared(question: str, column: str, there: list[str]) -> None:
    assert cells(question, column, there) is None


def test_a_number_alone_is_not_a_bound() -> None:
    assert has_bounds(["12", "10 or more"])
    assert not has_bounds(["12", "300 ns", "none", "5-port switch"])


@pytest.mark.parametrize(
    ("question", "text", "excluded"),
    [
        ("Who signs a conference over 2500?", "Training that costs less than $2,500", True),
        ("Who signs a conference over 2500?", "Conference events that cost more than $2,500", False),
        ("Who signs below $2,500?", "Above $2,500 the director signs.", True),
        ("Who signs a conference over 2500?", "It takes up to 10 days.", False),
        ("Who signs over 2500 EUR?", "less than 2500 kg", False),
        ("Who signs 2500?", "less than 2500", False),
        ("Who signs?", "less than 2500", False),
    ],
)
def test_a_sentence_on_the_other_side_of_a_bound_is_excluded(question: str, text: str, excluded: bool) -> None:
    assert excludes_range(find_asked_range(question), text) is excluded


BANDS = [
    "Up to £300: the teller pays at once.",
    "£300 to £3,000: ask 24 hours before.",
    "Above £3,000: a manager signs.",
]


@pytest.mark.parametrize(
    ("question", "items", "other"),
    [
        ("Can I take out £250?", BANDS, {1, 2}),
        ("Can I take out £3,000 in cash?", BANDS, {0, 2}),
        ("Can I take out 4000?", BANDS, {0, 1}),
        ("Can I take out more than £5,000?", BANDS, {0, 1}),
        ("Can I take out €250?", BANDS, set()),  # of another currency
        ("Can I take out £250?", BANDS[2:], set()),
        ("Can I take out £250?", BANDS[1:], set()),  # no item is about it
        ("Can I take out £250?", [*BANDS, "Bring your card."], set()),  # not a list of bands alone
        ("Can I take out £250?", [BANDS[0], "A loan has at least £1,000."], set()),  # they do not divide amounts
        ("How long may an intern work in room 5?", ["Interns: up to 4 hours", "Room 5: from 4 to 9"], set()),
        ("Can I stay 200 nights?", ["Up to 300 nights: yes.", "From 301 nights on: ask."], {1}),
    ],
)
def test_items_about_other_bands_are_found(question: str, items: list[str], other: set[int]) -> None:
    assert find_other_bands(find_asked_range(question), items) == other
