"""The passages from which an answer is written. A passage that continues a list is given the line that introduces the
list, so that both the model and the check of its sentences know what the entries are about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from argot.corpus.chunking.list_cuts import ListCut, find_list_cut
from argot.errors import NotFound
from argot.graph.run_context import RunContext, count_answer_passages
from argot.graph.state import HitRecord, State
from argot.graph.state_records import load_hits
from argot.tools.answering.extreme_rows import asks_for_extreme
from argot.types import Hit


class AnswerPassages(NamedTuple):
    """The passages of an answer. `cut_lists`: as in `AnswerRequest`."""

    hits: list[Hit]
    cut_lists: Mapping[str, tuple[bool, bool]]


def load_answer_passages(state: State, run: RunContext) -> AnswerPassages:
    """Return the best passages that the principal may read now; without a model unchanged, since they are quoted."""
    hits = load_hits(select_answer_hits(state, run), run, state.get("tool_results", []))
    # Only the extreme row of a table has to be known from the whole of it.
    if run.model is None and not asks_for_extreme(state["stand_alone_question"]):
        return AnswerPassages(hits, {})
    cuts = {hit.passage.id: cut for hit, cut in zip(hits, _find_list_cuts(hits, run), strict=True)}
    cut_lists = {id_: (cut.before, cut.after) for id_, cut in cuts.items() if cut.before or cut.after}
    if run.model is None:
        return AnswerPassages(hits, cut_lists)
    return AnswerPassages([_add_lead_in(hit, cuts[hit.passage.id].lead_in) for hit in hits], cut_lists)


def select_answer_hits(state: State, run: RunContext) -> list[HitRecord]:
    """Return the best passages; of a file that is read as a whole all of them, since none ranks above another."""
    return state["hits"] if state.get("whole") else state["hits"][: count_answer_passages(run)]


def _find_list_cuts(hits: Sequence[Hit], run: RunContext) -> list[ListCut]:
    texts: dict[str, str] = {}
    for revision in {hit.passage.revision_id for hit in hits}:
        try:
            texts[revision] = run.corpus.store.markdown(run.principal, revision)
        except NotFound:
            texts[revision] = ""  # replaced or closed to the asker since the passages were read
    return [_find_cut(hit, texts[hit.passage.revision_id]) for hit in hits]


def _find_cut(hit: Hit, markdown: str) -> ListCut:
    return find_list_cut(markdown, hit.passage.start, hit.passage.end) if markdown else ListCut()


def _add_lead_in(hit: Hit, lead_in: str) -> Hit:
    passage = hit.passage
    # The second line of a header is what precedes the text: a continued table has its columns there.
    if not lead_in or "\n" in passage.header:
        return hit
    return replace(hit, passage=replace(passage, header=f"{passage.header}\n{lead_in}"))
