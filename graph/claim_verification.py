"""Verification of the answer sentences that word matching could not judge, in one short model call for all of them.

`tools.answering.objections` alone decides about numbers, units, names, negation and direction: a sentence with such an
objection is never put to the model, since a model that changed a number would also claim that the passage contains it.
Nor is a sentence for which neither words nor similarity find a passage (`tools.retrieval.claim_support`). The model is
shown the passages that the sentences cite, and others only for a sentence that cites none. It is asked whether a
passage says the same in other words (Trustworthy Answers 3.4 and figure 17; AccurateRAG 3 asks TRUE or FALSE). If it
gives no usable reply, the reader decides, which distinguishes less well. The model alone decides about a number of the
question ("three weeks are more than 80 hours"), and about a sentence in another language than the passages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import NamedTuple

from argot.errors import ModelUnavailable
from argot.graph.draft_checking import cite
from argot.graph.run_context import RunContext
from argot.graph.state import SentenceRecord
from argot.languages.detection import identify_listed_language
from argot.languages.question_words import is_verdict
from argot.protocols import Scorer
from argot.question_threads import call_in_thread
from argot.tools.answering.citation_marks import CUT_SHORT
from argot.tools.answering.citations import join_cited_text, join_source_text
from argot.tools.answering.cited_support import find_claim_objection, weigh_cited
from argot.tools.answering.embedded_instructions import keep_support
from argot.tools.answering.foreign_denial import denies_by_question, is_opposed_across
from argot.tools.answering.objections import is_soft
from argot.tools.answering.premises import remove_asked_amounts, remove_conclusions
from argot.tools.answering.translated_claims import is_translated, may_be_translation
from argot.tools.retrieval.claim_support import score_claim
from argot.tools.retrieval.meaning_reader import load_meaning_reader
from argot.tools.retrieval.reader_scorer import ReaderScorer
from argot.tools.text.sentences import split_sentences
from argot.types import Hit, MatchedSegment, Passage

MIN_SHARED_WORDS = 0.15
"""Word support below which a passage is not examined further."""
MIN_CHANCE = 0.25
"""Score at which a passage supports a sentence; the model is not asked about a sentence below it. On the validation
questions every paraphrase of the reference scores higher, and no unfounded claim reaches 0.2.
"""
MIN_CHANCE_BY_WORDS = 0.32
"""The threshold without the reader: a share of 0.3 of the words."""
MIN_CHANCE_NAMED = 0.2
"""The threshold for passages that the sentence itself cites. Of the right answers to the training questions that words
leave open, five in six reach it; of 970 answers to other questions 4 do.
"""
MIN_WORDS_NAMED = 0.35
"""Share of a sentence's words in the passages that it cites from which the model is asked whatever the chance: a
conclusion for the asker's own case, or a short sentence, resembles no long passage."""
MIN_CHANCE_ALONE = 0.35
"""Score at which the reader alone confirms a sentence that cites the passage; none of those 970 answers reaches it."""
MIN_LIKENESS = 0.45
"""Similarity of a clause with a sentence of the passages from which they may say the same in other words. Of 121
invented clauses in answers to the training questions 4 reach it, each joined to a clause of the answer.
"""
MIN_TRANSLATION_LIKENESS = 0.28
"""Similarity of a sentence with the nearest one of passages in another language, below which the model is not asked:
invented statements stay below it, every right one of the German samples is above."""
MIN_TRANSLATED_WORDS = 4
"""A shorter sentence ("26 hours.") resembles none, so its similarity says nothing; its numbers have been compared."""
MAX_PASSAGES = 6
"""Number of passages shown with the sentences, those first that they cite. It keeps the call short."""
MAX_SENTENCES = 12  # sentences in one call


class _Doubt(NamedTuple):
    """A sentence to ask about, and the indexes of the passages that may support it, each with its chance.

    `for_model`: only the model may confirm it.
    """

    sentence: SentenceRecord
    chances: dict[int, float]
    for_model: bool = False


async def cite_by_model(
    sentences: Sequence[SentenceRecord],
    named: Sequence[tuple[int, ...]],
    hits: Sequence[Hit],
    run: RunContext,
    question: str,
) -> None:
    """Add citations to uncited sentences where the model says that a passage supports them.

    `named`: for each sentence the indexes of the hits that it cites itself.
    """
    if run.model is None:
        return
    shown, doubts = await call_in_thread(_find_doubts, sentences, named, hits, run, question)
    places = _choose_places(doubts)
    if not places:
        return
    texts = [doubt.sentence["text"] for doubt in doubts]
    try:
        segments = await _ask_model(run, question, texts, [shown[at].passage for at in places])
    except ModelUnavailable:
        segments = []
    if not segments:
        _cite_by_reader(doubts, hits, run)
    for found in segments:
        place = places[found.passage]
        for doubt in doubts[found.first : found.last + 1]:
            if place in doubt.chances:
                cite(doubt.sentence, hits[place], found.score)


async def _ask_model(run: RunContext, question: str, texts: list[str], passages: list[Passage]) -> list[MatchedSegment]:
    if run.model is None or run.model.failed or run.profile.effort == "quick":
        return []
    from argot.tools.llm.judge import match_by_model

    return await match_by_model(run.model, question, texts, passages)


def _cite_by_reader(doubts: Sequence[_Doubt], hits: Sequence[Hit], run: RunContext) -> None:
    """Cite the likeliest passage of each sentence that the reader finds likely enough; words alone confirm nothing."""
    if not isinstance(run.scorer, ReaderScorer):
        return
    for doubt in doubts:
        if doubt.for_model:
            continue
        place = max(doubt.chances, key=lambda at: doubt.chances[at])
        if doubt.chances[place] >= MIN_CHANCE_ALONE:
            cite(doubt.sentence, hits[place], doubt.chances[place])


