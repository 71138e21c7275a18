"""Checks that a model's rewording of a question asks the same, and adds nothing from elsewhere.

A rewording is only ever used in place of, or beside, the question. It is therefore compared with it: the question's
names and most of its words must remain, and new words must come from the conversation or the triples, apart from a few
plain ones. An answer, another language, or the result of an instruction hidden in the data does not pass.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from argot.language import AUXILIARIES, INTERROGATIVES, QUESTION_MARKS, REQUESTS
from argot.tools.llm.grounding import find_strange_words
from argot.tools.reading.unknown_terms import find_unknown_terms
from argot.tools.text.words import content_stems, find_identifiers
from argot.types import Triple, Turn

MAX_REWORDED_CHARS = 600  # characters, as in the prompt's schema
MAX_QUERY_CHARS = 400

_QUESTION_KEEPS = 0.75
_QUERY_KEEPS = 0.6
_NEW_IN_QUESTION = 0.25
_NEW_IN_QUERY = 0.5
_ROOM_CHARS = 80  # characters beyond the question and the longest earlier one together
_QUERY_ROOM_CHARS = 20  # characters by which a query may exceed twice the question's length

_MARKS = {'"': '"', "'": "'", "`": "`", "*": "*", "“": "”", "„": "“", "‘": "’", "«": "»"}
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NAME = re.compile(r"(?<=[\w,;:)] )[A-Z][\w'’-]+")
# Mark-up, addresses, JSON and paragraphs: no one-line question has them.
_FORBIDDEN = re.compile(r"[<>{}|\\]|://|\n\s*\n")
# "And the south one, please?": words that stand for others, and words of courtesy, need not remain.
_REPLACED = re.compile(r"\b(?:ones?|things?|thanks|thank you|ok|okay|please|sorry|hi|hello)\b", re.IGNORECASE)
_ASKS = re.compile(
    rf"""(?:and\ |but\ |so\ |please\ |also\ |then\ |[\w\ ]{{1,30}},\ )?
        (?:{INTERROGATIVES}|{AUXILIARIES}|must|has|have|had|{REQUESTS}|summari[sz]e)\b""",
    re.IGNORECASE | re.VERBOSE,
)


def check_stand_alone(reply: str, question: str, history: Sequence[Turn]) -> str | None:
    """Return the model's stand-alone form of a question, tidied; None if it is not faithful to it."""
    text = clean_rewording(reply)
    longest = max((len(turn.question) for turn in history), default=0)
    if not text or len(text) > min(MAX_REWORDED_CHARS, len(question) + longest + _ROOM_CHARS) or not _is_question(text):
        return None
    sources = [question, *(part for turn in history for part in (turn.question, turn.answer))]
    own = _REPLACED.sub(" ", question)
    faithful = _has_kept(text, own, _QUESTION_KEEPS) and not _has_foreign(text, sources, _NEW_IN_QUESTION)
    return text if faithful else None


def check_query(reply: str, question: str, triples: Sequence[Triple]) -> str | None:
    """Return the model's search query for a question, tidied; None if it is not faithful to it.

    At most about twice as long as the question, with most of its words and all of its names and numbers.
    """
    text = clean_rewording(reply)
    if not text or len(text) > min(MAX_QUERY_CHARS, 2 * len(question) + _QUERY_ROOM_CHARS):
        return None
    sources = [question, *(triple.text for triple in triples)]
    faithful = _has_kept(text, question, _QUERY_KEEPS) and not _has_foreign(text, sources, _NEW_IN_QUERY)
    return text if faithful else None


def clean_rewording(reply: str) -> str:
    """Return it on one line, without quotation marks around it; empty if it contains something that no question
    does.
    """
    text = reply.strip()
    if _FORBIDDEN.search(text):
        return ""
    text = " ".join(text.split())
    # Several pairs: '"**What is a PUC?**"'.
    while len(text) > 1 and _MARKS.get(text[0]) == text[-1]:
        text = text[1:-1].strip()
    return text


def _is_question(text: str) -> bool:
    return text.endswith(QUESTION_MARKS) or bool(_ASKS.match(text))


def _has_kept(text: str, question: str, share: float) -> bool:
    """Return whether a text has all names and numbers of the question, and this share of its other content words."""
    stems, wanted = set(content_stems(text)), set(content_stems(question))
    # 1e-9: rounding may leave a product a little above a whole number, as 0.07 * 100.
    kept = len(wanted & stems) >= math.ceil(share * len(wanted) - 1e-9)
    return kept and _list_names(question) <= {*_list_names(text), *stems, *text.casefold().split()}


def _has_foreign(text: str, sources: Sequence[str], share: float) -> bool:
    """Return whether a text has names, numbers or strange words that occur in no source, or more than a few plain words
    that do not.
    """
    known = {stem for source in sources for stem in content_stems(source)}
    stems = set(content_stems(text))
    # One new word is always allowed, since a pronoun is replaced by one.
    if len(stems - known) > max(1, share * len(stems)):
        return True
    return has_foreign_names(text, sources)


def has_foreign_names(text: str, sources: Sequence[str]) -> bool:
    """Return whether a text has names, numbers or strange words that occur in no source."""
    known = {stem for source in sources for stem in content_stems(source)}
    names = {name for source in sources for name in _list_names(source)}
    strange = {*_NAME.findall(text), *(m.surface for m in [*find_strange_words(text), *find_unknown_terms(text)])}
    unheard = {word for word in strange if not set(content_stems(word)) <= known}
    return bool(unheard) or not _list_names(text) <= names | known


def _list_names(text: str) -> set[str]:
    return {*find_identifiers(text), *(number.rstrip(".,") for number in _NUMBER.findall(text))}
