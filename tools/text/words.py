"""Words, stems, numbers and identifiers of a text: the units of every lexical comparison here.

Stems are Porter's (1980), of the same family as the keyword index's, so that words equal here match there, too.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from argot.corpus.keyword.stop_words import STOP_WORDS


def _listed(words: str) -> list[str]:
    return words.split()


NUMBER_WORDS = {
    word: str(value)
    for value, word in enumerate(
        _listed(
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
            "seventeen eighteen nineteen twenty"
        )
    )
}

# A decimal or grouped number ("3.5", "40,000") is one word, so is "boss's", and "C++" and "C#" keep their marks.
_WORD = re.compile(r"\d+(?:[.,]\d+)+|[^\W_]+(?:['’][^\W_]+)?(?:\+\+|#(?!\w))?")
_ASKS = re.compile(
    # Up to three words may come before the question word: "In which year ...", "And by what ...".
    r"\s*(?:\w+\s+){0,3}?(?:what|which|who|whose|where|when|why|how"
    r"|is|are|was|were|do|does|did|can|could|should|must|will)\b",
    re.IGNORECASE,
)
_CAPITALS = re.compile(r"\b[A-Z]{2,}\b")
# The look-behind keeps parts of a longer name from matching alone, such as "4410B" in "NX-4410B".
_IDENTIFIER = re.compile(r"(?<![\w/.-])/?[A-Za-z0-9]+(?:(?:[-_./:]|::)[A-Za-z0-9]+)*(?:\+\+|#(?!\w))?")
_PLAIN_WORD = re.compile(r"[A-Za-z]?[a-z]*|\d+")
_JOINED = re.compile(r"[/_]|::|\+\+$|#$")
# "tCCS" and "OnFi" by a capital behind a small letter, "ODT" by nothing but capitals.
_INNER_CAPITAL = re.compile(r"[a-z][A-Z]|^[A-Z]{2,}$")


def words(text: str) -> list[tuple[str, int, int]]:
    """Every word with its [start, end), lower case and NFKC-folded; numbers without thousands separators."""
    return [(fold(match.group()), match.start(), match.end()) for match in _WORD.finditer(text)]


def folded(text: str) -> list[str]:
    """As `words`, without their places."""
    return [fold(word) for word in _WORD.findall(text)]


def asks(text: str) -> bool:
    """Whether it begins as an English question does, and not as a list of search words."""
    return _ASKS.match(text) is not None


@lru_cache(maxsize=50_000)
def fold(word: str) -> str:
    """One spelling of a word: NFKC, case folded, `40,000` as `40000`, no possessive."""
    # ASCII is in NFKC already; most words skip the call.
    if not word.isascii():
        word = unicodedata.normalize("NFKC", word)
    if word[:1].isdigit():
        # Only before three digits: the comma of "2,5" is a decimal one.
        return re.sub(r",(?=\d{3}(?:\D|$))", "", word).casefold()
    return re.sub(r"['’]s$", "", word).replace("’", "'").casefold()


def content_stems(text: str) -> list[str]:
    """The stems of all words that are no stop words, in order, with repeats."""
    # A single letter is the label of a list item or what is left of a contraction; a single digit is a number.
    return [stem(word) for word in folded(text) if word not in STOP_WORDS and (len(word) > 1 or word.isdigit())]


@lru_cache(maxsize=8_000)
def identifiers(text: str) -> frozenset[str]:
    """Words that are names, not language: letters mixed with digits, capitals inside, or parts joined by `_ / . : -`.

    Case folded. `NX-4410B`, `tCCS`, `/dev/nvme0n1`, `FW-1103`, `C++` and `ODT` are; `write-to-read` and `1.2` are not.
    In a text that shouts, "HOW LONG IS THE PERIOD", capitals alone make no name.
    """
    candidates = {word for word in _IDENTIFIER.findall(text) if not _PLAIN_WORD.fullmatch(word)}
    found = {word for word in candidates if _is_identifier(word)}
    if found and _is_shouted(text):
        found = {name for name in found if not name.isalpha()}
    return frozenset(name.casefold() for name in found)


def _is_shouted(text: str) -> bool:
    capitals = _CAPITALS.findall(text)
    # Stop words in capitals tell shouting from a list of abbreviations: "ODT, DCC" has none, "IT or HR" only IT.
    joining = {word.lower() for word in capitals} & STOP_WORDS
    return len(joining) > 1 and 2 * len(capitals) >= len(text.split())


@lru_cache(maxsize=20_000)
def _is_identifier(word: str) -> bool:
    has_letter = any(char.isalpha() for char in word)
    if not has_letter or len(word) < 2:
        return False
    if _JOINED.search(word):
        # "and/or" is two words, not a path.
        return not re.fullmatch(r"[a-z]+/[a-z]+", word) or word.startswith("/")
    has_digit = any(char.isdigit() for char in word)
    if has_digit:
        # "4th", "1990s" and "3x" are numbers.
        return not re.fullmatch(r"\d+(?:st|nd|rd|th|s|x)", word)
    # The plural of an abbreviation: "ODTs", "APIs".
    core = word[:-1] if word.endswith("s") else word
    return any(_INNER_CAPITAL.search(part) for part in re.split(r"[-.:]", core))


# -- Porter's stemmer -------------------------------------------------------------------------------------------------

_STEP2 = _listed(
    "ational:ate tional:tion enci:ence anci:ance izer:ize abli:able alli:al entli:ent eli:e ousli:ous ization:ize "
    "ation:ate ator:ate alism:al iveness:ive fulness:ful ousness:ous aliti:al iviti:ive biliti:ble"
)
_STEP3 = ["icate:ic", "ative:", "alize:al", "iciti:ic", "ical:ic", "ful:", "ness:"]
_STEP4 = sorted(
    _listed("al ance ence er ic able ible ant ement ment ent ou ism ate iti ous ive ize"), key=len, reverse=True
)


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Porter's stem of a lower-case English word; anything but plain ASCII letters comes back as it is."""
    if len(word) <= 2 or not (word.isascii() and word.isalpha()):
        return NUMBER_WORDS.get(word, word)
    if word in NUMBER_WORDS:
        return NUMBER_WORDS[word]
    word = _plural_and_past(word)
    word = _replace(word, _STEP2, 0)
    word = _replace(word, _STEP3, 0)
    word = _drop_suffix(word)
    if word.endswith("e"):
        base = word[:-1]
        if _measure(base) > 1 or (_measure(base) == 1 and not _short(base)):
            word = base
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word


