"""Finds reasons why a passage cannot support a sentence, however similar they are.

Similarity measures overlook such differences: "5 ns" is very similar to "50 ns", "is allowed" to "is not allowed", and
"only managers get it" to "managers get it". Numbers with their units, currencies and rates, dates, names, words of
scope and direction and negation therefore have to agree, and every clause needs support. The rules read English; in
other languages only numbers, units, identifiers and clauses are compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from argot.corpus.keyword.stop_words import STOP_WORDS
from argot.jargon_db.lookup.ordinary_words import is_common_word, is_ordinary_word
from argot.tools.answering.bounds import find_bound_objection
from argot.tools.answering.denial import CLAUSE, has_denied_clause, strip_idle_negations
from argot.tools.answering.scope import find_opposed_clause, find_scope_objection
from argot.tools.answering.support import find_nearest_unit, is_quoted, read_visible
from argot.tools.text.quantities import CURRENCY_CODES, find_missing_quantity, find_other_noun, find_other_rate, is_rate
from argot.tools.text.totals import strip_totals
from argot.tools.text.words import find_identifiers, fold_words, stem

_PARTS = re.compile(r";\s+")
"""One sentence may combine several of the passage; each part is compared with its own source."""
_VERDICT = re.compile(r"^(?:yes|no)\b[,.:;]\s+", re.IGNORECASE)
"""The answer to the question, not a negation of the following text: "No, scaffolding of less than 90 days is
exempt"."""
_AUXILIARY = re.compile(r"\b(?:is|are|was|were|be|been|has|have|had|will|can|must|may|should|do|does|did)\b")
_MIN_CLAUSE_WORDS = 3  # words with a meaning; a shorter clause is an aside ("as usual")
_MANY_CLAUSE_WORDS = 4
_MAX_CHANCE_SHARE = 0.25  # a passage with this many words may contain one or the other by chance
_ABOUT_ITSELF = """according accordance passage document guide handbook manual page section source text policy note
example general generally summary short case rule fact word answer question mentioned stated described following
provided information context addition particular important overall result therefore however furthermore moreover
additionally also finally usually typically"""
_EXCEPTION = re.compile(r"\b(?:unless|except|excepting|apart from|excluding) ([^,;:.()]+)", re.IGNORECASE)
_FRAMING = frozenset(map(stem, _ABOUT_ITSELF.split()))
"""Stems of an answer's remarks about itself, which no passage has to support."""
# Not after a full stop or colon, where any word has a capital; `_may_begin` handles the first word. A possessive is a
# name ("Vienna's"), a contraction is none ("Don't").
_NAME = re.compile(r"(?:^|(?<=[\w,;(\"“‘'] ))(?<![.!?:] )[A-Z][a-zà-ÿ]{2,}(?![\w-]|['’][a-rt-z])")
_PUT_OTHERWISE = frozenset(f"'{name}'" for name in ("at least", "at most", "always", "all", "must", "optional"))
_CALENDAR = re.compile(
    r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|January|February|March|April|May|June|July|August|September"
    r"|October|November|December"
)
_MIN_NAME_LETTERS = 4  # letters that a name and its adjective share at least
_MAX_ENDING_LETTERS = 3
"""Letters in which a name and its adjective may differ: Sweden, Swedish."""


def find_objection(sentence: str, passage: str) -> str:
    """Return why the passage cannot support the sentence; empty if nothing contradicts it, as for any quotation.

    Both are Markdown. Numbers, units, names and clauses may occur anywhere in the passage; a bound must occur with its
    number; rates, scope, direction and negation are compared with the passage's sentence most similar to the sentence,
    or to each part between semicolons, and with its clauses about the same. A name also counts as present if it is
    abbreviated.
    """
    if is_quoted(sentence, passage):
        return ""
    said, source = read_visible(sentence), read_visible(passage)
    soft = ""
    for reason in _list_reasons(said, passage, source):
        if not is_soft(reason):
            return reason
        soft = soft or reason
    return soft


def is_soft(reason: str) -> bool:
    """Return whether a reason is empty, or only a word of scope that a passage may express otherwise ("up to", "all").

    "Only", "except" and "unless" are not among these: added to a true sentence they make it false.
    """
    return not reason or reason.removeprefix("scope ") in _PUT_OTHERWISE


def _list_reasons(said: str, passage: str, source: str) -> Iterator[str]:
    """Yield all reasons, including empty ones; the quickest checks come first."""
    yield _find_missing(said, source)
    statement = _VERDICT.sub("", said)
    yield _find_opposed(statement, passage, source)
    yield "negation" if has_denied_clause(statement, passage) else ""
    word = find_opposed_clause(statement, passage)
    yield f"'{word}' against its opposite" if word else ""
    yield _find_unsupported_clause(said, source)


def _find_opposed(statement: str, passage: str, source: str) -> str:
    """Return a rate, scope, direction or negation that differs from that of the most similar sentence."""
    opposed = _find_opposed_part(statement, passage, source)
    parts = _PARTS.split(statement)
    # "Bake for 24 hours; at most twice": the passage may have two sentences, each similar to one part only
    if opposed and len(parts) > 1:
        opposed = next(filter(None, (_find_opposed_part(part, passage, source) for part in parts)), "")
    return opposed


def _find_opposed_part(said: str, passage: str, source: str) -> str:
    nearest = find_nearest_unit(said, passage)
    if not nearest or is_quoted(said, passage):
        return ""
    if rate := find_other_rate(said, nearest, source):
        return f"rate {rate}"
    found = find_scope_objection(said, nearest)
    bound = (
        find_bound_objection(strip_idle_negations(said), strip_idle_negations(nearest), strip_idle_negations(source))
        if is_soft(found)
        else ""
    )
    return found if is_soft(bound) and found else bound


