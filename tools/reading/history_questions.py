"""Recognition of requests for earlier questions: "What did I ask first?".

No document answers that. Conservative: every word has to belong to such a request. The words are data of each language
(`argot/languages`).
"""

from __future__ import annotations

from typing import Literal, get_args

from argot.languages.request_patterns import list_requests, normalize

MAX_CHARS = 100  # characters; such a request is short

RecallRequest = Literal["first", "last", "all"]


def find_recalled(message: str) -> RecallRequest | None:
    """Return which questions of the conversation the message asks for; None if it asks something else."""
    if len(message) > MAX_CHARS:
        return None
    plain = normalize(message)
    kinds: tuple[RecallRequest, ...] = get_args(RecallRequest)
    for words in list_requests("history", message):
        request = words.strip(plain)
        for kind in kinds:
            if any(pattern.fullmatch(request) for pattern in words.compile(kind)):
                return kind
    return None
