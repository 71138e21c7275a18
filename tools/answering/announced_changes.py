"""Changes of a rule that another document announces: "Owners may no longer weld" in a memo, where the policy still has
"Owners may weld with a permit".

A memo or minutes rarely repeat the rule that they change. Their sentence is compared with the old rule, not with the
question: it has words of a change, and shares the rarer words of the rule, with the heading and paragraph around it.
The document must be known to be newer, name the section of the old one ("handbook 3.3"), or be called a memo or the
like. Not the rule of a sibling, such as that for another country.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from argot.languages.detection import identify_listed_language
from argot.languages.language_data import read_language_file
from argot.languages.quoted_words import announces_change, has_old_and_new, is_announcement
from argot.tools.answering.quoting import (
    Unit,
    find_header,
    find_heads,
    find_needed,
    find_ordering_units,
    may_answer,
    read_units,
)
from argot.tools.answering.succession import find_document_date, is_preferred
from argot.tools.text.document_subject import PassageInDocument, strip_revision
from argot.tools.text.quantities import find_quantities
from argot.tools.text.rarity import compute_floored_idf
from argot.tools.text.words import NUMBER_WORDS, content_stems
from argot.types import Document

MIN_SHARE = 0.2
"""The least share of the old rule's words, by rarity, that a change has, itself or in the text around it."""
MIN_SURE_SHARE = 0.35
"""The same for a sentence without words of change, in a document that replaces the section of the old rule, and in a
memo if the old rule has no date.
"""
MIN_CERTAIN_SHARE = 0.4
"""The share from which the old rule is not quoted any more."""
MIN_SHARED = 2  # words, of the sentence itself without a quantity of the rule's kind
_AROUND_CREDIT = 0.5  # weight of a word that only the heading or paragraph around has
_SECTION = re.compile(r"^\W*(\d{1,3}(?:\.\d{1,3})*)\b")
_KINDS = ("clause", "section", "article", "paragraph", "chapter", "rule")
"""Parts of a rulebook; "step 3" and "item 3" are of any list."""
_NUMBER = r"\d{1,3}(?:\.\d{1,3})*(?![\w.]*\d)"


@dataclass(frozen=True, slots=True)
class AnnouncedChange:
    """A sentence or item that changes a rule.

    Attributes:
        held: its passage and document.
        numbers: of its unit in the passage, and of those that it needs to make sense.
        is_certain: whether it changes the very rule, so that the rule itself is no answer any more.
    """

    held: PassageInDocument
    numbers: tuple[int, ...]
    is_certain: bool


@dataclass(frozen=True, slots=True)
class _Rule:
    """The old rule: its stems and those of its heading, the sections that it is in, its document's title and the units
    of its quantities.
    """

    stems: frozenset[str]
    heading: frozenset[str]
    sections: frozenset[str]
    title: frozenset[str]
    measures: frozenset[str]
    language: str


@dataclass(frozen=True, slots=True)
class _Statement:
    """The units of a passage that may be a change. `around`: the stems of heading and paragraph."""

    unit: Unit
    stems: frozenset[str]
    around: frozenset[str]
    announces: bool


