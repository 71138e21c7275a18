"""Short forms in running text, recognised only by their shape.

Capitals, mixed case, digits, hyphens, a plural s. Not recognised: Roman numerals, units, citation keys, names in camel
case, words that are merely shouted, numbered things.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from argot.jargon_db.lookup.ordinary_words import is_common_word, is_function_word, is_ordinary_word
from argot.jargon_db.mining.tokenizer import HYPHENS, Token

# Capitals of any script: neither digit nor small Latin letter (`isupper` decides for the others).
_CAPITALS = re.compile(r"[^\W\d_a-z]{2,10}")
_PLURAL = re.compile(r"[A-Z]{2,9}s")
_SINGLE = re.compile(r"[A-Z]")
# DDR4, 3D, H2O
_WITH_DIGITS = re.compile(r"[A-Z]{2,6}\d{1,2}|\d{1,2}[A-Z]{1,6}|[A-Z]{1,4}\d[A-Z]{1,4}")
# At least two signs: "I" is a word, and "V" or "X" is usually a name.
_ROMAN = re.compile(r"(?=[IVX]{2})X{0,3}(?:IX|IV|V?I{0,3})")
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
# GHz, kW, dBm, Mbps, 512GB, mAh: in mixed case like IoT, but nobody asks what they mean.
_UNIT = re.compile(r"[GMkT]Hz|[kMGm][WVAB]|dBm?|[kMG]bps|\d+[GMK]B|[KMGT]B|mAh?|kWh")
_ALSO_WORDS = frozenset(["AM", "IT", "US", "WHO"])
"""Abbreviations, although in small letters they are function words."""
_JOINTS = HYPHENS + "/&"


@dataclass(frozen=True, slots=True)
class TokenRun:
    """Tokens [first, last] that are one short form, its text, and whether its shape alone is enough."""

    first: int
    last: int
    text: str
    sure: bool = True


def find_short_forms(text: str, tokens: Sequence[Token]) -> list[TokenRun]:
    """Return the short forms of a text, in order."""
    shouted = _is_shouted(tokens)
    found: list[TokenRun] = []
    index = 0
    while index < len(tokens):
        last = _find_group_end(tokens, index)
        found += _read_group(text, tokens, index, last, shouted=shouted)
        index = last + 1
    return found


def may_be_short(text: str) -> bool:
    """Return whether brackets or explicit words may introduce this as a short form: two to ten characters, including a
    letter.

    After Schwartz and Hearst (2003), with single capitals and two words.
    """
    bare = text.strip()
    letters = [c for c in bare if c.isalpha()]
    # Fourteen characters: hyphens, slashes and a blank may be added to the ten. Small letters only if they form no word
    # ("capex"); "5m" is no form, "3D" is.
    return (
        bool(letters)
        and len(bare) <= 14
        and len(bare.split()) <= 2
        and (any(c.isupper() for c in letters) or (1 < len(bare) <= 5 and not is_ordinary_word(bare.lower())))
        and bare[0].isalnum()
        and not (bare[0].isdigit() and len(letters) < 2 and not bare[-1].isupper())
    )


def _find_group_end(tokens: Sequence[Token], index: int) -> int:
    """Return the last token of the group of words joined by hyphens, slashes or & that begins here."""
    last = index
    if not tokens[index].is_word:
        return last
    while last + 2 < len(tokens):
        joint, word = tokens[last + 1], tokens[last + 2]
        if joint.text not in _JOINTS or joint.spaced or word.spaced or not word.is_word:
            break
        last += 2
    return last


def _read_group(text: str, tokens: Sequence[Token], first: int, last: int, *, shouted: bool) -> list[TokenRun]:
    if first == last:
        return [TokenRun(first, last, tokens[first].text)] if _is_short(tokens, first, shouted=shouted) else []
    parts = range(first, last + 1, 2)
    joints = {tokens[i].text for i in range(first + 1, last, 2)}
    if len(parts) <= 3 and all(_is_part(tokens[i].text) for i in parts) and not joints <= {"/"}:
        whole = text[tokens[first].start : tokens[last].end]
        # "T-V" and "LTE-A"; "2-D" has one capital only.
        if sum(map(str.isupper, whole)) > 1:
            return [TokenRun(first, last, whole)]
    # "I/O" and "S/N" are one form; "MLC/TLC" are two.
    if joints == {"/"} and len(parts) == 2 and all(_SINGLE.fullmatch(tokens[i].text) for i in parts):
        return [TokenRun(first, last, text[tokens[first].start : tokens[last].end])]
    return [TokenRun(i, i, tokens[i].text) for i in parts if _is_short(tokens, i, shouted=shouted)]


def _is_part(word: str) -> bool:
    """Return whether it may be a part of a short form with hyphens: T-V, LTE-A, 2D-FCN."""
    return bool(_CAPITALS.fullmatch(word) or _SINGLE.fullmatch(word) or _PLURAL.fullmatch(word)) or (
        bool(_WITH_DIGITS.fullmatch(word)) or _is_mixed(word)
    )


def _is_short(tokens: Sequence[Token], index: int, *, shouted: bool) -> bool:
    word = tokens[index].text
    if _UNIT.fullmatch(word) or _ROMAN.fullmatch(word):
        return False
    if _CAPITALS.fullmatch(word) and word.isupper():
        # "NOT" and "AND" are emphasis.
        if is_function_word(word.lower()) and word not in _ALSO_WORDS:
            return False
        # RAM and ACT are words too, but up to four letters they usually are abbreviations, unless all is in capitals.
        return not (is_common_word(word.lower()) and (shouted or len(word) > 4))
    return bool(_PLURAL.fullmatch(word) or _WITH_DIGITS.fullmatch(word) or _is_mixed(word))


def _is_mixed(word: str) -> bool:
    """Return whether case is mixed as in IoT, QoS, VGGNet: as many capitals as small letters, and no part an ordinary
    word.
    """
    if not word.isalnum() or len(word) > 10 or word.isupper() or word.islower():
        return False
    capitals, small = sum(map(str.isupper, word)), sum(map(str.islower, word))
    # "GitHub" and "JavaScript" are names, with more small letters than capitals.
    if capitals < 2 or capitals < small - (word.endswith("s")):
        return False
    return not any(len(hump) > 3 and is_ordinary_word(hump.lower()) for hump in _HUMP.findall(word))


def _is_shouted(tokens: Sequence[Token]) -> bool:
    words = [token.text for token in tokens if len(token.text) > 1 and token.text.isalpha()]
    capitals = [word for word in words if word.isupper()]
    # A row of abbreviations is not shouting: one of the words must be an ordinary one.
    return len(capitals) > max(2, 0.5 * len(words)) and any(is_common_word(word.lower()) for word in capitals)
