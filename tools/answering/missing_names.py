"""Names of a sentence that its passage lacks.

In English, French and Spanish a word with a capital within a sentence is one. In German every noun has a capital, so a
list decides (`argot/languages/de_names.txt`): people and places that are no German words. Any other noun counts as a
name if it stands in the place of another one in a sentence that the passage has otherwise. In all of them a title
before a word, or a legal form behind it, shows that it is a name, however ordinary ("Dr. Baker", "Bauer GmbH").
"""

from __future__ import annotations

import re
from difflib import Match, SequenceMatcher
from functools import cache, lru_cache
from importlib import resources
from itertools import pairwise

from argot.days import MONTH_NAMES
from argot.jargon_db.lookup.ordinary_words import is_common_word, is_ordinary_word
from argot.languages.detection import identify_listed_language
from argot.languages.language_data import ENGLISH
from argot.languages.name_words import find_marked_names, load_offices
from argot.languages.stemming import stem_word
from argot.tools.answering.support import find_nearest_units
from argot.tools.text.quantities import WEEKDAY_NAMES
from argot.tools.text.words import find_identifiers, fold_words, stem

# Not after a full stop or colon, where any word has a capital; `_may_begin` handles the first word. A possessive is a
# name ("Vienna's"), a contraction is none ("Don't").
_NAME = re.compile(r"(?:^|(?<=[\w,;(\"“‘'] ))(?<![.!?:] )[A-Z][a-zà-ÿ]{2,}(?!\w|-[A-Z0-9]|['’][a-rt-z])")
_CALENDAR = re.compile("|".join([*(f"{day.title()}s?" for day in WEEKDAY_NAMES), *map(str.title, MONTH_NAMES)]))
_MIN_WORDS = 4  # words besides names in a text whose language can be told
_MIN_NAME_LETTERS = 4  # letters that a name and its adjective share at least
_MAX_ENDING_LETTERS = 3
"""Letters in which a name and its adjective may differ: Sweden, Swedish."""
_FOREIGN_NAME = re.compile(
    r"(?:^|(?<=[\w,;(\"“‘'«„] )|(?<=[dlDL]['’]))(?<![.!?:] )[A-ZÀ-ÖØ-Þ][a-zß-ÿ]{2,}(?!\w|-[A-Z0-9]|['’]\w)"
)
_WORD = re.compile(r"[^\W_][\w'’-]*")
_MIN_SAME = 4  # words in the same order by which a sentence repeats one of its source
_MIN_SAME_SHARE = 0.7  # of its words

_VERB_FIRST = re.compile(r"\W*\w+ (?:your|the|an?|it|them|this|these|those|its|their|each|all|both)\b", re.IGNORECASE)


def find_missing_name(said: str, source: str) -> str:
    """Return a name of the sentence that the source lacks; empty if there is none."""
    named, marked = _find_names(said, source)
    there = list_words(source)
    for run in _group_runs(named):
        names = [name[0].casefold() for name in run]
        known = [name for name in names if name in there or stem(name) in there or is_joined(name, said, source)]
        is_first = run[0].start() == 0 and marked.isdisjoint(name.start() for name in run)
        if len(known) == len(names) or (is_first and _may_begin(names, known, said)):
            continue
        if known and not any(_has_another_name_beside(name, names, source) for name in known):
            continue  # the source gives only a part of the name
        # "United States" where the source writes "US".
        if len(names) > 1 and "".join(name[0] for name in names) in _list_abbreviations(source):
            continue
        for name in names:
            if name not in known and not any(_is_same_name(name, other) for other in _list_names(source)):
                return name
    return _find_replaced_noun(said, source)


def is_joined(name: str, said: str, source: str) -> bool:
    """Return whether the source joins a word of the sentence with the one before or behind it: "HR Links", "HRLinks";
    "Service Desk", "servicedesk@example.org".
    """
    there, words = list_words(source), fold_words(said)
    places = [place for place, word in enumerate(words) if word == name]
    return any("".join(words[start : start + 2]) in there for place in places for start in (max(0, place - 1), place))


def _find_replaced_noun(said: str, source: str) -> str:
    """Return a noun of a German sentence that each of the source's nearest sentences has another noun for, if nearly
    all other words are the same in order.
    """
    if "de" not in (identify_listed_language(said), identify_listed_language(source)) or _is_english(source):
        return ""
    units = find_nearest_units(said, source)
    found = [_find_noun_for_another(said, unit, frozenset(map(_stem_german, fold_words(source)))) for unit in units]
    return found[0] if found and all(found) else ""


def _find_noun_for_another(said: str, unit: str, there: frozenset[str]) -> str:
    mine, theirs = ([found[0] for found in _WORD.finditer(text)] for text in (said, unit))
    folded, other_folded = ([word.casefold() for word in words] for words in (mine, theirs))
    blocks = SequenceMatcher(None, folded, other_folded, autojunk=False).get_matching_blocks()
    if sum(block.size for block in blocks) < max(_MIN_SAME, _MIN_SAME_SHARE * len(mine)):
        return ""
    for before, behind in pairwise([Match(0, 0, 0), *blocks]):
        here, other = before.a + before.size, before.b + before.size
        if here == 0 or (behind.a - here, behind.b - other) != (1, 1):  # any word has a capital at the beginning
            continue
        one, another = mine[here], theirs[other]
        if one[0].isupper() and another[0].isupper() and _stem_german(one) not in there and not _is_alike(one, another):
            return one.casefold()
    return ""


