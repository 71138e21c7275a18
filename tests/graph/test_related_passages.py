"""Passages looked up while an answer is quoted are cited like those that were found for the question."""

from __future__ import annotations

from typing import Any

from argot.graph.related_passages import RelatedPassages
from argot.graph.state_records import load_hits, to_hit_record
from argot.types import Hit

RULE = "Members may bring two guests to the reading room."
NOTICE = "Members may no longer bring guests to the reading room."


def load_documents(kb: Any) -> tuple[Any, dict[str, Hit]]:
    kb.add("rules.md", f"# Rules\n\n## Guests\n\n{RULE}\n")
    kb.add("notice.md", f"# Notice\n\n## Room\n\n{NOTICE}\n")
    kb.add("tea.md", "# Tea\n\nTea is served at four.\n")
    run = kb.run_context()
    ids = [id_ for id_, _ in run.corpus.store.keyword_search(run.principal, "members guests tea reading room", 50)]
    hits = {
        hit.document.title: hit for hit in load_hits([{"id": id_, "score": 0.5, "found_by": {}} for id_ in ids], run)
    }
    return run, hits


def test_a_quoted_passage_takes_the_place_of_one_that_is_not_quoted(tiny_kb: Any) -> None:
    run, hits = load_documents(tiny_kb)
    shown = [hits["Rules"], hits["Tea"]]
    state: Any = {"hits": [to_hit_record(hit) for hit in shown]}
    related = RelatedPassages(state, run)
    assert "Notice" in {hit.document.title for hit in related.find(RULE)}
    joined = load_hits(related.add_quoted(shown, f"{NOTICE}\n\n{RULE}"), run)
    assert [hit.document.title for hit in joined] == ["Rules", "Notice", "Tea"]


def test_nothing_is_added_that_the_answer_does_not_quote(tiny_kb: Any) -> None:
    run, hits = load_documents(tiny_kb)
    related = RelatedPassages({"hits": [to_hit_record(hits["Rules"])]}, run)  # type: ignore[arg-type]
    related.find(RULE)
    assert related.add_quoted([hits["Rules"]], RULE) == []


def test_only_documents_that_the_conversation_searches_are_looked_up(tiny_kb: Any) -> None:
    run, hits = load_documents(tiny_kb)
    state: Any = {"hits": [], "scope": [hits["Tea"].document.id]}
    assert {hit.document.title for hit in RelatedPassages(state, run).find(RULE)} <= {"Tea"}
