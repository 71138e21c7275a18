"""Keeps only those parts of a model's reading of a question that the question itself supports.

A model lists terms that do not occur, adds meanings of its own, includes numbers and everyday words (Golden-Retriever,
appendix C.2). Its list therefore only chooses among the positions of the question that can be jargon at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from rapidfuzz import process
from rapidfuzz.distance import OSA

from argot.jargon_db.lookup.matcher import TermMatcher
from argot.jargon_db.lookup.normalise import fold_characters, guess_singulars
from argot.jargon_db.lookup.ordinary_words import is_common_word, is_well_known, load_common_words
from argot.jargon_db.lookup.spelling import is_exchanged_code
from argot.language import UNSPACED
from argot.languages.english_contractions import is_contraction
from argot.tools.reading.abbreviation_shapes import may_be_small
from argot.tools.reading.inline_definitions import find_explanations
from argot.tools.reading.unknown_terms import merge_mentions
from argot.types import Context, ContextScore, Mention, Triple

MAX_QUESTION_CHARS = 8_000  # characters of a question, as in the extractive reading
NO_CONTEXT = "none"
"""A model's answers where nothing shows the context."""
CHOSEN_SCORE = 0.8
"""The score of the context a model chooses. The difference to 1 is the chance that it is wrong."""

_MAX_ITEMS = 40
_MAX_ITEM_CHARS = 200  # characters
_MAX_WORD_CHARS = 30
_SHORT_WORD_CHARS = 5
_MAX_CODED_CHARS = 12
_MAX_STRANGE_WORDS = 3
_STRANGE_SHARE = 0.6
_LONG_WORD_CHARS = 8  # words of at least this many characters may have two typing errors
_SHORT_CODE_CHARS = 5  # in shorter words every letter has to match
_MAX_CODE_CHARS = 6

_CHUNK = re.compile(r"\S+")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_NO_SPACES = re.compile(rf"[{UNSPACED}]")
_RUN = re.compile(rf"[{UNSPACED}]+|[^{UNSPACED}]+")
_SENTENCE_STOP = re.compile(r"(?<=\w)\.(?=[A-Z]\w)")
_NAME = re.compile(
    r"""  .*(?:://|::|[@\\_]).*                               # addresses, qualified names, variables
      | .*\w\.\w.*                                          # file names, versions, addresses
      | (?:~|\.{1,2})?/\w.*                                 # absolute and relative paths
      | [-$\#%]+\w.*                                        # options and variables
      | [A-Za-z]{1,6}-?\d{3,}[\w-]*                         # part numbers, error codes, standards
      | [A-Z]+\d*(?:-[A-Z]+\d*)*-\d+[\w.-]*                 # the same, with a hyphen
    """,
    re.VERBOSE,
)
# The "40" of "40MUBO"; `_COUNTED` are words with a number of their own: "4th", "40k".
_QUANTITY = re.compile(r"\d+(?=[^\W\d_][^\W_])")
_COUNTED = re.compile(r"\d+(?:st|nd|rd|th|s|x|k|m|d)", re.IGNORECASE)
_ROMAN = re.compile(r"(?=[ivx]{2})x{0,3}(?:ix|iv|v?i{0,3})")
_ENGLISH_ENDING = re.compile(
    r"[a-z]{3,}(?:[ts]ions?|ments?|ness(?:es)?|[ai]bl[ey]|it(?:y|ies)|ous(?:ly)?|ives?|[ai]cal(?:ly)?|isms?|ists?|ings?|ed"
    r"|olog(?:y|ies|ical)|[ae]nc(?:e|y|es|ies)|ships?|hood|less|ful(?:ly)?|[aei]lly|[ie]sed?|[iy]z(?:e|es|ed|er|ing)"
    r"|ally|ers?|ors?|als?|[yo]sis|graph(?:y|s|ic)?|wards?)"
)
_ENGLISH_FROM = 8  # letters from which an ending says that a word is English
_PREFIX = re.compile(
    r"(?:un|re|non|pre|mis|dis|over|under|sub|inter|multi|anti|super|semi|auto|out|up|down|mid)(?=....)"
)
_INFORMAL = frozenset(
    re.findall(
        r"\w+",
        """abbreviation abbreviations acronym acronyms asap btw bye cheers fyi gonna gotta hallo hey hi hm hmm huh imho
        imo lol ok okay pls plz sorry tbh thanks thx wanna yeah yep""",
    )
)


def match_terms(question: str, listed: Sequence[str], read: Sequence[Mention], matcher: TermMatcher) -> list[Mention]:
    """Return the mentions that a model's list of terms points at, and those that need no model; in order, without
    overlaps.

    Args:
        listed: the model's list, in any form.
        read: the question as read without a model (`ExtractiveReader`). Mentions that the glossary has or the question
            explains always count, the others only if the model lists them too.
    """
    text = question[:MAX_QUESTION_CHARS]
    read = [mention for mention in read if mention.end <= len(text)]
    sure = [mention for mention in read if mention.term or mention.explained]
    items = [item for item in map(_clean_item, listed[:_MAX_ITEMS]) if item]
    corrected = _find_corrected(text, items, sure, matcher)
    possible = [m for m in merge_mentions(sure, read, find_strange_words(text)) if not m.term and not m.explained]
    return merge_mentions(sure, corrected, _find_pointed_at(text, items, possible))


