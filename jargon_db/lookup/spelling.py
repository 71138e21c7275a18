"""Near misses: the glossary term that a strange word most likely means, and suggestions for an unknown one."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from copy import copy
from typing import NamedTuple, TypeVar

from rapidfuzz import fuzz, process
from rapidfuzz.distance import OSA

from argot.jargon_db.lookup.normalise import guess_singulars, list_variants, normalise, strip_possessive
from argot.jargon_db.lookup.ordinary_words import is_ordinary_word, is_well_known, load_english_words
from argot.jargon_db.lookup.span_mask import SpanMask
from argot.types import Mention

P = TypeVar("P", bound=Hashable)

# "over-provisionning" and "don't" are one word each.
_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")


_MIN_TWO_ERROR_LETTERS = 8
"""Words of at least this many characters may have two typing errors."""

_MAX_CODE_LETTERS = 6
# Longer keys are left out of the table of anagrams, to save memory.
_MAX_ANAGRAM_LETTERS = 20
_MIN_LIKELY_LETTERS = 5
"""A term of fewer characters is treated as a code, in which every letter counts."""


class Spelling(NamedTuple):
    """One way to write a term: its own spelling or that of an alias, with its normalised key."""

    term: str
    spelling: str
    key: str


def is_coded(spelling: str) -> bool:
    """Return whether case belongs to the term's identity: `tCCS`, `mA`, `pH`, `VPgm`; not `PUC`, `PUCs`, `Page`,
    `die`.
    """
    if any(char.isspace() for char in spelling):
        return False
    letters = "".join(char for char in spelling if char.isalpha())
    # The plural s of capitals does not make mixed case.
    bare = letters[:-1] if letters.endswith("s") and letters[:-1].isupper() else letters
    return bare[1:] != bare[1:].lower() and not bare.isupper()


def is_exchanged_code(word: str, term: str) -> bool:
    """Return whether a word has the letters of an abbreviation in another order: HBM may well not mean HMB."""
    folded, letters = strip_possessive(normalise(word)), normalise(term)
    forms = (folded, *guess_singulars(folded))
    short = term.isupper() and len(term) <= _MAX_CODE_LETTERS
    return short and letters not in forms and any(sorted(form) == sorted(letters) for form in forms)


class NearTerms:
    """Terms and aliases by length, for near look-ups that never iterate over all of them in Python."""

    def __init__(self, entries: Mapping[str, Sequence[Spelling]], senses: Mapping[str, int]) -> None:
        self._entries = entries
        self._senses = senses
        self._by_length: defaultdict[int, list[str]] = defaultdict(list)
        self._by_beginning: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
        self._anagrams: defaultdict[str, list[str]] = defaultdict(list)
        for key in entries:
            self._by_length[len(key)].append(key)
            self._by_beginning[(key[:1], len(key))].append(key)
            if len(key) <= _MAX_ANAGRAM_LETTERS:
                self._anagrams["".join(sorted(key))].append(key)

    def patch(
        self, entries: Mapping[str, Sequence[Spelling]], senses: Mapping[str, int], keys: Collection[str]
    ) -> NearTerms:
        """Return the same for other entries, which differ only in these keys."""
        # A copy: questions may be reading this one in another thread.
        made = copy(self)
        made._entries, made._senses = entries, senses
        made._by_length = _move_keys(self._by_length, entries, keys, len)
        made._by_beginning = _move_keys(self._by_beginning, entries, keys, lambda key: (key[:1], len(key)))
        short = [key for key in keys if len(key) <= _MAX_ANAGRAM_LETTERS]
        made._anagrams = _move_keys(self._anagrams, entries, short, lambda key: "".join(sorted(key)))
        return made

    def knows(self, word: str) -> bool:
        return any(key in self._entries for key in list_variants(word))

    def uses(self, term: str) -> int:
        """Return how many approved senses the term has."""
        return self._senses.get(term, 0)

    def of(self, key: str) -> str:
        """Return the term of a key."""
        return self._entries[key][0].term

    def spelling(self, key: str) -> str:
        """Return the glossary's spelling of the key."""
        return self._entries[key][0].spelling

    def within(self, key: str, distance: int) -> list[tuple[str, int]]:
        """Return (key, distance) of the known keys within `distance` typing errors (a transposition is one), nearest
        first.
        """
        # Each error changes the length by at most one.
        lengths = range(max(1, len(key) - distance), len(key) + distance + 1)
        return self._nearest(key, distance, (self._by_length.get(length, ()) for length in lengths))

    def find_likely(self, key: str, distance: int) -> list[tuple[str, int]]:
        """Return the same as `within`, but only for keys that begin alike or have the same letters: far fewer to
        compare.
        """
        lengths = (
            range(max(_MIN_LIKELY_LETTERS, len(key) - distance), len(key) + distance + 1)
            if len(key) >= _MIN_LIKELY_LETTERS
            else ()
        )
        alike = (self._by_beginning.get((key[:1], length), ()) for length in lengths)
        same_letters = self._anagrams.get("".join(sorted(key)), ())
        # Those with the same beginning are already in `alike`.
        others = [known for known in same_letters if len(key) < _MIN_LIKELY_LETTERS or known[0] != key[0]]
        return self._nearest(key, distance, (others, *alike))

    def _nearest(self, key: str, distance: int, pools: Iterable[Sequence[str]]) -> list[tuple[str, int]]:
        found: list[tuple[str, int]] = []
        for pool in pools:
            # One call for a pool: a loop in Python would take far longer over 100,000 terms.
            near = process.extract(key, pool, scorer=OSA.distance, score_cutoff=distance, limit=None)
            found += [(known, int(errors)) for known, errors, _ in near]
        # Then the term with more senses, which is asked for more often; then the alphabet, so that runs agree.
        return sorted(found, key=lambda hit: (hit[1], -self.uses(self.of(hit[0])), hit[0]))


