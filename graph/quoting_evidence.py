"""Judgement of whether the passages found are enough to quote an answer from, where no language model judges it."""

from __future__ import annotations

from collections.abc import Sequence

from argot.graph.multi_question import lacks_words
from argot.graph.node_frame import StateUpdate
from argot.graph.presentation.wording import expand_query
from argot.graph.run_context import RunContext
from argot.graph.state import State
from argot.graph.state_records import load_hits, read_terms
from argot.question_threads import call_in_thread
from argot.tools.reading.passage_languages import is_in_other_language
from argot.tools.retrieval.hybrid_search import WeightedQuery
from argot.tools.retrieval.missing_subjects import (
    find_unknown_part_numbers,
    find_unspoken_terms,
    has_only_numbers,
)
from argot.tools.retrieval.reranker import add_judgement, is_quotable
from argot.tools.retrieval.unknown_names import find_unknown_names
from argot.types import Hit


async def judge_for_quoting(state: State, run: RunContext) -> StateUpdate:
    """Return `quotable` and the evidence for an answer in quotations that replaces the model's.

    The node `rerank` computes neither if a model writes: the closer reading takes a third of the work on a question,
    and a model's answer does not depend on it.
    """
    quotable = state.get("quotable", True)
    if quotable is not None:
        return {"quotable": quotable, "evidence": state["evidence"]}
    return await call_in_thread(_judge_for_quoting, state, run)


def _judge_for_quoting(state: State, run: RunContext) -> StateUpdate:
    hits = load_hits(state["hits"], run)
    evidence = add_judgement(state["evidence"], list_judged_queries(state, run), hits, run.scorer)
    quotable, _, _ = judge_passages(hits[: run.profile.passages], evidence, state, run)
    return {"quotable": quotable, "evidence": evidence}


def judge_passages(
    hits: Sequence[Hit], evidence: float, state: State, run: RunContext
) -> tuple[bool, list[str], list[str]]:
    """Return whether the evidence is enough to quote from, and the names that no document mentions.

    These are part numbers and, without a model, names in no document, and terms that only the glossary has.
    """
    if not hits:
        return False, [], []
    # The first query is the plain one, with its terms spelt out; rivals and rewritings follow it.
    query, embedder = list_judged_queries(state, run)[0].text, run.corpus.embedder
    quotable = is_quotable(query, hits, evidence, run.scorer, run.profile, embedder)
    # `abstain_below` 0 means to answer in any case, for measurements.
    judges = (quotable or run.model is not None) and run.profile.rerank and run.profile.abstain_below
    if not judges:
        return quotable, [], []
    unnamed, unspoken, lacking = _find_lacking(state, hits, evidence, run)
    return quotable and not (unnamed or unspoken or lacking), unnamed, unspoken


def _find_lacking(
    state: State, hits: Sequence[Hit], evidence: float, run: RunContext
) -> tuple[list[str], list[str], bool]:
    """Return the part numbers and names, and the terms, that no document has, and whether the documents lack the
    question's subject.
    """
    store, terms = run.corpus.store, read_terms(state, run)
    question = state["stand_alone_question"]
    named = find_unknown_part_numbers(question, store, run.principal)
    query = list_judged_queries(state, run)[0].text
    # Words of another language are always missing.
    is_translated = is_in_other_language(query, hits[0].passage)
    if run.model is None and not is_translated:
        # A model judges by itself whether passages about another product help.
        named += find_unknown_names(question, store, run.principal)
    # Only the glossary names "KX-200", and says what it is.
    unnamed = [name for name in named if not any(name in term.mention.surface for term in terms)]
    lacking = has_only_numbers(query) or (
        not is_translated and lacks_words(run.abbreviate(query), hits, evidence, terms, run)
    )
    return unnamed, find_unspoken_terms(terms, hits, store, run.principal), lacking


def list_judged_queries(state: State, run: RunContext) -> list[WeightedQuery]:
    """Return the queries by which passages are judged: those that were searched.

    In the place of an augmented question it is the question with its terms spelt out: nobody asks for the words of a
    definition.
    """
    queries = state["search_queries"]
    if run.profile.search_augmented and [text for text, _ in queries] == [state["augmented_question"]]:
        return [WeightedQuery(expand_query(state["stand_alone_question"], read_terms(state, run)))]
    return [WeightedQuery(text, weight) for text, weight in queries]