def find_strange_words(text: str) -> list[Mention]:
    """Return the single words that are neither ordinary English nor widely known, in any spelling.

    Returns none for a text that is hardly English, where every word would be strange. Words that explain a term are
    left out as well.
    """
    words = list(_split_words(text))
    explained = {word.casefold() for *_, meaning in find_explanations(text) for word in _WORD.findall(meaning)}
    strange = [word for word in words if is_strange(word.text)]
    # A short question may consist of terms only: "rek kpu slbg?"
    if len(strange) > _MAX_STRANGE_WORDS and len(strange) > _STRANGE_SHARE * len(words):
        return []
    unexplained = [word for word in strange if word.text.casefold() not in explained]
    return [Mention(word.text, word.start, word.end, match="model") for word in unexplained]


@lru_cache(maxsize=4096)
def is_strange(word: str) -> bool:
    """Return whether a word as it occurs in a text (no number before it, no possessive) may be jargon at all."""
    folded = fold_characters(word)
    letters = sum(char.isalpha() for char in word)
    if letters < 2 or len(word) > _MAX_WORD_CHARS or is_contraction(folded) or _NO_SPACES.search(word):
        return False
    if letters < len(word):
        # Three digits in a row make a part number or a year.
        coded = word.isalnum() and len(word) <= _MAX_CODED_CHARS and not re.search(r"\d{3}", word)
        return coded and not _COUNTED.fullmatch(word) and not is_well_known(word)
    if is_well_known(word) or _ROMAN.fullmatch(folded) or is_english(folded):
        return False
    if not word[1:].islower():
        return True
    return may_be_small(folded) if len(word) < _SHORT_WORD_CHARS else not _is_misspelt_english(folded)


def is_english(word: str) -> bool:
    """Return whether a lower-case word is English rather than jargon, by the word list or by its form.

    The word is listed, inflected, prefixed, made of two listed words, or long with an ending of English words.
    """
    if is_common_word(word) or word in _INFORMAL:
        return True
    if len(word) >= _ENGLISH_FROM and _ENGLISH_ENDING.fullmatch(word):
        return True
    prefix = _PREFIX.match(word)
    if prefix and is_common_word(word[prefix.end() :]):
        return True
    return any(is_common_word(word[:cut]) and is_common_word(word[cut:]) for cut in range(4, len(word) - 3))


def _is_misspelt_english(word: str) -> bool:
    """Return whether a lower-case word is a common one with a typing error: "bufffer", "tempreture"."""
    slips = 2 if len(word) >= _LONG_WORD_CHARS else 1
    alike = _group_common_words().get(word[:1], ())
    return process.extractOne(word, alike, scorer=OSA.distance, score_cutoff=slips) is not None


@cache
def _group_common_words() -> dict[str, tuple[str, ...]]:
    by_beginning: dict[str, list[str]] = {}
    for word in load_common_words():
        by_beginning.setdefault(word[:1], []).append(word)
    return {letter: tuple(words) for letter, words in by_beginning.items()}


def match_context(named_context: str, contexts: Sequence[Context]) -> list[ContextScore]:
    """Return the context a model names, if it is one of those given; nothing for "none" or anything else."""
    if named_context == NO_CONTEXT:
        return []
    wanted = fold_characters(named_context).strip()
    # The exact spelling first: two contexts may differ only in their capitals.
    named = [context.name for context in contexts if context.name == named_context]
    named += [context.name for context in contexts if fold_characters(context.name).strip() == wanted]
    return [ContextScore(named[0], CHOSEN_SCORE)] if named else []


def select_triples(numbers: Sequence[object], triples: Sequence[Triple]) -> list[Triple]:
    """Return the triples whose numbers (from 1) a model lists, in its order; other numbers are dropped."""
    places = [n for n in numbers if isinstance(n, int) and not isinstance(n, bool) and 0 < n <= len(triples)]
    return list(dict.fromkeys(triples[n - 1] for n in places))


# -- words -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Place:
    text: str
    start: int
    end: int


def _split_words(text: str) -> Iterator[_Place]:
    """Yield the words of a text, without numbers attached before them and possessive endings; no addresses and part
    numbers.
    """
    for chunk in _CHUNK.finditer(text):
        bare = chunk.group().rstrip(".,;:!?)]}>\"'”“»*`’…").lstrip("([{<\"'“”„«*`‘")
        offset = chunk.start() + chunk.group().find(bare)
        for start, end in _split_between(_SENTENCE_STOP, bare):
            if not _NAME.fullmatch(bare[start:end]):
                yield from _split_parts(bare[start:end], offset + start)


def _split_parts(chunk: str, offset: int) -> Iterator[_Place]:
    for word in _WORD.finditer(chunk):
        for run in _RUN.finditer(word.group()):
            part, start = run.group(), offset + word.start() + run.start()
            quantity = _QUANTITY.match(part)
            if quantity and not _COUNTED.fullmatch(part) and not is_well_known(part):
                part, start = part[quantity.end() :], start + quantity.end()
            part = re.sub(r"(?:['’]s|(?<=s)['’])$", "", part)
            yield _Place(part, start, start + len(part))