def find_announced_change(
    unit: Unit, held: PassageInDocument, others: Sequence[PassageInDocument]
) -> AnnouncedChange | None:
    """Return the sentence of another document that changes the rule in this unit; None if there is none.

    Args:
        held: the passage that the unit is in, and its document.
        others: passages that may tell of the change.
    """
    rule = _read_rule(unit, held)
    # Many passages are of few documents.
    documents = {one.id: one for _, one in others if one.id != held[1].id}
    older = {id_ for id_, one in documents.items() if is_preferred(held[1], one)}
    preferred = {id_ for id_, one in documents.items() if is_preferred(one, held[1])}
    newer = [one for one in others if one[1].id in documents and one[1].id not in older]
    named = {one[1].id: sections for one in newer if (sections := _find_named_sections(one, rule)) is not None}
    rarity = _measure_rarity([held, *newer], rule.language)
    best: tuple[float, AnnouncedChange] | None = None
    for other in newer:
        sections = named.get(other[1].id)
        is_known_newer = sections is not None or other[1].id in preferred
        if not (is_known_newer or _tells_of_undated(other[1], held[1])) or _is_sibling(other[1], held[1]):
            continue
        is_replaced = _is_within_any(rule.sections, sections or frozenset())
        for one in _list_statements(other, rule):
            share = _measure_share(one, rule, rarity)
            tells = one.announces or (is_replaced and len(one.stems & rule.stems) >= MIN_SHARED)
            least = MIN_SHARE if one.announces and is_known_newer else MIN_SURE_SHARE
            # The new "10 nights" replaces the old "7 nights", and no other sentence of the paragraph does.
            is_alike = bool(rule.measures & _list_measures(one.unit))
            is_about = is_alike or len(one.stems & (rule.stems | rule.heading)) >= MIN_SHARED
            if not tells or share < least or not is_about:
                continue
            if best is None or share + is_alike > best[0]:
                numbers = tuple(find_needed(one.unit, read_units(other[0].with_columns)))
                best = share + is_alike, AnnouncedChange(other, numbers, is_alike or share >= MIN_CERTAIN_SHARE)
    return best[1] if best else None


def _tells_of_undated(one: Document, other: Document) -> bool:
    """Return whether a document is called a memo or the like, and the other has no date and is none."""
    mine, theirs = (is_announcement(f"{document.title} {document.name}") for document in (one, other))
    return mine and not theirs and not find_document_date(other)


def _is_sibling(one: Document, other: Document) -> bool:
    """Return whether one word distinguishes two titles, such as "Canada tech stipend" and "US tech stipend"."""
    mine, theirs = ({*strip_revision(document.title).split()} for document in (one, other))
    differ = len(mine - theirs) == len(theirs - mine) == 1
    return differ and bool(mine & theirs) and not is_announcement(one.title)


def _read_rule(unit: Unit, held: PassageInDocument) -> _Rule:
    passage, document = held
    language = identify_listed_language(passage.with_columns)
    title = _list_stems(f"{document.title} {document.name}", language)
    heading = _list_stems(" ".join(passage.heading_path[-1:]), language)
    stems = _list_stems(unit.plain, language)
    numbered = (_SECTION.match(text) for text in (*passage.heading_path, unit.plain))
    return _Rule(
        stems,
        heading - stems - title,
        frozenset(found[1] for found in numbered if found),
        title,
        _list_measures(unit),
        language,
    )


def _list_statements(other: PassageInDocument, rule: _Rule) -> Iterator[_Statement]:
    """Yield the sentences and items of a passage, without those that are only about other sections."""
    text = other[0].with_columns
    language = identify_listed_language(text)
    for one in _read_passage(text, other[0].heading_path[-1:], rule.language):
        sections = _list_sections(one.unit.plain, rule, language)
        if not sections or _is_within_any(rule.sections, sections):
            yield one


def _list_measures(unit: Unit) -> frozenset[str]:
    """Return the units of a text's quantities. Dates are not among them: a change of any rule has one."""
    return frozenset(measure for _, measure in find_quantities(unit.plain) if measure and measure != "date")


def _measure_share(one: _Statement, rule: _Rule, rarity: Mapping[str, float]) -> float:
    """Return the share of the rule's words that a unit has; 0 if they are too few."""
    mine, wanted = one.stems, rule.stems | rule.heading
    shared, beside = mine & wanted, (one.around - mine) & wanted
    if not shared or len(shared | beside) < MIN_SHARED:
        return 0.0
    total = _weigh(rule.stems, rarity) + _AROUND_CREDIT * _weigh(rule.heading, rarity)
    return (_weigh(shared, rarity) + _AROUND_CREDIT * _weigh(beside, rarity)) / (total or 1.0)


def _weigh(stems: frozenset[str], rarity: Mapping[str, float]) -> float:
    return sum(rarity.get(stem, 0.0) for stem in stems)


