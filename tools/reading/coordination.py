"""Questions that ask the same about two things: "Who cleans the north lamp and the south lamp?".

The answers for the two may be in different passages, of which only the better would be quoted.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from argot.languages.detection import identify_listed_language
from argot.languages.language_data import load_language
from argot.languages.several_words import ComparisonWords, load_comparison_words, load_several_words
from argot.tools.reading.comparisons import find_naming_texts
from argot.tools.text.words import fold
from argot.types import ReadTerm

_MAX_NAME_WORDS = 3  # words
_WORD = re.compile(r"\w[\w'’/.-]*\w|\w")


@dataclass(frozen=True, slots=True)
class Side:
    """One of two things, as the question names it, and the question about it alone."""

    name: str
    question: str


def find_pair(question: str, terms: Sequence[ReadTerm], texts: Sequence[str]) -> tuple[Side, Side] | None:
    """Return the two things about which a question asks the same, if some text names each of them; None if not, or if
    the question joins none or several.
    """
    language = identify_listed_language(question)
    joints = [*load_several_words(language).joins_two.finditer(question)]
    if len(joints) != 1:
        return None
    stop_words = load_language(language).stop_words
    left = _list_names_before(question, joints[0].start(), stop_words)
    right = _list_names_behind(question, joints[0].end(), stop_words)
    words = load_comparison_words(language)
    if not right or not _is_joined(question[joints[0].end() : right[0].start()], words):
        return None
    # Both names have as many words: "north lamp and south lamp", and also "the north and the south lamp".
    for count in range(min(len(left), len(right), _MAX_NAME_WORDS), 0, -1):
        start, end = left[-count].start(), right[count - 1].end()
        names = question[start : left[-1].end()], question[right[0].start() : end]
        if all(_is_thing(name, words) and find_naming_texts(name, question, terms, texts) for name in names):
            one, other = (Side(name, f"{question[:start]}{name}{question[end:]}") for name in names)
            return one, other
        # "la lampe A12 et la lampe B13": half of a name is none.
        if not {fold(word[0]) for word in left[-count:]}.isdisjoint(fold(word[0]) for word in right[:count]):
            break
    return None


def _is_joined(between: str, words: ComparisonWords) -> bool:
    """Return whether only an article, or "of" with one, stands between the joint and the other name: a verb there would
    begin another clause, as in "I gave notice and owe you hours".
    """
    return not words.article.sub("", re.sub(rf"^{words.of.pattern}", "", between, flags=re.IGNORECASE)).strip()


def _is_thing(name: str, words: ComparisonWords) -> bool:
    return any(map(str.isalpha, name)) and (not words.capital_nouns or name.rsplit(maxsplit=1)[-1][0].isupper())


def _list_names_before(question: str, end: int, stop_words: Collection[str]) -> list[re.Match[str]]:
    """List the words that end at a place with only blanks between them, back to a stop word, in order."""
    names: list[re.Match[str]] = []
    for word in reversed([*_WORD.finditer(question, 0, end)]):
        behind = names[0].start() if names else end
        if fold(word[0]) in stop_words or question[word.end() : behind].strip():
            break
        names.insert(0, word)
    return names


def _list_names_behind(question: str, start: int, stop_words: Collection[str]) -> list[re.Match[str]]:
    """List the words from a place on, without stop words before them, up to one or to a mark."""
    names: list[re.Match[str]] = []
    for word in _WORD.finditer(question, start):
        is_stop, is_apart = fold(word[0]) in stop_words, bool(question[start : word.start()].strip())
        if is_apart or (is_stop and names):
            break
        start = word.end()
        if not is_stop:
            names.append(word)
    return names
