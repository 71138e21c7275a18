"""Parts of documents that a question names by their printed numbers: "clause 2.2", "step three of the start-up", "§ 5".

The number of a version, a table, a figure or an amount names no such part: only a word for a part before it,
or brackets around a letter, make it a reference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from argot.languages.detection import identify_listed_language, list_possible_languages
from argot.languages.language_data import ENGLISH, load_language
from argot.languages.numbering_words import NumberingWords, load_counts, load_numbering_words
from argot.tools.text.numbered_parts import NumberedPart
from argot.tools.text.part_labels import PartLabel, build_kind_pattern, parse_label
from argot.tools.text.words import fold_words

MAX_REFERENCES = 5
_MAX_RANGE_PARTS = 5
_MAX_NOUN_WORDS = 4
_MAX_COUNT_DIGITS = 3  # digits

_DEEPER = r"(?:\s?\((?:[a-z]|[ivx]{1,5}|\d{1,2})\))"
_SIGNS = r"[%°€$£]|(?-i:[kMGmµn]?(?:V|A|W|Hz|Pa|s|m|g)|bar|kg|mm|cm|km|min)(?!\w)"
_BARE = re.compile(r"(?<=\s)\((?:[a-z]|[ivx]{1,5})\)(?=[\s?.,]|$)")
_MIN_SHARED_LETTERS = 3
_ELISION = re.compile(r"(?<=\w)['’](?=\w|$)")
_BEFORE = re.compile(r"(?P<word>[\w'’-]+)\s+$")
_DIVISIONS = ("chapter", "section", "article")
_LIST_KINDS = ("step", "item", "point")
_RARELY_PARTS = frozenset(("item", "point", "rule"))
"""Kinds whose word also ends names of other things: "access point 3", "line item 4"."""


@dataclass(frozen=True, slots=True)
class _Patterns:
    """The patterns of one language."""

    language: str
    words: NumberingWords
    reference: re.Pattern[str]
    more: re.Pattern[str]
    relation: re.Pattern[str]
    amount: re.Pattern[str]
    container: re.Pattern[str]
    leads: re.Pattern[str]
    end: re.Pattern[str]

    def read_kind(self, word: str) -> str:
        return self.words.kinds[word.casefold().rstrip(".")]


@cache
def _load_patterns(language: str) -> _Patterns:
    words = load_numbering_words(language)
    kind, counted = build_kind_pattern(words.kinds), "|".join(load_counts(language))
    label = (
        rf"(?:\d{{1,4}}[a-z]?(?:\.(?:\d{{1,3}}[a-z]?|[a-z]))*(?!\w|-[a-z]){_DEEPER}*"
        rf"|{_DEEPER}+|(?-i:[IVX]{{2,5}}|[A-HVX])(?![\w’'-]){_DEEPER}*|(?:{counted})(?!\w))"
    )
    joined = rf"\s*(?P<join>{words.joins})\s*(?:(?:{words.lists})\s+)?(?:{kind}\s*)?"
    reference = (
        rf"(?P<kind>{kind})\s*(?:(?:{words.number})\s*|#\s*)?(?P<label>{label})"
        rf"(?P<more>(?:{joined.replace('?P<join>', '?:')}{label})*)"
    )
    return _Patterns(
        language,
        words,
        _compile(reference),
        _compile(rf"{joined}(?P<label>{label})"),
        _compile(words.relation),
        _compile(rf"\s*(?:{_SIGNS}|{words.amount})"),
        _compile(rf"\s*,?\s*{words.inside}(?P<words>[^?;,:]{{2,80}})"),
        _compile(words.leads),
        re.compile(words.end, re.IGNORECASE | re.DOTALL),
    )


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class NumberedReference:
    """A part that a question names. `kind`: as in `KIND_NAMES`; empty for a letter in brackets alone.

    `name`: the reference as the asker would write it, in `language`. `container`: the words for the part's location
    ("start" and "up" of "step 3 of the start-up"), without those that fit any document.
    """

    kind: str
    label: PartLabel
    name: str
    container: tuple[str, ...] = ()
    language: str = ENGLISH


def find_numbered_references(question: str) -> list[NumberedReference]:
    """Return the numbered parts that the question asks for, in its order; none if it asks for a neighbour of one."""
    found: list[NumberedReference] = []
    patterns = _choose_patterns(question)
    for match in patterns.reference.finditer(question):
        if _is_reference(match, question, patterns):
            found += _read_references(match, question, patterns)
    if not found and len(bare := _BARE.findall(question)) == 1:
        at = question.index(bare[0])
        container = _find_container(question, at, at + len(bare[0]), patterns)
        found = [NumberedReference("", parse_label(bare[0]), bare[0], container, patterns.language)]
    return list(dict.fromkeys(found))[:MAX_REFERENCES]


def _choose_patterns(question: str) -> _Patterns:
    """Return the patterns of the question's language, or of one that it may be in ("Was sagt Artikel 4?") if only this
    has a word for the part.
    """
    possible = dict.fromkeys((identify_listed_language(question), *list_possible_languages(question)))
    loaded = [_load_patterns(code) for code in possible]
    return next((one for one in loaded if one.reference.search(question)), loaded[0])


def _is_reference(match: re.Match[str], question: str, patterns: _Patterns) -> bool:
    before, kind = question[: match.start()], patterns.read_kind(match["kind"])
    # "What comes after step 3?" asks for another step.
    if patterns.relation.search(before) or patterns.amount.match(question, match.end()):
        return False
    word = _find_word_before(before)
    stop_words = load_language(patterns.language).stop_words
    if kind in _RARELY_PARTS and word and word not in stop_words | patterns.words.listed:
        return False
    # "Item 4711" is a thing with a number.
    if kind in _RARELY_PARTS and len(match["label"]) > _MAX_COUNT_DIGITS and match["label"].isdigit():
        return False
    # "I" and "A" in a sentence are usually words.
    return match["label"] not in ("A", "V", "X") or not re.match(r"\s+[a-z]", question[match.end() :])


def _read_references(match: re.Match[str], question: str, patterns: _Patterns) -> Iterator[NumberedReference]:
    kind = patterns.read_kind(match["kind"])
    container = _find_container(question, match.start(), match.end(), patterns)
    labels = [match["label"]]
    for more in patterns.more.finditer(match["more"]):
        is_range = re.fullmatch(rf",|&|{patterns.words.lists}", more["join"], re.IGNORECASE) is None
        labels += [*(_list_between(labels[-1], more["label"]) if is_range else ()), more["label"]]
    for label in labels:
        called = _find_singular(match["kind"], kind, patterns)
        name = f"{match['kind']}{label}" if match["kind"] == "§" else f"{called} {label.strip()}"
        yield NumberedReference(kind, parse_label(label, patterns.language), name, container, patterns.language)


def _find_singular(word: str, kind: str, patterns: _Patterns) -> str:
    """Return the asker's word for a part, not in the plural and not abbreviated."""
    names, begin = patterns.words.names[kind], word.casefold()[:_MIN_SHARED_LETTERS]
    alike = (name for name in names if name[:_MIN_SHARED_LETTERS] == begin)  # the singular comes first
    name = kind if patterns.language == ENGLISH else next(alike, names[0])
    return name.title() if patterns.language == "de" else name  # German nouns have a capital


