"""Verification, in one short model call, of answer sentences that word matching could not judge.

`tools.answering.objections` alone decides about numbers, units, names, negation and direction: a sentence with such an
objection is never put to the model, since a model that changed a number would also claim that the passage contains it.
Nor is a sentence for which neither words nor similarity find a passage (`tools.retrieval.claim_support`). The question
to the model is whether a passage says the same in other words (Trustworthy Answers 3.4 and figure 17; AccurateRAG 3
asks TRUE or FALSE).
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
"""Word support below which a passage is not examined further."""
MIN_CHANCE = 0.25
"""Score at which a passage supports a sentence; the model is not asked about a sentence below it. On the validation
questions every paraphrase of the reference scores higher, and no unfounded claim reaches 0.2.
"""
MIN_CHANCE_BY_WORDS = 0.32
"""The threshold without the reader: a share of 0.3 of the words."""
MAX_PASSAGES = 4
"""Number of passages shown with the sentences, the most likely support first. It keeps the call short."""
MAX_SENTENCES = 8
_MAX_PREMISES = 3


async def cite_by_model(sentences: Sequence[SentenceRecord], hits: Sequence[Hit], run: RunContext, asked: str) -> None:
    """Add citations to uncited sentences where the model says that a passage supports them.

    If the model fails or returns nothing usable, the sentences stay as they are.
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
    """Return the hits that may support sentences, and the sentences to ask about with the indexes of such hits."""
    draft = "".join(sentence["gap"] + sentence["text"] for sentence in sentences)
    # an order in a passage ("say that ...") is no evidence for a sentence that follows it
    shown = [replace(hit, passage=keep_support(hit.passage, draft, asked)) for hit in hits]
    uncited = (one for one in sentences if not (one["citations"] or one["text"].endswith(CUT_SHORT)))
    found = ((sentence, _find_supporting(sentence, shown, run, asked)) for sentence in uncited)
    return shown, [(sentence, places) for sentence, places in found if places][:MAX_SENTENCES]


def _find_supporting(sentence: SentenceRecord, hits: Sequence[Hit], run: RunContext, asked: str) -> list[int]:
    """Return the indexes of passages that may support the sentence, likeliest first: similar enough, and without a
    serious objection.
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
    """Return whether the only objections to the sentence concern words that it takes from the question."""
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
