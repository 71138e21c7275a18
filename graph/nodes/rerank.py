from __future__ import annotations

import asyncio

from argot.graph.multi_question import lacks_words, list_parts, rank_parts
from argot.graph.node_frame import StateUpdate, Step
from argot.graph.numbered_parts import find_parts_in_turn, has_references_throughout, list_spans, put_first
from argot.graph.other_queries import join_new_passages
from argot.graph.presentation.wording import expand_query
from argot.graph.run_context import RunContext, count_kept_passages
from argot.graph.state import State, SubjectRecord
from argot.graph.state_records import load_hits, read_terms, to_hit_record
from argot.graph.subjects import find_open_subject, find_subject, keep_subject, put_subject_first
from argot.graph.supported_senses import drop_other_senses
from argot.protocols import Scorer
from argot.tools.answering.succession import put_successors_first
from argot.tools.reading.comparisons import find_sides
from argot.tools.reading.passage_languages import is_beyond_english, is_in_other_language
from argot.tools.reading.question_splitting import split_questions
from argot.tools.retrieval.hybrid_search import WeightedQuery
from argot.tools.retrieval.meaning_reader import MeaningReader, load_meaning_reader, rank_by_meaning
from argot.tools.retrieval.missing_subjects import (
    find_unknown_part_numbers,
    find_unspoken_terms,
    has_only_numbers,
)
from argot.tools.retrieval.repeated_passages import drop_repeats
from argot.tools.retrieval.reranker import (
    READ_PASSAGES,
    READ_PASSAGES_FOR_MODEL,
    get_scorer_of_words,
    is_quotable,
    measure_evidence,
)
from argot.tools.retrieval.reranker import rerank as reranked
from argot.types import Hit


async def rerank(state: State, run: RunContext) -> Step:
    """Re-rank the best passages by how well each answers, and judge whether the best of them is enough.

    With a language model the model is asked even on weak evidence: its refusal is the abstention. They are judged
    against the query that was searched: the question with its jargon expanded. If the asker said what a term means,
    passages that clearly use another of its senses are left out. If the asker said which document is meant, passages of
    the others are left out as well. If the best passages answer for several documents and the question does not say
    which, the asker is to choose. With the stage switched off, the order is kept and any passage at all counts as
    enough evidence. The same holds for a question about a file as a whole.
    """
    if state.get("whole"):
        found = bool(state["hits"])
        return Step({"evidence": float(found), "enough_evidence": found, "quotable": found}, "as they stand")
    parts = list_parts(state, run)
    if parts and not has_references_throughout(parts):
        return await asyncio.to_thread(_rerank_parts, parts, state, run)
    subject = await asyncio.to_thread(find_subject, state, run)
    hits, evidence = await asyncio.to_thread(_rerank, state, run, subject)
    numbered = await asyncio.to_thread(find_parts_in_turn, hits, subject, state, run)
    hits = put_first(numbered, hits)
    # Space in a model's prompt is limited; a quoting writer takes only the first few.
    most = count_kept_passages(run)
    kept = drop_repeats(hits, most) if run.model is not None else hits[:most]
    best = f"best: {kept[0].document.name}" if kept else "nothing found"
    quotable, unnamed, unspoken = await _judge(kept[: run.profile.passages], evidence, state, run)
    if numbered.parts and numbered.is_placed:
        quotable, unnamed, unspoken, evidence = True, [], [], max(evidence, run.profile.abstain_below)
    elif numbered.missing and not numbered.parts and run.profile.abstain_below:
        quotable = False
    if state.get("searched_again") and state.get("is_written"):
        kept = await asyncio.to_thread(join_new_passages, hits, state, run)
        if not kept:
            # The answer would be written from the same passages again.
            return Step({"hits": state["read"][:most], "enough_evidence": False}, "nothing new")
    # A model judges what word matching cannot, and refuses by itself. A part number that no document names is certain:
    # another part's value is the likeliest wrong answer.
    enough = bool(kept) and not unnamed if run.model is not None else quotable
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
        update["open_subject"] = await asyncio.to_thread(find_open_subject, hits, state, run)
    return Step(update, f"{best}, evidence {evidence:.2f}")


