"""Parts that a question names by their printed numbers: their passages are ranked first, and missing numbers are
reported.
"""

from __future__ import annotations

from collections.abc import Sequence

from argot.graph.run_context import RunContext, count_answer_passages
from argot.graph.state import State, SubjectRecord
from argot.tools.reading.numbered_references import find_numbered_references
from argot.tools.retrieval.numbered_search import NumberedFindings, NumberedSearch
from argot.types import Hit


def has_references_throughout(parts: Sequence[str]) -> bool:
    """Return whether every question of a message names a numbered part; they are then answered as one."""
    return all(find_numbered_references(part) for part in parts)


def find_parts_in_turn(
    hits: Sequence[Hit], subject: SubjectRecord | None, state: State, run: RunContext
) -> NumberedFindings:
    """Return the numbered parts that the turn's question names; none without re-ranking, where nothing is scored."""
    references = find_numbered_references(state["stand_alone_question"])
    if not references or not run.profile.rerank:
        return NumberedFindings()
    # A chosen scope, file or document still applies.
    beyond_hits = not (run.scope or state.get("scope") or subject)
    search = NumberedSearch(run.corpus.store, run.principal)
    found = search.find_parts(state["stand_alone_question"], references, hits, beyond_hits=beyond_hits)
    most = count_answer_passages(run)
    while sum(len(part.hits) for part in found.parts) > most and len(found.parts) > 1:
        found.parts.pop()
    return found


def put_numbered_first(found: NumberedFindings, hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits preceded by the passages with the numbers, or by those nearest to a missing number."""
    bearing = [hit for part in found.parts for hit in part.hits] or found.nearest
    known = {hit.passage.id: hit for hit in hits}
    first = {hit.passage.id: known.get(hit.passage.id, hit) for hit in bearing}
    return [*first.values(), *(hit for hit in hits if hit.passage.id not in first)]


def list_spans(found: NumberedFindings) -> list[tuple[str, int, int]]:
    """Return the parts as the state keeps them."""
    return [
        (hit.passage.id, start, end)
        for part in found.parts
        for hit, (start, end) in zip(part.hits, part.spans, strict=True)
    ]
