"""The second try after a search that did not find the answer: its queries, and the passages that it reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, zip_longest

from argot.graph.run_context import RunContext, count_answer_passages, count_kept_passages
from argot.graph.state import MAX_SEARCHES_AGAIN, HitRecord, State
from argot.graph.state_records import get_definitions, load_hits
from argot.tools.answering.citation_marks import list_marks
from argot.tools.llm.other_queries import FailedSearch
from argot.tools.retrieval.hybrid_search import WeightedQuery, select_documents
from argot.tools.retrieval.other_queries import propose_queries
from argot.tools.retrieval.repeated_passages import drop_repeats
from argot.tools.retrieval.reranker import READ_PASSAGES_FOR_MODEL, rerank
from argot.tools.text.words import content_stems
from argot.types import Document, Hit

MAX_TITLES = 40
"""Number of titles of other documents that the model is shown."""
MAX_NEAREST = 5
"""Number of the best passages for the other queries that are read in any case."""
MAX_READ_AGAIN = 3
"""Number of the passages read before that a model reads again, if it found no part of the answer in them."""
MAX_SHOWN_PASSAGES = 12
"""Number of passages of the failed search that the model is shown, to propose other queries."""
MAX_SHOWN_CHARS = 160
"""Number of characters of each of these passages: enough to see what it is about."""


def has_search_left(state: State, run: RunContext) -> bool:
    """Return whether another search may be made: not for a file that is read as a whole, a part number that no document
    names, or a profile without answers, and at most `MAX_SEARCHES_AGAIN` times.
    """
    searched = state.get("searched_again", [])
    # A thorough answer has searched in other words already; a quick one is searched for once.
    if state.get("plan") or run.profile.effort == "quick":
        return False
    if state.get("whole") or state.get("unnamed") or state.get("missing_parts"):
        return False
    if not run.profile.generate_answer or not run.profile.rerank or len(searched) >= MAX_SEARCHES_AGAIN:
        return False
    # An answer to a part of the question is already shown, and is rewritten only once.
    return not searched or (has_new_passages(state, run) and not state.get("lacking"))


def has_new_passages(state: State, run: RunContext) -> bool:
    """Return whether the last search brought passages that were not among the best before."""
    read = {hit["id"] for hit in state.get("read", [])}
    return any(hit["id"] not in read for hit in state["hits"][: count_answer_passages(run)])


def list_queries_by_rules(state: State, run: RunContext) -> list[str]:
    """Return the other queries that rules propose and that were not searched yet."""
    # A word that only resembles the asked one finds passages about something else, which a model would refuse.
    hits, store = load_hits(state["hits"], run) if run.model is not None else [], run.corpus.store
    proposed = propose_queries(
        get_query(state),
        state["question"],
        hits,
        run.corpus.embedder,
        lambda word: store.phrase_count(run.principal, word),
    )
    tried = {text.casefold() for text, _ in state["search_queries"]}
    return [query for query in proposed if query.casefold() not in tried]


def describe_failed_search(state: State, others: Sequence[Document], run: RunContext) -> FailedSearch:
    """Return the input from which the model proposes other queries; only what the asker may read.

    `others`: the documents whose titles it is given.
    """
    hits = load_hits(state["hits"], run)
    question = state["stand_alone_question"]
    places = [
        f"{hit.passage.header.partition(chr(10))[0] or hit.document.title}: {hit.passage.text[:MAX_SHOWN_CHARS]}"
        for hit in hits[:MAX_SHOWN_PASSAGES]
    ]
    return FailedSearch(
        question=question,
        tried=[text for text, _ in state["search_queries"]] or [question],
        found=places,
        titles=[one.title or one.name for one in others],
        definitions=get_definitions(state),
        lacking=state.get("lacking", ""),
    )


def list_search_queries(state: State, queries: Sequence[str], run: RunContext) -> list[tuple[str, float]]:
    """Return the queries to search for: those so far, and the new ones with the weight of a rival sense."""
    before = state["search_queries"] or [(state["stand_alone_question"], 1.0)]
    known = {text for text, _ in before}
    return [*before, *((query, run.profile.weight_rivals) for query in queries if query not in known)]


def can_read_on(state: State, run: RunContext) -> bool:
    """Return whether a model that found no answer in the best passages may read the next ones, without other words."""
    return run.model is not None and not run.model.failed and _is_refused(state) and not state.get("searched_again")


def _is_refused(state: State) -> bool:
    return state["enough_evidence"] and not state["draft"].strip()


def get_query(state: State) -> str:
    """Return the question as it was searched."""
    return state["search_queries"][0][0] if state["search_queries"] else state["stand_alone_question"]


def list_read_passages(state: State) -> list[HitRecord]:
    """Return the passages read in this turn, those of the last try first."""
    last = {hit["id"] for hit in state["hits"]}
    return [*state["hits"], *(hit for hit in state.get("read", []) if hit["id"] not in last)]


def list_nearest_passages(state: State, run: RunContext) -> list[HitRecord]:
    """Return the passages read in this turn, best score first; as many as are kept."""
    return sorted(list_read_passages(state), key=lambda hit: -hit["score"])[: count_kept_passages(run)]


def join_new_passages(ranked: Sequence[Hit], state: State, run: RunContext) -> list[Hit]:
    """Return the passages to read now, both found and read before; none if no found one is new.

    The best passages for the other queries come first. If the model found a part of the answer, new passages alternate
    with those read before, of which the draft's sources come first: they hold that part. If it found nothing, it reads
    on, with only the best few of those read before.
    """
    before = load_hits(state.get("read", []), run, state.get("tool_results", []))
    most = count_kept_passages(run)
    read = {hit.passage.id for hit in before}
    nearest = _rank_for_other_queries(ranked, state, run)[:MAX_NEAREST]
    rest = ranked[: count_answer_passages(run)] if state["draft"] else _put_nearest_by_meaning_first(ranked)
    new = list({hit.passage.id: hit for hit in [*nearest, *rest] if hit.passage.id not in read}.values())
    if not new:
        return []
    if not state["draft"]:
        return drop_repeats([*new[: max(1, most - MAX_READ_AGAIN)], *before], most)
    cited = _list_cited(state)
    before.sort(key=lambda hit: hit.passage.id not in cited)
    in_turn = [hit for hit in chain.from_iterable(zip_longest(new, before)) if hit is not None]
    return drop_repeats(in_turn, most)


def _list_cited(state: State) -> set[str]:
    """Return the passages (ids) that the draft of the last try cites."""
    read = state.get("read", [])
    numbers = {number for _, _, numbers in list_marks(state["draft"]) for number in numbers}
    return {hit["id"] for number, hit in enumerate(read, 1) if number in numbers}


def _rank_for_other_queries(ranked: Sequence[Hit], state: State, run: RunContext) -> list[Hit]:
    others = [WeightedQuery(text) for text in state.get("other_queries", []) if text != get_query(state)]
    searched = {hit["id"]: hit["score"] for hit in state["hits"]}
    # Each keeps the score of the search for all queries; that in `ranked` is for the question alone.
    found = [replace(hit, score=searched[hit.passage.id]) for hit in ranked if hit.passage.id in searched]
    return rerank(others, found, run.scorer, run.profile, READ_PASSAGES_FOR_MODEL, judged=False) if others else []


def _put_nearest_by_meaning_first(ranked: Sequence[Hit]) -> list[Hit]:
    """Return the hits by their rank in the search by meaning, then the others.

    If the best passages did not answer, the one that does often shares no word with the question, and all other ranks
    count words.
    """
    by_meaning = [hit for hit in ranked if "semantic" in hit.found_by]
    return [*sorted(by_meaning, key=lambda hit: hit.found_by["semantic"]), *ranked]


def list_other_documents(state: State, run: RunContext) -> list[Document]:
    """Return other documents that are searched, the first of each title.

    Those whose titles share words with the question come first, and the others by name.
    """
    shown = {hit.document.id for hit in load_hits(state["hits"], run)}
    asked = set(content_stems(get_query(state)))
    others: dict[str, Document] = {}
    for one in list_searched_documents(state, run):
        if one.id not in shown:
            others.setdefault(one.title or one.name, one)
    ranked = sorted(others, key=lambda title: -len(asked.intersection(content_stems(title))))
    return [others[title] for title in ranked[:MAX_TITLES]]


def list_searched_documents(state: State, run: RunContext) -> list[Document]:
    """Return the documents that the question searches and the asker may read."""
    inside = select_documents(run.corpus, run.principal, run.scope, state.get("scope", ()))
    found = run.corpus.store.documents(run.principal)
    return found if inside is None else [one for one in found if one.id in inside]
