"""Lists and tables that the ends of a passage cut."""

import pytest

from argot.corpus.chunking.list_cuts import ListCut, find_list_cut

MARKDOWN = """# Yard

The yard opens early. Bring one
of these to the yard:

- a badge
- a letter
  of the office
- a key:
  - red
  - blue

Then go in.

| Gate | Hour |
| --- | --- |
| east | 7 |
| west | 8 |

1. ring
2. wait
3. enter

## Notes

Nothing.
"""
LEAD_IN = "Bring one of these to the yard:"


def cut(first: str, last: str) -> ListCut:
    return find_list_cut(MARKDOWN, MARKDOWN.index(first), MARKDOWN.index(last) + len(last))


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        ("# Yard", "- blue", ListCut()),
        ("# Yard", "- a badge", ListCut(after=True)),
        ("# Yard", "to the yard:", ListCut()),
        ("- a badge", "- blue", ListCut(LEAD_IN)),
        ("- a letter", "of the office", ListCut(LEAD_IN, before=True, after=True)),
        ("- a letter", "go in.", ListCut(LEAD_IN, before=True)),
        ("- red", "- blue", ListCut("- a key:")),
        ("- blue", "go in.", ListCut("- a key:", before=True)),
        ("Then go", "| 7 |", ListCut(after=True)),
        ("| Gate", "| 8 |", ListCut()),
        ("| west", "2. wait", ListCut(before=True, after=True)),
        ("3. enter", "Nothing.", ListCut(before=True)),
        ("## Notes", "Nothing.", ListCut()),
    ],
)
def test_a_cut_list_is_found_with_the_line_above_it(first: str, last: str, expected: ListCut) -> None:
    assert cut(first, last) == expected


UNFINISHED = "You may not enter if you\n\n- smoked\n- ate\n\n## Then\n\nThis is asked at the gate.\n\n- name\n- age\n"


@pytest.mark.parametrize(("first", "lead_in"), [("- ate", "You may not enter if you"), ("- name", "")])
def test_a_sentence_is_a_lead_in_if_the_list_finishes_it(first: str, lead_in: str) -> None:
    place = UNFINISHED.index(first)
    assert find_list_cut(UNFINISHED, place, place + len(first)).lead_in == lead_in


def test_a_list_of_another_kind_does_not_continue_a_list() -> None:
    text = "- nails\n- screws\n\n1. ring\n2. wait\n"
    assert find_list_cut(text, 0, text.index("\n\n")) == ListCut()
    assert find_list_cut(text, text.index("1."), len(text)) == ListCut()


@pytest.mark.parametrize("between", ["Then go in.", "## Tools", "- screws:\n\n    Of brass:"])
def test_a_list_does_not_begin_above_what_ends_it(between: str) -> None:
    text = f"Bring:\n\n- nails\n\n{between}\n\n- hammers\n- saws\n"
    begun_above = between.startswith("- ")
    assert find_list_cut(text, text.index("- hammers"), len(text)) == (
        ListCut("Bring:", before=True) if begun_above else ListCut()
    )


def test_a_long_paragraph_above_a_list_is_no_lead_in() -> None:
    text = f"{'Bring whatever the wardens of the east gate may ask for, ' * 6}namely:\n\n- nails\n- screws\n"
    assert find_list_cut(text, text.index("- screws"), len(text)) == ListCut(before=True)
