from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from argot.profile import Profile
from argot.tools.retrieval.hybrid_search import (
    FusedScore,
    RankedList,
    WeightedQuery,
    fuse,
    hybrid_search,
    measure_standing,
    search_triples,
)
from argot.tools.retrieval.repeated_passages import drop_repeats
from argot.types import Hit, Principal

ANN = Principal("ann")
INSIDER = Principal("ines", groups=frozenset({"vault"}))
VAULT = [WeightedQuery("vault combination Vault Liaison Team")]


def names(hits: list[Any]) -> list[str]:
    return [hit.document.name for hit in hits]


def test_fusion_weights_reciprocal_ranks_by_standing() -> None:
    flat = RankedList("keyword", 1.0, [("a", 2.0), ("b", 2.0)])
    other = RankedList("semantic", 0.5, [("b", 0.4), ("c", 0.4)])
    fused = fuse([flat, other], 60)
    assert fused["a"].score == pytest.approx(1.0 / 1.5)
    assert fused["b"].score == pytest.approx((61 / 62 + 0.5) / 1.5)
    assert fused["c"].score == pytest.approx(0.5 * 61 / 62 / 1.5)
    assert fused["b"] == FusedScore(fused["b"].score, {"keyword": 2, "semantic": 1})


def test_a_list_with_a_clear_winner_outvotes_a_flat_list() -> None:
    guessing = RankedList("keyword", 1.0, [(f"k{n}", 5.0 - 0.01 * n) for n in range(50)])
    knowing = RankedList("semantic", 0.9, [("answer", 0.9)] + [(f"s{n}", 0.30 - 0.001 * n) for n in range(49)])
    fused = fuse([guessing, knowing], 60)
    assert max(fused, key=lambda id_: fused[id_].score) == "answer"
    by_rank = fuse([guessing, knowing], 60, by_rank=True)
    assert max(by_rank, key=lambda id_: by_rank[id_].score) == "k0"


def test_fusion_by_rank_is_reciprocal_rank_fusion() -> None:
    lists = [
        RankedList("keyword", 1.0, [("a", 9.0), ("b", 1.0)]),
        RankedList("semantic", 1.0, [("b", 0.4), ("c", 0.1)]),
    ]
    fused = fuse(lists, 60, by_rank=True)
    plain = {"a": 1 / 61, "b": 1 / 62 + 1 / 61, "c": 1 / 62}
    assert {id_: one.score for id_, one in fused.items()} == pytest.approx(
        {id_: score * 61 / 2 for id_, score in plain.items()}
    )


def test_the_standing_in_a_short_keyword_list_counts_missing_passages() -> None:
    assert measure_standing(RankedList("keyword", 1.0, [("only", 3.0)], 50, 0.0))["only"] > 1
    assert measure_standing(RankedList("keyword", 1.0, [("a", 3.0), ("b", 1.0)]))["b"] == 0
    assert fuse([RankedList("keyword", 1.0, [])], 60) == {}


def test_best_rank_counts_when_several_queries_find_a_passage() -> None:
    lists = [RankedList("keyword", 1.0, [("x", 2.0), ("a", 1.0)]), RankedList("keyword", 0.3, [("a", 2.0), ("x", 1.0)])]
    assert fuse(lists, 60)["a"].ranks == {"keyword": 1}
    assert fuse(lists, 60)["x"].score > fuse(lists, 60)["a"].score


def test_hybrid_search_finds_by_words_and_by_meaning(tiny_kb: Any) -> None:
    hits = hybrid_search(tiny_kb.corpus, ANN, [WeightedQuery("How much does a late filing cost?")], Profile())
    assert names(hits)[0] == "tariff-filing.md"
    assert set(hits[0].found_by) >= {"keyword", "semantic"}
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert all(0 <= hit.score <= 1 for hit in hits)
    assert len({hit.passage.id for hit in hits}) == len(hits)


@pytest.mark.parametrize("off", ["search_keyword", "search_semantic"])
def test_either_search_can_be_switched_off(tiny_kb: Any, off: str) -> None:
    hits = hybrid_search(tiny_kb.corpus, ANN, [WeightedQuery("FTLX worn blocks")], Profile(**{off: False}))
    assert names(hits)[0] == "drive-tool.md"
    assert all(off.removeprefix("search_") not in hit.found_by for hit in hits)


