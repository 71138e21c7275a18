"""The mask of taken characters of a text."""

from hypothesis import given
from hypothesis import strategies as st

from argot.jargon_db.lookup.span_mask import SpanMask

RANGES = st.tuples(st.integers(0, 30), st.integers(1, 10)).map(lambda one: (one[0], one[0] + one[1]))


@given(st.lists(RANGES, max_size=6), RANGES)
def test_a_span_is_free_unless_it_overlaps_a_taken_one(taken: list[tuple[int, int]], asked: tuple[int, int]) -> None:
    mask = SpanMask(40)
    for start, end in taken:
        mask.take(start, end)
    assert mask.are_free(*asked) == all(asked[1] <= start or end <= asked[0] for start, end in taken)
