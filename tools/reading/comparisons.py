"""A question that compares two things: "compare A and B", "the difference between A and B", "A versus B".

Conservative: each side must name its thing by itself, so "compare the limits in the US and in Europe" is none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from argot.languages.detection import identify_listed_language, list_possible_languages
from argot.languages.several_words import ComparisonWords, load_comparison_words
from argot.tools.text.words import content_stems
from argot.types import ReadTerm

_MAX_SIDE_WORDS = 8  # words of one side; a longer one is more than a name


def find_sides(question: str) -> tuple[str, str] | None:
    """Return the two things that a question compares, each with the respect in which; None if it compares nothing."""
    form = _find_form(question)
    if form is None:
        return None
    words, found = form
    one, other = found["one"], found["other"]
    about = (found.groupdict().get("about") or "").strip()
    if tail := words.tail.search(other):
        about, other = tail["about"], other[: tail.start()]
    one, other = _complete(one, other, words), _share_head(one, other, words)
    if not all(_is_side(side, words) for side in (one, other)) or one.casefold() == other.casefold():
        return None
    return (f"{one} {about}".strip(), f"{other} {about}".strip())


def find_naming_texts(side: str, question: str, terms: Sequence[ReadTerm], texts: Sequence[str]) -> list[int]:
    """Return the places of the texts that have every word of a side, as it is written or with its terms spelled out.

    Stems are by the language of the question: the few words of a side do not show theirs.
    """
    language = identify_listed_language(question)
    spelled = side
    for term in terms:
        name, expansion = term.mention.surface, term.sense.expansion
        spelled = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", (expansion or name).replace("\\", r"\\"), spelled)
    wanted = [set(content_stems(text, language)) for text in (side, spelled)]
    stems_of_texts = [_list_stems(text, language) for text in texts]
    return [place for place, stems in enumerate(stems_of_texts) if any(one <= stems for one in wanted)]


# One question looks for several names in the same passages.
@lru_cache(maxsize=500)
def _list_stems(text: str, language: str) -> frozenset[str]:
    return frozenset(content_stems(text, language))


def write_side_question(side: str, question: str) -> str:
    """Write the question about one side of a comparison, in the language of the question that compares."""
    form = _find_form(question)
    words = form[0] if form else load_comparison_words(identify_listed_language(question))
    return words.side.format(side)


def _find_form(question: str) -> tuple[ComparisonWords, re.Match[str]] | None:
    """Return the first form of a comparison that the question has, and the words of its language."""
    text = " ".join(question.split()).rstrip(" ?.!").lstrip("¿ ")
    # A short comparison may not show its language: "Vergleiche A12 und B13".
    codes = dict.fromkeys([identify_listed_language(question), *list_possible_languages(question)])
    forms = ((words, form) for words in map(load_comparison_words, codes) for form in words.forms)
    return next(((words, found) for words, form in forms if (found := form.fullmatch(text))), None)


def _is_side(text: str, words: ComparisonWords) -> bool:
    names_something = bool(content_stems(text)) and len(text.split()) <= _MAX_SIDE_WORDS
    return names_something and not (words.joins.search(text) or words.leans.search(text))


def _complete(one: str, other: str, words: ComparisonWords) -> str:
    """Return the first side with the noun that it shares with the other: "the red" and "the blue kayak"."""
    own, others = words.article.sub("", one).split(), words.article.sub("", other).split()
    is_short = len(own) == 1 and own[0].islower() and bool(words.article.match(one))
    return f"{one} {others[-1]}" if words.noun_last and is_short and len(others) == 2 else one


def _share_head(one: str, other: str, words: ComparisonWords) -> str:
    """Return the other side with the noun that belongs to both: "the tolerance of the lamp" and "(that of) the fan"."""
    of = words.of.pattern
    joined = [*re.finditer(rf"(?<=\S\s){of}(?=\S)", one, re.IGNORECASE)]
    head = one[: joined[-1].start()].rstrip() if joined else ""
    repeated = re.fullmatch(rf"(?:(?:{words.that.pattern})\s+)?(?P<thing>{of}\S.*)", other, re.IGNORECASE)
    thing = repeated["thing"] if repeated else other
    if not head or re.search(rf"\S\s{of}\S", thing, re.IGNORECASE):
        return other
    if repeated:
        return f"{head} {thing}"
    last, own = joined[-1], one[joined[-1].end() :]
    # "The University of Oslo and Microsoft" share no noun, and neither do "the price of gold and the weather".
    is_name = head.split()[-1][0].isupper() and not words.capital_nouns
    is_alike = not last.groupdict().get("fused") and bool(words.article.match(own)) == bool(words.article.match(thing))
    return f"{head} {last[0]}{thing}" if is_alike and not is_name else other
