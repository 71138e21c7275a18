"""The conversation as a prompt contains it: questions, and of long answers the sentences that a follow-up may mean."""

from __future__ import annotations

from collections.abc import Sequence

from argot.tools.text.sentences import split_sentences
from argot.tools.text.words import content_stems
from argot.types import Turn

MAX_TURNS = 4  # exchanges of the conversation that a prompt contains
LAST_ANSWER_CHARS = 1_200
"""Characters of the last answer: a follow-up mostly refers to it."""
EARLIER_ANSWER_CHARS = 300  # characters of each answer before it
_MAX_QUESTION_CHARS = 600  # characters of each question
_GAP = " … "


def format_history(turns: Sequence[Turn], question: str) -> str:
    """Return one line for each question and answer of the last turns.

    A line break within an answer might pass for the next question, so each has none. `question` is the follow-up, by
    whose words sentences of long answers are chosen.
    """
    lines, kept = [], turns[-MAX_TURNS:]
    for turn in kept:
        most = LAST_ANSWER_CHARS if turn is kept[-1] else EARLIER_ANSWER_CHARS
        lines.append(f"Question: {shorten_text(' '.join(turn.question.split()), _MAX_QUESTION_CHARS)}")
        lines.append(f"Answer: {select_sentences(turn.answer, question, most)}")
    return "\n".join(lines)


def select_sentences(text: str, question: str, most_chars: int) -> str:
    """Return a text on one line; of a long one as many sentences as fit, in their order: first those with most of the
    question's words, then those nearest to its beginning or end.
    """
    flat = " ".join(text.split())
    if len(flat) <= most_chars:
        return flat
    sentences = [" ".join(text[start:end].split()) for start, end in split_sentences(text)]
    asked = set(content_stems(question))
    # What "it" stands for is mostly named at the beginning or at the end.
    outwards = {place: min(place, 2 * (len(sentences) - 1 - place) + 1) for place in range(len(sentences))}
    order = sorted(outwards, key=lambda at: (-len(asked & set(content_stems(sentences[at]))), outwards[at]))
    chosen: set[int] = set()
    left = most_chars
    for place in order:
        cost = len(sentences[place]) + len(_GAP)
        if cost <= left:
            chosen.add(place)
            left -= cost
    return _join_sentences(sentences, sorted(chosen)) or shorten_text(flat, most_chars)


def shorten_text(text: str, most_chars: int) -> str:
    """Return the text, cut at the last blank before the limit."""
    if len(text) <= most_chars:
        return text
    cut = text.rfind(" ", 0, most_chars)
    return f"{text[: cut if cut > 0 else most_chars]}{_GAP.rstrip()}"


def _join_sentences(sentences: Sequence[str], places: Sequence[int]) -> str:
    """Return the sentences at these places, with "…" where others are left out."""
    joined, before = "", -1
    for place in places:
        joined += (" " if place == before + 1 else _GAP) + sentences[place]
        before = place
    return joined.strip() + (_GAP.rstrip() if places and before < len(sentences) - 1 else "")
