"""Columns that plain text aligns by spaces are read as tables."""

from __future__ import annotations

import pytest

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.plain_text import read_text
from argot.corpus.readers.text_tables import render_text_tables

TOPICS = """\
    Topic                 Place
    Badge, pay, forms     building 1, ground floor
    Safety                duty officer, phone 4112"""
STRESS = """\
Step        Time        Note
----        ----        ----
Loading     25 min      vacuum pen only
Stress      24 h or 6 h set B | C
Cool down   60 min"""
NUMBERS = """\
Pack      Parts   Weight
Tray        120  0.21 kg
Pallet  115,200   268 kg"""


def test_aligned_columns_become_a_table() -> None:
    assert render_text_tables(TOPICS) == (
        "| Topic | Place |\n| --- | --- |\n| Badge, pay, forms | building 1, ground floor |\n"
        "| Safety | duty officer, phone 4112 |"
    )


def test_one_space_between_full_columns_rules_and_missing_last_cells_are_read() -> None:
    assert render_text_tables(STRESS).split("\n")[2:] == [
        "| Loading | 25 min | vacuum pen only |",
        "| Stress | 24 h or 6 h | set B \\| C |",
        "| Cool down | 60 min |  |",
    ]


def test_numbers_may_stand_at_the_right_of_their_column() -> None:
    assert render_text_tables(NUMBERS).split("\n")[3] == "| Pallet | 115,200 | 268 kg |"


def test_text_around_a_table_stays_apart_from_it() -> None:
    lines = render_text_tables(f"The packs are:\n{NUMBERS}\nWeights are rounded.\n\nMore.").split("\n")
    assert lines[:3] == ["The packs are:", "", "| Pack | Parts | Weight |"]
    assert lines[-4:] == ["", "Weights are rounded.", "", "More."]


@pytest.mark.parametrize(
    "text",
    [
        "One line.  Another sentence.\nA second  line here.\nThe third line is short.",
        "First.  The text goes on\nand on.  It has wide gaps\nafter stops.  Always.",
        "- one    two\n- three  four\n- five   six",
        f"```\n{NUMBERS}\n\n{NUMBERS}\n```",
        "Only one    row\nand a       second",
        "| a | b |\n|---|---|\n| 1   | 2 |",
        "",
    ],
)
def test_other_text_is_kept_as_it_is(text: str) -> None:
    assert render_text_tables(text) == text


def test_the_reader_of_plain_text_renders_tables_and_keeps_every_word() -> None:
    parsed = read_text(f"Help\n====\n\n{TOPICS}\n".encode(), "help.txt", ReadLimits())
    assert parsed.title == "Help"
    assert "| Safety | duty officer, phone 4112 |" in parsed.markdown


WITHDRAWAL = """\
   ------------------------------------------
   product         route      cattle    cattle
                              meat      milk
   ------------------------------------------
   Penstrep-H      i/m        23        5
   Tricla combi    oral       56        NOT
   Oxytocin        i/m        0         0
   ------------------------------------------
   NOT = may not be used."""


def test_a_header_of_two_lines_is_joined() -> None:
    assert render_text_tables(WITHDRAWAL).split("\n")[:4] == [
        "| product | route | cattle meat | cattle milk |",
        "| --- | --- | --- | --- |",
        "| Penstrep-H | i/m | 23 | 5 |",
        "| Tricla combi | oral | 56 | NOT |",
    ]


def test_a_rule_above_a_total_makes_no_header_of_the_rows_above_it() -> None:
    total = "Item      Pounds\nBadge     12\n------------------\nTotal     12\nPaid      10"
    assert render_text_tables(total).split("\n")[:3] == ["| Item | Pounds |", "| --- | --- |", "| Badge | 12 |"]


SECTIONS = """\
INTERNAL MEMO

1. DAMP AND MOULD (replaces section 8)
Every report gets a reference.

2. HEATING: THE SEASON
    The season runs from 15 September.
      - to 15 May

3. THE LAST ONE IS A SENTENCE."""


def test_numbered_lines_in_capitals_are_headings() -> None:
    markdown = read_text(SECTIONS.encode(), "memo.txt", ReadLimits()).markdown
    assert markdown.split("\n") == [
        "INTERNAL MEMO",
        "",
        "## 1. DAMP AND MOULD (replaces section 8)",
        "",
        "Every report gets a reference.",
        "",
        "## 2. HEATING: THE SEASON",
        "",
        "The season runs from 15 September.",
        "  - to 15 May",
        "",
        "3. THE LAST ONE IS A SENTENCE.",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "1) RECEIPTS: hand in within 7 days instead of\n30.\n\n2) CHARGING: at home,\nwith the box.",
        "1. DO NOT ENTER",
        "1. Damp\n\n2. Heating",
        "2. DAMP\n\n1. HEATING",
        "The list:\n1. DAMP\n2. HEATING",
    ],
    ids=["sentences", "only one", "small letters", "not in order", "within a paragraph"],
)
def test_other_numbered_lines_stay_as_they_are(text: str) -> None:
    assert read_text(text.encode(), "list.txt", ReadLimits()).markdown == text
