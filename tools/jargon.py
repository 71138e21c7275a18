"""Finds terms in a question that no glossary knows, by their shape alone (Golden-Retriever 3.2, without a model).

An abbreviation shows in how it is written: all capitals, capitals mixed with small letters or digits, often glued to
a number ("40MUBO") or to its neighbours ("ES/NIRE/MUBO"). What merely looks so is left alone: units, abbreviations
everybody knows, shouting, Roman numerals, file names, part numbers, versions, names in camel case.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache

from argot.corpus.store import CorpusStore
from argot.jargon_db.words import is_ordinary_word, well_known
from argot.tools.explained import explanations
from argot.types import Mention, Principal

_CHUNK = re.compile(r"\S+")
_PIECE = re.compile(r"[^\s/\\,;:=<>+*()\[\]{}|&!?\"“”„«»~^…·%-]+")
_SENTENCE_STOP = re.compile(r"\.(?=[A-Z]\w|$)")
_QUANTITY = re.compile(r"\d+(?:[.,]\d+)*(?=[A-Z]{2,6}s?$)")

_ALL_CAPITALS = re.compile(r"[A-Z]{2,6}")
_PLURAL = re.compile(r"([A-Z]{2,6})s")
_WITH_DIGITS = re.compile(r"[A-Z]{1,5}\d{1,2}[A-Z]{0,3}")
_SMALL_FIRST = re.compile(r"[a-z]{1,2}[A-Z][A-Z0-9]{0,5}")
_SMALL_LAST = re.compile(r"[A-Z]{2,5}[a-z]{1,3}\d?")
_SMALL_INSIDE = re.compile(r"[A-Z][a-z]{1,2}[A-Z]{1,3}s?")
_NO_VOWEL = re.compile(r"[A-Z][bcdfghjklmnpqrstvwxz]{2,4}")
_CODED = (_WITH_DIGITS, _SMALL_FIRST, _SMALL_LAST, _SMALL_INSIDE, _NO_VOWEL)

_IDENTIFIER = re.compile(
    r"""  .*(?:://|::|@|\\|_).*                              # addresses, qualified names, variables
      | .*\w\.[a-z][a-z0-9]{0,4}                            # file names
      | (?:~|\.{1,2})?/\w.*                                 # absolute and relative paths
      | [\w.-]*[a-z][\w.-]*/[\w.-]*[a-z][\w./-]*            # paths
      | [-$#%]+\w[\w-]*(?:=.*)?                             # options and variables
      | [A-Za-z]{1,6}-?\d{3,}[\w-]*                         # part numbers, error codes, standards
      | [A-Z]+\d*(?:-[A-Z]+\d*)*-\d+[\w.-]*                 # the same, with a hyphen
      | [vV]\d+(?:\.\d+)*\w?                                # versions
      | [A-Z]{1,2}(?:\.[A-Z])+                              # U.S.
    """,
    re.VERBOSE,
)
_ROMAN = re.compile(r"(?=[IVX]{2})X{0,3}(?:IX|IV|V?I{0,3})")
_QUARTER = re.compile(r"Q[1-4]")
_NUMBERED = frozenset(
    re.findall(
        r"\w+",
        """act annex appendix article book category chapter class edition factor figure gen generation grade king level
        mark mk option page part phase pope queen revision rule section stage step table tier title type version vol
        volume war""",
    )
)
_EMPHASISED = frozenset(
    re.findall(
        r"\w+",
        """a again all also always am an and any are as at be because before after both but by can cannot could
        did do does else even ever every exactly false first for from had has have he help her high
        his how i if in into is it its just last less low many may me more most much must my never
        new no none nor not nothing now of off ok on once one only or other our out over please same
        she should so some still such than that the their them then there these they this those to
        too true two under urgent us very was we were what when where which while who whom whose why
        will with within without would xor yes you your""",
    )
)
_SHOUTED_SHARE = 0.7
_LOOK_AT_MOST = 8_000  # characters; nobody asks a longer question, and some paste a megabyte
_LONGEST_CHUNK = 80  # characters without a space: what is longer is no term


def identify(question: str, known: Sequence[Mention], misspelt: Sequence[Mention] = ()) -> list[Mention]:
    """Every term of the question: those the glossary knows, near misses of them, and what is jargon by its shape.

    Known terms win over near misses, these over shapes; among equals the longer wins. In order, without overlaps.
    What the question itself explains carries that meaning as `explained`.
    """
    meanings = explanations(question[:_LOOK_AT_MOST])
    shaped = unknown_terms(question)
    told = [
        Mention(question[start:end], start, end, match="shape")
        for start, end, _ in meanings
        if not _is_well_known(question[start:end])
    ]
    merged = without_overlaps(known, misspelt, [*shaped, *told])
    by_surface = {question[start:end]: meaning for start, end, meaning in meanings}
    return [replace(m, explained=by_surface[m.surface]) if m.surface in by_surface else m for m in merged]


def without_overlaps(*ranks: Iterable[Mention]) -> list[Mention]:
    """The mentions of all ranks, an earlier rank beating a later one and a longer mention a shorter, by position."""
    kept: list[Mention] = []
    for rank in ranks:
        for mention in sorted(rank, key=lambda m: (m.start - m.end, m.start)):
            if all(mention.end <= other.start or other.end <= mention.start for other in kept):
                kept.append(mention)
    return sorted(kept, key=lambda m: m.start)


def unknown_terms(question: str) -> list[Mention]:
    """What is jargon by its shape. Nothing here knows the glossary or the documents."""
    text = question[:_LOOK_AT_MOST]
    shouted = _is_shouted(text)
    return [
        Mention(text[start:end], start, end, match="shape")
        for start, end in _pieces(text)
        if _is_jargon(text, start, end, shouted)
    ]


def known_to_documents(store: CorpusStore, principal: Principal, term: str) -> bool:
    """Whether the documents this person may read use the term; then not knowing its definition is no miss."""
    return store.term_document_frequency(principal, term) > 0 or store.phrase_count(principal, term) > 0


def _pieces(text: str) -> Iterable[tuple[int, int]]:
    """Spans that could each be one term: words, freed of punctuation, numbers before them and endings after them."""
    for chunk in _CHUNK.finditer(text):
        start, bare = _bare(chunk)
        if len(bare) > _LONGEST_CHUNK or _IDENTIFIER.fullmatch(bare):
            continue
        for piece in _PIECE.finditer(bare):
            first = start + piece.start()
            for part in _SENTENCE_STOP.split(piece.group()):
                span = _trimmed(first, part)
                if span[0] < span[1]:
                    yield span
                first += len(part) + 1


def _bare(chunk: re.Match[str]) -> tuple[int, str]:
    """A chunk without the punctuation around it, and where it starts."""
    word = chunk.group()
    left = len(word) - len(word.lstrip("([{<\"'“”„«*`‘"))
    return chunk.start() + left, word[left:].rstrip(".,;:!?)]}>\"'”“»*`’…")


def _trimmed(start: int, part: str) -> tuple[int, int]:
    quantity = _QUANTITY.match(part)
    if quantity and not _is_well_known(part) and not _is_well_known(part[quantity.end() :]):
        start, part = start + quantity.end(), part[quantity.end() :]
    stripped = part.strip("'’`._")
    start += len(part) - len(part.lstrip("'’`._"))
    return start, start + len(re.sub(r"['’]s?$", "", stripped))


def _is_jargon(text: str, start: int, end: int, shouted: bool) -> bool:
    word = text[start:end]
    plural = _PLURAL.fullmatch(word)
    stem = plural.group(1) if plural else word
    if _is_well_known(word) or _is_well_known(stem) or _is_ordinary_number(text, start, word):
        return False
    if _ALL_CAPITALS.fullmatch(stem):
        return not (is_ordinary_word(stem.lower()) if shouted else stem.lower() in _EMPHASISED)
    if _SMALL_FIRST.fullmatch(word):
        return not word.startswith("x") and not _follows_digit(text, start)
    if _NO_VOWEL.fullmatch(word):
        return not is_ordinary_word(word.lower())
    return any(shape.fullmatch(word) for shape in _CODED)


def _is_well_known(word: str) -> bool:
    """Whether everybody knows it, as it is written: `um` is a unit, and UM anything. Longer names also in capitals."""
    return word in well_known() or word in _long_names_in_capitals()


@cache
def _long_names_in_capitals() -> frozenset[str]:
    return frozenset(word.upper() for word in well_known() if len(word) > 3 and not word.islower())


def _is_ordinary_number(text: str, start: int, word: str) -> bool:
    """Whether this counts something: "Type II", "World War II", "section B2", "Table A4"."""
    if _QUARTER.fullmatch(word):
        return True
    roman = bool(_ROMAN.fullmatch(word))
    if not roman and not re.fullmatch(r"[A-Z]\d{1,2}", word):
        return False
    before = re.search(r"(\S+)\s+(\w+)\s+$|(?:^|[.!?]\s+)(\w+)\s+$", text[max(0, start - 80) : start])
    if before is None:
        return False
    previous = before.group(2) or before.group(3)
    if previous.lower().rstrip("s") in _NUMBERED:
        return True
    names_someone = bool(before.group(2)) and not before.group(1).endswith((".", "!", "?"))
    return roman and names_someone and previous.istitle()


def _follows_digit(text: str, start: int) -> bool:
    """Whether it is a unit with the number it counts ("10 mV"), known to the list of units or not."""
    return bool(re.search(r"\d\s?$", text[max(0, start - 3) : start]))


def _is_shouted(text: str) -> bool:
    """Whether the question is in capitals throughout: then capitals tell nothing, and the word list decides."""
    words = [word for word in re.findall(r"[^\W\d_]+", text) if len(word) > 1]
    capitals = [word for word in words if word.isupper()]
    if len(capitals) < max(2, _SHOUTED_SHARE * len(words)):
        return False
    return any(word.lower() in _EMPHASISED for word in capitals)
