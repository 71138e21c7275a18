"""Finds the passage that supports each sentence of an answer.

Reference matching of *Trustworthy Answers, Messier Data* (3.4, Algorithm 1), in two methods. `published` is the paper's
listing, unchanged. `sum` is Argot's own and the default; `bench/matching.py` measures both. Either way a sentence keeps
its citation only if its segment reaches the threshold (section 6), and if the passage does not contradict it in a
number, a name, its scope or a negation, or leave a clause of it unsupported (`objections.py`). The paper has no such
check: `match_as_published` is its algorithm alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from argot.document_status import is_ended
from argot.protocols import Scorer
from argot.tools.answering.objections import find_objection
from argot.tools.answering.support import support
from argot.tools.text.markdown_prose import extract_prose
from argot.tools.text.sentences import split_units
from argot.types import Hit, MatchedSegment, Passage

MAX_SEGMENT_SENTENCES = 8
"""Maximum sentences of a segment. It bounds the work of `sum`; a longer run of one passage becomes two segments on that
passage."""

CHANGE_COST = 0.05
"""The cost of another segment in `sum`, in sentence scores; it makes two sentences on one passage one segment."""

_LEADER = re.compile(r"^[ \t]*(\S.*?) ?\.{4,}[ \t]+(?=\S)", re.MULTILINE)
"""A name and the dots that lead to its value: "Width ........ 5 m"."""
_ENDED = "This is an old version: it is archived, withdrawn, superseded, outdated and no longer in force."
"""What a sentence may say of a document with any of these statuses."""


class _Match(NamedTuple):
    """Compares by score, then prefers the passage that was ranked higher."""

    score: float
    minus_passage: int


def match_references(
    sentences: Sequence[str],
    passages: Sequence[Passage],
    scorer: Scorer,
    *,
    threshold: float,
    method: Literal["sum", "published"] = "sum",
) -> list[MatchedSegment]:
    """Return the segments of the answer that a passage supports, in order. A sentence outside them is unsupported.

    `sentences` are Markdown, as split by `split_sentences`; `passage` in the result indexes `passages`, best first.
    """
    if not sentences or not passages:
        return []
    texts = [join_source_text(passage) for passage in passages]
    if method == "published":
        segments = match_as_published(sentences, passages, scorer, threshold=threshold)
        return [one for one in segments if _is_unopposed(sentences, texts[one.passage], one)]
    return _match_by_sum(sentences, texts, scorer, threshold)


def join_source_text(passage: Passage) -> str:
    """Return the text of a passage that may support a sentence: its headings, columns and its own text."""
    return f"{passage.heading}\n\n{passage.with_columns}" if passage.heading else passage.with_columns


def join_cited_text(hit: Hit) -> str:
    """Return the text that may support a sentence that cites a passage: a line with dots before its value as a list's
    entry; of an archived or withdrawn document also that it is no longer in force, which the prompt says of it.
    """
    text = _LEADER.sub(r"- \1: ", join_source_text(hit.passage))
    # Its name or date may have the year by which the sentence calls it.
    name = f"{hit.document.name} {hit.document.date or ''}"
    return f"{text}\n\n{_ENDED} {name}" if is_ended(hit.document) else text


def _is_unopposed(sentences: Sequence[str], text: str, segment: MatchedSegment) -> bool:
    return not any(find_objection(sentence, text) for sentence in sentences[segment.first : segment.last + 1])


# -- the published listing --------------------------------------------------------------------------------------------


def match_as_published(
    sentences: Sequence[str], passages: Sequence[Passage], scorer: Scorer, *, threshold: float = 0.0
) -> list[MatchedSegment]:
    """Return the segments of Algorithm 1 that reach the threshold, without any other check; 0: all of them.

    dp[j + 1] stores only the best score of the last segment, never adding dp[i]. Backtracking starts at
    the last sentence and continues before the segment found.

    The listing has i < j, hence no segment of one sentence; the worked example below it has them, (s_5:s_5, d_2),
    followed by a segment that ends with s_4. This code follows the example.
    """
    texts = [join_source_text(passage) for passage in passages]
    count = len(sentences)
    best = [0.0] * (count + 1)
    choices: list[tuple[int, _Match] | None] = [None] * (count + 1)
    for last in range(count):
        for first in range(last + 1):
            scores = scorer.score("\n\n".join(sentences[first : last + 1]), texts)
            for passage, score in enumerate(scores):
                if score > best[last + 1]:
                    best[last + 1] = score
                    choices[last + 1] = (first, _Match(score, -passage))
    return [one for one in _walk_back(choices) if one.score >= threshold]


# -- the sum over segments --------------------------------------------------------------------------------------------


def _match_by_sum(
    sentences: Sequence[str], texts: Sequence[str], scorer: Scorer, threshold: float
) -> list[MatchedSegment]:
    """dp[j] = max(dp[j - 1], max over i, t of dp[i - 1] + score(i, j, t) * (j - i + 1) - CHANGE_COST).

    Single sentences are segments too. Leaving a sentence out scores 0, so that neighbours never carry an unsupported
    one: a segment counts only if all its sentences are admitted and reach half the threshold alone.
    """
    count = len(sentences)
    alone = [scorer.score(sentence, texts) for sentence in sentences]
    bearable = [
        [
            score >= threshold / 2 and not find_objection(sentence, text)
            for score, text in zip(scores, texts, strict=True)
        ]
        for sentence, scores in zip(sentences, alone, strict=True)
    ]
    best = [0.0] * (count + 1)
    choices: list[tuple[int, _Match] | None] = [None] * (count + 1)
    for last in range(count):
        best[last + 1] = best[last]
        for first in range(last, max(-1, last - MAX_SEGMENT_SENTENCES), -1):
            possible = [t for t in range(len(texts)) if all(bearable[s][t] for s in range(first, last + 1))]
            if not possible:
                break  # a longer run contains the same sentences
            if first == last:
                scores = [alone[first][t] for t in possible]
            else:
                scores = scorer.score("\n\n".join(sentences[first : last + 1]), [texts[t] for t in possible])
            match = _Match(*max(zip(scores, (-t for t in possible), strict=True)))
            value = best[first] + match.score * (last - first + 1) - CHANGE_COST
            if match.score >= threshold and value > best[last + 1]:
                best[last + 1], choices[last + 1] = value, (first, match)
    return _walk_back(choices)


# -- backtracking -----------------------------------------------------------------------------------------------------


def _walk_back(choices: list[tuple[int, _Match] | None]) -> list[MatchedSegment]:
    """`choices[j]`: the start of the segment that ends before sentence j, and its passage; walked from the last one
    back.
    """
    found: list[MatchedSegment] = []
    current = len(choices) - 1
    while current > 0:
        choice = choices[current]
        if choice is None:
            current -= 1
            continue
        first, match = choice
        found.append(MatchedSegment(first, current - 1, -match.minus_passage, match.score))
        current = first
    return found[::-1]


# -- where in the passage ---------------------------------------------------------------------------------------------


def locate(sentence: str, passage: Passage) -> tuple[int, int]:
    """Return the [start, end) in `passage.text` that says the same as the sentence (add `passage.start` for the
    revision's Markdown). Exact for a quotation, including one whose Markdown was cleaned; the most similar unit for
    anything else; the whole text if no unit is similar.
    """
    said, source = extract_prose(sentence).text, extract_prose(passage.text)
    found = source.text.find(said) if said else -1
    if found < 0 and said:
        # Some characters change their length ("ß" to "ss"), which would shift the offsets.
        found = source.text.casefold().find(said.casefold()) if len(source.text.casefold()) == len(source.text) else -1
    if found >= 0 and said:
        return source.source_span(found, found + len(said))
    units = [(a, b) for a, b, _ in split_units(passage.text)]
    scored = [(support(sentence, passage.text[a:b]), -b, (a, b)) for a, b in units]
    if not scored or max(scored)[0] <= 0:
        return 0, len(passage.text)
    return max(scored)[2]
