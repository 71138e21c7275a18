from __future__ import annotations

from argot.corpus.keyword.stop_words import STOP_WORDS
from argot.graph.node_frame import Step
from argot.graph.run_context import RunContext
from argot.graph.state import State
from argot.question_threads import call_in_thread
from argot.tools.retrieval.hybrid_search import search_triples
from argot.tools.text.words import is_question, words
from argot.types import Triple

# "NAND temperature?" is short enough to benefit from other words.
MIN_CONTENT_WORDS = 3


async def reformulate_query(state: State, run: RunContext) -> Step:
    """Rewrite the question in the documents' own words, by the triples near it (KaPQA 5, steps 2 to 4).

    Three steps: retrieve triples, keep the relevant ones, enhance the query by them. The enhanced query is searched
    beside the plain one; with `enhanced_replaces` it replaces the plain one, as in the paper. The stage is skipped
    where it cannot help: no triple is near, or the question is explicit (KaPQA 7.3 and 7.5 find that rewriting harms
    well-formed questions). With `spare_model` off, a model is asked in these cases too.
    """
    # Without a model, only triples can rewrite the query.
    sparing = run.profile.spare_model or run.model is None
    query = state["search_queries"][0][0] if state["search_queries"] else state["stand_alone_question"]
    triples: list[Triple] = []
    if run.profile.use_triples:
        found_near = await call_in_thread(_find_triples, query, run, sparing)
        if found_near is None:
            return Step({}, "skipped: the question is explicit")
        triples = found_near
        if not triples and sparing:
            return Step({}, "skipped: no triple helps")
    triples, enhanced = await _rewrite_query(query, triples, run, sparing=sparing)
    if run.profile.use_triples and not triples and sparing:
        return Step({}, "skipped: no triple helps")
    # The same query searched twice would count twice in the fusion.
    if not enhanced or enhanced.casefold() == query.casefold():
        return Step({}, "unchanged")
    found = [triple.id for triple in triples]
    if run.profile.enhanced_replaces:
        return Step({"search_queries": [(enhanced, 1.0)], "triples": found}, f"instead “{enhanced}”")
    plain = state["search_queries"] or [(state["stand_alone_question"], 1.0)]
    queries = [*plain, (enhanced, run.profile.weight_enhanced)]
    return Step({"search_queries": queries, "triples": found}, f"also “{enhanced}”")


def _find_triples(query: str, run: RunContext, sparing: bool) -> list[Triple] | None:
    """Return the triples near the query; None if it is explicit, and calls of the model are to be saved."""
    if sparing and is_explicit(query, run):
        return None
    return search_triples(run.corpus, run.principal, query, run.profile)


async def _rewrite_query(
    query: str, triples: list[Triple], run: RunContext, *, sparing: bool
) -> tuple[list[Triple], str]:
    """Return the triples that help, and the query rewritten by them; without any, the reader's plain rewriting."""
    if triples and run.profile.classify_triples:
        if run.profile.triples_in_one_call:
            triples, enhanced = await run.reader.reformulate(query, triples)
            return triples, enhanced.strip()
        triples = await run.reader.relevant_triples(query, triples)
        if not triples and sparing:
            return [], ""
    return triples, (await run.reader.enhance_query(query, triples)).strip()


def is_explicit(query: str, run: RunContext) -> bool:
    """Return whether the query is a whole question whose content words all occur in the documents, so that nothing
    needs translation.
    """
    content = [word for word, _, _ in words(query) if word not in STOP_WORDS]
    if len(content) < MIN_CONTENT_WORDS or not is_question(query):
        return False
    store = run.corpus.store
    # Stops at the first word that no document has; each check is one read of the store.
    return all(store.phrase_count(run.principal, word) for word in dict.fromkeys(content))
