"""The choice among senses by documents, contexts, the asker's own context and the memory of the thread."""

from typing import Any

import pytest

from argot.tools.senses.disambiguation import SenseChooser, SenseEvidence, replace_mentions, score
from argot.types import ContextScore, Mention, Principal, Sense

ANN = Principal("ann")
CELL = Sense(1, "PUC", "NAND", "Peripheral Under Cell")
COMMISSION = Sense(2, "PUC", "Legal", "Public Utilities Commission")


def mention(question: str, surface: str, term: str | None = None) -> Mention:
    start = question.index(surface)
    return Mention(surface, start, start + len(surface), term=term or surface)


def choose(kb: Any, question: str, senses: dict[str, list[Sense]], principal: Principal = ANN, **more: Any) -> Any:
    mentions = [mention(question, term) for term in senses if term in question]
    return SenseChooser(kb.corpus, principal).choose(question, sorted(mentions, key=lambda m: m.start), senses, **more)


@pytest.mark.parametrize("order", [(CELL, COMMISSION), (COMMISSION, CELL)])
@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How much of the die area does PUC save?", CELL),
        ("Which clean room does the bonding step of PUC need?", CELL),
        ("How many days before it takes effect must a tariff be filed with the PUC?", COMMISSION),
        ("Does the PUC approve electricity tariffs?", COMMISSION),
    ],
)
def test_the_documents_decide_the_sense(tiny_kb: Any, question: str, expected: Sense, order: tuple[Sense, ...]) -> None:
    (ranking,) = choose(tiny_kb, question, {"PUC": list(order)})
    assert ranking.ranked[0][0] == expected
    assert ranking.margin >= 0.1
    assert "documents" in ranking.decided_by


def test_probabilities_sum_to_1_and_give_the_margin(tiny_kb: Any) -> None:
    (ranking,) = choose(tiny_kb, "How much of the die area does PUC save?", {"PUC": [CELL, COMMISSION]})
    chances = [chance for _, chance in ranking.ranked]
    assert sum(chances) == pytest.approx(1)
    assert chances == sorted(chances, reverse=True)
    assert ranking.margin == pytest.approx(chances[0] - chances[1])


def test_a_question_without_other_words_is_left_to_the_asker(tiny_kb: Any) -> None:
    (ranking,) = choose(tiny_kb, "What is PUC?", {"PUC": [CELL, COMMISSION]})
    assert ranking.margin < 0.1


def test_the_askers_own_context_decides_without_other_evidence(tiny_kb: Any) -> None:
    (ranking,) = choose(tiny_kb, "What is PUC?", {"PUC": [CELL, COMMISSION]}, preferred_context="Legal")
    assert ranking.ranked[0][0] == COMMISSION
    assert ranking.decided_by == "your context is Legal"


def test_documents_outweigh_the_askers_own_context(tiny_kb: Any) -> None:
    question = "Which clean room does the bonding step of PUC need?"
    (ranking,) = choose(tiny_kb, question, {"PUC": [CELL, COMMISSION]}, preferred_context="Legal")
    assert ranking.ranked[0][0] == CELL


def test_the_context_of_the_question_counts(tiny_kb: Any) -> None:
    scores = [ContextScore("Legal", 0.8), ContextScore("NAND", 0.1)]
    (ranking,) = choose(tiny_kb, "What is PUC?", {"PUC": [CELL, COMMISSION]}, contexts=scores)
    assert ranking.ranked[0][0] == COMMISSION
    assert ranking.decided_by == "the question's context is Legal"


@pytest.mark.parametrize(
    ("question", "asks"), [("How often is DR tested?", True), ("How is DR tested on boards?", False)]
)
def test_the_context_of_a_single_word_counts_only_if_documents_agree(tiny_kb: Any, question: str, asks: bool) -> None:
    for name, meaning in (("rooms", "disaster recovery"), ("cells", "data retention")):
        tiny_kb.add(f"{name}.md", f"# The {name}\n\nOnce a year {meaning} of the {name} is tested with boards.\n")
    senses = [Sense(1, "DR", "Rooms", "disaster recovery"), Sense(2, "DR", "Test", "data retention")]
    scores = [ContextScore("Test", 0.99)]
    (ranking,) = choose(tiny_kb, question, {"DR": senses}, contexts=scores)
    assert ranking.ranked[0][0].context == "Test"
    assert (ranking.margin < 0.1) == asks


def test_names_of_contexts_are_not_relied_on(tiny_kb: Any) -> None:
    misnamed = [
        Sense(1, "PUC", "electricity tariffs", "Peripheral Under Cell"),
        Sense(2, "PUC", "die area archive", "Public Utilities Commission"),
    ]
    (ranking,) = choose(tiny_kb, "How much of the die area does PUC save?", {"PUC": misnamed})
    assert ranking.ranked[0][0] == misnamed[0]


def test_the_sense_remembered_by_the_thread_wins(tiny_kb: Any) -> None:
    question = "Which clean room does the bonding step of PUC need?"
    (ranking,) = choose(tiny_kb, question, {"PUC": [CELL, COMMISSION]}, remembered={"PUC": 2})
    assert (ranking.ranked[0], ranking.margin) == ((COMMISSION, 1.0), 1.0)
    assert ranking.decided_by == "your earlier choice"


def test_a_remembered_sense_that_was_removed_is_ignored(tiny_kb: Any) -> None:
    question = "Which clean room does the bonding step of PUC need?"
    (ranking,) = choose(tiny_kb, question, {"PUC": [CELL, COMMISSION]}, remembered={"PUC": 99})
    assert ranking.ranked[0][0] == CELL


