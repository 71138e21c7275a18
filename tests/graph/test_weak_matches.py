"""A quotation on weak evidence says so, and a refusal shows only passages that could matter."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from argot.graph.build import build_graph
from argot.graph.presentation import turn_view
from argot.graph.run import ask
from argot.results import MIN_NEAREST_SCORE, WEAK_MATCH, AskResult
from argot.ui.cli.terminal_answer import print_turn
from argot.ui.rendering.chat_markdown import view_result
from argot.ui.rendering.message_markdown import format_message, strip_footnotes

KILN = "# Workshop\n\nThe kiln cools for 40 hours.\n"
QUESTION = "How long does the kiln cool?"
LOOSE_QUESTION = "How many hours until the old kiln in hall 2 is cold?"


async def asked(run: Any, question: str) -> AskResult:
    *_, last = [event async for event in ask(build_graph(InMemorySaver()), run, question, "t")]
    assert isinstance(last.data, AskResult)
    return last.data


async def test_a_quotation_on_weak_evidence_is_called_doubtful_everywhere(
    tiny_kb: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    tiny_kb.add("workshop.md", KILN)
    result = await asked(tiny_kb.run_context(weak_below=1.0), LOOSE_QUESTION)
    assert (result.status, result.is_weak) == ("answered", True)
    assert WEAK_MATCH not in result.answer
    print_turn(result)
    assert capsys.readouterr().out.startswith(WEAK_MATCH)
    assert view_result(result).content.startswith(f"*{WEAK_MATCH}*")
    message = format_message(result)
    assert message.startswith(f"*{WEAK_MATCH}*")
    assert strip_footnotes(message) == result.answer


async def test_a_quotation_on_good_evidence_is_not_called_doubtful(tiny_kb: Any) -> None:
    tiny_kb.add("workshop.md", KILN)
    result = await asked(tiny_kb.run_context(weak_below=0.05), QUESTION)
    assert not result.is_weak
    assert WEAK_MATCH not in format_message(result) + view_result(result).content


@pytest.mark.parametrize(("share", "is_weak"), [(0.0, False), (1.0, True)])
async def test_beyond_english_less_evidence_is_enough(
    tiny_kb: Any, monkeypatch: pytest.MonkeyPatch, share: float, is_weak: bool
) -> None:
    monkeypatch.setattr(turn_view, "WEAK_BEYOND_ENGLISH", share)
    tiny_kb.add("werkstatt.md", "# Werkstatt\n\nDer Brennofen kühlt 40 Stunden lang ab.\n")
    result = await asked(tiny_kb.run_context(weak_below=1.0), "Wie viele Stunden kühlt der alte Brennofen in Halle 2?")
    assert (result.status, result.is_weak) == ("answered", is_weak)


async def test_a_refusal_shows_only_passages_that_could_matter(tiny_kb: Any) -> None:
    tiny_kb.add("workshop.md", KILN)
    result = await asked(tiny_kb.run_context(abstain_below=1.0), LOOSE_QUESTION)
    assert result.status == "abstained"
    assert result.nearest_passages
    far = [one.model_copy(update={"score": MIN_NEAREST_SCORE / 2}) for one in result.passages]
    assert not result.model_copy(update={"passages": far}).nearest_passages
