"""Check of a draft's sentences, each with the places in the passages that support it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from argot.graph.run_context import RunContext
from argot.graph.state import CitationRecord, SentenceRecord
from argot.tools.answering.citation_marks import CUT_SHORT, strip_marks
from argot.tools.answering.citations import locate
from argot.tools.answering.citations import match_references as matched
from argot.tools.answering.counting import read_entry_count
from argot.tools.answering.embedded_instructions import keep_support
from argot.tools.text.sentences import split_sentences
from argot.types import Hit, MatchedSegment

_VERDICT = re.compile(r"\W*(?:yes|no)\W*", re.IGNORECASE)


def check_draft(draft: str, hits: Sequence[Hit], run: RunContext, asked: str | None = None) -> list[SentenceRecord]:
    """Return the draft's sentences with the places in the passages that support them.

    `asked` is the question if a model wrote the draft. The model may have followed an instruction in a passage, which
    is no evidence for itself; and a sentence that it did not finish may say what no passage says ("starts at 1 …").
    """
    text = strip_marks(draft, len(hits), quoted=asked is None)
    if asked is not None:
        # Only for a model's draft: a quotation may repeat everything the passage says, instructions included.
        hits = [replace(hit, passage=keep_support(hit.passage, text, asked)) for hit in hits]
    sentences = _split_draft(text)
    if run.profile.match_references:
        _cite_segments(sentences, _match_segments(sentences, hits, run), hits)
        if asked is None:
            _cite_counts(sentences)
        # "The range starts at 1 ..." matches its passage well, yet may contradict the rest of the passage's sentence.
        if asked is not None and text.endswith(CUT_SHORT):
            sentences[-1]["citations"].clear()
    return sentences


def select_cited(sentences: Sequence[SentenceRecord]) -> list[SentenceRecord]:
    """Return the sentences that a passage supports."""
    return [sentence for sentence in sentences if sentence["citations"]]


def _split_draft(text: str) -> list[SentenceRecord]:
    found, end = [], 0
    # White space is kept as `gap`, so that lists and paragraphs of the draft keep their layout when sentences are left
    # out.
    for first, last in split_sentences(text):
        # Punctuation alone makes no claim to support: it stays between the sentences.
        if not any(map(str.isalnum, text[first:last])):
            continue
        found.append(SentenceRecord(gap=text[end:first], text=text[first:last], citations=[]))
        end = last
    return found


def _match_segments(sentences: Sequence[SentenceRecord], hits: Sequence[Hit], run: RunContext) -> list[MatchedSegment]:
    return matched(
        [sentence["text"] for sentence in sentences],
        [hit.passage for hit in hits],
        run.support,
        threshold=run.profile.reference_threshold,
        method=run.profile.matching,
    )


def _cite_segments(
    sentences: Sequence[SentenceRecord], segments: Sequence[MatchedSegment], hits: Sequence[Hit]
) -> None:
    for segment in segments:
        for sentence in sentences[segment.first : segment.last + 1]:
            cite(sentence, hits[segment.passage], segment.score)


def cite(sentence: SentenceRecord, hit: Hit, score: float) -> None:
    """Add a citation of the passage, with the place in it that says the same as the sentence."""
    start, end = locate(sentence["text"], hit.passage)
    at = hit.passage.start
    sentence["citations"].append(
        CitationRecord(passage=hit.passage.id, start=at + start, end=at + end, score=float(score))
    )


def _cite_counts(sentences: Sequence[SentenceRecord]) -> None:
    """A line like "5 entries:" is Argot's own count, not a quotation, and rests on the list that follows it."""
    for place, sentence in enumerate(sentences):
        # The sentence that introduces the list is between the count and its entries.
        listed = [one["citations"][0] for one in sentences[place + 1 :] if one["citations"]]
        listed = [one for one in listed if one["passage"] == listed[0]["passage"]]
        if len(listed) >= read_entry_count(sentence["text"]) > 0:
            first, last = listed[0]["start"], max(one["end"] for one in listed)
            sentence["citations"] = [CitationRecord(passage=listed[0]["passage"], start=first, end=last, score=1.0)]


def cite_verdicts(sentences: Sequence[SentenceRecord]) -> None:
    """A bare "Yes." or "No." takes the citations of the next sentence: it has no words of its own to search for."""
    for sentence, reason in pairwise(sentences):
        if _VERDICT.fullmatch(sentence["text"].strip()) and not sentence["citations"]:
            sentence["citations"].extend(reason["citations"])
