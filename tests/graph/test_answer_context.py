"""A quoted answer stands by itself, and the text around it beside it."""

from __future__ import annotations

from typing import Any

from one_question import ask_once

KILN = (
    "# Workshop\n\n## Kiln\n\nThe kiln is lit by the early shift. After a firing the kiln cools for 40 hours. "
    "Nobody opens the door before.\n"
)


async def test_the_answer_is_the_sentence_and_its_paragraph_is_the_context(tiny_kb: Any) -> None:
    tiny_kb.add("workshop.md", KILN)
    result = await ask_once(tiny_kb, "How long does the kiln cool after a firing?")
    assert result.answer == "After a firing the kiln cools for 40 hours."
    assert [one.text for one in result.sentences] == [result.answer]
    (context,) = result.answer_context
    assert context.text == KILN.rpartition("\n\n")[2].strip()
    assert [context.text[start:end] for start, end in context.spans] == [result.answer]
    assert (context.n, context.passage_id) == (1, result.sentences[0].citations[0].passage_id)


async def test_an_answer_that_is_the_whole_passage_has_no_context(tiny_kb: Any) -> None:
    tiny_kb.add("workshop.md", "# Workshop\n\nAfter a firing the kiln cools for 40 hours.\n")
    result = await ask_once(tiny_kb, "How long does the kiln cool after a firing?")
    assert result.status == "answered"
    assert not result.answer_context
