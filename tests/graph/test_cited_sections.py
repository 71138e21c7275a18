"""Sections that verified answers cite, recorded by the spans of the citations and found in another revision."""

import pytest

from argot.graph.cited_sections import locate_sections, select_sections

FIRST, SECOND, THIRD = "# Fees\n\nLate filings.\n\n", "# Amount\n\n500 euro.\n\n", "# Deadline\n\nIn May.\n"
TEXT = FIRST + SECOND + THIRD
SECOND_START, THIRD_START = len(FIRST), len(FIRST + SECOND)


@pytest.mark.parametrize(
    ("span", "starts"),
    [
        ((0, 5), [0]),
        ((0, SECOND_START), [0]),
        ((0, SECOND_START + 1), [0, SECOND_START]),
        ((SECOND_START + 2, THIRD_START + 3), [SECOND_START, THIRD_START]),
        ((3, len(TEXT)), [0, SECOND_START, THIRD_START]),
        ((SECOND_START, SECOND_START), [SECOND_START]),
    ],
)
def test_every_section_that_a_citation_touches_is_recorded(span: tuple[int, int], starts: list[int]) -> None:
    selected = select_sections(TEXT, [span])
    assert [start for start, _ in selected] == starts
    located = locate_sections(f"Before.\n\n{TEXT}")
    assert [located[digest] for _, digest in selected] == [start + len("Before.\n\n") for start in starts]


@pytest.mark.parametrize("word", ["Late", "500", "May"])
def test_a_change_in_any_section_of_a_citation_is_noticed(word: str) -> None:
    selected = select_sections(TEXT, [(0, len(TEXT))])
    located = locate_sections(TEXT.replace(word, "Other"))
    assert not all(digest in located for _, digest in selected)


@pytest.mark.parametrize("name", ["Alpha", "Beta", "Gamma", "Delta"])
def test_a_heading_at_the_very_beginning_begins_the_section_of_its_text(name: str) -> None:
    ((_, digest),) = select_sections(f"# {name}\n\n500 euro.\n", [(2, 9)])
    assert digest not in locate_sections(f"# {name}\n\n5 euro.\n")


def test_sections_of_one_citation_are_found_only_together() -> None:
    together, apart = select_sections(TEXT, [(0, THIRD_START)]), select_sections(TEXT, [(0, 5), (SECOND_START, 40)])
    located = locate_sections(f"{FIRST}# Validity\n\nNot any more.\n\n{SECOND}")
    assert all(digest in located for _, digest in apart)
    assert not all(digest in located for _, digest in together)
