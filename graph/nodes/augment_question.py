from __future__ import annotations

from dataclasses import replace
from functools import partial

from argot.graph.node_frame import StateUpdate, Step
from argot.graph.prefetch import embed_ahead
from argot.graph.presentation.wording import expand_query
from argot.graph.presentation.wording import write_augmented_question as augmented
from argot.graph.run_context import RunContext
from argot.graph.state import State
from argot.graph.state_records import find_agreed_context, load_senses, read_terms
from argot.graph.supported_senses import build_finder
from argot.question_threads import call_in_thread
from argot.tools.reading.lay_words import get_described, replace_described_words
from argot.types import Context, ReadTerm, Sense


async def augment_question(state: State, run: RunContext) -> Step:
    """Add the meanings of the terms to the question (Golden-Retriever 3.5), for the answer and for the search.

    The answer is written from the paper's template. The search query replaces each term by its expansion and adds no
    other word. If no document spells an expansion out, a second query uses the term that the documents have: people
    also say "paid time off" where all documents have PTO. The asker's own wording is searched with a small weight if
    a sense is a guess or the documents never spell it out. With `search_augmented` the template itself is the only
    query, as in the paper, so that context, definitions and notes are searched too.
    """
    # Run in a thread: it reads the stores, which must not block other streams.
    step = await call_in_thread(_augment, state, run)
    embed_ahead([text for text, _ in step.update["search_queries"]], run)
    return step


def _augment(state: State, run: RunContext) -> Step:
    question = state["stand_alone_question"]
    terms = read_terms(state, run)
    text = augmented(question, terms, _find_context(state, terms, run))
    queries = [(text, 1.0)] if run.profile.search_augmented else _build_queries(question, state, terms, run)
    update: StateUpdate = {"augmented_question": text, "search_queries": queries}
    found = ", ".join(dict.fromkeys(f"{term.mention.surface} = {term.sense.meaning}" for term in terms))
    return Step(update, found or "nothing to explain")


def _build_queries(question: str, state: State, terms: list[ReadTerm], run: RunContext) -> list[tuple[str, float]]:
    """Build the weighted queries: the question with its terms spelt out, then other wordings of it."""
    query = expand_query(question, terms)
    queries = [(query, 1.0), *_build_rival_queries(question, state, terms, run)]
    # Last in the list, because the evidence is judged by the first query.
    original, abbreviated = run.profile.weight_original, run.abbreviate(query)
    if abbreviated != query:
        queries.append((abbreviated, 1.0 if _is_settled(state) else original))
    # These find passages that only abbreviate what the question spells out, or use a term for its lay words.
    shorter = (run.shorten(query), _use_terms_for_lay_words(query, run))
    queries += [(text, run.profile.weight_rivals) for text in shorter if text not in (query, abbreviated, question)]
    if question not in (query, abbreviated) and original and _is_own_wording_searched(state, terms, run):
        queries.append((question, original))
    return queries


def _use_terms_for_lay_words(query: str, run: RunContext) -> str:
    """Return the query with lay words replaced by the terms that they describe, if the documents use only the terms."""
    if not run.profile.look_up_jargon:
        return query
    store = run.corpus.store
    approved = partial(run.glossary.senses.find, run.principal, status="approved")
    matcher = run.glossary.lookup.matcher(run.principal)

    def is_used(sense: Sense) -> bool:
        spelt_out = sense.expansion and store.phrase_count(run.principal, sense.expansion)
        if spelt_out or not store.phrase_count(run.principal, sense.term):
            return False
        finder = build_finder(run)
        return finder is None or sense in finder.find(sense.term, [sense]).senses

    described, count = get_described(matcher, approved), partial(store.phrase_count, run.principal)
    return replace_described_words(query, matcher, described, run.corpus.embedder, is_used, count)


def _is_own_wording_searched(state: State, terms: list[ReadTerm], run: RunContext) -> bool:
    """Return whether the asker's own wording is searched as well."""
    # A guess may be wrong: the term itself then finds what the wrong expansion does not.
    if not _is_settled(state):
        return True
    # Where no document spells the expansion out, only the term finds anything; elsewhere it finds its other senses.
    spelt_out = (
        term.sense.expansion and run.corpus.store.phrase_count(run.principal, term.sense.expansion) for term in terms
    )
    # Lazy, so that counting ends at the first expansion that no document has.
    return not all(spelt_out)


def _is_settled(state: State) -> bool:
    return all(reading["settled"] for reading in state["readings"])


def _build_rival_queries(
    question: str, state: State, terms: list[ReadTerm], run: RunContext
) -> list[tuple[str, float]]:
    """Return, for each doubtful term, the question with the next likeliest senses in its place."""
    weight = run.profile.weight_rivals
    rivals = {reading["mention"]: reading["rivals"] for reading in state["readings"] if reading["rivals"]}
    if not weight or not rivals:
        return []
    senses = load_senses((reading["term"] for reading in state["readings"]), run)
    # Matched by start position: `read_terms` leaves out senses that the reader may not see, so that its indexes differ
    # from those here.
    starts = {state["mentions"][place]["start"]: found for place, found in rivals.items()}
    queries = []
    for doubtful in terms:
        for sense, share in starts.get(doubtful.mention.start, ()):
            # The sense may have been retired, or closed to the asker, since the look-up.
            if sense in senses:
                read = [replace(term, sense=senses[sense]) if term is doubtful else term for term in terms]
                queries.append((expand_query(question, read), weight * share))
    return queries


def _find_context(state: State, terms: list[ReadTerm], run: RunContext) -> Context | None:
    name = find_agreed_context(state, terms)
    return next((context for context in run.glossary.contexts.all(run.principal) if context.name == name), None)
