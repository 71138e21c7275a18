"""Messages with several questions, without a language model: each question is searched and judged separately."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, zip_longest

from argot.graph.run_context import RunContext
from argot.graph.state import State
from argot.graph.state_records import read_terms
from argot.tools.answering.succession import put_successors_first
from argot.tools.reading.question_splitting import split_questions
from argot.tools.retrieval.hybrid_search import WeightedQuery, hybrid_search
from argot.tools.retrieval.meaning_reader import MAX_PASSAGES, find_judge, rank_by_meaning
from argot.tools.retrieval.missing_subjects import find_unspoken_terms, has_only_numbers, lacks_half
from argot.tools.retrieval.reranker import is_clear, is_quotable, measure_evidence, rerank
from argot.types import Hit, ReadTerm

WHOLE_WEIGHT = 0.3
"""Weight of the whole message beside one of its questions, which may omit words that another contains."""


def list_parts(state: State, run: RunContext) -> list[str]:
    """Return the questions of the message, with their terms spelt out; none if it asks one thing, or if a model reads
    it.
    """
    # A model answers both questions from one list. Without re-ranking there is no score to judge a question by.
    if run.model is not None or not (run.profile.rerank and run.profile.generate_answer):
        return []
    parts = split_questions(_get_whole_question(state))
    # A spelt-out term may contain an "and" ("Research and Development"), and splits differently from the words.
    return parts if len(parts) > 1 and len(parts) == len(split_questions(state["stand_alone_question"])) else []


def search_parts(parts: Sequence[str], state: State, run: RunContext) -> list[Hit]:
    """Return the passages found for any of the questions, best score first."""
    found: dict[str, Hit] = {}
    for part in parts:
        for hit in search_part(part, state, run):
            # The higher score of the two, not the sum: a passage that half answers both is no better than one that
            # answers one.
            known = found.get(hit.passage.id)
            if known is None or known.score < hit.score:
                found[hit.passage.id] = hit
    return sorted(found.values(), key=lambda hit: -hit.score)


def search_part(part: str, state: State, run: RunContext) -> list[Hit]:
    """Return the passages found for one of several questions, within the scope of the turn."""
    wordings = _list_wordings(part, state, run)
    return hybrid_search(run.corpus, run.principal, wordings, run.profile, run.scope, state.get("scope", ()))


def rank_parts(parts: Sequence[str], hits: Sequence[Hit], state: State, run: RunContext) -> tuple[list[Hit], list[int]]:
    """Return the best passages of each question in turn, and the indexes of the questions without evidence.

    If no question has evidence, return the nearest passages of all questions.
    """
    orders, unanswered = [], []
    for place, part in enumerate(parts):
        ordered = put_successors_first(_rank_part(part, len(parts), hits, state, run), part)
        orders.append(ordered[: run.profile.passages])
        if not _is_enough(part, orders[-1], state, run):
            unanswered.append(place)
    # A question without evidence would fill every second place with irrelevant passages.
    wanted = [order for place, order in enumerate(orders) if place not in unanswered] or orders
    in_turn = [hit for hit in chain.from_iterable(zip_longest(*wanted)) if hit is not None]
    # Reversed, so that the first and best-ranked occurrence of each passage is kept.
    best = {hit.passage.id: hit for hit in reversed(in_turn)}
    kept = [best[id_] for id_ in dict.fromkeys(hit.passage.id for hit in in_turn)]
    return kept[: run.profile.passages], unanswered


def _rank_part(part: str, count: int, hits: Sequence[Hit], state: State, run: RunContext) -> list[Hit]:
    """Return the hits, found for as many questions as `count`, in the order in which they answer this one."""
    if meaning := find_judge(part, hits, run.corpus.embedder) if hits else None:
        return rank_by_meaning(part, hits, meaning, MAX_PASSAGES * count)
    return rerank(_list_wordings(part, state, run), hits, run.scorer, run.profile)


def _is_enough(part: str, hits: Sequence[Hit], state: State, run: RunContext) -> bool:
    """Return whether the evidence is enough for one of several questions, as the node `rerank` judges it."""
    if not hits:
        return False
    abbreviated = run.abbreviate(part)
    # Judged by meaning, the first score is the evidence, whatever the scorer.
    by_meaning = find_judge(part, hits, run.corpus.embedder) is not None
    evidence = hits[0].score if by_meaning else measure_evidence(abbreviated, hits, run.scorer)
    if not is_quotable(part, hits, evidence, run.scorer, run.profile, run.corpus.embedder):
        return False
    if not run.profile.abstain_below:
        return True
    stated = [term for term in read_terms(state, run) if _has_term(part, term)]
    lacking = has_only_numbers(part) or lacks_words(abbreviated, hits, evidence, stated, run)
    return not (lacking or find_unspoken_terms(stated, hits, run.corpus.store, run.principal))


def lacks_words(query: str, hits: Sequence[Hit], evidence: float, terms: Sequence[ReadTerm], run: RunContext) -> bool:
    """Return whether the passages lack half of a short question's words and the reader does not clearly find it in
    them.

    `query` uses the documents' abbreviations; documents that contain only the abbreviation lack its expansion.
    """
    return not is_clear(evidence, run.scorer) and lacks_half(query, hits, run.corpus.store, run.principal, terms)


def _list_wordings(part: str, state: State, run: RunContext) -> list[WeightedQuery]:
    abbreviated = WeightedQuery(run.abbreviate(part))
    whole = WeightedQuery(_get_whole_question(state), WHOLE_WEIGHT)
    return [WeightedQuery(part), *([abbreviated] if abbreviated.text != part else []), whole]


def _has_term(part: str, term: ReadTerm) -> bool:
    # The meaning replaces the term, unless the question provided it or there is none.
    return any(name and name in part for name in (term.sense.expansion, term.mention.surface))


def _get_whole_question(state: State) -> str:
    return state["search_queries"][0][0] if state["search_queries"] else state["stand_alone_question"]
