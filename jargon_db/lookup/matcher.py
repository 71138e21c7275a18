"""Finds the glossary's terms in a text, without mistaking ordinary words for terms.

A dictionary over normalised tokens (a trie: every beginning of a term is a key too) makes the work depend on the length
of the text, not on the size of the glossary.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from argot.jargon_db.lookup.atoms import SEPARATORS, Atom, list_beginnings, split_atoms
from argot.jargon_db.lookup.normalise import APOSTROPHES, guess_plurals, guess_singulars, normalise
from argot.jargon_db.lookup.ordinary_words import is_function_word, is_ordinary_word
from argot.jargon_db.lookup.phrases import NearPhrases
from argot.jargon_db.lookup.span_mask import SpanMask
from argot.jargon_db.lookup.spelling import NearTerms, Spelling, find_misspelt_words, is_coded
from argot.types import Mention

Value = TypeVar("Value")

# C++, C#
_SIGNS_OF_NAMES = "+#"
_JOINT = "&"
_TITLES = frozenset(
    ["Dr", "Prof", "Mr", "Mrs", "Ms", "St", "Sr", "Rev", "Hon", "Capt", "Col", "Gen", "Lt", "Sgt", "Ing"]
)
_NUMBERED = frozenset(["No", "Nr", "Fig", "Figs", "Sec", "Vol", "Art", "Ch", "Eq", "Tab", "App", "Pt", "Col", "Ver"])
# "Dr. Keller", "Dr. J. Keller", "Dr van der Berg"
_NAME = re.compile(r"\.?\s+(?:(?:van|von|de[rn]?|d[aio]|l[ae]|el|al|bin|ten|zu)\s+){0,2}[A-Z](?:\.|['’]?\w*[a-z])")
# "Fig. 3", "No.7"
_NUMBER = re.compile(r"\.\s*\d")
_MARKS = {'"': '"', "'": "'", "`": "`", "*": "*", "“": "”", "‘": "’", "«": "»", "„": "“"}


@dataclass(frozen=True, slots=True)
class _Candidate:
    start: int
    end: int
    entries: Sequence[Spelling]
    inflected: bool
    split: bool


class TermMatcher:
    """Finds terms and their aliases in texts, for one set of readable senses. Immutable, so threads may share it.

    A term is recognised in these forms:
    - as spelt, except for one that equals a function word in lower case ("it", "to");
    - in other case when that cannot be an ordinary word: "puc" is PUC, but "it", "as", "act" are not IT, AS, ACT.
      A term or alias that is itself an ordinary word ("die", "Page") or of several words may be in any case;
    - where several terms differ only in case (mA, MA), each only as spelt;
    - in singular and plural, with hyphens, slashes and spaces exchanged, and after digits ("40MUBO") as spelt;
    - regardless of case if the text marks it by quotes, backticks or asterisks.
    """

    def __init__(
        self, spellings: Iterable[Spelling], expansions: Callable[[], Iterable[tuple[str, str]]] = tuple
    ) -> None:
        """
        Args:
            expansions: returns term and expansion of every sense; called when misspelt phrases or expansions are first
                searched.
        """
        self._expansions = expansions
        self._entries: dict[str, list[Spelling]] = {}
        self._beginnings: set[str] = set()
        self._terms: dict[str, int] = {}
        for spelling in spellings:
            self._add(spelling)
        self.near = NearTerms(self._entries, self._terms)
        self._kept: dict[Hashable, Any] = {}

    def patch(
        self,
        keys: Collection[str],
        spellings: Iterable[Spelling],
        expansions: Callable[[], Iterable[tuple[str, str]]],
    ) -> TermMatcher:
        """Return this matcher with other entries under these keys, at the cost of copying a few tables.

        Misspelt phrases and expansions are searched among the previous ones, if these were built.

        Args:
            spellings: everything that is now spelt with one of the keys.
        """
        # `cached_property` keeps its value in the instance, so that the copy has the previous phrases.
        made = copy(self)
        made._expansions = expansions
        made._kept = {}
        made._entries, made._terms = self._entries.copy(), self._terms.copy()
        for key in keys:
            for entry in made._entries.pop(key, ()):
                # A term is removed with its own spelling; a removed alias removes nothing else.
                if entry.key == normalise(entry.term):
                    made._terms.pop(entry.term, None)
        made._beginnings = self._beginnings.copy()
        for spelling in spellings:
            made._add(spelling)
        made.near = self.near.patch(made._entries, made._terms, keys)
        return made

    def keep(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return the value made under this key for these senses; it is freed with the matcher. Any thread may ask."""
        kept: Value | None = self._kept.get(key)
        if kept is None:
            kept = self._kept.setdefault(key, make())
        return kept

    def terms(self) -> Collection[str]:
        """The glossary's spelling of every term, without aliases."""
        return self._terms.keys()

    def find(self, text: str) -> list[Mention]:
        """Return the terms in the text, in order; of overlapping ones the longest, then the first."""
        atoms = split_atoms(text)
        shouted = _is_shouted(text)
        taken: list[Mention] = []
        mask = SpanMask(len(text))
        # The longest first: "write amplification factor" is not "write amplification" and a factor. Then those in their
        # own case: "IAAs" is the plural of IAA, and not a careless IaaS.
        candidates = sorted(
            self._find_candidates(atoms),
            key=lambda found: (found.start - found.end, found.start, not _list_fitting(text, found)),
        )
        for candidate in candidates:
            if not mask.are_free(candidate.start, candidate.end):
                continue
            mention = _choose_mention(text, candidate, shouted)
            if mention is not None:
                taken.append(mention)
                mask.take(mention.start, mention.end)
        return sorted(taken, key=lambda mention: mention.start)

    def find_expansions(self, text: str) -> list[Mention]:
        """Find expansions in the text, each with its term: "leave of absence" for LOA."""
        return self._of_expansions.find(text)

    def complete(self) -> None:
        """Build the parts that would otherwise be built when misspelt phrases or expansions are first searched."""
        _ = self._near_phrases, self._of_expansions

    def misspelt(self, text: str, taken: list[Mention]) -> list[Mention]:
        """Find probable misspellings of terms, aliases and expansions that are not part of other matches and no
        ordinary English.

        Phrases of several words precede single words.
        """
        mask = SpanMask(len(text))
        for mention in taken:
            mask.take(mention.start, mention.end)
        phrases = [
            Mention(text[near.start : near.end], near.start, near.end, next(iter(near.labels)), "misspelt")
            for near in self._near_phrases.find(text, mask.are_free)
            # Several terms have this phrase, so that the meant one is unknown.
            if len(near.labels) == 1
        ]
        return sorted([*phrases, *find_misspelt_words(text, [*taken, *phrases], self.near)], key=lambda m: m.start)

    @cached_property
    def _near_phrases(self) -> NearPhrases:
        aliases = ((entry.term, entry.spelling) for entries in self._entries.values() for entry in entries)
        return NearPhrases(
            [*((term, phrase) for term, phrase in aliases if " " in normalise(phrase)), *self._expansions()]
        )

    @cached_property
    def _of_expansions(self) -> TermMatcher:
        keyed = ((term, expansion, normalise(expansion)) for term, expansion in self._expansions())
        return TermMatcher(Spelling(*one) for one in keyed if one[2])

    def _add(self, entry: Spelling) -> None:
        self._terms[entry.term] = self._terms.get(entry.term, 0) + (entry.spelling == entry.term)
        key = entry.key
        entries = self._entries.get(key)
        if entries is not None:
            if entry not in entries:
                entries.append(entry)
            return
        self._entries[key] = [entry]
        # Such a key is one atom, and has no beginnings; most terms are abbreviations.
        if not (key.isascii() and key.isalnum()):
            self._beginnings.update(list_beginnings(key))

    def _find_candidates(self, atoms: Sequence[Atom]) -> Iterator[_Candidate]:
        for first, atom in enumerate(atoms):
            yield from self._from(atoms, first, atom.text, atom.start, split=False)
            if (rest := atom.skip_digits()) is not None:
                yield from self._from(atoms, first, rest.text, rest.start, split=True)

    def _from(self, atoms: Sequence[Atom], first: int, key: str, start: int, *, split: bool) -> Iterator[_Candidate]:
        """Yield every entry that begins at this atom."""
        # A stack instead of recursion: terms may have any number of words.
        open_readings = [(first, "", key)]
        while open_readings:
            place, head, last = open_readings.pop()
            read = head + last
            for entries, inflected in self._match_ending(read, head, last):
                yield _Candidate(start, atoms[place].end, entries, inflected, split)
            # Several continuations may be possible where a separator can also be read as a space.
            if read in self._beginnings:
                open_readings += _continue_key(atoms, place, read)

    def _match_ending(self, read: str, head: str, last: str) -> Iterator[tuple[list[Spelling], bool]]:
        """Yield the entries that end here, and whether in another number than theirs ("cells" for "cell")."""
        if entries := self._entries.get(read):
            yield entries, False
        for form in (*guess_singulars(last), *guess_plurals(last)):
            if entries := self._entries.get(head + form):
                yield entries, True


