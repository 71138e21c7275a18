"""Documents that differ in the one thing a question leaves open: "How do I reset the router?" beside "Router R1" and
"Router R7".

English, by words alone, and strict: a needless question annoys more than a missing one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product, takewhile

from argot.corpus.keyword.stop_words import STOP_WORDS
from argot.jargon_db.lookup.ordinary_words import is_ordinary_word
from argot.tools.answering.excerpts import choose_excerpt
from argot.tools.text.words import fold, fold_words, stem
from argot.types import Hit

MAX_SIBLINGS = 5
"""Documents offered to choose from."""
READ_HITS = 12
"""Hits among which they are searched."""
MIN_COVERED_SHARE = 0.5
"""Share of the question's words in any of the likely documents that each of them must contain."""

_DETERMINER = re.compile(r"\b(the|this|that|our|my|your)\s+", re.IGNORECASE)
_WORD = re.compile(r"\w[\w'’-]*|[^\w\s]")
_POSSESSIVE = re.compile(r"['’]s?$")
_MAX_PHRASE_WORDS = 5
_SUPERLATIVE = re.compile(
    r"best|worst|latest|newest|oldest|nearest|closest|largest|biggest|smallest|highest|lowest|fastest|slowest|cheapest"
    r"|longest|shortest|first|last|only|same|right|correct"
)
_PARTS = re.compile(r"\s[|–—-]+\s|[|:(),]")
_ARTICLE = re.compile(r"^\s*(?:the|an?)\s+", re.IGNORECASE)
_AFTER_HEAD = re.compile(r"\b(?:of|in|for|to|on|at|by|from|with|and|about|the)\b", re.IGNORECASE)
_SEVERAL = re.compile(
    r"\b(?:both|either|others?|another|compar\w+|differ\w*|between|versus|vs|respectively)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Sibling:
    """A document, or a section of one. `hit` belongs to it; `level` is the index of its name among the hit's
    `names`.
    """

    hit: Hit
    level: int

    @property
    def name(self) -> str:
        return list_names(self.hit)[self.level]

    def holds(self, hit: Hit) -> bool:
        """Return whether a passage belongs to this document or section. Documents of the same title are one."""
        last = self.level + 1
        same = not self.level or hit.document.id == self.hit.document.id
        return same and list_names(hit)[:last] == list_names(self.hit)[:last]


@dataclass(frozen=True, slots=True)
class Siblings:
    """Documents or sections that a question may mean without saying which: in its words ("our wireless router"), and
    the noun that all names hold ("router"). The likeliest come first.
    """

    phrase: str
    noun: str
    members: tuple[Sibling, ...]


def list_names(hit: Hit) -> list[str]:
    """Return the document's title and the headings above the passage, from the outside in."""
    headings = list(hit.passage.heading_path)
    if headings and headings[0].casefold() == hit.document.title.casefold():
        del headings[0]
    return [" ".join(name.split()) for name in (hit.document.title, *headings)]


def find_siblings(question: str, clues: str, hits: Sequence[Hit], margin: float) -> Siblings | None:
    """Return the documents or sections among the best hits that the question may mean; None if it leaves nothing open.

    Args:
        clues: other texts that may distinguish them: the conversation so far, the context.
        hits: re-ranked, best first.
        margin: by how much the next one may score less than the best.
    """
    if not hits or _SEVERAL.search(question):
        return None
    near = [hit for hit in hits[:READ_HITS] if hit.score >= hits[0].score - margin]
    for determiner, phrase in _find_phrases(question):
        for place, level in product(range(len(phrase)), range(len(list_names(hits[0])))):
            members = _filter_relevant(question, _find_members(fold(phrase[place]), level, near))[:MAX_SIBLINGS]
            # If another document says it better for all of them, there is no reason to ask which.
            if len(members) < 2 or members[0].hit.score < hits[0].score - margin / 2:
                continue
            if _is_told_apart(f"{question}\n{clues}", members) or _is_alike(question, members):
                continue
            common = frozenset.intersection(*(_find_stems(one.name) for one in members))
            some = frozenset().union(*(_find_stems(one.name) for one in members))
            # "The Zyxel router" and "the mobile router" are excluded: they share only the noun.
            if all(_find_stems(word) <= common or (word.islower() and not _find_stems(word) & some) for word in phrase):
                end = next((n for n in range(place, len(phrase)) if not _find_stems(phrase[n]) <= common), len(phrase))
                noun = " ".join(map(fold, phrase[place:end]))
                asked = _POSSESSIVE.sub("", " ".join([determiner, *phrase[:end]]))
                return Siblings(asked, noun, tuple(members))
    return None


def is_left_open(question: str, noun: str) -> bool:
    """Return whether the question uses this noun as something that both sides know: "the router", "our router"."""
    open_ = any(set(noun.split()) <= set(map(fold, phrase)) for _, phrase in _find_phrases(question))
    return open_ and not _SEVERAL.search(question)


def _find_phrases(question: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each "the", "this" or "our" with the words up to a stop word or mark; without those that contain a
    number.
    """
    for match in _DETERMINER.finditer(question):
        words = _WORD.findall(question[match.end() :])[:_MAX_PHRASE_WORDS]
        phrase = list(takewhile(lambda word: word[0].isalnum() and fold(word) not in STOP_WORDS, words))
        # "The NX-4410B", "the 8 TB drive" already name one. "The fastest drive" is one of all.
        if phrase and not any(map(str.isdigit, "".join(phrase))) and not _SUPERLATIVE.fullmatch(fold(phrase[0])):
            yield match[1], phrase


def is_singled_out(text: str, one: Sibling, members: Collection[Sibling]) -> bool:
    """Return whether the text has a word of this one's name that the others do not contain."""
    return not _find_stems(text).isdisjoint(_find_own_words(one, members))


def _find_members(noun: str, level: int, near: Sequence[Hit]) -> list[Sibling]:
    """Return the best hit of each name at this level that denotes a thing of this kind."""
    found: list[Sibling] = []
    outer = list_names(near[0])[:level]
    for hit in near:
        own = list_names(hit)
        beside = not level or (hit.document.id == near[0].document.id and own[:level] == outer)
        if beside and len(own) > level and noun in fold_words(own[level]):
            one = Sibling(hit, level)
            # "Jury duty, County of Tulare" beside "Jury service, County of Tulare" is no other county.
            if all(_find_own_words(one, [other]) and _find_own_words(other, [one]) for other in found):
                found.append(one)
    # "Pressure sensor data sheet" beside "Heat sensor data sheet": all words but one are the same.
    alike = len({_build_pattern(one, found) for one in found}) == 1
    return found if alike else [one for one in found if _is_of_kind(noun, one.name)]


def _filter_relevant(question: str, members: Sequence[Sibling]) -> list[Sibling]:
    """Return the members that contain enough of the question's words that any of them contains: no "Travel policy" for
    "the policy on keys".
    """
    asked = _find_stems(question)
    held = [asked & _find_stems(f"{one.name} {one.hit.passage.text}") for one in members]
    any_holds = frozenset().union(*held)
    return [one for one, holds in zip(members, held, strict=True) if len(holds) >= MIN_COVERED_SHARE * len(any_holds)]


def _build_pattern(one: Sibling, members: Collection[Sibling]) -> str:
    """Return its name with a placeholder for its distinguishing words."""
    own = _find_own_words(one, members)
    return re.sub(r"(?:_ ?)+", "_ ", " ".join("_" if stem(word) in own else word for word in fold_words(one.name)))


def _is_of_kind(noun: str, name: str) -> bool:
    """Return whether a name is one of a router: "Router R1", "Cellar router (old)", "The router of the cellar",
    "Resetting router R1"; not "Uses of a router", "Router failures" or "Add a spare router".
    """
    for part in _PARTS.split(_ARTICLE.sub("", name)):
        words = fold_words(_AFTER_HEAD.split(part, maxsplit=1)[0])
        for place, word in enumerate(words):
            beside = "".join(words[max(0, place - 1) : place + 2])
            # "OpenBMC" is a name itself, and there is one of it.
            is_kind = is_ordinary_word(noun) and not {"a", "an"} & {*words[:place]}
            is_one = is_kind and (place == len(words) - 1 or (place == 0 and not is_ordinary_word(words[1])))
            if word == noun and (any(map(str.isdigit, beside)) or is_one):
                return True
    return False


def _is_told_apart(text: str, members: Sequence[Sibling]) -> bool:
    """Return whether the text names one of them, or one has no distinguishing name."""
    return any(not _find_own_words(one, members) or is_singled_out(text, one, members) for one in members)


def _find_own_words(one: Sibling, members: Collection[Sibling]) -> frozenset[str]:
    """Return the words of its name that the passages of the others lack, including their headings."""
    others = (_find_stems(f"{other.name} {other.hit.passage.text}") for other in members if other.hit is not one.hit)
    return _find_stems(one.name).difference(*others)


def _is_alike(question: str, members: Sequence[Sibling]) -> bool:
    """Return whether all say the same: the text nearest to the question differs only in their names."""
    own = frozenset().union(*(_find_own_words(one, members) for one in members))
    texts = {_find_stems(choose_excerpt(question, one.hit.passage.text)) - own for one in members}
    return len(texts) == 1


@lru_cache(maxsize=1_000)  # passages are compared in pairs
def _find_stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in fold_words(text) if word not in STOP_WORDS)
