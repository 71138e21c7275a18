"""Counts the entries of a list or table for a question that asks how many there are, if no number states it.

A wrong count is worse than none. It counts only a list that contains exactly the things asked for, whole in its
passage; anything that could change the number (another word in the question, a restriction in the line above, entries
that combine several, are named twice, are set apart by a word such as "closed" or end with "etc.") prevents counting.
The words are those of the question's language (`argot/languages/counting_words.py`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from argot.languages.counting_words import CountingWords, find_counting_words, load_count_line, load_counting_words
from argot.languages.language_data import ENGLISH
from argot.tools.answering.quoting import Unit, find_headings_above, find_heads, find_runs, read_units, split_cells
from argot.tools.text.words import bare, content_stems, fold, fold_words, stem_by_language
from argot.types import Passage

MAX_CHARS = 1_500
"""Maximum entries of a list that is shown with its count."""
MAX_SURELY_WHOLE_CHARS = 500
"""In characters: a list at the end of a longer passage, cut for its length, may continue in the next one."""

_MAX_NAME_WORDS = 3  # words
_COUNTED = re.compile(r"\d+(?:[.,]\d+)*")
_NUMBERED = re.compile(r"\(?(\d{1,3})[.)]\s")
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Count:
    """`numbers`: indexes of the units to be shown with it, the entries and their introduction."""

    entries: int
    numbers: Sequence[int]
    language: str = ENGLISH

    @property
    def line(self) -> str:
        return load_counting_words(self.language).line.replace("{number}", str(self.entries))


def read_entry_count(line: str) -> int:
    """Return the number of entries that a line states, if it is a `Count.line`; else 0."""
    found = load_count_line().fullmatch(line.strip())
    return int(next(filter(None, found.groups()))) if found else 0


def asks_for_count(question: str) -> bool:
    """Return whether the question asks how many things of a kind there are, as far as `count_entries` reads it."""
    return _parse_question(question) is not None


def count_entries(question: str, passage: Passage, others: Collection[Passage] = ()) -> Count | None:
    """Return the count of the one list or table in a passage that contains exactly the things that the question counts;
    None in doubt.

    Args:
        others: passages that may state the number, which takes precedence over counting.
    """
    asked = _parse_question(question)
    if asked is None or any(_has_stated_number(asked, one) for one in (passage, *others)):
        return None
    units = read_units(passage.text)
    lists = [run for run in find_runs(units) if _is_list_of(asked, run, units, passage)]
    if len(lists) != 1 or not _is_whole(lists[0], units, passage) or not _has_only_entries(lists[0], asked.words):
        return None
    numbers = sorted({*find_heads(lists[0][0], units), *(unit.number for unit in lists[0])})
    too_long = sum(len(units[number].text) for number in numbers) > MAX_CHARS
    return None if too_long else Count(len(lists[0]), numbers, asked.words.code)


# -- the question -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _CountQuestion:
    """Stems of the thing that is counted, and of everything that the question says about it, in its language."""

    noun: str
    said: frozenset[str]
    words: CountingWords

    @property
    def there_are(self) -> frozenset[str]:
        return _stem_existence(self.words.code)

    def list_stems(self, text: str) -> list[str]:
        return content_stems(text, self.words.code)

    def find_plurals(self, text: str) -> list[str]:
        """Return the stems of the words in a text that may name several things."""
        stems = (stem_by_language(self.words.code, fold(word)) for word in _list_plurals(text, self.words))
        return [one for one in dict.fromkeys(stems) if one not in self.there_are]


@cache
def _stem_existence(code: str) -> frozenset[str]:
    return frozenset(content_stems(load_counting_words(code).there_are, code))


def _parse_question(question: str) -> _CountQuestion | None:
    words = find_counting_words(question)
    found = words.how_many.search(question)
    # Words before "how many" may restrict which things, or when.
    before = found and content_stems(question[: found.start()], words.code)
    if found is None or before or words.restricts.search(found["rest"]):
        return None
    rest = words.kinds.sub("", found["rest"])
    noun = _find_noun(rest, words)
    said = frozenset(content_stems(rest, words.code)) - _stem_existence(words.code)
    return _CountQuestion(stem_by_language(words.code, noun), said, words) if noun else None


def _find_noun(rest: str, words: CountingWords) -> str:
    """Return the folded word that names the things; empty if no word does for sure."""
    name: list[str] = []
    for word in _WORD.findall(rest):
        if fold(word) in words.stop_words:
            break
        name.append(word)
    # "how many regions support it": words after the noun without an auxiliary are read as part of the noun phrase,
    # which fits no list.
    if words.noun_last:
        name = name[-1:] if len(name) <= _MAX_NAME_WORDS else []
    return next((fold(word) for word in name[:_MAX_NAME_WORDS] if words.plural.fullmatch(word)), "")


def _list_plurals(text: str, words: CountingWords) -> Iterator[str]:
    for word in _WORD.findall(text):
        if words.plural.fullmatch(word) and fold(word) not in words.stop_words:
            yield word


def _has_stated_number(asked: _CountQuestion, passage: Passage) -> bool:
    """Return whether a number stands before the noun, or anywhere in a sentence or heading with it."""
    units = read_units(passage.text)
    texts = [unit.plain for unit in units if unit.kind in ("prose", "heading")] + [passage.header]
    with_noun = (text for text in texts if asked.noun in asked.list_stems(text))
    # "NX-3" and "page 2" of a header are no counts.
    if any(_has_number(text, asked.words) for text in with_noun):
        return True
    return any(_is_counted(asked, unit.plain) for unit in units)


def _has_number(text: str, words: CountingWords) -> bool:
    return any(_COUNTED.fullmatch(word) or word in words.numbers for word in fold_words(text))


def _is_counted(asked: _CountQuestion, text: str) -> bool:
    """Return whether a number stands up to two words before the noun."""
    said = fold_words(text)
    places = (place for place, word in enumerate(said) if stem_by_language(asked.words.code, word) == asked.noun)
    return any(_has_number(" ".join(said[max(0, place - 3) : place]), asked.words) for place in places)


# -- the list ---------------------------------------------------------------------------------------------------------


def _is_list_of(asked: _CountQuestion, run: Sequence[Unit], units: Sequence[Unit], passage: Passage) -> bool:
    """Return whether a list or table lists exactly what is asked for."""
    above = [units[number] for number in find_heads(run[0], units)]
    is_table = run[0].kind == "row"
    columns = split_cells(above[0].text) if is_table and above else []
    leads = [] if is_table else [unit.plain for unit in above]
    headings = [units[number].plain for number in find_headings_above(run[0], units)]
    if is_table:
        name = _find_column(asked, columns)
    else:
        stands_under = units[above[0].number - 1 if above else run[0].number - 1]
        name = _find_line(asked, leads, [stands_under.plain] if stands_under.kind == "heading" else [])
    # The document's title restricts nothing, unless only the title says that these are such things.
    title = bare(" ".join(passage.heading_path[:1]))
    beside = [*leads, name, *(text for text in [*passage.heading_path, *headings] if bare(text) != title)]
    if not name or any(asked.words.restricts.search(text) for text in beside):
        return False
    known = asked.said | asked.there_are | set(asked.list_stems(" ".join(columns)))
    said = set(asked.list_stems(" ".join([passage.header, *passage.heading_path, *headings, *leads, *columns])))
    return set(asked.list_stems(" ".join(beside))) <= known and asked.said <= said


def _find_column(asked: _CountQuestion, columns: Sequence[str]) -> str:
    """Return the first column if its name is that of the thing; else empty."""
    stems = set(asked.list_stems(columns[0])) if columns else set()
    return columns[0] if asked.noun in stems and stems <= asked.said | asked.there_are else ""


def _find_line(asked: _CountQuestion, leads: Sequence[str], headings: Sequence[str]) -> str:
    """Return the line above a list, else the heading, that names such things in the plural and no others; or empty."""
    told = [text for text in leads if asked.find_plurals(text)] or headings[-1:]
    return next((text for text in told if asked.find_plurals(text) == [asked.noun]), "")


def _is_whole(run: Sequence[Unit], units: Sequence[Unit], passage: Passage) -> bool:
    """Return whether the list begins and ends in this passage."""
    # The second line of a header has the columns of a table that goes on from the passage before.
    if run[0].number == 0 or "\n" in passage.header:
        return False
    if run[-1].number + 1 < len(units):
        return True
    return passage.page_kind != "page" and len(passage.text) <= MAX_SURELY_WHOLE_CHARS


def _has_only_entries(run: Sequence[Unit], words: CountingWords) -> bool:
    """Return whether each unit is one entry, and all differ."""
    if len(run) < 2 or len({unit.indent for unit in run}) > 1:
        return False
    if run[0].kind == "item":
        numbers = [int(found[1]) for unit in run if (found := _NUMBERED.match(unit.text))]
        if numbers not in ([], list(range(1, len(run) + 1))):
            return False
    names = list(_list_names(run))
    cells = (cell for unit in run if unit.kind == "row" for cell in split_cells(unit.text))
    return (
        len({bare(name) for name in names}) == len(run)
        and not any(words.no_entry.search(name) or words.several.match(name) for name in names)
        and not any(map(words.apart.search, (*names, *cells)))
    )


def _list_names(run: Sequence[Unit]) -> Iterator[str]:
    for unit in run:
        if unit.kind == "row":
            yield next(iter(split_cells(unit.text)), "")
        # The later sentences of a long item have no marker, and are no entries.
        elif unit.text[:1].isalnum() and not re.match(r"\w{1,3}[.)]\s", unit.text):
            yield ""
        else:
            yield re.sub(r"^\W*(?:\w{1,3}[.)]\s)?\s*", "", unit.plain)