def _is_alike(one: str, other: str) -> bool:
    """Return whether two German nouns may mean the same: "Abteilung" and "Personalabteilung", "Prüfer", "Prüfung"."""
    short, long = sorted((one.casefold(), other.casefold()), key=len)
    return short in long or short[:_MIN_NAME_LETTERS] == long[:_MIN_NAME_LETTERS]


def _stem_german(word: str) -> str:
    return stem_word(word.casefold(), "de")


def has_other_name(text: str) -> bool:
    """Return whether a sentence has a name, beside its first word."""
    if identify_listed_language(text) == "de":
        return any(map(_is_listed, _FOREIGN_NAME.findall(text)))
    return re.search(r"(?<=[\w,] )[A-Z]\w+", text) is not None


def _find_names(said: str, source: str) -> tuple[list[re.Match[str]], frozenset[int]]:
    """Return the names of a sentence, by the rules of its language, and the places of those that a word beside them
    shows to be names; none if the source is in another language.
    """
    language = _choose_language(said, source)
    marked = list(find_marked_names(said, language)) if language else []
    named = _find_unmarked(said, language) if language else []
    by_place = {match.start(): match for match in (*named, *marked)}
    return [by_place[place] for place in sorted(by_place)], frozenset(match.start() for match in marked)


def _choose_language(said: str, source: str) -> str:
    """Return the language by whose rules names are found; empty if the sentence and its source differ in it."""
    own, language = identify_listed_language(said), identify_listed_language(source)
    # A fragment has too few words to show its language, and its passage has the same.
    named = [match for match in _NAME.finditer(said) if not _CALENDAR.fullmatch(match[0])]
    decisive = said if len(said.split()) >= _MIN_WORDS + len(named) else source
    if own == ENGLISH and _is_english(decisive):
        return ENGLISH
    return "" if language == ENGLISH or own not in (language, ENGLISH) else language


def _find_unmarked(said: str, language: str) -> list[re.Match[str]]:
    if language == ENGLISH:
        named = [match for match in _NAME.finditer(said) if not _CALENDAR.fullmatch(match[0])]
        # In a title any word has a capital.
        in_title = 2 * len(named) >= len(said.split())
        return [match for match in named if not (in_title and is_ordinary_word(match[0].casefold()))]
    named = list(_FOREIGN_NAME.finditer(said))
    if language == "de":
        return [match for match in named if _is_listed(match[0])]
    named = [match for match in named if match.start() > 0 and match[0].casefold() not in load_offices(language)]
    return [] if 2 * len(named) >= len(said.split()) else named


def _is_listed(word: str) -> bool:
    return not _load_german_names().isdisjoint((word, word.removesuffix("s")))


@cache
def _load_german_names() -> frozenset[str]:
    """Load the names that are no German words."""
    text = resources.files("argot.languages").joinpath("de_names.txt").read_text(encoding="utf-8")
    return frozenset(text.split())


def _group_runs(named: list[re.Match[str]]) -> list[list[re.Match[str]]]:
    # "Maria Lindqvist" is one name, of which the source may give a part.
    runs: list[list[re.Match[str]]] = []
    for name in named:
        begins = bool(runs) and runs[-1][-1].start() == 0 and is_ordinary_word(runs[-1][-1][0].casefold())
        if runs and runs[-1][-1].end() + 1 == name.start() and not begins:
            runs[-1].append(name)
        else:
            runs.append([name])
    return runs


def _may_begin(names: list[str], known: list[str], said: str) -> bool:
    """Return whether the first word, which is English, may be capitalised only because it begins the sentence: the verb
    of "Rinse your eye", the noun of "Refilling takes 2 days".
    """
    if len(names) == 1 and (_VERB_FIRST.match(said) or names[0].endswith("ing")):
        return True
    first = is_common_word if len(names) == 1 else is_ordinary_word
    return first(names[0]) and set(names[1:]) <= set(known)


def _is_same_name(one: str, other: str) -> bool:
    """Return whether one is the other or its adjective: Europe and European, Sweden and Swedish."""
    least = max(_MIN_NAME_LETTERS, len(one) - _MAX_ENDING_LETTERS, len(other) - _MAX_ENDING_LETTERS)
    return one[:least] == other[:least] and min(len(one), len(other)) >= least


@lru_cache(maxsize=2_000)
def _list_names(source: str) -> frozenset[str]:
    return frozenset(name.casefold() for name in re.findall(r"\b[A-Z][a-zà-ÿ]{3,}", source))


@lru_cache(maxsize=2_000)
def _list_abbreviations(source: str) -> frozenset[str]:
    return frozenset(word.replace(".", "").casefold() for word in re.findall(r"\b(?:[A-Z]\.?){2,}", source))


def _has_another_name_beside(name: str, names: list[str], source: str) -> bool:
    """Return whether the source gives the name with a different first name or surname."""
    found = re.findall(rf"\b([A-Z][a-z]+) (?i:{name})\b|\b(?i:{name}) ([A-Z][a-z]+)\b", source)
    return any((before or after).casefold() not in names for before, after in found)


@lru_cache(maxsize=2_000)
def _is_english(text: str) -> bool:
    """Return whether most words in lower case are English: in German a capital does not mark a name."""
    small = re.findall(r"\b[a-zà-ÿ]+\b", text) or re.findall(r"\b[A-Za-zÀ-ÿ][a-zà-ÿ]+\b", text.casefold())
    return 2 * sum(map(is_common_word, small)) >= len(small) > 0


@lru_cache(maxsize=2_000)
def list_words(source: str) -> frozenset[str]:
    """Return all words and stems of the source."""
    spoken = fold_words(source)
    return frozenset(spoken) | {stem(word) for word in spoken} | find_identifiers(source)
