"""The check of a text's terms: all kinds of findings, by position."""

from __future__ import annotations

from argot.jargon_db.lookup.matcher import TermMatcher
from argot.tools.checking.abbreviations import Abbreviations
from argot.tools.checking.checked_blocks import CheckedText
from argot.tools.checking.findings import Finding
from argot.tools.checking.spellings import find_second_spellings
from argot.tools.checking.used_terms import SenseLookup, find_term_uses
from argot.tools.checking.wrong_names import find_wrong_names


def check_text(markdown: str, matcher: TermMatcher, look_up: SenseLookup) -> list[Finding]:
    """Return the changes that the author of a Markdown text should make, by position.

    Args:
        matcher: that of the person who asks, so that no term which they may not know leaves a trace.
        look_up: returns the meanings to consider, such as those of some contexts.
    """
    text = CheckedText(markdown)
    uses = find_term_uses(text, matcher, look_up)
    abbreviations = Abbreviations(text)
    found = [
        *find_wrong_names(uses),
        *abbreviations.check(uses),
        *find_second_spellings(text, uses, abbreviations.names),
    ]
    return sorted(found, key=lambda one: (one.start, one.end, one.kind))
