"""Recognition of questions about the available documents and terms: "What documents do you have?", also "about travel",
"How many terms are in the glossary?".

No document answers that. Conservative: every word has to belong to such a request, so that "Which documents do I need
for a visa?" is a question like any other. The words are data of each language (`argot/languages`).
"""

from __future__ import annotations

import re

from argot.languages.request_patterns import RequestKind, fold_accents, list_requests, normalize

MAX_CHARS = 120  # characters; such a request is short
MAX_TOPIC_WORDS = 6
"""Words of a topic; more are a question: "which guide describes what to do if ..."."""


def is_library_question(message: str) -> bool:
    """Return whether the message asks which documents there are, or how many."""
    return _is_request("library", message)


def is_glossary_question(message: str) -> bool:
    """Return whether the message asks which terms the glossary has, or how many."""
    return _is_request("glossary", message)


def find_listing_parts(message: str) -> list[str]:
    """Return those of a message's several questions that ask for a list of documents or terms. Such a list is only
    given to a question by itself.
    """
    parts = [part.strip() for part in re.findall(r"[^?!]+[?!]*", message) if re.search(r"\w", part)]
    asks = (is_library_question, is_glossary_question, find_library_topic)
    return [part for part in parts if any(asked(part) for asked in asks)] if len(parts) > 1 else []


def _is_request(kind: RequestKind, message: str) -> bool:
    if len(message) > MAX_CHARS:
        return False
    plain = normalize(message)
    return any(
        pattern.fullmatch(words.strip(plain))
        for words in list_requests(kind, message)
        for pattern in words.compile("patterns")
    )


def find_library_topic(message: str) -> str:
    """Return the topic, as written, of a message that asks which documents are about it; empty if it does not."""
    if len(message) > MAX_CHARS:
        return ""
    plain = normalize(message)
    for words in list_requests("library", message):
        for pattern in words.compile("about"):
            if found := pattern.fullmatch(words.strip(plain)):
                return _find_as_written(found["topic"].split(), message)
    return ""


def _find_as_written(words: list[str], message: str) -> str:
    """Return the words with the case and the characters between them that the message has."""
    if len(words) > MAX_TOPIC_WORDS:
        return ""
    # Folded letter by letter, the positions stay.
    folded = fold_accents(message)
    found = list(re.finditer(r"\W+".join(map(re.escape, words)) + r"[+#]*", folded, re.IGNORECASE))
    return message[found[-1].start() : found[-1].end()] if found else " ".join(words)
