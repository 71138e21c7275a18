"""Recognition of small talk: greetings, thanks, and questions about Argot, which ask the documents nothing.

A message counts as small talk only if every word of it does: "Hello, what is a PUC?" is a question. The caller looks up
first whether such a word is a term of the glossary ("HI").
"""

from __future__ import annotations

import re
from typing import Literal, cast

from argot.languages.detection import identify_listed_language
from argot.languages.language_data import load_language
from argot.languages.question_words import list_small_talk_kinds, load_small_talk
from argot.tools.text.words import fold_words

SmallTalk = Literal[
    "greeting", "thanks", "farewell", "reply", "about", "rewording", "certainty", "clock", "model", "privacy",
    "unasked", "no_file", "recall", "library", "glossary"
]  # fmt: skip
"""`rewording`: wants the last answer in another form; `certainty`: doubts it; `clock`: asks for the time or date;
`model`: whether a language model is used; `privacy`: who reads conversations, and how to delete them; `no_file`: about
a missing file (`tools/reading/whole_file_questions.py`); `recall`: about earlier questions
(`tools/reading/history_questions.py`); `library`, `glossary`: about the available documents and terms
(`library_questions.py`)."""

WITHOUT_EXAMPLES: tuple[SmallTalk, ...] = (
    "thanks", "farewell", "rewording", "certainty", "clock", "model", "privacy", "no_file", "recall", "library",
    "glossary"
)  # fmt: skip
"""Kinds after which no questions are offered: farewells, and remarks about an answer, a file, earlier messages, the
documents, the glossary or Argot itself."""

MAX_CHARS = 100
"""Characters: a longer message is more than small talk."""

_BREAKS = re.compile(r"[^\w']+")
_KEYBOARD_ROWS = ("qwertyuiop", "qwertzuiop", "azertyuiop", "asdfghjkl", "qsdfghjklm", "zxcvbnm", "yxcvbnm")
_RUNS = "|".join(sorted({row[at : at + 4] for row in _KEYBOARD_ROWS for at in range(len(row) - 3)}))
_NOISE = re.compile(rf"(?:{_RUNS})(?:{_RUNS}|[a-z]{{1,3}}$)*|([a-z])\1{{3,}}")
_POINTS_BACK = re.compile(r"\b(?:this|that|it)\b", re.IGNORECASE)


def identify_small_talk(message: str) -> SmallTalk | None:
    """Return the kind of small talk that the message is, the most telling of several; None if it is none.

    `unasked`: the message has only words that join others ("why?", "and?"), asks for more, or is "asdf", so that
    nothing can be searched.
    """
    if len(message) > MAX_CHARS:
        return None
    found = _find_kinds(_normalize(message))
    if found:
        # The most telling kind first: "hello, what can you do?" is answered as a question about Argot.
        return next(kind for kind in list_small_talk_kinds() if kind in found)
    return "unasked" if _has_only_joining_words(message) or is_keyboard_noise(message) else None


def may_refer_back(message: str, kind: SmallTalk) -> bool:
    """Return whether a message within a conversation may refer to earlier ones: "why?", "how does this work?"."""
    return kind == "unasked" or (kind == "about" and _POINTS_BACK.search(message) is not None)


def is_keyboard_noise(message: str) -> bool:
    """Return whether a message only tries the keyboard: neighbouring keys or one letter, "asdf", "aaaa"."""
    return _NOISE.fullmatch(message.strip(" .!?")) is not None


def is_asking_for_more(message: str) -> bool:
    """Return whether the message asks to go on with the last answer, whatever it says: "more", "continue"."""
    return load_small_talk("unasked").fullmatch(_normalize(message)) is not None


def _normalize(message: str) -> str:
    return " ".join(_BREAKS.sub(" ", message.casefold().replace("’", "'")).split())


def _has_only_joining_words(message: str) -> bool:
    # "who is IT" asks about a department; in "WHY IS IT SO" capitals carry no information.
    if not message.isupper() and any(len(word) > 1 and word.isupper() for word in _BREAKS.split(message)):
        return False
    words = fold_words(message)
    stop_words = load_language(identify_listed_language(message)).stop_words
    return bool(words) and all(word in stop_words for word in words)


def _find_kinds(text: str) -> set[SmallTalk]:
    """Return the kinds of all its phrases; empty unless every word belongs to one. The longest phrase is read first."""
    words = text.split()
    found: set[SmallTalk] = set()
    first = 0
    while first < len(words):
        last, kind = _match_phrase(words, first)
        # One word that belongs to no phrase makes the message a question.
        if last == first:
            return set()
        first = last
        found |= {kind} if kind else set()
    return found


def _match_phrase(words: list[str], first: int) -> tuple[int, SmallTalk | None]:
    """Return the end and the kind of the longest phrase that begins at this word; `first` and None if none does."""
    # Longest first: "how do you do" is a greeting, though "how" alone would belong to nothing.
    for last in range(len(words), first, -1):
        text = " ".join(words[first:last])
        kind = next((kind for kind in list_small_talk_kinds() if load_small_talk(kind).fullmatch(text)), None)
        if kind or load_small_talk("fillers").fullmatch(text):
            return last, cast("SmallTalk | None", kind)
    return first, None
