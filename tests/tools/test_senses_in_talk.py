"""Choosing the senses of a question by its surroundings: bare terms in documents, other terms, thread, asker."""

from dataclasses import replace
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from argot.graph.build import build_graph
from argot.graph.run import ask
from argot.results import AskResult
from argot.tools.reading.context_classifier import ContextSignatures
from argot.tools.senses.usage_evidence import find_usages
from argot.types import Principal, Sense

ANN = Principal("ann")
INSIDER = Principal("ida", frozenset({"vault"}))

EXPORT = """# Export desk

## The ECC

Every kit has an ECC, and the ECC of a kit is that of its strictest part. The trade desk prints the ECC on the order
sheet. A tariff filing needs the ECC as well.
"""
CODES = """# Sector protection

## Error correction code

The error correction code of the Word Line page repairs up to 180 flipped bits in a sector.
"""
CODE = Sense(21, "ECC", "NAND", "error correction code")
CLASSIFICATION = Sense(22, "ECC", "Legal", "export control classification", "the class of a product under export rules")


def defined(kb: Any, *senses: Sense) -> None:
    for sense in senses:
        kb.glossary.senses.add(sense.term, sense.context, sense.expansion, sense.description)


def meant(result: AskResult) -> dict[str, str]:
    return {jargon.surface: jargon.expansion for jargon in result.jargon}


class Talk:
    """One thread, whose questions are asked one after the other."""

    def __init__(self, run: Any) -> None:
        self.graph = build_graph(InMemorySaver())
        self.run = run

    async def ask(self, question: str) -> AskResult:
        *_, last = [event async for event in ask(self.graph, self.run, question, "t")]
        assert isinstance(last.data, AskResult)
        return last.data


@pytest.fixture
def exporting(tiny_kb: Any) -> Any:
    """Make a base in which one of two senses is never spelt out: its documents use only the abbreviation."""
    tiny_kb.add("export.md", EXPORT)
    tiny_kb.add("sectors.md", CODES)
    defined(tiny_kb, CODE, CLASSIFICATION)
    return tiny_kb


def shares(kb: Any, principal: Principal = ANN) -> list[tuple[float, ...]]:
    signatures = ContextSignatures(kb.glossary.senses.find(principal, status="approved"))
    return list(find_usages(kb.corpus, principal, "ECC", [CODE, CLASSIFICATION], signatures).values())


# -- documents that never spell a term out ----------------------------------------------------------------------------


def test_uses_of_a_bare_term_are_distributed_among_its_senses(exporting: Any) -> None:
    (found,) = shares(exporting)
    code, classification = found
    assert classification > 0.7 > 0.2 > code
    assert sum(found) < 1


async def test_documents_that_never_spell_out_a_sense_are_evidence_for_it(exporting: Any) -> None:
    talk = Talk(exporting.run_context())
    result = await talk.ask("Which part of a kit decides its ECC?")
    assert meant(result) == {"ECC": "export control classification"}
    assert "strictest" in result.answer


async def test_a_question_for_the_spelt_out_sense_still_gets_it(exporting: Any) -> None:
    result = await Talk(exporting.run_context()).ask("How many flipped bits of a sector does the ECC repair?")
    assert meant(result) == {"ECC": "error correction code"}


def test_unreadable_documents_give_no_evidence(exporting: Any) -> None:
    exporting.add("secret.md", EXPORT.replace("kit", "vault door"), audience=frozenset({"vault"}))
    assert len(shares(exporting)) == 1
    assert len(shares(exporting, INSIDER)) == 2
    assert len(shares(exporting)) == 1


def test_cached_usages_are_dropped_when_documents_or_glossary_change(exporting: Any) -> None:
    (before,) = shares(exporting)
    assert shares(exporting) == [before]
    exporting.add("more.md", "# Rules\n\nThe ECC is given by the export control classification table.\n")
    assert len(shares(exporting)) == 2
    signatures = ContextSignatures([])
    other = replace(CLASSIFICATION, description="how well sectors are repaired by code")
    found = find_usages(exporting.corpus, ANN, "ECC", [CODE, other], signatures)
    assert next(iter(found.values())) != before


@pytest.mark.parametrize("term", ["ecc", "EC", "e", "%", '"', "ECC " * 30, "🙂"])
def test_words_that_only_look_like_the_term_are_not_usages(exporting: Any, term: str) -> None:
    exporting.add("noise.md", "# Noise\n\nAn echo (Ecc., ec) is no E C C; see decc and ECCO.\n")
    found = find_usages(
        exporting.corpus, ANN, term, [replace(CODE, term=term), replace(CLASSIFICATION, term=term)], None
    )
    names = {document.name for _, document in exporting.corpus.store.passages(ANN, list(found)).values()}
    assert "noise.md" not in names or term in ("ecc", "EC", "e")


