"""Arguments of a call, before they leave for another server: a document could dictate them, with words of others in
them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from argot.tools.text.words import content_stems, fold_words
from argot.tools.tool_servers.server_file import AllowedTool
from argot.tools.tool_servers.server_session import ServerFault

COMMON_MARKS = frozenset(" .,;:?!'\"’-_/()")
"""Marks that may be sent although the question has none of them. Others, such as emoji, can spell words."""
_LONG_RUN = re.compile(r"[\W_]{4,}")


def read_arguments(text: str, tool: AllowedTool, questions: Sequence[str]) -> dict[str, Any]:
    """Return the arguments that the model wrote as JSON.

    Args:
        text: the JSON; empty: there are none.
        tool: says how long they may be, and whether they may have words beside those of the questions.
        questions: the question as it was asked, and as it was read.

    Raises:
        ServerFault: they are no JSON object, too long, or have other words.
    """
    if len(text) > tool.max_sent_chars:
        raise ServerFault("unsendable")
    try:
        values = json.loads(text or "{}", parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise ServerFault("unsendable") from None
    if not isinstance(values, dict):
        raise ServerFault("unsendable")
    if tool.sends == "question" and not _has_only_words_of(values, [*questions, tool.arguments]):
        raise ServerFault("unsendable")
    return values


def _refuse(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


def _has_only_words_of(value: Any, sources: Sequence[str]) -> bool:
    words = {word for source in sources for word in fold_words(source)}
    stems = {stem for source in sources for stem in content_stems(source)}
    for text in _list_texts(value):
        if not _has_only_marks_of(text, sources):
            return False
        # Another form of a word says nothing new ("ticket" for "tickets"); another number or letter does.
        if any(word not in words and not _is_form_of(word, stems) for word in fold_words(text)):
            return False
    return True


def _has_only_marks_of(text: str, sources: Sequence[str]) -> bool:
    """Return whether the marks between the words spell nothing by themselves, as Morse code or flags would."""
    joined = "\n".join(sources)
    if text.strip() and not fold_words(text):
        return text.strip() in joined
    marks = {char for char in text if not char.isalnum()}
    return marks <= COMMON_MARKS.union(joined) and all(run in joined for run in _LONG_RUN.findall(text))


def _is_form_of(word: str, stems: set[str]) -> bool:
    # A stop word has no stem. Nor has a single letter, but letters spell words.
    return word.isalpha() and len(word) > 1 and set(content_stems(word)) <= stems


def _list_texts(value: Any) -> Iterator[str]:
    """Yield every text and number in a value, the names of its members among them."""
    if isinstance(value, dict):
        for name, one in value.items():
            yield name
            yield from _list_texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _list_texts(one)
    elif value is not None and not isinstance(value, bool):
        yield str(value)
