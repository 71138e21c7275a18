from __future__ import annotations

import io
import json
import lzma
import tarfile
from pathlib import Path
from typing import Any

import pytest

from argot.learn.questions.section_questions import Section, make_heading_question, split_sections
from argot.learn.reader.training_data import (
    Example,
    choose_split,
    compute_share,
    read_examples,
    read_training_examples,
    write_examples,
)

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


def test_an_item_is_always_assigned_to_the_same_split() -> None:
    parts = {choose_split("clapnq", str(number)) for number in range(50)}
    assert parts == {"train", "validation"}
    assert compute_share("x") == compute_share("x") and 0 <= compute_share("x") < 1


@pytest.fixture
def datasets(tmp_path: Path) -> Path:
    def lines(path: str, rows: list[dict[str, Any]]) -> None:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("".join(json.dumps(row) + "\n" for row in rows))

    (tmp_path / "medquad").mkdir()
    pairs = [
        {"id": f"{focus}{part}", "focus": focus, "question": f"What {part} {focus} ?",
         "answer": f"Its {part} are many things of {focus}. Doctors see {part} often."}
        for focus in ("Flu", "Gout", "Mumps", "Lupus", "Acne", "Croup") for part in ("causes", "treats")
    ]  # fmt: skip
    with lzma.open(tmp_path / "medquad" / "pairs.jsonl.xz", "wt") as file:
        file.writelines(json.dumps(pair) + "\n" for pair in pairs)
    (tmp_path / "aws_docs").mkdir()
    with tarfile.open(tmp_path / "aws_docs" / "documents.tar.xz", "w:xz") as archive:
        for number in range(60):
            content = MARKDOWN.replace("Every block", f"Every block {number}").encode()
            member = tarfile.TarInfo(f"documents/{number}.md")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    (tmp_path / "tfa_docs" / "docs").mkdir(parents=True)
    (tmp_path / "tfa_docs" / "docs" / "a.rst").write_text("Title\n=====\n")
    sentences = ["The drive has 2 planes .", "It is grey ."]
    passage = {"title": "Drive", "passage": " ".join(sentences), "sentences": sentences}
    for name in ("answerable", "unanswerable"):
        lines(f"clapnq/{name}.jsonl", [{"id": str(n), **passage, "question": f"how many planes {n}"} for n in range(9)])
    turn = {"collection": "c", "turns": [{"speaker": "user", "text": "How long?"}], "reference": ["6 days."],
            "passages": [{"id": "p", "title": "T", "text": LONG}]}  # fmt: skip
    lines("mtrag_un/turns.jsonl", [{"id": str(n), "kind": ["ANSWERABLE"], **turn} for n in range(6)])
    return tmp_path


def test_examples_come_from_every_data_set_and_exclude_validation(datasets: Path, tmp_path: Path) -> None:
    examples = read_training_examples(datasets)
    assert examples == read_training_examples(datasets)
    assert {one.source for one in examples} == {"medquad", "aws_docs", "clapnq", "mtrag_un"}
    asked = {one.text for one in examples if one.source == "clapnq"}
    assert asked == {f"how many planes {n}" for n in range(9) if choose_split("clapnq", str(n)) == "train"}
    write_examples(examples, tmp_path / "examples.jsonl")
    assert read_examples(tmp_path / "examples.jsonl") == examples


def test_every_example_has_a_passage_or_negatives(datasets: Path) -> None:
    assert all(isinstance(one, Example) and (one.passage or one.negatives) for one in read_training_examples(datasets))
