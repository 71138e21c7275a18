"""Recognition of two wordings of the same question, so strict that one question is hardly ever taken for another.

An embedder alone cannot do it: its vectors of "Who may open a port?" and "Who may close a port?" are nearer to each
other than those of most rewordings. So the words decide first: of a question only those are left out that say nothing
of what is asked (`make_question_key`), and all others have to agree, in their order. Negations, numbers, names,
prepositions, tenses and the kind of question are among them. Only then do the vectors have to be near, too
(`MIN_LIKENESS`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from argot.corpus.keyword.stop_words import STOP_WORDS
from argot.languages.detection import identify_listed_language
from argot.languages.english_contractions import expand_contractions
from argot.languages.language_data import ENGLISH
from argot.tools.text.words import NUMBER_WORDS, fold_words
from argot.types import Mention

MIN_LIKENESS = 0.85
"""Least cosine of two questions with the same key, on the default embedder's scale. `bench/same_questions.py` measures
it."""
_MIN_WORDS = 2
"""Words in a key; one alone, such as "size?", could ask anything."""

_MIN_PLURAL = 4
"""Letters of the shortest word that can be a plural: "this" and "gas" are none."""
_NO_PLURALS = frozenset(["news", "customs", "goods", "means", "ldaps", "imaps", "pop3s"])
"""Words that mean something else without their s; so do those without a vowel, as "https"."""
_VOWEL = re.compile(r"[aeiouy]")
_NAME = "\ue000"
"""Marks a name that is spelt like a word: "IT", "US", "CAN", "May"."""
_CAPITALS = re.compile(r"\b[A-Z]{2,}\b|(?<=\w )(?:A|May)\b")
_SIGNS = {
    "!=": "unequal", "<=": "upto", ">=": "atleast", "≠": "unequal", "~": "about", "≈": "about", "^": "power",
    "<": "below", ">": "above", "≤": "upto", "≥": "atleast", "=": "equals", "%": "percent", "€": "euro", "$": "dollar",
    "£": "pound", "±": "plusminus", "°": "degree", "&": "and", "@": "at",
}  # fmt: skip
_MINUS = re.compile(r"(?<![\w)])[-−–](?=\d)")
_PLUS = re.compile(r"(?<=\d)\+|(?<![\w+])\+(?=\d)")
_FRONTED = re.compile(
    r"^((?:in|for|on|at|with|during|within|under|as|if|when|after|before|while)\s[^,?]+),\s*(.+?)[?.! ]*$"
)
"""A clause before the question, "For contractors, how long is ...?": it may as well follow it."""
_I = r"(?:i|we|you|one|people|somebody|someone)"
_FRAMES = (
    (r"^(?:hi|hello|hey|ok|so|and|please)\b[,!. ]*", ""),
    (r"\b(?:please|exactly|actually|thanks|thank you|quick question:?)\b", ""),
    (r"^(?:tell|give|show) (?:me|us) (?=(?:the|a|an|our) )", "what is "),
    (
        r"^(?:(?:can|could|would|will) (?:you|someone|anyone|anybody) )?(?:please )?(?:tell|remind) (?:me|us)\b",
        "",
    ),
    (r"^(?:do you|does anyone|does anybody|does someone) know\b", ""),
    (r"^i (?:(?:would )?(?:want|like|need) to know|am wondering|was wondering|wonder|wondered)\b(?: if you know)?", ""),
    (rf"\bhow (?:do|can|could|would) {_I}(?: go about)?\b|\bhow to\b|\bhow does {_I}\b", "how"),
    (r"\bwhat (?:is|are) the (?:steps?|way|procedure|process) (?:to|for|of)\b", "how"),
    (rf"\bwhat do {_I} (?:have|need) to do (?:in order )?to\b|\bwhat must {_I} do (?:in order )?to\b", "how"),
    (rf"\bwhere (?:can|could|do|would) {_I} (?:find|see|look up)\b|\bwhere is (?:it )?written\b", "where is"),
    (r"\b(?:ha(?:ve|s)|needs?) to\b", "must"),
    (r"\bin order to\b", "to"),
    (r"\bwhich\b", "what"),
    (r"\bper cent\b", "percent"),
    (r"\be-?mail", "email"),
    (r"\b(?:could|may)\b", "can"),
    (r"\b(?:was|were|did|had)\b", "past"),
    (r"\b(?:has)\b", "have"),
    (r"\b(?:i|we|me|us)\b", "speaker"),
)
_FRAME_PATTERNS = tuple((re.compile(pattern), new) for pattern, new in _FRAMES)
_WHETHER = re.compile(r"^(?:is|are|am|do|does|can|should|would|will|must|past|have|shall|might)\b")
_LEFT_OUT = frozenset(["a", "an", "the", "is", "are", "am", "my", "our", "there"])
"""Words that say nothing of what is asked. All others have to agree; "be" too: "Can it reset?", "Can it be reset?"."""
_OF = re.compile(
    # Only behind an article, or as "what share of": a verb could otherwise be taken for a part of the name.
    r"(?P<before>\b(?:the|a|an|my|our) |\bwhat (?=\w+ of))(?P<part>\w+(?: \w+)?) of (?:(?:a|an|the|my|our) )?"
    rf"(?P<whole>\w+(?: \w+)*?)(?= (?:{'|'.join(sorted(STOP_WORDS))})\b|$)"
)


def make_question_key(question: str, mentions: Sequence[Mention] = ()) -> str:
    """Return the words of a question that say what is asked, in order; equal for wordings that differ in form alone.

    Empty if the question has too few words, or is in another language than English, of which these rules know nothing.
    `mentions`: terms in the question, each replaced by the glossary's spelling.
    """
    if identify_listed_language(question) != ENGLISH:
        return ""
    text = _fold_form(_spell_terms(question, mentions))
    kind = "whether " if _WHETHER.match(text) else ""
    found = list(_list_words(_turn_genitives(text)))
    return kind + " ".join(found) if len(found) >= _MIN_WORDS else ""


def make_plain_key(question: str) -> str:
    """Return the question without case, white space and closing marks: equal only for the same words and signs."""
    return _mark_names(" ".join(question.split())).casefold().rstrip(" ?.!…")


def _spell_terms(question: str, mentions: Sequence[Mention]) -> str:
    text = question
    for one in sorted(mentions, key=lambda mention: mention.start, reverse=True):
        if one.term and text[one.start : one.end] == one.surface:
            text = f"{text[: one.start]}{one.term}{text[one.end :]}"
    return text


def _fold_form(question: str) -> str:
    """Return the question in small letters, with signs as words and its forms of politeness left out."""
    text = _mark_names(" ".join(question.split()))
    text = expand_contractions(_PLUS.sub(" plus ", _MINUS.sub(" minus ", text.casefold())))
    if fronted := _FRONTED.match(text):
        text = f"{fronted[2]} {fronted[1]}"
    for sign, word in _SIGNS.items():
        text = text.replace(sign, f" {word} ")
    for pattern, new in _FRAME_PATTERNS:
        text = " ".join(pattern.sub(new, text).split()).lstrip(",;:. ")
    return text


def _mark_names(text: str) -> str:
    """Mark the names that small letters would turn into words; in a text all in capitals they cannot be recognised."""
    return text if text.isupper() else _CAPITALS.sub(lambda found: _mark_name(found.group()), text)


def _mark_name(word: str) -> str:
    return f"{word}{_NAME}" if word.casefold() in STOP_WORDS else word


def _turn_genitives(text: str) -> str:
    """Return the words of the text, with "the size of a file" as "the file size" if it has one genitive."""
    words = " ".join(fold_words(text.replace(_NAME, "name")))
    return _OF.sub(r"\g<before>\g<whole> \g<part>", words) if words.split().count("of") == 1 else words


def _list_words(text: str) -> Iterator[str]:
    word_list = text.split()
    # The first one only forms the question. Another, or one at the end, is asked about: "What does the board do?"
    auxiliary = next((place for place, word in enumerate(word_list[:-1]) if word in ("do", "does")), None)
    words = [word for place, word in enumerate(word_list) if word not in _LEFT_OUT and place != auxiliary]
    # Behind "who" is a verb: "Who reads it?" is not "Who read it?".
    return (word if before == "who" else _fold_number(word) for before, word in pairwise(["", *words]))


def _fold_number(word: str) -> str:
    """Return a word without the ending of its plural, a number word as digits. A real stemmer would take "importance"
    for "imports".
    """
    if word in NUMBER_WORDS:
        return NUMBER_WORDS[word]
    if len(word) < _MIN_PLURAL or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word in _NO_PLURALS or not _VOWEL.search(word):
        return word
    return f"{word[:-3]}y" if word.endswith("ies") else word[:-1]
