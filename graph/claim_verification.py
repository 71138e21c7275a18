"""Sentences of a model's answer that words could not judge, put to the model in one short call.

Numbers, units, names, negation and direction stay with `tools.answering.objections`: a sentence they speak against is
never asked about, since a model that changed a number would also say that it stands there; nor is one that words and
likeness together find no passage for (`tools.retrieval.claim_support`). What is asked: whether a passage says the same
in other words (Trustworthy Answers 3.4 and figure 17; AccurateRAG 3 asks TRUE or FALSE).
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from argot.errors import ModelUnavailable
from argot.graph.draft_checking import cite
from argot.graph.run_context import RunContext
from argot.graph.state import SentenceRecord
from argot.tools.answering.citation_marks import CUT_SHORT
from argot.tools.answering.citations import join_source_text
from argot.tools.answering.embedded_instructions import keep_support
from argot.tools.answering.objections import find_objection, is_soft
from argot.tools.answering.premises import remove_premise
from argot.tools.answering.support import read_visible
from argot.tools.llm.judge import match_by_model
from argot.tools.retrieval.claim_support import score_claim
from argot.tools.retrieval.reader_scorer import ReaderScorer
from argot.types import Hit

MIN_SHARED_WORDS = 0.15
"""Support by words under which a passage is not looked at any closer."""
MIN_CHANCE = 0.25
"""Of a passage to bear a sentence out; below, a sentence is not even asked about. On the validation questions every
paraphrase of the reference has more, and no claim from nowhere reaches 0.2.
"""
MIN_CHANCE_BY_WORDS = 0.32
"""The same without the reader: a share of 0.3 of the words."""
MAX_PASSAGES = 4
"""Passages shown with the sentences: those likeliest to say them. The call is to be short."""
MAX_SENTENCES = 8
_MAX_PREMISES = 3


async def cite_by_model(sentences: Sequence[SentenceRecord], hits: Sequence[Hit], run: RunContext, asked: str) -> None:
    """Gives citations to sentences without any, where the model says that a passage bears them out.

    A model that fails, or says nothing of use, leaves them as they are.
    """
    if run.model is None or run.model.failed:
        return
    shown, doubtful = await asyncio.to_thread(_find_doubtful, sentences, hits, run, asked)
    places = list(dict.fromkeys(place for _, possible in doubtful for place in possible))[:MAX_PASSAGES]
    if not places:
        return
    texts = [sentence["text"] for sentence, _ in doubtful]
    try:
        segments = await match_by_model(run.model, asked, texts, [shown[at].passage for at in places])
    except ModelUnavailable:
        return
    for found in segments:
        place = places[found.passage]
        for sentence, possible in doubtful[found.first : found.last + 1]:
            if place in possible:
                cite(sentence, hits[place], found.score)


def _find_doubtful(
    sentences: Sequence[SentenceRecord], hits: Sequence[Hit], run: RunContext, asked: str
) -> tuple[list[Hit], list[tuple[SentenceRecord, list[int]]]]:
    """Return the hits as they may bear sentences out, and the sentences to ask about with the places of such hits."""
    draft = "".join(sentence["gap"] + sentence["text"] for sentence in sentences)
    # an order in a passage ("say that ...") is no evidence for a sentence that follows it
    shown = [replace(hit, passage=keep_support(hit.passage, draft, asked)) for hit in hits]
    uncited = (one for one in sentences if not (one["citations"] or one["text"].endswith(CUT_SHORT)))
    found = ((sentence, _find_supporting(sentence, shown, run, asked)) for sentence in uncited)
    return shown, [(sentence, places) for sentence, places in found if places][:MAX_SENTENCES]


def _find_supporting(sentence: SentenceRecord, hits: Sequence[Hit], run: RunContext, asked: str) -> list[int]:
    """Return the places of passages that may bear the sentence out, likeliest first: near enough, and nothing speaks
    hard against it.
    """
    texts = [join_source_text(hit.passage) for hit in hits]
    shares = run.support.score(sentence["text"], texts)
    looked_at = [place for place, share in enumerate(shares) if share >= MIN_SHARED_WORDS]
    found = score_claim(sentence["text"], [texts[place] for place in looked_at], run.scorer)
    chances = dict(zip(looked_at, found, strict=True))
    least = MIN_CHANCE if isinstance(run.scorer, ReaderScorer) else MIN_CHANCE_BY_WORDS
    near = sorted((place for place in looked_at if chances[place] >= least), key=lambda at: -chances[at])
    return [place for place in near if may_be_asked(sentence["text"], texts[place], asked)]


def may_be_asked(sentence: str, text: str, asked: str) -> bool:
    """Return whether the only objections to the sentence are to words that it takes from the question."""
    reason, said, source = find_objection(sentence, text), read_visible(sentence), read_visible(text)
    for _ in range(_MAX_PREMISES):
        if is_soft(reason):
            return True
        before = said, source
        said, source = remove_premise(reason, said, source, asked)
        if (said, source) == before:
            return False
        reason = find_objection(said, source)
    return is_soft(reason)
