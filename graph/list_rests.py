"""The remaining part of a list or table that a passage cuts, for a draft that says that there is more of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from itertools import islice

from argot.graph.run_context import RunContext, count_answer_passages
from argot.graph.state import HitRecord, State
from argot.graph.state_records import to_hit_record
from argot.protocols import AnswerRequest
from argot.tools.answering.citation_marks import list_marks
from argot.types import Hit

MAX_LISTS = 2
"""Number of lists of which the rest is read: those that the draft cites first."""
MAX_PASSAGES = 2
"""Number of passages that are read on each side of a cut list."""
_SAYS_CUT = re.compile(
    r"\b(?:lists?|tables?|checklists?|steps?|rows?|entries|items|passages?)\b[^.\n]{0,80}"
    r"\b(?:is|are|was|were) (?:\w+ )?cut\b"
    r"|\bcut (?:off|here)\b|\bmore (?:steps|rows|entries|items) (?:follow|precede)\b"
    r"|\bthere (?:is|are|may be) more(?: (?:of|to) (?:it|them))?\s*(?:[.,;:\[]|$)",
    re.IGNORECASE,
)


def add_list_rests(state: State, draft: str, request: AnswerRequest, run: RunContext) -> list[HitRecord]:
    """Return the hits of the turn with the passages that continue the cut lists which the draft cites, if it says that
    one is cut; empty if it says no such thing, all of them were read, or a prompt has no room for them.
    """
    if not _SAYS_CUT.search(draft) or state.get("whole"):
        return []
    known = {hit.passage.id for hit in request.hits}
    cut = islice(_iter_cited_cuts(draft, request), MAX_LISTS)
    rests = {hit.passage.id: _read_rest(hit, request, known, run) for hit in cut}
    most = count_answer_passages(run)
    # The last passages make room, except those of the lists themselves.
    spare = most - sum(len(before) + 1 + len(after) for before, after in rests.values())
    if spare < 0 or not any(before or after for before, after in rests.values()):
        return []
    others = [record for record in state["hits"][:most] if record["id"] not in rests]
    kept = {record["id"] for record in others[:spare]} | rests.keys()
    records: list[HitRecord] = []
    for record in state["hits"][:most]:
        before, after = rests.get(record["id"], ([], []))
        records += [*before, record, *after] if record["id"] in kept else []
    return [*records, *(record for record in state["hits"] if record["id"] not in kept)]


def _iter_cited_cuts(draft: str, request: AnswerRequest) -> Iterator[Hit]:
    """Yield the hits that the draft cites and that cut a list or table, in the order of the citations."""
    numbers = dict.fromkeys(number for _, _, named in list_marks(draft) for number in named)
    for number in numbers:
        if 1 <= number <= len(request.hits) and request.hits[number - 1].passage.id in request.cut_lists:
            yield request.hits[number - 1]


def _read_rest(
    hit: Hit, request: AnswerRequest, known: Set[str], run: RunContext
) -> tuple[list[HitRecord], list[HitRecord]]:
    """Return the passages before a cut list and those behind it, as many as may be read on, without the known ones."""
    passages = run.corpus.store.passages_of(run.principal, hit.document.id)
    place = next((place for place, one in enumerate(passages) if one.id == hit.passage.id), None)
    if place is None:  # replaced since, or closed to the asker
        return [], []
    before, after = request.cut_lists[hit.passage.id]
    sides = (
        passages[max(0, place - MAX_PASSAGES) : place] if before else [],
        passages[place + 1 : place + 1 + MAX_PASSAGES] if after else [],
    )
    first, last = (
        [to_hit_record(Hit(one, hit.document, hit.score)) for one in side if one.id not in known] for side in sides
    )
    return first, last