def test_an_only_sense_needs_no_evidence(tiny_kb: Any) -> None:
    (ranking,) = choose(tiny_kb, "What is WL?", {"WL": [Sense(3, "WL", "NAND", "Word Line")]})
    assert (ranking.margin, ranking.decided_by) == (1.0, "only sense")


def test_the_terms_of_one_question_are_read_in_one_context(tiny_kb: Any) -> None:
    senses = {"PUC": [COMMISSION, CELL], "WL": [Sense(3, "WL", "NAND", "Word Line")]}
    first, second = choose(tiny_kb, "PUC and WL", senses)
    assert first.ranked[0][0] == CELL
    assert second.ranked[0][0].expansion == "Word Line"


def test_all_mentions_of_a_term_get_the_same_sense(tiny_kb: Any) -> None:
    question = "PUC or PUC die area?"
    mentions = [Mention("PUC", 0, 3, term="PUC"), Mention("PUC", 7, 10, term="PUC")]
    rankings = SenseChooser(tiny_kb.corpus, ANN).choose(question, mentions, {"PUC": [COMMISSION, CELL]}, [], None, {})
    assert [ranking.mention for ranking in rankings] == mentions
    assert {ranking.ranked[0][0] for ranking in rankings} == {CELL}


def test_the_margin_ignores_senses_of_the_same_meaning(tiny_kb: Any) -> None:
    twins = [CELL, Sense(9, "PUC", "Process", "peripheral under cells"), COMMISSION]
    (ranking,) = choose(tiny_kb, "How much of the die area does PUC save?", {"PUC": twins})
    assert {sense.id for sense, _ in ranking.ranked[:2]} == {1, 9}
    assert ranking.margin >= 0.1


def test_unreadable_passages_are_not_evidence(tiny_kb: Any) -> None:
    liaison = Sense(5, "VLT", "Tools", "Vault Liaison Team")
    other = Sense(6, "VLT", "Legal", "tariff filing")
    question = "How often does the VLT rotate the combination?"
    insider = Principal("ida", frozenset({"vault"}))
    (seen,) = choose(tiny_kb, question, {"VLT": [other, liaison]}, insider)
    (unseen,) = choose(tiny_kb, question, {"VLT": [other, liaison]}, ANN)
    (again,) = choose(tiny_kb, question, {"VLT": [other, liaison]}, insider)
    assert seen.ranked[0][0] == liaison
    assert seen.ranked == again.ranked
    chance = {sense.id: chance for sense, chance in unseen.ranked}
    assert chance[5] < {sense.id: chance for sense, chance in seen.ranked}[5]


def test_a_new_document_changes_the_choice(tiny_kb: Any) -> None:
    unheard = Sense(7, "ZQ", "Tools", "Zebra Quorum")
    filing = Sense(8, "ZQ", "Legal", "tariff filing")
    question = "Who waters the ferns of the ZQ?"
    (before,) = choose(tiny_kb, question, {"ZQ": [filing, unheard]})
    tiny_kb.add("zebras.md", "# Zebras\n\nThe Zebra Quorum waters the ferns of the atrium on Mondays.\n")
    (after,) = choose(tiny_kb, question, {"ZQ": [filing, unheard]})
    assert after.ranked[0][0] == unheard
    assert dict(after.ranked)[unheard] > dict(before.ranked)[unheard]


def test_without_documents_the_description_decides(empty_kb: Any) -> None:
    senses = [
        Sense(1, "DR", "A", "disaster recovery", "bringing computers back after the loss of a computer room"),
        Sense(2, "DR", "B", "design rule", "the minimum spacing of wires in a layout"),
    ]
    (ranking,) = choose(empty_kb, "How wide must wires be spaced under this DR?", {"DR": senses})
    assert ranking.ranked[0][0].id == 2


def test_the_choice_of_a_sense_is_reproducible(tiny_kb: Any) -> None:
    rankings = [choose(tiny_kb, "Does the PUC save die area?", {"PUC": [CELL, COMMISSION]}) for _ in range(3)]
    assert rankings[0] == rankings[1] == rankings[2]


def test_senses_beyond_the_weighed_ones_are_still_ranked(tiny_kb: Any) -> None:
    many = [CELL, *(Sense(10 + n, "PUC", "Tools", f"pallet unit {n}") for n in range(40))]
    (ranking,) = choose(tiny_kb, "How much of the die area does PUC save?", {"PUC": many})
    assert len(ranking.ranked) == 41
    assert ranking.ranked[0][0] == CELL


@pytest.mark.parametrize("question", ["PUC", "PUC 🙂", '(PUC) " OR * NEAR(', "PUC " + "tariff " * 3000])
def test_any_question_can_be_ranked(tiny_kb: Any, question: str) -> None:
    (ranking,) = choose(tiny_kb, question, {"PUC": [CELL, COMMISSION]})
    assert {sense.id for sense, _ in ranking.ranked} == {1, 2}


def test_mentions_are_replaced_by_position() -> None:
    question = "Is PUC in the PUCs?"
    mentions = [Mention("PUC", 3, 6, term="PUC"), Mention("PUCs", 14, 18, term="PUC")]
    assert replace_mentions(question, mentions, {"PUC": "cell"}) == "Is cell in the cell?"
    assert replace_mentions(question, mentions, {}) == question


def test_evidence_changes_the_score_in_the_right_direction() -> None:
    nothing = score(SenseEvidence())
    assert score(SenseEvidence(near=1.0)) > nothing
    assert score(SenseEvidence(keyword=1.0)) > nothing
    assert score(SenseEvidence(spread=1.0)) < nothing
