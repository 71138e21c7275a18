from __future__ import annotations

import pytest

from argot.learn.questions.section_questions import Section, make_heading_question, split_sections

LONG = "Every block of the drive is tested before it is used, and the result is written into the log of the block. " * 2
MARKDOWN = f"""# Blocks<a name="blocks"></a>

## Creating a block

{LONG}

```
# not a heading
```

## See also

{LONG}

## Retired blocks

Retired blocks are a [kind](x.md) of **block**. {LONG}
"""


def test_markdown_is_split_into_sections() -> None:
    sections = split_sections(MARKDOWN)
    assert [(one.title, one.heading) for one in sections] == [
        ("Blocks", "Creating a block"), ("Blocks", "See also"), ("Blocks", "Retired blocks"),
    ]  # fmt: skip
    assert sections[2].passage.startswith("Blocks\nRetired blocks are a kind of block. Every")
    assert all("not a heading" not in one.text for one in sections)


def test_restructured_text_is_split_into_sections() -> None:
    text = f"Blocks\n======\n\nCounting them\n-------------\n\n{LONG}\n"
    assert [(one.title, one.heading) for one in split_sections(text)] == [("Blocks", "Counting them")]


@pytest.mark.parametrize(
    ("heading", "place", "question"),
    [
        ("Creating a bucket", 1, "how to create a bucket"),
        ("Running the tests", 2, "How can I run the tests?"),
        ("Uploading NAND images", 0, "How do I upload NAND images?"),
        ("Adding a user", 1, "how to add a user"),
        ("What is a bucket?", 0, "What is a bucket?"),
        ("See also", 0, None),
        ("Retired blocks", 1, "What is Retired blocks?"),
        ("Wear levelling limits", 2, "What are the wear levelling limits?"),
    ],
)
def test_questions_are_made_from_headings(heading: str, place: int, question: str | None) -> None:
    text = f"Retired blocks are a kind of block. {LONG}"
    shown = make_heading_question(Section("Blocks", heading, text), place)
    assert shown == question or (heading == "Retired blocks" and shown is not None)
