"""Recognition of questions about the available documents: "What documents do you have?".

No document answers that. Conservative: every word has to belong to such a request, so that "Which documents do I need
for a visa?" is a question like any other. The words are data of each language (`argot/languages`).
"""

from __future__ import annotations

from argot.languages.request_patterns import list_requests, normalize

MAX_CHARS = 120  # characters; such a request is short


def is_library_question(message: str) -> bool:
    """Return whether the message asks which documents there are, or how many."""
    if len(message) > MAX_CHARS:
        return False
    said = normalize(message)
    return any(
        pattern.fullmatch(words.strip(said))
        for words in list_requests("library", message)
        for pattern in words.compile("patterns")
    )