async def _judge(hits: list[Hit], evidence: float, state: State, run: RunContext) -> tuple[bool, list[str], list[str]]:
    """Return whether the evidence is enough to quote from, and the names that no document mentions.

    These are part numbers in no document, and terms that only the glossary has.
    """
    if not hits:
        return False, [], []
    # The first query is the plain one, with its terms spelt out; rivals and rewritings follow it.
    query, embedder = _list_judged_queries(state, run)[0].text, run.corpus.embedder
    quotable = await asyncio.to_thread(is_quotable, query, hits, evidence, run.scorer, run.profile, embedder)
    # `abstain_below` 0 means to answer in any case, for measurements.
    judges = (quotable or run.model is not None) and run.profile.rerank and run.profile.abstain_below
    if not judges:
        return quotable, [], []
    unnamed, unspoken, lacking = await asyncio.to_thread(_find_lacking, state, hits, evidence, run)
    return quotable and not (unnamed or unspoken or lacking), unnamed, unspoken


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


def _find_lacking(state: State, hits: list[Hit], evidence: float, run: RunContext) -> tuple[list[str], list[str], bool]:
    """Return the part numbers and the terms that no document names, and whether the documents lack the question's
    subject.
    """
    store, terms = run.corpus.store, read_terms(state, run)
    named = find_unknown_part_numbers(state["stand_alone_question"], store, run.principal)
    # Only the glossary names "KX-200", and says what it is.
    unnamed = [name for name in named if not any(name in term.mention.surface for term in terms)]
    query = _list_judged_queries(state, run)[0].text
    # Words of another language are always missing.
    lacking = has_only_numbers(query) or (
        not is_in_other_language(query, hits[0].passage)
        and lacks_words(run.abbreviate(query), hits, evidence, terms, run)
    )
    return unnamed, find_unspoken_terms(terms, hits, store, run.principal), lacking


def _list_judged_queries(state: State, run: RunContext) -> list[WeightedQuery]:
    """List the queries by which passages are judged: those that were searched. An augmented question is judged as one
    with its terms spelt out: the words of a definition are not what is asked for.
    """
    queries = state["search_queries"]
    if run.profile.search_augmented and [text for text, _ in queries] == [state["augmented_question"]]:
        return [WeightedQuery(expand_query(state["stand_alone_question"], read_terms(state, run)))]
    return [WeightedQuery(text, weight) for text, weight in queries]


def _rerank(state: State, run: RunContext, subject: SubjectRecord | None) -> tuple[list[Hit], float]:
    hits = keep_subject(drop_other_senses(load_hits(state["hits"], run), state, run), subject, run)
    if not hits or not run.profile.rerank:
        return hits, float(bool(hits))
    meaning = load_meaning_reader(run.corpus.embedder)
    if is_beyond_english(state["stand_alone_question"], hits) and meaning.is_multilingual:
        return _rank_by_meaning(meaning, hits, state, run, subject)
    found = _rank_by(run.scorer, hits, state, run, subject)
    by_words = get_scorer_of_words(run.scorer, state["stand_alone_question"])
    if by_words is None or found[1] >= run.profile.abstain_below:
        return found
    other = _rank_by(by_words, hits, state, run, subject)
    return other if other[1] > found[1] else found


def _rank_by_meaning(
    reader: MeaningReader, hits: list[Hit], state: State, run: RunContext, subject: SubjectRecord | None
) -> tuple[list[Hit], float]:
    question = _list_judged_queries(state, run)[0].text
    ordered = _put_named_first(rank_by_meaning(question, hits, reader), state, run, subject)
    return ordered, ordered[0].score


def _rank_by(
    scorer: Scorer, hits: list[Hit], state: State, run: RunContext, subject: SubjectRecord | None
) -> tuple[list[Hit], float]:
    queries = _list_judged_queries(state, run)
    read = READ_PASSAGES if run.model is None else READ_PASSAGES_FOR_MODEL
    ordered = _put_named_first(reranked(queries, hits, scorer, run.profile, read), state, run, subject)
    return ordered, float(measure_evidence(run.abbreviate(queries[0].text), ordered, scorer))


def _put_named_first(hits: list[Hit], state: State, run: RunContext, subject: SubjectRecord | None) -> list[Hit]:
    """Put passages of the chosen document first, and those of superseded documents behind their successors."""
    return put_successors_first(put_subject_first(hits, subject, run), state["stand_alone_question"])
