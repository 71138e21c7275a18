"""Tests of choosing the option of a multiple-choice question that the passages support."""

import pytest

from argot.evaluate.multiple_choice import choose_option

TABLE = """## Commands in flight

The active command table has 256 slots of 64 bytes; on an unclean stop it is saved together with the map."""
TARGET = """## Write amplification

Our target for the write amplification factor under random load is at most 3.2 on Heron E4 and 4.5 on Tern 7."""
BOARDS = """## Changes

Changes are decided by the change advisory board. The change advisory board sits on Tuesday at 14:00.

## Patents

The board meets every second Thursday."""
BAG = "A barrier inner bag is sealed at 180 degrees. It may be opened and sealed again once; then it is discarded."
BARE = "## The DST\n\nThe DST rate is 3 percent of the fee. The short device self-test reads 1 percent of all blocks."


@pytest.mark.parametrize(
    ("question", "options", "passage", "right"),
    [
        ("How many slots has the active command table?", ["64", "256"], TABLE, "256"),
        ("How many bytes has a slot of the active command table?", ["64", "256"], TABLE, "64"),
        ("Target of the write amplification on Tern 7 with random load?", ["3.2", "4.5"], TARGET, "4.5"),
        ("Target of the write amplification on Heron E4 with random load?", ["3.2", "4.5"], TARGET, "3.2"),
        ("How often may the bag be opened and sealed again?", ["180 times", "once", "twice"], BAG, "once"),
    ],
)
def test_the_option_is_chosen_whose_number_or_name_the_passage_states(
    question: str, options: list[str], passage: str, right: str
) -> None:
    for order in (options, options[::-1]):
        chosen = choose_option(question, order, [passage])
        assert chosen is not None
        assert order[chosen] == right


def test_a_part_of_an_expansion_is_not_taken_for_the_term() -> None:
    question = "On which day does the CAB sit?\nTerms:\n- CAB: change advisory board (IT). Decides changes."
    assert choose_option(question, ["Thursday", "Tuesday"], [BOARDS]) == 1


def test_the_words_of_the_question_count_beside_the_expansion() -> None:
    """Check a wrong sense: the passage with the short form itself still supports its option."""
    question = "What is the DST rate?\nTerms:\n- DST: device self-test (Firmware)."
    assert choose_option(question, ["1 percent", "3 percent"], [BARE]) == 1


@pytest.mark.parametrize("options", [["", "x"], ["%", "🙂"], ["once", "once more"], ["all of these", "true"]])
def test_unusual_options_cause_no_error(options: list[str]) -> None:
    assert choose_option("How many (of) these?\n- x: y", options, ["", BAG, "| a |\n|---|"]) in (None, 0, 1)
