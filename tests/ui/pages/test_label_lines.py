"""Tests of names and relations as lines of a form."""

import pytest

from argot.errors import InvalidInput
from argot.types import Label, Relation
from argot.ui.rendering.label_lines import format_label, format_relation, parse_label_lines, parse_relation_lines

LABELS = [
    Label("tension bar", "deprecated"),
    Label("Zugstange", "preferred", "de", "noun", "feminine", "full form"),
    Label("ratio 1:2, coarse", "forbidden", "en"),
    Label("Zange", "admitted", "de", "noun: common, 50%2C", "", "short form"),
]
RELATIONS = [
    Relation("broader", "rod"),
    Relation("see also", "bolt [M8]", "Mechanics"),
    Relation("related", "a: b"),
    Relation("narrower", "bolt [M8]"),
]


def test_labels_and_relations_are_read_as_they_were_written() -> None:
    assert parse_label_lines("\n\n".join(map(format_label, LABELS))) == LABELS
    assert parse_relation_lines("\n".join(map(format_relation, RELATIONS))) == RELATIONS


def test_a_persons_spelling_is_read() -> None:
    assert parse_label_lines(" pull rod :  Forbidden ,language EN") == [Label("pull rod", "forbidden", "EN")]
    assert parse_relation_lines("Narrower:eye bolt") == [Relation("narrower", "eye bolt")]


@pytest.mark.parametrize("line", ["pull rod", "pull rod: bad", ": deprecated", "pull rod: deprecated, colour red"])
def test_a_wrong_line_of_names_is_named_with_the_remedy(line: str) -> None:
    with pytest.raises(InvalidInput, match=r"deprecated|language"):
        parse_label_lines(f"good: admitted\n{line}")


@pytest.mark.parametrize("line", ["rod", "parent: rod", "broader:", "broader:  "])
def test_a_wrong_line_of_relations_is_named_with_the_remedy(line: str) -> None:
    with pytest.raises(InvalidInput, match="broader: rod"):
        parse_relation_lines(line)