def test_a_term_never_used_bare_needs_no_semantic_search(exporting: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check it because usages are computed again after every document change, mostly by such searches."""
    searched: list[str] = []
    searches = exporting.corpus.search_semantic_many
    monkeypatch.setattr(exporting.corpus, "search_semantic_many", lambda *of: searched.append(of[1]) or searches(*of))
    senses = [replace(CODE, term="QZX"), replace(CLASSIFICATION, term="QZX")]
    assert find_usages(exporting.corpus, ANN, "QZX", senses, None) == {}
    assert searched == []
    assert find_usages(exporting.corpus, ANN, "ECC", [CODE, CLASSIFICATION], None)
    assert searched == ["passage"], "once for all senses"


# -- several terms, the thread, the asker -----------------------------------------------------------------------------


async def test_the_senses_of_a_question_are_chosen_together(tiny_kb: Any) -> None:
    """Check two terms of which neither alone decides: the one with a single sense decides for the other."""
    defined(tiny_kb, Sense(0, "WLX", "Legal", "waiver letter exchange"), Sense(0, "WLX", "NAND", "word line extension"))
    talk = Talk(tiny_kb.run_context(choose_sense=False))
    assert meant(await talk.ask("WLX or TFL?")) == {"WLX": "waiver letter exchange", "TFL": "tariff filing"}
    talk = Talk(tiny_kb.run_context(choose_sense=False))
    assert meant(await talk.ask("WLX or WL?")) == {"WLX": "word line extension", "WL": "Word Line"}


@pytest.mark.parametrize(
    ("told", "expansion"),
    [("WL (Word Line)", "Peripheral Under Cell"), ("TFL (tariff filing)", "Public Utilities Commission")],
)
async def test_an_explained_term_is_evidence_for_the_other_senses(tiny_kb: Any, told: str, expansion: str) -> None:
    result = await Talk(tiny_kb.run_context(choose_sense=False)).ask(f"What about {told} and PUC?")
    assert meant(result)["PUC"] == expansion


async def test_an_explanation_in_the_question_wins_over_the_glossary(tiny_kb: Any) -> None:
    result = await Talk(tiny_kb.run_context()).ask("How much die area does PUC (Public Utilities Commission) save?")
    assert meant(result) == {"PUC": "Public Utilities Commission"}


@pytest.mark.parametrize(
    ("first", "expansion"),
    [
        ("What is the WL voltage during a read?", "Peripheral Under Cell"),
        ("What does a late TFL cost a day?", "Public Utilities Commission"),
    ],
)
async def test_the_context_of_a_thread_decides_a_later_sense(tiny_kb: Any, first: str, expansion: str) -> None:
    talk = Talk(tiny_kb.run_context())
    assert (await talk.ask(first)).status == "answered"
    result = await talk.ask("What is PUC?")
    assert meant(result) == {"PUC": expansion}
    assert result.status != "needs_choice"


async def test_without_a_thread_the_same_question_asks_back(tiny_kb: Any) -> None:
    assert (await Talk(tiny_kb.run_context()).ask("What is PUC?")).status == "needs_choice"


async def test_a_thread_does_not_outweigh_the_question(tiny_kb: Any) -> None:
    talk = Talk(tiny_kb.run_context())
    await talk.ask("What is the WL voltage during a read?")
    result = await talk.ask("How many days before it takes effect must a tariff be filed with the PUC?")
    assert meant(result) == {"PUC": "Public Utilities Commission"}


@pytest.mark.parametrize(("home", "expansion"), [("NAND", "Peripheral"), ("Legal", "Public")])
async def test_the_askers_own_context_decides_a_bare_question(tiny_kb: Any, home: str, expansion: str) -> None:
    result = await Talk(replace(tiny_kb.run_context(), asker_context=home)).ask("What is PUC?")
    assert meant(result)["PUC"].startswith(expansion)


async def test_the_askers_own_context_outweighs_the_thread(tiny_kb: Any) -> None:
    """Check that the asker's own context counts more than the context of the thread."""
    talk = Talk(replace(tiny_kb.run_context(), asker_context="Legal"))
    await talk.ask("What is the WL voltage during a read?")
    assert meant(await talk.ask("What is PUC?")) == {"PUC": "Public Utilities Commission"}


@pytest.mark.parametrize("correction", ["No, I meant the other one", "no, the other PUC", "I meant another meaning!"])
async def test_an_asker_who_meant_the_other_sense_gets_it(tiny_kb: Any, correction: str) -> None:
    talk = Talk(replace(tiny_kb.run_context(), asker_context="Legal"))
    first = await talk.ask("What does the PUC decide?")
    assert meant(first) == {"PUC": "Public Utilities Commission"}
    other = await talk.ask(correction)
    assert (meant(other), other.stand_alone_question) == ({"PUC": "Peripheral Under Cell"}, first.question)
    # In the next question the term may have any sense again.
    assert meant(await talk.ask("And what does the PUC pay?")) == {"PUC": "Public Utilities Commission"}


async def test_a_term_without_another_sense_is_read_as_before(tiny_kb: Any) -> None:
    talk = Talk(tiny_kb.run_context())
    first = await talk.ask("What is the WL voltage during a read?")
    assert meant(await talk.ask("no, I meant the other one")) == meant(first) != {}
