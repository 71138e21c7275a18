"""Score of how much of a sentence a passage supports; `objections.py` checks for contradictions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise, takewhile, zip_longest

from argot.language import UNSPACED
from argot.tools.text.markdown_prose import extract_prose
from argot.tools.text.quantities import find_quantities
from argot.tools.text.sentences import split_units
from argot.tools.text.words import find_identifiers, fold_words, stem_content

_UNSPACED = re.compile(f"[{UNSPACED}]+")
_LIST_MARKER = re.compile(r"^\s*(?:[-*+•]|\(?(?:\d{1,3}|[a-zA-Z])[.)])\s+")
_SHOWN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+|(?<!\w)[-−–](?=\d)|[<>≤≥=](?= ?\d)|[%°€$£¥₹±]|[.!?](?=\s)")
"""The text as readers see it, without marks that may be mark-up: words, numbers and signs that change a number's
meaning, and a full stop before another sentence."""
_ADDRESS = re.compile(r"https?://[^\s<>()\[\]]*[^\s<>()\[\].,;:!?]")
_SPELT_OUT = re.compile(r"\b(?P<short>[A-Z][A-Z&]{1,6})s? \((?P<words>[A-Za-z][^()\n]{3,80})\)")
_ANYBODY = re.compile(r"\b(?:some|any)(?:body|one)\b", re.IGNORECASE)
_QUESTION_START = re.compile(r"^\W*(?:q(?:uestion)?[:.]\s*)?\w+", re.IGNORECASE)
_NO_SUCH = re.compile(r"\W*no ([^\W\d_]+)", re.IGNORECASE)
# "No, it is not", and not "No other place is free".
_NO = re.compile(
    r"\W*(?:a(?:nswer)?[:.]\s*)?no(?:\s*[.,;:!–—*-](?! ?\d)|\s*$"
    r"|\s+(?:you|it|they|we|he|she|there|this|that)\b)",
    re.IGNORECASE,
)
_NUMBERED_LINK = re.compile(r"\[\d{1,3}\](?:\([^()\s]{0,400}\))?")
# Words before a quotation that reverse its meaning.
_TURNS = frozenset(
    ["no", "not", "never", "only", "without", "unless", "except", "nor", "neither", "cannot", "if", "hardly"]
)

# -- quotations -------------------------------------------------------------------------------------------------------


def read_visible(markdown: str) -> str:
    """Return the prose that a reader sees, without a list marker at its beginning: the number of a step is no
    statement.
    """
    return extract_prose(_LIST_MARKER.sub("", markdown, count=1)).text


def strip_links(sentence: str, passage: str) -> str:
    """Return the sentence without addresses that the passage links to, which are no visible text of it."""
    return _ADDRESS.sub(lambda found: "" if found[0].rstrip("/") in passage else found[0], sentence)


def strip_spelt_out(sentence: str, passage: str) -> str:
    """Return the sentence without the words, in brackets, that an abbreviation of the passage stands for: "PRA
    (Paperwork Reduction Act)". The glossary has them, or everybody knows them; the passage writes the abbreviation.
    """
    return _SPELT_OUT.sub(
        lambda found: found["short"] if _stands_for(found["short"], found["words"], passage) else found[0], sentence
    )


def _stands_for(abbreviation: str, words: str, passage: str) -> bool:
    if re.search(r"\d", words) or _is_spelt_otherwise(abbreviation, words, passage):
        return False
    parts = re.findall(r"[^\W\d_]+", words)
    initials = ["".join(word[0] for word in some).casefold() for some in (parts, [w for w in parts if w[0].isupper()])]
    is_there = re.search(rf"(?<!\w){re.escape(abbreviation)}(?!\w)", passage) is not None
    return is_there and abbreviation.casefold() in initials


def _is_spelt_otherwise(abbreviation: str, words: str, passage: str) -> bool:
    """Return whether the passage spells out an abbreviation beside it, in other words: "GRC, Green River Council"."""
    spelt = r"(?:\w+ )?".join(rf"{letter}[a-z][\w-]* ?" for letter in abbreviation if letter.isalpha())
    beside = rf"\b{re.escape(abbreviation)}\W{{1,3}}({spelt})|\b({spelt})\W{{1,3}}{re.escape(abbreviation)}\b"
    found = [(one or other).strip().casefold() for one, other in re.findall(beside, passage)]
    return bool(found) and words.strip().casefold() not in found


# Searched without a pattern of the text itself: compiling one for each sentence took longer than all else here.
_NO_WORD_BEFORE = re.compile(r"(?<!\w)")
_NO_WORD_AFTER = re.compile(r"(?!\w|[.,]\d)")


def _has_apart(said: str, source: str) -> bool:
    """Return whether the source has the text as whole words and numbers: "5" is no quotation from "5.2"."""
    place = source.find(said)
    while place >= 0:
        if _NO_WORD_BEFORE.match(source, place) and _NO_WORD_AFTER.match(source, place + len(said)):
            return True
        place = source.find(said, place + 1)
    return False


@lru_cache(maxsize=8_000)
def is_quoted(sentence: str, passage: str) -> bool:
    """Return whether the passage contains the sentence word for word, whatever the mark-up of either.

    Capitals may differ only if the words before do not reverse the meaning: "Phones may read mail" is no quotation from
    "No phones may read mail".
    """
    said, source = read_visible(sentence), read_visible(passage)
    if not said:
        return sentence.strip() in passage
    if _has_apart(said, source):
        return True
    said = _fold_shown(sentence)
    if not said:
        return False
    if _has_quotation(said, _fold_shown(passage)) or _is_whole_units(said, passage):
        return True
    # "[guide][1]": a number that is a link in the passage was read as a citation, and left out of the answer.
    return "[" in passage and _has_quotation(said, _fold_shown(_NUMBERED_LINK.sub("", passage)))


def _has_quotation(said: str, source: str) -> bool:
    if said not in source:
        return False
    # The look-ahead finds overlapping places as well.
    places = (found.start() for found in re.finditer(rf"(?={re.escape(said)})", source))
    return any(source[:at].rpartition(" ")[2] not in _TURNS for at in places)


def _is_whole_units(said: str, passage: str) -> bool:
    """Return whether a text consists of whole units of the passage in their order: a step, and the text after it."""
    rest = said.strip()
    for start, end, _ in split_units(passage):
        unit = _fold_shown(passage[start:end]).strip()
        if unit and f"{rest} ".startswith(f"{unit} "):
            rest = rest[len(unit) :].lstrip(" .!?")
            if not rest:
                return True
    return False


@lru_cache(maxsize=4_000)
def _fold_shown(markdown: str) -> str:
    """Return each word in lower case, with a blank on both sides."""
    return f" {' '.join(_SHOWN.findall(read_visible(markdown).casefold()))} ".replace("  ", "")


MAX_NEAREST_UNITS = 4  # units that share equally much with a sentence
_LEANS_BACK = re.compile(r"\W*(?:this|these|those|they|it|such|examples?|here|including)\b", re.IGNORECASE)
_MAX_LEAD_IN = 2  # sentences: "Some activities need no clearance. This includes"
_RARITY = 0.4  # added weight of a word that only one unit has, beside 1 for any word


# -- what is compared -------------------------------------------------------------------------------------------------


def find_nearest_unit(said: str, passage: str) -> str:
    """Return the passage's unit that shares most with the sentence, numbers and identifiers counting double."""
    return next(iter(find_nearest_units(said, passage)), "")