def _shape(base: str) -> str:
    shape = ""
    for char in base:
        vowel = char in "aeiou" or (char == "y" and shape[-1:] == "c")
        shape += "v" if vowel else "c"
    return shape


def _measure(base: str) -> int:
    """Porter's m: how often a vowel is followed by a consonant."""
    return _shape(base).count("vc")


def _short(base: str) -> bool:
    """Ends consonant-vowel-consonant, the last not w, x or y."""
    return _shape(base)[-3:] == "cvc" and base[-1] not in "wxy"


def _plural_and_past(word: str) -> str:
    if word.endswith("sses") or word.endswith("ies"):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    if word.endswith("eed"):
        word = word[:-1] if _measure(word[:-3]) > 0 else word
    else:
        for suffix in ("ed", "ing"):
            base = word[: -len(suffix)]
            if word.endswith(suffix) and "v" in _shape(base):
                word = _mend(base)
                break
    return word[:-1] + "i" if word.endswith("y") and "v" in _shape(word[:-1]) else word


def _mend(base: str) -> str:
    """The base after -ed or -ing is gone: `hopp` -> `hop`, `fil` -> `file`, `troubl` -> `trouble`."""
    if base.endswith(("at", "bl", "iz")):
        return base + "e"
    if len(base) > 1 and base[-1] == base[-2] and base[-1] not in "aeioulsz":
        return base[:-1]
    return base + "e" if _measure(base) == 1 and _short(base) else base


def _replace(word: str, rules: list[str], least: int) -> str:
    for rule in rules:
        suffix, _, by = rule.partition(":")
        if word.endswith(suffix):
            base = word[: -len(suffix)]
            return base + by if _measure(base) > least else word
    return word


def _drop_suffix(word: str) -> str:
    for suffix in _STEP4:
        if word.endswith(suffix):
            base = word[: -len(suffix)]
            return base if _measure(base) > 1 else word
    if word.endswith("ion") and word[-4:-3] in ("s", "t") and _measure(word[:-3]) > 1:
        return word[:-3]
    return word


def bare(text: str) -> str:
    """The words alone, folded, one space between: for comparing texts whatever their punctuation and line breaks."""
    return " ".join(re.findall(r"\w+", text.casefold()))
