"""Recognition of questions about a whole file of the conversation: "Summarise this", "What's in the PDF?".

No passage answers that by its words, and there is nothing to search for. Conservative: every word has to belong to such
a request, so that "What does the file say about costs?" is a question like any other. The words are data of each
language (`argot/languages`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Literal

from argot.languages.request_patterns import list_requests, normalize

MAX_CHARS = 200
"""Characters: a longer message asks for more than the gist of a file."""

Pointer = Literal["it", "file", "files"]
"""The kind of reference in a message: by a word that may mean anything ("this"), as a file, or as several."""


def find_asked_file(message: str, names: Sequence[str]) -> Pointer | int | None:
    """Return the file or files whose gist the message asks for; None if it asks for something else.

    Args:
        names: of the available files; the number of one is returned if the message names it.
    """
    if len(message) > MAX_CHARS + max(map(len, names), default=0):
        return None
    marked = _replace_names(_normalize(message), names)
    found = next(_find_requests(marked, message), None)
    if found is None:
        return None
    groups = found.groupdict()
    if groups.get("name"):
        return int(groups["name"].removeprefix("name"))
    return "files" if groups.get("files") else "file" if groups.get("file") else "it"


def is_missing_file_asked(message: str) -> bool:
    """Return whether a message without any file asks about "this file", or one that was attached.

    "The manual" or "the report" may well be one of the documents.
    """
    plain = _normalize(message)
    said_here = any(
        pattern.search(plain)
        for words in list_requests("gist", message)
        for pattern in words.compile("said_to_be_here")
    )
    return said_here and find_asked_file(message, []) in ("file", "files")


def _find_requests(text: str, message: str) -> Iterator[re.Match[str]]:
    """Yield the patterns that fit a message's words. They are compiled here, which takes some tenths of a second that
    `argot ask` need not wait when nobody speaks of a file.
    """
    for words in list_requests("gist", message):
        request = words.strip(text)
        yield from filter(None, (one.fullmatch(request) for one in words.compile("patterns")))


def _normalize(text: str) -> str:
    return normalize(text.replace("_", " "))


def _replace_names(text: str, names: Sequence[str]) -> str:
    """Return each file's name replaced by one word. Only with its extension: "puc.md" is a file, "PUC" is a term."""
    spelt = {_normalize(name): number for number, name in enumerate(names) if PurePosixPath(name).suffix}
    # The longest first, so that "rota.md" is not found within "old rota.md".
    for spelling, number in sorted(spelt.items(), key=lambda one: -len(one[0])):
        text = re.sub(rf"(?<!\S){re.escape(spelling)}(?!\S)", f"name{number}", text)
    return text
