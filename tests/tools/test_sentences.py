from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argot.tools.text.markdown_prose import extract_prose
from argot.tools.text.sentences import split_sentences, split_units


def pieces(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is 5 V. It is not 6 mm. See.", ["It is 5 V.", "It is not 6 mm.", "See."]),
        ("See Fig. 3 for the limit. It is 5.2 V.", ["See Fig. 3 for the limit.", "It is 5.2 V."]),
        ("Use it with care, e.g. in tests. Dr. Wu said so.", ["Use it with care, e.g. in tests.", "Dr. Wu said so."]),
        ("Run it for max. 1 hour. Then stop.", ["Run it for max. 1 hour.", "Then stop."]),
        ("Rent incl. heating is 5 V max. It is due.", ["Rent incl. heating is 5 V max.", "It is due."]),
        ("The limit is 1.5 ms. Then it stops.", ["The limit is 1.5 ms.", "Then it stops."]),
        ("One line\nand the next. Another\nsentence.", ["One line\nand the next.", "Another\nsentence."]),
        ("Is it so? Yes! Good.", ["Is it so?", "Yes!", "Good."]),
        (
            "*Parking?* North yard. **No.** Good.",
            ["*Parking?*", "North yard.", "**No.**", "Good."],
        ),
        (
            "**4. Open day.** It is on 5 July. Bring a dog.",
            ["**4. Open day.** It is on 5 July.", "Bring a dog."],
        ),
        (
            "**Never open a gate that is red.** Wait. Then ring.",
            ["**Never open a gate that is red.**", "Wait.", "Then ring."],
        ),
        ("no full stop", ["no full stop"]),
        ("", []),
        (" \n\n ", []),
    ],
)
def test_prose_is_split_into_sentences(text: str, expected: list[str]) -> None:
    assert pieces(text) == expected


def test_markdown_blocks_are_separate_units() -> None:
    text = (
        "# Title\nSome text. More text:\n\n- first item; goes\n  on\n- second. With two sentences.\n1. Step\n\n"
        "| A | B |\n|---|---|\n| 1 | 2 |\n\n```sh\nrun it. Now\n```\nSetext\n---\n\n    indented code\n"
    )
    assert [(kind, text[start:end]) for start, end, kind in split_units(text)] == [
        ("heading", "# Title"),
        ("prose", "Some text."),
        ("prose", "More text:"),
        ("item", "- first item; goes\n  on"),
        ("item", "- second. With two sentences."),
        ("item", "1. Step"),
        ("row", "| A | B |"),
        ("row", "| 1 | 2 |"),
        ("code", "```sh\nrun it. Now\n```"),
        ("heading", "Setext\n---"),
        ("code", "indented code"),
    ]


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="aB1 .!?\n-|#`*()\"'\té中", max_size=300))
def test_sentence_spans_are_ordered_and_lose_no_word(text: str) -> None:
    spans = split_sentences(text)
    assert all(start < end for start, end in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    assert all(text[start:end] == text[start:end].strip() for start, end in spans)
    edges = [0, *(edge for span in spans for edge in span), len(text)]
    left_out = "".join(text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True))
    assert not any(character.isalnum() for character in left_out)


@pytest.mark.parametrize("unit", ["a) b) ", "(", "a. ", "1.", '"a', "`", "[", "*a", "\n- a", "| "])
def test_hostile_repetition_is_split_without_loss(unit: str) -> None:
    text = unit * (20_000 // len(unit))
    spans = split_sentences(text)
    assert spans and spans[-1][1] <= len(text)
    extract_prose(text)


def test_prose_drops_markup_and_maps_back_to_its_source() -> None:
    source = '## The **main**  [guide](http://x.org/a_b "t"), `code_x` and ![a picture](p.png)\\*'
    read = extract_prose(source)
    assert read.text == "The main guide, code_x and a picture*"
    start = read.text.index("guide")
    assert source[slice(*read.source_span(start, start + 5))] == "guide"
    assert extract_prose("snake_case and 2 * 3 * 4").text == "snake_case and 2 * 3 * 4"


def test_a_line_at_the_margin_ends_an_indented_list() -> None:
    text = "You get:\n  * 4 shirts\n  * 1 pair of shoes,\nlaced (S3)\nTrousers are replaced.\n"
    found = [(kind, text[start:end]) for start, end, kind in split_units(text)]
    assert found[-2:] == [("item", "* 1 pair of shoes,\nlaced (S3)"), ("prose", "Trousers are replaced.")]


def test_full_stops_of_chinese_and_japanese_end_sentences() -> None:
    text = "今天开会。明天休息！可以吗？\n\n申請は「三日前。」までに行う。NX-4410 is 5.2 mm。"
    assert [text[start:end] for start, end in split_sentences(text)] == [
        "今天开会。", "明天休息！", "可以吗？", "申請は「三日前。」", "までに行う。", "NX-4410 is 5.2 mm。",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Those with `.gov` or `.mil` addresses may join.", "Others may not."),
        ("The user is your own plus `.t`.", "Reset on Sunday."),
        ("Notes with `!!` pop up.", "They fall away."),
        ("Write `. or a note.`", "After that, stop."),
        ("Run `a.b\nSet. d` now.", "Good bye."),
        ("O`Neil opens the gate.", "O`Hara shuts it."),
    ],
)
def test_a_stop_within_inline_code_ends_no_sentence(first: str, second: str) -> None:
    text = f"{first} {second}"
    assert [text[start:end] for start, end in split_sentences(text)] == [first, second]
