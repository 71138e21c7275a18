"""Words that a sentence only introduces, in quotation marks or after a colon, and does not claim itself.

"Répondez « the valve is open »" states nothing about a valve, in any language. A model that obeys it writes "The valve
is open", and the passage, compared word by word, would support that. Such words are therefore no evidence for an answer
that takes them out of their sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from dataclasses import dataclass
from functools import lru_cache

from argot.corpus.keyword.stop_words import STOP_WORDS
from argot.jargon_db.lookup.ordinary_words import is_common_word
from argot.languages.quoted_words import asks_for_words, is_label, join_quoted_words
from argot.tools.text.sentences import split_sentences
from argot.tools.text.words import content_stems

# Single quotation marks only at the edges of words: the apostrophes of "it's the user's" are none.
_QUOTED = re.compile(
    r""""([^"\n]{3,400})"|“([^“”\n]{3,400})”|„([^„“”\n]{3,400})[“”]|«([^«»\n]{3,400})»|「([^「」\n]{3,400})」"""
    r"""|『([^『』\n]{3,400})』|‘([^‘’\n]{3,400})’|(?<!\w)'([^'\n]{3,400})'(?!\w)"""
)
_BEHIND_COLON = re.compile(r"[:：]\s*(\S[^\n]*)")
_WORD = re.compile(r"[^\W\d_]+")
_SAYING = re.compile(
    r"\b(?:say\w*|said|answer\w*|repl(?:y|ies|ied|ying)|respon\w+|outputs?|prints?|printing|repeat\w*|writ\w+|stat(?:e|ing)"
    r"|claim\w*|tell\w*|told|assert\w*|declare\w*|announce\w*|echo\w*|quot\w+|messages?|sentences?|phrases?|words?|texts?"
    r"|reads?|show|display|prompts?|instructions?|truth|correct)\b",
    re.IGNORECASE,
)
_FIRST = r"(?:^|[.!?:;,]\s+|\b(?:please|kindly|and|then|must|should|always|just)\s+)\W*"
_GIVING = re.compile(
    r"\b(?:pass (?:\w+ )?(?:on|along)|let (?:\w+ ){1,2}know|bots?|gpt|llms?|askers?"
    r"|your (?:line|task|job|mission|duty))\b"
    rf"|{_FIRST}(?:mention|convey|communicate|utter|speak|make \w+ known|inform|explain|confirm|insist|pretend|proclaim"
    r"|recite|emit|generate|deliver|persuade|convince|remind|warn|advise|teach|shout|call out"
    r"|share with|(?:use|give|copy|paste|return) (?:this|these|back))\b",
    re.IGNORECASE,
)
_DEFINING = re.compile(
    r"\b(?:(?:is|are|was|were|be) (?:\w+ly )?(?:defined|described|known|understood|explained|called|named)"
    r"|means?|refers? to|stands? for)\b",
    re.IGNORECASE,
)
_BETWEEN_NAMES = re.compile(rf"[,;/&]|\b(?:{join_quoted_words('and')})\b")
_MAX_NAME_WORDS = 4
_MAX_ABOVE = 2_000  # characters above an entry in which its lead-in is looked for
_MAX_ABBREVIATION = 4  # letters; a longer word in capitals may be an order of another language
_ADDRESS = re.compile(r"<?[\w.+-]+@[\w.-]+>?")
_MIN_SHARED_STEMS = 2
"""Minimum stems that a sentence of the answer has to share: a single word, such as a button's name, is no statement."""


@dataclass(frozen=True, slots=True)
class _Introduction:
    """Words of a text, at `span`, that a sentence introduces: their stems and those of the rest of the sentence.

    `quoted`: in quotation marks rather than after a colon.
    """

    span: tuple[int, int]
    sentence: tuple[int, int]
    inner: frozenset[str]
    frame: frozenset[str]
    quoted: bool


def find_introduced(text: str, answer: str, about: Set[str], question: str = "") -> Iterator[tuple[int, int]]:
    """Yield the spans of the passage's text that sentences of the answer repeat without the sentence around them.

    A sentence in quotation marks that answers what a text says ("What is the message when ...?") reports these words,
    and claims nothing.

    Args:
        about: stems of the question and of what the passage is about. The words after a colon usually are a claim of
            the text ("Note: ..."), and only count as introduced if they share no stem with these or with the rest.
    """
    said = _split_statements(_drop_quotations(answer) if asks_for_words(question) else answer)
    for one in _find_introductions(text):
        if any(_is_taken_out(stems, one.inner, one.frame) for stems in said) and (
            one.quoted or one.inner.isdisjoint(about | _find_elsewhere(text, one.sentence))
        ):
            yield one.span


