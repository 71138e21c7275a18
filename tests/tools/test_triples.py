from __future__ import annotations

import pytest

from argot.tools.retrieval.triple_extraction import MAX_TRIPLES_PER_PASSAGE, ExtractiveDeriver
from argot.types import Passage


def passage(text: str, *headings: str) -> Passage:
    return Passage("p1", "d", "r", 0, 0, len(text), text, "Manual", headings)


async def found(text: str, *headings: str) -> list[tuple[str, str, str]]:
    triples = await ExtractiveDeriver().triples([passage(text, *headings)])
    return [(triple.source, triple.action, triple.target) for triple in triples]


@pytest.mark.parametrize(
    ("text", "triple"),
    [
        ("To edit the image, click on the triple line menu.", ("triple line menu", "edit", "image")),
        ("Click **Save** to store the layout.", ("Save", "store", "layout")),
        ("Use the rotation handle to rotate the text box.", ("rotation handle", "rotate", "text box")),
        ("Select File > Export to create a PDF.", ("File > Export", "create", "PDF")),
        ("The import wizard lets you load contacts from a file.", ("import wizard", "load", "contacts")),
        ("You can change the picture size using the remote control.", ("remote control", "change", "picture size")),
        ("The place_pin command places a pin.", ("place_pin command", "places", "pin")),
        ("The torque wrench is used to tighten the bolts.", ("torque wrench", "tighten", "bolts")),
    ],
)
async def test_each_rule_extracts_its_triple(text: str, triple: tuple[str, str, str]) -> None:
    assert await found(text) == [triple]


async def test_steps_get_the_action_of_their_heading() -> None:
    steps = "1. Click **Rotate**.\n2. Press OK."
    assert await found(steps, "Text", "Rotate a text box") == [
        ("Rotate", "rotate", "text box"),
        ("OK", "rotate", "text box"),
    ]
    assert await found(steps, "Overview") == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The weather was fine, and nobody chose to leave.",
        "It lets you do it.",
        "The following command is used to place pins.",
        "| Click | Save to store |\n|---|---|\n| To open the door, | press the bell |",
        "```\nClick Save to store the layout.\n```",
    ],
)
async def test_text_without_instructions_gives_no_triple(text: str) -> None:
    assert await found(text) == []


async def test_the_number_of_triples_per_passage_is_that_of_the_paper() -> None:
    text = "\n\n".join(f"Click Button{n} to store the layout{n}." for n in range(100))
    assert len(await found(text)) == MAX_TRIPLES_PER_PASSAGE


@pytest.mark.parametrize("unit", ["to ", "click ", "Click a to b ", "the ", "a-b ", "To x the y, click "])
async def test_hostile_repetition_is_processed(unit: str) -> None:
    await found(unit * 2000)
