"""Numbers by which a question names a part, and numbers that only look like it."""

import pytest

from argot.tools.reading.numbered_references import find_numbered_references
from argot.tools.text.numbered_parts import find_numbered_parts
from argot.tools.text.part_labels import PartLabel, is_same_label, parse_label


@pytest.mark.parametrize(
    ("question", "kind", "labels"),
    [
        ("What does clause 2.2 say?", "clause", [("2", "2")]),
        ("What is step three of the start-up?", "step", [("3",)]),
        ("What does § 5 say?", "section", [("5",)]),
        ("What is in clause 4(b)?", "clause", [("4", "b")]),
        ("Quote sections 2.1 and 2.2", "section", [("2", "1"), ("2", "2")]),
        ("Show steps 2-4", "step", [("2",), ("3",), ("4",)]),
        ("What does article IV say?", "article", [("iv",)]),
        ("What does (b) say?", "", [("b",)]),
    ],
)
def test_numbered_references_are_recognised(question: str, kind: str, labels: list[PartLabel]) -> None:
    found = find_numbered_references(question)
    assert [one.label for one in found] == labels
    assert {one.kind for one in found} == {kind}


@pytest.mark.parametrize(
    "question",
    [
        "What changed in release 2.2?",
        "What does table 3 show?",
        "What is in figure 2?",
        "Where is access point 3?",
        "What is item 4711?",
        "Is a step of 3 V enough?",
        "Is the set point 70 degrees?",
        "Which step I should take?",
        "What comes after step 3?",
        "Is it (a) 5 V or (b) 3 V?",
        "Who met on 2.2.2024?",
    ],
)
def test_other_numbers_are_not_references(question: str) -> None:
    assert find_numbered_references(question) == []


def test_the_container_of_a_reference_omits_generic_words() -> None:
    assert find_numbered_references("What is step 3 of the start-up procedure?")[0].container == ("start",)
    assert find_numbered_references("What does clause 3 of this agreement say?")[0].container == ()


def parts(markdown: str) -> dict[PartLabel, str]:
    return {one.label: markdown[one.start : one.end].strip() for one in find_numbered_parts(markdown)}


def test_a_numbered_heading_extends_to_the_next_of_its_level() -> None:
    found = parts("# 2 Duties\n\n## 2.1 Pay\n\nPay soon.\n\n## 2.2 Mend\n\nMend.\n\n# 3 Law\n\nHere.\n")
    assert found["2", "1"] == "## 2.1 Pay\n\nPay soon."
    assert found["2",].endswith("Mend.")


def test_a_numbered_item_contains_only_its_indented_lines() -> None:
    found = parts("3. Do it:\n   at once\n\n   - gently\n4. Stop.\n\nThen wait.\n")
    assert found["3",] == "3. Do it:\n   at once\n\n   - gently"
    assert found["4",] == "4. Stop."


def test_numbered_parts_are_found_in_plain_text() -> None:
    found = parts("5. TERM\n\n5.1 Notice\n\nIn writing.\n\n5.2 Of the end\n\nAll ends.\n\n6. LAW\n\nHere.\n")
    assert found["5", "1"] == "5.1 Notice\n\nIn writing."
    assert found["5",].endswith("All ends.")


def test_items_all_written_as_1_are_numbered_consecutively() -> None:
    assert list(parts("1. one\n1. two\n1. three\n")) == [("1",), ("2",), ("3",)]


def test_amounts_and_mentions_do_not_begin_a_part() -> None:
    assert parts("2.3 V is the limit.\n\nSection 4 applies to all.\n\nVersion 2.2 is out.\n") == {}


def test_roman_numerals_equal_numbers() -> None:
    assert is_same_label(parse_label("IV"), parse_label("4"))
    assert not is_same_label(parse_label("b"), parse_label("2"))
