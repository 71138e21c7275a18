"""The glossary's terms in a text, each place with the meanings that the reader of the glossary may know."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from argot.jargon_db.lookup.matcher import TermMatcher
from argot.tools.checking.checked_blocks import CheckedText
from argot.tools.reading.everyday_words import is_everyday_in_prose
from argot.types import Sense

SenseLookup = Callable[[Sequence[str]], Mapping[str, Sequence[Sense]]]
"""Returns the meanings to consider of each term or other name; an unknown one has none."""


@dataclass(frozen=True, slots=True)
class TermUse:
    """A place at which the text uses a term: text[start:end] == surface."""

    term: str
    surface: str
    start: int
    end: int
    senses: Sequence[Sense]


def find_term_uses(text: CheckedText, matcher: TermMatcher, look_up: SenseLookup) -> list[TermUse]:
    """Return the uses of the glossary's terms, in order, apart from those in code, links and addresses."""
    found: list[tuple[str, str, int, int]] = []
    for block in text.blocks:
        for mention in matcher.find(block.text):
            start, end = block.start + mention.start, block.start + mention.end
            if mention.term and text.is_checked(start, end) and not is_everyday_in_prose(mention, block.text):
                found.append((mention.term, mention.surface, start, end))
    # By the words of the text: several terms may have the same other name.
    senses = look_up(list(dict.fromkeys(name for term, surface, *_ in found for name in (surface, term))))
    uses = [TermUse(term, surface, start, end, senses[surface] or senses[term]) for term, surface, start, end in found]
    return [use for use in uses if use.senses]