def _continue_key(atoms: Sequence[Atom], place: int, read: str) -> list[tuple[int, str, str]]:
    """Yield the possible continuations: (index of the next atom, key so far with its separator, the atom's own
    text).
    """
    if place + 1 >= len(atoms):
        return []
    following = atoms[place + 1]
    # Unchanged first; then a hyphen, slash or underscore read as the space into which `normalise` turns it.
    ways = [(place + 1, read + " " if following.spaced else read, following.text)]
    is_separator = following.text in SEPARATORS and not following.spaced and place + 2 < len(atoms)
    if is_separator and atoms[place + 2].is_word and not atoms[place + 2].spaced:
        ways.append((place + 2, f"{read} ", atoms[place + 2].text))
    return ways


def _choose_mention(text: str, candidate: _Candidate, shouted: bool) -> Mention | None:
    """Return the mention of the entry that fits the text's own case best, if any may."""
    start, end = candidate.start, candidate.end
    if _is_part_of_something(text, start, end):
        return None
    surface = text[start:end]
    if fitting := _list_fitting(text, candidate):
        entry = fitting[0]
        ordinary = is_function_word(surface) or (len(surface) == 1 and is_function_word(surface.lower()))
        if (ordinary or (shouted and is_ordinary_word(surface.lower()))) and not _is_marked(text, start, end):
            return None
    else:
        loose = _match_loosely(text, candidate, surface)
        if loose is None or _is_title(text, start, end):
            return None
        entry = loose
    exact = surface == entry.spelling
    return Mention(surface, start, end, entry.term, "exact" if exact else "variant")


