"""Names in a question that no document mentions, such as that of a product: "how do I request a Tableau license?"."""

from __future__ import annotations

import re

from argot.corpus.store.document_store import CorpusStore
from argot.jargon_db.lookup.ordinary_words import is_everyday_word, is_well_known
from argot.languages.detection import find_question_language
from argot.tools.reading.personal_names import find_name_spans
from argot.types import Principal

MAX_NAMES = 2
"""Names in a question that is written as a sentence; one with more has capitals as a headline has."""
_WITH_CAPITAL_NOUNS = ("de",)
# Capitals throughout are an abbreviation, which other rules read; parts of paths, addresses and numbers are no words.
_NAME = re.compile(r"(?<![\w./@:\\'’#$-])[A-Z](?=\w*[a-z])\w{2,}(?![\w@:\\-]|[./]\w)")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;]\s+|\n\s*)[\"“'‘(«¿¡*-]*\s*$")
_WORD_PARTS = re.compile(r"[A-Z]?[^\WA-Z_\d]+|[A-Z]+(?![a-z])|\d+")


def find_unknown_names(question: str, store: CorpusStore, principal: Principal) -> list[str]:
    """Return the names in a question that no document of the principal mentions; passages about another product do not
    answer it.

    Names are words that begin with a capital within a sentence. Everyday words are none, nor are the names of people
    and places that most readers know ("my colleague Peter"): they say who asks, not what about. In German all nouns
    have capitals, so none is found.
    """
    if find_question_language(question) in _WITH_CAPITAL_NOUNS:
        return []
    people = find_name_spans(question)
    found = [
        match[0]
        for match in _NAME.finditer(question)
        if not _SENTENCE_START.search(question[: match.start()])
        and not any(start <= match.start() < end for start, end in people)
    ]
    names = list(dict.fromkeys(found))
    return [name for name in names if _is_unknown(name, store, principal)] if len(names) <= MAX_NAMES else []


def _is_unknown(name: str, store: CorpusStore, principal: Principal) -> bool:
    word = name.casefold()
    if any(is_everyday_word(one) or is_well_known(one) for one in (word, word.removesuffix("s"))):
        return False
    # "DockerHub" is mentioned as "Docker Hub".
    ways = (name, name.removesuffix("s"), " ".join(_WORD_PARTS.findall(name)))
    return not any(store.phrase_count(principal, way) for way in dict.fromkeys(ways))
