"""Characters per token, and limits that fit a reply of the longest length into its tokens in any script.

Prompts assume three characters per token, which is safe for Latin, Greek and Cyrillic letters. A Chinese, Japanese or
Korean character, or a Thai letter, takes up to one token and carries three times as much meaning: the same tokens hold
the same content in a third of the characters.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

SAFE_CHARS_PER_TOKEN = 3
"""Assumed when prompts bound a reply: alphabets have no fewer."""
USUAL_CHARS_PER_TOKEN = 4
"""The average of English prose, for an estimate where an error does no harm."""
MAX_CHARS_PER_TOKEN = 32
"""More than any text has: bounds the reply of a server that ignores the requested length."""
_WIDE = re.compile(
    r"[\u0e00-\u0e7f\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]"
)
_WIDE_SHARE = 0.2
"""Share of letters in the input from which the reply is likely to be in such characters, too."""


def is_wide(messages: Sequence[tuple[str, str]]) -> bool:
    """Return whether much of the input, without the constant text, consists of characters with one token each."""
    # The system text is English in every prompt.
    asked_text = "".join(text for role, text in messages if role != "system")
    letters = sum(map(str.isalpha, asked_text))
    return letters > 0 and len(_WIDE.findall(asked_text)) >= _WIDE_SHARE * letters


def limit_texts(schema: Any) -> Any:
    """Return the schema with every text at most a third as long. Replies are still checked against the original."""
    if isinstance(schema, list):
        return [limit_texts(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    bounded = {name: limit_texts(part) for name, part in schema.items()}
    if schema.get("type") == "string" and "maxLength" in schema:
        # No bound below the shortest text that the schema allows.
        bounded["maxLength"] = max(schema.get("minLength", 1), schema["maxLength"] // SAFE_CHARS_PER_TOKEN)
    return bounded