def test_unreadable_passages_are_not_found(tiny_kb: Any) -> None:
    assert "vault-handbook.md" not in names(hybrid_search(tiny_kb.corpus, ANN, VAULT, Profile()))
    assert names(hybrid_search(tiny_kb.corpus, INSIDER, VAULT, Profile()))[0] == "vault-handbook.md"


def test_the_store_drops_unreadable_passages_of_the_index(tiny_kb: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that passages are read from the store, even if an index returns an unreadable one."""
    secret = hybrid_search(tiny_kb.corpus, INSIDER, VAULT, Profile())[0].passage.id
    monkeypatch.setattr(type(tiny_kb.corpus), "search_semantic", lambda *_: [(secret, 0.99), ("p0", 0.98)])
    found = hybrid_search(tiny_kb.corpus, ANN, VAULT, Profile())
    assert secret not in {hit.passage.id for hit in found}


@pytest.mark.parametrize(
    "text", ["", "   ", "🙂", '"; DROP TABLE passages; --', "the of and", "a" * 5000, "C++ OR NEAR("]
)
def test_any_text_is_a_safe_hybrid_query(tiny_kb: Any, text: str) -> None:
    hits = hybrid_search(tiny_kb.corpus, ANN, [WeightedQuery(text), WeightedQuery("word line", 0.3)], Profile())
    assert hits


def test_no_query_finds_nothing(tiny_kb: Any) -> None:
    assert hybrid_search(tiny_kb.corpus, ANN, [], Profile()) == []
    assert hybrid_search(tiny_kb.corpus, ANN, [WeightedQuery("drive", 0.0)], Profile()) == []


def test_triples_are_found_by_a_query(tiny_kb: Any) -> None:
    found = search_triples(tiny_kb.corpus, ANN, "how to trim my drive", Profile())
    assert ("trim", "drive") in {(triple.action, triple.target) for triple in found}


def test_identical_passages_of_several_documents_are_returned_once(tiny_kb: Any) -> None:
    hits = hybrid_search(tiny_kb.corpus, ANN, [WeightedQuery("How much does a late filing cost?")], Profile())
    first = hits[0]
    copy = replace(first, passage=replace(first.passage, id="copy", text=f"**{first.passage.text.upper()}**"))
    other = replace(first, passage=replace(first.passage, id="other", text=f"{first.passage.text} 7"))
    assert drop_repeats([*hits, copy, other], 10) == [*hits, other]
    assert drop_repeats([hits[0], *hits, copy, other], len(hits)) == hits


def test_a_passage_that_says_nothing_new_is_left_out(tiny_kb: Any) -> None:
    first = hybrid_search(tiny_kb.corpus, ANN, [WeightedQuery("How much does a late filing cost?")], Profile())[0]

    def hit(id_: str, text: str) -> Hit:
        return replace(first, passage=replace(first.passage, id=id_, text=text))

    whole = hit("whole", "## Yard\n\nThe gate opens at nine. Bring one of these:\n\n- a badge\n- a key")
    twin = hit("twin", "Bring one of these:\n\n* a key\n* the badge")
    denied = hit("denied", "The gate never opens at nine.")
    longer = hit("longer", "- a key\n- a letter")
    rules = hit("rules", "---")
    assert drop_repeats([whole, twin, denied, longer, rules], 10) == [whole, denied, longer, rules]


def test_the_same_sentence_about_another_thing_is_no_repeat(tiny_kb: Any) -> None:
    first = hybrid_search(tiny_kb.corpus, ANN, [WeightedQuery("How much does a late filing cost?")], Profile())[0]

    def hit(*heading: str) -> Hit:
        passage = replace(first.passage, id=str(heading), heading_path=heading, text="It costs 40 euros a day.")
        return replace(first, passage=passage)

    red, blue = hit("Red kayak", "1 Fees"), hit("Blue canoe", "1 Fees")
    copies = [hit("Red kayak", "2.1 Fees"), hit("The red kayak"), hit("Blue canoe", "Fees", "Deposit"), hit()]
    assert drop_repeats([red, blue, *copies], 10) == [red, blue]
