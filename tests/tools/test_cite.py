from __future__ import annotations

from collections.abc import Sequence

import pytest

from argot.tools.answering.citations import locate, match_references
from argot.tools.answering.objections import find_objection
from argot.tools.answering.support import SupportScorer, support
from argot.tools.retrieval.reranker import LexicalScorer
from argot.types import MatchedSegment, Passage


def passage(text: str, number: int = 0, heading: tuple[str, ...] = ()) -> Passage:
    return Passage(f"p{number}", "d", "r", number, 0, len(text), text, "Title", heading)


COLUMN = "On NX-4410B the change column setup time is at least 300 ns; on the NX-3320A it was 200 ns. It is measured."
TERMINATION = "On-die termination is switched on 12 ns before the preamble. It may not stay on. It costs 38 mW per die."
PASSAGES = [passage(COLUMN, 0), passage(TERMINATION, 1)]


class Table:
    """A scorer from a table: (joined sentences, text) -> score; 0 for pairs that are not in it."""

    def __init__(self, scores: dict[tuple[str, str], float]) -> None:
        self.scores = scores

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        return [self.scores.get((query, text), 0.0) for text in texts]


@pytest.mark.parametrize("scorer", [SupportScorer(), LexicalScorer()], ids=["support", "lexical"])
def test_quotes_are_matched_to_their_own_passage(scorer: SupportScorer) -> None:
    answer = ["It costs 38 mW per die.", "On the NX-3320A it was 200 ns."]
    found = match_references(answer, PASSAGES, scorer, threshold=0.5)
    assert [(s.first, s.last, s.passage) for s in found] == [(0, 0, 1), (1, 1, 0)]


def test_sum_joins_sentences_of_one_passage_and_omits_unsupported_ones() -> None:
    answer = [
        "The change column setup time on the NX-4410B is at least 300 ns.",
        "On the NX-3320A it was 200 ns.",
        "The canteen opens at noon.",
        "On-die termination costs 38 mW per die.",
    ]
    found = match_references(answer, PASSAGES, SupportScorer(), threshold=0.5)
    assert [(s.first, s.last, s.passage) for s in found] == [(0, 1, 0), (3, 3, 1)]
    assert all(0.5 <= s.score <= 1 for s in found)


def test_the_published_method_follows_the_listing_of_the_paper() -> None:
    """Check the listing: dp keeps the best last segment (2..3 at 0.9) and adds no earlier one; sentence 1 is left."""
    scores = {("a\n\nb", "X"): 0.8, ("b\n\nc", "Y"): 0.9, ("a\n\nb\n\nc", "X"): 0.7}
    found = match_references(
        ["a", "b", "c"], [passage("X"), passage("Y", 1)], Table(scores), threshold=0.5, method="published"
    )
    assert found == [MatchedSegment(1, 2, 1, 0.9)]


def test_the_published_method_follows_the_example_of_the_paper() -> None:
    """Check (s1:s2, X), (s3:s3, Y): a last sentence that scores best alone leaves the one before to another segment."""
    scores = {("a\n\nb", "X"): 0.8, ("c", "Y"): 0.9, ("b\n\nc", "Y"): 0.7}
    found = match_references(
        ["a", "b", "c"], [passage("X"), passage("Y", 1)], Table(scores), threshold=0.5, method="published"
    )
    assert found == [MatchedSegment(0, 1, 0, 0.8), MatchedSegment(2, 2, 1, 0.9)]


def test_sum_weighs_segments_by_their_length() -> None:
    """Check that one segment of two sentences at 0.7 beats one sentence at 0.9 with the other unsupported."""
    scorer = Table({("a", "X"): 0.9, ("b", "X"): 0.3, ("a\n\nb", "X"): 0.7})
    assert match_references(["a", "b"], [passage("X")], scorer, threshold=0.5) == [MatchedSegment(0, 1, 0, 0.7)]


def test_thresholds_empty_inputs_and_equal_scores_are_handled() -> None:
    scorer = Table({("a", "X"): 0.6})
    assert match_references(["a"], [passage("X"), passage("X", 1)], scorer, threshold=0.6)[0].passage == 0
    assert match_references(["a"], [passage("X")], scorer, threshold=0.61) == []
    assert match_references([], [passage("X")], scorer, threshold=0.5) == []
    assert match_references(["a"], [], scorer, threshold=0.5) == []


