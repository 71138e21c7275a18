"""Suggested next questions, made from the documents near an answer: never invented, and tested before.

A suggestion is a question that a model once derived from a passage (RAIDD 2.2, Q), a heading near the answer that is
one ("How to reset a key"), or a glossary term in the answer. It is offered only if a search for it returns its
source on top. Other headings make no question that a person would ask.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

from argot.graph.run_context import RunContext
from argot.languages.catalogues import speak_as_asked, translate
from argot.results import AskResult
from argot.tools.answering.embedded_instructions import has_orders
from argot.tools.retrieval.suggested_questions import MAX_CHARS, Trial, find_telling_heading, read_as_question
from argot.tools.text.words import bare, content_stems
from argot.types import Document, Passage

MAX_SUGGESTIONS = 2
# Each trial is a search, while somebody looks at the answer.
MAX_TRIED = 8


@dataclass(frozen=True, slots=True)
class _Candidate:
    text: str
    passage: str


def list_next_questions(run: RunContext, last: AskResult, asked: Sequence[str]) -> list[str]:
    """Return up to `MAX_SUGGESTIONS` questions that the documents answer and nobody asked in this conversation.

    None are returned if no question is good enough, or the last one was not answered.

    Args:
        last: the answer to continue from.
        asked: the questions of the conversation.
    """
    if last.status != "answered" or not last.passages:
        return []
    chosen: list[str] = []
    seen = {bare(text) for text in asked}
    tried = 0
    trial = Trial(run.corpus, run.principal, run.scorer, run.profile, run.scope)
    for candidate in _list_candidates(run, last):
        key = bare(candidate.text)
        if key in seen or len(candidate.text) > MAX_CHARS:
            continue
        seen.add(key)
        tried += 1
        if trial.finds(candidate.text, candidate.passage):
            chosen.append(candidate.text)
        if len(chosen) == MAX_SUGGESTIONS or tried == MAX_TRIED:
            break
    return chosen


def _list_candidates(run: RunContext, last: AskResult) -> Iterator[_Candidate]:
    """Yield derived questions first, which are the best; then headings and terms in turn."""
    held = run.corpus.store.passages(run.principal, [passage.passage_id for passage in last.passages])
    # A passage that tries to give the model orders is no source of suggestions either.
    good = {id_: one for id_, one in held.items() if not has_orders(one[0])}
    cited = {one.passage_id for sentence in last.sentences for one in sentence.citations}
    yield from _list_derived(run, list(good), last)
    nearest = [good[id_] for id_ in good if id_ in cited] or list(good.values())[:1]
    headings = list(_list_headings(run, nearest, last))
    terms = list(_list_terms(run, good, last))
    for place in range(max(len(headings), len(terms))):
        yield from headings[place : place + 1]
        yield from terms[place : place + 1]


def _list_derived(run: RunContext, passages: Sequence[str], last: AskResult) -> Iterator[_Candidate]:
    asked_stems = set(content_stems(f"{last.question} {last.stand_alone_question}"))
    for text in run.corpus.store.list_questions(run.principal, passages):
        words = set(content_stems(text.text))
        # Mostly the same words: it was asked already.
        if words and len(words & asked_stems) < 0.7 * len(words) and text.text.rstrip().endswith("?"):
            yield _Candidate(" ".join(text.text.split()), text.passage_ids[0])


def _list_headings(
    run: RunContext, nearest: Sequence[tuple[Passage, Document]], last: AskResult
) -> Iterator[_Candidate]:
    """List further headings of the documents behind the answer, the sections next to it first."""
    shown = {passage.id for passage, _ in nearest}
    around = [
        (abs(other.ordinal - passage.ordinal), other, document)
        for passage, document in nearest
        for other in run.corpus.store.passages_of(run.principal, document.id)
        if other.id not in shown and not has_orders(other)
    ]
    # By distance only, because passages cannot be compared.
    yield from _ask_by_heading([(other, document) for _, other, document in sorted(around, key=itemgetter(0))], last)


def _ask_by_heading(found: Sequence[tuple[Passage, Document]], last: AskResult) -> Iterator[_Candidate]:
    asked = set(content_stems(f"{last.question} {last.stand_alone_question}"))
    known_stems = asked | set(content_stems(last.answer))
    for passage, document in found:
        question = read_as_question(find_telling_heading(passage, document))
        words = set(content_stems(question))
        # A question about something else would be noise, and one with no new word was answered.
        if words & asked and not words <= known_stems:
            yield _Candidate(question, passage.id)


def _list_terms(
    run: RunContext, passages: Mapping[str, tuple[Passage, Document]], last: AskResult
) -> Iterator[_Candidate]:
    """List the terms of the sentences quoted, except those whose meaning stands beside them."""
    matcher = run.glossary.lookup.matcher(run.principal)
    known = {one.term for one in last.jargon}
    answer_text = last.answer.casefold()
    for sentence in last.sentences:
        passage = next((passages[one.passage_id][0] for one in sentence.citations if one.passage_id in passages), None)
        if passage is None:
            continue
        found = {mention.term: mention.surface for mention in matcher.find(sentence.text) if mention.term}
        senses = run.glossary.lookup.senses(run.principal, [term for term in found if term not in known])
        for term, some in senses.items():
            # A term with several senses would only be asked back.
            is_spelt_out = len(some) == 1 and some[0].expansion.casefold() in answer_text
            if len(some) == 1 and some[0].expansion and some[0].term not in known and not is_spelt_out:
                known.add(term)
                yield _Candidate(_ask_meaning(some[0].term, last), passage.id)


def _ask_meaning(term: str, last: AskResult) -> str:
    with speak_as_asked(last.question):
        return translate("What does %(term)s mean?", term=term)
