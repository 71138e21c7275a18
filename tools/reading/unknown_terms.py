"""Finds terms in a question that are in no glossary, only by their shape (Golden-Retriever 3.2, without a model).

An abbreviation is recognised by its spelling: all capitals, capitals mixed with small letters or digits, often attached
to a number ("40MUBO") or to its neighbours ("ES/NIRE/MUBO"). In small letters it is recognised if no English word is
spelt that way, or if its meaning or value is asked for. Similar words are skipped: units, widely known abbreviations,
shouting, Roman numerals, file names, part numbers, versions, names in camel case.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain, pairwise

from argot.corpus.store.document_store import CorpusStore
from argot.jargon_db.lookup.ordinary_words import is_common_word, is_ordinary_word, load_well_known
from argot.jargon_db.lookup.span_mask import SpanMask
from argot.languages.detection import identify_listed_language
from argot.languages.language_data import ENGLISH, load_listed_languages
from argot.tools.reading.abbreviation_shapes import (
    ALL_CAPITALS,
    SMALL_FIRST,
    is_coded,
    is_unpronounceable,
    may_be_small,
)
from argot.tools.reading.inline_definitions import find_explanations
from argot.tools.reading.personal_names import find_name_spans
from argot.types import Mention, Principal

_Span = tuple[int, int]

_CHUNK = re.compile(r"\S+")
# "P&L", "SG&A"; longer on both sides, "KPU&REK", are two terms.
_WITH_AMPERSAND = r"(?<![^\W\d])(?:[A-Z]{1,3}&[A-Z]|[A-Z]&[A-Z]{2,3})(?![\w&])"
_PIECE = re.compile(_WITH_AMPERSAND + r"|[^\s/\\,;:=<>+*()\[\]{}|&!?\"“”„«»~^…·%-]+")
_SENTENCE_STOP = re.compile(r"\.(?=[A-Z]\w|$)")
# Units that may be attached to a number before a term: "10nsQRVT".
_UNIT = r"(?:[numkµ](?:V|A|W|F|H|B|J|m|s|g|l|Pa)|[kMGT]?Hz|[KkMGT]?bps|[kMG]?Ohm|[cdk]m|kg|rpm|ppm|min|[smhgx])"
_QUANTITY = re.compile(rf"(?!0x)\d+(?:[.,]\d+)*(?:{_UNIT}(?=[A-Z]{{2,6}}s?$)|(?=[A-Za-z]{{2}}|[A-Za-z]\d))")

_PLURAL = re.compile(r"([A-Z]{2,6})s")

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
# Up to 39: "Type II", "Phase XIV".
_ROMAN = re.compile(r"(?=[IVX]{2})X{0,3}(?:IX|IV|V?I{0,3})")
_QUARTER = re.compile(r"Q[1-4]|H[12]|[FC]Y\d{2,4}[EA]?")
_YEAR_BEHIND = re.compile(r"\s?['’]?(?:\d{2}|(?:19|20)\d{2})\b")
_YEARS = ("FY", "CY")
# "EN 13727", "EN ISO 14644"; a round number is a quantity: "HTOQ 10000 cycles".
_STANDARD_BEHIND = re.compile(r"(?:[\s/][A-Z]{2,6}){0,2}\s(?!\d*00\b)\d{5,6}\b")
_NUMBERED = frozenset(
    re.findall(
        r"\w+",
        """act annex appendix article book category chapter class edition factor fig figure gen generation grade king
        level mark mk option page part phase pope queen rev revision rule sec section stage step tab table tier title
        type ver version vol volume war""",
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
_ASKED_BEFORE = re.compile(
    r"""\b(?:abbreviations?|acronyms?|initialisms?|definitions?\ of|meanings?\ of|full\ (?:form|name)s?\ of)
        \s+(?:the\s+|an?\s+|term\s+)*(?:[\w"'(]+["')]*\s*(?:,|/|\band\b|\bor\b)\s*)*["'“‘(]*$""",
    re.IGNORECASE | re.VERBOSE,
)
_ASKED_BEHIND = re.compile(
    r"""["'”’)]*(?:\s*(?:,|/|\band\b|\bor\b)\s*["'“‘]?\w+["'”’]?){0,4}
        \s+(?:(?:really|actually|here)\s+)?(?:means?\b(?!\s+that)|stands?\s+for\b|standing\s+for\b
        |(?:is|are)\s+(?:an?\s+|the\s+)?(?:abbreviations?|acronyms?|short\s+for)\b)""",
    re.IGNORECASE | re.VERBOSE,
)
_JOINED = re.compile(r"\s*[,/&+]\s*(?:(?:and|or)\s+)?|\s+(?:and|or)\s+")
_COMPARED = re.compile(r"\s*[=<>≤≥]{1,2}\s*[-+]?\d")
_MAX_NEIGHBOUR_LETTERS = 4  # letters
_MAX_CODE_LETTERS = 5  # letters of an abbreviation that can be spoken, as nearly all have
_ENGLISH_SHARE = 0.5
_SHOUTED_SHARE = 0.7
_MAX_QUESTION_CHARS = 8_000  # characters; nobody asks a longer question, and some paste a megabyte
_NEAR_CHARS = 60  # characters before and after a word that are examined
_MAX_CHUNK_CHARS = 80  # characters without a space; longer strings are no term


def identify_terms(question: str, known: Sequence[Mention], misspelt: Sequence[Mention] = ()) -> list[Mention]:
    """Return every term of the question: those the glossary has, near misses of them, and jargon by its shape.

    Known terms take precedence over near misses, these over shapes; among equals the longer one wins. They are in
    order, without overlaps. A term that the question explains has that meaning as `explained`. Names in a greeting or
    signature are no terms.
    """
    meanings = find_explanations(question[:_MAX_QUESTION_CHARS])
    people = find_name_spans(question[:_MAX_QUESTION_CHARS])
    misspelt = [mention for mention in misspelt if not _is_within(mention, people)]
    shaped = [mention for mention in find_unknown_terms(question) if not _is_within(mention, people)]
    explained = [
        Mention(question[start:end], start, end, match="shape")
        for start, end, _ in meanings
        if not _is_well_known(question[start:end])
    ]
    merged = merge_mentions(known, misspelt, [*shaped, *explained])
    by_surface = {question[start:end]: meaning for start, end, meaning in meanings}
    return [replace(m, explained=by_surface[m.surface]) if m.surface in by_surface else m for m in merged]


def _is_within(mention: Mention, spans: Iterable[_Span]) -> bool:
    return any(start <= mention.start and mention.end <= end for start, end in spans)


def merge_mentions(*ranks: Iterable[Mention]) -> list[Mention]:
    """Return the mentions of all ranks; where they overlap, an earlier rank takes precedence, then a longer mention; by
    position.
    """
    kept: list[Mention] = []
    ordered = [sorted(rank, key=lambda m: (m.start - m.end, m.start)) for rank in ranks]
    mask = SpanMask(max((mention.end for rank in ordered for mention in rank), default=0))
    for mention in chain.from_iterable(ordered):
        if mask.are_free(mention.start, mention.end):
            kept.append(mention)
            mask.take(mention.start, mention.end)
    return sorted(kept, key=lambda m: m.start)


def find_unknown_terms(question: str) -> list[Mention]:
    """Return the words that are jargon by their shape, without glossary or documents."""
    text = question[:_MAX_QUESTION_CHARS]
    shouted, english = _is_shouted(text), _is_english(text)
    spans = list(_split_pieces(text))
    found = [span for span in spans if _is_jargon(text, *span, shouted=shouted, english=english)]
    if identify_listed_language(text) != ENGLISH:  # its short words, like "Ich", look like none of English
        found = [span for span in found if _looks_coded(text[slice(*span)])]
    # In another language every word in small letters would be unknown.
    if english and found:
        found = _add_neighbours(text, spans, found)
    return [Mention(text[start:end], start, end, match="shape") for start, end in found]


def _looks_coded(word: str) -> bool:
    return sum(map(str.isupper, word)) > 1 or any(map(str.isdigit, word))


def _add_neighbours(text: str, spans: Sequence[_Span], found: Sequence[_Span]) -> list[_Span]:
    """Return the terms, and short words in small letters joined to one: "kpu and rek", "slbg/mubo". They are in
    order.
    """
    terms = set(found)
    words = [span for span in spans if text[slice(*span)] not in ("and", "or")]
    # In both directions: the one that its shape shows may come first ("KPU and rek") or last.
    for order in (1, -1):
        for one, other in pairwise(words[::order]):
            between = text[min(one[1], other[1]) : max(one[0], other[0])]
            short = other[1] - other[0] <= _MAX_NEIGHBOUR_LETTERS and may_be_small(text[slice(*other)])
            if one in terms and short and _JOINED.fullmatch(between):
                terms.add(other)
    return [span for span in spans if span in terms]


def is_known_to_documents(store: CorpusStore, principal: Principal, term: str) -> bool:
    """Return whether the documents this person may read use the term, so that a missing definition is no query miss."""
    return store.phrase_count(principal, term) > 0


def _split_pieces(text: str) -> Iterable[tuple[int, int]]:
    """Return spans that could each be one term: words, without punctuation, numbers before them and endings after
    them.
    """
    for chunk in _CHUNK.finditer(text):
        start, bare = _strip_punctuation(chunk)
        if len(bare) > _MAX_CHUNK_CHARS or (_IDENTIFIER.fullmatch(bare) and not _has_only_codes(bare)):
            continue
        for piece in _PIECE.finditer(bare):
            first = start + piece.start()
            for part in _SENTENCE_STOP.split(piece.group()):
                span = _trim_span(first, part)
                if span[0] < span[1]:
                    yield span
                # 1 for the full stop that was split at.
                first += len(part) + 1


def _has_only_codes(chunk: str) -> bool:
    """Return whether a chunk that looks like a path is a row of terms: "tCCS/tADL"."""
    parts = chunk.split("/")
    return len(parts) > 1 and (
        all(ALL_CAPITALS.fullmatch(part) or is_coded(part) for part in parts) or all(map(may_be_small, parts))
    )


def _strip_punctuation(chunk: re.Match[str]) -> tuple[int, str]:
    """Return a chunk without the punctuation around it, and its start."""
    word = chunk.group()
    left = len(word) - len(word.lstrip("([{<\"'“”„«*`‘"))
    return chunk.start() + left, word[left:].rstrip(".,;:!?)]}>\"'”“»*`’…")


def _trim_span(start: int, part: str) -> tuple[int, int]:
    quantity = _QUANTITY.match(part)
    # "40MUBO" is 40 of MUBO; "3D" and "5G" are known as they are.
    if quantity and not _is_well_known(part) and not _is_well_known(part[quantity.end() :]):
        start, part = start + quantity.end(), part[quantity.end() :]
    stripped = part.strip("'’`._")
    start += len(part) - len(part.lstrip("'’`._"))
    return start, start + len(re.sub(r"['’]s?$", "", stripped))


def _is_jargon(text: str, start: int, end: int, *, shouted: bool, english: bool) -> bool:
    word = text[start:end]
    plural = _PLURAL.fullmatch(word)
    stem = plural.group(1) if plural else word
    if (
        _is_function_word(word)
        or _is_well_known(word)
        or _is_well_known(stem)
        or _is_ordinary_number(text, start, word)
    ):
        return False
    if ALL_CAPITALS.fullmatch(stem) or "&" in word:
        # In a shouted question any English word is in capitals; elsewhere only a few are, for stress: "NOT", "MUST".
        ordinary = _is_shouted_word(stem.lower()) if shouted else stem.lower() in _EMPHASISED
        return not ordinary or bool(_ASKED_BEFORE.search(text[max(0, start - _NEAR_CHARS) : start]))
    if word.islower():
        return english and may_be_small(word) and _is_used_as_term(text, start, end)
    if not any(map(str.isdigit, word)):
        if SMALL_FIRST.fullmatch(word) and (word.startswith("x") or _is_behind_digit(text, start)):
            return False
        # Glued to a number, and no known unit: "2Mpx".
        if text[max(0, start - 1) : start].isdigit():
            return False
    return is_coded(word)


def _is_shouted_word(word: str) -> bool:
    """Return whether a word (in lower case) of a shouted question is no abbreviation: a common word, or one that can be
    spoken and is longer than most abbreviations ("payday").
    """
    return is_common_word(word) or (len(word) > _MAX_CODE_LETTERS and not is_unpronounceable(word))


def _is_used_as_term(text: str, start: int, end: int) -> bool:
    """Return whether the meaning of a small-letter word is asked for, or it has a value or is unpronounceable, and it
    is no unit.
    """
    if _is_behind_digit(text, start) or _ROMAN.fullmatch(text[start:end].upper()):
        return False
    asked = _ASKED_BEFORE.search(text[max(0, start - _NEAR_CHARS) : start]) or _ASKED_BEHIND.match(
        text[end : end + _NEAR_CHARS]
    )
    compared = _COMPARED.match(text[end : end + _NEAR_CHARS])
    return bool(asked or compared) or is_unpronounceable(text[start:end]) or _has_initials(text, start, end)


def _has_initials(text: str, start: int, end: int) -> bool:
    """Return whether a word is in brackets after words with its letters as initials, in any order: "Clock Tree
    (tc)".
    """
    if text[start - 1 : start] != "(" or text[end : end + 1] != ")":
        return False
    # There are as many words as the short form has letters.
    words = re.findall(r"[^\W\d_]+", text[max(0, start - _NEAR_CHARS) : start])[start - end :]
    return sorted(word[0].lower() for word in words) == sorted(text[start:end])


def _is_function_word(word: str) -> bool:
    """Return whether a word begins a sentence as a function word of a language with a list: Argot joins a follow-up to
    the question before, and the two may be in different languages.
    """
    return word.istitle() and word.casefold() in _load_stop_words()


def _is_well_known(word: str) -> bool:
    """Return whether a word is well known as it is written: `um` is a unit, UM may be jargon. Longer names also in
    capitals.
    """
    return word in load_well_known() or word in _list_capital_names()


@cache
def _load_stop_words() -> frozenset[str]:
    return frozenset().union(*(one.stop_words for one in load_listed_languages()))


@cache
def _list_capital_names() -> frozenset[str]:
    return frozenset(word.upper() for word in load_well_known() if len(word) > 3 and not word.islower())


def _is_ordinary_number(text: str, start: int, word: str) -> bool:
    """Return whether a word counts something, or ends a name: "Type II", "section B2", "FY 2022", "EN 13727", "Heron
    E4".
    """
    behind = text[start + len(word) : start + len(word) + _NEAR_CHARS]
    if _QUARTER.fullmatch(word) or (word in _YEARS and _YEAR_BEHIND.match(behind)) or _STANDARD_BEHIND.match(behind):
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
    return names_someone and previous.istitle()


def _is_behind_digit(text: str, start: int) -> bool:
    """Return whether a word is a unit with its number ("10 mV"), whether or not the list of units has it."""
    return bool(re.search(r"\d\s?$", text[max(0, start - 3) : start]))


def _is_english(text: str) -> bool:
    """Return whether enough words are English for others to be conspicuous."""
    words = [word for word in re.findall(r"[^\W\d_]+", text) if len(word) > 1]
    return sum(is_ordinary_word(word.lower()) for word in words) >= _ENGLISH_SHARE * len(words)


def _is_shouted(text: str) -> bool:
    """Return whether the whole question is in capitals, which then carry no information, so that the word list
    decides.
    """
    words = [word for word in re.findall(r"[^\W\d_]+", text) if len(word) > 1]
    capitals = [word for word in words if word.isupper()]
    if len(capitals) < max(2, _SHOUTED_SHARE * len(words)):
        return False
    return any(word.lower() in _EMPHASISED for word in capitals)