def _move_keys(
    pools: Mapping[P, list[str]], entries: Collection[str], keys: Iterable[str], pool_of: Callable[[str], P]
) -> defaultdict[P, list[str]]:
    """Return the pools after a change of these keys: entries are added, the others removed."""
    moved = defaultdict(list, pools)
    by_pool: defaultdict[P, set[str]] = defaultdict(set)
    for key in keys:
        by_pool[pool_of(key)].add(key)
    for pool, changed in by_pool.items():
        # A new list: the old one is shared with the previous view.
        stay = [key for key in moved.get(pool, ()) if key not in changed]
        moved[pool] = stay + [key for key in sorted(changed) if key in entries]
    return moved


def find_misspelt_words(text: str, taken: Sequence[Mention], near: NearTerms) -> list[Mention]:
    mentions: list[Mention] = []
    mask = SpanMask(len(text))
    for mention in taken:
        mask.take(mention.start, mention.end)
    for match in _WORD.finditer(text):
        start, end = match.span()
        surface = match.group()
        # The possessive of "PCU's" is no part of the word.
        if surface.endswith(("'s", "’s")):
            surface, end = surface[:-2], end - 2
        if not mask.are_free(start, end) or _is_ordinary(surface, near):
            continue
        term = _guess_term(surface, near)
        if term is not None:
            mentions.append(Mention(surface, start, end, term, "misspelt"))
    return mentions


def _is_ordinary(word: str, near: NearTerms) -> bool:
    # Two letters are one error away from half of all abbreviations.
    if len(word) < 3 or not any(char.isalpha() for char in word) or is_well_known(word):
        return True
    parts = re.split(r"[-'’]", word.lower())
    return all(is_ordinary_word(part) or part.isdigit() for part in parts) or near.knows(word)


def _guess_term(surface: str, near: NearTerms) -> str | None:
    """Return the one term that a strange word misspells, or None if none or several are equally near."""
    key = strip_possessive(normalise(surface))
    # Capitals mean an abbreviation, not a typing error in an ordinary word.
    typed_as_code = sum(char.isupper() for char in surface) > 1
    for form in (key, *guess_singulars(key)):
        hits = near.find_likely(form, 1 if len(form) < _MIN_TWO_ERROR_LETTERS else 2)
        hits = [hit for hit in hits if _is_plausible(form, hit[0], near.spelling(hit[0]))]
        # By term: two spellings of one term do not make it ambiguous.
        best = {near.of(known) for known, errors in hits if errors == hits[0][1]}
        if len(best) > 1:
            return None
        if best:
            exchanged = len(form) >= _MIN_LIKELY_LETTERS and sorted(form) == sorted(hits[0][0])
            doubtful = not typed_as_code and not exchanged and _is_nearly_ordinary(key, near)
            return None if doubtful else best.pop()
    return None