def _measure_rarity(held: Sequence[PassageInDocument], language: str) -> dict[str, float]:
    counts: Counter[str] = Counter()
    total = 0
    for passage, _ in held:
        for stems in _list_unit_stems(passage.with_columns, language):
            total += 1
            counts.update(stems)
    return {stem: compute_floored_idf(count, total) + 0.1 for stem, count in counts.items()}


@lru_cache(maxsize=2_000)
def _list_unit_stems(text: str, language: str) -> tuple[frozenset[str], ...]:
    return tuple(_list_stems(unit.plain, language) for unit in read_units(text))


@lru_cache(maxsize=2_000)
def _read_passage(text: str, heading: tuple[str, ...], language: str) -> tuple[_Statement, ...]:
    units, silent, stems = read_units(text), find_ordering_units(text), _list_unit_stems(text, language)
    above = _list_stems(" ".join(heading), language)
    own_language = identify_listed_language(text)
    return tuple(
        _Statement(
            unit,
            stems[unit.number],
            above.union(*(stems[number] for number in (*find_heads(unit, units), *_find_paragraph(unit, units)))),
            _tells_of_change(unit, units, own_language),
        )
        for unit in units
        if unit.kind in ("prose", "item", "row") and unit.number not in silent and may_answer(unit, units)
    )


def _tells_of_change(unit: Unit, units: Sequence[Unit], language: str) -> bool:
    if unit.kind != "row":
        return announces_change(unit.plain, language)
    header = find_header(unit, units)
    return header is not None and has_old_and_new(header.text, language)


def _find_paragraph(unit: Unit, units: Sequence[Unit]) -> Iterator[int]:
    """Yield the numbers of the sentences of a unit's paragraph, with itself."""
    if unit.kind != "prose":
        return
    first = last = unit.number
    while first > 0 and not units[first].apart and units[first - 1].kind == "prose":
        first -= 1
    while last + 1 < len(units) and not units[last + 1].apart and units[last + 1].kind == "prose":
        last += 1
    yield from range(first, last + 1)


def _find_named_sections(other: PassageInDocument, rule: _Rule) -> frozenset[str] | None:
    """Return the sections of the old rule's document that a passage says are changed; None if it says so of none."""
    text = other[0].with_columns
    stems = _list_unit_stems(text, rule.language)
    about = [unit for unit, own in zip(read_units(text), stems, strict=True) if own & rule.title]
    if not about:
        return None
    language = identify_listed_language(text)
    named = [
        sections
        for unit in about
        if (sections := _list_sections(unit.plain, rule, language)) and announces_change(unit.plain, language)
    ]
    return frozenset().union(*named) if named else None


def _list_sections(sentence: str, rule: _Rule, language: str) -> frozenset[str]:
    """Return the sections that a sentence names, which is about the old rule's document."""
    return frozenset(
        number
        for one in _compile_references(language).finditer(sentence)
        if one["kind"] or _list_stems(one["word"], rule.language) & rule.title
        for number in re.findall(_NUMBER, one["numbers"])
    )


def _is_within_any(mine: frozenset[str], sections: frozenset[str]) -> bool:
    return any(_is_within(one, section) for one in mine for section in sections)


def _is_within(section: str, other: str) -> bool:
    return section == other or section.startswith(f"{other}.")


@cache
def _compile_references(language: str) -> re.Pattern[str]:
    words = read_language_file(language)["numbered"]["kinds"]
    kinds = {word for kind in _KINDS for word in words[kind].split()}
    joined = "|".join(sorted(map(re.escape, kinds), key=len, reverse=True))
    several = rf"{_NUMBER}(?:\s*(?:,|&|[^\W\d]{{1,3}})\s*{_NUMBER})*"
    return re.compile(
        rf"(?<!\w)(?:(?P<kind>{joined})\s+|(?P<word>[^\W\d_][\w-]+)\s+(?=\d+\.\d))(?P<numbers>{several})", re.IGNORECASE
    )


def _list_stems(text: str, language: str) -> frozenset[str]:
    return frozenset(
        stem
        for stem in content_stems(text, language)
        if not stem.replace(".", "").isdigit() and stem not in NUMBER_WORDS
    )
