"""A count is shown with the list that it was made from, cited and not marked as unsupported."""

from __future__ import annotations

from typing import Any

from one_question import ask_once

REGIONS = (
    "# Service handbook\n\n## Regions\n\nWe support these regions:\n\n- Frankfurt\n- Oslo\n- Turin\n\nAsk for more.\n"
)


async def test_the_count_comes_with_the_list_and_cites_it(tiny_kb: Any) -> None:
    tiny_kb.add("handbook.md", REGIONS)
    result = await ask_once(tiny_kb, "How many regions do we support?")
    assert result.answer == "3 entries:\n\nWe support these regions:\n\n- Frankfurt\n- Oslo\n- Turin"
    assert all(sentence.supported for sentence in result.sentences)
    (citation,) = result.sentences[0].citations
    assert REGIONS[slice(*citation.span)] == "We support these regions:\n\n- Frankfurt\n- Oslo\n- Turin"


async def test_a_number_stated_in_the_documents_wins_over_a_count(tiny_kb: Any) -> None:
    tiny_kb.add("handbook.md", REGIONS.replace("Ask for more.", "By May we support five regions."))
    result = await ask_once(tiny_kb, "How many regions do we support?")
    assert "entries" not in result.answer
    assert "five regions" in result.answer
