"""Terms that one text spells in several ways: "write-back cache" and "write back cache", "Wi-Fi" and "WiFi"."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from argot.jargon_db.lookup.normalise import fold_characters, guess_singulars
from argot.jargon_db.lookup.ordinary_words import is_common_word, is_function_word
from argot.jargon_db.lookup.spelling import is_coded
from argot.languages.catalogues import format_local_number, translate
from argot.tools.checking.checked_blocks import CheckedText
from argot.tools.checking.findings import Finding
from argot.tools.checking.used_terms import TermUse
from argot.tools.checking.wrong_names import list_labels
from argot.types import Sense

_WORD = re.compile(r"[^\W_]+(?:[-‐‑][^\W_]+){0,4}")
_SEPARATORS = re.compile(r"[\s/_‐‑–-]+")
_FOLLOWED = re.compile(r"[ \n]([^\W\d_]+)")
_RANKS = {"preferred": 0, "admitted": 1}
MIN_LETTERS = 3
"""Letters from which a spelling is compared: shorter ones agree by chance."""


@dataclass(frozen=True, slots=True)
class _Spelling:
    """A way to write a term, without its plural ending, at one place."""

    shape: str
    start: int
    end: int


def find_second_spellings(text: CheckedText, uses: Iterable[TermUse], short_forms: Iterable[str]) -> Iterator[Finding]:
    """Yield the rarer spellings of each term that the text spells in more than one way; the glossary's spelling, if the
    text has it, is the one to use.

    Args:
        short_forms: abbreviations of the text, whether or not the glossary knows them.
    """
    names = _collect_names(uses, short_forms)
    found: dict[str, list[_Spelling]] = {}
    for key, spelling in _find_spellings(text, names):
        found.setdefault(key, []).append(spelling)
    for key, spellings in found.items():
        counts = Counter(one.shape for one in spellings)
        if len(counts) > 1:
            yield from _report(text, names[key], spellings, counts)


@dataclass(frozen=True, slots=True)
class _Name:
    """A name whose spellings are compared: how glossary or text spell it, and whether its case belongs to it."""

    spelling: str
    in_glossary: bool
    has_case: bool
    parts: int


def _collect_names(uses: Iterable[TermUse], short_forms: Iterable[str]) -> dict[str, _Name]:
    names: dict[str, _Name] = {}
    senses: Mapping[int, Sense] = {sense.id: sense for use in uses for sense in use.senses}
    labels = [label for sense in senses.values() for label in list_labels(sense)]
    # The preferred name first, where two names of the glossary are the same apart from their spelling.
    for label in sorted(labels, key=lambda one: _RANKS.get(one.status, 2)):
        _add_name(names, label.text, in_glossary=True)
    for short in short_forms:
        _add_name(names, short, in_glossary=False)
    return names


def _add_name(names: dict[str, _Name], spelling: str, *, in_glossary: bool) -> None:
    key = compact(spelling)
    if len(key) >= MIN_LETTERS and not key.isdigit():
        letters = "".join(filter(str.isalpha, spelling))
        parts = len(_split_spelling(spelling))
        names.setdefault(key, _Name(spelling, in_glossary, is_coded(spelling) or letters.isupper(), parts))


def compact(spelling: str) -> str:
    """Return the letters and digits of a spelling, folded: "Wi-Fi" and "wifi" share one key."""
    return "".join(char for char in fold_characters(spelling) if char.isalnum())


def _split_spelling(spelling: str) -> list[str]:
    return [part for part in _SEPARATORS.split(spelling.strip()) if part]


def _find_spellings(text: CheckedText, names: Mapping[str, _Name]) -> Iterator[tuple[str, _Spelling]]:
    """Yield each place that spells one of the names, as one word, with hyphens, or as several words."""
    longest = max((name.parts for name in names.values()), default=0)
    for block in text.blocks:
        words = list(_WORD.finditer(block.text))
        place = 0
        while place < len(words):
            for last in range(min(place + longest, len(words)) - 1, place - 1, -1):
                start, end = words[place].start(), words[last].end()
                if (found := _match(names, block.text, start, end)) is not None:
                    key, shape = found
                    if text.is_checked(block.start + start, block.start + end):
                        yield key, _Spelling(shape, block.start + start, block.start + end)
                    place = last
                    break
            place += 1


def _match(names: Mapping[str, _Name], block: str, start: int, end: int) -> tuple[str, str] | None:
    """Return the key of the name that block[start:end] spells, and the shape of the spelling."""
    surface = block[start:end]
    # Words of one name are apart by one blank or line end.
    gaps = re.findall(r"[^\w‐‑-]+", surface)
    if any(gap not in (" ", "\n", "/") for gap in gaps):
        return None
    key = compact(surface)
    for form in (key, *guess_singulars(key)):
        name = names.get(form)
        if name is None:
            continue
        # "log in" is no spelling of "login".
        if gaps and name.parts == 1:
            continue
        if "-" in surface and _is_attributive(block, end) and name.parts > 1:
            return None
        if not name.has_case:
            return form, _make_shape(surface)
        # "Note" is no other spelling of NOTE.
        if not surface.isupper() and is_common_word(surface.lower()):
            return None
        return form, _fold_gaps(surface[: len(surface) - (len(key) - len(form))])
    return None


def _fold_gaps(surface: str) -> str:
    return re.sub(r"\s+", " ", re.sub("[‐‑]", "-", surface))


def _make_shape(surface: str) -> str:
    """Return where a spelling has gaps, and which. Capitals may begin a sentence, and the end may be a plural."""
    return re.sub(r"[^\W_]", "x", _fold_gaps(surface)).rstrip("x")


def _is_attributive(block: str, end: int) -> bool:
    """Return whether a noun may follow, before which a hyphen is usual: "a write-back cache"."""
    following = _FOLLOWED.match(block, end)
    return following is not None and not is_function_word(following[1].lower())


def _report(text: CheckedText, name: _Name, spellings: Sequence[_Spelling], counts: Counter[str]) -> Iterator[Finding]:
    own = _fold_gaps(name.spelling) if name.has_case else _make_shape(name.spelling)
    first = {one.shape: one for one in reversed(spellings)}
    best = own if name.in_glossary and own in counts else counts.most_common(1)[0][0]
    to_use = name.spelling if best == own else _fold_gaps(text.markdown[first[best].start : first[best].end])
    remedy = (
        translate("Write “%(name)s”: the glossary spells it so.", name=to_use)
        if name.in_glossary and best == own
        else translate(
            "Write “%(name)s”: the text has it %(number)s times.",
            name=to_use,
            number=format_local_number(counts[best]),
        )
    )
    for shape, one in first.items():
        if shape == best:
            continue
        surface = text.markdown[one.start : one.end]
        yield Finding(
            "second-spelling",
            name.spelling,
            one.start,
            one.end,
            translate(
                "“%(one)s” and “%(other)s” are one term in two spellings.", one=_fold_gaps(surface), other=to_use
            ),
            remedy,
            counts[shape],
        )