@lru_cache(maxsize=8_000)
def find_nearest_units(said: str, passage: str) -> tuple[str, ...]:
    """Return the passage's units that share most with the sentence; of units that share equally, short ones first."""
    wanted, units = find_statement_stems(said), list_units(passage)
    if not units or not wanted:
        return ()
    twice = _filter_digits(wanted)
    # If units share equally many words, the words that fewer units have decide.
    holding = Counter(word for _, stems in units for word in stems & wanted)
    shared = [
        len(wanted & stems) + len(twice & stems) + sum(_RARITY / holding[word] for word in stems & wanted)
        for _, stems in units
    ]
    nearest = [place for place, count in enumerate(shared) if count == max(shared)]
    texts = dict.fromkeys(units[place][0] for place in sorted(nearest, key=lambda at: (len(units[at][0]), at)))
    return tuple(texts)[:MAX_NEAREST_UNITS]


@lru_cache(maxsize=1_000)
def list_units(passage: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """Return each unit of the passage, plain, with its stems."""
    units = deny_questions([extract_prose(passage[start:end]).text for start, end, _ in split_units(passage)])
    return tuple((unit, find_statement_stems(unit)) for unit in units)


def find_lead_in(unit: str, passage: str) -> str:
    """Return the text before the list to which a unit of the passage belongs, its last sentences; empty if it belongs
    to none.

    `unit`: as `list_units` returns it.
    """
    if not _LIST_MARKER.match(unit):
        return ""
    units = [text for text, _ in list_units(passage)]
    if unit not in units:
        return ""
    before = units[: units.index(unit)]
    while before and _LIST_MARKER.match(before[-1]):
        before.pop()
    return " ".join(before[-_MAX_LEAD_IN if before and _LEANS_BACK.match(before[-1]) else -1 :])


def find_column_names(row: str, passage: str) -> str:
    """Return the first row of the table to which a row of the passage belongs; empty if it is no row.

    `row`: as `list_units` returns it.
    """
    if not row.startswith("|"):
        return ""
    units = [text for text, _ in list_units(passage)]
    if row not in units:
        return ""
    above = [*takewhile(lambda unit: unit.startswith("|"), reversed(units[: units.index(row)]))]
    return above[-1] if above else ""


def deny_questions(units: Sequence[str]) -> list[str]:
    """Return the units of a text with a "not" in each question that the next unit answers with "No": "Can I not use it
    for my family?", "Can nobody enter?".
    """
    return [
        _deny(unit) if unit.endswith("?") and _says_no(behind, unit) else unit
        for unit, behind in zip_longest(units, units[1:], fillvalue="")
    ]


def _deny(question: str) -> str:
    if _ANYBODY.search(question):
        return _ANYBODY.sub("nobody", question, count=1)
    return _QUESTION_START.sub(r"\g<0> not", question, count=1)


def _says_no(answer: str, question: str) -> bool:
    """Return whether a text answers with "No", or repeats a word of the question behind it: "No change is given"."""
    repeated = _NO_SUCH.match(answer)
    return _NO.match(answer) is not None or (repeated is not None and repeated[1].casefold() in fold_words(question))


@lru_cache(maxsize=8_000)
def find_statement_stems(text: str, language: str = "") -> frozenset[str]:
    """Return the subject of a text: stems of its content words, by the words of this language or of the text's, its
    numbers and its identifiers.

    In a script without spaces, a whole clause would be one word; pairs of characters replace its words.
    """
    stems = {one for _, one in stem_content(text, language)}
    # A script without spaces is never ASCII.
    if not text.isascii():
        stems = {part for one in stems for part in _split_word(one)}
    return frozenset(stems | {number for number, _ in find_quantities(text)} | find_identifiers(text))


def _split_word(word: str) -> list[str]:
    """Return the word itself; for one in a script without spaces, each pair of its characters and the remaining
    parts.
    """
    runs = _UNSPACED.findall(word)
    if not runs:
        return [word]
    rest = _UNSPACED.sub("", word)
    return [*filter(None, [rest]), *(run[at : at + 2] for run in runs for at in range(max(1, len(run) - 1)))]


# -- how much ---------------------------------------------------------------------------------------------------------


class SupportScorer:
    """A `Scorer` of support, without any model: the share of a statement that occurs close together in each text.

    1.0 for a quotation. Otherwise the weighted share of the statement's stems (numbers and identifiers count double)
    within the best run of as many units as the statement has, plus one; a small part rewards the same words in the same
    order.
    """

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        return [support(query, text) for text in texts]


_ORDER_SHARE = 0.15  # of two passages with the same words, prefers the one with the same order


@lru_cache(maxsize=20_000)
def support(statement: str, text: str) -> float:
    """Return the share, in [0, 1], of `statement` that `text` covers; both Markdown. It ignores negation and units."""
    if not statement.strip() or not text.strip():
        return 0.0
    if is_quoted(statement, text):
        return 1.0
    said, source = read_visible(statement), read_visible(text)
    wanted = find_statement_stems(said)
    if not wanted:
        return 0.0
    twice = _filter_digits(wanted)
    best = max(len(run & wanted) + len(run & twice) for run in _build_runs(text, len(split_units(statement)) + 1))
    pairs, there = _list_pairs(said), _list_pairs(source)
    share = best / (len(wanted) + len(twice))
    order = len(pairs & there) / len(pairs) if pairs else share
    return (1 - _ORDER_SHARE) * share + _ORDER_SHARE * order


@lru_cache(maxsize=8_000)
def _filter_digits(items: frozenset[str]) -> frozenset[str]:
    return frozenset(item for item in items if any(map(str.isdigit, item)))


@lru_cache(maxsize=2_000)
def _build_runs(text: str, length: int) -> tuple[frozenset[str], ...]:
    units = [stems for _, stems in list_units(text)]
    starts = range(max(1, len(units) - length + 1))
    return tuple(frozenset().union(*units[start : start + length]) for start in starts)


@lru_cache(maxsize=2_000)  # some 5 to 15 kB each
def _list_pairs(text: str) -> frozenset[tuple[str, str]]:
    stems = [one for _, one in stem_content(text)]
    return frozenset(pairwise(stems))
