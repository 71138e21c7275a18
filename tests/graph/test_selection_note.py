"""An answer that quotes only part of a list says so."""

from __future__ import annotations

import re
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

from argot.graph.build import build_graph
from argot.graph.run import ask

STEPS = "\n".join(f"{number}. Press key {number} of the sealing press and wait." for number in range(1, 21))


async def notes(kb: Any, question: str) -> list[str]:
    events = [event async for event in ask(build_graph(InMemorySaver()), kb.run_context(), question, "t")]
    return list(events[-1].data.notes)


async def test_a_list_quoted_in_part_gets_a_selection_note(tiny_kb: Any) -> None:
    tiny_kb.add("press.md", f"# Sealing press\n\nTo start the sealing press:\n\n{STEPS}\n")
    (note,) = await notes(tiny_kb, "What are the steps to start the sealing press?")
    assert re.fullmatch(r"This is a selection: 1\d of 20 entries of a list or table in press\.md\.", note)


async def test_a_list_quoted_whole_gets_no_selection_note(tiny_kb: Any) -> None:
    tiny_kb.add("press.md", "# Sealing press\n\nTo start the sealing press:\n\n1. Open the valve.\n2. Press the key.\n")
    assert not await notes(tiny_kb, "What are the steps to start the sealing press?")


async def test_a_value_in_one_row_is_no_selection(tiny_kb: Any) -> None:
    rows = "".join(f"| press {number} | {number + 3} bars |\n" for number in range(1, 9))
    tiny_kb.add("press.md", f"# Sealing presses\n\n| Sealing press | Pressure |\n|---|---|\n{rows}")
    assert not await notes(tiny_kb, "How many bars does sealing press 4 have?")