def _find_missing(said: str, source: str) -> str:
    """Return a number or name that the source does not contain."""
    if number := find_missing_quantity(strip_totals(said), source):
        return f"number {number}"
    if counted := find_other_noun(said, source):
        return f"number {counted}"
    if identifier := _find_missing_identifier(said, source):
        return f"identifier {identifier}"
    name = _find_missing_name(said, source)
    return f"name {name}" if name else ""


# -- identifiers and names --------------------------------------------------------------------------------------------


def _find_missing_identifier(said: str, source: str) -> str:
    there = find_identifiers(source)
    for name in sorted(find_identifiers(said) - there):
        # "ODTs" for "ODT", and the other way round.
        bare = name.removesuffix("s")
        if bare in there or f"{name}s" in there:
            continue
        if _has_name(bare, source) or _is_spelt_out(bare, source):
            continue
        if re.fullmatch(r"\d+[a-z%µ]{1,3}", name) or name in CURRENCY_CODES or is_rate(name):
            continue  # a quantity, compared as one
        return name
    return ""


def _has_name(name: str, source: str) -> bool:
    # Search the folded text first: usually the name is absent, and a pattern costs more.
    if name not in _fold_source(source):
        return False
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", source, re.IGNORECASE) is not None


@lru_cache(maxsize=2_000)
def _fold_source(source: str) -> str:
    return source.casefold()


def _is_spelt_out(abbreviation: str, source: str) -> bool:
    """Return whether consecutive words of the source begin with the abbreviation's letters ("ODT": on-die
    termination).
    """
    if not abbreviation.isalpha() or len(abbreviation) < 2:
        return False
    return any(abbreviation in initials for initials in _list_initials(source))


@lru_cache(maxsize=2_000)
def _list_initials(source: str) -> tuple[str, str]:
    """Return the first letters of all words, and of those that are no stop words."""
    every = fold_words(source)
    return "".join(word[0] for word in every), "".join(word[0] for word in every if word not in STOP_WORDS)


def _find_missing_name(said: str, source: str) -> str:
    """Return a capitalised word that the source lacks. Titles and languages that capitalise nouns have none."""
    named = [match for match in _NAME.finditer(said) if not _CALENDAR.fullmatch(match[0])]
    if not named or not _is_english(said, len(named)):
        return ""
    there = _list_words(source)
    for run in _group_runs(named):
        names = [name[0].casefold() for name in run]
        known = [name for name in names if name in there or stem(name) in there]
        if len(known) == len(names) or (run[0].start() == 0 and _may_begin(names, known)):
            continue
        if known and not any(_has_another_name_beside(name, names, source) for name in known):
            continue  # the source gives only a part of the name
        # "United States" where the source writes "US".
        if len(names) > 1 and "".join(name[0] for name in names) in _list_abbreviations(source):
            continue
        for name in names:
            if name not in known and not any(_is_same_name(name, other) for other in _list_names(source)):
                return name
    return ""


def _group_runs(named: list[re.Match[str]]) -> list[list[re.Match[str]]]:
    # "Maria Lindqvist" is one name, of which the source may give a part.
    runs: list[list[re.Match[str]]] = []
    for name in named:
        if runs and runs[-1][-1].end() + 1 == name.start():
            runs[-1].append(name)
        else:
            runs.append([name])
    return runs


def _may_begin(names: list[str], known: list[str]) -> bool:
    """Return whether the first word, which is English, may be capitalised only because it begins the sentence."""
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


def _is_english(text: str, capitalised: int) -> bool:
    """Return whether most words are English and most are lower case: in German, and in titles, a capital does not mark
    a name.
    """
    small = re.findall(r"\b[a-zà-ÿ]+\b", text)
    return capitalised <= len(small) and 2 * sum(map(is_common_word, small)) >= len(small)


@lru_cache(maxsize=2_000)
def _list_words(source: str) -> frozenset[str]:
    """Return all words and stems of the source."""
    spoken = fold_words(source)
    return frozenset(spoken) | {stem(word) for word in spoken} | find_identifiers(source)


# -- clauses ----------------------------------------------------------------------------------------------------------


def _find_unsupported_clause(said: str, source: str) -> str:
    """Return a clause of three content words, or of two and an auxiliary, none of which the source has; or an exception
    of which the source lacks a half.
    """
    there = _list_words(source)
    for exception in _EXCEPTION.findall(said):
        stems = _list_content(exception)
        if 2 * len(stems & there) <= len(stems) and not _is_abbreviated(exception, there):
            return f"clause '{exception.strip()}'"
    for place, clause in enumerate(CLAUSE.split(said)):
        stems = _list_content(clause)
        least = _MIN_CLAUSE_WORDS - bool(_AUXILIARY.search(clause))
        known = len(stems & there)
        added = place > 0 and len(stems) >= _MANY_CLAUSE_WORDS
        is_foreign = known <= _MAX_CHANCE_SHARE * len(stems) if added else not known
        if len(stems) >= least and is_foreign and not _is_abbreviated(clause, there):
            return f"clause '{clause.strip()}'"
    return ""


def _list_content(clause: str) -> set[str]:
    """Return the stems of a clause's statement about its subject."""
    return {stem(word) for word in fold_words(clause) if word not in STOP_WORDS} - _FRAMING


def _is_abbreviated(clause: str, there: frozenset[str]) -> bool:
    """Return whether the source has the clause's initials ("the on-die termination": ODT)."""
    return any(len(initials) > 1 and initials in there for initials in _list_initials(clause))
