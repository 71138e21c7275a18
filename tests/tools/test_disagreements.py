"""Two documents disagree only where a single number about the same thing differs."""

from dataclasses import replace

import pytest

from argot.tools.answering.disagreements import find_disagreements
from argot.types import Document, DocumentField, Passage

SAID = "Employees get 30 days of annual leave each year."


def held(
    text: str, title: str = "Travel policy 2023", name: str = "a.md", heading: str = "Leave", region: str = ""
) -> tuple[Passage, Document]:
    fields = (DocumentField("region", region),) if region else ()
    document = Document(name, f"test:///{name}", title, "text/markdown", "r", "h", "2025-01-01", "2025", fields=fields)
    return Passage(f"p{name}", name, "r", 0, 0, len(text), text, title, (heading,)), document


def found(mine: tuple[Passage, Document], other: tuple[Passage, Document]) -> list[str]:
    return [one.other for one in find_disagreements([(mine[0].text, mine)], [mine, other])]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Employees get 45 days of annual leave each year.", "Travel policy 2025"),
        ("Apply in time. Employees get 45 days of annual leave each year. Ask HR.", "Travel Policy, rev. 3"),
        ("- Employees get **45 days** of annual leave each year.\n- Ask HR.", "Travel policy (draft)"),
    ],
)
def test_another_number_for_the_same_thing_is_a_disagreement(text: str, title: str) -> None:
    assert found(held(SAID), held(text, title, "b.md")) == ["Employees get 45 days of annual leave each year."]


@pytest.mark.parametrize(
    "other",
    [
        held(SAID, "Travel policy 2025", "b.md"),
        held("Employees get 45 weeks of annual leave each year.", "Travel policy 2025", "b.md"),
        held("Managers get 45 days of annual leave each year.", "Travel policy 2025", "b.md"),
        held("Employees in France get 45 days of annual leave each year.", "Travel policy 2025", "b.md"),
        held("Employees get at least 45 days of annual leave each year.", "Travel policy 2025", "b.md"),
        held("Employees get 45 days of annual leave each year.", "Travel policy of France", "b.md"),
        held("Employees get 45 days of annual leave each year.", "Travel policy 2025", "b.md", "France"),
        held("Employees get 45 days of annual leave each year.", "Travel policy 2023", "fr200.md"),
        held("Employees get 45 days of annual leave each year.", "Travel policy 2023", "a.md"),
    ],
)
def test_another_thing_condition_or_unit_is_not_a_disagreement(other: tuple[Passage, Document]) -> None:
    assert found(held(SAID), other) == []


@pytest.mark.parametrize(
    ("said", "other"),
    [
        (
            "The pump is refunded within two weeks of the order.",
            "The pump is refunded within three weeks of the order.",
        ),
        (
            "From 8:00 to 16:00 the store hands out at most 5 keys.",
            "From 9:30 to 17:00 the store hands out at most 5 keys.",
        ),
        ("A deposit of €50 is returned within 10 days.", "A deposit of €60 is returned within 20 days."),
        ("The store keeps a parcel for 1 week.", "The store keeps a parcel for 2 weeks."),
    ],
)
def test_up_to_three_numbers_are_compared_even_in_words(said: str, other: str) -> None:
    assert found(held(said), held(other, name="b.md")) == [other]


@pytest.mark.parametrize(
    ("said", "other"),
    [
        ("In 2023 the plant reported 3 accidents at work.", "In 2024 the plant reported 5 accidents at work."),
        ("Ask for form N-7 at the front desk today.", "Ask for form N-8 at the front desk today."),
        ("The gate closes at 8:00 in the morning hours.", "The gate closes at 08:00 in the morning hours."),
        ("The store lends at most 1,000 books a year.", "The store lends at most 1000 books a year."),
        ("The store lends at most $30 a year.", "The store lends at most €40 a year."),
        (
            "Mix 1 part, 2 parts, 3 parts and 4 parts of the paint.",
            "Mix 5 part, 6 parts, 7 parts and 8 parts of the paint.",
        ),
        (SAID, f"{SAID} Employees get 45 days of annual leave each year."),
    ],
)
def test_years_names_and_too_many_numbers_are_not_disagreements(said: str, other: str) -> None:
    assert found(held(said), held(other, name="b.md")) == []


@pytest.mark.parametrize(
    ("mine", "other"),
    [
        ("leave-1.md", "leave-2.md"),
        ("leave.md", "leave (1).md"),
        ("leave.md", "leave - Copy.md"),
        ("leave_rev_a.md", "leave_rev_b.md"),
        ("leave 2024.md", "leave copy 2.md"),
    ],
)
def test_copy_and_revision_numbers_do_not_make_a_different_thing(mine: str, other: str) -> None:
    text = "Employees get 45 days of annual leave each year."
    assert found(held(SAID, "Leave Rev. A", mine), held(text, "Leave Rev. B", other)) == [text]


def test_model_numbers_in_file_names_make_a_different_thing() -> None:
    text = "Employees get 45 days of annual leave each year."
    for mine, other in (("r1.md", "r7.md"), ("pump 200.md", "pump 300.md"), ("2025-04-1.md", "2025-04-2.md")):
        assert found(held(SAID, name=mine), held(text, name=other)) == []


def test_table_rows_that_differ_in_one_number_disagree() -> None:
    head = "| Part | Price (EUR) | Stock |\n|---|---|---|\n"
    mine = held(f"{head}| Seal | 12 | 4 |\n| Valve | 30 | 2 |\n")
    assert found(mine, held(f"{head}| Seal | 15 | 4 |\n| Valve | 30 | 2 |\n", name="b.md")) == [
        "Part: Seal, Price (EUR): 15"
    ]
    for rows in ("| Seal | 15 | 5 |", "| Seal, blue | 15 | 4 |", "| Seal | 15 | 4 |\n| Seal | 16 | 4 |"):
        assert found(mine, held(f"{head}{rows}\n", name="b.md")) == []
    assert found(mine, held("| Part | Price (USD) | Stock |\n|---|---|---|\n| Seal | 15 | 4 |\n", name="b.md")) == []


def test_a_pair_is_reported_once_with_the_preferred_document_first() -> None:
    text = "Employees get 45 days of annual leave each year."
    one, other = held(SAID), held(text, name="b.md")
    newer = other[0], replace(other[1], date="2026-02")
    assert [pair.said for pair in find_disagreements([(SAID, one), (text, newer)], [one, newer])] == [text]
    draft = newer[0], replace(newer[1], fields=(DocumentField("status", "Draft"),))
    assert [pair.said for pair in find_disagreements([(text, draft)], [one, draft])] == [SAID]


def test_documents_of_different_regions_or_models_do_not_disagree() -> None:
    other = "Employees get 45 days of annual leave each year."
    assert found(held(SAID, region="EU"), held(other, name="b.md", region="US")) == []
    assert found(held(SAID, "Pump 200"), held(other, "Pump 300", "b.md")) == []
    assert found(held("Weight: 30 kg"), held("Weight: 45 kg", name="b.md")) == []