def _split_between(separator: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for match in separator.finditer(text):
        yield start, match.start()
        start = match.end()
    yield start, len(text)


def _clean_item(item: object) -> str:
    """Return one line, without the marks around it. Text longer than any term is cut, not refused."""
    return " ".join(str(item)[:_MAX_ITEM_CHARS].split()).strip("\"'“”„‘’«»`*[]{}.,;:") if isinstance(item, str) else ""


# -- which places are meant ------------------------------------------------------------------------------------------


def _find_pointed_at(text: str, items: Sequence[str], possible: Sequence[Mention]) -> list[Mention]:
    """Return the positions that the items cover in the question; for items not found there, those of their words."""
    chosen: dict[int, Mention] = {}
    for item in items:
        meant = _find_within(text, item, possible)
        # Only an item that does not occur as a whole is searched word by word.
        for word in [] if meant else [place.text for place in _split_parts(item, 0)]:
            meant += _find_same(word, possible) or _find_near(word, possible)
        chosen |= {mention.start: replace(mention, match="model") for mention in meant}
    return list(chosen.values())


def _find_within(text: str, item: str, possible: Sequence[Mention]) -> list[Mention]:
    """Return the positions that the item covers, letter by letter and as whole words."""
    # A digit may precede it: the "MUBO" of "40MUBO".
    spans = [match.span() for match in re.finditer(rf"(?<![^\W\d_]){re.escape(item)}(?![^\W_])", text)]
    return [
        mention for mention in possible if any(start <= mention.start and mention.end <= end for start, end in spans)
    ]


def _find_same(word: str, possible: Sequence[Mention]) -> list[Mention]:
    exact = [mention for mention in possible if mention.surface == word]
    folded = exact or [mention for mention in possible if fold_characters(mention.surface) == fold_characters(word)]
    return folded or [mention for mention in possible if _list_forms(mention.surface) & _list_forms(word)]


def _find_near(word: str, possible: Sequence[Mention]) -> list[Mention]:
    """Return the positions of the one most similar word, if it is similar enough to be the same misspelt."""
    folded = fold_characters(word)
    if is_english(folded):
        return []
    errors = {fold_characters(mention.surface): 0 for mention in possible}
    errors = {other: found for other in errors if (found := _count_slips(folded, other, word.isupper())) is not None}
    nearest = [other for other, found in errors.items() if found == min(errors.values())]
    return [m for m in possible if fold_characters(m.surface) == nearest[0]] if len(nearest) == 1 else []


def _count_slips(word: str, other: str, capitals: bool = False) -> int | None:
    """Return the number of typing errors between two folded words; None if there are too many.

    Digits are never a typing error, and in codes only transposed letters are: PUC, PUD and PLC are three terms.
    """
    if re.findall(r"\d", word) != re.findall(r"\d", other):
        return None
    length = min(len(word), len(other))
    errors = OSA.distance(word, other, score_cutoff=2)
    if length < _SHORT_CODE_CHARS or (capitals and length <= _MAX_CODE_CHARS):
        return errors if errors <= 1 and sorted(word) == sorted(other) else None
    return errors if errors <= (2 if length >= _LONG_WORD_CHARS else 1) and word[0] == other[0] else None


def _list_forms(word: str) -> set[str]:
    folded = fold_characters(word)
    return {folded, *guess_singulars(folded)}


# -- terms of the glossary that the question misspells ---------------------------------------------------------------


def _find_corrected(text: str, items: Iterable[str], sure: Sequence[Mention], matcher: TermMatcher) -> list[Mention]:
    """Return positions that the model read as a term of the glossary, and that are a typing error away from it.

    At least one of their words must be strange: "work line" is no misspelt "word line".
    """
    words = list(_split_words(text))
    taken = {mention.term for mention in sure}
    found: list[Mention] = []
    for item in items:
        # The item as a whole is a term of the glossary, not a word in it.
        known = [mention for mention in matcher.find(item) if mention.end - mention.start == len(item)]
        if known and known[0].term not in taken:
            found += _find_misspelt(text, item, known[0].term, words)
    return found


def _find_misspelt(text: str, item: str, term: str | None, words: Sequence[_Place]) -> list[Mention]:
    length = len(list(_split_parts(item, 0)))
    windows = [words[at : at + length] for at in range(len(words) - length + 1)] if length else []
    near: list[tuple[int, Mention]] = []
    for window in windows:
        start, end = window[0].start, window[-1].end
        surface = text[start:end]
        slips = _count_slips(fold_characters(surface), fold_characters(item), item.isupper())
        if (
            slips is not None
            and not is_exchanged_code(surface, term or "")
            and any(is_strange(word.text) for word in window)
        ):
            near.append((slips, Mention(surface, start, end, term, "misspelt")))
    best = min((slips for slips, _ in near), default=0)
    return [mention for slips, mention in near if slips == best]
