"""Senses that the documents bear out: by their meaning, by their context, or by managers."""

from typing import Any

import pytest

from argot.tools.reading.context_classifier import ContextSignatures
from argot.tools.senses.sense_support import MAX_OWN_SENSES, SupportFinder, TermSupport
from argot.types import Principal, Sense

ANN = Principal("ann")
FILLING = [Sense(1000 + n, f"F{n}", "Archive", f"filing cabinet number {n}") for n in range(MAX_OWN_SENSES)]


def find(
    kb: Any, term: str, *senses: Sense, vouched: tuple[str, ...] = (), others: list[Sense] = FILLING
) -> TermSupport:
    signatures = ContextSignatures([*senses, *others])
    return SupportFinder(kb.corpus, ANN, signatures, vouched).find(term, senses)


CELL = Sense(1, "PUC", "Archive", "Peripheral Under Cell")
COMMISSION = Sense(2, "PUC", "Archive", "Public Utilities Commission")
CUP = Sense(3, "PUC", "Archive", "plastic utility cup")


def test_a_meaning_in_the_documents_bears_a_sense_out(tiny_kb: Any) -> None:
    assert find(tiny_kb, "PUC", CUP, CELL, COMMISSION).senses == (CELL, COMMISSION)


def test_a_meaning_that_no_document_has_bears_nothing_out(tiny_kb: Any) -> None:
    assert find(tiny_kb, "PUC", CUP) == TermSupport()


def test_a_small_glossary_is_not_weighed(tiny_kb: Any) -> None:
    assert find(tiny_kb, "PUC", CUP, others=[]).senses == (CUP,)


def test_managers_vouch_for_a_context(tiny_kb: Any) -> None:
    kept = Sense(4, "PUC", "Kitchen", "porcelain cup")
    assert find(tiny_kb, "PUC", kept, CUP, CELL, vouched=("Kitchen",)).senses == (kept, CELL)


def test_a_meaning_beside_the_term_outweighs_one_elsewhere(tiny_kb: Any) -> None:
    tiny_kb.add("note.md", "# Note\n\nPeripheral Under Cell is called PUC here.\n")
    assert find(tiny_kb, "PUC", CELL, COMMISSION).senses == (CELL,)


def test_a_meaning_elsewhere_does_not_explain_a_term_that_documents_use(tiny_kb: Any) -> None:
    tiny_kb.add("note.md", "# Note\n\nThe PUC is emptied daily.\n")
    assert find(tiny_kb, "PUC", CELL, COMMISSION) == TermSupport()


@pytest.mark.parametrize(
    "text",
    [
        "The pulp chest (PUC) is full.",
        "PUC (pulp chest) is full.",
        "- **PUC**: pulp chest",
        "PUC stands for pulp chest.",
    ],
)
def test_a_meaning_that_documents_state_replaces_all_senses(tiny_kb: Any, text: str) -> None:
    tiny_kb.add("mill.md", f"# Mill\n\n{text}\n\nThe PUC is emptied daily.\n")
    assert find(tiny_kb, "PUC", CUP, COMMISSION) == TermSupport(spelt_out="pulp chest")


def test_a_sense_in_nearly_the_words_of_the_documents_counts(tiny_kb: Any) -> None:
    tiny_kb.add("mill.md", "# Mill\n\nThe pulp upper chest (PUC) is full. The PUC is emptied daily.\n")
    chest = Sense(5, "PUC", "Archive", "pulp upper chests of mill four")
    assert find(tiny_kb, "PUC", chest, CUP).senses == (chest,)


def test_a_context_is_at_home_where_documents_have_its_meanings(tiny_kb: Any) -> None:
    known = "Media panel|tariff filing|memory array|clean room|control gates|die area|electricity tariff|worn blocks"
    local = [Sense(50 + n, f"L{n}", "Plant", meaning) for n, meaning in enumerate(known.split("|"))]
    bare = Sense(6, "FTLX", "Plant", "fast translation ledger exchange")
    foreign = Sense(7, "FTLX", "Archive", "fully tiled lunar xylophone")
    assert find(tiny_kb, "FTLX", foreign, bare, others=[*FILLING, *local]).senses == (bare,)
    tiny_kb.add("ledger.md", "# Ledger\n\nThe FTLX (floor tile list extract) is open.\n")
    assert find(tiny_kb, "FTLX", foreign, bare, others=[*FILLING, *local]).spelt_out == "floor tile list extract"


def test_a_sense_of_a_context_at_home_needs_no_passage_with_term_and_meaning(tiny_kb: Any) -> None:
    known = "Media panel|tariff filing|memory array|clean room|control gates|die area|electricity tariff|worn blocks"
    local = [Sense(50 + n, f"L{n}", "Plant", meaning) for n, meaning in enumerate(known.split("|"))]
    tiny_kb.add("note.md", "# Note\n\nThe PUC is emptied daily.\n")
    cell = Sense(6, "PUC", "Plant", "Peripheral Under Cell")
    assert find(tiny_kb, "PUC", COMMISSION, cell, others=[*FILLING, *local]).senses == (cell,)


def test_another_principals_documents_bear_nothing_out(tiny_kb: Any) -> None:
    tiny_kb.add("mill.md", "# Mill\n\nThe plastic utility cup is full.\n", audience=frozenset({"millers"}))
    assert find(tiny_kb, "PUC", CUP) == TermSupport()