def _list_between(first: str, last: str) -> list[str]:
    """Return the numbers that a range such as "steps 3 to 5" leaves out."""
    if not (first.isdigit() and last.isdigit()):
        return []
    inner = range(int(first) + 1, int(last))
    return [str(number) for number in inner] if len(inner) <= _MAX_RANGE_PARTS else []


def _find_word_before(text: str) -> str:
    found = _BEFORE.search(text)
    return found["word"].casefold() if found else ""


def _find_container(question: str, start: int, end: int, patterns: _Patterns) -> tuple[str, ...]:
    """Return the words for the part's location: after it, directly before it, or at the question's beginning."""
    words_found = []
    if found := patterns.container.match(question, end):
        words_found.append(patterns.end.sub("", found["words"]))
    if found := patterns.leads.match(question):
        words_found.append(found["words"] if found.end() <= start else "")
    words_found.append(_find_noun_before(question[:start], patterns))
    # French "l'annexe" is an article and a word.
    texts = (_ELISION.sub(" ", text) if patterns.language == "fr" else text for text in words_found)
    words = dict.fromkeys(word for text in texts for word in fold_words(text))
    # "§" is no word of a language.
    codes = (patterns.language, *list_possible_languages(question))
    general = frozenset[str]().union(*(load_numbering_words(code).general for code in codes))
    return tuple(word for word in words if word not in general and len(word) > 1)


def _find_noun_before(text: str, patterns: _Patterns) -> str:
    """Return "start-up" of "the start-up's step 3" and of "start-up step 3"."""
    run: list[str] = []
    stop_words = load_language(patterns.language).stop_words
    for word in reversed(text.split()):
        if word.casefold() in stop_words or word[-1] in ",;:.?!" or len(run) == _MAX_NOUN_WORDS:
            break
        run.insert(0, word)
    return re.sub(r"['’]s$", "", " ".join(run))


def measure_part_fit(reference: NumberedReference, part: NumberedPart) -> int:
    """Return how well the kind of a part fits the question's word for it; 0: not at all."""
    kind = reference.kind
    if part.kind:
        if part.kind == kind:
            return 3
        return int("step" not in (part.kind, kind) and "chapter" not in (part.kind, kind))
    is_division = part.line_kind == "heading" or part.is_title
    if kind in _DIVISIONS and not is_division and len(part.label) == 1:
        return 0
    if kind == "chapter" and part.line_kind != "heading":
        return 0
    return 1 if kind in _LIST_KINDS and is_division else 2
