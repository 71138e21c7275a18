"""A message that asks two or three things: "What is PLP and how tall may a pole be?".

Searched as one, its words match different passages and one half remains unanswered. Conservative: every part has to ask
something by itself, so that "and by how much?", "and why?" and "and how does it work?" stay with their subject. A
comparison is two questions, too.
"""

from __future__ import annotations

from argot.languages.detection import identify_listed_language
from argot.languages.several_words import SeveralWords, load_several_words
from argot.tools.reading.comparisons import find_sides, write_side_question
from argot.tools.text.words import content_stems, find_identifiers

MAX_CHARS = 400
"""Characters: longer messages explain rather than list questions."""
MAX_PARTS = 3
_AROUND = " \u00a0\u202f,;.?!¿"
"""Characters around a part: French puts a narrow blank before a question mark."""


def split_questions(question: str) -> list[str]:
    """Return the questions in a message; a single one, unchanged, unless it clearly has several.

    A comparison has one for each of its sides.
    """
    # Several lines are a list or pasted text, and belong together.
    if len(question) > MAX_CHARS or "\n" in question.strip():
        return [question]
    if sides := find_sides(question):
        return [write_side_question(side, question) for side in sides]
    words = load_several_words(identify_listed_language(question))
    parts, start = [], 0
    for found in words.boundary.finditer(question):
        if found["end"] or not words.embeds.search(question[start : found.start()]):
            parts.append(_make_question(question[start : found.start()], words))
            start = found.end()
    parts.append(_make_question(question[start:], words))
    # All parts or none: answering half of a message loses the other half.
    whole = 1 < len(parts) <= MAX_PARTS and all(_can_stand(part, words) for part in parts)
    return parts if whole and not any(_is_leaning(part, words) for part in parts[1:]) else [question]


def _make_question(text: str, words: SeveralWords) -> str:
    stripped = text.strip(_AROUND)
    return words.form.format(f"{stripped[:1].upper()}{stripped[1:]}")


def _is_leaning(part: str, words: SeveralWords) -> bool:
    """Return whether a part has a pronoun or similar word without a referent before it in the same part, or, in a
    language that needs no pronoun, names nothing.
    """
    if words.drops_subjects and not (words.named.search(part) or find_identifiers(part)):
        return True
    found = words.leans.search(part)
    before = part[: found.start()] if found else ""
    return found is not None and not (words.named.search(before) or len(content_stems(before)) > 1)


def _can_stand(part: str, words: SeveralWords) -> bool:
    return words.asks.match(part) is not None and bool(content_stems(part))
