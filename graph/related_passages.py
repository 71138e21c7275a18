"""Passages that are looked up while an answer is quoted, such as a memo that changes the rule found."""

from __future__ import annotations

from collections.abc import Sequence

from argot.graph.run_context import RunContext
from argot.graph.state import HitRecord, State
from argot.graph.state_records import to_hit_record
from argot.tools.answering.quoting import read_units, render_quotation
from argot.tools.retrieval.hybrid_search import select_documents
from argot.types import Hit

MAX_RELATED = 20
"""Passages that one look-up by words returns."""


class RelatedPassages:
    """Look-up by words in the documents that a turn searches; remembers what it found."""

    def __init__(self, state: State, run: RunContext) -> None:
        self._state = state
        self._run = run
        self._found: dict[str, Hit] = {}

    def find(self, text: str) -> Sequence[Hit]:
        """Return the passages that have the words of a text, best first, with the score 0."""
        run, store = self._run, self._run.corpus.store
        searched = select_documents(run.corpus, run.principal, run.scope, self._state.get("scope", ()))
        ids = [id_ for id_, _ in store.keyword_search(run.principal, text, MAX_RELATED, searched)]
        readable = store.passages(run.principal, ids)
        hits = [Hit(*readable[id_], 0.0) for id_ in ids if id_ in readable]
        self._found |= {hit.passage.id: hit for hit in hits}
        return hits

    def add_quoted(self, shown: Sequence[Hit], draft: str) -> list[HitRecord]:
        """Return the turn's hits with the passages found that the draft quotes; empty if it quotes none.

        Args:
            shown: the passages that an answer cites from. The last ones that are not quoted make room.
        """
        records = self._state["hits"]
        known = {record["id"] for record in records[: len(shown)]}
        quoted = [hit for id_, hit in self._found.items() if id_ not in known and _is_quoted(hit, draft)]
        if not quoted:
            return []
        spare = [hit.passage.id for hit in shown if not _is_quoted(hit, draft)][-len(quoted) :]
        kept = [record for record in records[: len(shown)] if record["id"] not in spare]
        added = {hit.passage.id for hit in quoted}
        rest = [record for record in records if record not in kept and record["id"] not in added]
        return [*kept, *map(to_hit_record, quoted), *rest]


def _is_quoted(hit: Hit, draft: str) -> bool:
    units = read_units(hit.passage.with_columns)
    texts = (render_quotation([unit.number], units) for unit in units if unit.kind in ("prose", "item"))
    return any(text in draft for text in texts)
