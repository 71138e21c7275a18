from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from argot.graph.context import RunContext
from argot.graph.nodes.generate_answer import answer_request, hits_to_answer_from, quoting_writer, written
from argot.graph.records import hits_of
from argot.graph.stage import Step, tell_piece, tell_retract
from argot.graph.state import CitationRecord, SentenceRecord, State
from argot.tools.cite import locate
from argot.tools.cite import match_references as matched
from argot.tools.instructions import support_only
from argot.tools.marks import CUT_SHORT, without_marks
from argot.tools.sentences import split_sentences
from argot.types import Hit, MatchedSegment


async def match_references(state: State, run: RunContext) -> Step:
    """Finds the passage behind each sentence (Trustworthy Answers 3.4), whatever marks the draft came with.

    Sentences that nothing supports are marked, or left out under `withhold_unsupported`. If none is supported there
    is no answer; where a model wrote it, the passages are quoted instead. With the stage switched off nothing is
    checked: the sentences stand without citations.
    """
    hits = await asyncio.to_thread(hits_of, hits_to_answer_from(state, run), run)
    by_model = state.get("answered_by") == "model"
    asked = state["augmented_question"] or state["stand_alone_question"]
    sentences = await asyncio.to_thread(_checked, state["draft"], hits, run, asked if by_model else None)
    update: dict[str, Any] = {"draft": ""}
    if run.profile.match_references and not _supported(sentences):
        if not run.profile.withhold_unsupported:
            tell_retract()
        quoting = quoting_writer(state, run)
        if by_model and quoting is not None:
            draft = await written(quoting, await answer_request(state, run), run)
            sentences = await asyncio.to_thread(_checked, draft, hits, run)
            update |= {"answered_by": "extractive", "replaced": True}
    supported = _supported(sentences)
    if run.profile.match_references and not supported:
        return Step({**update, "sentences": []}, "no sentence is supported")
    if run.profile.withhold_unsupported:
        update["withheld"] = len(sentences) - len(supported)
        sentences = supported
        for place, sentence in enumerate(sentences):
            tell_piece((sentence["gap"] if place else "") + sentence["text"])
    found = f"{len(supported)} of {len(sentences) + update.get('withheld', 0)} sentences supported"
    return Step({**update, "sentences": sentences, "status": "answered"}, found)


def _checked(draft: str, hits: Sequence[Hit], run: RunContext, asked: str | None = None) -> list[SentenceRecord]:
    """The draft's sentences with what they rest on.

    `asked`: the question, where a model wrote the draft. It may have followed an order in a passage, which is no
    evidence for itself; and a sentence it did not finish may say what none says ("starts at 1 …").
    """
    text = without_marks(draft, len(hits), quoted=asked is None)
    if asked is not None:
        hits = [replace(hit, passage=support_only(hit.passage, text, asked)) for hit in hits]
    sentences = _sentences(text)
    if run.profile.match_references:
        _cite(sentences, _segments(sentences, hits, run), hits)
        if asked is not None and text.endswith(CUT_SHORT):
            sentences[-1]["citations"].clear()
    return sentences


def _supported(sentences: Sequence[SentenceRecord]) -> list[SentenceRecord]:
    return [sentence for sentence in sentences if sentence["citations"]]


def _sentences(text: str) -> list[SentenceRecord]:
    found, end = [], 0
    for first, last in split_sentences(text):
        found.append(SentenceRecord(gap=text[end:first], text=text[first:last], citations=[]))
        end = last
    return found


def _segments(sentences: Sequence[SentenceRecord], hits: Sequence[Hit], run: RunContext) -> list[MatchedSegment]:
    return matched(
        [sentence["text"] for sentence in sentences],
        [hit.passage for hit in hits],
        run.support,
        threshold=run.profile.reference_threshold,
        method=run.profile.matching,
    )


def _cite(sentences: Sequence[SentenceRecord], segments: Sequence[MatchedSegment], hits: Sequence[Hit]) -> None:
    for segment in segments:
        passage = hits[segment.passage].passage
        for sentence in sentences[segment.first : segment.last + 1]:
            start, end = locate(sentence["text"], passage)
            sentence["citations"].append(
                CitationRecord(
                    passage=passage.id, start=passage.start + start, end=passage.start + end, score=float(segment.score)
                )
            )
