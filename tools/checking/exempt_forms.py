"""Words with the shape of an abbreviation that need no explanation where they are: labels, parts of addresses, words in
capitals, placeholders, and derivatives of known abbreviations.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from argot.jargon_db.lookup.ordinary_words import is_common_word, is_well_known

MIN_WORD_USES = 3
"""Uses from which an English word in capitals is taken for an abbreviation; fewer are emphasis or the name of a
button."""
_NEAR_CHARS = 80
# "Q2AA: Outreach", "**NOTE**: ..."
_LABEL_BEFORE = re.compile(r"\W*")
_LABEL_BEHIND = re.compile(r"[\W_]{0,6}?(?::|[–—=]|-[ \t])[ \t*_`\"'“]*\w")
# "Office of Data (OOD)", "the Elastic Store (ES2)": the author introduces it, whatever the letters.
_INTRODUCED = re.compile(r"[A-Z][\w'’&-]*(?:[ \n]+(?:of|for|and|the|on|in|&)){0,2}[ \n]+[A-Z][\w'’&-]*[\W_]{0,3}\($")
_POSTCODE = re.compile(r"[,.]?[ \n]+\d{4,6}\b")
_PLACEHOLDER = re.compile(r"([DHMNSXY])\1+")
# "Austin, TX": two capitals after a place name.
_PLACE = re.compile(r"[A-Z][a-z]+,[ \n]$")
_EVERYDAY = frozenset({"ID", "IDs", "MS", "NE", "NW", "SE", "SW", "VS"})
"""Directions, and short forms of which everybody knows the usual meaning, which questions may ask for all the same."""
_CAPITALS = re.compile(r"[A-Z]{3,}(?=[a-z]{2,})")


def is_introduced(block: str, start: int, end: int) -> bool:
    """Return whether the block uses block[start:end] as a label, or introduces it in brackets after a name."""
    if _LABEL_BEFORE.fullmatch(block, 0, start) and _LABEL_BEHIND.match(block, end):
        return True
    alone = block[end : end + 1] == ")"
    return alone and bool(_INTRODUCED.search(block[max(0, start - _NEAR_CHARS) : start]))


def is_exempt(block: str, start: int, end: int, uses: int, is_known: Callable[[str], bool]) -> bool:
    """Return whether the form block[start:end] is hardly an abbreviation that a reader would look up.

    Args:
        uses: how often the text has it.
        is_known: returns whether a shorter form is explained.
    """
    form = block[start:end]
    # "TL;DR" and "ABC.DE" are written without a blank; in a list one follows.
    is_joined = bool(re.match(r"[;.][A-Z]", block[end : end + 2]))
    if is_joined or form in _EVERYDAY or _PLACEHOLDER.fullmatch(form):
        return True
    if len(form) == 2 and (_POSTCODE.match(block, end) or _PLACE.search(block[max(0, start - 40) : start])):
        return True
    if is_common_word(form.lower()) and len(form) > 2 and uses < MIN_WORD_USES:
        return True
    # "OEMs" has a plural; "USAGov" and "OEMers" are made of an abbreviation that is known.
    if (capitals := _CAPITALS.match(form)) is not None:
        stems = (capitals.group(), capitals.group()[:-1])
        if any(is_well_known(stem) or is_known(stem) for stem in stems):
            return True
    return _is_shouted_around(block, start, end)


def _is_shouted_around(block: str, start: int, end: int) -> bool:
    """Return whether the word before or after is an English word in capitals, as in the name of a button."""
    before = re.search(r"(\w+)\W{1,3}$", block[max(0, start - 30) : start])
    behind = re.match(r"\W{1,3}(\w+)", block[end : end + 30])
    words = [match[1] for match in (before, behind) if match]
    return any(len(word) > 2 and word.isupper() and is_common_word(word.lower()) for word in words)