def _is_nearly_ordinary(key: str, near: NearTerms) -> bool:
    """Return whether one typing error turns it into an ordinary word that is no term."""
    # "cel" is more likely a cell than a CLE.
    near_words = list_near_spellings(key) & load_english_words()
    return any(not near.knows(word) for word in near_words if len(word) > 2)


def list_near_spellings(word: str) -> set[str]:
    """Return all spellings with one typing error: a letter missing, added or replaced, or two neighbours exchanged."""
    cuts = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    letters = "abcdefghijklmnopqrstuvwxyz"
    # They are generated and looked up: comparing with every English word would take longer.
    near = {head + tail[1:] for head, tail in cuts if tail}
    near |= {head + tail[1] + tail[0] + tail[2:] for head, tail in cuts if len(tail) > 1}
    near |= {head + letter + tail for head, tail in cuts for letter in letters}
    near |= {head + letter + tail[1:] for head, tail in cuts if tail for letter in letters}
    return near - {word}


def _is_plausible(key: str, known: str, spelling: str) -> bool:
    """Return whether the key may be the known one misspelt."""
    # A digit is never a typing error: KX-200 is not KX-300.
    if not any(char.isalpha() for char in known) or _keep_digits(key) != _keep_digits(known):
        return False
    same_letters = sorted(key) == sorted(known)
    # "PUC" for "PUD" is another abbreviation; "PCU" for "PUC" is a slip.
    if min(len(key), len(known)) < _MIN_LIKELY_LETTERS or (spelling.isupper() and len(known) <= _MAX_CODE_LETTERS):
        return same_letters
    # Even misspelt longer words keep their first letter.
    return key[0] == known[0] or same_letters


def _keep_digits(key: str) -> str:
    return "".join(char for char in key if char.isdigit())


class Suggester:
    """Suggestions ("did you mean") for unknown terms: near spellings, and abbreviations of the typed words."""

    def __init__(self, near: NearTerms, expansions: Iterable[tuple[str, str]]) -> None:
        self._near = near
        self._by_initials: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self._by_expansion: defaultdict[str, dict[str, None]] = defaultdict(dict)
        for term, expansion in expansions:
            key = normalise(expansion)
            self._by_expansion[key][term] = None
            self._by_initials[take_initials(key)][term] = None

    def suggest(self, term: str, limit: int) -> list[str]:
        """Return at most `limit` terms, best first; the term itself is never among them."""
        key = strip_possessive(normalise(term))
        if not key or limit <= 0:
            return []
        scored: dict[str, float] = {}
        for known, errors in self._near.within(key, 1 if len(key) < 5 else 2):
            # Two letters with one error would match anything.
            if len(key) > 2 or errors == 0:
                exchanged = sorted(key) == sorted(known)
                _keep(scored, self._near.of(known), 95 if exchanged else fuzz.ratio(key, known))
        # The expansion itself was typed: certain. Initials rank after it, and spelling ranks by its own ratio.
        for meaning in self._by_expansion.get(key, ()):
            _keep(scored, meaning, 100)
        for meaning in self._by_initials.get(key if " " not in key else take_initials(key), ()):
            _keep(scored, meaning, 90 if " " not in key else 80)
        scored.pop(term, None)
        # Rounded: a fraction of a point must not outweigh how often a term is used.
        ranked = sorted(scored, key=lambda name: (-round(scored[name]), -self._near.uses(name), name))
        return ranked[:limit]


def take_initials(key: str) -> str:
    return "".join(word[0] for word in key.split(" ") if word)


def _keep(scored: dict[str, float], term: str, score: float) -> None:
    scored[term] = max(score, scored.get(term, 0.0))
