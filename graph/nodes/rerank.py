from __future__ import annotations

from typing import NamedTuple

from argot.graph.multi_question import list_parts, rank_parts
from argot.graph.node_frame import StateUpdate, Step
from argot.graph.numbered_parts import find_parts_in_turn, has_references_throughout, list_spans, put_numbered_first
from argot.graph.other_queries import join_new_passages
from argot.graph.quoting_evidence import judge_passages, list_judged_queries
from argot.graph.run_context import RunContext, count_kept_passages
from argot.graph.state import State, SubjectRecord
from argot.graph.state_records import load_hits, to_hit_record
from argot.graph.subjects import find_open_subject, find_subject, keep_subject, put_subject_first
from argot.graph.supported_senses import drop_other_senses
from argot.protocols import Scorer
from argot.question_threads import call_in_thread
from argot.tools.answering.succession import put_successors_first
from argot.tools.reading.comparisons import find_sides
from argot.tools.reading.question_splitting import split_questions
from argot.tools.retrieval.meaning_reader import MeaningReader, find_judge, rank_by_meaning
from argot.tools.retrieval.numbered_search import NumberedFindings
from argot.tools.retrieval.repeated_passages import drop_repeats
from argot.tools.retrieval.reranker import (
    READ_PASSAGES,
    READ_PASSAGES_FOR_MODEL,
    get_scorer_of_words,
    measure_evidence,
)
from argot.tools.retrieval.reranker import rerank as reranked
from argot.types import Hit


async def rerank(state: State, run: RunContext) -> Step:
    """Re-rank the best passages by how well each answers, and judge whether the evidence is enough.

    Passages are judged against the query that was searched: the question with its jargon expanded. With a language
    model, even weak evidence is passed on: the model's refusal is the abstention. If the asker said what a term means,
    passages that clearly use another of its senses are left out. If the asker said which document is meant, passages of
    the others are left out as well. If the best passages answer for several documents and the question does not say
    which, the asker has to choose. With the stage switched off, the order is kept and any passage at all counts as
    enough evidence. The same holds for a question about a file as a whole.
    """
    if state.get("whole"):
        found = bool(state["hits"])
        return Step({"evidence": float(found), "enough_evidence": found, "quotable": found}, "as they stand")
    parts = list_parts(state, run)
    # One hop to another thread for all of it: comparing wordings would also hold up other streams.
    if parts and not has_references_throughout(parts):
        return await call_in_thread(_rerank_parts, parts, state, run)
    return await call_in_thread(_rerank_whole, state, run)


def _rerank_whole(state: State, run: RunContext) -> Step:
    """Rank the passages for the question as a whole."""
    subject, hits, kept, numbered, evidence, is_judged = _rank_found(state, run)
    best = f"best: {kept[0].document.name}" if kept else "nothing found"
    fits, unnamed, unspoken = judge_passages(kept[: run.profile.passages], evidence, state, run)
    quotable = fits if is_judged else None
    if numbered.parts and numbered.is_placed:
        quotable, unnamed, unspoken, evidence = True, [], [], max(evidence, run.profile.abstain_below)
    elif numbered.missing and not numbered.parts and run.profile.abstain_below:
        quotable = False
    if state.get("searched_again") and state.get("is_written"):
        kept = join_new_passages(hits, state, run)
        if not kept:
            # The answer would be written from the same passages again.
            return Step({"hits": state["read"][: count_kept_passages(run)], "enough_evidence": False}, "nothing new")
    # A model judges what word matching cannot, and refuses by itself. A part number that no document names is certain:
    # another part's value is the likeliest wrong answer.
    enough = bool(kept) and not unnamed if run.model is not None else bool(quotable)
    update: StateUpdate = {
        "hits": [to_hit_record(hit) for hit in kept],
        "evidence": evidence,
        "enough_evidence": enough,
        "quotable": quotable,
        "unnamed": [*unnamed, *unspoken],
        "numbered_parts": list_spans(numbered),
        "missing_parts": [reference.name for reference in numbered.missing],
        "subject": subject,
    }
    if subject is not None:
        # From here on the thread refers to this one.
        update["subjects"] = {subject["noun"]: subject}
    elif not (unnamed or unspoken or numbered.parts or numbered.missing or state.get("searched_again")):
        update["open_subject"] = find_open_subject(hits, state, run)
    return Step(update, f"{best}, evidence {evidence:.2f}")