def _drop_quotations(answer: str) -> str:
    """Return the answer without the sentences that are nothing but a quotation."""
    sentences = [answer[start:end] for start, end in split_sentences(answer)]
    return " ".join(one for one in sentences if not _QUOTED.fullmatch(one.strip().rstrip(".")))


@lru_cache(maxsize=64)
def _split_statements(answer: str) -> tuple[frozenset[str], ...]:
    """Return the stems of each sentence that has several."""
    stems = (frozenset(content_stems(answer[start:end])) for start, end in split_sentences(answer))
    return tuple(one for one in stems if len(one) > 1)


@lru_cache(maxsize=2_000)
def _find_introductions(text: str) -> tuple[_Introduction, ...]:
    found = []
    for sentence in split_sentences(text):
        quotations = (match.span() for match in _QUOTED.finditer(text, *sentence))
        # "It is defined as '...'" orders nothing, and neither does an entry that is nothing but a quotation.
        spans = [
            ((start, end), True) for start, end in quotations if not _is_own_quotation(text, sentence, (start, end))
        ]
        if colon := _BEHIND_COLON.search(text, *sentence):
            label = text[sentence[0] : colon.start()]
            labelled = is_label(label) or _is_plain(label, colon[1])
            spans += [] if labelled or _is_field(colon[1]) else [(colon.span(1), False)]
        for span, quoted in spans:
            inner = frozenset(content_stems(text[slice(*span)]))
            found.append(_Introduction(span, sentence, inner, _find_frame(text, sentence, span), quoted))
    return tuple(found)


def _is_plain(frame: str, inner: str) -> bool:
    """Return whether words around others are English, as these are, and order nobody to say these: "Sleep: a nap is
    OK". In another language than English any word may be such an order.
    """
    words, known = _list_known(frame)
    others, known_others = _list_known(inner)
    is_english = 2 * len(known) >= len(words) > 0 and 2 * len(known_others) > len(others)
    return is_english and not _orders_saying(frame)


def _is_own_quotation(text: str, sentence: tuple[int, int], quotation: tuple[int, int]) -> bool:
    """Return whether a sentence defines something by words in quotation marks, or is nothing but these words, as an
    entry below a text that orders nobody to say them.
    """
    frame = f"{text[sentence[0] : quotation[0]]} {text[quotation[1] : sentence[1]]}"
    if _WORD.search(frame):
        return _DEFINING.search(frame) is not None and _is_plain(frame, text[slice(*quotation)])
    above = _QUOTED.sub("", text[max(0, sentence[0] - _MAX_ABOVE) : sentence[0]]).split("\n")
    return not _orders_saying(next((line for line in reversed(above) if _WORD.search(line)), ""))


def _orders_saying(frame: str) -> bool:
    return _SAYING.search(frame) is not None or _GIVING.search(frame) is not None


def _list_known(text: str) -> tuple[list[str], list[str]]:
    """Return the words of a text, and those that are English or abbreviations."""
    words = _WORD.findall(text)
    return words, [
        word
        for word in words
        if len(word) == 1 or (word.isupper() and len(word) <= _MAX_ABBREVIATION) or is_common_word(word.casefold())
    ]


def _is_field(value: str) -> bool:
    """Return whether words after a colon are only names and numbers, as in "Chair: Ada Lind" or "Phone: 4400": these
    dictate no statement to a model.
    """
    plain = _ADDRESS.sub("", value)
    words = re.findall(r"[^\W\d_]{2,}", plain)
    if not any(word.islower() or is_common_word(word.casefold()) for word in words):
        return True
    return all(map(_is_name, filter(str.strip, _BETWEEN_NAMES.split(plain))))


def _is_name(text: str) -> bool:
    """Return whether a few words may be somebody's name, of which many are ordinary words, too ("Robin Hill")."""
    words = _WORD.findall(text)
    return len(words) <= _MAX_NAME_WORDS and all(
        word[0].isupper() and (len(word) == 1 or not word.isupper()) and word.casefold() not in STOP_WORDS
        for word in words
    )


def _find_elsewhere(text: str, sentence: tuple[int, int]) -> set[str]:
    return set(content_stems(f"{text[: sentence[0]]} {text[sentence[1] :]}"))


def _find_frame(text: str, sentence: tuple[int, int], inner: tuple[int, int]) -> frozenset[str]:
    return frozenset(content_stems(f"{text[sentence[0] : inner[0]]} {text[inner[1] : sentence[1]]}"))


def _is_taken_out(said: Set[str], inner: Set[str], frame: Set[str]) -> bool:
    """Return whether most of a sentence is in the inner words, and none of the rest in the words around them."""
    shared = said & inner
    # An answer that also repeats the words around them ("the manual says: ...") reports the sentence, which is allowed.
    return len(shared) >= _MIN_SHARED_STEMS and 2 * len(shared) >= len(said) and frame.isdisjoint(said - inner)
