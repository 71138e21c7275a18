from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import Any

from argot.graph.context import RunContext
from argot.graph.records import hits_of
from argot.graph.stage import Step, tell_piece
from argot.graph.state import CitationRecord, SentenceRecord, State
from argot.tools.cite import locate
from argot.tools.cite import match_references as matched
from argot.tools.sentences import split_sentences
from argot.types import Hit, MatchedSegment

_MARK = re.compile(r"(?<=[\w.,;:!?)\]”\"'])\s*\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\]")


async def match_references(state: State, run: RunContext) -> Step:
    """Finds the passage behind each sentence (Trustworthy Answers 3.4), whatever marks the draft came with.

    Sentences that nothing supports are marked, or left out under `withhold_unsupported`. If none is supported there
    is no answer. With the stage switched off nothing is checked: the sentences stand without citations.
    """
    hits = await asyncio.to_thread(hits_of, state["hits"][: run.profile.passages_for_answer], run)
    sentences = _sentences(without_marks(state["draft"], len(hits)))
    if run.profile.match_references:
        segments = await asyncio.to_thread(_segments, sentences, hits, run)
        await asyncio.to_thread(_cite, sentences, segments, hits)
    supported = [sentence for sentence in sentences if sentence["citations"]]
    update: dict[str, Any] = {"draft": ""}
    if run.profile.match_references and not supported:
        return Step({**update, "sentences": []}, "no sentence is supported")
    if run.profile.withhold_unsupported:
        update["withheld"] = len(sentences) - len(supported)
        sentences = supported
        for place, sentence in enumerate(sentences):
            tell_piece((sentence["gap"] if place else "") + sentence["text"])
    found = f"{len(supported)} of {len(sentences) + update.get('withheld', 0)} sentences supported"
    return Step({**update, "sentences": sentences, "status": "answered"}, found)


def without_marks(draft: str, passages: int) -> str:
    """The draft without the citation marks ("[2]", "[1, 3]") its writer gave; other brackets stay."""

    def drop(match: re.Match[str]) -> str:
        numbers = [int(number) for number in match[1].split(",")]
        return "" if all(1 <= number <= passages for number in numbers) else match[0]

    return _MARK.sub(drop, draft)


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