def _rerank_parts(parts: list[str], state: State, run: RunContext) -> Step:
    """Rank each question of the message separately. Questions without evidence are left out of the answer, and
    named.
    """
    hits = drop_other_senses(load_hits(state["hits"], run), state, run)
    kept, unanswered = rank_parts(parts, hits, state, run)
    asked = split_questions(state["stand_alone_question"])
    # Without one of its sides there is nothing to compare.
    is_found = bool(kept) and len(unanswered) < (1 if find_sides(state["stand_alone_question"]) else len(parts))
    update: StateUpdate = {
        "hits": [to_hit_record(hit) for hit in kept],
        "evidence": kept[0].score if kept else 0.0,
        "enough_evidence": is_found,
        "quotable": is_found,
        # In the asker's words, not with the terms spelt out, because this text is shown.
        "unanswered": [asked[place] for place in unanswered],
    }
    return Step(update, f"{len(parts)} questions, {len(parts) - len(unanswered)} with evidence")


class _RankedPassages(NamedTuple):
    """All `hits` in their order, and those `kept` for the answer. `numbered`: the parts that the question names by
    their numbers, which come first.
    """

    subject: SubjectRecord | None
    hits: list[Hit]
    kept: list[Hit]
    numbered: NumberedFindings
    evidence: float
    is_judged: bool


def _rank_found(state: State, run: RunContext) -> _RankedPassages:
    subject = find_subject(state, run)
    ranked, evidence, is_judged = _rerank(state, run, subject)
    numbered = find_parts_in_turn(ranked, subject, state, run)
    hits = put_numbered_first(numbered, ranked)
    # Space in a model's prompt is limited; a quoting writer takes only the first few.
    most = count_kept_passages(run)
    kept = drop_repeats(hits, most) if run.model is not None else hits[:most]
    return _RankedPassages(subject, hits, kept, numbered, evidence, is_judged)


class _Ranking(NamedTuple):
    """Hits in their order, with the evidence that they answer. `is_judged`: a closer reading is part of it."""

    hits: list[Hit]
    evidence: float
    is_judged: bool = True


def _rerank(state: State, run: RunContext, subject: SubjectRecord | None) -> _Ranking:
    hits = keep_subject(drop_other_senses(load_hits(state["hits"], run), state, run), subject, run)
    if not hits or not run.profile.rerank:
        return _Ranking(hits, float(bool(hits)))
    if meaning := find_judge(state["stand_alone_question"], hits, run.corpus.embedder):
        return _rank_by_meaning(meaning, hits, state, run, subject)
    by_words = get_scorer_of_words(run.scorer, state["stand_alone_question"])
    if by_words is None:
        # A model's answer does not depend on it. A chosen document is put first only if it answers at all.
        return _rank_by(run.scorer, hits, state, run, subject, is_judged=run.model is None or subject is not None)
    found = _rank_by(run.scorer, hits, state, run, subject)
    if found.evidence >= run.profile.abstain_below:
        return found
    other = _rank_by(by_words, hits, state, run, subject)
    return other if other.evidence > found.evidence else found


def _rank_by_meaning(
    reader: MeaningReader, hits: list[Hit], state: State, run: RunContext, subject: SubjectRecord | None
) -> _Ranking:
    question = list_judged_queries(state, run)[0].text
    ordered = _put_named_first(rank_by_meaning(question, hits, reader), state, run, subject)
    return _Ranking(ordered, ordered[0].score)


def _rank_by(
    scorer: Scorer,
    hits: list[Hit],
    state: State,
    run: RunContext,
    subject: SubjectRecord | None,
    *,
    is_judged: bool = True,
) -> _Ranking:
    queries = list_judged_queries(state, run)
    read = READ_PASSAGES if run.model is None else READ_PASSAGES_FOR_MODEL
    ranked = reranked(queries, hits, scorer, run.profile, read, judged=is_judged)
    ordered = _put_named_first(ranked, state, run, subject)
    evidence = measure_evidence(run.abbreviate(queries[0].text), ordered, scorer)
    return _Ranking(ordered, float(evidence), is_judged)


def _put_named_first(hits: list[Hit], state: State, run: RunContext, subject: SubjectRecord | None) -> list[Hit]:
    """Put passages of the chosen document first, and those of superseded documents behind their successors."""
    return put_successors_first(put_subject_first(hits, subject, run), state["stand_alone_question"])