@pytest.mark.parametrize(
    ("said", "against"),
    [
        ("The change column setup time is at least 30 ns on NX-4410B.", "number"),
        ("The change column setup time is at least 300 ms on NX-4410B.", "number"),
        ("The change column setup time is at least 300 ns on NX-4411.", "identifier"),
        ("On NX-4410B the change column setup time is not at least 300 ns.", "negation"),
        ("On NX-4410B the change column setup time is at most 300 ns.", "'at most'"),
        ("On NX-4410B the change column setup time is at least 300 nanoseconds.", ""),
        ("On NX-4410B the change column setup time is at least 300ns.", ""),
    ],
)
def test_numbers_units_identifiers_and_negation_must_agree(said: str, against: str) -> None:
    found = find_objection(said, COLUMN)
    assert found.startswith(against) if against else not found
    cited = match_references([said], [passage(COLUMN)], SupportScorer(), threshold=0.5)
    assert bool(cited) == (not against)


@pytest.mark.parametrize(
    ("said", "source", "agrees"),
    [
        ("It takes 3 days.", "It takes three days.", True),
        ("It takes four days.", "It takes three days.", False),
        ("40000 accesses happen.", "About 40,000 accesses happen.", True),
        ("It is 5 ns.", "It is 50 ns.", False),
        ("It is 5.0 V.", "It is 5 V.", True),
        ("It is -5 V.", "It is 5 V.", False),
        ("ODT is used.", "On-die termination is used.", True),
        ("ODT is used.", "Duty cycle correction is used.", False),
        ("The limit is 20 ns.", "| Limit | Unit |\n|---|---|\n| 20 | ns |", True),
        ("2. Press the button.", "Press the button.", True),
        ("The pin can't be high.", "The pin can be high.", False),
        ("It is switched off first.", "It is switched on first.", False),
    ],
)
def test_a_sentence_must_agree_with_its_source(said: str, source: str, agrees: bool) -> None:
    assert (not find_objection(said, source)) == agrees


def test_support_is_one_for_quotes_and_graded_below() -> None:
    assert support("It costs 38 mW per die.", TERMINATION) == 1
    assert 0.5 < support("Termination on the die costs 38 mW.", TERMINATION) < 1
    assert support("The canteen opens at noon.", TERMINATION) == 0


def test_locate_finds_quotes_through_markdown_and_paraphrases_by_sentence() -> None:
    text = "Intro here. Open the [**Save** dialog](http://x/y) to\nstore the layout. | not a table. The last one."
    here = passage(text)
    assert text[slice(*locate("Open the Save dialog to store the layout.", here))].endswith("layout.")
    assert text[slice(*locate("Open the Save dialog to store the layout.", here))].startswith("Open the [")
    assert text[slice(*locate("Layouts are stored in the Save dialog.", here))].startswith("Open the [")
    assert locate("zebra", here) == (0, len(text))


@pytest.mark.parametrize(
    ("said", "source"),
    [
        # A number that is a link in the passage looks like a citation and is removed from the answer.
        ("See the [retry guide] for 3 tries.", "See the [retry guide][1] for 3 tries."),
        ("is not the limit, the guide says.", "[1](one.md) is not the limit, the [guide](g.md) says."),
        ("Sources: Smith (2020) and Doe.", "Sources: [1] Smith (2020) and [2] Doe."),
        # One unit of the answer may be several units of the passage with text between them.
        (
            "1. Open the panel.\nNobody may open the lid then.",
            "1. Open the panel.\n\n![the panel](panel.png)\n\nNobody may open the [lid](lid.md) then.",
        ),
    ],
)
def test_a_verbatim_quotation_is_supported(said: str, source: str) -> None:
    assert support(said, source) == 1.0
    assert find_objection(said, source) == ""


@pytest.mark.parametrize(
    ("said", "source"),
    [
        ("Visitors leave at 6.\nmay smoke.", "Visitors leave at 6. Nobody may smoke."),
        ("Read array[2] first.", "Read array[1] first."),
        ("Nobody may open the lid.\nOpen the panel.", "Open the panel. Nobody may open the lid."),
    ],
)
def test_combined_pieces_of_a_passage_are_not_a_quotation(said: str, source: str) -> None:
    assert support(said, source) < 1.0