def _list_fitting(text: str, candidate: _Candidate) -> list[Spelling]:
    """Return the entries of a candidate that the text has in their own case."""
    surface = text[candidate.start : candidate.end]
    return [entry for entry in candidate.entries if _has_own_case(surface, entry.spelling, candidate)]


def _has_own_case(surface: str, spelling: str, candidate: _Candidate) -> bool:
    """Return whether the surface has the spelling's own case, apart from a plural ending."""
    if not candidate.inflected:
        return _keep_letters(surface) == _keep_letters(spelling)
    shorter, longer = sorted((_keep_letters(surface), _keep_letters(spelling)), key=len)
    # "PUCS" is not the plural of PUC, but another abbreviation.
    if shorter.isupper() and longer.isupper():
        return False
    # "memories" only begins with "memor".
    stem = shorter[:-1] if shorter.endswith("y") and longer.endswith("ies") else shorter
    return longer.startswith(stem)


def _match_loosely(text: str, candidate: _Candidate, surface: str) -> Spelling | None:
    """Return the entry meant although the case differs, or None if it is more likely an ordinary word."""
    # "40mubo": after digits, only the exact spelling distinguishes a term from a unit.
    if candidate.split:
        return None
    entries = candidate.entries
    # If terms differ only in case, one like mA is meant only as spelt.
    if len({entry.spelling for entry in entries}) > 1:
        entries = [entry for entry in entries if not is_coded(entry.spelling)]
    marked = _is_marked(text, candidate.start, candidate.end)
    for entry in entries:
        if _may_be_in_other_case(surface, entry.spelling, candidate.inflected) or (marked and not candidate.inflected):
            return entry
    return None


def _may_be_in_other_case(surface: str, spelling: str, inflected: bool) -> bool:
    words = normalise(surface).split(" ")
    if len(words) == 1 and is_function_word(words[0]):
        return False
    # "DIES" for "die": capitals mark an abbreviation.
    if inflected and surface.isupper():
        return False
    if is_coded(spelling) or _keep_letters(spelling).isupper():
        return not all(is_ordinary_word(word) for word in words)
    return True


def _keep_letters(text: str) -> str:
    # Characters that normalisation folds are left out, so that only the case is compared: "W-L" and "WL".
    return "".join(char for char in text if char.isalnum())


def _is_shouted(text: str) -> bool:
    """Return whether case carries no information, because the whole text is in capitals."""
    # Up to three words in capitals may be three abbreviations.
    return text.isupper() and len(text.split()) > 3


def _is_part_of_something(text: str, start: int, end: int) -> bool:
    """Return whether it is like C in C++, C# or C+, t in don't, SG in SG&A; but "EA+" may well be the term EA with a
    sign.
    """
    after = text[end : end + 2]
    signed = after[:1] and after[0] in _SIGNS_OF_NAMES and not after[1:].isalnum()
    if signed and text[end - 1].isalnum() and (end - start == 1 or after == "++"):
        return True
    if after[:1] == _JOINT and after[1:].isalnum():
        return True
    before = text[max(0, start - 2) : start]
    return len(before) == 2 and (before[1] in APOSTROPHES or before[1] == _JOINT) and before[0].isalnum()


def _is_title(text: str, start: int, end: int) -> bool:
    """Return whether it is Dr. before a name or Fig. before a number; "Dr of the die" may still be a careless DR."""
    # Enough for two particles and a name; a slice of the whole rest would be copied for each mention.
    word, behind = text[start:end], text[end : end + 40]
    return bool((word in _TITLES and _NAME.match(behind)) or (word in _NUMBERED and _NUMBER.match(behind)))


def _is_marked(text: str, start: int, end: int) -> bool:
    opening = text[start - 1] if start else ""
    return opening in _MARKS and text[end : end + 1] == _MARKS[opening]
