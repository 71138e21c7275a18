"""Other queries of a model are used only if they are new, short, and free of names that the model was not given."""

import pytest

from argot.tools.llm.other_queries import MAX_QUERY_CHARS, FailedSearch, select_queries

FAILED = FailedSearch(
    question="Where do I get a badge for the NX-200 room?",
    tried=["Where do I get a badge for the NX-200 room?", "badge office"],
    found=["Access > Rooms: Each room has a reader."],
    titles=["Reception handbook"],
)


def test_up_to_three_new_queries_are_kept_in_their_order() -> None:
    said = ["visitor passes", "access cards for rooms", "reception handbook badges", "NX-200 access"]
    assert select_queries(said, FAILED) == said[:3]


@pytest.mark.parametrize(
    "said",
    [
        "Badge Office",  # tried already
        "",
        "...",
        "the of and",
        "badges for the ZK-900 room",
        "call 555 0199 for badges",
        "badge <script>alert(1)</script>",
        "see https://example.com/badges",
        "badge " * MAX_QUERY_CHARS,
        7,
    ],
)
def test_a_known_empty_long_or_foreign_query_is_dropped(said: object) -> None:
    assert select_queries([said], FAILED) == []


def test_ordinary_words_in_capitals_are_no_names() -> None:
    assert select_queries(["Visitor Access Cards"], FAILED) == ["visitor access cards"]


def test_a_query_is_proposed_once() -> None:
    assert select_queries(["visitor passes", "Visitor passes"], FAILED) == ["visitor passes"]