def _choose_places(doubts: Sequence[_Doubt]) -> list[int]:
    """Return the indexes of the passages to show: the likeliest of each sentence first."""
    ranked = [sorted(doubt.chances, key=lambda at: -doubt.chances[at]) for doubt in doubts]
    found = (place for row in zip_longest(*ranked) for place in row if place is not None)
    return list(dict.fromkeys(found))[:MAX_PASSAGES]


def _find_doubts(
    sentences: Sequence[SentenceRecord],
    named: Sequence[tuple[int, ...]],
    hits: Sequence[Hit],
    run: RunContext,
    question: str,
) -> tuple[list[Hit], list[_Doubt]]:
    """Return the hits without the orders that the draft follows, and the sentences to ask about."""
    draft = "".join(sentence["gap"] + sentence["text"] for sentence in sentences if "column" not in sentence)
    # an order in a passage ("say that ...") is no evidence for a sentence that follows it
    shown = [replace(hit, passage=keep_support(hit.passage, draft, question)) for hit in hits]
    doubts = []
    for sentence, places in zip(sentences, named, strict=True):
        if sentence["citations"] or sentence.get("remark") or sentence["text"].endswith(CUT_SHORT):
            continue
        if chances := _find_chances(sentence["text"], places, shown, run, question):
            doubts.append(_Doubt(sentence, chances))
        elif _is_possible_translation(sentence["text"], [shown[place].passage for place in places], question, run):
            doubts.append(_Doubt(sentence, dict.fromkeys(places, 0.0), for_model=True))
        elif chances := _find_chances_without_amounts(sentence["text"], places, shown, run, question):
            doubts.append(_Doubt(sentence, chances, for_model=True))
    return shown, doubts[:MAX_SENTENCES]


def _is_possible_translation(sentence: str, cited: Sequence[Passage], question: str, run: RunContext) -> bool:
    """Return whether a sentence may say what the passages it cites say in their language."""
    if not is_translated(sentence, cited, question) or not may_be_translation(
        sentence, [*map(join_source_text, cited)]
    ):
        return False
    meaning = load_meaning_reader(run.corpus.embedder)
    if not meaning.is_multilingual or len(sentence.split()) < MIN_TRANSLATED_WORDS:
        return True
    nearest, language = meaning.find_nearest(sentence, cited)
    languages = (identify_listed_language(sentence), language)
    if is_opposed_across(sentence, nearest, languages) and not denies_by_question(sentence, question):
        return False
    return meaning.measure_likeness(sentence, cited) >= MIN_TRANSLATION_LIKENESS


def _find_chances(
    sentence: str, named: tuple[int, ...], hits: Sequence[Hit], run: RunContext, question: str
) -> dict[int, float]:
    """Return the indexes of the passages that may support the sentence, each with its chance.

    These are the passages that it cites, unless something in them contradicts it; if it cites none, those that are
    similar enough.
    """
    if is_verdict(sentence):
        return dict.fromkeys(named, 0.0)
    places = list(named) or list(range(len(hits)))
    texts = [join_cited_text(hits[place]) for place in places]
    has_words = False
    if named:
        weighed = weigh_cited(sentence, texts, question)
        possible = is_soft(weighed.objection) or _may_be_paraphrased(weighed.objection, texts, run.scorer)
        has_words = weighed.share >= MIN_WORDS_NAMED
        examined = list(range(len(places))) if possible else []
    else:
        shares = run.support.score(sentence, texts)
        examined = [
            at
            for at, share in enumerate(shares)
            if share >= MIN_SHARED_WORDS and may_be_asked(sentence, texts[at], question)
        ]
    found = score_claim(sentence, [texts[at] for at in examined], run.scorer)
    by_reader = MIN_CHANCE_NAMED if named else MIN_CHANCE
    least = by_reader if isinstance(run.scorer, ReaderScorer) else MIN_CHANCE_BY_WORDS
    chances = {places[at]: chance for at, chance in zip(examined, found, strict=True) if chance >= least or named}
    return chances if has_words or max(chances.values(), default=0.0) >= least else {}


def _find_chances_without_amounts(
    sentence: str, named: tuple[int, ...], hits: Sequence[Hit], run: RunContext, question: str
) -> dict[int, float]:
    """Return the chances of a sentence that cites passages, without the numbers that it repeats from the question, or
    without what it concludes for the asker's case.
    """
    source = "\n\n".join(join_cited_text(hits[place]) for place in named)
    concluded = remove_conclusions(sentence, source, question)
    for bare in (
        remove_asked_amounts(sentence, source, question),
        concluded,
        remove_asked_amounts(concluded, source, question),
    ):
        if named and bare != sentence and (chances := _find_chances(bare, named, hits, run, question)):
            return chances
    return {}


def _may_be_paraphrased(objection: str, texts: Sequence[str], scorer: Scorer) -> bool:
    """Return whether the passages lack only a clause's words, and the reader finds a sentence that may say the same."""
    kind, _, clause = objection.partition(" ")
    if kind != "clause" or not isinstance(scorer, ReaderScorer):
        return False
    units = [text[start:end] for text in texts for start, end in split_sentences(text)]
    return max(scorer.likeness(clause.strip("'"), units), default=0.0) >= MIN_LIKENESS


def may_be_asked(sentence: str, text: str, question: str) -> bool:
    """Return whether the only objections to the sentence concern words that it takes from the question."""
    return is_soft(find_claim_objection(sentence, text, question))
