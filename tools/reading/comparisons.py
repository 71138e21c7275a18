"""A question that compares two things: "compare A and B", "the difference between A and B", "A versus B". English.

Conservative: each side must name its thing by itself, so "compare the limits in the US and in Europe" is none.
"""

from __future__ import annotations

import re

from argot.tools.text.words import content_stems

_AND = r"\s+(?:and|with|to|against|from|vs\.?|versus)\s+"
_ABOUT = r"(?:\s+(?:in terms of|with regard to|regarding|concerning|as to|in)\s+(?P<about>[^,;?]{1,80}?))?"
_FORMS = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:please\s+|(?:can|could) you\s+)?compare\s+(?P<one>.+?){_AND}(?P<other>.+)",
        r"(?:.{0,40}\b)?differences?\s+between\s+(?P<one>.+?)\s+and\s+(?P<other>.+)",
        rf"how\s+do(?:es)?\s+(?P<one>.+?)\s+and\s+(?P<other>.+?)\s+(?:differ|compare){_ABOUT}",
        r"how\s+do(?:es)?\s+(?P<one>.+?)\s+(?:differ\s+from|compare\s+(?:to|with))\s+(?P<other>.+)",
        r"how\s+(?:is|are)\s+(?P<one>.+?)\s+different\s+from\s+(?P<other>.+)",
        r"(?P<one>[^,;:]+?)\s+(?:vs\.?|versus)\s+(?P<other>[^,;:]+)",
    )
]
_TAIL = re.compile(r"\s+(?:in terms of|with regard to|regarding|concerning|as to)\s+(?P<about>.+)$", re.IGNORECASE)
_JOINS = re.compile(r"\b(?:and|or)\b|[,;:?]", re.IGNORECASE)
_LEANS = re.compile(
    r"^(?:in|on|for|at|by|of|from|with|to)\b|\b(?:it|its|they|them|this|that|these|those|one|ones|other|others|both|each"
    r"|former|latter|my|your|our)\b",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"^(?:the|a|an)\s+", re.IGNORECASE)
_MAX_SIDE_WORDS = 8  # words of one side; a longer one is more than a name


def find_sides(question: str) -> tuple[str, str] | None:
    """Return the two things that a question compares, each with the respect in which; None if it compares nothing."""
    text = " ".join(question.split()).rstrip(" ?.!")
    found = next((match for form in _FORMS if (match := form.fullmatch(text))), None)
    if found is None:
        return None
    one, other = found["one"], found["other"]
    about = (found.groupdict().get("about") or "").strip()
    if tail := _TAIL.search(other):
        about, other = tail["about"], other[: tail.start()]
    one = _complete(one, other)
    if not all(map(_is_side, (one, other))) or one.casefold() == other.casefold():
        return None
    return (f"{one} {about}".strip(), f"{other} {about}".strip())


def _is_side(text: str) -> bool:
    names_something = bool(content_stems(text)) and len(text.split()) <= _MAX_SIDE_WORDS
    return names_something and not (_JOINS.search(text) or _LEANS.search(text))


def _complete(one: str, other: str) -> str:
    """Return the first side with the noun that it shares with the other: "the red" and "the blue kayak"."""
    words, others = _ARTICLE.sub("", one).split(), _ARTICLE.sub("", other).split()
    is_short = len(words) == 1 and words[0].islower() and bool(_ARTICLE.match(one))
    return f"{one} {others[-1]}" if is_short and len(others) == 2 else one
