"""Counts the entries of a list or table for a question that asks how many there are, if no number states it.

A wrong count is worse than none. It counts only a list that contains exactly the things asked for, whole in its
passage; anything that could change the number (another word in the question, a restriction in the line above, entries
that combine several, are named twice or end with "etc.") prevents counting. English.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from argot.corpus.keyword.stop_words import STOP_WORDS
from argot.tools.answering.quoting import Unit, find_headings_above, find_heads, find_runs, read_units, split_cells
from argot.tools.text.words import NUMBER_WORDS, bare, content_stems, fold_words, stem
from argot.types import Passage

MAX_CHARS = 1_500
"""Maximum entries of a list that is shown with its count."""
MAX_SURELY_WHOLE_CHARS = 500
"""In characters: a list at the end of a longer passage, cut for its length, may continue in the next one."""

_HOW_MANY = re.compile(r"\b(?:how many|what(?:'s| is) the (?:total )?number of)\s+(?P<rest>[^?!]+)", re.IGNORECASE)
_KINDS = re.compile(r"^(?:(?:different|distinct|various)\s+)?(?:(?:kinds|types|sorts) of\s+)?", re.IGNORECASE)
_MAX_NAME_WORDS = 3  # words
_THERE_ARE = frozenset(
    content_stems(
        "number total altogether overall different distinct various kind type sort name id list exist following "
        "available support offer use run get know provide make keep operate include consist current currently"
    )
)
"""Words that only say that such things exist, and restrict nothing."""
_RESTRICTS = re.compile(
    r"\b(?:not|no|never|without|except|excluding|unless|\w+n['’]t|only|some|several|many|most|mainly|at least|examples?"
    r"|e\.g|such as|including|among|per|each|every|or|least|more|fewer|less|other)\b",
    re.IGNORECASE,
)
_NO_ENTRY = re.compile(
    r"^\W*(?:total|sum|all|any|others?|none|n/?a|average|mean|tbd|unknown|etc\b.*|and (?:more|others|so on).*|)\W*$"
    r"|\betc\b|\band (?:so on|more|others)\W*$|\bamong others\b|(?:…|\.\.\.)\W*$|^\W*(?:total|sum)\b",
    re.IGNORECASE,
)
_SEVERAL = re.compile(r"^[\w./-]+(?:, [\w./-]+)*,?(?: and | or | & |/|, | to )[\w./-]+[.;,]?$")
_COUNTED = re.compile(r"\d+(?:[.,]\d+)*")
_NUMBERED = re.compile(r"\(?(\d{1,3})[.)]\s")
_LINE = re.compile(r"(\d+) entries:")


@dataclass(frozen=True, slots=True)
class Count:
    """`numbers`: indexes of the units to be shown with it, the entries and their introduction."""

    entries: int
    numbers: Sequence[int]

    @property
    def line(self) -> str:
        return f"{self.entries} entries:"


def read_entry_count(line: str) -> int:
    """Return the number of entries that a line states, if it is a `Count.line`; else 0."""
    found = _LINE.fullmatch(line.strip())
    return int(found[1]) if found else 0


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
    if asked is None or any(_has_stated_number(asked.noun, one) for one in (passage, *others)):
        return None
    units = read_units(passage.text)
    lists = [run for run in find_runs(units) if _is_list_of(asked, run, units, passage)]
    if len(lists) != 1 or not _is_whole(lists[0], units, passage) or not _has_only_entries(lists[0]):
        return None
    numbers = sorted({*find_heads(lists[0][0], units), *(unit.number for unit in lists[0])})
    too_long = sum(len(units[number].text) for number in numbers) > MAX_CHARS
    return None if too_long else Count(len(lists[0]), numbers)


# -- the question -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _CountQuestion:
    """Stems of the thing that is counted, and of everything that the question says about it."""

    noun: str
    said: frozenset[str]


def _parse_question(question: str) -> _CountQuestion | None:
    found = _HOW_MANY.search(question)
    # Words before "how many" may restrict which things, or when.
    if found is None or content_stems(question[: found.start()]) or _RESTRICTS.search(found["rest"]):
        return None
    rest = _KINDS.sub("", found["rest"])
    name: list[str] = []
    for word in fold_words(rest):
        if word in STOP_WORDS:
            break
        name.append(word)
    # "how many regions support it": words after the noun without an auxiliary are read as part of the noun phrase,
    # which fits no list.
    if not 1 <= len(name) <= _MAX_NAME_WORDS or not name[-1].endswith("s"):
        return None
    return _CountQuestion(stem(name[-1]), frozenset(content_stems(rest)) - _THERE_ARE)


def _has_stated_number(noun: str, passage: Passage) -> bool:
    """Return whether a number stands before the noun, or anywhere in a sentence or heading with it."""
    units = read_units(passage.text)
    texts = [unit.plain for unit in units if unit.kind in ("prose", "heading")] + [passage.header]
    with_noun = (text for text in texts if noun in content_stems(text))
    # "NX-3" and "page 2" of a header are no counts.
    if any(_has_number(text) for text in with_noun):
        return True
    return any(_is_counted(noun, unit.plain) for unit in units)


def _has_number(text: str) -> bool:
    return any(_COUNTED.fullmatch(word) or word in NUMBER_WORDS or word == "dozen" for word in fold_words(text))


def _is_counted(noun: str, text: str) -> bool:
    """Return whether a number stands up to two words before the noun."""
    said = fold_words(text)
    places = (place for place, word in enumerate(said) if stem(word) == noun)
    return any(_has_number(" ".join(said[max(0, place - 3) : place])) for place in places)


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
        name = _find_line(asked.noun, leads, [stands_under.plain] if stands_under.kind == "heading" else [])
    # The document's title restricts nothing, unless only the title says that these are such things.
    title = bare(" ".join(passage.heading_path[:1]))
    beside = [*leads, name, *(text for text in [*passage.heading_path, *headings] if bare(text) != title)]
    if not name or any(_RESTRICTS.search(text) for text in beside):
        return False
    known = asked.said | _THERE_ARE | set(content_stems(" ".join(columns)))
    said = set(content_stems(" ".join([passage.header, *passage.heading_path, *headings, *leads, *columns])))
    return set(content_stems(" ".join(beside))) <= known and asked.said <= said


def _find_column(asked: _CountQuestion, columns: Sequence[str]) -> str:
    """Return the first column if its name is that of the thing; else empty."""
    stems = set(content_stems(columns[0])) if columns else set()
    return columns[0] if asked.noun in stems and stems <= asked.said | _THERE_ARE else ""


def _find_line(noun: str, leads: Sequence[str], headings: Sequence[str]) -> str:
    """Return the line above a list, else the heading, that names such things in the plural and no others; or empty."""
    told = [text for text in leads if _find_plurals(text)] or headings[-1:]
    return next((text for text in told if _find_plurals(text) == [noun]), "")


def _find_plurals(text: str) -> list[str]:
    """Return the stems of the words in a line that end in a plural s."""
    words = (
        word for word in fold_words(text) if word.endswith("s") and not word.endswith("ss") and word not in STOP_WORDS
    )
    return [one for one in dict.fromkeys(map(stem, words)) if one not in _THERE_ARE]


def _is_whole(run: Sequence[Unit], units: Sequence[Unit], passage: Passage) -> bool:
    """Return whether the list begins and ends in this passage."""
    # The second line of a header has the columns of a table that goes on from the passage before.
    if run[0].number == 0 or "\n" in passage.header:
        return False
    if run[-1].number + 1 < len(units):
        return True
    return passage.page_kind != "page" and len(passage.text) <= MAX_SURELY_WHOLE_CHARS


def _has_only_entries(run: Sequence[Unit]) -> bool:
    """Return whether each unit is one entry, and all differ."""
    if len(run) < 2 or len({unit.indent for unit in run}) > 1:
        return False
    if run[0].kind == "item":
        numbers = [int(found[1]) for unit in run if (found := _NUMBERED.match(unit.text))]
        if numbers not in ([], list(range(1, len(run) + 1))):
            return False
    names = list(_list_names(run))
    return len({bare(name) for name in names}) == len(run) and not any(
        _NO_ENTRY.search(name) or _SEVERAL.match(name) for name in names
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
