"""Tests of how bench/latency.py counts sequential model calls."""

import importlib.util
import sys

import pytest
from repository import ROOT

PATH = ROOT / "bench" / "latency.py"


@pytest.mark.parametrize(
    ("names", "rounds"),
    [
        (["cited_answer"], 1),
        (["identify_jargon", "identify_context", "cited_answer"], 2),
        (["identify_context", "cited_answer"], 2),  # the glossary knew the terms, so only their context was asked for
        (["identify_jargon", "identify_context", "identify_context", "cited_answer"], 3),
        ([], 0),
    ],
)
def test_the_number_of_sequential_model_calls_is_counted(
    names: list[str], rounds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = importlib.util.spec_from_file_location("bench_latency", PATH)
    assert spec and spec.loader
    latency = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "bench_latency", latency)
    spec.loader.exec_module(latency)
    assert latency.count_in_sequence(names) == rounds
