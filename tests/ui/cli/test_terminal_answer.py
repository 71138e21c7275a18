"""What a terminal prints beside an answer."""

from __future__ import annotations

import pytest

from argot.results import AskResult, MissedTerm
from argot.ui.cli.terminal_answer import print_turn

NOTE = "“XQZ” is neither in the glossary nor in the documents."


@pytest.mark.parametrize(
    ("suggestions", "contact", "expected"),
    [([], "", ""), (["XQV"], "", "Did you mean XQV?"), ([], "ann", "Ask ann.")],
)
def test_an_unknown_term_is_named_again_only_with_a_way_on(
    capsys: pytest.CaptureFixture[str], suggestions: list[str], contact: str, expected: str
) -> None:
    missed = MissedTerm(term="XQZ", suggestions=suggestions, contact=contact)
    print_turn(
        AskResult(
            question="What is the XQZ speed?",
            stand_alone_question="What is the XQZ speed?",
            status="abstained",
            thread="t",
            answer="Nothing was found.",
            notes=[NOTE],
            misses=[missed],
        )
    )
    printed = capsys.readouterr().out
    assert NOTE in printed
    assert ("Unknown term" in printed, expected in printed) == (bool(expected), True)
