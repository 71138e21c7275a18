"""Words, stems, numbers and identifiers of a text: the units of every lexical comparison here.

Stems are Porter's (1980), of the same family as the keyword index's, so that words equal here match there, too.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from argot.corpus.keyword.stop_words import STOP_WORDS
from argot.languages.detection import identify_listed_language
from argot.languages.language_data import ENGLISH, load_language, read_language_file
from argot.languages.several_words import load_several_words
from argot.languages.stemming import has_stemmer, stem_word

NUMBER_WORDS: dict[str, str] = {"zero": "0", "one": "1"} | {
    word: str(value) for value, word in enumerate(read_language_file(ENGLISH)["numbers"].split(), start=2)
}

# A decimal or grouped number ("3.5", "40,000") is one word, so is "boss's", and "C++" and "C#" keep their marks.
_WORD = re.compile(r"\d+(?:[.,]\d+)+|[^\W_]+(?:['’][^\W_]+)?(?:\+\+|#(?!\w))?")
_CAPITALS = re.compile(r"\b[A-Z]{2,}\b")
# The look-behind keeps parts of a longer name from matching alone, such as "4410B" in "NX-4410B".
_IDENTIFIER = re.compile(r"(?<![\w/.-])/?[A-Za-z0-9]+(?:(?:[-_./:]|::)[A-Za-z0-9]+)*(?:\+\+|#(?!\w))?")
_PLAIN_WORD = re.compile(r"[A-Za-z]?[a-z]*|\d+")
_JOINED = re.compile(r"[/_]|::|\+\+$|#$")
# "tCCS" and "OnFi" by a capital after a small letter, "ODT" by having only capitals.
_INNER_CAPITAL = re.compile(r"[a-z][A-Z]|^[A-Z]{2,}$")


def words(text: str) -> list[tuple[str, int, int]]:
    """Return every word with its [start, end), lower case and NFKC-folded; numbers without thousands separators."""
    return [(fold(match.group()), match.start(), match.end()) for match in _WORD.finditer(text)]


def fold_words(text: str) -> list[str]:
    """Return the folded words of a text, without their places."""
    return [fold(word) for word in _WORD.findall(text)]


def is_question(text: str) -> bool:
    """Return whether a text begins like an English question, not like a list of search words."""
    return load_several_words(ENGLISH).asks.match(text) is not None


def read_number(number: str) -> str:
    """Return one spelling of a number: in digits, without zeros ahead; "eight", "08" and "8" are the same."""
    word = fold(number)
    return NUMBER_WORDS.get(word) or re.sub(r"^0+(?=\d)", "", word)


@lru_cache(maxsize=50_000)
def fold(word: str) -> str:
    """Return one spelling of a word: NFKC, case folded, `40,000` as `40000`, no possessive."""
    # ASCII is in NFKC already; most words skip the call.
    if not word.isascii():
        word = unicodedata.normalize("NFKC", word)
    if word[:1].isdigit():
        # Only before three digits: the comma of "2,5" is a decimal one.
        return re.sub(r",(?=\d{3}(?:\D|$))", "", word).casefold()
    return re.sub(r"['’]s$", "", word).replace("’", "'").casefold()


def content_stems(text: str, language: str = "") -> list[str]:
    """Return the stems of all words that are no stop words, in order, with repeats; by the words of this language, or
    of the text's.
    """
    return [one for one, _, _ in locate_stems(text, language)]


def locate_stems(text: str, language: str = "") -> list[tuple[str, int, int]]:
    """Return the `content_stems` of a text, each with the [start, end) of its word."""
    # A single letter is the label of a list item or the rest of a contraction; a single digit is a number.
    return [place for word, place in _locate_content(text, language) if len(word) > 1 or word.isdigit()]


def stem_content(text: str, language: str = "") -> list[tuple[str, str]]:
    """Return all words that are no stop words, each with its stem, by the words of this language, or of the text's."""
    return [(word, one) for word, (one, _, _) in _locate_content(text, language)]


def _locate_content(text: str, language: str) -> Iterator[tuple[str, tuple[str, int, int]]]:
    language = language or identify_listed_language(text)
    stop_words = load_language(language).stop_words
    for word, start, end in words(_split_elisions(text, language)):
        if word not in stop_words:
            yield word, (stem_by_language(language, word), start, end)


def stem_all(text: str, around: str) -> list[str]:
    """Return the stems of all words of a text, by the rules of the language of the text around it."""
    language = identify_listed_language(around)
    return [stem_by_language(language, word) for word in fold_words(_split_elisions(text, language))]


def stem_by_language(language: str, word: str) -> str:
    """Return the stem of a folded word by the rules of a language, or of English if there are none."""
    return stem_word(word, language) if has_stemmer(language) else stem(word)


def _split_elisions(text: str, language: str) -> str:
    return separate_elisions(text) if language == "fr" else text


def separate_elisions(text: str) -> str:
    """Return a text of the same length in which French "l'entrée" is two words, an article and a noun."""
    return re.sub(r"(?<=\w)['’](?=\w)", " ", text)


@lru_cache(maxsize=8_000)
def find_identifiers(text: str) -> frozenset[str]:
    """Return words that are names, not language: letters mixed with digits, capitals inside, or parts joined by `_ / .
    : -`.

    Case folded. `NX-4410B`, `tCCS`, `/dev/nvme0n1`, `FW-1103`, `C++` and `ODT` are; `write-to-read` and `1.2` are not.
    In a text in capitals, "HOW LONG IS THE PERIOD", they alone make no name.
    """
    candidates = {word for word in _IDENTIFIER.findall(text) if not _PLAIN_WORD.fullmatch(word)}
    found = {word for word in candidates if _is_identifier(word)}
    if found and _is_shouted(text):
        found = {name for name in found if not name.isalpha()}
    return frozenset(name.casefold() for name in found)


def _is_shouted(text: str) -> bool:
    capitals = _CAPITALS.findall(text)
    # Stop words in capitals distinguish shouting from a list of abbreviations: "ODT, DCC" has none, "IT or HR" only IT.
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


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Return Porter's stem of a lower-case English word; anything but plain ASCII letters is returned unchanged."""
    from snowballstemmer import stemmer

    if word in NUMBER_WORDS:
        return NUMBER_WORDS[word]
    if len(word) <= 2 or not (word.isascii() and word.isalpha()):
        return word
    # One stemmer per word, which costs little beside its work: a stemmer stores its word, and threads would mix theirs.
    stemmed: str = stemmer("porter").stemWord(word)
    return stemmed


def bare(text: str) -> str:
    """Return the words alone, folded, one space between: for comparing texts whatever their punctuation and
    line breaks.
    """
    return " ".join(re.findall(r"\w+", text.casefold()))
