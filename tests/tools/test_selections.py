"""A list or table that is quoted in part."""

from __future__ import annotations

from argot.tools.answering.selections import count_quoted

TABLE = "Codes:\n\n| Code | Reason |\n| --- | --- |\n| H1 | alarm |\n| H2 | data |\n| H3 | customer |\n"
LIST = "Do this:\n\n1. Stop.\n2. Call the desk.\n\nThen wait."


def test_quoted_table_rows_are_counted_without_the_header() -> None:
    assert count_quoted(["| Code | Reason |", "| H2 | data |"], TABLE) == (1, 3)


def test_a_list_quoted_whole_or_not_at_all_is_not_a_selection() -> None:
    assert count_quoted(["1. Stop.", "2. Call the desk."], LIST) == (0, 0)
    assert count_quoted(["Then wait."], LIST) == (0, 0)


def test_quoted_list_items_are_counted() -> None:
    assert count_quoted(["2. Call the desk."], f"{LIST}\n\n{TABLE}") == (1, 2)
