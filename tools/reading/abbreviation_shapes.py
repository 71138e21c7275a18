"""Shapes of abbreviations: single words, regardless of the sentence around them."""

from __future__ import annotations

import re
from functools import cache

from argot.jargon_db.lookup.ordinary_words import (
    is_common_word,
    is_function_word,
    is_ordinary_word,
    is_shorthand,
    is_well_known,
    load_english_words,
)

ALL_CAPITALS = re.compile(r"[A-Z]{2,6}")
SMALL_FIRST = re.compile(r"[a-z]{1,2}[A-Z][A-Z0-9]{0,5}")

_WITH_DIGITS = re.compile(r"[A-Z]{1,5}\d{1,2}[A-Z]{0,3}")  # L2P
_SMALL_LAST = re.compile(r"[A-Z]{2,5}[a-z]{1,3}\d?")  # TLCs
_SMALL_INSIDE = re.compile(r"[A-Z][a-z]{1,2}[A-Z]{1,3}s?")  # RoHS
_NO_VOWEL = re.compile(r"[A-Z][bcdfghjklmnpqrstvwxz]{2,4}")  # Vpgm
_CODED = (_WITH_DIGITS, SMALL_FIRST, _SMALL_LAST, _SMALL_INSIDE)

_MIXED = re.compile(r"(?=.*[A-Z])(?=.*(?:[1-9]|[a-z][A-Z]))(?!.*[A-Za-z]0)[A-Za-z][A-Za-z0-9]{1,7}")
_RUN = re.compile(r"[A-Za-z]+")
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_MAX_DIGITS = 2  # longer ones are part numbers
_MAX_RUN_LETTERS = 5
_NAME_PART = re.compile(r"[A-Z][a-z]{2,}")
# Symbols of elements with their counts: "Al2O3", "HfO2".
_CHEMICAL = re.compile(
    r"""(?=.*\d)(?=.*[A-Z][a-z])(?:(?:A[cglmrstu]|B[aehikr]|C[adelorsu]|D[by]|E[rsu]|F[emr]|G[ade]|H[efgo]|I[nr]|Kr|L[airuv]
        |M[gno]|N[abdeipo]|Os|P[abdmortu]|R[abehnu]|S[bceimnr]|T[abcehilm]|Xe|Yb|Z[nr]|[BCFHIKNOPSUVWY])\d{0,2}){2,}""",
    re.VERBOSE,
)

_SMALL = re.compile(r"[a-z]{2,5}")
_VOWELS = "aeiouy"


def is_coded(word: str) -> bool:
    """Return whether capitals, small letters and digits are mixed as in codes: tCCS, Vpgm, L2P, qR2Vt; not as
    in names.
    """
    if is_name_with_number(word) or _CHEMICAL.fullmatch(word):
        return False
    if _NO_VOWEL.fullmatch(word):
        return not (is_ordinary_word(word.lower()) or is_shorthand(word.lower()))
    return any(shape.fullmatch(word) for shape in _CODED) or _is_mixed(word)


def is_name_with_number(word: str) -> bool:
    """Return whether a word is a well-known name or a word with its number: iPhone7, Rev2, Fig3."""
    letters = word.rstrip("0123456789")
    if letters == word or not letters:
        return False
    word_like = is_shorthand(letters.lower()) or is_ordinary_word(letters.lower())
    return (letters.istitle() and len(letters) > 2 and word_like) or (
        len(letters) > 2 and not letters.isupper() and is_well_known(letters)
    )


def _is_mixed(word: str) -> bool:
    """Return whether it is any other mix, unless a part of it is a word or the end of a name: TypeB, McCoy, Word2Vec,
    LeBron.
    """
    if not _MIXED.fullmatch(word) or sum(map(str.isdigit, word)) > _MAX_DIGITS:
        return False
    runs = _RUN.findall(word)
    if any(len(run) > _MAX_RUN_LETTERS for run in runs):
        return False
    humps = [hump for run in runs for hump in _HUMP.findall(run)]
    # Parts of two letters are words by chance, and in codes with digits parts of three.
    longest = 2 + any(map(str.isdigit, word[:-1]))
    if any(len(hump) > longest and is_ordinary_word(hump.lower()) for hump in humps):
        return False
    # A last part such as "Coy" or "Bron" ends a name.
    return any(map(str.isdigit, word)) or not _NAME_PART.fullmatch(humps[-1])


def may_be_small(word: str) -> bool:
    """Return whether a word may be an abbreviation in small letters: short, no English word, and no misspelt one."""
    if not _SMALL.fullmatch(word) or is_shorthand(word) or is_common_word(word) or is_well_known(word):
        return False
    return not _is_slip(word)


@cache
def is_unpronounceable(word: str) -> bool:
    """Return whether its sequence of small letters occurs in no English word: slbg, huvc, mtd."""
    parts = re.fullmatch(rf"([^{_VOWELS}]*)([{_VOWELS}].*?)??([^{_VOWELS}]*)", word)
    # No vowel at all: "mtd". Two such letters are usually a unit.
    if parts is None or not parts[2]:
        return len(word) > 2
    beginnings, ends = _collect_clusters()
    return parts[1] not in beginnings or not ({parts[3], parts[3].removesuffix("s")} & ends)


@cache
def _collect_clusters() -> tuple[frozenset[str], frozenset[str]]:
    """Return the consonants with which English words begin and end."""
    words = [word for word in load_english_words() if re.search(f"[{_VOWELS}]", word) and word.isalpha()]
    beginnings = frozenset(re.split(f"[{_VOWELS}]", word, maxsplit=1)[0] for word in words)
    ends = frozenset(re.split(f"[{_VOWELS}]", word)[-1] for word in words)
    # Endings added by hand, such as those of "lymph", "burnt" and "bard".
    return beginnings, ends | {liquid + stop for liquid in "lnr" for stop in "bcdfgkmnptv"} | {
        "pp",
        "mph",
        "rnt",
        "lnt",
    }


def _is_slip(word: str) -> bool:
    """Return whether a word looks like a misspelt one.

    Two letters are transposed ("waht"), one of a very common word is missing ("wht") or extra ("thhe"), or the
    apostrophe is missing ("isnt", "youre").
    """
    swapped = (word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in range(len(word) - 1))
    if len(word) > 2 and any(other in load_english_words() for other in swapped):
        return True
    longer = (word[:i] + letter + word[i:] for i in range(len(word) + 1) for letter in "abcdefghijklmnopqrstuvwxyz")
    shorter = (word[:i] + word[i + 1 :] for i in range(len(word)))
    if len(word) > 2 and any(is_function_word(other) for other in (*longer, *shorter) if len(other) > 2):
        return True
    return is_bare_contraction(word)


def is_bare_contraction(word: str) -> bool:
    """Return whether a lower-case word is a contraction without its apostrophe: "isnt", "im", "youre"."""
    return any(
        word.endswith(ending) and is_function_word(word.removesuffix(ending))
        for ending in ("nt", "s", "re", "ve", "ll", "d", "m")
    )
