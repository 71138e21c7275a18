"""Words that are spelt like a term of the glossary but are not meant as one: everyday words, names, times, and words
in capitals for stress.

A large glossary has an abbreviation for nearly every short word. Case and the documents tell the two apart: "apps" does
not mean APPS where the documents themselves write "apps".
"""

from __future__ import annotations

import re

from argot.corpus.store.document_store import CorpusStore
from argot.jargon_db.lookup.ordinary_words import is_common_word, is_everyday_word, is_function_word, is_shorthand
from argot.tools.reading.abbreviation_shapes import is_bare_contraction
from argot.tools.reading.definition_questions import find_asked_meanings
from argot.types import Mention, Principal

_MAX_PASSAGES = 20  # passages in which a spelling is looked for
_NEAR_CHARS = 40  # characters before a word that are examined
_MIN_STRESSED_LETTERS = 4  # letters; abbreviations of fewer are often spelt like a word: "set the PIN"
_MIN_FUNCTION_LETTERS = 3  # letters; AS, IT and OR are abbreviations as often as stress
_MAX_UNIT_LETTERS = 3  # letters of a unit behind a number: "40 hr"
_TIMES = ("am", "pm")
_BEHIND_NUMBER = re.compile(r"\d\s?$")
_WORD_BEFORE = re.compile(r"([\w'’]+)\s+$")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;]\s+|\n\s*)[\"“'‘(]?$")
_MARKED = re.compile(r"[\"'“‘`*«„]$")
# What follows one of these cannot be left out.
_NEEDING = frozenset(
    re.findall(
        r"\w+",
        """a about after against all an and any are as at be because been before being between but by can could did
        do does during each every for from had has have her his how if in into is its many may mean means might more
        most much must my no nor of off on one or our out over per shall should since some than that the their these
        this those through to under until up use used uses using was were what when where whether which while who
        whom whose why will with within without would your""",
    )
)


def is_everyday(mention: Mention, text: str, store: CorpusStore | None, principal: Principal) -> bool:
    """Return whether a mention of a glossary term is an ordinary word of this question."""
    word, term = mention.surface, mention.term or ""
    if is_time(text, mention.start, mention.end):
        return True
    if not term.isupper() or word.casefold() not in (term.casefold(), f"{term.casefold()}s"):
        return False
    # In quotation marks or asked about, any word is meant as a term.
    if _MARKED.search(text[: mention.start]) or find_asked_meanings(text, [mention]):
        return False
    if word.isupper():
        return is_stressed(text, mention.start, mention.end) and not _is_written(store, principal, term)
    # "PUCs" is in the term's own case.
    return not word.removesuffix("s").isupper() and _is_ordinary(mention, text, store, principal)


def _is_ordinary(mention: Mention, text: str, store: CorpusStore | None, principal: Principal) -> bool:
    """Return whether a word that is not in capitals is an everyday word, a unit, a name, or a word that the documents
    write in the same way.
    """
    word, term = mention.surface, mention.term or ""
    behind_number = _BEHIND_NUMBER.search(text[max(0, mention.start - 2) : mention.start])
    # "40 hr", "im": a unit, and a contraction without its apostrophe
    if word.islower() and ((behind_number and len(word) <= _MAX_UNIT_LETTERS) or is_bare_contraction(word)):
        return True
    if is_everyday_word(word.lower()) or (word.istitle() and not _SENTENCE_START.search(text[: mention.start])):
        return True
    return _is_written(store, principal, word) and not _is_written(store, principal, term)


def is_everyday_in_prose(mention: Mention, text: str) -> bool:
    """Return whether a mention of a glossary term on a page is an everyday word or half of a time: "the cat" is not
    CAT. Unlike in a question, nobody asks there what a word means.
    """
    word, term = mention.surface, mention.term or ""
    if is_time(text, mention.start, mention.end):
        return True
    return term.isupper() and not word.removesuffix("s").isupper() and is_everyday_word(word.lower())


def is_time(text: str, start: int, end: int) -> bool:
    """Return whether a word is the second half of a time: "5 pm", "11 AM"."""
    return text[start:end].lower() in _TIMES and bool(_BEHIND_NUMBER.search(text[max(0, start - 2) : start]))


def is_stressed(text: str, start: int, end: int) -> bool:
    """Return whether a word in capitals is stressed rather than an abbreviation: "I must NOT", "do it DAILY".

    The sentence must be complete without it, which the word before shows: "the DAILY" is a name.
    """
    word = text[start:end].lower()
    if is_function_word(word):
        return len(word) >= _MIN_FUNCTION_LETTERS
    before = _WORD_BEFORE.search(text[max(0, start - _NEAR_CHARS) : start])
    everyday = len(word) >= _MIN_STRESSED_LETTERS and (is_common_word(word) or is_shorthand(word))
    return everyday and before is not None and before.group(1).lower() not in _NEEDING


def _is_written(store: CorpusStore | None, principal: Principal, word: str) -> bool:
    """Return whether a passage contains the word in this case."""
    if store is None:
        return False
    passages = store.passages(principal, store.find_phrase(principal, word, _MAX_PASSAGES)).values()
    written = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")
    return any(written.search(f"{passage.heading}\n{passage.text}") for passage, _ in passages)
