"""Leaky buckets: their counts fall with time, and the number of counted keys is bounded."""

import pytest

from argot.service import leaky_buckets
from argot.service.leaky_buckets import LeakyBuckets


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


def test_a_full_bucket_accepts_one_more_after_one_leaks() -> None:
    clock = Clock()
    buckets: LeakyBuckets[str] = LeakyBuckets(60.0, clock)
    for _ in range(3):
        assert buckets.wait("ann", 3) <= 0
        buckets.add("ann", 3)
    assert buckets.wait("ann", 3) == 20.0
    assert buckets.wait("bob", 3) <= 0
    clock.now += 19
    assert buckets.wait("ann", 3) == pytest.approx(1.0)
    clock.now += 1
    assert buckets.wait("ann", 3) == pytest.approx(0.0)


def test_counts_can_be_taken_back_but_never_fall_below_zero() -> None:
    buckets: LeakyBuckets[str] = LeakyBuckets(60.0, Clock())
    buckets.add("ann", 1)
    assert buckets.wait("ann", 1) == 60.0
    buckets.add("ann", 1, -5.0)
    assert buckets.wait("ann", 1) == 0.0
    buckets.add("ann", 1)
    assert buckets.wait("ann", 1) == 60.0
    buckets.empty("ann")
    assert buckets.wait("ann", 1) == 0.0 and len(buckets) == 0


def test_the_least_recently_counted_key_is_evicted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaky_buckets, "MOST_COUNTED", 2)
    buckets: LeakyBuckets[str] = LeakyBuckets(60.0, Clock())
    for name in ("ann", "bob", "ann", "cyd"):
        buckets.add(name, 2)
    assert len(buckets) == 2
    assert buckets.wait("bob", 2) == -30.0
    assert buckets.wait("ann", 2) == 30.0
